// SPDX-License-Identifier: Apache-2.0
/*
 * Grids: their text, the three orders, the coordinate rules against rational arithmetic, limits,
 * and counted pixels.
 */
#include <criterion/criterion.h>
#include <gmp.h>
#include <mpfr.h>
#include <string.h>

#include "posenc.h"

#define N(array) (sizeof(array) / sizeof *(array))

static struct pe_grid grid_of(const char *text)
{
    struct pe_grid grid = {.order = PE_GRID_ROW, .merge = 2};
    struct pe_faults faults = {0};
    cr_assert(pe_grid_parse(text, "grid", &grid, &faults), "%s: %s", text, faults.item[0].detail);
    return grid;
}

/* ---- Text --------------------------------------------------------------------------------- */

Test(grid, reads_and_prints_sizes)
{
    static const struct {
        const char *text, *canonical;
        size_t axes, cells;
    } cases[] = {
        {"2x3", "2x3", 2, 6},
        {"014x1", "14x1", 2, 14},
        {"4096x256", "4096x256", 2, PE_POSITIONS_N_MAX},
        {"1x2x3", "1x2x3", 3, 6},
        {"1x1x1x1x2x2x2x2", "1x1x1x1x2x2x2x2", 8, 16},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_grid grid = grid_of(cases[i].text);
        char text[PE_GRID_TEXT_MAX];
        cr_expect_eq(pe_grid_print(&grid, text, sizeof text), strlen(cases[i].canonical));
        cr_expect_str_eq(text, cases[i].canonical);
        cr_expect_eq(grid.axes, cases[i].axes, "%s", text);
        cr_expect_eq(pe_grid_cells(&grid), cases[i].cells, "%s", text);
    }
}

Test(grid, refuses_other_texts)
{
    static const char *const texts[] = {
        "",       "3",       "x",        "3x",     "x3",   "0x3",
        "3x0",    "-1x3",    "+1x3",     "2 x3",   "2X3",  "2x3.5",
        "4097x1", "1x99999", "4096x257", "1x2x3x", "2xx3", "1x1x1x1x1x1x1x1x1"};
    for (size_t i = 0; i < N(texts); i++) {
        struct pe_grid grid;
        struct pe_faults faults = {0};
        cr_expect_not(pe_grid_parse(texts[i], "grid", &grid, &faults), "%s", texts[i]);
        cr_expect_eq(faults.n, 1);
        cr_expect_str_eq(faults.item[0].param, "grid");
    }
}

/* ---- Order -------------------------------------------------------------------------------- */

Test(grid, orders_cells)
{
    static const struct {
        const char *text;
        enum pe_grid_order order;
        size_t merge;
        const char *numbers[3]; /* per axis, a digit for each cell */
    } cases[] = {
        {"2x3", PE_GRID_ROW, 1, {"000111", "012012"}},
        {"2x3", PE_GRID_COLUMN, 1, {"010101", "001122"}},
        {"2x4", PE_GRID_MERGE, 2, {"00110011", "01012323"}},
        {"4x2", PE_GRID_MERGE, 2, {"00112233", "01010101"}},
        {"2x2", PE_GRID_MERGE, 1, {"0011", "0101"}},
        {"2x2x2", PE_GRID_ROW, 1, {"00001111", "00110011", "01010101"}},
        {"2x1x3", PE_GRID_COLUMN, 1, {"010101", "000000", "001122"}},
        {"2x2x4", PE_GRID_MERGE, 2, {"0000000011111111", "0011001100110011", "0101232301012323"}},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_grid grid = grid_of(cases[i].text);
        grid.order = cases[i].order;
        grid.merge = cases[i].merge;
        for (size_t axis = 0; axis < grid.axes && axis < 3; axis++)
            for (size_t cell = 0; cases[i].numbers[axis][cell]; cell++)
                cr_expect_eq(pe_grid_index(&grid, axis, cell),
                             (size_t)(cases[i].numbers[axis][cell] - '0'),
                             "%s in order %d: axis %zu, cell %zu", cases[i].text, cases[i].order,
                             axis, cell);
    }
}

