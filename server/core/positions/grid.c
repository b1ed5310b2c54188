// SPDX-License-Identifier: Apache-2.0
/*
 * grid.c: grids. Every coordinate is a sum of two products over a whole number, so it is rounded
 * once: by the processor where all of these are whole numbers that doubles hold, else by MPFR from
 * the exact sum.
 */
#include <math.h>
#include <stdio.h>

#include "exact.h"
#include "posenc.h"
#include "span.h"
#include "value.h"

/* ---- Sizes -------------------------------------------------------------------------------- */

#define SIZE_DIGITS_MAX 4 /* of PE_GRID_SIDE_MAX */

/* Digits without a sign; 0 for anything else. */
static size_t read_size(struct pe__span text)
{
    size_t size = 0;
    if (text.len > SIZE_DIGITS_MAX)
        return 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return 0;
        size = size * 10 + (size_t)(text.text[i] - '0');
    }
    return size <= PE_GRID_SIDE_MAX ? size : 0;
}

bool pe_grid_parse(const char *text, const char *param, struct pe_grid *grid,
                   struct pe_faults *faults)
{
    struct pe__span rest = pe__span_of(text);
    struct pe__span part;
    size_t cells = 1;
    bool ok = true;
    for (grid->axes = 0; pe__span_cut(&rest, 'x', &part); grid->axes++) {
        size_t size = grid->axes < PE_AXES_MAX ? read_size(part) : 0;
        ok = ok && size > 0 && size <= PE_POSITIONS_N_MAX / cells;
        if (!ok)
            break;
        cells *= size;
        grid->size[grid->axes] = size;
    }
    if (ok && grid->axes >= 2)
        return true;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, "for example 14x14, or 4x14x14",
                        "%s must be 2 to %d sizes from 1 to %zu with an x between them and at most "
                        "%zu cells; got \"%s\"",
                        param, PE_AXES_MAX, PE_GRID_SIDE_MAX, PE_POSITIONS_N_MAX,
                        pe__show_text(pe__span_of(text), shown));
}

size_t pe_grid_print(const struct pe_grid *grid, char *out, size_t size)
{
    char text[PE_GRID_TEXT_MAX];
    size_t len = 0;
    for (size_t axis = 0; axis < grid->axes; axis++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%zu", axis ? "x" : "",
                                grid->size[axis]);
    return (size_t)snprintf(out, size, "%s", text);
}

size_t pe_grid_cells(const struct pe_grid *grid)
{
    size_t cells = 1;
    for (size_t axis = 0; axis < grid->axes; axis++)
        cells *= grid->size[axis];
    return cells;
}

/* ---- Order -------------------------------------------------------------------------------- */

/* The number on an axis when the last one runs fastest. */
static size_t row_index(const size_t *size, size_t axes, size_t axis, size_t cell)
{
    for (size_t a = axes - 1; a > axis; a--)
        cell /= size[a];
    return cell % size[axis];
}

static size_t column_index(const size_t *size, size_t axis, size_t cell)
{
    for (size_t a = 0; a < axis; a++)
        cell /= size[a];
    return cell % size[axis];
}

/* Cells inside of a block, then blocks, then the axes before. */
static size_t merge_index(const struct pe_grid *grid, size_t axis, size_t cell)
{
    size_t outer = grid->axes - 2;
    size_t merge = grid->merge;
    size_t blocks[] = {grid->size[outer] / merge, grid->size[outer + 1] / merge};
    size_t column = cell % merge;
    size_t row = cell / merge % merge;
    cell /= merge * merge;
    column += cell % blocks[1] * merge;
    cell /= blocks[1];
    row += cell % blocks[0] * merge;
    if (axis < outer)
        return row_index(grid->size, outer, axis, cell / blocks[0]);
    return axis == outer ? row : column;
}

size_t pe_grid_index(const struct pe_grid *grid, size_t axis, size_t cell)
{
    switch (grid->order) {
    case PE_GRID_COLUMN:
        return column_index(grid->size, axis, cell);
    case PE_GRID_MERGE:
        return merge_index(grid, axis, cell);
    default:
        return row_index(grid->size, grid->axes, axis, cell);
    }
}

/* ---- Coordinates -------------------------------------------------------------------------- */

/* (a[0] b[0] + a[1] b[1]) / d; d is whole. */
struct quotient {
    double a[2], b[2], d;
};

/* Cell i of n on an axis. */
typedef struct quotient rule(const struct pe_grid *grid, size_t axis, double i, double n);

static struct quotient index_rule(const struct pe_grid *grid, size_t axis, double i, double n)
{
    (void)axis;
    (void)n;
    return (struct quotient){{i, grid->offset}, {1, 1}, 1};
}

static struct quotient linspace_rule(const struct pe_grid *grid, size_t axis, double i, double n)
{
    double steps = n > 1 ? n - 1 : 1;
    (void)grid;
    (void)axis;
    return (struct quotient){{2, -1}, {i, steps}, steps};
}

static struct quotient center_rule(const struct pe_grid *grid, size_t axis, double i, double n)
{
    (void)grid;
    (void)axis;
    return (struct quotient){{2, 1}, {i, 1 - n}, n};
}

