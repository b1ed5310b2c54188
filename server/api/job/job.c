// SPDX-License-Identifier: Apache-2.0
/*
 * job.c: drives one computed request: read, prepare, plan, compute, encode. Requests that are small
 * and whose plans are there run on the loop thread at once; anything else goes to a worker, so that
 * a small request never waits behind a large one.
 */
#include "job.h"

#include <string.h>

#include "answer_cache.h"
#include "job_delivery.h"
#include "metrics.h"
#include "plans.h"
#include "plots.h"
#include "sha256.h"

#define INLINE_BODY_MAX  4096 /* bytes of a body read on the loop thread */
#define INLINE_WORK_MAX  2048 /* elements computed and printed on the loop thread */
#define ANSWER_BYTES_MAX ((size_t)1 << 30)

static void job_release(struct request *request)
{
    struct job *job = request->state;
    for (size_t i = 0; i < JOB_SPECS_MAX; i++) {
        plan_release(job->app->plans, job->specs[i].plan);
        pe_spec_release(&job->specs[i].spec);
    }
    pe_params_release(&job->keys);
    pe_params_release(&job->common);
    if (job->look)
        pe_params_release(job->look);
    blocks_release(job->blocks);
    if (job->own_release)
        job->own_release(job->own);
    if (job->has_doc)
        json_doc_release(&job->doc);
    json_doc_release(&job->document);
}

static struct job *job_new(struct request *request)
{
    struct job *job = arena_calloc(&request->arena, 1, sizeof *job);
    if (!job) {
        err_add(&request->err, ERR_internal, NULL, NULL, "no memory for the request");
        return NULL;
    }
    job->request = request;
    job->app = request->app;
    job->endpoint = request->route->endpoint;
    if (job->endpoint->behind) {
        job->picture = job->endpoint;
        job->endpoint = job->picture->behind;
    }
    request->state = job;
    request->state_free = job_release;
    return job;
}

/* Reads and checks everything; all mistakes are in err afterwards. */
static bool job_prepare(struct job *job)
{
    struct request *request = job->request;
    uint64_t start = clock_ns();
    bool read = job_read(job);
    bool ok = read && job->endpoint->prepare(job) && (!job->picture || plot_check(job)) &&
              request->err.n == 0 && job_outputs_finish(job) && job_delivery_prepare(job);
    request->parse_ns = clock_ns() - start;
    job->prepared = ok;
    if (ok && job->body == FORMAT_JSON) /* every number of it has been read */
        request_drop_body(request);
    return ok;
}

/* All plans, or (with `find` only) whether they are all there. */
static bool job_plans(struct job *job, bool find)
{
    if (job->plan_positions.axes == 0)
        return true;
    for (size_t i = 0; i < job->specs_n + job->beside_n; i++) {
        struct job_spec *slot = &job->specs[i];
        if (slot->plan)
            continue;
        struct plan_source source = {&slot->spec, slot->compact, &job->stages,
                                     &job->plan_positions};
        slot->plan = (find ? plan_find : plan_get)(job->app->plans, &source);
        if (!slot->plan)
            return false;
    }
    return true;
}

/* Text that is aligned needs all of the tensors, and so does a picture. */
static bool job_write_whole(struct job *job)
{
    struct request *request = job->request;
    if (!job_outputs_fill(job) || (job->endpoint->conclude && !job->endpoint->conclude(job)))
        return false;
    if (tree_ok(job->answer.root) && job->picture)
        return plot_write(job);
    return (tree_ok(job->answer.root) &&
            answer_write(&request->response.body, &job->answer, job->format)) ||
           err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the answer");
}

/* The answer is there, or is made while it is sent. */
static enum step job_deliver(struct job *job)
{
    struct request *request = job->request;
    if (request->response.stream)
        return delivery_announce(request, &job->delivery) ? STEP_DONE : STEP_FAILED;
    bool delivered = delivery_encode(request, &job->delivery);
    request->encode_ns = clock_ns() - job->computed_ns;
    if (job->blocks) { /* which made some of the tensors on the way */
        uint64_t filled_ns = blocks_compute_ns(job->blocks);
        request->compute_ns += filled_ns;
        request->encode_ns -= filled_ns < request->encode_ns ? filled_ns : request->encode_ns;
    }
    return delivered ? STEP_DONE : STEP_FAILED;
}

