// SPDX-License-Identifier: Apache-2.0
/* worker.c: see worker.h. libuv keeps the waiting jobs; we only count. */
#include "worker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics.h"

static void do_nothing(uv_work_t *work)
{
    (void)work;
}

void worker_pool_init(struct worker_pool *pool, uv_loop_t *loop, unsigned workers, unsigned queue)
{
    char threads[16];

    *pool = (struct worker_pool){.loop = loop, .jobs_max = workers + queue};
    snprintf(threads, sizeof threads, "%u", workers);
    setenv("UV_THREADPOOL_SIZE", threads, 1);
    uv_queue_work(loop, &pool->first, do_nothing, NULL);
}

static void job_run(uv_work_t *work)
{
    struct worker_job *job = work->data;

    metric_add(METRIC_jobs_waiting, -1);
    metric_add(METRIC_jobs_running, 1);
    job->run(job);
    metric_add(METRIC_jobs_running, -1);
    metric_add(METRIC_jobs_finished, 1);
}

static void job_done(uv_work_t *work, int status)
{
    struct worker_job *job = work->data;

    assert(status == 0); /* nothing is ever cancelled */
    job->pool->jobs--;
    job->done(job);
}

bool worker_submit(struct worker_pool *pool, struct worker_job *job)
{
    job->pool = pool;
    job->work.data = job;
    if (pool->jobs >= pool->jobs_max) {
        metric_add(METRIC_jobs_refused, 1);
        return false;
    }
    pool->jobs++;
    metric_add(METRIC_jobs_waiting, 1);
    int status = uv_queue_work(pool->loop, &job->work, job_run, job_done);
    assert(status == 0); /* it fails for a missing callback only */
    return true;
}
