// SPDX-License-Identifier: Apache-2.0
/*
 * mistakes.c: THE table of known mistakes in encodings, the most specific first: another value of a
 * key, rounding at a stage, axes taken for each other, the encoding left out or applied twice. Each
 * is tried by making what is expected once more, in that way.
 */
#include <string.h>

#include "trials.h"

/* ---- Keys and stages ------------------------------------------------------------------------ */

static void try_value(struct trials *trials, const struct mistake *mistake)
{
    if (trial_has(trials, mistake->key) && !trial_value_is(trials, mistake->key, mistake->value))
        trial_take_value(trials, mistake->key, mistake->value, mistake->because);
}

static void try_row_choices(struct trials *trials, size_t row, const char *because)
{
    const struct pe_param *param = &trials->spec.params.rows[row];
    const char *choices = param->type == PE_BOOL ? "false true" : param->choices;
    size_t now = (size_t)trials->spec.params.value[row].number, index = 0;
    for (const char *at = choices; *at; index++) {
        size_t len = strcspn(at, "| "), word = strcspn(at, " ");
        const char *choice = arena_strndup(&trials->own->job->request->arena, at, len);
        if (choice && index != now)
            trial_take_value(trials, param->name, choice, because);
        at += word + strspn(at + word, " ");
    }
}

/* All values that a key of few words has. */
static void try_choices(struct trials *trials, const struct mistake *mistake)
{
    int row = pe_params_find(&trials->spec.params, mistake->key, strlen(mistake->key));
    if (row >= 0)
        try_row_choices(trials, (size_t)row, mistake->because);
}

static void try_other_choices(struct trials *trials, const struct mistake *mistake)
{
    static const char *const done[] = {"layout", "axes_split", "scaling", "freq_method"};
    const struct pe_params *params = &trials->spec.params;
    for (size_t row = 0; row < params->rows_n; row++) {
        enum pe_type type = params->rows[row].type;
        bool open = type == PE_ENUM || type == PE_BOOL;
        for (size_t i = 0; i < sizeof done / sizeof *done; i++)
            open = open && strcmp(params->rows[row].name, done[i]) != 0;
        if (open && pe_params_reads(params, row))
            try_row_choices(trials, row, mistake->because);
    }
}

/* A key that is larger or smaller by so much. */
static void try_step(struct trials *trials, const struct mistake *mistake)
{
    double step;
    pe_text_read(mistake->value, strlen(mistake->value), PE_F64, &step, 0);
    if (trial_has(trials, mistake->key))
        trial_take_value(trials, mistake->key,
                         trial_text(trials, trial_number(trials, mistake->key) + step),
                         mistake->because);
}

static void try_negated(struct trials *trials, const struct mistake *mistake)
{
    if (trial_has(trials, mistake->key))
        trial_take_value(trials, mistake->key,
                         trial_text(trials, -trial_number(trials, mistake->key)), mistake->because);
}

static void try_stage(struct trials *trials, const struct mistake *mistake)
{
    const char *stages = trials->own->recipe.stages;
    struct suspect suspect = {.key = "stages", .value = mistake->value};
    if (strcmp(stages, mistake->value) == 0)
        return;
    suspect.says = trial_says(
        trials, arena_printf(&trials->own->job->request->arena, "stages=%s", mistake->value),
        mistake->because);
    trial_take_edit(trials, &(struct recipe_edit){.stages = mistake->value}, &suspect);
}

/* The axes of blocks in another order. */
static void try_section_axes(struct trials *trials, const struct mistake *mistake)
{
    const char *now = trial_value(trials, mistake->key);
    if (now && strlen(now) == strlen(mistake->value) && strcmp(now, mistake->value) != 0)
        trial_take_value(trials, mistake->key, mistake->value, mistake->because);
}

/* ---- Vectors -------------------------------------------------------------------------------- */

