// SPDX-License-Identifier: Apache-2.0
/*
 * kind_sincos2d.c: sines and cosines of the coordinates of a patch, a block of channels for each
 * axis, as MAE adds them to its patches: on two axes, on three for videos, or on any number.
 */
#include "frequency.h"
#include "params.h"
#include "sinusoid.h"

enum { SPACING_PAPER, SPACING_ENDPOINT };
enum { ORDER_GROUPED = PE__ORDER_COS_SIN + 1 };

#define BLOCKS_MAX PE_AXES_MAX

static const struct pe_param rows[] = {
    PE__ROW_DIM(2, 2),
    PE__ROW_BASE,
    {.name = "order",
     .aliases = "layout",
     .type = PE_ENUM,
     .choices = "interleaved sin_cos|half cos_sin grouped",
     .fallback = "sin_cos",
     .help = "Order inside the block of an axis: sin and cos of a pair after each other, all sines "
             "first, or all cosines; grouped has the sines of all axes before all cosines."},
    {.name = "spacing",
     .type = PE_ENUM,
     .choices = "paper endpoint",
     .fallback = "paper",
     .help = "Exponent of base for pair i of the s of a block: paper -i/s, endpoint -i/(s-1)."},
    {.name = "sections",
     .type = PE_REALS,
     .min = 1,
     .max = PE_DIM_MAX / 2,
     .multiple_of = 1,
     .flags = PE_DERIVED | PE_OPTIONAL,
     .help = "Pairs of each block, at most 8 blocks, in all dim/2 at most: further channels are 0; "
             "dim/2 shared equally without it."},
    {.name = "section_axes",
     .type = PE_REALS,
     .min = 0,
     .max = PE_AXES_MAX - 1,
     .multiple_of = 1,
     .flags = PE_DERIVED | PE_OPTIONAL,
     .help = "Position axis that each block reads; 0, 1, 2 and so on without it, rows first."},
    PE__ROWS_PLACE,
};

/* ---- Blocks ------------------------------------------------------------------------------- */

static size_t blocks_n(const struct pe_spec *spec)
{
    return pe_params_get(&spec->params, "sections")->list_n;
}

static size_t block_size(const struct pe_spec *spec, size_t block)
{
    return (size_t)pe_params_get(&spec->params, "sections")->list[block];
}

static size_t pairs_n(const struct pe_spec *spec)
{
    size_t sum = 0;
    for (size_t block = 0; block < blocks_n(spec); block++)
        sum += block_size(spec, block);
    return sum;
}

/* Where a pair is: its block, its number there, and the pairs before the block. */
struct place {
    size_t block, index, before;
};

static struct place place_of(const struct pe_spec *spec, size_t pair)
{
    struct place place = {0, pair, 0};
    for (; place.index >= block_size(spec, place.block); place.block++) {
        place.before += block_size(spec, place.block);
        place.index -= block_size(spec, place.block);
    }
    return place;
}

/* ---- Rules -------------------------------------------------------------------------------- */

static bool share_equally(struct pe_spec *spec, size_t n, struct pe_faults *faults)
{
    size_t dim = pe_spec_dim(spec);
    double sizes[BLOCKS_MAX];
    if (dim % (2 * n) != 0)
        return pe_fault_add(faults, PE_INVALID_VALUE, "dim", "or say the sections",
                            "dim must be a multiple of %zu to be shared by %zu axes, got %zu",
                            2 * n, n, dim);
    for (size_t block = 0; block < n; block++)
        sizes[block] = (double)(dim / 2 / n);
    return pe__params_derive_list(&spec->params, "sections", sizes, n, faults);
}

