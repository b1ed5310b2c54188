// SPDX-License-Identifier: Apache-2.0
/*
 * identify.c: POST /v1/identify: which encoding makes y of x: what is asked, and the search for it.
 */
#include "identify.h"

#include <math.h>
#include <string.h>

#include "keys.h"

static const struct pe_param keys[] = {
    KEYS_POSITIONS(NULL, PE_OPTIONAL),
    KEY_PREFIX,
    {"k_positions", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Of scores: positions of the keys, counted from 0 without it; queries end where the keys do."},
    {"axes", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL, "d td bhtd bthd htd thd btd qk hqk bhqk",
     NULL,
     "What the axes of x and y are: batch, head, token, dimension; without it tokens are on the "
     "axis before the last. With qk, hqk or bhqk (query, key) they are scores, of which the bias "
     "is wanted; x may then be left out, and y is the bias itself."},
    {"heads", NULL, PE_INT, 1, PE_DIM_MAX, 0, 0, "1", NULL, NULL,
     "With axes=td or btd: heads that share the last axis."},
    {"known", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "A part of a spec that is held, such as {\"kind\": \"rope\", \"base\": 10000}, or as text "
     "rope:base=10000."},
    {"search", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Names of the parameters that may be other than their defaults, as in base,shift; all without "
     "it."},
    {"top", NULL, PE_INT, 1, PE_IDENTIFY_FOUND_MAX, 0, 0, "5", NULL, NULL,
     "How many encodings the answer names at most."},
    KEY_DTYPE("Number format that y was rounded to; without it that of y, or the narrowest that "
              "holds all of its numbers."),
};

static const char *const tensors[] = {"x", "y", NULL};

/* ---- Reading ------------------------------------------------------------------------------- */

const char *identify_shape(struct job *job, const struct tensor *tensor)
{
    struct arena *arena = &job->request->arena;
    const char *text = "";
    for (size_t i = 0; text && i < tensor->rank; i++)
        text = arena_printf(arena, "%s%s%zu", text, i ? ", " : "", tensor->shape[i]);
    return text ? arena_printf(arena, "[%s]", text) : NULL;
}

static bool fault_shapes(struct job *job, const struct identify *own)
{
    const char *x = identify_shape(job, &own->x), *y = identify_shape(job, &own->y);
    return err_add(&job->request->err, ERR_shape_mismatch, "/y",
                   "y is what became of x, vector by vector",
                   "x and y must have the same shape, x has %s and y %s", x ? x : "another",
                   y ? y : "another");
}

static bool read_pair(struct job *job, struct identify *own)
{
    struct err *err = &job->request->err;
    bool has_x, has_y, ok = job_tensor(job, "x", &own->x, &has_x);
    ok = job_tensor(job, "y", &own->y, &has_y) && ok;
    if (!ok)
        return false;
    if (!has_x)
        err_add(err, ERR_missing_parameter, "/x", "for example \"x\": [[1,2,3,4]]",
                "\"x\" is missing: the vectors before");
    if (!has_y)
        err_add(err, ERR_missing_parameter, "/y", "for example \"y\": [[-1.14,1.92,2.96,4.03]]",
                "\"y\" is missing: the vectors with the encoding");
    if (!has_x || !has_y)
        return false;
    if (own->x.rank != own->y.rank ||
        memcmp(own->x.shape, own->y.shape, own->x.rank * sizeof *own->x.shape) != 0)
        return fault_shapes(job, own);
    if (own->x.count > PE_IDENTIFY_ELEMENTS_MAX) {
        err->cost = (double)own->x.count;
        err->limit = (double)PE_IDENTIFY_ELEMENTS_MAX;
        return err_add(err, ERR_limit_exceeded, "/x", "some heads and positions are enough",
                       "x has %zu elements; at most %zu are looked at", own->x.count,
                       PE_IDENTIFY_ELEMENTS_MAX);
    }
    return own->x.count > 0 || err_add(err, ERR_shape_mismatch, "/x", NULL, "x has no elements");
}

/* Axes by the key, or else tokens on the axis before the last. */
static const char *axes_of(struct job *job, const struct tensor *x)
{
    static const char *const names[] = {"d", "td", "bhtd", "bthd", "htd", "thd", "btd"},
                             *const usual[] = {"d", "td", "htd", "bhtd"};
    const struct pe_value *axes = job_key(job, "axes");
    if (!axes->set && x->rank >= 1 && x->rank <= 4)
        return usual[x->rank - 1];
    if (axes->set && strlen(names[(size_t)axes->number]) == x->rank)
        return names[(size_t)axes->number];
    err_add(&job->request->err, ERR_shape_mismatch, axes->set ? job_where(job, "axes") : "/x", NULL,
            "x has %zu axes, %s", x->rank,
            axes->set ? "and axes names another number of them" : "but 1 to 4 are read");
    return NULL;
}

static bool view_pair(struct job *job, struct identify *own, const char *axes)
{
    struct tensor *x = &own->x, *y = &own->y;
    size_t heads = (size_t)job_key(job, "heads")->number;
    struct err *err = &job->request->err;
    own->axes = axes;
    if (!pe_view_init(&own->from, x->dtype, x->data, axes, x->shape, x->rank, heads) ||
        !pe_view_init(&own->to, y->dtype, y->data, axes, y->shape, y->rank, heads))
        return err_add(err, ERR_shape_mismatch, "/x", NULL,
                       "the last axis (%zu) is not divided by heads=%zu", x->shape[x->rank - 1],
                       heads);
    if (own->from.dim <= PE_IDENTIFY_DIM_MAX)
        return true;
    err->limit = PE_IDENTIFY_DIM_MAX;
    return err_add(err, ERR_limit_exceeded, "/x", "axes=td and heads= split the last axis",
                   "vectors have %zu channels; at most %d are looked at", own->from.dim,
                   PE_IDENTIFY_DIM_MAX);
}

/* How many axes positions have: as many as lists in {"axes": [..]}, or numbers of grid=RxC. */
static size_t position_axes(const struct job *job)
{
    const struct json_array *lists = json_doc_array(&job->doc, "/positions/axes");
    const char *grid = job_key(job, "grid")->text;
    size_t axes = 1;
    for (; grid && *grid; grid++)
        axes += *grid == 'x';
    return lists && lists->rank > 0 ? lists->shape[0] : axes;
}

/* Positions are read for a spec, of which only the number of axes matters. */
static bool axes_spec(struct job *job, struct pe_spec *spec)
{
    struct pe_faults faults = {0};
    double sections[PE_AXES_MAX] = {0};
    size_t axes = position_axes(job);
    if (axes > PE_AXES_MAX)
        return err_add(&job->request->err, ERR_limit_exceeded, "/positions", NULL,
                       "positions have %zu axes; at most %d are read", axes, PE_AXES_MAX);
    pe_spec_init(spec, axes > 1 ? pe_kind_find("mrope", 5) : pe_kind_find("rope", 4));
    for (size_t i = 0; i < axes; i++)
        sections[i] = 1;
    pe_params_set_number(&spec->params, "dim", axes > 1 ? (double)(2 * axes) : 2, &faults);
    if (axes > 1)
        pe_params_set_list(&spec->params, "sections", sections, axes, &faults);
    return pe_spec_finish(spec, &faults);
}

static bool read_positions(struct job *job, struct identify *own)
{
    struct pe_spec spec;
    size_t tokens = own->from.tokens;
    if (!axes_spec(job, &spec))
        return false;
    bool ok = job_positions_given(job)
                  ? job_positions(job, "positions", &spec, own->from.batches, &own->positions)
                  : job_positions_count(job, &spec, tokens, &own->positions);
    pe_spec_release(&spec);
    if (!ok)
        return false;
    const struct position_lists *p = &own->positions;
    return (p->list->n == tokens && (p->lists_n == 1 || p->lists_n == own->from.batches)) ||
           err_add(&job->request->err, ERR_shape_mismatch, p->where,
                   "a position for each token; without positions they are counted from 0",
                   "%zu positions (in %zu lists) for %zu tokens (in %zu batch rows)", p->list->n,
                   p->lists_n, tokens, own->from.batches);
}

enum pe_dtype identify_narrowest(const struct tensor *y)
{
    static const enum pe_dtype dtypes[] = {PE_BF16, PE_F16, PE_F32};
    for (size_t k = 0; y->dtype == PE_F64 && k < sizeof dtypes / sizeof *dtypes; k++) {
        bool holds = true;
        for (size_t i = 0; holds && i < y->count; i++) {
            double number = pe_load(y->dtype, y->data, i), stored;
            char memory[sizeof stored];
            pe_store(dtypes[k], memory, 0, number);
            stored = pe_load(dtypes[k], memory, 0);
            holds = stored == number || number != number;
        }
        if (holds)
            return dtypes[k];
    }
    return y->dtype;
}

static bool prepare(struct job *job)
{
    struct identify *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return job_alloc(job, SIZE_MAX, 1);
    bool ok = identify_known(job, own);
    if (identify_scores_asked(job, own))
        return identify_scores_prepare(job, own) && ok;
    static const char *const of_scores[] = {"k_positions", NULL};
    ok =
        job_unread(job, of_scores, "vectors have no keys; axes=hqk says that x and y are scores") &&
        ok;
    ok = read_pair(job, own) && ok;
    const char *axes = ok ? axes_of(job, &own->x) : NULL;
    if (!axes || !view_pair(job, own, axes) || !identify_known_fits(job, own, own->from.dim) ||
        !read_positions(job, own))
        return false;
    own->dtype =
        job_key(job, "dtype")->given ? job_dtype(job, PE_F64) : identify_narrowest(&own->y);
    return true;
}

/* ---- Computing ----------------------------------------------------------------------------- */

static bool stop(void *context)
{
    return request_expired(context);
}

bool identify_begin(struct job *job, struct identify *own, size_t work_bytes)
{
    struct pe_identify *result = &own->result;
    result->dtype = own->dtype;
    result->stop = stop;
    result->stop_context = job->request;
    result->work = job_scratch(job, work_bytes);
    return result->work != NULL;
}

bool identify_ended(struct job *job, enum pe_status status)
{
    if (status == PE_STOPPED)
        job_expired(job);
    else if (status != PE_OK)
        err_add(&job->request->err, ERR_overloaded, NULL, NULL,
                "no memory for the tables of the encodings tried");
    return status == PE_OK;
}

static bool run(struct job *job, struct identify *own)
{
    struct pe_identify *result = &own->result;
    result->x = &own->from;
    result->y = &own->to;
    result->positions = own->positions.list;
    result->positions_n = own->positions.lists_n;
    return identify_begin(job, own, pe_identify_work_bytes(&own->from, own->positions.lists_n)) &&
           identify_ended(job, pe_identify(result));
}

/* The same with heads and tokens in each other's place. */
static const char *swapped_axes(const char *axes)
{
    static const char *const swaps[][2] = {{"bhtd", "bthd"}, {"htd", "thd"}};
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++)
        for (size_t k = 0; k < 2; k++)
            if (strcmp(axes, swaps[i][k]) == 0)
                return swaps[i][1 - k];
    return NULL;
}

