// SPDX-License-Identifier: Apache-2.0
/* worker.c: see worker.h. libuv keeps the waiting jobs; we only count. */
#include "worker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "metrics.h"

/* How much less than the loop thread a worker matters to the scheduler, where the two want the same
 * processor: with all of them busy, small answers take half as long (the slowest of a hundred). */
#define NICENESS 10

/* Once on each thread of the pool; on Linux a thread has a nice value of its own. */
static void give_way(void)
{
    static _Thread_local bool given;

    if (given)
        return;
    given = true;
    int nice_now = nice(NICENESS);
    (void)nice_now; /* nothing is lost where it may not */
}

static void do_nothing(uv_work_t *work)
{
    (void)work;
}

void worker_pool_init(struct worker_pool *pool, uv_loop_t *loop, unsigned workers, unsigned queue)
{
    char threads[16];

    *pool = (struct worker_pool){.loop = loop, .workers = workers, .jobs_max = workers + queue};
    snprintf(threads, sizeof threads, "%u", workers);
    setenv("UV_THREADPOOL_SIZE", threads, 1);
    uv_queue_work(loop, &pool->first, do_nothing, NULL);
}

static void job_run(uv_work_t *work)
{
    struct worker_job *job = work->data;

    give_way();
    metric_add(METRIC_jobs_waiting, -1);
    metric_add(METRIC_jobs_running, 1);
    job->run(job);
    metric_add(METRIC_jobs_running, -1);
    metric_add(METRIC_jobs_finished, 1);
}

/* The count that a job belongs to. */
static unsigned *count_of(struct worker_job *job)
{
    return job->part ? &job->pool->parts : &job->pool->jobs;
}

static void job_done(uv_work_t *work, int status)
{
    struct worker_job *job = work->data;

    assert(status == 0); /* nothing is ever cancelled */
    --*count_of(job);
    job->done(job);
}

static void job_queue(struct worker_pool *pool, struct worker_job *job, bool part)
{
    job->pool = pool;
    job->part = part;
    job->work.data = job;
    ++*count_of(job);
    metric_add(METRIC_jobs_waiting, 1);
    int status = uv_queue_work(pool->loop, &job->work, job_run, job_done);
    assert(status == 0); /* it fails for a missing callback only */
}

bool worker_submit(struct worker_pool *pool, struct worker_job *job)
{
    if (pool->jobs >= pool->jobs_max) {
        metric_add(METRIC_jobs_refused, 1);
        return false;
    }
    job_queue(pool, job, false);
    return true;
}

void worker_submit_part(struct worker_pool *pool, struct worker_job *job)
{
    job_queue(pool, job, true);
}