static void try_nothing(struct trials *trials, const struct mistake *mistake)
{
    const struct tensor_view *view = trial_encoded(trials);
    if (!trial_is_apply(trials))
        return;
    struct tensor made = {
        .dtype = view->dtype, .rank = view->rank, .count = view->count, .data = (void *)view->data};
    memcpy(made.shape, view->shape, sizeof made.shape);
    suspect_take(trials->own, &(struct suspect){.says = mistake->because}, &made);
}

static void try_twice(struct trials *trials, const struct mistake *mistake)
{
    const struct tensor_view *view = trial_encoded(trials);
    const struct tensor *once = &trials->own->expected;
    if (!trial_is_apply(trials) || once->dtype != view->dtype || once->count != view->count)
        return;
    trial_take_edit(trials, &(struct recipe_edit){.encoded = once->data},
                    &(struct suspect){.says = mistake->because});
}

static void try_inverse(struct trials *trials, const struct mistake *mistake)
{
    const struct recipe *recipe = &trials->own->recipe;
    bool undone = false; /* as it is expected */
    for (size_t i = 0; i < recipe->keys_n; i++)
        undone = undone || strcmp(recipe->keys[i].name, mistake->key) == 0;
    const char *inverse = undone ? "false" : "true";
    const char *because = undone ? "the encoding applied, not undone" : mistake->because;
    const char *says =
        arena_printf(&trials->own->job->request->arena, "%s=%s", mistake->key, inverse);
    if (trial_is_apply(trials))
        trial_take_edit(trials, &(struct recipe_edit){.inverse = inverse},
                        &(struct suspect){.says = trial_says(trials, says, because),
                                          .key = mistake->key,
                                          .value = inverse});
}

/* cos and sin exchanged: a turn by a quarter less the angle, so the other way and then a quarter.
 */
static void try_swapped(struct trials *trials, const struct mistake *mistake)
{
    struct comparing *own = trials->own;
    const struct pe_spec *spec = &trials->spec;
    struct tensor made;
    if (!trial_is_apply(trials) || !trial_rotates(trials) || !trial_has(trials, "direction"))
        return;
    const char *back = trial_spec(
        trials, (struct change[CHANGES_MAX]){
                    {"direction", trial_text(trials, -trial_number(trials, "direction"))}});
    if (!back || !recipe_make_again(&own->recipe, &(struct recipe_edit){.spec = back}, &made))
        return;
    size_t dim = pe_spec_dim(spec), first, second;
    for (size_t at = 0; at + dim <= made.count; at += dim)
        for (size_t pair = 0; pair < pe_spec_pairs(spec); pair++) {
            pe_spec_pair_members(spec, pair, true, &first, &second);
            double a = pe_load(made.dtype, made.data, at + first);
            pe_store(made.dtype, made.data, at + first,
                     -pe_load(made.dtype, made.data, at + second));
            pe_store(made.dtype, made.data, at + second, a);
        }
    suspect_take(own, &(struct suspect){.says = trial_computed(trials, mistake->because)}, &made);
}

/* x as another layout's weights would make it: the channels of one where those of the other are. */
static void try_permuted(struct trials *trials, const struct mistake *mistake)
{
    const struct tensor_view *view = trial_encoded(trials);
    if (!trial_is_apply(trials) || !trial_rotates(trials) || !trial_has(trials, "rotary_dim"))
        return;
    size_t dim = pe_spec_dim(&trials->spec), half = (size_t)trial_number(trials, "rotary_dim") / 2;
    size_t size = pe_dtype_size(view->dtype);
    bool apart = strcmp(mistake->value, "half") == 0;
    memcpy(trials->scratch, view->data, view->bytes);
    for (size_t at = 0; at + dim <= view->count; at += dim)
        for (size_t i = 0; i < 2 * half; i++) {
            size_t beside = i < half ? 2 * i : 2 * (i - half) + 1; /* where i is, interleaved */
            size_t from = at + (apart ? beside : i), to = at + (apart ? i : beside);
            memcpy((char *)trials->scratch + to * size, (const char *)view->data + from * size,
                   size);
        }
    trial_take_edit(trials, &(struct recipe_edit){.encoded = trials->scratch},
                    &(struct suspect){.says = mistake->because});
}