/* Every cell comes once, whatever the order. */
Test(grid, orders_are_permutations)
{
    static const char *const texts[] = {"6x4", "2x6", "3x4x2", "2x2x4x6"};
    for (size_t i = 0; i < N(texts); i++)
        for (int order = PE_GRID_ROW; order <= PE_GRID_MERGE; order++) {
            struct pe_grid grid = grid_of(texts[i]);
            bool seen[256] = {false};
            grid.order = (enum pe_grid_order)order;
            for (size_t cell = 0; cell < pe_grid_cells(&grid); cell++) {
                size_t place = 0;
                for (size_t axis = 0; axis < grid.axes; axis++)
                    place = place * grid.size[axis] + pe_grid_index(&grid, axis, cell);
                cr_expect_not(seen[place], "%s, order %d: twice %zu", texts[i], order, place);
                seen[place] = true;
            }
        }
}

/* ---- Coordinates -------------------------------------------------------------------------- */

static void set(mpq_t q, double value)
{
    mpq_set_d(q, value);
}

/* y = a * b / c */
static void ratio(mpq_t y, mpq_t a, mpq_t b, mpq_t c)
{
    mpq_mul(y, a, b);
    mpq_div(y, y, c);
}

/* The rules of grid.h in rational arithmetic, rounded once. */
static double reference(const struct pe_grid *grid, size_t axis, double i, double n)
{
    mpq_t y, a, b, c;
    mpq_inits(y, a, b, c, NULL);
    set(c, n);
    switch (grid->coords) {
    case PE_COORDS_INDEX:
        set(a, i);
        set(b, grid->offset);
        mpq_add(y, a, b);
        break;
    case PE_COORDS_LINSPACE:
        set(c, n > 1 ? n - 1 : 1);
        set(a, 2);
        set(b, i);
        ratio(y, a, b, c);
        set(a, 1);
        mpq_sub(y, y, a);
        break;
    case PE_COORDS_CENTER:
        set(a, 2);
        set(b, i + 0.5);
        ratio(y, a, b, c);
        set(a, 1);
        mpq_sub(y, y, a);
        break;
    case PE_COORDS_SCALED:
        set(a, i);
        set(b, grid->offset);
        mpq_add(a, a, b);
        set(b, grid->ref[axis]);
        ratio(y, a, b, c);
        break;
    default:
        set(a, grid->stop[axis]);
        set(b, grid->start[axis]);
        mpq_sub(a, a, b);
        set(b, i);
        ratio(y, a, b, c);
        set(a, grid->start[axis]);
        mpq_add(y, y, a);
    }
    mpfr_t rounded;
    mpfr_init2(rounded, 53);
    mpfr_set_q(rounded, y, MPFR_RNDN);
    double value = mpfr_get_d(rounded, MPFR_RNDN);
    mpfr_clear(rounded);
    mpq_clears(y, a, b, c, NULL);
    return value;
}

Test(grid, coordinates_are_the_nearest_doubles)
{
    static const char *const texts[] = {"1x1", "2x3", "7x14", "37x101", "5x4096"};
    static const double numbers[] = {0,    1,      -1,      0.5, 0.1,    16,  1e-17,  -3.7,
                                     1e15, 1e-300, 1.0 / 3, 224, 0.7071, 1e5, 0x1p53, 0x1p-52};
    size_t compared = 0;
    for (size_t t = 0; t < N(texts); t++)
        for (int rule = PE_COORDS_INDEX; rule <= PE_COORDS_CROP; rule++)
            for (size_t k = 0; k < N(numbers) * 2; k++) {
                struct pe_grid grid = grid_of(texts[t]);
                size_t axis = k % 2;
                grid.coords = (enum pe_coords)rule;
                grid.longest = k / 2 % 2;
                grid.offset = numbers[k / 2];
                grid.ref[axis] = numbers[(3 * k + 5) % N(numbers)];
                grid.start[axis] = numbers[k / 2];
                grid.stop[axis] = numbers[(5 * k + 3) % N(numbers)];
                size_t n = grid.longest && grid.size[0] > grid.size[1] ? grid.size[0]
                           : grid.longest                              ? grid.size[1]
                                                                       : grid.size[axis];
                for (size_t i = 0; i < grid.size[axis]; i += 1 + i / 50) {
                    double got = pe_grid_coordinate(&grid, axis, i);
                    double wanted = reference(&grid, axis, (double)i, (double)n);
                    cr_assert_eq(got, wanted, "%s, rule %d, numbers %zu: %zu: %a, not %a", texts[t],
                                 rule, k, i, got, wanted);
                    compared++;
                }
            }
    cr_expect_gt(compared, 10000);
}

