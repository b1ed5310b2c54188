// SPDX-License-Identifier: Apache-2.0
/*
 * job_answer.c: the parts of the envelope that every computed answer has: the spec with its
 * defaults filled in and its id, the request keys that were used, and the links.
 */
#include <string.h>

#include "job.h"

#define LINK_QUERY_MAX 8000 /* longer than the URL that one may send */
/* Of a canonical request: what a URL of 8 KiB grows to when its numbers are written out. */
#define CANONICAL_BYTES_MAX ((size_t)64 << 10)

/* A PE_ENUM value as text in the arena. */
static const char *choice_text(struct arena *arena, const struct pe_param *row, double index)
{
    size_t len;
    const char *name = pe_choice_name(row, index, &len);
    return arena_strndup(arena, name, len);
}

/* The words of a PE_ENUMS value. */
static void tree_choices(struct tree *parent, const struct pe_param *row, uint64_t chosen)
{
    struct tree *words = tree_array(parent, row->name);
    for (unsigned i = 0; chosen >> i; i++)
        if (chosen >> i & 1)
            tree_string(words, NULL, choice_text(parent->arena, row, i));
}

/* Positions: a range stays text, a list becomes numbers. */
static void tree_text(struct tree *parent, const char *key, const char *text)
{
    struct pe_faults faults = {0};
    size_t n;
    bool list = (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) && !strpbrk(text, ":;x") &&
                pe_positions_parse(text, key, NULL, 0, &n, &faults);
    double *at = list ? arena_alloc(parent->arena, n * sizeof *at) : NULL;
    if (!at) {
        tree_string(parent, key, list ? NULL : text); /* NULL: no memory */
        return;
    }
    pe_positions_parse(text, key, at, n, &n, &faults);
    tree_reals(parent, key, at, n);
}

/* Whether a word is a number. */
static bool is_number(const char *text, double *number)
{
    bool numeric = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
    return numeric && pe_text_read(text, strlen(text), PE_F64, number, 0);
}

/* A word, or a number. */
static void tree_scalar(struct tree *parent, const char *key, const char *text)
{
    double number;
    if (is_number(text, &number))
        tree_number(parent, key, number);
    else
        tree_string(parent, key, text);
}

static void tree_value(struct tree *parent, const struct pe_param *row,
                       const struct pe_value *value)
{
    switch (row->type) {
    case PE_INT:
        tree_integer(parent, row->name, (int64_t)value->number);
        break;
    case PE_REAL:
        tree_number(parent, row->name, value->number);
        break;
    case PE_BOOL:
        tree_bool(parent, row->name, value->number != 0);
        break;
    case PE_ENUM:
        tree_string(parent, row->name, choice_text(parent->arena, row, value->number));
        break;
    case PE_ENUMS:
        tree_choices(parent, row, (uint64_t)value->number);
        break;
    case PE_REALS:
        tree_reals(parent, row->name, value->list, value->list_n);
        break;
    case PE_TEXT:
        if (value->text && row->flags & PE_SCALAR)
            tree_scalar(parent, row->name, value->text);
        else if (value->text)
            tree_text(parent, row->name, value->text);
        break;
    }
}

/* Every value that is set, in the order of the rows. */
static void tree_params(struct tree *parent, const struct pe_params *params)
{
    for (size_t i = 0; i < params->rows_n; i++)
        if (params->value[i].set && pe_params_applies(params, i))
            tree_value(parent, &params->rows[i], &params->value[i]);
}

void job_spec_tree(struct tree *parent, const char *key, const struct pe_spec *spec)
{
    struct tree *object = tree_object(parent, key);
    tree_string(object, "kind", spec->kind->name);
    if (object)
        tree_params(object, &spec->params);
    if (object && spec->table)
        tree_string(object, "table", arena_printf(object->arena, "sha256:%s", spec->table_digest));
}

/* ---- Links --------------------------------------------------------------------------------- */

/* The compact form with other separators. */
void job_spec_query(struct buf *out, const char *compact)
{
    size_t len = strcspn(compact, ":");
    buf_puts(out, "?kind=");
    buf_append(out, compact, len);
    if (compact[len] == '\0')
        return;
    buf_putc(out, '&');
    for (const char *c = compact + len + 1; *c; c++)
        buf_putc(out, *c == ',' ? '&' : *c == '+' ? ',' : *c);
}

