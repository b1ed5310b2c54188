// SPDX-License-Identifier: Apache-2.0
/*
 * job_positions_mask.c: positions of sequences with padding, as the library of a `style` counts
 * them, from an attention mask or from token ids.
 */
#include "places.h"

#define PADDING_IDX 1 /* of the models that read it */

const struct pe_style *style_read(struct job *job)
{
    const struct pe_value *style = job_key(job, "style");
    size_t len;
    const char *name = NULL;
    if (style->set) /* the choices of the row are names of the table */
        name = pe_choice_name(&job->keys.rows[style - job->keys.value], style->number, &len);
    if (name)
        return pe_style_find(name, len);
    if (!style->given) /* else it has been refused */
        err_add(&job->request->err, ERR_missing_parameter, job_where(job, "style"),
                "for example style=gpt2: 0, 1, 2, ...", "style is missing: who counts the tokens?");
    return NULL;
}

double mask_padding_idx(struct job *job, const struct pe_spec *spec)
{
    struct pe_value *value = job_key_edit(job, "padding_idx");
    int row = spec ? pe_params_find(&spec->params, "padding_idx", 11) : -1;
    const struct pe_value *of_spec = row >= 0 ? &spec->params.value[row] : NULL;
    if (of_spec && of_spec->set && value->set && of_spec->number != value->number) {
        err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, "padding_idx"),
                "it is enough in the encoding", "padding_idx is %.0f, and %.0f in the encoding",
                value->number, of_spec->number);
        value->number = of_spec->number; /* told once */
    }
    if (of_spec && of_spec->set)
        return of_spec->number;
    if (!value->set)
        *value = (struct pe_value){.set = true, .number = PADDING_IDX};
    return value->number;
}

const bool *mask_read(struct job *job, const struct pe_spec *spec, struct numbers *numbers)
{
    bool ids = job_key(job, "ids")->given;
    const char *name = ids ? "ids" : "attention_mask";
    if (!numbers_read(job, name, numbers, NULL))
        return NULL;
    if (numbers->rank == 0 || numbers->rank > 2) {
        err_add(&job->request->err, ERR_shape_mismatch, places_where(job, name), NULL,
                "%s is [T] or [B][T]; got %zu axes", name, numbers->rank);
        return NULL;
    }
    double most = ids ? PE_POSITION_MAX : 1;
    if (!numbers_whole(job, name, numbers, ids ? -most : 0, most) ||
        !numbers_echo(job, name, numbers))
        return NULL;
    if (numbers->count > PE_POSITIONS_N_MAX) {
        err_add(&job->request->err, ERR_limit_exceeded, places_where(job, name), NULL,
                "%zu tokens were given; 1 to %zu are allowed", numbers->count, PE_POSITIONS_N_MAX);
        return NULL;
    }
    bool *real = job_alloc(job, numbers->count, sizeof *real);
    double padding = ids ? mask_padding_idx(job, spec) : 0;
    for (size_t i = 0; real && i < numbers->count; i++)
        real[i] = numbers->at[i] != padding;
    return real;
}

bool places_from_mask(struct job *job, const struct places_ask *ask, struct places *places)
{
    static const char *const padding[] = {"padding_idx", NULL};
    struct numbers numbers;
    const struct pe_style *style = style_read(job);
    const bool *real = mask_read(job, ask->spec, &numbers);
    if (!style || !real)
        return false;
    bool reads = style->reads_padding_idx || job_key(job, "ids")->given;
    if (!reads && !job_unread(job, padding, "this style has no use for it with a mask"))
        return false;
    size_t n = numbers.shape[numbers.rank - 1], batches = numbers.count / n;
    double *at = job_alloc(job, ask->axes * numbers.count, sizeof *at);
    if (!at)
        return false;
    double padding_idx = style->reads_padding_idx ? mask_padding_idx(job, ask->spec) : 0;
    for (size_t row = 0; row < ask->axes * batches; row++) /* all axes count alike */
        pe_style_tokens(style, padding_idx, real + row % batches * n, n, at + row * n);
    *places = (struct places){at, ask->axes, batches, n, numbers.rank == 2, real};
    if (batches <= ask->batches_max)
        return true;
    return err_add(&job->request->err, ERR_shape_mismatch,
                   places_where(job, job_key(job, "ids")->given ? "ids" : "attention_mask"), NULL,
                   "%zu batch rows are given, at most %zu have a place here", batches,
                   ask->batches_max);
}