/* Of the models that have them: DINOv3's rows of two patches, EVA-02 from 14 patches to 16, crops
 * of CogVideoX's frames, timm's pixels. */
Test(grid, coordinates_of_models)
{
    static const struct {
        struct pe_grid grid;
        size_t i;
        double value;
    } cases[] = {
        {{.axes = 2, .size = {2, 3}, .coords = PE_COORDS_CENTER}, 0, -0.5},
        {{.axes = 2, .size = {2, 4}, .coords = PE_COORDS_CENTER, .longest = true}, 0, -0.75},
        {{.axes = 2, .size = {14, 14}, .coords = PE_COORDS_SCALED, .ref = {16, 16}}, 7, 8},
        {{.axes = 2, .size = {14, 14}, .coords = PE_COORDS_SCALED, .ref = {16, 16}}, 1, 8. / 7},
        {{.axes = 3, .size = {5, 2, 2}, .coords = PE_COORDS_CROP, .stop = {5}}, 4, 4},
        {{.axes = 2, .size = {3, 3}, .coords = PE_COORDS_LINSPACE}, 2, 1},
        {{.axes = 2, .size = {1, 3}, .coords = PE_COORDS_LINSPACE}, 0, -1},
        {{.axes = 2, .size = {3, 3}, .offset = 0.5}, 2, 2.5},
    };
    for (size_t i = 0; i < N(cases); i++)
        cr_expect_eq(pe_grid_coordinate(&cases[i].grid, 0, cases[i].i), cases[i].value, "case %zu",
                     i);
}

Test(grid, checks_blocks_and_sizes)
{
    static const struct {
        struct pe_grid grid;
        const char *param; /* NULL: nothing is wrong */
    } cases[] = {
        {{.axes = 2, .size = {4, 6}, .order = PE_GRID_MERGE, .merge = 2}, NULL},
        {{.axes = 2, .size = {4, 5}, .order = PE_GRID_MERGE, .merge = 2}, "merge"},
        {{.axes = 3, .size = {3, 4, 6}, .order = PE_GRID_MERGE, .merge = 2}, NULL},
        {{.axes = 2, .size = {3, 2}, .offset = 0x1p53}, "coord_offset"},
        {{.axes = 2, .size = {1, 1}, .offset = 0x1p53}, NULL},
        {{.axes = 2, .size = {2, 2}, .coords = PE_COORDS_SCALED, .ref = {1e300, 1}}, "ref"},
        {{.axes = 2, .size = {2, 2}, .coords = PE_COORDS_CROP, .start = {1e300}, .stop = {1e308}},
         "stop"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_faults faults = {0};
        cr_expect_eq(pe_grid_check(&cases[i].grid, &faults), cases[i].param == NULL, "case %zu", i);
        cr_expect_eq(faults.n > 0, cases[i].param != NULL, "case %zu", i);
        if (cases[i].param)
            cr_expect_str_eq(faults.item[0].param, cases[i].param, "case %zu", i);
    }
}

/* ---- Pixels ------------------------------------------------------------------------------- */

Test(grid, counts_valid_pixels)
{
    static const bool mask[] = {1, 1, 0, /**/ 0, 1, 1, /**/ 1, 0, 0};
    static const double expected[4][9] = {
        {1, 1, 0, 1, 2, 1, 2, 2, 1},
        {1, 2, 2, 0, 1, 2, 1, 1, 1},
        {2, 2, 1, 2, 2, 1, 2, 2, 1},
        {2, 2, 2, 2, 2, 2, 1, 1, 1},
    };
    double at[4][9];
    double *const axes[] = {at[0], at[1], at[2], at[3]};
    memset(at, 0, sizeof at);
    pe_pixels_count(mask, 3, 3, 2, axes);
    cr_expect_arr_eq(at[0], expected[0], 2 * sizeof at[0]);
    cr_expect_eq(at[2][0], 0, "two axes only");
    pe_pixels_count(mask, 3, 3, 4, axes);
    cr_expect_arr_eq(at, expected, sizeof at);
    pe_pixels_count(NULL, 2, 3, 4, axes);
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(at[0][i], (double)(i / 3 + 1));
        cr_expect_eq(at[1][i], (double)(i % 3 + 1));
        cr_expect_eq(at[2][i], 2);
        cr_expect_eq(at[3][i], 3);
    }
}