/* ---- Axes ----------------------------------------------------------------------------------- */

/* Positions of so many tokens: the first of those that there are, and on by ones. */
static const char *first_positions(struct trials *trials, size_t n)
{
    const struct recipe *recipe = &trials->own->recipe;
    double *at = job_alloc(trials->own->job, n, sizeof *at);
    for (size_t i = 0; at && i < n; i++)
        at[i] = i < recipe->places_n ? recipe->places[i] : i > 0 ? at[i - 1] + 1 : 0;
    size_t len = at ? pe_positions_print(at, n, NULL, 0) : 0;
    char *text = at ? job_alloc(trials->own->job, len + 1, 1) : NULL;
    if (text)
        pe_positions_print(at, n, text, len + 1);
    return text;
}

static void try_axes(struct trials *trials, const struct mistake *mistake)
{
    const struct recipe *recipe = &trials->own->recipe;
    struct arena *arena = &trials->own->job->request->arena;
    if (!trial_is_apply(trials) || !recipe->places || strcmp(recipe->axes, mistake->key) != 0)
        return;
    size_t tokens = trial_encoded(trials)->shape[strchr(mistake->value, 't') - mistake->value];
    const char *positions[] = {first_positions(trials, tokens),
                               arena_printf(arena, "0:%zu", tokens)};
    const struct suspect suspect = {
        .says =
            trial_says(trials, arena_printf(arena, "axes=%s", mistake->value), mistake->because),
        .key = "axes",
        .value = mistake->value};
    for (size_t i = 0; i < 2 && tokens > 0; i++)
        if (positions[i] && (i == 0 || (positions[0] && strcmp(positions[0], positions[1]) != 0)))
            trial_take_edit(
                trials, &(struct recipe_edit){.axes = mistake->value, .positions = positions[i]},
                &suspect);
}

/* ---- The table ------------------------------------------------------------------------------ */

#define COUNTED_FROM "positions counted from another one"
#define LATER                                                                                      \
    "positions two further on, as behind the reserved rows of OPT and BART, or "                   \
    "of RoBERTa (padding_idx + 1)"
#define OTHER_BLOCKS "blocks read other axes"

