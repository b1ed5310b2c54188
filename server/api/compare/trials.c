// SPDX-License-Identifier: Apache-2.0
/* trials.c: see trials.h. */
#include "trials.h"

#include <string.h>

/* ---- Specs ---------------------------------------------------------------------------------- */

static void forget(struct pe_spec *spec, size_t row)
{
    struct pe_params params = {.rows = &spec->params.rows[row], .rows_n = 1};
    params.value[0] = spec->params.value[row];
    spec->params.value[row] = (struct pe_value){0};
    pe_params_release(&params);
}

bool trial_change(struct pe_spec *spec, const struct change *changes)
{
    struct pe_faults faults = {0};
    for (size_t i = 0; i < CHANGES_MAX && changes[i].key; i++) {
        int row = pe_params_find(&spec->params, changes[i].key, strlen(changes[i].key));
        if (row < 0)
            return false;
        forget(spec, (size_t)row);
        if (changes[i].value)
            pe_params_set_text(&spec->params, changes[i].key, changes[i].value, &faults);
    }
    for (size_t row = 0; row < spec->params.rows_n; row++)
        if (spec->params.value[row].given && !pe_params_reads(&spec->params, row))
            forget(spec, row);
    return faults.n == 0 && pe_spec_finish(spec, &faults);
}

const char *trial_spec(struct trials *trials, const struct change *changes)
{
    struct job *job = trials->own->job;
    const char *before = trials->own->recipe.spec, *compact = NULL;
    struct pe_faults faults = {0};
    struct pe_spec spec;
    if (!pe_spec_parse(before, &spec, &faults))
        return NULL;
    if (trial_change(&spec, changes)) {
        size_t len = pe_spec_compact(&spec, NULL, 0);
        char *text = job_alloc(job, len + 1, 1);
        if (text && pe_spec_compact(&spec, text, len + 1) == len && strcmp(text, before) != 0)
            compact = text;
    }
    pe_spec_release(&spec);
    return compact;
}

const char *trial_value(const struct trials *trials, const char *key)
{
    const struct pe_params *params = &trials->spec.params;
    int row = pe_params_find(params, key, strlen(key));
    if (row < 0 || !params->value[row].set)
        return NULL;
    size_t len = pe_value_print(&params->rows[row], &params->value[row], '+', NULL, 0);
    char *text = job_alloc(trials->own->job, len + 1, 1);
    if (text)
        pe_value_print(&params->rows[row], &params->value[row], '+', text, len + 1);
    return text;
}

bool trial_value_is(const struct trials *trials, const char *key, const char *value)
{
    const char *text = trial_value(trials, key);
    return text && strcmp(text, value) == 0;
}

double trial_number(const struct trials *trials, const char *key)
{
    return pe_spec_number(&trials->spec, key);
}

bool trial_has(const struct trials *trials, const char *key)
{
    return pe_params_find(&trials->spec.params, key, strlen(key)) >= 0;
}

const char *trial_text(const struct trials *trials, double number)
{
    char digits[PE_TEXT_MAX];
    size_t len = pe_text_print(PE_F64, &number, 0, digits);
    const char *text = arena_strndup(&trials->own->job->request->arena, digits, len);
    return text ? text : "";
}

bool trial_rotates(const struct trials *trials)
{
    return trials->spec.kind->acts == PE_ROTATES && !pe_spec_is_polar(&trials->spec) &&
           pe_spec_turns(&trials->spec);
}

/* ---- Trying --------------------------------------------------------------------------------- */

const char *trial_computed(struct trials *trials, const char *what)
{
    return arena_printf(&trials->own->job->request->arena, "expected computed with %s", what);
}

/* Makes it as edited and looks at what comes of it. */
void trial_take_edit(struct trials *trials, const struct recipe_edit *edit,
                     const struct suspect *suspect)
{
    struct comparing *own = trials->own;
    struct suspect known = *suspect;
    struct tensor made;
    if (!known.says || request_expired(own->job->request) ||
        !recipe_make_again(&own->recipe, edit, &made))
        return;
    known.spec = edit->spec ? edit->spec : own->recipe.spec;
    known.says = trial_computed(trials, known.says);
    suspect_take(own, &known, &made);
}

const char *trial_says(struct trials *trials, const char *says, const char *because)
{
    return says && because
               ? arena_printf(&trials->own->job->request->arena, "%s: %s", says, because)
               : says;
}

/* With a spec that is changed; `says` what was. */
void trial_take_spec(struct trials *trials, const struct change *changes, const char *says,
                     const char *because)
{
    const char *spec = trial_spec(trials, changes);
    const struct suspect suspect = {.says = trial_says(trials, says, because)};
    if (spec)
        trial_take_edit(trials, &(struct recipe_edit){.spec = spec}, &suspect);
}

/* Whether a compact spec has this key. */
static bool spells(const char *spec, const char *key)
{
    size_t len = strlen(key);
    for (const char *at = strpbrk(spec, ":,"); at; at = strpbrk(at + 1, ":,"))
        if (strncmp(at + 1, key, len) == 0 && at[1 + len] == '=')
            return true;
    return false;
}

/* One key with another value, which the spec then spells out even where it is the default. */
void trial_take_value(struct trials *trials, const char *key, const char *value,
                      const char *because)
{
    struct arena *arena = &trials->own->job->request->arena;
    const char *says = arena_printf(arena, "%s=%s", key, value);
    const char *spec = trial_spec(trials, (struct change[CHANGES_MAX]){{key, value}});
    if (spec && says && !spells(spec, key))
        spec = arena_printf(arena, "%s%s%s", spec, strchr(spec, ':') ? "," : ":", says);
    if (spec)
        trial_take_edit(trials, &(struct recipe_edit){.spec = spec},
                        &(struct suspect){.says = trial_says(trials, says, because)});
}

const struct tensor_view *trial_encoded(const struct trials *trials)
{
    const struct recipe *recipe = &trials->own->recipe;
    return &recipe->tensors[recipe->encoded].view;
}

bool trial_is_apply(const struct trials *trials)
{
    return trials->own->recipe.axes != NULL;
}
