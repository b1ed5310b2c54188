// SPDX-License-Identifier: Apache-2.0
/*
 * worker.h: jobs on a pool of threads, with a cap on how many are running or waiting. Called on the
 * loop thread only; just run() is on a pool thread.
 *
 * The loop thread takes no lock that a worker may hold, and waits for none: workers have a lower
 * priority, so that it would wait for as long as others keep them from running (worker.c).
 */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

struct worker_job;

struct worker_pool {
    uv_loop_t *loop;
    unsigned workers;  /* threads */
    unsigned jobs;     /* running or waiting, without parts */
    unsigned jobs_max; /* workers + length of the queue */
    unsigned parts;    /* running or waiting */

    /* Private to worker.c. */
    _Atomic(struct worker_job *) given;    /* by the loop thread, the latest first */
    _Atomic(struct worker_job *) finished; /* by workers, the latest first */
    struct worker_job *queue;              /* the oldest first; the workers', who hold `turn` */
    uv_mutex_t turn;
    uv_sem_t waiting; /* as many as there are in `given` and `queue` */
    int wake_fd;      /* an eventfd: there is something in `finished` */
    uv_poll_t wake;
    uv_thread_t *threads;
    void (*thread_end)(void);
};

struct worker_job {
    void (*run)(struct worker_job *job);  /* pool thread */
    void (*done)(struct worker_job *job); /* loop thread, after run() */
    struct worker_pool *pool;             /* set by worker_submit, as is what follows */
    bool part;
    struct worker_job *next;
};

/* Starts the threads, each of which calls `thread_end` (unless NULL) before it ends; false when
 * there cannot be so many. The pool must stay where it is. */
bool worker_pool_init(struct worker_pool *pool, uv_loop_t *loop, unsigned workers, unsigned queue,
                      void (*thread_end)(void));
/* Ends the threads, if they have been started, when nothing is running or waiting any more; the
 * loop is to run once more after it. */
void worker_pool_end(struct worker_pool *pool);
/* False when the pool is at its cap; otherwise the job is the pool's until done(). */
bool worker_submit(struct worker_pool *pool, struct worker_job *job);
/* The same for a part of what was let in before, which is never refused and takes nobody's place.
 */
void worker_submit_part(struct worker_pool *pool, struct worker_job *job);

#endif
