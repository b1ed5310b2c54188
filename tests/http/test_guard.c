// SPDX-License-Identifier: Apache-2.0
/*
 * test_guard.c: heads laid out as libmicrohttpd leaves them in its buffer, judged by the guard.
 * What libmicrohttpd itself makes of hostile bytes is tested by test_request.c.
 */
#include <criterion/criterion.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "guard.h"

struct laid_out {
    char buffer[32768], target[16384];
    struct head head;
};

/* Lays a head out: lines ended by CRLF in `text`, the line ends and the blank, colon and '?' that
 * separate things overwritten with NUL. */
static void lay_out(struct laid_out *out, const char *text)
{
    struct head *head = &out->head;
    size_t size = strlen(text);

    memset(head, 0, sizeof *head);
    memcpy(out->buffer, text, size + 1);
    char *blank = strchr(out->buffer, ' '), *last = strchr(blank + 1, ' ');
    char *end = strstr(out->buffer, "\r\n");
    *blank = *last = end[0] = end[1] = '\0';
    memcpy(out->target, blank + 1, strlen(blank + 1) + 1);
    head->method = out->buffer;
    head->url = blank + 1;
    head->target = out->target;
    head->version = last + 1;
    head->bytes = size;
    for (char *line = end + 2; strncmp(line, "\r\n", 2) != 0; line = end + 2) {
        end = strstr(line, "\r\n");
        end[0] = end[1] = '\0';
        char *colon = strchr(line, ':');
        char *value = colon + 1 + strspn(colon + 1, " \t");
        if (head->fields_n < HEAD_FIELDS_MAX)
            head->fields[head->fields_n] =
                (struct head_field){line, value, (size_t)(colon - line), strlen(value)};
        head->fields_n++;
        *colon = '\0';
    }
}

#define GET  "GET / HTTP/1.1\r\n"
#define POST "POST / HTTP/1.1\r\n"
#define HOST "Host: h\r\n"

