// SPDX-License-Identifier: Apache-2.0
/*
 * identify_says.c: what was found, in words: the encoding in one phrase, what to send to settle
 * what is open, what to do next.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "identify.h"
#include "text.h"

#define SENTENCES_BYTES_MAX 8192

__attribute__((format(printf, 2, 3))) static void add(struct buf *out, const char *format, ...)
{
    char phrase[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(phrase, sizeof phrase, format, arguments);
    va_end(arguments);
    if (out->len > 0)
        buf_puts(out, ", ");
    buf_puts(out, phrase);
}

/* A parameter that has a value other than `usual`. */
static bool has(const struct pe_spec *spec, const char *name, double usual, double *number)
{
    int row = pe_params_find(&spec->params, name, strlen(name));
    const struct pe_value *value = row >= 0 ? &spec->params.value[row] : NULL;
    bool reads = value && value->set && pe_params_applies(&spec->params, (size_t)row);
    *number = reads ? value->number : usual;
    return reads && *number != usual;
}

/* ---- Phrases ------------------------------------------------------------------------------- */

static void say_pairs(struct buf *out, const struct pe_spec *spec)
{
    static const char *const layouts[] = {"neighbouring pairs", "half-split pairs",
                                          "pairs split within each section"};
    double layout, width, offset, order, dim = (double)pe_spec_dim(spec);
    has(spec, "layout", 0, &layout);
    add(out, "%s", layouts[layout < 3 ? (size_t)layout : 0]);
    if (has(spec, "output_order", 0, &order))
        add(out, "left in halves");
    if (has(spec, "rotary_dim", dim, &width))
        add(out,
            has(spec, "rotary_offset", 0, &offset) ? "the last %.0f of %.0f channels"
                                                   : "the first %.0f of %.0f channels",
            width, dim);
}

static void say_places(struct buf *out, const struct pe_spec *spec)
{
    double shift, scale, direction;
    if (has(spec, "position_scale", 1, &scale) && scale == 2)
        add(out, "positions times 2, or applied twice: the same numbers");
    else if (scale != 1)
        add(out, "positions times %g", scale);
    if (has(spec, "shift", 0, &shift) && fabs(shift) == 1)
        add(out, "positions off by %s", shift > 0 ? "one" : "minus one");
    else if (shift != 0)
        add(out, "positions shifted by %g", shift);
    if (has(spec, "direction", 1, &direction))
        add(out, "turned the other way");
}

static void say_scaling(struct buf *out, const struct pe_spec *spec)
{
    double scaling, factor, kept, length, attention = pe_spec_attention(spec);
    int row = pe_params_find(&spec->params, "scaling", 7);
    size_t len;
    if (has(spec, "scaling", 0, &scaling)) {
        const char *name = pe_choice_name(&spec->params.rows[row], scaling, &len);
        has(spec, "factor", 1, &factor);
        add(out, "%.*s scaling by %g", (int)len, name, factor);
        if (has(spec, "original_max", 0, &length))
            add(out, "trained on %.0f positions", length);
    }
    if (has(spec, "kept_pairs", -1, &kept))
        add(out, "only the first %.0f pairs turn", kept);
    if (spec->kind->acts == PE_ROTATES && attention != 1)
        add(out, "lengths times %.7g", attention);
}

static void say_series(struct buf *out, const struct pe_spec *spec)
{
    double base;
    if (has(spec, "base", 0, &base))
        add(out, "base %.12g", base);
    int freqs = pe_params_find(&spec->params, "freqs", 5);
    int factors = pe_params_find(&spec->params, "freq_factors", 12);
    if (freqs >= 0 && spec->params.value[freqs].set)
        add(out, "frequencies of its own, by no rule that was tried");
    if (factors >= 0 && spec->params.value[factors].set)
        add(out, "each frequency divided by a number of its own, as longrope does");
}

static const char *const dtypes[] = {"float64", "float32", "float16", "bfloat16"};

