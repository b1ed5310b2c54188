// SPDX-License-Identifier: Apache-2.0
/*
 * mistakes_scaling.c: what goes wrong with frequencies: scalings and attention factors that are
 * left out or applied twice, and rotations of a part of the channels.
 */
#include <string.h>

#include "trials.h"

/* ---- Scaling -------------------------------------------------------------------------------- */

static bool is_scaled(const struct trials *trials)
{
    return trial_has(trials, "scaling") && !trial_value_is(trials, "scaling", "none");
}

void try_unscaled(struct trials *trials, const struct mistake *mistake)
{
    if (!is_scaled(trials))
        return;
    const char *factor = trial_text(trials, pe_spec_attention(&trials->spec));
    trial_take_spec(trials,
                    (struct change[CHANGES_MAX]){{"scaling", "none"}, {"attention_factor", NULL}},
                    "scaling=none", mistake->because);
    trial_take_spec(
        trials, (struct change[CHANGES_MAX]){{"scaling", "none"}, {"attention_factor", factor}},
        "scaling=none", "the frequencies are not scaled, the attention factor is there");
}

/* Frequencies of a spec, [pairs] each. */
struct frequencies {
    double *scaled, *plain;
};

static bool frequencies_of(struct trials *trials, const struct pe_spec *spec,
                           struct frequencies out)
{
    static const double zero = 0;
    struct job *job = trials->own->job;
    size_t pairs = pe_spec_pairs(spec);
    struct pe_positions one = {.axes = pe_spec_axes(spec), .n = 1};
    struct pe_frequencies f = {.dtype = PE_F64, .context = 1, .inv_freq = out.scaled};
    struct pe_plan *plan;
    f.base_inv_freq = out.plain;
    f.wavelength = job_alloc(job, pairs, sizeof(double));
    f.turns = job_alloc(job, pairs, sizeof(double));
    f.band = job_alloc(job, pairs, sizeof(int64_t));
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++)
        one.at[axis] = &zero;
    if (!f.wavelength || !f.turns || !f.band || pe_plan_new(spec, &one, &plan) != PE_OK)
        return false;
    pe_frequencies(plan, &f);
    pe_plan_free(plan);
    return true;
}

/* A list as a spec spells it. */
static const char *list_text(struct trials *trials, const double *list, size_t n)
{
    struct buf text;
    buf_init(&text, n * (PE_TEXT_MAX + 1));
    for (size_t i = 0; i < n; i++) {
        char digits[PE_TEXT_MAX];
        size_t len = pe_text_print(PE_F64, list, i, digits);
        buf_puts(&text, i > 0 ? "+" : "");
        buf_append(&text, digits, len);
    }
    const char *kept =
        text.failed ? NULL : arena_strndup(&trials->own->job->request->arena, text.data, text.len);
    buf_release(&text);
    return kept;
}

void try_scaled_twice(struct trials *trials, const struct mistake *mistake)
{
    struct job *job = trials->own->job;
    size_t pairs = pe_spec_pairs(&trials->spec);
    if (!is_scaled(trials) || pairs == 0)
        return;
    if (trial_value_is(trials, "scaling", "linear")) {
        double factor = trial_number(trials, "factor");
        trial_take_value(trials, "factor", trial_text(trials, factor * factor), mistake->because);
        return;
    }
    double *scaled = job_alloc(job, pairs, sizeof *scaled);
    double *plain = job_alloc(job, pairs, sizeof *plain);
    if (!scaled || !plain ||
        !frequencies_of(trials, &trials->spec, (struct frequencies){scaled, plain}))
        return;
    for (size_t i = 0; i < pairs; i++)
        scaled[i] = plain[i] > 0 ? scaled[i] * (scaled[i] / plain[i]) : scaled[i];
    const char *factor = trial_text(trials, pe_spec_attention(&trials->spec));
    trial_take_spec(trials,
                    (struct change[CHANGES_MAX]){{"scaling", "none"},
                                                 {"base", NULL},
                                                 {"freqs", list_text(trials, scaled, pairs)},
                                                 {"attention_factor", factor}},
                    mistake->because, NULL);
}

void try_multiplied(struct trials *trials, const struct mistake *mistake)
{
    if (!trial_value_is(trials, "scaling", "linear"))
        return;
    const char *factor = trial_value(trials, "factor");
    if (factor)
        trial_take_spec(
            trials, (struct change[CHANGES_MAX]){{"scaling", "none"}, {"position_scale", factor}},
            arena_printf(&trials->own->job->request->arena, "position_scale=%s", factor),
            mistake->because);
}