/* After computing; STEP_SPREAD, and then once more, while all workers take part. */
static enum step job_write(struct job *job, bool may_wait)
{
    enum step step = parts_run(job, may_wait);
    if (step != STEP_DONE)
        return step;
    if (job_in_words(job))
        return job_write_whole(job) ? job_deliver(job) : STEP_FAILED;
    step = blocks_write(job, may_wait);
    return step == STEP_DONE ? job_deliver(job) : step;
}

static enum step job_finish(struct job *job, bool may_wait)
{
    struct request *request = job->request;
    uint64_t start = clock_ns();
    if (!job_plans(job, false)) {
        err_add(&request->err, ERR_overloaded, NULL, NULL, "no memory for the tables of this spec");
        return STEP_FAILED;
    }
    job_answer_begin(job);
    if (job->endpoint->compute && !job->endpoint->compute(job))
        return STEP_FAILED;
    job_answer_end(job);
    job->computed_ns = clock_ns();
    request->compute_ns = job->computed_ns - start;
    metric_add(METRIC_computations, 1);
    metric_add(METRIC_elements, (int64_t)job->elements);
    buf_init(&request->response.body, ANSWER_BYTES_MAX);
    return job_write(job, may_wait);
}

/* Whether a GET can be answered without computing. */
static enum step job_find(struct job *job)
{
    enum step step = delivery_judge(job->request, &job->delivery);
    return step == STEP_WORK ? delivery_find(job->request, &job->delivery, job->app->answers)
                             : step;
}

#define WORK_MAX         ((size_t)1 << 31) /* multiply-adds of one request */
#define WORK_PER_ELEMENT 64                /* as much as the printing of one */

bool job_work(struct job *job, size_t multiply_adds, const char *where)
{
    struct err *err = &job->request->err;
    job->work = multiply_adds / WORK_PER_ELEMENT;
    if (multiply_adds <= WORK_MAX)
        return true;
    err->cost = (double)multiply_adds;
    err->limit = (double)WORK_MAX;
    return err_add(err, ERR_limit_exceeded, where, "fewer positions or vectors",
                   "%zu multiply-adds would be needed, the limit is %zu", multiply_adds, WORK_MAX);
}

enum step computed_quick(struct request *request)
{
    const struct app *app = request->app;
    if (answer_cache_recall(app->answers, request))
        return STEP_DONE;
    struct job *job = job_new(request);
    if (!job)
        return STEP_FAILED;
    if (request->body_len > INLINE_BODY_MAX)
        return STEP_WORK;
    if (!job_prepare(job))
        return STEP_FAILED;
    enum step step = request->method == METHOD_POST ? STEP_WORK : job_find(job);
    if (step != STEP_WORK)
        return step;
    bool slow = job->delivery.coding != CODING_IDENTITY || job->stages.named != 0 || job->picture;
    if (slow || job->elements + job->work > INLINE_WORK_MAX || !job_plans(job, true))
        return STEP_WORK;
    step = job_finish(job, false);
    return step == STEP_DONE ? computed_settle(request) : step;
}

enum step computed_work(struct request *request)
{
    struct job *job = request->state;
    if (job->blocks) /* and all workers have made them */
        return job_deliver(job);
    if (job->parts_done)
        return job_write(job, true);
    if (!job->prepared && !job_prepare(job))
        return STEP_FAILED;
    return job_finish(job, true);
}

enum step computed_settle(struct request *request)
{
    struct job *job = request->state;
    delivery_keep(request, &job->delivery, job->app->answers);
    return STEP_DONE;
}

/* ---- Pieces for endpoints ------------------------------------------------------------------ */

bool job_in_words(const struct job *job)
{
    return job->format == FORMAT_TXT || job->picture;
}

unsigned job_formats(const struct job *job)
{
    return job->picture ? job->picture->formats : job->endpoint->formats;
}

bool job_spec_name(struct job *job, struct job_spec *slot)
{
    size_t len = pe_spec_compact(&slot->spec, NULL, 0);
    char *compact = job_alloc(job, len + 1, 1);
    if (!compact)
        return false;
    pe_spec_compact(&slot->spec, compact, len + 1);
    slot->compact = compact;
    sha256_hex(compact, len, 16, slot->id);
    return true;
}

/* Tensors that belong to a spec stand beside it. */
static void spec_faults(struct job *job, const struct job_spec *slot,
                        const struct pe_faults *faults)
{
    for (size_t i = 0; i < faults->n && i < PE_FAULTS_MAX; i++) {
        const struct pe_faults one = {.n = 1, .item = {faults->item[i]}};
        bool beside = job->has_doc && job_is_tensor(job, faults->item[i].param);
        api_faults(&job->request->err, &one, beside ? "/" : slot->prefix);
    }
}

