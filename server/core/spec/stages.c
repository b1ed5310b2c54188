// SPDX-License-Identifier: Apache-2.0
/*
 * stages.c: the stages at which a pipeline rounds, as text and back; the names for usual ones;
 * which stages a kind has. The rounding itself is in staged.c and where each stage happens.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dtype.h"
#include "kind.h"
#include "method.h"
#include "nearest.h"
#include "span.h"
#include "value.h"

#define EXACT "exact"

static const char *const stage_names[PE_STAGES_N] = {"pos",   "freq",     "angle", "table",
                                                     "apply", "quantize", "dot"};

static const struct pe_preset presets[] = {
    {"f32", "freq:f32,angle:f32,table:f32", "tables made in f32"},
    {"f64", "pos:f64,freq:f64,angle:f64,table:f64,apply:f64,dot:f64", "plain double arithmetic"},
    {"bf16-pos", "pos:bf16", "position ids cast to bf16"},
    {"bf16-freq", "freq:bf16", "a bf16 buffer of frequencies"},
    {"bf16-table", "table:bf16", "a bf16 cache of cos and sin"},
    {"f16-apply", "apply:f16", "vectors encoded in f16"},
    {"all-bf16", "pos:bf16,freq:bf16,angle:bf16,table:bf16,apply:bf16,dot:bf16",
     "everything in bf16"},
    {"transformers", "freq:f32,angle:f32,table:T,apply:T", "Llama and most models of transformers"},
    {"vllm", "freq:f32,angle:f32,table:T,apply:T", "vLLM's cache of cos and sin"},
    {"ggml", "angle:f32,table:f32", "llama.cpp, but for its running product of angles"},
    {"onnx", "apply:T", "ONNX RotaryEmbedding, with cos and sin as they are"},
    {"meta", "freq:f32,angle:f32,table:f32,apply:f32", "Meta's Llama code, and torchtune"},
};

size_t pe_presets_n(void)
{
    return sizeof presets / sizeof *presets;
}

const struct pe_preset *pe_preset_at(size_t i)
{
    return &presets[i];
}

const char *pe_stage_name(enum pe_stage stage)
{
    return stage_names[stage];
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* A text being read. */
struct reading {
    struct pe_stages *stages;
    enum pe_dtype own; /* what T stands for */
    const char *param;
    struct pe_faults *faults;
};

static int stage_index(struct pe__span name)
{
    for (int stage = 0; stage < PE_STAGES_N; stage++)
        if (pe__span_equal(pe__span_of(stage_names[stage]), name))
            return stage;
    return -1;
}

static const struct pe_preset *preset_find(struct pe__span name)
{
    for (size_t i = 0; i < pe_presets_n(); i++)
        if (pe__span_equal(pe__span_of(presets[i].name), name))
            return &presets[i];
    return NULL;
}

/* Appends a name to a list for people. */
static size_t list_name(char *list, size_t size, size_t len, const char *name)
{
    return len + (size_t)snprintf(list + len, size - len, "%s%s", len ? ", " : "", name);
}

/* Neither a stage nor a name for some. */
static bool fault_name(const struct reading *reading, struct pe__span name)
{
    struct pe__nearest nearest;
    char stages[64], names[112], hint[64] = "", shown[PE__SHOWN_MAX];
    size_t stages_len = 0, names_len = list_name(names, sizeof names, 0, EXACT);
    pe__nearest_init(&nearest, name);
    pe__nearest_offer(&nearest, pe__span_of(EXACT));
    for (size_t i = 0; i < pe_presets_n(); i++) {
        pe__nearest_offer(&nearest, pe__span_of(presets[i].name));
        names_len = list_name(names, sizeof names, names_len, presets[i].name);
    }
    for (size_t i = 0; i < PE_STAGES_N; i++) {
        pe__nearest_offer(&nearest, pe__span_of(stage_names[i]));
        stages_len = list_name(stages, sizeof stages, stages_len, stage_names[i]);
    }
    if (nearest.best.text)
        snprintf(hint, sizeof hint, "did you mean \"%.*s\"?", (int)nearest.best.len,
                 nearest.best.text);
    return pe_fault_add(reading->faults, PE_INVALID_VALUE, reading->param, hint,
                        "known are %s, and dtypes for the stages %s; got \"%s\"", names, stages,
                        pe__show_text(name, shown));
}

/* What a stage that is named rounds to. */
static const char *format_name(const struct pe_stages *stages, enum pe_stage stage)
{
    return stage == PE_STAGE_QUANTIZE ? pe_quant_name(stages->quant)
                                      : pe_dtype_name(stages->dtype[stage]);
}

