// SPDX-License-Identifier: Apache-2.0
/* font.c: see font.h. */
#include "font.h"

#include "glyphs.h"

uint32_t font_next(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    unsigned lead = at[0], more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    uint32_t code = more ? lead & (0x3fU >> more) : lead;

    for (unsigned i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) { /* no UTF-8: the byte for itself */
            *text += 1;
            return lead;
        }
        code = code << 6 | (at[i] & 0x3f);
    }
    *text += lead ? 1 + more : 0;
    return code;
}

const struct glyph *font_glyph(uint32_t code)
{
    size_t low = 0, high = glyphs_n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (glyphs[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < glyphs_n && glyphs[low].code == code ? &glyphs[low] : NULL;
}

uint32_t font_missing(const char *text)
{
    uint32_t code;

    while ((code = font_next(&text)) && font_glyph(code))
        ;
    return code;
}

static int64_t advance(uint32_t code)
{
    const struct glyph *glyph = font_glyph(code);
    return glyph ? glyph->advance : GLYPH_EM;
}

int32_t font_width(const char *text, int32_t size)
{
    int64_t units = 0;
    uint32_t code;

    while ((code = font_next(&text)))
        units += advance(code);
    return (int32_t)((units * size + GLYPH_EM - 1) / GLYPH_EM);
}

size_t font_fit(const char *text, int32_t size, int32_t width)
{
    const char *end = text, *next = text;
    int64_t units = 0;
    uint32_t code;

    while ((code = font_next(&next))) {
        units += advance(code);
        if (units * size > (int64_t)width * GLYPH_EM)
            break;
        end = next;
    }
    return (size_t)(end - text);
}
