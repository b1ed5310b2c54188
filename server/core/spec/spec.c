// SPDX-License-Identifier: Apache-2.0
/*
 * spec.c: the description of one encoding: a kind and values for its parameters, and the compact
 * form "rope:dim=64,layout=half" of both.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kind.h"
#include "params.h"
#include "scaling.h"
#include "value.h"

void pe_spec_init(struct pe_spec *spec, const struct pe_kind *kind)
{
    memset(spec, 0, sizeof *spec);
    spec->kind = kind;
    pe_params_init(&spec->params, kind->params, kind->params_n);
}

void pe_spec_release(struct pe_spec *spec)
{
    pe_params_release(&spec->params);
    memset(spec, 0, sizeof *spec);
}

bool pe_spec_finish(struct pe_spec *spec, struct pe_faults *faults)
{
    bool ok = pe_params_finish(&spec->params, faults);
    if (spec->kind->ops->check)
        ok &= spec->kind->ops->check(spec, faults);
    return ok;
}

double pe_spec_number(const struct pe_spec *spec, const char *name)
{
    return pe_params_get(&spec->params, name)->number;
}

double pe_spec_effective_base(const struct pe_spec *spec)
{
    if (!spec->kind->ops->base)
        return pe_spec_number(spec, "base");
    mpfr_t b;
    mpfr_init2(b, 256);
    spec->kind->ops->base(spec, b);
    double base = mpfr_get_d(b, MPFR_RNDN);
    mpfr_clear(b);
    return base;
}

double pe_spec_attention(const struct pe_spec *spec)
{
    if (!spec->kind->ops->attention)
        return 1;
    mpfr_t factor;
    mpfr_init2(factor, 256);
    spec->kind->ops->attention(spec, factor);
    double attention = mpfr_get_d(factor, MPFR_RNDN);
    mpfr_clear(factor);
    return attention;
}

/* The scaling of a kind that may have one. */
static const struct pe__scaling *scaling_or_null(const struct pe_spec *spec)
{
    return pe_params_find(&spec->params, "scaling", 7) < 0 ? NULL : pe__scaling_of(spec);
}

static double rounded(const struct pe_spec *spec, void (*rule)(const struct pe__series *, mpfr_t))
{
    const struct pe__series series = {.spec = spec};
    mpfr_t y;
    mpfr_init2(y, 256);
    rule(&series, y);
    double value = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    return value;
}

double pe_spec_softmax(const struct pe_spec *spec)
{
    const struct pe__scaling *scaling = scaling_or_null(spec);
    return scaling && scaling->softmax ? rounded(spec, scaling->softmax) : 1;
}

double pe_spec_mscale(const struct pe_spec *spec)
{
    const struct pe__scaling *scaling = scaling_or_null(spec);
    return scaling && scaling->mscale ? rounded(spec, scaling->mscale) : NAN;
}

double pe_spec_ntk_alpha(const struct pe_spec *spec)
{
    const struct pe__scaling *scaling = scaling_or_null(spec);
    return scaling && scaling->alpha ? rounded(spec, scaling->alpha) : NAN;
}

static const struct pe_value *value_or_null(const struct pe_spec *spec, const char *name)
{
    int i = pe_params_find(&spec->params, name, strlen(name));
    return i < 0 ? NULL : &spec->params.value[i];
}

static size_t number_or(const struct pe_spec *spec, const char *name, size_t fallback)
{
    const struct pe_value *value = value_or_null(spec, name);
    return value ? (size_t)value->number : fallback;
}

size_t pe_spec_dim(const struct pe_spec *spec)
{
    return number_or(spec, "dim", 0);
}

size_t pe_spec_axes(const struct pe_spec *spec)
{
    return spec->kind->ops->axes ? spec->kind->ops->axes(spec) : spec->kind->axes;
}

size_t pe_spec_pairs(const struct pe_spec *spec)
{
    return spec->kind->ops->pairs_n ? spec->kind->ops->pairs_n(spec) : 0;
}

void pe_spec_pair_channels(const struct pe_spec *spec, size_t pair, size_t *first, size_t *second)
{
    spec->kind->ops->pair_channels(spec, pair, first, second);
}

void pe_spec_pair_members(const struct pe_spec *spec, size_t pair, bool after, size_t *first,
                          size_t *second)
{
    size_t offset = number_or(spec, "rotary_offset", 0);
    pe_spec_pair_channels(spec, pair, first, second);
    if (after && number_or(spec, "output_order", 0) != 0) { /* halves */
        *first = pair;
        *second = pair + pe_spec_pairs(spec);
    }
    *first += offset;
    *second += offset;
}

size_t pe_spec_pair_axis(const struct pe_spec *spec, size_t pair)
{
    size_t axis = 0;
    size_t k;
    if (spec->kind->ops->pair_source)
        spec->kind->ops->pair_source(spec, pair, &axis, &k);
    return axis;
}

bool pe_spec_shifts_only(const struct pe_spec *spec)
{
    struct pe__placing placing = pe__placing_of(spec);
    return placing.scale == 1 && isinf(placing.clamp);
}

