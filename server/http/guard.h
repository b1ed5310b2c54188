// SPDX-License-Identifier: Apache-2.0
/*
 * guard.h: what libmicrohttpd lets through and a strict server must not. Reads the head of a
 * request in the first handler call and refuses what could be understood in two ways (RFC 9110,
 * 9112): repeated or malformed framing fields, Host, field names and values, target bytes, sizes.
 * A refused request is answered at once and its connection closed.
 */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define HEAD_FIELDS_MAX  100
#define HEAD_BYTES_MAX   (16 * 1024)
#define TARGET_BYTES_MAX (8 * 1024)

struct head_field {
    const char *name, *value; /* NUL-terminated where libmicrohttpd left them */
    size_t name_len, value_len;
};

struct head {
    const char *method, *version; /* in libmicrohttpd's buffer */
    const char *url;              /* same buffer; cut at '?' */
    const char *target;           /* our copy of the whole target */
    size_t bytes;                 /* of the head, from the method to the empty line; 0: unknown */
    size_t fields_n;              /* may exceed HEAD_FIELDS_MAX: the rest is only counted */
    struct head_field fields[HEAD_FIELDS_MAX];
};

/* How the body is delimited, and what it must be decoded from. */
struct framing {
    bool chunked;
    bool gzip;     /* Content-Encoding */
    size_t length; /* Content-Length; 0 without */
};

/* Of a chunk line: size, extensions, line end. */
#define CHUNK_LINE_MAX 256

struct MHD_Connection;

/* Fills the fields and the size of a head whose texts are already set. */
void head_read(struct head *head, struct MHD_Connection *connection);

/* The first fault goes into `err`; sets `framing` when there is none. */
bool guard_check(const struct head *head, struct framing *framing, struct err *err);

/* The same for a head that came over no connection: it has no host, and nothing delimits a body. */
bool guard_check_unframed(const struct head *head, struct framing *framing, struct err *err);

/* Whether the texts of a head lie in the buffer exactly as a head without folded lines, zero bytes,
 * bare line feeds and surplus blanks leaves them. Only libmicrohttpd before 1.0 needs this. */
bool head_in_place(const struct head *head);

/* Judges the chunk line right before `data`, which libmicrohttpd has taken from a buffer that
 * begins at `start`; a size beyond `room` bytes is ERR_body_too_large. Without a line there (the
 * buffer begins with the data) it has been taken before, unseen. */
bool guard_check_chunk(const char *start, const char *data, size_t room, struct err *err);

#endif
