// SPDX-License-Identifier: Apache-2.0
/*
 * exchange.h: what the http layer keeps of a request besides what handlers see, and of the service.
 * Private to http/. Everything is the loop thread's, but for the request while a job runs it.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "budget.h"
#include "connection.h"
#include "guard.h"
#include "http.h"
#include "linger.h"
#include "repeat.h"
#include "worker.h"

/* Exchanges that wait for the next request: with their memory they took 1 us to make and free. */
#define EXCHANGES_SPARE_MAX 32u
/* Memory of an exchange that its request's arena begins with. */
#define EXCHANGE_ARENA_BYTES ((size_t)16 << 10)

struct http_service {
    struct http_options options;
    struct http_hooks hooks;
    uv_loop_t loop;
    uv_poll_t poll;   /* libmicrohttpd's epoll descriptor */
    uv_timer_t timer; /* libmicrohttpd's time-outs */
    uv_idle_t idle;   /* libmicrohttpd has more to do at once */
    uv_timer_t drain_timer, sweep_timer, memory_timer;
    uv_signal_t signals[2];
    struct MHD_Daemon *daemon;
    struct worker_pool pool;
    struct linger_list lingering;
    unsigned turns;             /* since libmicrohttpd last had something to say of a request */
    bool closed;                /* a connection has, since libmicrohttpd last ran */
    struct connection *clients; /* list of all connections */
    unsigned connections, exchanges; /* open */
    struct http_exchange *spare;     /* list of exchanges to be used again */
    unsigned spare_n;
    struct repeat_table repeats;
    unsigned surplus_max; /* connections let in to be told of the limit */
    struct budget memory; /* of all requests */
    int listen_fd;        /* -1 once quiesced */
    bool draining;
    uint64_t drain_ns; /* when draining began */
    atomic_bool hurry; /* the grace time is over: every job counts as expired */
    char url[80];
};

enum phase {
    PHASE_HEAD,     /* only the target is known */
    PHASE_BODY,     /* head accepted, body being read */
    PHASE_DROP,     /* body too large: read on without keeping it, then answer */
    PHASE_WORK,     /* suspended, a job has the request */
    PHASE_WORKED,   /* resumed, the answer is to be made */
    PHASE_ANSWERED, /* the answer is libmicrohttpd's */
};

/* Texts of the head in libmicrohttpd's buffer. */
struct exchange_texts {
    const char *method, *version, *url;
};

struct http_exchange {
    struct http_service *service;
    struct MHD_Connection *connection;
    struct connection *client;
    struct worker_job job;
    enum phase phase;
    enum step step; /* of the last handler step */
    struct framing framing;
    struct exchange_texts texts;
    const char *body_start; /* in libmicrohttpd's buffer: right behind the head */
    struct repeat *repeat;  /* the answer, if the head has had it before */
    char *body;             /* request.body, while it grows */
    size_t body_capacity, dropped;
    size_t body_received;             /* as it came, before decoding */
    size_t answer_bytes, answer_held; /* held: counted as memory */
    struct stream_run *stream;        /* the answer is made while it is sent; NULL */
    bool closing;                     /* the answer says so: linger, then close */
    struct http_exchange *next_spare; /* what is above is cleared for each request */
    struct request request;
    _Alignas(64) char arena[EXCHANGE_ARENA_BYTES];
};

/* request.c: libmicrohttpd's callbacks; cls is the service. */
void *exchange_begin(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result exchange_step(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_len, void **context);
void exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode why);
/* Frees a request that is over, and uncounts it; exchanges_free(): those that are spare. */
void exchange_free(struct http_exchange *exchange);
void exchanges_free(struct http_service *service);
/* libmicrohttpd 1.0 does not always tell the end of a request when it ends the connection. */
void exchange_orphaned(struct http_exchange *exchange);

/* loop.c: lets libmicrohttpd do what it can and sets the timer for the next time. */
void service_drive(struct http_service *service);

#endif