/* Stages that follow each other in one format are one phrase. */
static void say_stages(struct buf *out, const struct pe_stages *stages)
{
    static const char *const what[] = {"positions", "frequencies", "angles", "cos and sin",
                                       "products and sums"};
    struct buf list;
    buf_init(&list, SENTENCES_BYTES_MAX);
    for (int stage = PE_STAGE_POS; stage <= PE_STAGE_APPLY; stage++) {
        int next = stage + 1;
        if (!(stages->named >> stage & 1))
            continue;
        buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", what[stage]);
        while (next <= PE_STAGE_APPLY && !(stages->named >> next & 1))
            next++;
        if (next <= PE_STAGE_APPLY && stages->dtype[next] == stages->dtype[stage])
            continue;
        add(out, "%.*s rounded to %s%s", (int)list.len, list.data, dtypes[stages->dtype[stage]],
            stage == PE_STAGE_APPLY ? "" : " before use");
        list.len = 0;
    }
    buf_release(&list);
}

const char *identify_twist(const struct pe_candidate *candidate)
{
    static const char *const words[] = {
        [PE_TWIST_SWAPPED] = "cos_sin_swapped", [PE_TWIST_KEY] = "key"};
    double scale;
    bool twice = candidate->spec.kind->acts == PE_ROTATES &&
                 has(&candidate->spec, "position_scale", 1, &scale) && scale == 2;
    return candidate->twist == PE_TWIST_NONE && twice ? "twice" : words[candidate->twist];
}

const char *identify_says(struct job *job, const struct identify *own,
                          const struct pe_candidate *candidate)
{
    const struct pe_spec *spec = &candidate->spec;
    struct buf out;
    if (own->of_scores)
        return identify_scores_says(job, own, candidate);
    buf_init(&out, SENTENCES_BYTES_MAX);
    const char *said = spec->kind->acts == PE_ADDS ? identify_added_says(job, spec) : NULL;
    if (spec->kind->acts == PE_ACTS_NOT)
        add(&out, "y is x: nothing was applied");
    if (spec->kind->acts == PE_ROTATES)
        say_pairs(&out, spec);
    if (spec->kind->acts == PE_ADDS)
        add(&out, "%s", said ? said : spec->kind->name);
    say_series(&out, spec);
    say_scaling(&out, spec);
    say_places(&out, spec);
    say_stages(&out, &candidate->stages);
    if (candidate->twist == PE_TWIST_KEY)
        add(&out, "as k, which is divided by what q is multiplied by");
    if (candidate->twist == PE_TWIST_SWAPPED)
        add(&out, "cosines and sines in each other's place");
    if (own->posted_as)
        add(&out, "heads and tokens in each other's place: posted as %s, it is %s", own->posted_as,
            own->axes);
    const char *text = out.failed ? NULL : arena_strndup(&job->request->arena, out.data, out.len);
    buf_release(&out);
    return text;
}

const char *identify_explains(const struct identify *own, const struct pe_candidate *candidate)
{
    static const char *const roundings[] = {"f64 rounding", "f32 rounding", "f16 rounding",
                                            "bf16 rounding"};
    return candidate->explains == PE_EXPLAINS_NOT ? NULL : roundings[own->dtype];
}

/* ---- What to do ---------------------------------------------------------------------------- */

static bool adds_something(const struct identify *own)
{
    return own->result.found_n > 0 && own->result.found[0].spec.kind->acts == PE_ADDS;
}