static struct quotient scaled_rule(const struct pe_grid *grid, size_t axis, double i, double n)
{
    double ref = grid->ref[axis];
    return (struct quotient){{ref, ref}, {i, grid->offset}, n};
}

static struct quotient crop_rule(const struct pe_grid *grid, size_t axis, double i, double n)
{
    return (struct quotient){{grid->start[axis], grid->stop[axis]}, {n - i, i}, n};
}

static rule *const rules[] = {
    [PE_COORDS_INDEX] = index_rule,   [PE_COORDS_LINSPACE] = linspace_rule,
    [PE_COORDS_CENTER] = center_rule, [PE_COORDS_SCALED] = scaled_rule,
    [PE_COORDS_CROP] = crop_rule,
};

/* Whether both products and their sum are whole numbers that doubles hold. */
static bool is_whole(const struct quotient *q)
{
    double size = 0;
    for (size_t k = 0; k < 2; k++) {
        if (q->a[k] != trunc(q->a[k]) || q->b[k] != trunc(q->b[k]))
            return false;
        size += fabs(q->a[k] * q->b[k]);
    }
    return size <= PE_POSITION_MAX;
}

/* A quotient that is not near a double's middle from another cannot be nearer to it than the sum's
 * last bit over d: GUARD_BITS more than the sum has decide. */
#define GUARD_BITS 128

static double divide_exactly(const struct quotient *q)
{
    mpfr_t sum;
    mpfr_t value;
    mpfr_init2(sum, PE__EXACT_BITS);
    mpfr_init2(value, PE__EXACT_BITS + GUARD_BITS);
    mpfr_set_zero(sum, 1);
    for (size_t k = 0; k < 2; k++)
        pe__exact_add_product(sum, q->a[k], q->b[k]);
    mpfr_div_d(value, sum, q->d, MPFR_RNDN);
    double rounded = pe__round_mpfr_f64(PE_F64, value);
    mpfr_clears(sum, value, (mpfr_ptr)NULL);
    return rounded;
}

static size_t longest_side(const struct pe_grid *grid)
{
    size_t longest = 0;
    for (size_t axis = 0; axis < grid->axes; axis++)
        longest = grid->size[axis] > longest ? grid->size[axis] : longest;
    return longest;
}

double pe_grid_coordinate(const struct pe_grid *grid, size_t axis, size_t i)
{
    size_t n = grid->longest ? longest_side(grid) : grid->size[axis];
    struct quotient q = rules[grid->coords](grid, axis, (double)i, (double)n);
    double value = is_whole(&q) ? (q.a[0] * q.b[0] + q.a[1] * q.b[1]) / q.d : divide_exactly(&q);
    return value + 0.0; /* no negative zero */
}

/* ---- Checking ----------------------------------------------------------------------------- */

static bool check_blocks(const struct pe_grid *grid, struct pe_faults *faults)
{
    for (size_t axis = grid->axes - 2; axis < grid->axes; axis++)
        if (grid->size[axis] % grid->merge != 0)
            return pe_fault_add(faults, PE_INVALID_VALUE, "merge", NULL,
                                "blocks of %zu x %zu do not fill %zu cells along an axis",
                                grid->merge, grid->merge, grid->size[axis]);
    return true;
}

/* Coordinates lie between those of the first and the last cell. */
static bool check_ends(const struct pe_grid *grid, size_t axis, struct pe_faults *faults)
{
    static const char *const culprits[] = {
        [PE_COORDS_INDEX] = "coord_offset", [PE_COORDS_LINSPACE] = "grid",
        [PE_COORDS_CENTER] = "grid",        [PE_COORDS_SCALED] = "ref",
        [PE_COORDS_CROP] = "stop",
    };
    for (size_t end = 0; end < 2; end++) {
        double at = pe_grid_coordinate(grid, axis, end == 0 ? 0 : grid->size[axis] - 1);
        char shown[PE__SHOWN_MAX];
        if (!(fabs(at) <= PE_POSITION_MAX))
            return pe_fault_add(faults, PE_INVALID_VALUE, culprits[grid->coords], NULL,
                                "a coordinate would be %s, beyond 2^53, the largest position",
                                pe__show_number(at, shown));
    }
    return true;
}

bool pe_grid_check(const struct pe_grid *grid, struct pe_faults *faults)
{
    bool ok = grid->order != PE_GRID_MERGE || check_blocks(grid, faults);
    for (size_t axis = 0; axis < grid->axes; axis++)
        ok = check_ends(grid, axis, faults) && ok;
    return ok;
}

/* ---- Pixels ------------------------------------------------------------------------------- */

void pe_pixels_count(const bool *valid, size_t rows, size_t columns, size_t axes_n,
                     double *const at[])
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            size_t i = r * columns + c;
            double one = !valid || valid[i] ? 1 : 0;
            at[0][i] = (r > 0 ? at[0][i - columns] : 0) + one;
            at[1][i] = (c > 0 ? at[1][i - 1] : 0) + one;
        }
    for (size_t i = 0; axes_n == 4 && i < rows * columns; i++) {
        at[2][i] = at[0][(rows - 1) * columns + i % columns];
        at[3][i] = at[1][i / columns * columns + columns - 1];
    }
}