/* A value as a query spells it, "" where there is none; NULL without memory. */
static const char *query_text(struct job *job, const struct pe_param *row,
                              const struct pe_value *value)
{
    double number;
    if (row->flags & PE_SCALAR && value->text && is_number(value->text, &number)) {
        char digits[PE_TEXT_MAX];
        size_t len = pe_text_print(PE_F64, &number, 0, digits);
        return arena_strndup(&job->request->arena, digits, len);
    }
    size_t len = pe_value_print(row, value, ',', NULL, 0);
    char *text = arena_calloc(&job->request->arena, len + 1, 1);
    if (text && len > 0)
        pe_value_print(row, value, ',', text, len + 1);
    return text;
}

/* The keys that differ from their defaults, in row order, up to row `rows_n`. False without memory.
 */
static bool query_keys(struct job *job, struct buf *out, const struct pe_params *keys,
                       size_t rows_n)
{
    for (size_t i = 0; i < rows_n; i++) {
        const struct pe_param *row = &keys->rows[i];
        const struct pe_value *value = &keys->value[i];
        if (!value->set || !value->given)
            continue;
        const char *text = query_text(job, row, value);
        if (!text)
            return false;
        if (*text && !(row->fallback && strcmp(row->fallback, text) == 0))
            api_query_append(out, row->name, text);
    }
    return true;
}

const char *job_canonical(struct job *job)
{
    struct buf out;
    buf_init(&out, CANONICAL_BYTES_MAX);
    buf_puts(&out, job->request->path);
    if (job->specs_n == 1)
        job_spec_query(&out, job->specs[0].compact);
    for (size_t i = 0; job->specs_n > 1 && i < job->specs_n; i++)
        api_query_append(&out, "spec", job->specs[i].compact);
    bool complete = query_keys(job, &out, &job->keys, job->keys.rows_n) &&
                    (!job->look || query_keys(job, &out, job->look, job->look->rows_n)) &&
                    query_keys(job, &out, &job->common, COMMON_ECHOED_N) && !out.failed;
    const char *canonical =
        complete ? arena_strndup(&job->request->arena, out.data, out.len) : NULL;
    buf_release(&out);
    if (!canonical)
        err_add(&job->request->err, ERR_overloaded, NULL, NULL, "no memory for the request");
    return canonical;
}

static void links(struct job *job)
{
    const char *canonical = job->canonical, *query = canonical + strcspn(canonical, "?");
    if (strlen(query) > LINK_QUERY_MAX)
        return;
    struct arena *arena = &job->request->arena;
    struct tree *object = tree_object(job->answer.root, "links");
    tree_string(object, "self", canonical);
    for (enum format f = FORMAT_JSON + 1; f < FORMATS_N; f++)
        if (job_formats(job) & (1u << f))
            tree_string(
                object, format_suffix(f),
                arena_printf(arena, "%s.%s%s", job->request->path, format_suffix(f), query));
}

/* ---- Envelope ------------------------------------------------------------------------------ */

void job_answer_begin(struct job *job)
{
    struct answer *answer = &job->answer;
    answer->root = tree_new(&job->request->arena, TREE_OBJECT);
    tree_string(answer->root, "semantics", API_SEMANTICS);
    if (job->specs_n == 1) {
        job_spec_tree(answer->root, "spec", &job->specs[0].spec);
        tree_string(answer->root, "spec_id", job->specs[0].id);
    }
    answer->params = tree_object(answer->root, "params");
    answer->tensors = tree_object(answer->root, "tensors");
    answer->readouts = tree_object(answer->root, "readouts");
    job_outputs_tree(job);
}

void job_note(struct job *job, const char *note)
{
    struct answer *answer = &job->answer;
    if (!answer->notes)
        answer->notes = tree_array(answer->root, "notes");
    tree_string(answer->notes, NULL, note);
}

void job_answer_end(struct job *job)
{
    if (job->answer.params)
        tree_params(job->answer.params, &job->keys);
    for (size_t i = 0; job->answer.params && i < COMMON_ECHOED_N; i++)
        if (common_differs(job, (enum common)i))
            tree_value(job->answer.params, &common_keys[i], &job->common.value[i]);
    if (job_stages_note(&job->stages))
        job_note(job, job_stages_note(&job->stages));
    if (job->request->method != METHOD_POST)
        links(job);
}
