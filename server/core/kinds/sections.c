// SPDX-License-Identifier: Apache-2.0
/*
 * sections.c: rotating pairs on several position axes: which block a pair belongs to, which axis
 * that reads, and the series of frequencies it takes.
 */
#include "sections.h"

#include <stdio.h>

#include "params.h"

/* ---- Blocks ------------------------------------------------------------------------------- */

static size_t choice(const struct pe_spec *spec, const char *name)
{
    return (size_t)pe_spec_number(spec, name);
}

size_t pe__sections_n(const struct pe_spec *spec)
{
    return pe_params_get(&spec->params, "sections")->list_n;
}

size_t pe__section_size(const struct pe_spec *spec, size_t block)
{
    return (size_t)pe_params_get(&spec->params, "sections")->list[block];
}

static size_t section_axis(const struct pe_spec *spec, size_t block)
{
    return (size_t)pe_params_get(&spec->params, "section_axes")->list[block];
}

static struct pe__place place_in_blocks(const struct pe_spec *spec, size_t pair)
{
    size_t block = 0;
    for (; pair >= pe__section_size(spec, block); block++)
        pair -= pe__section_size(spec, block);
    return (struct pe__place){block, pair};
}

/* Blocks by turns; pairs past the section of their turn's block are of block `rest`. */
static size_t interleaved_block(const struct pe_spec *spec, size_t pair, size_t rest)
{
    size_t block = pair % 3;
    return pair < 3 * pe__section_size(spec, block) ? block : rest;
}

struct pe__place pe__pair_place(const struct pe_spec *spec, size_t pair)
{
    size_t n = pe__sections_n(spec);
    size_t alternating;
    switch ((enum pe__split)choice(spec, "axes_split")) {
    case PE__SPLIT_ALTERNATE:
        return (struct pe__place){pair % n, pair / n};
    case PE__SPLIT_ALTERNATE_TAIL:
        alternating = pe__section_size(spec, 0) + pe__section_size(spec, 1);
        return pair < alternating ? (struct pe__place){pair % 2, pair / 2}
                                  : (struct pe__place){2, pair - alternating};
    case PE__SPLIT_INTERLEAVED:
        return (struct pe__place){interleaved_block(spec, pair, 0), 0};
    case PE__SPLIT_INTERLEAVED_GGML:
        return (struct pe__place){interleaved_block(spec, pair, 3), 0};
    case PE__SPLIT_BLOCKS:
    default:
        return place_in_blocks(spec, pair);
    }
}

size_t pe__sections_axes(const struct pe_spec *spec)
{
    const struct pe_value *axes = pe_params_get(&spec->params, "section_axes");
    const struct pe_value *sections = pe_params_get(&spec->params, "sections");
    if (!axes->set) /* not yet finished */
        return sections->set ? sections->list_n : spec->kind->axes;
    double most = 0;
    for (size_t block = 0; block < axes->list_n; block++)
        most = axes->list[block] > most ? axes->list[block] : most;
    return (size_t)most + 1;
}

void pe__sections_source(const struct pe_spec *spec, size_t pair, size_t *axis, size_t *k)
{
    *axis = section_axis(spec, pe__pair_place(spec, pair).block);
    *k = pair;
}

void pe__sections_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second)
{
    if (choice(spec, "layout") != PE__LAYOUT_HALF_PER_AXIS) {
        pe__rotary_channels(spec, pair, first, second);
        return;
    }
    struct pe__place place = pe__pair_place(spec, pair);
    *first = 2 * (pair - place.index) + place.index;
    *second = *first + pe__section_size(spec, place.block);
}

/* ---- Frequencies -------------------------------------------------------------------------- */

/* The series of which a pair takes frequency k. */
struct pe__series pe__sections_series(const struct pe_spec *spec, size_t pair, size_t *number)
{
    size_t pairs = pe__rotary_pairs_n(spec);
    struct pe__place place = pe__pair_place(spec, pair);
    switch ((enum pe__spectrum)choice(spec, "spectrum")) {
    case PE__SPECTRUM_RESTART:
        *number = place.index;
        pairs = pe__section_size(spec, place.block);
        break;
    case PE__SPECTRUM_STRIDED:
        *number = place.index * pe__sections_n(spec) + place.block;
        break;
    case PE__SPECTRUM_GLOBAL:
    default:
        *number = pair;
    }
    return (struct pe__series){spec, 2 * pairs, pairs};
}

void pe__sections_frequency(const struct pe_spec *spec, size_t pair, bool scaled, mpfr_t w)
{
    size_t k;
    struct pe__series series = pe__sections_series(spec, pair, &k);
    pe__rotary_frequency(&series, k, pair, scaled, w);
}