static bool number_axes(struct pe_spec *spec, size_t n, struct pe_faults *faults)
{
    static const double numbers[BLOCKS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    return pe__params_derive_list(&spec->params, "section_axes", numbers, n, faults);
}

static bool derive_lists(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *sections = pe__params_value(&spec->params, "sections");
    const struct pe_value *axes = pe__params_value(&spec->params, "section_axes");
    size_t n = sections->set ? sections->list_n : axes->set ? axes->list_n : spec->kind->axes;
    if (n > BLOCKS_MAX)
        return pe_fault_add(faults, PE_LIMIT_EXCEEDED, sections->set ? "sections" : "section_axes",
                            NULL, "there may be at most %d blocks, got %zu", BLOCKS_MAX, n);
    if (axes->set && axes->list_n != n)
        return pe_fault_add(faults, PE_SHAPE_MISMATCH, "section_axes", NULL,
                            "section_axes must name an axis for each of the %zu sections, got %zu",
                            n, axes->list_n);
    return (sections->set || share_equally(spec, n, faults)) &&
           (axes->set || number_axes(spec, n, faults));
}

static bool check_sizes(const struct pe_spec *spec, struct pe_faults *faults)
{
    size_t pairs = pairs_n(spec);
    size_t most = pe_spec_dim(spec) / 2;
    bool ends = pe_spec_number(spec, "spacing") == SPACING_ENDPOINT;
    if (pairs > most)
        return pe_fault_add(
            faults, PE_INVALID_VALUE, "sections", "sections count pairs, not channels",
            "the sections must add up to dim/2 (%zu) at most, got %zu", most, pairs);
    for (size_t block = 0; ends && block < blocks_n(spec); block++)
        if (block_size(spec, block) < 2)
            return pe_fault_add(faults, PE_INVALID_VALUE, "spacing", "use spacing=paper",
                                "with spacing=endpoint every block needs 2 pairs, block %zu has 1",
                                block);
    return true;
}

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    static const char *const names[] = {"dim", "sections", "section_axes", "spacing"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct pe_value *value = pe__params_value(&spec->params, names[i]);
        if (value->given && !value->set)
            return false; /* refused before */
    }
    return derive_lists(spec, faults) && check_sizes(spec, faults);
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static size_t axes(const struct pe_spec *spec)
{
    const struct pe_value *of_blocks = pe_params_get(&spec->params, "section_axes");
    const struct pe_value *sections = pe_params_get(&spec->params, "sections");
    if (!of_blocks->set) /* not yet finished */
        return sections->set ? sections->list_n : spec->kind->axes;
    double most = 0;
    for (size_t block = 0; block < of_blocks->list_n; block++)
        most = of_blocks->list[block] > most ? of_blocks->list[block] : most;
    return (size_t)most + 1;
}

/* Each pair has a frequency of its own, numbered like it. */
static void frequency(const struct pe_spec *spec, size_t pair, bool scaled, mpfr_t w)
{
    struct place place = place_of(spec, pair);
    bool ends = pe_spec_number(spec, "spacing") == SPACING_ENDPOINT;
    (void)scaled; /* there is no scaling */
    pe__frequency(pe_spec_number(spec, "base"), place.index, block_size(spec, place.block) - ends,
                  1, w);
}

static void pair_source(const struct pe_spec *spec, size_t pair, size_t *axis, size_t *k)
{
    *axis = (size_t)pe_params_get(&spec->params, "section_axes")->list[place_of(spec, pair).block];
    *k = pair;
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    struct place place = place_of(spec, pair);
    size_t size = block_size(spec, place.block);
    double order = pe_spec_number(spec, "order");
    if (order == ORDER_GROUPED) {
        *s = pair;
        *c = pairs_n(spec) + pair;
        return;
    }
    pe__order_channels((enum pe__order)order, size, size, place.index, c, s);
    *c += 2 * place.before;
    *s += 2 * place.before;
}

/* ---- Catalogue ---------------------------------------------------------------------------- */

static const struct pe_library libraries[] = {
    {"transformers", "ViTMAE and RT-DETR, rows first; OmDet-Turbo: section_axes=1,0, "
                     "grid_order=column"},
    {"MAE", "section_axes=1,0: columns first, although its names say otherwise"},
    {"diffusers", "section_axes=1,0, coords=scaled; videos: sections=dim/8,3*dim/16,3*dim/16"},
    {"timm", "build_sincos2d_pos_embed: order=grouped; reverse_coord: section_axes=1,0 and "
             "grid_order=column"},
    {"tensor2tensor", "timing signal of several dimensions: spacing=endpoint"},
    {0},
};

static const struct pe_reference references[] = {
    {"Masked Autoencoders Are Scalable Vision Learners", 2021, "arXiv:2111.06377"},
    {"Better plain ViT baselines for ImageNet-1k", 2022, "arXiv:2205.01580"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=sincos2d&dim=8&grid=2x3",
    "/v1/table?kind=sincos2d&dim=8&order=grouped&section_axes=1,0&positions=0,0,1,1;0,1,0,1",
    "/v1/table?kind=sincos2d&dim=32&sections=4,6,6&positions=0,1;0,0;0,2",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .axes = axes,
    .frequencies_n = pairs_n,
    .frequency = frequency,
    .pairs_n = pairs_n,
    .pair_source = pair_source,
    .pair_channels = pair_channels,
};

const struct pe_kind pe__kind_sincos2d = {
    .name = "sincos2d",
    .aliases = "sincos",
    .title = "Sines and cosines of patch coordinates (MAE)",
    .formula = "block of an axis with s pairs: PE[i] = sin(p*base^(-i/s)), PE[s+i] = "
               "cos(p*base^(-i/s)); PE[p] = all blocks; y = x + PE",
    .help = "Adds sines and cosines of the row to one half of the channels and of the column to "
            "the other; with sections, of any axes to blocks of any width. Which axis comes first "
            "differs between libraries, and square grids do not show it.",
    .outside = "Has a value everywhere. Larger grids take values that were never seen, so models "
               "squeeze their coordinates into the trained range or resample the table.",
    .acts = PE_ADDS,
    .properties = PE_UNBOUNDED,
    .axes = 2,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