static const struct {
    const char *head;
    const char *verdict; /* slug of the problem, or how the body is delimited */
} cases[] = {
    {GET HOST "\r\n", "length 0"},
    {GET "Host: \t h.example:8080 \t\r\n\r\n", "length 0"},
    {GET "Host: [::1]:80\r\n\r\n", "length 0"},
    {GET "Host: 127.0.0.1:\r\n\r\n", "length 0"},
    {GET "Host: a_b-c.d~e\r\n\r\n", "length 0"},
    {GET HOST "!#$%&'*+-.^_`|~09azAZ: v\r\nX-Empty:\r\nX-Latin: \xc3\xa9\xff\r\n\r\n", "length 0"},
    {"GET / HTTP/1.0\r\n\r\n", "length 0"},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "length 0"},
    {POST HOST "Content-Length: 12\r\n\r\n", "length 12"},
    {POST HOST "content-length:\t 0012 \t\r\n\r\n", "length 12"},
    {POST HOST "Content-Length: 0\r\n\r\n", "length 0"},
    {POST HOST "tRANSFER-eNCODING: ChUnKeD\r\n\r\n", "chunked"},
    {POST HOST "Content-Encoding: identity\r\nContent-Type: a/b\r\n\r\n", "length 0"},
    {POST HOST "Content-Encoding: gzip\r\n\r\n", "length 0"},
    {POST HOST "Content-Encoding: X-GZIP\r\n\r\n", "length 0"},
    /* Host */
    {GET "\r\n", "bad-request"},
    {GET "X: y\r\n\r\n", "bad-request"},
    {GET HOST HOST "\r\n", "bad-request"},
    {"GET / HTTP/1.0\r\n" HOST HOST "\r\n", "bad-request"},
    {GET "Host:\r\n\r\n", "bad-request"},
    {GET "Host: a b\r\n\r\n", "bad-request"},
    {GET "Host: a/b\r\n\r\n", "bad-request"},
    {GET "Host: u@a\r\n\r\n", "bad-request"},
    {GET "Host: a,b\r\n\r\n", "bad-request"},
    {GET "Host: <a>\r\n\r\n", "bad-request"},
    {GET "Host: a:8x\r\n\r\n", "bad-request"},
    {GET "Host: a:65536\r\n\r\n", "bad-request"},
    {GET "Host: a:80:80\r\n\r\n", "bad-request"},
    {GET "Host: :80\r\n\r\n", "bad-request"},
    {GET "Host: [::1\r\n\r\n", "bad-request"},
    {GET "Host: []\r\n\r\n", "bad-request"},
    {GET "Host: [::1]x\r\n\r\n", "bad-request"},
    /* request line */
    {"GE(T / HTTP/1.1\r\n" HOST "\r\n", "bad-request"},
    {"GET * HTTP/1.1\r\n" HOST "\r\n", "bad-request"},
    {"GET /a#b HTTP/1.1\r\n" HOST "\r\n", "bad-request"},
    {"GET /\x01 HTTP/1.1\r\n" HOST "\r\n", "bad-request"},
    {"GET /\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n", "bad-request"},
    {"GET /\x7f HTTP/1.1\r\n" HOST "\r\n", "bad-request"},
    /* fields */
    {GET HOST "X : y\r\n\r\n", "bad-request"},
    {GET HOST "X\t: y\r\n\r\n", "bad-request"},
    {GET HOST " X: y\r\n\r\n", "bad-request"},
    {GET HOST ": y\r\n\r\n", "bad-request"},
    {GET HOST "X[a: y\r\n\r\n", "bad-request"},
    {GET HOST "X\xc3\xa9: y\r\n\r\n", "bad-request"},
    {GET HOST "X: a\rb\r\n\r\n", "bad-request"},
    {GET HOST "X: a\x07\r\n\r\n", "bad-request"},
    {GET HOST "X: a\x7f\r\n\r\n", "bad-request"},
    /* framing */
    {POST HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length: +5\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length: 5, 5\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length: 5a\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length: -0\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length:\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length: 1 1\r\n\r\n", "bad-request"},
    {POST HOST "Content-Length: 18446744073709551616\r\n\r\n", "body-too-large"},
    {POST HOST "Content-Length: 99999999999999999999\r\n\r\n", "body-too-large"},
    {POST HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "bad-request"},
    {POST HOST "Transfer-Encoding: chunked \r\n\r\n", "not-implemented"}, /* 0.9 does not see it */
    {POST HOST "Transfer-Encoding: xchunked\r\n\r\n", "not-implemented"},
    {POST HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", "not-implemented"},
    {POST HOST "Transfer-Encoding:\r\n\r\n", "not-implemented"},
    {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "bad-request"},
    {POST HOST "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\n", "bad-request"},
    {POST HOST "Content-Encoding: br\r\n\r\n", "unsupported-media-type"},
    {POST HOST "Content-Encoding: gzip, gzip\r\n\r\n", "unsupported-media-type"},
    {POST HOST "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n",
     "unsupported-media-type"},
    {POST HOST "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n\r\n",
     "unsupported-media-type"},
};

static void judge(const struct head *head, char *verdict, size_t size)
{
    struct err err = {0};
    struct framing framing;

    if (!guard_check(head, &framing, &err))
        snprintf(verdict, size, "%s", err_slug(err.item[0].code));
    else if (framing.chunked)
        snprintf(verdict, size, "chunked");
    else
        snprintf(verdict, size, "length %zu", framing.length);
}

Test(guard, judges_heads)
{
    static struct laid_out out;
    char verdict[64];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lay_out(&out, cases[i].head);
        cr_assert(head_in_place(&out.head), "%s", cases[i].head);
        judge(&out.head, verdict, sizeof verdict);
        cr_expect_str_eq(verdict, cases[i].verdict, "%s", cases[i].head);
    }
}

/* The verdict on a head that is at its limit (over 0) or one past it (over 1). */
static void expect_limit(const char *text, int over, const char *problem)
{
    static struct laid_out out;
    char verdict[64];

    lay_out(&out, text);
    judge(&out.head, verdict, sizeof verdict);
    cr_expect_str_eq(verdict, over ? problem : "length 0");
}

Test(guard, sizes_are_limited)
{
    const int rest = (int)strlen(GET HOST "X: \r\n\r\n") - 1;

    for (int over = 0; over <= 1; over++) {
        struct buf target, many, large;
        buf_init(&target, 32768);
        buf_printf(&target, "GET /%0*d HTTP/1.1\r\n" HOST "\r\n", TARGET_BYTES_MAX - 1 + over, 0);
        buf_putc(&target, '\0');
        expect_limit(target.data, over, "uri-too-long");

        buf_init(&many, 32768);
        buf_puts(&many, GET HOST);
        for (int i = 1; i < HEAD_FIELDS_MAX + over; i++)
            buf_puts(&many, "X: y\r\n");
        buf_append(&many, "\r\n", 3);
        expect_limit(many.data, over, "headers-too-large");

        buf_init(&large, 32768);
        buf_printf(&large, GET HOST "X: %0*d\r\n\r\n", HEAD_BYTES_MAX - rest + over, 0);
        buf_putc(&large, '\0');
        expect_limit(large.data, over, "headers-too-large");
        buf_release(&target);
        buf_release(&many);
        buf_release(&large);
    }
}