bool pe_spec_turns(const struct pe_spec *spec)
{
    return number_or(spec, "pair_table", 0) == 0 && !spec->kind->ops->mixed;
}

bool pe_spec_is_given(const struct pe_spec *spec)
{
    return spec->table && spec->kind->properties & PE_TABULATED;
}

double pe_spec_place(const struct pe_spec *spec, double position)
{
    struct pe__placing placing = pe__placing_of(spec);
    struct pe__pos place;
    pe__place(&placing, position, &place);
    return place.hi;
}

bool pe_spec_is_polar(const struct pe_spec *spec)
{
    return spec->kind->ops->polar;
}

bool pe_spec_has_phases(const struct pe_spec *spec)
{
    return pe_spec_is_polar(spec) && spec->kind->ops->constants(spec, NULL, NULL) > 0;
}

size_t pe_spec_width(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) * (pe_spec_is_polar(spec) ? 2 : 1);
}

bool pe_spec_has_scales(const struct pe_spec *spec)
{
    return spec->kind->ops->scale;
}

size_t pe_spec_heads(const struct pe_spec *spec)
{
    const struct pe_value *total = value_or_null(spec, "total_heads");
    return total && total->set ? (size_t)total->number : number_or(spec, "heads", 1);
}

size_t pe_spec_bias_work(const struct pe_spec *spec)
{
    if (spec->kind->acts != PE_BIASES)
        return 0;
    return spec->kind->ops->work ? spec->kind->ops->work(spec) : pe_spec_dim(spec) + 1;
}

size_t pe_spec_mixing_work(const struct pe_spec *spec)
{
    return spec->kind->acts == PE_ROTATES && spec->kind->ops->work ? spec->kind->ops->work(spec)
                                                                   : 0;
}

#define TOKENS_SHOWN 32

size_t pe_spec_tokens(const struct pe_spec *spec)
{
    return spec->kind->ops->tokens_n ? spec->kind->ops->tokens_n(spec) : TOKENS_SHOWN;
}

/* ---- Compact form ------------------------------------------------------------------------- */

/* Text being written into memory that may be too small; `len` is what it would need. */
struct writer {
    char *out;
    size_t size, len;
};

static void write_text(struct writer *writer, const char *text)
{
    if (writer->len < writer->size)
        snprintf(writer->out + writer->len, writer->size - writer->len, "%s", text);
    writer->len += strlen(text);
}

static void write_key(struct writer *writer, const char *name, bool *first)
{
    write_text(writer, *first ? ":" : ",");
    write_text(writer, name);
    write_text(writer, "=");
    *first = false;
}

size_t pe_spec_compact(const struct pe_spec *spec, char *out, size_t size)
{
    struct writer writer = {out, size, 0};
    bool first = true;
    write_text(&writer, spec->kind->name);
    for (size_t i = 0; i < spec->params.rows_n; i++) {
        const struct pe_param *row = &spec->params.rows[i];
        const struct pe_value *value = &spec->params.value[i];
        if (!pe__params_differs(&spec->params, i) && !(value->set && !strcmp(row->name, "dim")))
            continue;
        write_key(&writer, row->name, &first);
        bool fits = writer.len < size;
        writer.len += pe_value_print(row, value, '+', fits ? out + writer.len : NULL,
                                     fits ? size - writer.len : 0);
    }
    if (spec->table) {
        write_key(&writer, "table", &first);
        write_text(&writer, "sha256:");
        write_text(&writer, spec->table_digest);
    }
    return writer.len;
}

static bool set_pair(struct pe_spec *spec, struct pe__span pair, struct pe_faults *faults)
{
    struct pe__span name, text = pair;
    char shown[PE__SHOWN_MAX];
    pe__span_cut(&text, '=', &name);
    if (!text.text)
        return pe_fault_add(faults, PE_INVALID_VALUE, "spec", "write kind:key=value,key=value",
                            "\"%s\" in the spec has no =", pe__show_text(pair, shown));
    if (pe_kind_has_table(spec->kind) && pe__span_equal(name, pe__span_of("table")))
        return pe_fault_add(faults, PE_UNKNOWN_PARAMETER, "table",
                            "post the table's numbers as the member \"table\" of the body",
                            "a spec text cannot hold a posted table, only its digest");
    return pe__params_set(&spec->params, name, text, faults);
}

bool pe_spec_parse(const char *text, struct pe_spec *spec, struct pe_faults *faults)
{
    struct pe__span rest = pe__span_of(text);
    struct pe__span name = {0}, pair;
    pe__span_cut(&rest, ':', &name);
    const struct pe_kind *kind = pe_kind_require(name.text, name.len, faults);
    if (!kind)
        return false;
    pe_spec_init(spec, kind);
    bool ok = true;
    while (pe__span_cut(&rest, ',', &pair))
        ok &= set_pair(spec, pair, faults);
    if (!ok)
        pe_spec_release(spec);
    return ok;
}