const char *identify_send(struct job *job, const struct identify *own, const char *key)
{
    struct arena *arena = &job->request->arena;
    if (own->of_scores)
        return identify_scores_send(job, own, key);
    if (own->result.distinct < 2)
        return arena_printf(arena, "one position only: base, shift and scaling cannot be "
                                   "separated; send positions 0, 1 and 100");
    const char *adds = adds_something(own) ? identify_added_send(key) : NULL;
    if (adds)
        return adds;
    if (strcmp(key, "section_axes") == 0)
        return arena_printf(arena, "the axes stand at the same places, or nearly; send positions "
                                   "such as 3, 100, 7 on one axis and 50, 2, 900 on the next");
    if (own->dtype == PE_BF16 || own->dtype == PE_F16)
        return arena_printf(arena,
                            "%s rounds too much to tell; send the same in f32, or at "
                            "positions up to 1000 beside these",
                            pe_dtype_name(own->dtype));
    return arena_printf(arena,
                        "send positions further apart, such as 0, 1, 100 and 4000, to "
                        "settle %s",
                        key);
}

/* How to have the same numbers; of 16 bits also what they cost. */
static const char *advice_of_stages(struct arena *arena, const struct pe_stages *stages)
{
    static const char *const keep[] = {
        [PE_STAGE_POS] = "keep positions whole: 16 bits have no odd ones from some number on",
        [PE_STAGE_FREQ] = "make frequencies in float32: their error grows with the position",
        [PE_STAGE_ANGLE] = "make angles in float32: their error grows with the position",
        [PE_STAGE_TABLE] = "keep cos and sin in float32 until they are multiplied",
    };
    char text[PE_STAGES_TEXT_MAX];
    pe_stages_print(stages, text, sizeof text);
    for (int stage = PE_STAGE_POS; stage <= PE_STAGE_TABLE; stage++)
        if (stages->named >> stage & 1 &&
            (stages->dtype[stage] == PE_F16 || stages->dtype[stage] == PE_BF16))
            return arena_printf(arena, "%s; or ask with stages=%s for the same numbers",
                                keep[stage], text);
    return arena_printf(arena, "ask with stages=%s for the same numbers", text);
}

/* Advice by what the best says. */
const char *identify_advice(struct job *job, const struct identify *own, size_t i)
{
    const struct pe_identify *result = &own->result;
    const struct pe_candidate *best = result->found_n > 0 ? &result->found[0] : NULL;
    struct arena *arena = &job->request->arena;
    const char *all[6];
    size_t n = 0;
    double number;
    if (own->of_scores)
        return identify_scores_advice(job, own, i);
    if (!best || result->rivals_n == 0) {
        if (result->adds)
            all[n++] = identify_added_advice();
        all[n++] = "check that x is what went in, and positions are those of its tokens";
        all[n++] = "say what is known, such as {\"known\": {\"kind\": \"rope\"}}";
    } else if (best->spec.kind->acts == PE_ACTS_NOT) {
        all[n++] = result->confidence == PE_IDENTIFIED_UNIQUE
                       ? "if k does change, only k is rotated: apply the encoding to q too"
                       : "at position 0 rotations change nothing; send positions 1 and 100";
    } else {
        if (has(&best->spec, "shift", 0, &number))
            all[n++] =
                arena_printf(arena, "count positions from %g, or set shift=%g", number, number);
        if (has(&best->spec, "position_scale", 1, &number) && number == 2)
            all[n++] = "look for a second call that rotates what is rotated already; if there is "
                       "none, set position_scale=2";
        if (own->posted_as)
            all[n++] = arena_printf(arena, "transpose, or say axes=%s", own->axes);
        if (best->twist == PE_TWIST_SWAPPED)
            all[n++] = "swap cos and sin where the table is unpacked";
        if (best->stages.named)
            all[n++] = advice_of_stages(arena, &best->stages);
    }
    return i < n ? all[i] : NULL;
}

/* ---- For a terminal ------------------------------------------------------------------------ */