bool job_specs_finish(struct job *job)
{
    struct request *request = job->request;
    bool ok = true;
    for (size_t i = 0; i < job->specs_n; i++) {
        struct job_spec *slot = &job->specs[i];
        struct pe_faults faults = {0};
        if (!pe_spec_finish(&slot->spec, &faults)) {
            spec_faults(job, slot, &faults);
            ok = false;
            continue;
        }
        unsigned acts = job->endpoint->acts & (job->picture ? job->picture->acts : ~0u);
        if (!(acts & (1u << slot->spec.kind->acts)))
            err_add(&request->err, ERR_invalid_value, "kind", NULL, "kind=%s has no place in %s",
                    slot->spec.kind->name, request->path);
        if (!job_spec_name(job, slot))
            return false;
    }
    return ok;
}

size_t job_product(const size_t *factors, size_t n)
{
    size_t product = 1;
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(product, factors[i], &product))
            return SIZE_MAX;
    return product;
}

bool job_has_key(const struct job *job, const char *name)
{
    return pe_params_find(&job->keys, name, strlen(name)) >= 0;
}

const struct pe_value *job_key(const struct job *job, const char *name)
{
    return pe_params_get(&job->keys, name);
}

struct pe_value *job_key_edit(struct job *job, const char *name)
{
    return &job->keys.value[job_key(job, name) - job->keys.value];
}

bool job_key_is(const struct job *job, const char *name, const char *choice)
{
    const struct pe_value *value = job_key(job, name);
    const struct pe_param *row = &job->keys.rows[value - job->keys.value];
    size_t len;
    const char *text = value->set ? pe_choice_name(row, value->number, &len) : NULL;
    return text && strlen(choice) == len && memcmp(text, choice, len) == 0;
}

bool job_unread(struct job *job, const char *const *names, const char *because)
{
    bool ok = true;
    for (; *names; names++) {
        if (!job_has_key(job, *names))
            continue;
        struct pe_value *value = job_key_edit(job, *names);
        if (value->given && !value->implied)
            ok = err_add(&job->request->err, ERR_conflicting_parameters, job_where(job, *names),
                         "leave it out", "\"%s\" has no effect: %s", *names, because);
        value->set = false;
        if (value->implied) /* and then it was never meant */
            value->number = 0;
    }
    return ok;
}

void *job_alloc(struct job *job, size_t n, size_t size)
{
    size_t bytes;
    void *memory = __builtin_mul_overflow(n, size, &bytes)
                       ? NULL
                       : arena_alloc(&job->request->arena, bytes ? bytes : 1);
    if (!memory)
        err_add(&job->request->err, ERR_limit_exceeded, NULL, "split the request",
                "the request needs more memory than one request may have (%zu bytes)",
                job->request->arena.bytes_max);
    return memory;
}

#define SCRATCH_ALIGN 64
#define ALIGNED_FROM  4096 /* bytes from which the arena aligns to cache lines */

void *job_scratch(struct job *job, size_t bytes)
{
    return job_alloc(job, bytes < ALIGNED_FROM ? ALIGNED_FROM : bytes, 1);
}

void *job_apply_work(struct job *job, const struct pe_plan *plan)
{
    return job_scratch(job, pe_apply_work_bytes(plan));
}

size_t job_apply_scratch(const struct job *job, size_t spec)
{
    size_t bytes = pe_apply_work_bytes(job_plan(job, spec));
    return (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

const struct pe_plan *job_plan(const struct job *job, size_t i)
{
    return plan_ref_plan(job->specs[i].plan);
}

void job_derive(struct job *job, const char *name, double number)
{
    struct pe_value *value = job_key_edit(job, name);
    if (!value->set)
        *value = (struct pe_value){.set = true, .number = number};
    else if (value->number == number && job->request->method != METHOD_POST)
        value->given = false;
}

enum pe_dtype job_dtype(struct job *job, enum pe_dtype otherwise)
{
    /* The choices of the dtype row stand in the order of enum pe_dtype. */
    job_derive(job, "dtype", (double)otherwise);
    return (enum pe_dtype)job_key(job, "dtype")->number;
}

bool job_expired(struct job *job)
{
    if (!request_expired(job->request))
        return false;
    err_add(&job->request->err, ERR_deadline, NULL, "ask for less at once",
            "the request took longer than the deadline of %u ms", job->app->options.deadline_ms);
    return true;
}