void try_attention(struct trials *trials, const struct mistake *mistake)
{
    double factor = pe_spec_attention(&trials->spec);
    bool squared = strcmp(mistake->value, "squared") == 0;
    if (trial_has(trials, mistake->key) && factor != 1)
        trial_take_value(trials, mistake->key, trial_text(trials, squared ? factor * factor : 1),
                         mistake->because);
}

/* ---- Parts of a vector and of the frequencies ----------------------------------------------- */

static bool is_partial(const struct trials *trials)
{
    return trial_rotates(trials) && trial_has(trials, "rotary_dim") &&
           trial_number(trials, "rotary_dim") < (double)pe_spec_dim(&trials->spec);
}

void try_whole(struct trials *trials, const struct mistake *mistake)
{
    if (is_partial(trials))
        trial_take_spec(
            trials,
            (struct change[CHANGES_MAX]){{"partial_rotary_factor", NULL}, {"rotary_dim", NULL}},
            arena_printf(&trials->own->job->request->arena, "rotary_dim=%zu",
                         pe_spec_dim(&trials->spec)),
            mistake->because);
}

/* Fewer channels: one in so many. */
void try_share(struct trials *trials, const struct mistake *mistake)
{
    size_t share = (size_t)(mistake->value[0] - '0'), dim = pe_spec_dim(&trials->spec);
    const char *value = trial_text(trials, (double)(dim / share));
    if (!trial_rotates(trials) || !trial_has(trials, "rotary_dim"))
        return;
    trial_take_spec(
        trials,
        (struct change[CHANGES_MAX]){{"partial_rotary_factor", NULL}, {"rotary_dim", value}},
        arena_printf(&trials->own->job->request->arena, "rotary_dim=%s", value), mistake->because);
}

void try_proportional(struct trials *trials, const struct mistake *mistake)
{
    if (!is_partial(trials) || is_scaled(trials))
        return;
    const char *share =
        trial_text(trials, trial_number(trials, "rotary_dim") / (double)pe_spec_dim(&trials->spec));
    trial_take_spec(trials,
                    (struct change[CHANGES_MAX]){{"rotary_dim", NULL},
                                                 {"scaling", "proportional"},
                                                 {"partial_rotary_factor", share}},
                    "scaling=proportional", mistake->because);
}

/* And the other way round: of pairs over the whole width only the first turn. */
void try_plain_partial(struct trials *trials, const struct mistake *mistake)
{
    const struct pe_params *params = &trials->spec.params;
    int row = pe_params_find(params, "kept_pairs", strlen("kept_pairs"));
    if (row < 0 || !params->value[row].set || params->value[row].number == 0)
        return;
    const char *width = trial_text(trials, 2 * params->value[row].number);
    trial_take_spec(trials,
                    (struct change[CHANGES_MAX]){{"scaling", "none"},
                                                 {"kept_pairs", NULL},
                                                 {"partial_rotary_factor", NULL},
                                                 {"rotary_dim", width}},
                    arena_printf(&trials->own->job->request->arena, "rotary_dim=%s", width),
                    mistake->because);
}

/* Exponents 2i/dim in place of 2i/rotary_dim. */
void try_denominator(struct trials *trials, const struct mistake *mistake)
{
    struct job *job = trials->own->job;
    struct pe_faults faults = {0};
    size_t dim = pe_spec_dim(&trials->spec), pairs = pe_spec_pairs(&trials->spec);
    double *scaled = job_alloc(job, dim, sizeof *scaled),
           *plain = job_alloc(job, dim, sizeof *plain);
    struct pe_spec whole;
    if (!is_partial(trials) || !trial_has(trials, "freqs") || !scaled || !plain ||
        !pe_spec_parse(trials->own->recipe.spec, &whole, &faults))
        return;
    const struct change changes[CHANGES_MAX] = {{"partial_rotary_factor", NULL},
                                                {"rotary_dim", NULL}};
    bool known = trial_change(&whole, changes) &&
                 frequencies_of(trials, &whole, (struct frequencies){scaled, plain});
    pe_spec_release(&whole);
    if (known)
        trial_take_spec(trials,
                        (struct change[CHANGES_MAX]){{"scaling", "none"},
                                                     {"base", NULL},
                                                     {"freqs", list_text(trials, scaled, pairs)}},
                        mistake->because, NULL);
}
