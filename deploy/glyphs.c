// SPDX-License-Identifier: Apache-2.0
/*
 * glyphs.c: makes the font of pictures: glyphs.c FONT.ttf >TABLE.c. The outlines of the characters
 * that captions need, in the font's own units and unhinted, with curves as lines, so that the table
 * is the same wherever it is made. A program of the build; the daemon has the table and no font
 * library.
 */
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <stdio.h>
#include <stdlib.h>

#define FLATNESS 5 /* units, of 2048 per em: a curve leaves its lines by less */

static const struct {
    unsigned first, last;
} ranges[] = {
    {0x20, 0x7e},     {0xa0, 0x17f},                      /* Latin */
    {0x391, 0x3a1},   {0x3a3, 0x3a9},   {0x3b1, 0x3c9},   /* Greek */
    {0x400, 0x45f},   {0x490, 0x491},                     /* Cyrillic */
    {0x2010, 0x2026}, {0x2030, 0x2030}, {0x2032, 0x2033}, /* dashes, quotes, primes */
    {0x2070, 0x2071}, {0x2074, 0x208e},                   /* superscripts and subscripts */
    {0x20ac, 0x20ac}, {0x2116, 0x2116},                   /* euro, numero */
    {0x2190, 0x2195}, {0x21a6, 0x21a6}, {0x21d2, 0x21d2}, /* arrows */
    {0x2200, 0x2209}, {0x220f, 0x221e}, {0x2225, 0x222b}, /* mathematics */
    {0x223c, 0x223c}, {0x2248, 0x2248}, {0x2260, 0x2265}, {0x2295, 0x2299}, {0x22c5, 0x22c5},
    {0x230a, 0x230b}, {0x25cf, 0x25cf}, {0x2713, 0x2713}, {0x2717, 0x2717},
};

struct drawing {
    long points_n; /* of all glyphs so far */
    FT_Vector at;
};

static void put(struct drawing *drawing, FT_Vector to)
{
    printf("%ld,%ld,%s", to.x, to.y, ++drawing->points_n % 8 ? "" : "\n");
    drawing->at = to;
}

/* A contour begins with a point that is no point. */
static int move(const FT_Vector *to, void *context)
{
    put(context, (FT_Vector){-32768, 0});
    put(context, *to);
    return 0;
}

static int line(const FT_Vector *to, void *context)
{
    put(context, *to);
    return 0;
}

static long rounded(long number, long by)
{
    return number >= 0 ? (number + by / 2) / by : -((-number + by / 2) / by);
}

/* As many lines as keep the middle of each near the curve: the distance falls with their square. */
static int curve(const FT_Vector *control, const FT_Vector *to, void *context)
{
    struct drawing *drawing = context;
    FT_Vector from = drawing->at;
    long bend_x = labs(from.x - 2 * control->x + to->x);
    long bend_y = labs(from.y - 2 * control->y + to->y);
    long n = 1;

    while ((bend_x > bend_y ? bend_x : bend_y) > 4 * FLATNESS * n * n)
        n++;
    for (long i = 1; i <= n; i++) {
        long a = (n - i) * (n - i), b = 2 * i * (n - i), c = i * i;
        put(drawing, (FT_Vector){rounded(a * from.x + b * control->x + c * to->x, n * n),
                                 rounded(a * from.y + b * control->y + c * to->y, n * n)});
    }
    return 0;
}

/* TrueType has none. */
static int cubic(const FT_Vector *a, const FT_Vector *b, const FT_Vector *to, void *context)
{
    (void)a, (void)b, (void)to, (void)context;
    return 1;
}

#define GLYPHS_MAX 2048

static struct glyph {
    unsigned code;
    long advance, first;
} glyphs[GLYPHS_MAX];

static size_t draw_all(FT_Face face, struct drawing *drawing)
{
    static const FT_Outline_Funcs pen = {move, line, curve, cubic, 0, 0};
    size_t n = 0;

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        for (unsigned code = ranges[i].first; code <= ranges[i].last; code++) {
            FT_UInt index = FT_Get_Char_Index(face, code);
            if (index == 0)
                continue;
            if (n == GLYPHS_MAX || FT_Load_Glyph(face, index, FT_LOAD_NO_SCALE))
                return 0;
            glyphs[n++] = (struct glyph){code, face->glyph->metrics.horiAdvance, drawing->points_n};
            if (FT_Outline_Decompose(&face->glyph->outline, &pen, drawing))
                return 0;
        }
    return n;
}

int main(int argc, char **argv)
{
    struct drawing drawing = {0};
    FT_Library library;
    FT_Face face;

    if (argc != 2 || FT_Init_FreeType(&library) || FT_New_Face(library, argv[1], 0, &face) ||
        face->units_per_EM != 2048) {
        fprintf(stderr, "glyphs: %s is no font of 2048 units per em\n", argc == 2 ? argv[1] : "?");
        return 1;
    }
    printf("/* Made by tools/glyphs.c of %s %s. */\n#include \"glyphs.h\"\n\n", face->family_name,
           face->style_name);
    printf("const int16_t glyph_points[] = {\n");
    size_t n = draw_all(face, &drawing);
    printf("};\n\nconst struct glyph glyphs[] = {\n");
    for (size_t i = 0; i < n; i++)
        printf("{%u, %ld, %ld},\n", glyphs[i].code, glyphs[i].advance, glyphs[i].first);
    printf("{0, 0, %ld},\n};\n\nconst size_t glyphs_n = %zu;\n", drawing.points_n, n);
    FT_Done_FreeType(library);
    return n == 0;
}