Test(guard, texts_out_of_place_are_noticed)
{
    static struct laid_out out;
    static const char text[] = "GET /a?b HTTP/1.1\r\n" HOST "X: y\r\n\r\n";

    for (int what = 0; what < 6; what++) {
        lay_out(&out, text);
        struct head *head = &out.head;
        switch (what) {
        case 0:
            head->url++; /* two blanks before the target */
            break;
        case 1:
            head->version--; /* a blank after it */
            break;
        case 2:
            head->fields[0].name++; /* bare line feed */
            break;
        case 3:
            head->fields[0].value_len--; /* zero byte in a value */
            break;
        case 4:
            head->fields[1].name = "X"; /* a folded line, copied elsewhere */
            break;
        case 5:
            head->bytes++; /* a line that started with a zero byte */
            break;
        }
        cr_expect_not(head_in_place(head), "%d", what);
        if (MHD_VERSION < 0x01000000) {
            char verdict[64];
            judge(head, verdict, sizeof verdict);
            cr_expect_str_eq(verdict, "bad-request", "%d", what);
        }
    }
}

/* ---- Chunk lines ---------------------------------------------------------------------------- */

static const struct {
    const char *line;
    size_t len;
    const char *verdict; /* slug of the problem, or NULL */
} chunk_lines[] = {
#define CHUNK_LINE(line, verdict)                                                                  \
    {                                                                                              \
        line, sizeof line - 1, verdict                                                             \
    }
    CHUNK_LINE("", NULL), /* taken before */
    CHUNK_LINE("1\r\n", NULL),
    CHUNK_LINE("fF\r\n", NULL),
    CHUNK_LINE("0000000000000000000001\r\n", NULL),
    CHUNK_LINE("1;a=\"b c\";d\r\n", NULL),
    CHUNK_LINE("1 ;a\t=b\r\n", NULL),
    CHUNK_LINE("\r\n1\r\n", NULL),
    CHUNK_LINE("1\r\nx\r\n1\r\n", NULL),
    CHUNK_LINE("1\r\n\n\r\n1\r\n", NULL),
    CHUNK_LINE("3e8\r\n", NULL),
    CHUNK_LINE("3e9\r\n", "body-too-large"),
    CHUNK_LINE("7fffffffffffffff\r\n", "body-too-large"),
    CHUNK_LINE("ffffffffffffffff\r\n", "body-too-large"),
    CHUNK_LINE("10000000000000001\r\n", "body-too-large"),
    CHUNK_LINE("1\n", "bad-request"),
    CHUNK_LINE("\n", "bad-request"),
    CHUNK_LINE("1\r\nx\r\n1\n", "bad-request"),
    CHUNK_LINE("1;a\rb\r\n", "bad-request"),
    CHUNK_LINE("1;a\0b\r\n", "bad-request"),
    CHUNK_LINE("1;a\x7f\r\n", "bad-request"),
};

static void expect_chunk(const char *line, size_t len, const char *verdict)
{
    struct err err = {0};
    bool good = guard_check_chunk(line, line + len, 1000, &err);

    cr_expect_eq(good, verdict == NULL, "%s", line);
    cr_expect_eq(err.n, verdict ? 1 : 0, "%s", line);
    if (verdict && err.n)
        cr_expect_str_eq(err_slug(err.item[0].code), verdict, "%s", line);
}

Test(guard, chunk_lines)
{
    char line[2 * CHUNK_LINE_MAX];

    for (size_t i = 0; i < sizeof chunk_lines / sizeof chunk_lines[0]; i++)
        expect_chunk(chunk_lines[i].line, chunk_lines[i].len, chunk_lines[i].verdict);
    memset(line, '0', sizeof line);
    for (size_t len = CHUNK_LINE_MAX - 1; len <= CHUNK_LINE_MAX + 1; len++) {
        memcpy(line + len - 2, "\r\n", 2);
        expect_chunk(line, len, len <= CHUNK_LINE_MAX ? NULL : "bad-request");
        line[len - 2] = line[len - 1] = '0';
    }
}