void pe__sections_base(const struct pe_spec *spec, mpfr_t b)
{
    size_t k;
    pe__rotary_base(spec, pe__sections_series(spec, 0, &k).width, b);
}

/* ---- Defaults ----------------------------------------------------------------------------- */

static bool share_equally(struct pe_spec *spec, size_t n, size_t pairs, struct pe_faults *faults)
{
    double sizes[PE__SECTIONS_MAX];
    for (size_t block = 0; block < n; block++)
        sizes[block] = (double)((pairs + n - 1 - block) / n);
    return pe__params_derive_list(&spec->params, "sections", sizes, n, faults);
}

static bool number_axes(struct pe_spec *spec, size_t n, struct pe_faults *faults)
{
    static const double numbers[PE__SECTIONS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    return pe__params_derive_list(&spec->params, "section_axes", numbers, n, faults);
}

static bool derive_lists(struct pe_spec *spec, size_t pairs, struct pe_faults *faults)
{
    const struct pe_value *sections = pe__params_value(&spec->params, "sections");
    const struct pe_value *axes = pe__params_value(&spec->params, "section_axes");
    size_t n = sections->set ? sections->list_n : axes->set ? axes->list_n : spec->kind->axes;
    if (n > PE__SECTIONS_MAX)
        return pe_fault_add(faults, PE_LIMIT_EXCEEDED, sections->set ? "sections" : "section_axes",
                            NULL, "there may be at most %d blocks, got %zu", PE__SECTIONS_MAX, n);
    if (axes->set && axes->list_n != n)
        return pe_fault_add(faults, PE_SHAPE_MISMATCH, "section_axes", NULL,
                            "section_axes must name an axis for each of the %zu sections, got %zu",
                            n, axes->list_n);
    return (sections->set || share_equally(spec, n, pairs, faults)) &&
           (axes->set || number_axes(spec, n, faults));
}

/* ---- Rules -------------------------------------------------------------------------------- */

static bool check_sum(const struct pe_spec *spec, size_t pairs, struct pe_faults *faults)
{
    size_t sum = 0;
    for (size_t block = 0; block < pe__sections_n(spec); block++)
        sum += pe__section_size(spec, block);
    if (sum == pairs)
        return true;
    return pe_fault_add(faults, PE_INVALID_VALUE, "sections", "sections count pairs, not channels",
                        "the sections must add up to rotary_dim/2 (%zu), got %zu", pairs, sum);
}

/* Blocks that a split needs; 0: any number. */
static const size_t blocks_needed[] = {
    [PE__SPLIT_BLOCKS] = 0,           [PE__SPLIT_ALTERNATE] = 0,      [PE__SPLIT_INTERLEAVED] = 3,
    [PE__SPLIT_INTERLEAVED_GGML] = 4, [PE__SPLIT_ALTERNATE_TAIL] = 3,
};

/* The last pair that a section asks for may lie one past the end, as the slices of transformers
 * allow. */
static bool check_interleaved(const struct pe_spec *spec, size_t pairs, struct pe_faults *faults)
{
    bool ok = true;
    for (size_t block = 1; block <= 2; block++) {
        size_t size = pe__section_size(spec, block);
        size_t most = (pairs + 3 - block) / 3;
        if (size > most)
            ok =
                pe_fault_add(faults, PE_INVALID_VALUE, "sections", NULL,
                             "section %zu of interleaved blocks may have at most %zu of %zu pairs, "
                             "got %zu",
                             block, most, pairs, size);
    }
    return ok;
}

/* Pairs dealt out in turn: the block sizes follow from their number. */
static bool check_turns(const struct pe_spec *spec, size_t n, size_t pairs,
                        struct pe_faults *faults)
{
    for (size_t block = 0; block < n; block++) {
        size_t size = (pairs + n - 1 - block) / n;
        if (pe__section_size(spec, block) != size)
            return pe_fault_add(faults, PE_INVALID_VALUE, "sections", NULL,
                                "of %zu pairs that alternate between %zu blocks, section %zu gets "
                                "%zu, not %zu",
                                pairs, n, block, size, pe__section_size(spec, block));
    }
    return true;
}

static bool check_split(const struct pe_spec *spec, size_t pairs, struct pe_faults *faults)
{
    enum pe__split split = (enum pe__split)choice(spec, "axes_split");
    size_t n = pe__sections_n(spec);
    size_t len;
    if (blocks_needed[split] != 0 && n != blocks_needed[split]) {
        int row = pe_params_find(&spec->params, "axes_split", 10);
        const char *name = pe_choice_name(&spec->params.rows[row], split, &len);
        return pe_fault_add(faults, PE_INVALID_VALUE, "sections", NULL,
                            "axes_split=%.*s needs %zu sections, got %zu", (int)len, name,
                            blocks_needed[split], n);
    }
    switch (split) {
    case PE__SPLIT_ALTERNATE:
        return check_turns(spec, n, pairs, faults);
    case PE__SPLIT_ALTERNATE_TAIL:
        return check_turns(spec, 2, pairs - pe__section_size(spec, 2), faults);
    case PE__SPLIT_INTERLEAVED:
        return check_interleaved(spec, pairs, faults);
    case PE__SPLIT_INTERLEAVED_GGML:
    case PE__SPLIT_BLOCKS:
    default:
        return true;
    }
}

/* What numbers pairs within their blocks needs a split that does, or blocks of one size. */
static bool check_spectrum(const struct pe_spec *spec, struct pe_faults *faults)
{
    enum pe__split split = (enum pe__split)choice(spec, "axes_split");
    enum pe__spectrum spectrum = (enum pe__spectrum)choice(spec, "spectrum");
    bool mixes = split == PE__SPLIT_INTERLEAVED || split == PE__SPLIT_INTERLEAVED_GGML;
    bool ok = true;
    if (mixes && spectrum != PE__SPECTRUM_GLOBAL)
        ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "spectrum", "use spectrum=global",
                          "interleaved blocks have no series of their own");
    if (split != PE__SPLIT_BLOCKS && choice(spec, "layout") == PE__LAYOUT_HALF_PER_AXIS)
        ok = pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "layout", "use axes_split=blocks",
                          "layout=half_per_axis needs blocks that lie together");
    for (size_t block = 1; spectrum == PE__SPECTRUM_STRIDED && block < pe__sections_n(spec);
         block++)
        if (pe__section_size(spec, block) != pe__section_size(spec, 0))
            return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "spectrum",
                                "use sections of one size",
                                "spectrum=strided takes every frequency once only with sections of "
                                "one size, got %zu and %zu",
                                pe__section_size(spec, 0), pe__section_size(spec, block));
    return ok;
}

