// SPDX-License-Identifier: Apache-2.0
/* test_worker.c: jobs on the pool: how many, on which threads, in what order. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "metrics.h"
#include "worker.h"

#define JOBS_N 8

static atomic_int running, running_most, ran;
static int done;
static uv_thread_t loop_thread;

static void run(struct worker_job *job)
{
    uv_thread_t self = uv_thread_self();
    (void)job;

    int now = atomic_fetch_add(&running, 1) + 1, most = atomic_load(&running_most);
    while (now > most && !atomic_compare_exchange_weak(&running_most, &most, now))
        continue;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    if (!uv_thread_equal(&self, &loop_thread))
        atomic_fetch_add(&ran, 1);
    atomic_fetch_sub(&running, 1);
}

static void finish(struct worker_job *job)
{
    uv_thread_t self = uv_thread_self();
    cr_assert(uv_thread_equal(&self, &loop_thread));
    cr_assert_not_null(job->pool);
    done++;
}

/* Nothing of the pool is left in the loop. */
static void end(struct worker_pool *pool)
{
    worker_pool_end(pool);
    uv_run(pool->loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(pool->loop), 0);
}

Test(worker, runs_as_many_as_told_and_refuses_the_rest)
{
    uv_loop_t loop;
    struct worker_pool pool;
    struct worker_job jobs[JOBS_N];

    loop_thread = uv_thread_self();
    uv_loop_init(&loop);
    cr_assert(worker_pool_init(&pool, &loop, 2, 3, NULL));
    for (size_t i = 0; i < JOBS_N; i++) {
        jobs[i] = (struct worker_job){.run = run, .done = finish};
        cr_expect_eq(worker_submit(&pool, &jobs[i]), i < 5, "job %zu", i);
    }
    cr_expect_eq(pool.jobs, 5);
    cr_expect_eq(metric_get(METRIC_jobs_refused), 3);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(done, 5);
    cr_expect_eq(atomic_load(&ran), 5);
    cr_expect_leq(atomic_load(&running_most), 2);
    cr_expect_eq(pool.jobs, 0);
    cr_expect_eq(metric_get(METRIC_jobs_waiting), 0);
    cr_expect_eq(metric_get(METRIC_jobs_running), 0);
    cr_expect_eq(metric_get(METRIC_jobs_finished), 5);
    cr_expect(worker_submit(&pool, &jobs[0])); /* there is room again */
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(done, 6);
    end(&pool);
}

Test(worker, parts_are_never_refused_and_take_nobodys_place)
{
    uv_loop_t loop;
    struct worker_pool pool;
    struct worker_job jobs[JOBS_N];

    loop_thread = uv_thread_self();
    uv_loop_init(&loop);
    cr_assert(worker_pool_init(&pool, &loop, 2, 0, NULL));
    for (size_t i = 0; i < JOBS_N; i++) {
        jobs[i] = (struct worker_job){.run = run, .done = finish};
        if (i < JOBS_N - 2)
            worker_submit_part(&pool, &jobs[i]);
        else
            cr_expect(worker_submit(&pool, &jobs[i]));
    }
    cr_expect_eq(pool.jobs, 2);
    cr_expect_eq(pool.parts, JOBS_N - 2);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(done, JOBS_N);
    cr_expect_leq(atomic_load(&running_most), 2);
    cr_expect_eq(pool.jobs + pool.parts, 0);
    end(&pool);
}

static atomic_int niceness;

static void run_to_tell(struct worker_job *job)
{
    (void)job;
    atomic_store(&niceness, getpriority(PRIO_PROCESS, 0));
}

static void finish_told(struct worker_job *job)
{
    (void)job;
}

Test(worker, gives_way_to_the_loop)
{
    uv_loop_t loop;
    struct worker_pool pool;
    struct worker_job jobs[2];
    int own = getpriority(PRIO_PROCESS, 0);

    uv_loop_init(&loop);
    cr_assert(worker_pool_init(&pool, &loop, 1, 1, NULL));
    for (size_t i = 0; i < 2; i++) { /* and not once more for each job */
        jobs[i] = (struct worker_job){.run = run_to_tell, .done = finish_told};
        cr_assert(worker_submit(&pool, &jobs[i]));
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(atomic_load(&niceness), own + 10 < 19 ? own + 10 : 19);
    cr_expect_eq(getpriority(PRIO_PROCESS, 0), own);
    end(&pool);
}

/* Each job is submitted again by its own end, while others are taken and finished. */
#define ROUNDS_N 2000

static unsigned rounds[JOBS_N];
static struct worker_job round_jobs[JOBS_N];

static void run_round(struct worker_job *job)
{
    atomic_fetch_add(&ran, 1);
    (void)job;
}

static void finish_round(struct worker_job *job)
{
    if (++rounds[job - round_jobs] < ROUNDS_N)
        worker_submit_part(job->pool, job);
}

Test(worker, loses_no_job_and_runs_none_twice)
{
    uv_loop_t loop;
    struct worker_pool pool;

    uv_loop_init(&loop);
    cr_assert(worker_pool_init(&pool, &loop, 3, 0, NULL));
    for (size_t i = 0; i < JOBS_N; i++) {
        round_jobs[i] = (struct worker_job){.run = run_round, .done = finish_round};
        worker_submit_part(&pool, &round_jobs[i]);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < JOBS_N; i++)
        cr_expect_eq(rounds[i], ROUNDS_N, "%zu: %u", i, rounds[i]);
    cr_expect_eq(atomic_load(&ran), JOBS_N * ROUNDS_N);
    end(&pool);
}

static struct worker_job *order[JOBS_N];

static void run_in_order(struct worker_job *job)
{
    order[atomic_fetch_add(&ran, 1)] = job;
}

Test(worker, takes_jobs_in_their_order)
{
    uv_loop_t loop;
    struct worker_pool pool;
    struct worker_job jobs[JOBS_N];

    uv_loop_init(&loop);
    cr_assert(worker_pool_init(&pool, &loop, 1, JOBS_N, NULL));
    for (size_t i = 0; i < JOBS_N; i++) {
        jobs[i] = (struct worker_job){.run = run_in_order, .done = finish_told};
        cr_assert(worker_submit(&pool, &jobs[i]));
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < JOBS_N; i++)
        cr_expect_eq(order[i], &jobs[i], "%zu", i);
    end(&pool);
}

Test(worker, a_pool_that_did_not_start_ends)
{
    struct worker_pool pool = {.jobs = 0};
    worker_pool_end(&pool);
    cr_expect_null(pool.threads);
}