/* Names a stage with the format that it has in `given`. */
static bool stage_set(const struct reading *reading, enum pe_stage stage,
                      const struct pe_stages *given)
{
    struct pe_stages *stages = reading->stages;
    const char *name = format_name(given, stage);
    if (pe__stage_named(stages, stage) && strcmp(format_name(stages, stage), name) != 0)
        return pe_fault_add(reading->faults, PE_CONFLICTING_PARAMETERS, reading->param, NULL,
                            "the stage %s is given as %s and as %s", stage_names[stage],
                            format_name(stages, stage), name);
    stages->named |= 1u << stage;
    if (stage == PE_STAGE_QUANTIZE)
        stages->quant = given->quant;
    else
        stages->dtype[stage] = given->dtype[stage];
    return true;
}

/* False where it is none that a stage may have. */
static bool stage_dtype(const struct reading *reading, enum pe_stage stage, struct pe__span name,
                        enum pe_dtype *dtype)
{
    if (!pe__span_equal(name, pe__span_of("T")))
        return name.len > 0 && pe_dtype_parse(name.text, name.len, dtype) && *dtype != PE_I64;
    *dtype = stage == PE_STAGE_TABLE && reading->own == PE_F64 ? PE_F32 : reading->own;
    return true;
}

/* A stage that rounds to something else than it can. */
static bool fault_format(const struct reading *reading, enum pe_stage stage, struct pe__span format)
{
    bool quantizes = stage == PE_STAGE_QUANTIZE;
    int formats_n = quantizes ? PE_QUANTS_N : PE_I64;
    struct pe__nearest nearest;
    char formats[64], hint[64], shown[PE__SHOWN_MAX];
    size_t len = 0;
    pe__nearest_init(&nearest, format);
    for (int i = 0; i < formats_n; i++) {
        const char *name =
            quantizes ? pe_quant_name((enum pe_quant)i) : pe_dtype_name((enum pe_dtype)i);
        pe__nearest_offer(&nearest, pe__span_of(name));
        len = list_name(formats, sizeof formats, len, name);
    }
    if (nearest.best.text)
        snprintf(hint, sizeof hint, "did you mean \"%s:%.*s\"?", stage_names[stage],
                 (int)nearest.best.len, nearest.best.text);
    else
        snprintf(hint, sizeof hint, "for example %s:%s", stage_names[stage],
                 quantizes ? pe_quant_name(PE_E4M3) : pe_dtype_name(PE_F32));
    return pe_fault_add(reading->faults, PE_INVALID_VALUE, reading->param, hint,
                        "the stage %s must be one of %s%s; got \"%s\"", stage_names[stage], formats,
                        quantizes ? "" : ", T", pe__show_text(format, shown));
}

/* "freq:f32", "table:T", "quantize:e4m3" */
static bool read_stage(const struct reading *reading, struct pe__span name, struct pe__span format)
{
    int stage = stage_index(name);
    struct pe_stages given = {0};
    if (stage < 0)
        return fault_name(reading, name);
    bool known = stage == PE_STAGE_QUANTIZE
                     ? format.len > 0 && pe_quant_parse(format.text, format.len, &given.quant)
                     : stage_dtype(reading, (enum pe_stage)stage, format, &given.dtype[stage]);
    return known ? stage_set(reading, (enum pe_stage)stage, &given)
                 : fault_format(reading, (enum pe_stage)stage, format);
}

static bool read_preset(const struct reading *reading, const struct pe_preset *preset)
{
    struct pe__span rest = pe__span_of(preset->stages);
    struct pe__span item, name;
    bool ok = true;
    while (pe__span_cut(&rest, ',', &item)) {
        pe__span_cut(&item, ':', &name);
        ok = read_stage(reading, name, item) && ok;
    }
    return ok;
}

/* One item of the list: a preset, or a stage, which is then noted in *spelt. */
static bool read_item(const struct reading *reading, struct pe__span item, unsigned *spelt)
{
    const struct pe_preset *preset = preset_find(item);
    if (preset)
        return read_preset(reading, preset);
    if (pe__span_equal(item, pe__span_of(EXACT)))
        return pe_fault_add(reading->faults, PE_CONFLICTING_PARAMETERS, reading->param, NULL,
                            EXACT " stands alone: the stages that are not named are exact");
    struct pe__span name = {0};
    pe__span_cut(&item, ':', &name);
    int stage = stage_index(name);
    *spelt |= stage >= 0 ? 1u << stage : 0;
    return read_stage(reading, name, item);
}

bool pe_stages_parse(const char *text, size_t len, enum pe_dtype own, const char *param,
                     struct pe_stages *stages, unsigned *spelt, struct pe_faults *faults)
{
    struct reading reading = {stages, own, param, faults};
    struct pe__span rest = {text, len}, item;
    unsigned by_name = 0;
    bool ok = true;
    *stages = (struct pe_stages){0};
    if (pe__span_equal(rest, pe__span_of(EXACT)))
        rest.text = NULL;
    while (pe__span_cut(&rest, ',', &item))
        ok = read_item(&reading, item, &by_name) && ok;
    if (spelt)
        *spelt = by_name;
    return ok;
}