static bool run_swapped(struct job *job, struct identify *own)
{
    const char *axes = own->axes, *swapped = swapped_axes(axes);
    struct pe_identify first = own->result;
    if (!swapped || own->result.rivals_n > 0 || job_positions_given(job))
        return true;
    if (!view_pair(job, own, swapped) || !read_positions(job, own) || !run(job, own))
        return false;
    if (own->result.rivals_n > 0) {
        own->posted_as = axes;
        pe_identify_release(&first);
        return true;
    }
    pe_identify_release(&own->result);
    own->result = first;
    return view_pair(job, own, axes);
}

/* ---- The endpoint -------------------------------------------------------------------------- */

/* The answer has values of specs that were found. */
static void release(void *own)
{
    pe_identify_release(&((struct identify *)own)->result);
}

static bool compute(struct job *job)
{
    struct identify *own = job->own;
    job->own_release = release;
    bool ok =
        own->of_scores ? identify_scores_run(job, own) : run(job, own) && run_swapped(job, own);
    if (ok) {
        job->answer.params = job->answer.tensors = job->answer.readouts = NULL;
        identify_answer(job, own);
        job->answer.text_readouts = identify_sentences(job, own);
        ok = job->answer.text_readouts != NULL;
    }
    return ok;
}

const struct endpoint identify_endpoint = {
    .summary = "Which encoding makes y of x, what else might, and what to send to settle it.",
    .describes = "",
    .schema = "IdentifyAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .acts = ~0u,
    .tensors = tensors,
    .cache = CACHE_NO_STORE,
    .formats = 1 << FORMAT_JSON | 1 << FORMAT_TXT,
    .prepare = prepare,
    .compute = compute,
};
