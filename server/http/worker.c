// SPDX-License-Identifier: Apache-2.0
/*
 * worker.c: see worker.h. Not libuv's own pool: a worker there wakes the loop while it holds a lock
 * and a flag for which the loop spins (uv_async_send in libuv 1.44). The loop, once awake, takes
 * that worker's processor and then waits for it to go on. With all workers busy it so spent a third
 * of its time, now a tenth: half of the small answers took 0.65 ms then and take 0.43, one in a
 * hundred 9 ms and now 7.
 *
 * So jobs are handed over both ways by a list that either side takes as a whole, in one exchange,
 * and that needs no lock. Workers share out what they have taken among themselves under one.
 */
#include "worker.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "metrics.h"

/* How much less than the loop thread a worker matters to the scheduler, where the two want the same
 * processor: with all of them busy, small answers take half as long (the slowest of a hundred). */
#define NICENESS 10

#define STACK_BYTES ((size_t)8 << 20)

/* ---- Lists of jobs ------------------------------------------------------------------------- */

/* Adds a job; whether it is the first. */
static bool list_push(_Atomic(struct worker_job *) *list, struct worker_job *job)
{
    struct worker_job *latest = atomic_load_explicit(list, memory_order_relaxed);

    do
        job->next = latest;
    while (!atomic_compare_exchange_weak_explicit(list, &latest, job, memory_order_release,
                                                  memory_order_relaxed));
    return latest == NULL;
}

/* Takes all there are, the oldest first. */
static struct worker_job *list_take(_Atomic(struct worker_job *) *list)
{
    struct worker_job *latest = atomic_exchange_explicit(list, NULL, memory_order_acquire);
    struct worker_job *oldest = NULL;

    for (struct worker_job *next; latest; latest = next) {
        next = latest->next;
        latest->next = oldest;
        oldest = latest;
    }
    return oldest;
}

/* ---- Workers ------------------------------------------------------------------------------- */

/* Waits for the next job; NULL at the end. */
static struct worker_job *job_await(struct worker_pool *pool)
{
    uv_sem_wait(&pool->waiting);
    uv_mutex_lock(&pool->turn);
    if (!pool->queue)
        pool->queue = list_take(&pool->given);
    struct worker_job *job = pool->queue;
    if (job)
        pool->queue = job->next;
    uv_mutex_unlock(&pool->turn);
    return job;
}

/* What is finished already has woken the loop. */
static void job_finish(struct worker_pool *pool, struct worker_job *job)
{
    const uint64_t one = 1;

    if (!list_push(&pool->finished, job))
        return;
    ssize_t written = write(pool->wake_fd, &one, sizeof one);
    (void)written; /* it fails only past 2^64 - 2, awake all the more */
}

static void worker_run(void *context)
{
    struct worker_pool *pool = context;
    struct worker_job *job;

    int nice_now = nice(NICENESS); /* on Linux a thread has a nice value of its own */
    (void)nice_now;                /* nothing is lost where it may not */
    while ((job = job_await(pool))) {
        metric_add(METRIC_jobs_waiting, -1);
        metric_add(METRIC_jobs_running, 1);
        job->run(job);
        metric_add(METRIC_jobs_running, -1);
        metric_add(METRIC_jobs_finished, 1);
        job_finish(pool, job);
    }
    if (pool->thread_end)
        pool->thread_end();
}

/* ---- The loop ------------------------------------------------------------------------------ */

/* The loop goes on while there are jobs. */
static void job_count(struct worker_pool *pool, const struct worker_job *job, bool begins)
{
    unsigned *count = job->part ? &pool->parts : &pool->jobs;

    *count = begins ? *count + 1 : *count - 1;
    if (pool->jobs + pool->parts > 0)
        uv_ref((uv_handle_t *)&pool->wake);
    else
        uv_unref((uv_handle_t *)&pool->wake);
}

static void on_wake(uv_poll_t *wake, int status, int events)
{
    struct worker_pool *pool = wake->data;
    uint64_t times;
    (void)status;
    (void)events;

    ssize_t got = read(pool->wake_fd, &times, sizeof times);
    (void)got;
    for (struct worker_job *job = list_take(&pool->finished), *next; job; job = next) {
        next = job->next; /* done() may free it, or submit it again */
        job_count(pool, job, false);
        job->done(job);
    }
}

static void job_give(struct worker_pool *pool, struct worker_job *job, bool part)
{
    job->pool = pool;
    job->part = part;
    job_count(pool, job, true);
    metric_add(METRIC_jobs_waiting, 1);
    list_push(&pool->given, job);
    uv_sem_post(&pool->waiting);
}

bool worker_submit(struct worker_pool *pool, struct worker_job *job)
{
    if (pool->jobs >= pool->jobs_max) {
        metric_add(METRIC_jobs_refused, 1);
        return false;
    }
    job_give(pool, job, false);
    return true;
}

void worker_submit_part(struct worker_pool *pool, struct worker_job *job)
{
    job_give(pool, job, true);
}

/* ---- Start and end ------------------------------------------------------------------------- */

/* As many as are wanted, or all that can be. */
static unsigned threads_start(struct worker_pool *pool, unsigned wanted)
{
    const uv_thread_options_t options = {.flags = UV_THREAD_HAS_STACK_SIZE,
                                         .stack_size = STACK_BYTES};
    unsigned n = 0;

    while (n < wanted && uv_thread_create_ex(&pool->threads[n], &options, worker_run, pool) == 0)
        n++;
    return n;
}

bool worker_pool_init(struct worker_pool *pool, uv_loop_t *loop, unsigned workers, unsigned queue,
                      void (*thread_end)(void))
{
    *pool =
        (struct worker_pool){.loop = loop, .jobs_max = workers + queue, .thread_end = thread_end};
    pool->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pool->threads = calloc(workers, sizeof *pool->threads);
    if (pool->wake_fd < 0 || !pool->threads ||
        uv_poll_init(loop, &pool->wake, pool->wake_fd) != 0) {
        if (pool->wake_fd >= 0)
            close(pool->wake_fd);
        free(pool->threads);
        pool->threads = NULL;
        return false;
    }
    int status = uv_mutex_init(&pool->turn) | uv_sem_init(&pool->waiting, 0);
    assert(status == 0); /* they fail for bad arguments only */
    pool->wake.data = pool;
    uv_poll_start(&pool->wake, UV_READABLE, on_wake);
    uv_unref((uv_handle_t *)&pool->wake);
    pool->workers = threads_start(pool, workers);
    if (pool->workers == workers)
        return true;
    worker_pool_end(pool);
    return false;
}

void worker_pool_end(struct worker_pool *pool)
{
    assert(pool->jobs + pool->parts == 0);
    if (!pool->threads)
        return;
    for (unsigned i = 0; i < pool->workers; i++)
        uv_sem_post(&pool->waiting); /* with no job to be found */
    for (unsigned i = 0; i < pool->workers; i++)
        uv_thread_join(&pool->threads[i]);
    uv_close((uv_handle_t *)&pool->wake, NULL);
    close(pool->wake_fd);
    uv_sem_destroy(&pool->waiting);
    uv_mutex_destroy(&pool->turn);
    free(pool->threads);
    pool->threads = NULL;
}