size_t pe_stages_print(const struct pe_stages *stages, char *out, size_t size)
{
    char text[PE_STAGES_TEXT_MAX] = EXACT;
    size_t len = 0;
    for (size_t stage = 0; stage < PE_STAGES_N; stage++)
        if (stages->named >> stage & 1)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s:%s", len ? "," : "",
                                    stage_names[stage], format_name(stages, (enum pe_stage)stage));
    return (size_t)snprintf(out, size, "%s", text);
}

/* ---- Kinds and positions ------------------------------------------------------------------ */

unsigned pe_kind_stages(const struct pe_kind *kind)
{
    unsigned all = (1u << PE_STAGES_N) - 1;
    unsigned of_frequencies = 1u << PE_STAGE_FREQ | 1u << PE_STAGE_ANGLE;
    if (kind->acts == PE_ACTS_NOT)
        return 1u << PE_STAGE_DOT;
    if (kind->ops->polar)
        return PE_STAGES_OF_PLANS | 1u << PE_STAGE_QUANTIZE;
    if (kind->acts == PE_BIASES) /* which leave the vectors alone */
        all &= ~(1u << PE_STAGE_QUANTIZE);
    bool turns = kind->ops->frequency && kind->acts != PE_BIASES;
    return turns || kind->ops->slope ? all : all & ~of_frequencies;
}

/* Whether a stage is named in f32; else a fault, where it is offered. */
static bool needs_f32(const struct pe_stages *stages, unsigned offered, enum pe_stage stage,
                      const char *method, struct pe_faults *faults)
{
    char hint[40];
    bool named = pe__stage_named(stages, stage) && stages->dtype[stage] == PE_F32;
    if (named || !(offered >> stage & 1))
        return true;
    snprintf(hint, sizeof hint, "stages=%s:f32", stage_names[stage]);
    return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "freq_method", hint,
                        "freq_method=%s is a way to numbers in f32 and needs the stage %s:f32",
                        method, stage_names[stage]);
}

bool pe_stages_fit(const struct pe_stages *stages, unsigned offered, const struct pe_spec *spec,
                   struct pe_faults *faults)
{
    switch (pe__method_of(spec)) {
    case PE__METHOD_RECIPROCAL:
        return needs_f32(stages, offered, PE_STAGE_FREQ, "reciprocal", faults);
    case PE__METHOD_ITERATED:
        if (offered >> PE_STAGE_ANGLE & 1 && pe__stage_named(stages, PE_STAGE_FREQ))
            return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "freq_method",
                                "leave out the stage freq",
                                "freq_method=iterated makes angles from angles: there are no "
                                "frequencies to be rounded");
        return needs_f32(stages, offered, PE_STAGE_ANGLE, "iterated", faults);
    case PE__METHOD_EXACT:
    default:
        return true;
    }
}

double pe_stages_position(const struct pe_stages *stages, double position)
{
    return pe__stage_named(stages, PE_STAGE_POS)
               ? pe__f64_rounded(stages->dtype[PE_STAGE_POS], position)
               : position;
}

/* Formats run out of digits for odd numbers beyond a power of two: the two neighbours of the one
 * after it. */
double pe_stages_collision(const struct pe_stages *stages)
{
    for (int exponent = 0; ldexp(1, exponent) < PE_POSITION_MAX; exponent++) {
        double p = ldexp(1, exponent);
        if (pe_stages_position(stages, p) == pe_stages_position(stages, p + 1))
            return p;
    }
    return __builtin_nan("");
}

/* One position on one axis. */
static bool check_position(const struct pe_stages *stages, const struct pe_spec *spec,
                           double position, const char *param, struct pe_faults *faults)
{
    double rounded = pe_stages_position(stages, position);
    char shown[PE__SHOWN_MAX];
    if (!isfinite(rounded))
        return pe_fault_add(faults, PE_INVALID_VALUE, param, NULL,
                            "position %s is beyond the range of the stage pos:%s",
                            pe__show_number(position, shown),
                            pe_dtype_name(stages->dtype[PE_STAGE_POS]));
    struct pe_positions one = {.axes = 1, .n = 1, .at = {&rounded}};
    return pe_positions_check(spec, &one, param, faults);
}

bool pe_stages_check(const struct pe_stages *stages, const struct pe_spec *spec,
                     const struct pe_positions *positions, const char *param,
                     struct pe_faults *faults)
{
    if (!pe__stage_named(stages, PE_STAGE_POS))
        return pe_positions_check(spec, positions, param, faults);
    for (size_t axis = 0; axis < positions->axes; axis++)
        for (size_t i = 0; i < positions->n; i++)
            if (!isnan(positions->at[axis][i]) &&
                !check_position(stages, spec, positions->at[axis][i], param, faults))
                return false;
    return true;
}