/* The rules of the scaling for the series of a block that is not the first. */
static bool check_other_series(struct pe_spec *spec, size_t size, struct pe_faults *faults)
{
    const struct pe__scaling *scaling = pe__scaling_of(spec);
    const struct pe__series series = {spec, 2 * size, size};
    if (scaling->base_ratio)
        return pe_fault_add(
            faults, PE_CONFLICTING_PARAMETERS, "scaling", "use sections of one size",
            "scaling=%s would give blocks of different sizes different bases", scaling->name);
    return !scaling->check || scaling->check(spec, &series, faults);
}

static bool check_scaling(struct pe_spec *spec, struct pe_faults *faults)
{
    size_t k;
    struct pe__series first = pe__sections_series(spec, 0, &k);
    bool ok = pe__scaling_check(spec, &first, faults);
    if (!ok || choice(spec, "spectrum") != PE__SPECTRUM_RESTART)
        return ok;
    for (size_t block = 0; ok && block < pe__sections_n(spec); block++) {
        size_t size = pe__section_size(spec, block);
        if (size != 0 && size != first.n)
            ok = check_other_series(spec, size, faults);
    }
    return ok;
}

/* Frequencies of the caller have no spectrum. */
static bool check_given(struct pe_spec *spec, struct pe_faults *faults)
{
    if (!pe__params_value(&spec->params, "freqs")->set)
        return true;
    if (pe__params_value(&spec->params, "spectrum")->given)
        return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "spectrum", NULL,
                            "spectrum says nothing where the frequencies are given by freqs");
    pe__params_drop(&spec->params, "spectrum");
    return true;
}

static bool was_refused(const struct pe_value *value)
{
    return value->given && !value->set;
}

bool pe__sections_check(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = pe__rotary_check_turning(spec, 2, faults);
    static const char *const names[] = {"rotary_dim", "sections",   "section_axes",
                                        "layout",     "axes_split", "spectrum"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (was_refused(pe__params_value(&spec->params, names[i])))
            return false;
    if (!pe__params_value(&spec->params, "rotary_dim")->set)
        return false;
    size_t pairs = pe__rotary_pairs_n(spec);
    ok = pe__rotary_check_pairs(spec, pairs, faults) && ok;
    ok = check_given(spec, faults) && ok;
    ok = derive_lists(spec, pairs, faults) && check_sum(spec, pairs, faults) &&
         check_split(spec, pairs, faults) && check_spectrum(spec, faults) && ok;
    return ok && check_scaling(spec, faults);
}
