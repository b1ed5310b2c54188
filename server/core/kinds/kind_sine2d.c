// SPDX-License-Identifier: Apache-2.0
/*
 * kind_sine2d.c: sinusoids of the row and the column of a pixel, as DETR adds them to its image
 * features: rows first, counted from 1 among the valid pixels, as they are or as shares of their
 * number. Beside row and column a share has two more position axes, the numbers themselves.
 */
#include <string.h>

#include "frequency.h"
#include "params.h"
#include "sinusoid.h"
#include "value.h"

enum { ROW, COLUMN, LAST_ROW, LAST_COLUMN };

static const struct pe_param rows[] = {
    PE__ROW_DIM(4, 4),
    PE__ROW_BASE,
    PE__ROW_ORDER("interleaved"),
    {.name = "normalize",
     .type = PE_BOOL,
     .fallback = "false",
     .help = "Takes row and column as shares, (p+offset)/(last+eps)*scale, of the last row and "
             "column that count for the pixel, two further lists of positions."},
    {.name = "scale",
     .type = PE_REAL,
     .min = 0,
     .max = 1e6,
     .flags = PE_OPTIONAL | PE_OPEN_MIN,
     .when = "normalize=true",
     .help = "What the whole image has in radians; 2 pi without it."},
    {.name = "eps",
     .type = PE_REAL,
     .min = 0,
     .max = 1,
     .flags = PE_OPEN_MIN,
     .fallback = "1e-6",
     .when = "normalize=true",
     .help = "Added to the last row and column, so that nothing is divided by 0."},
    {.name = "offset",
     .type = PE_REAL,
     .min = -PE_POSITION_MAX,
     .max = PE_POSITION_MAX,
     .fallback = "0",
     .when = "normalize=true",
     .help = "Added to row and column before they are divided: -0.5 in Deformable DETR."},
    PE__ROWS_PLACE,
};

/* ---- Rules -------------------------------------------------------------------------------- */

static bool normalizes(const struct pe_spec *spec)
{
    return pe_spec_number(spec, "normalize") != 0;
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    static const char *const names[] = {"shift", "position_scale", "clamp", "max_positions"};
    bool ok = true;
    for (size_t i = 0; normalizes(spec) && i < sizeof names / sizeof *names; i++) {
        int row = pe_params_find(&spec->params, names[i], strlen(names[i]));
        if (pe__params_differs(&spec->params, (size_t)row))
            ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, names[i], "use offset and scale",
                              "with normalize=true %s would change the last row and column too",
                              names[i]);
    }
    return ok;
}

static bool has_position(const struct pe_spec *spec, struct pe__pos position, const char *param,
                         struct pe_faults *faults)
{
    if (!normalizes(spec) || position.hi >= 0)
        return true;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                        "rows and columns that are normalized must be 0 or more, got %s",
                        pe__show_number(position.hi, shown));
}

static size_t axes(const struct pe_spec *spec)
{
    return normalizes(spec) ? 4 : 2;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

#define GUARD_BITS 64

static void multiply_by_scale(const struct pe_spec *spec, mpfr_t y)
{
    const struct pe_value *scale = pe_params_get(&spec->params, "scale");
    mpfr_t turn;
    if (scale->set) {
        mpfr_mul_d(y, y, scale->number, MPFR_RNDN);
        return;
    }
    mpfr_init2(turn, mpfr_get_prec(y));
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
    mpfr_mul(y, y, turn, MPFR_RNDN);
    mpfr_clear(turn);
}

static void share(const struct pe_spec *spec, const struct pe__pos *at, size_t axis, mpfr_t y)
{
    mpfr_t count;
    mpfr_t last;
    mpfr_inits2(mpfr_get_prec(y) + GUARD_BITS, count, last, (mpfr_ptr)NULL);
    pe__pos_exact(&at[axis], count);
    mpfr_add_d(count, count, pe_spec_number(spec, "offset"), MPFR_RNDN);
    pe__pos_exact(&at[axis == ROW ? LAST_ROW : LAST_COLUMN], last);
    mpfr_add_d(last, last, pe_spec_number(spec, "eps"), MPFR_RNDN);
    mpfr_div(count, count, last, MPFR_RNDN);
    multiply_by_scale(spec, count);
    mpfr_set(y, count, MPFR_RNDN);
    mpfr_clears(count, last, (mpfr_ptr)NULL);
}

static pe__coordinate_fn *coordinate(const struct pe_spec *spec)
{
    return normalizes(spec) ? share : NULL;
}

/* Rows and columns have the same frequencies, as many as there are pairs for each. */
static size_t frequencies_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) / 4;
}

static size_t pairs_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) / 2;
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    (void)scaled; /* there is no scaling */
    pe__frequency(pe_spec_number(spec, "base"), k, frequencies_n(spec), 1, w);
}

static void pair_source(const struct pe_spec *spec, size_t pair, size_t *axis, size_t *k)
{
    size_t n = frequencies_n(spec);
    *axis = pair < n ? ROW : COLUMN;
    *k = pair % n;
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    size_t n = frequencies_n(spec);
    size_t first = pair < n ? 0 : 2 * n; /* the columns' half */
    pe__order_channels((enum pe__order)pe_spec_number(spec, "order"), n, n, pair % n, c, s);
    *c += first;
    *s += first;
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_library libraries[] = {
    {"transformers", "DETR, Conditional DETR, Table Transformer, MaskFormer, Mask2Former: "
                     "normalize=true; Deformable DETR: offset=-0.5 as well"},
    {0},
};

static const struct pe_reference references[] = {
    {"End-to-End Object Detection with Transformers", 2020, "arXiv:2005.12872"},
    {"Deformable DETR: Deformable Transformers for End-to-End Object Detection", 2020,
     "arXiv:2010.04159"},
    {"Masked-attention Mask Transformer for Universal Image Segmentation", 2021,
     "arXiv:2112.01527"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=sine2d&dim=8&positions=1,1,2,2;1,2,1,2",
    "/v1/table?kind=sine2d&dim=8&normalize=true&grid=2x2",
    "/v1/frequencies?kind=sine2d&dim=256",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .has_position = has_position,
    .axes = axes,
    .frequencies_n = frequencies_n,
    .frequency = frequency,
    .coordinate = coordinate,
    .pairs_n = pairs_n,
    .pair_source = pair_source,
    .pair_channels = pair_channels,
};

const struct pe_kind pe__kind_sine2d = {
    .name = "sine2d",
    .title = "Sinusoids of row and column (DETR)",
    .formula = "PE[p] = (PE_row, PE_column), each PE[2i] = sin(x*base^(-4i/dim)), PE[2i+1] = "
               "cos(same), x = p or (p+offset)/(last+eps)*scale; y = x + PE",
    .help = "Adds sinusoids of the row to the first half of the channels and of the column to the "
            "second, for the pixels of an image, which are counted from 1. Normalized, images of "
            "all sizes span the same angles; padded pixels of a batch do not count.",
    .outside = "Has a value everywhere. Normalized, larger images only have finer steps; as they "
               "are, far rows and columns take values that were never seen.",
    .acts = PE_ADDS,
    .properties = PE_UNBOUNDED,
    .axes = 2,
    .counts_pixels = true,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
