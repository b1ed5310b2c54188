// SPDX-License-Identifier: Apache-2.0
/*
 * request.h: one HTTP request from its head to its answer, as handlers see it. The http layer reads
 * the head and the body, decodes the target, matches the route, runs the handler's steps where they
 * belong and sends the response; it knows nothing of encodings. A request without a network
 * (local.h) looks the same to them.
 *
 * Life of a request: quick() on the loop thread once the body is complete; if it returns STEP_WORK
 * the connection is suspended and work() runs on a pool thread, which then owns the request; back
 * on the loop thread settle() runs (if any, and if work() was done), then hooks->finish(), then the
 * answer is sent, with Request-Id on errors and Retry-After from `err`. A response may be a stream,
 * whose blocks are then made on pool threads while it is sent. The request is freed when
 * libmicrohttpd is done with it, and no block of it is being made. A step that returns STEP_FAILED
 * has added to `err`; hooks->finish() makes the problem document.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "blob.h"
#include "buf.h"
#include "err.h"

#define REQUEST_ARGS_MAX    128 /* query parameters */
#define REQUEST_SPANS_MAX   4   /* pieces of memory behind a body */
#define REQUEST_HEADERS_MAX 24  /* response fields a handler can add */

enum method { /* bits, for route.methods */
              METHOD_GET = 1,
              METHOD_HEAD = 2,
              METHOD_POST = 4,
              METHOD_OPTIONS = 8,
              METHOD_OTHER = 16,
};

enum step {
    STEP_DONE,
    STEP_WORK,   /* of quick(): to be done by work() */
    STEP_SPREAD, /* of work(): make the blocks of response.stream, which all workers do together,
                    append them to response.body, and call work() again */
    STEP_FAILED
};

struct request;

/* One row of the route table. */
struct route {
    unsigned methods; /* METHOD_GET (HEAD comes with it) | METHOD_POST */
    const char *path; /* "/v1/table"; segments may be "{name}" */
    bool formats;     /* a suffix .json, .csv, ... is allowed */
    enum step (*quick)(struct request *request);
    enum step (*work)(struct request *request);   /* NULL if quick never asks for it */
    enum step (*settle)(struct request *request); /* NULL */
    const void *endpoint;                         /* the api layer's description; opaque here */
};

struct query_arg {
    const char *name, *value; /* decoded once, strictly; UTF-8, no zero byte; value "" without = */
};

struct header {
    const char *name, *value;
};

/* One of the blocks a stream consists of. */
struct stream_block {
    size_t index;
    struct buf out;   /* where its bytes go; takes no more than the stream's block_bytes */
    void *scratch;    /* scratch_bytes, 64-byte aligned; may hold anything */
    const char *data; /* its bytes where they lie already, if make() sets it, instead of `out` */
    size_t len;       /* of data */
};

#define STREAM_LEN_UNKNOWN UINT64_MAX

/* An answer made block by block: while it is sent, since it is longer than should be held at once,
 * or before (STEP_SPREAD), since several workers are faster than one. */
struct stream {
    uint64_t len; /* of all blocks; STREAM_LEN_UNKNOWN: sent in chunks */
    size_t blocks_n;
    size_t block_bytes, scratch_bytes; /* most that one block needs */
    bool last_alone;                   /* the last block is begun when all others have been made */
    /* Makes one block: on a pool thread, several blocks of a request at a time, so that the request
     * is only read. False cuts the answer off: past the deadline, or when `out` has failed. */
    bool (*make)(const struct request *request, struct stream_block *block);
};

/* Memory that lives as long as the request. */
struct span {
    const void *data;
    size_t len;
};

struct response {
    int status;                  /* 200 unless set; problems set theirs */
    const char *content_type;    /* static or arena */
    struct buf body;             /* the answer's bytes, unless one of these is set */
    struct blob *blob;           /* shared bytes; released with the request */
    const struct stream *stream; /* arena */
    bool complete;               /* the fields, too: nothing is to be added */
    bool lasting;                /* whoever sends the same head again gets the same answer */
    size_t spans_n;              /* what follows `body`, sent from where it is */
    struct span spans[REQUEST_SPANS_MAX];
    size_t headers_n;
    struct header headers[REQUEST_HEADERS_MAX];
};

struct request {
    void *app;
    const struct route *route; /* NULL when none matched */
    enum method method;
    const char *target;   /* as received, for `instance` and the log */
    const char *path;     /* decoded, without suffix */
    const char *suffix;   /* "csv", or NULL */
    const char *path_arg; /* what the last {name} stands for, or NULL */
    const char *query;    /* raw text after '?', or "" */
    struct query_arg *args;
    size_t args_n;
    const char *body; /* 64-byte aligned, and the handler's to change; NULL without */
    size_t body_len;
    void (*body_free)(struct request *request); /* private to http/ */
    struct arena arena;
    struct response response;
    char id[65];   /* Request-Id: the client's (checked) or 32 hex digits of our own */
    bool id_given; /* the client sent a Request-Id or traceparent */
    uint64_t start_ns, parse_ns, compute_ns, encode_ns; /* for Server-Timing, set by handlers */
    void *state;                                        /* the handler's */
    void (*state_free)(struct request *request);        /* on the loop thread, at the end; NULL */

    /* For request_header() and request_expired(). */
    struct header *fields; /* of the head, in the arena */
    size_t fields_n;
    _Atomic uint64_t deadline_ns; /* of clock_ns() */
    const atomic_bool *hurry;     /* set: every request counts as expired; may be NULL */

    struct err err; /* last, for what is last in it */
};

/* Value of a request header field, or NULL. Any step. */
const char *request_header(const struct request *request, const char *name);
/* Whether the deadline has passed: long loops ask between slabs and then fail with ERR_deadline.
 * While an answer is streamed, each of its blocks has the whole time again. */
bool request_expired(const struct request *request);
/* Gives the body's memory back: a handler has read it and needs room for its answer. Any step. */
void request_drop_body(struct request *request);
/* Adds a response field; both strings live as long as the request (static or arena). */
void response_header(struct request *request, const char *name, const char *value);
/* Value of a response field that has been added, or NULL. */
const char *response_find(const struct request *request, const char *name);
/* Bytes of an answer that is no stream. */
size_t response_len(const struct response *response);
uint64_t clock_ns(void); /* monotonic */

#endif
