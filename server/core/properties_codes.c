// SPDX-License-Identifier: Apache-2.0
/* properties_codes.c: the codes of positions: rows of a table, or biases at a distance. */
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "properties.h"

#define PIXEL_AXES 4 /* row, column, and where their counts end */

static bool is_polar_or_added(const struct pe_spec *spec)
{
    return spec->kind->acts != PE_ROTATES || pe_spec_is_polar(spec);
}

size_t pe__code_width(const struct pe_spec *spec)
{
    if (spec->kind->acts == PE_BIASES)
        return 1;
    return is_polar_or_added(spec) ? pe_spec_width(spec) : 2 * pe_spec_pairs(spec);
}

/* A position on all axes of the kind. */
static struct pe_positions everywhere(const struct pe__coding *coding, const double *at,
                                      const double *last, size_t n)
{
    const struct pe_spec *spec = &coding->plan->spec;
    struct pe_positions positions = {.axes = pe_spec_axes(spec), .n = n};
    bool ends = spec->kind->counts_pixels && positions.axes == PIXEL_AXES;
    for (size_t axis = 0; axis < positions.axes; axis++)
        positions.at[axis] = ends && axis >= PIXEL_AXES / 2 ? last : at;
    return positions;
}

bool pe__has_code(const struct pe__coding *coding, double position)
{
    struct pe_faults faults = {0};
    struct pe_positions one = everywhere(coding, &position, &coding->last, 1);
    return pe_positions_check(&coding->plan->spec, &one, "positions", &faults);
}

static size_t head_of(const struct pe_spec *spec)
{
    int row = pe_params_find(&spec->params, "head", strlen("head"));
    return row >= 0 ? (size_t)spec->params.value[row].number : 0;
}

/* The bias of a query there and a key at 0. */
static void fill_bias(const struct pe__coding *coding, enum pe_dtype dtype, double at, double *out)
{
    const struct pe_plan *plan = coding->plan;
    static const double zero = 0;
    struct pe_positions query = {.axes = 1, .n = 1, .at = {&at}};
    struct pe_positions key = {.axes = 1, .n = 1, .at = {&zero}};
    struct pe_vectors vectors = {coding->q, coding->k};
    double score = 0;
    if (plan->spec.kind->properties & PE_CONTENT)
        pe_add_bias(plan, NULL, &vectors, &query, &key, head_of(&plan->spec), 1, 1, PE_F64, &score,
                    &score);
    else
        pe_bias(plan, &query, &key, head_of(&plan->spec), 1, PE_F64, &score);
    *out = pe__f64_rounded(dtype, score);
}

bool pe__codes_fill(const struct pe__coding *coding, enum pe_dtype dtype,
                    const struct pe__codes_of *codes)
{
    void *row = malloc(codes->width * sizeof(double) + 1);
    for (size_t i = 0; row && i < codes->n; i++) {
        double *out = codes->value + i * codes->width;
        if (codes->valid && !codes->valid[i])
            continue;
        if (coding->plan->spec.kind->acts == PE_BIASES) {
            fill_bias(coding, dtype, codes->at[i], out);
            continue;
        }
        struct pe_positions one = everywhere(coding, &codes->at[i], &coding->last, 1);
        pe_table(coding->plan, &one, dtype, row, codes->width);
        pe__load_row(dtype, row, 0, codes->width, out);
    }
    free(row);
    return row != NULL;
}