/* "That is what vllm and onnx do." */
static void say_dialects(const struct identify *own, struct buf *out)
{
    const struct pe_candidate *best = &own->result.found[0];
    struct buf list;
    buf_init(&list, SENTENCES_BYTES_MAX);
    size_t row = 0, n = 0;
    const char *name = identify_dialect(own, best, &row);
    while (name) {
        const char *next = identify_dialect(own, best, &row);
        buf_printf(&list, "%s%s", n == 0 ? "" : next ? ", " : " and ", name);
        name = next;
        n++;
    }
    if (n > 0)
        text_say(out, "That is what %.*s %s.", (int)list.len, list.data, n > 1 ? "do" : "does");
    buf_release(&list);
}

static void say_best(struct job *job, const struct identify *own, struct buf *out)
{
    const struct pe_candidate *best = &own->result.found[0];
    char compact[700];
    pe_spec_compact(&best->spec, compact, sizeof compact);
    text_say(out, "%s", compact);
    text_say(out, "That is: %s.", identify_says(job, own, best));
    if (best->explains == PE_EXPLAINS_BITS)
        text_say(out, "It gives every number of y, to the last bit of %s.",
                 pe_dtype_name(own->dtype));
    else if (best->rms == best->rms)
        text_say(out, "What it makes of x is within %.2g of y (rms), %.2g at most: %s.", best->rms,
                 best->max_abs,
                 best->explains == PE_EXPLAINS_LIMITS ? "the rounding of libraries" : "too much");
    say_dialects(own, out);
}

static bool differs(const struct pe_value *one, const struct pe_value *other)
{
    if (one->set != other->set || one->list_n != other->list_n)
        return true;
    return one->list ? memcmp(one->list, other->list, one->list_n * sizeof *one->list) != 0
                     : one->set && one->number != other->number;
}

/* What rivals differ in first: "kind", or a parameter; "it" where none is named. */
static const char *first_open(const struct identify *own)
{
    const struct pe_identify *result = &own->result;
    const struct pe_spec *best = &result->found[0].spec;
    for (size_t i = 1; i < result->rivals_n; i++)
        if (result->found[i].spec.kind != best->kind)
            return "kind";
    for (size_t row = 0; row < best->params.rows_n; row++)
        for (size_t i = 1; i < result->rivals_n; i++)
            if (differs(&best->params.value[row], &result->found[i].spec.params.value[row]))
                return best->params.rows[row].name;
    return "it";
}

static void say_all(struct job *job, const struct identify *own, struct buf *out)
{
    const struct pe_identify *result = &own->result;
    const char *advice;
    char compact[700];
    if (result->confidence == PE_IDENTIFIED_NOT)
        text_say(out, "No encoding that was tried (%zu) makes y of x.%s", result->tried,
                 result->found_n > 0 ? " The nearest:" : "");
    else if (result->confidence == PE_IDENTIFIED_UNIQUE)
        text_say(out, "One encoding makes y of x:");
    else
        text_say(out, "Probably this one, but others cannot be ruled out:");
    if (result->found_n > 0)
        say_best(job, own, out);
    for (size_t i = 0; own->of_scores && (advice = identify_scores_note(job, own, i)); i++)
        text_say(out, "%s.", advice);
    if (result->rivals_n > 1)
        text_say(out, "As good:");
    for (size_t i = 1; i < result->rivals_n && i < (size_t)job_key(job, "top")->number; i++) {
        pe_spec_compact(&result->found[i].spec, compact, sizeof compact);
        text_say(out, "  %s", compact);
    }
    if (result->confidence == PE_IDENTIFIED_AMBIGUOUS)
        text_say(out, "To settle it: %s.", identify_send(job, own, first_open(own)));
    for (size_t i = 0; (advice = identify_advice(job, own, i)); i++)
        text_say(out, "Next: %s.", advice);
}

const char *identify_sentences(struct job *job, const struct identify *own)
{
    struct buf out;
    buf_init(&out, SENTENCES_BYTES_MAX);
    say_all(job, own, &out);
    const char *text = out.failed ? NULL : arena_strndup(&job->request->arena, out.data, out.len);
    buf_release(&out);
    if (!text)
        err_add(&job->request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
    return text;
}