static const struct mistake mistakes[] = {
    {try_choices, "layout", NULL, NULL},
    {try_negated, "direction", NULL, "it turns the other way"},
    {try_swapped, NULL, NULL, "cos and sin exchanged"},
    {try_permuted, NULL, "half",
     "channels of x put in halves first, as weights converted for layout=half"},
    {try_permuted, NULL, "interleaved",
     "channels of x interleaved first, as weights converted for layout=interleaved"},
    {try_step, "shift", "1", COUNTED_FROM},
    {try_step, "shift", "-1", COUNTED_FROM},
    {try_step, "shift", "2", LATER},
    {try_step, "shift", "-2", "positions two less, reserved rows not counted"},
    {try_axes, "bhtd", "bthd", "heads and tokens taken for each other"},
    {try_axes, "bthd", "bhtd", "heads and tokens taken for each other"},
    {try_axes, "htd", "thd", "heads and tokens taken for each other"},
    {try_axes, "thd", "htd", "heads and tokens taken for each other"},
    {try_axes, "btd", "thd", "the batch taken for the tokens"},
    {try_nothing, NULL, NULL,
     "the vectors as they came: nothing was encoded, as when only k is rotated"},
    {try_twice, NULL, NULL, "the encoding applied twice"},
    {try_inverse, "inverse", NULL, "the encoding undone"},
    {try_unscaled, NULL, NULL, "the scaling is ignored"},
    {try_scaled_twice, NULL, NULL, "the scaling applied twice"},
    {try_multiplied, NULL, NULL, "positions multiplied by the factor, not divided"},
    {try_attention, "attention_factor", "missing", "the attention factor is left out"},
    {try_attention, "attention_factor", "squared", "the attention factor is applied twice"},
    {try_choices, "axes_split", NULL, "pairs dealt out to the axes in another order"},
    {try_section_axes, "section_axes", "1+0", OTHER_BLOCKS},
    {try_section_axes, "section_axes", "0+2+1", OTHER_BLOCKS},
    {try_section_axes, "section_axes", "1+0+2", OTHER_BLOCKS},
    {try_section_axes, "section_axes", "2+1+0", OTHER_BLOCKS},
    {try_section_axes, "section_axes", "1+2+0", OTHER_BLOCKS},
    {try_section_axes, "section_axes", "2+0+1", OTHER_BLOCKS},
    {try_whole, NULL, NULL, "rotary_dim is ignored, all channels turn"},
    {try_proportional, NULL, NULL, "pairs over the whole width, of which the first turn"},
    {try_plain_partial, NULL, NULL, "pairs within the channels that turn"},
    {try_denominator, NULL, NULL, "frequencies with dim in the exponent, not rotary_dim"},
    {try_share, NULL, "2", "only half of the channels turn"},
    {try_share, NULL, "4", "only a quarter of the channels turn"},
    {try_value, "rotary_offset", "tail", "the last channels turn, not the first"},
    {try_value, "rotary_offset", "0", "the first channels turn, not the last"},
    {try_value, "base", "10000", "the usual base, as where rope_theta is not read"},
    {try_value, "base", "500000", "the base of Llama 3"},
    {try_value, "base", "1000000", "the base of Qwen 2 and Mixtral"},
    {try_value, "base", "100000", NULL},
    {try_value, "base", "150000", "the base of gpt-oss"},
    {try_value, "base", "5000000", "the base of Yi and Qwen 3 VL"},
    {try_value, "base", "10000000", NULL},
    {try_value, "base", "160000", NULL},
    {try_value, "base", "1600000", NULL},
    {try_stage, NULL, "exact", "nothing is rounded on the way"},
    {try_stage, NULL, "table:bf16", "cos and sin are kept in bf16"},
    {try_stage, NULL, "table:f16", "cos and sin are kept in f16"},
    {try_stage, NULL, "table:f32", "cos and sin are kept in f32"},
    {try_stage, NULL, "freq:bf16", "frequencies are cast to bf16"},
    {try_stage, NULL, "freq:f16", "frequencies are cast to f16"},
    {try_stage, NULL, "freq:f32", "frequencies are kept in f32"},
    {try_stage, NULL, "pos:bf16", "positions are cast to bf16"},
    {try_stage, NULL, "pos:f16", "positions are cast to f16"},
    {try_stage, NULL, "angle:bf16", "angles are made in bf16"},
    {try_stage, NULL, "angle:f16", "angles are made in f16"},
    {try_stage, NULL, "apply:bf16", "products and sums are rounded to bf16"},
    {try_stage, NULL, "apply:f16", "products and sums are rounded to f16"},
    {try_stage, NULL, "f32", "frequencies, angles and table are made in f32"},
    {try_stage, NULL, "all-bf16", "all is made in bf16"},
    {try_other_choices, NULL, NULL, NULL},
};

void mistakes_try(struct comparing *own)
{
    struct trials trials = {.own = own};
    struct pe_faults faults = {0};
    const struct recipe *recipe = &own->recipe;
    if (!recipe->has_spec || !pe_spec_parse(recipe->spec, &trials.spec, &faults))
        return;
    bool ready = pe_spec_finish(&trials.spec, &faults);
    if (ready && recipe->axes) {
        trials.scratch = job_scratch(own->job, trial_encoded(&trials)->bytes);
        ready = trials.scratch;
    }
    for (size_t i = 0; ready && i < sizeof mistakes / sizeof *mistakes; i++)
        mistakes[i].try(&trials, &mistakes[i]);
    pe_spec_release(&trials.spec);
}
