// SPDX-License-Identifier: Apache-2.0
/*
 * worker.h: jobs on libuv's thread pool with a cap on how many are running or waiting. Called on
 * the loop thread only; just run() is on a pool thread.
 */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H

#include <stdbool.h>
#include <uv.h>

struct worker_pool {
    uv_loop_t *loop;
    unsigned workers;  /* threads */
    unsigned jobs;     /* running or waiting, without parts */
    unsigned jobs_max; /* workers + length of the queue */
    unsigned parts;    /* running or waiting */
    uv_work_t first;   /* does nothing, but starts the threads */
};

struct worker_job {
    void (*run)(struct worker_job *job);  /* pool thread */
    void (*done)(struct worker_job *job); /* loop thread, after run() */
    struct worker_pool *pool;             /* set by worker_submit, as is what follows */
    bool part;
    uv_work_t work;
};

/* Sets the size of libuv's pool and starts its threads (once per process), for libuv ends the
 * process when it cannot; the pool must stay where it is until the loop has run. */
void worker_pool_init(struct worker_pool *pool, uv_loop_t *loop, unsigned workers, unsigned queue);
/* False when the pool is at its cap; otherwise the job is the pool's until done(). */
bool worker_submit(struct worker_pool *pool, struct worker_job *job);
/* The same for a part of what was let in before, which is never refused and takes nobody's place.
 */
void worker_submit_part(struct worker_pool *pool, struct worker_job *job);

#endif
