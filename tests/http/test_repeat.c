// SPDX-License-Identifier: Apache-2.0
/* test_repeat.c: which heads are one that has been answered, and how much is kept for them. */
#include <criterion/criterion.h>

#include "http/toy.h"
#include "pace.h"
#include "repeat.h"
#include "wire.h"

#define HOST "Host: h\r\n"

/* ---- The table ----------------------------------------------------------------------------- */

/* A head in memory as libmicrohttpd leaves it: method, url, version, then fields. */
static void head_make(struct head *head, const char *target)
{
    static char text[8192];
    int len = snprintf(text, sizeof text, "GET%c%s%cHTTP/1.1\r\nHost%c h\r\n\r\n", 0, target, 0, 0);

    cr_assert(len > 0 && (size_t)len < sizeof text);
    head->method = text;
    head->url = head->target = text + 4;
    head->version = head->url + strlen(target) + 1;
    head->bytes = (size_t)len;
    head->fields_n = 1;
    const char *name = head->version + strlen("HTTP/1.1\r\n");
    head->fields[0] = (struct head_field){name, name + 6, 4, 1};
}

static struct MHD_Response *response_make(void)
{
    return MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
}

static bool keeps(struct repeat_table *table, const char *target, size_t bytes)
{
    struct repeat_key key;
    struct head head;
    struct MHD_Response *answer = response_make();

    head_make(&head, target);
    repeat_key_make(&key, &head);
    bool kept = repeat_keep(table, &key, answer, bytes, false);
    if (!kept)
        MHD_destroy_response(answer);
    return kept;
}

static bool finds(struct repeat_table *table, const struct head *head)
{
    struct repeat_key key;

    repeat_key_make(&key, head);
    struct repeat *found = repeat_find(table, &key);
    repeat_release(found);
    return found;
}

Test(repeat, table_finds_what_is_the_same_in_every_place)
{
    struct repeat_table table = {.bytes_max = 10000};
    struct head head, other;

    cr_assert(keeps(&table, "/a?b=c", 100));
    head_make(&head, "/a?b=c");
    cr_expect(finds(&table, &head));
    other = head;
    other.bytes++;
    cr_expect_not(finds(&table, &other), "the head is longer");
    other = head;
    other.fields[0].value--;
    cr_expect_not(finds(&table, &other), "the value begins elsewhere");
    other = head;
    other.fields[0].name_len--;
    cr_expect_not(finds(&table, &other));
    other = head;
    other.url++;
    cr_expect_not(finds(&table, &other));
    other = head;
    other.version = "HTTP/1.0";
    cr_expect_not(finds(&table, &other));
    other = head;
    other.fields_n = 0;
    cr_expect_not(finds(&table, &other));
    other = head;
    other.target = "/a?b=d";
    cr_expect_not(finds(&table, &other));
    cr_expect(finds(&table, &head));
    repeat_table_clear(&table);
    cr_expect_not(finds(&table, &head));
    cr_expect_eq(table.bytes, 0);
}

Test(repeat, table_holds_its_bytes)
{
    struct repeat_table table = {.bytes_max = 10000};
    struct head head;
    char target[REPEAT_KEY_BYTES_MAX];

    for (int i = 0; i < 1000; i++) {
        snprintf(target, sizeof target, "/%d", i);
        cr_assert(keeps(&table, target, (size_t)i * 9));
        cr_assert_leq(table.bytes, table.bytes_max);
        head_make(&head, target);
        cr_assert(finds(&table, &head), "the newest is there: %d", i);
    }
    cr_expect_not(keeps(&table, "/large", 10000));
    memset(target, 'a', sizeof target - 1);
    target[sizeof target - 1] = '\0';
    cr_expect_not(keeps(&table, target, 1), "a key too long");
    repeat_table_clear(&table);
    cr_expect_eq(table.bytes, 0);
}

Test(repeat, answer_outlives_its_place)
{
    struct repeat_table table = {.bytes_max = 10000};
    struct repeat_key key;
    struct head head;

    cr_assert(keeps(&table, "/a", 1));
    head_make(&head, "/a");
    repeat_key_make(&key, &head);
    struct repeat *used = repeat_find(&table, &key);
    repeat_table_clear(&table);
    cr_expect_eq(used->answer_bytes, 1);
    repeat_release(used);
}

/* ---- The service --------------------------------------------------------------------------- */

static struct toy toy;

static void start(void)
{
    toy = toy_start(toy_options());
    cr_assert_gt(toy.port, 0);
}

static void stop(void)
{
    cr_expect_eq(toy_stop(&toy), 0);
}

TestSuite(repeat_service, .init = start, .fini = stop, .timeout = 60);

/* The number that the toy says, 0 if it says none; negative: the status of a refusal. */
static int ask(struct wire *wire, const char *request)
{
    wire_puts(wire, request);
    struct wire_answer answer = wire_read(wire, strncmp(request, "HEAD", 4) == 0);
    int said = answer.status == 200 && answer.body_len ? atoi(answer.body) : -answer.status;
    wire_answer_free(&answer);
    return said;
}

Test(repeat_service, same_head_gets_the_same_answer)
{
    static const char *const others[] = {
        "GET /lasting?a=c HTTP/1.1\r\n" HOST "\r\n",
        "GET /lasting/name HTTP/1.1\r\n" HOST "\r\n",
        "GET /lasting?a=b HTTP/1.1\r\nHost: g\r\n\r\n",
        "GET /lasting?a=b HTTP/1.1\r\n" HOST "Accept: text/csv\r\n\r\n",
        "GET /lasting?a=b HTTP/1.1\r\n" HOST "Accept:  text/csv\r\n\r\n",
        "GET /lasting?a=b HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n",
    };
    struct wire wire = wire_open(toy.port), second = wire_open(toy.port);

    cr_expect_eq(ask(&wire, "GET /lasting?a=b HTTP/1.1\r\n" HOST "\r\n"), 1);
    cr_expect_eq(ask(&wire, "GET /lasting?a=b HTTP/1.1\r\n" HOST "\r\n"), 1);
    cr_expect_eq(ask(&second, "GET /lasting?a=b HTTP/1.1\r\n" HOST "\r\n"), 1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int said = ask(&wire, others[i]);
        cr_expect_eq(said, 2 + (int)i, "%s", others[i]);
        cr_expect_eq(ask(&wire, others[i]), said);
    }
    cr_expect_eq(ask(&wire, "GET /lasting?a=b HTTP/1.1\r\n" HOST "\r\n"), 1);
    wire_close(&wire);
    wire_close(&second);
}

Test(repeat_service, what_is_not_of_the_head_alone_is_made_anew)
{
    static const char *const never[] = {
        "HEAD /lasting HTTP/1.1\r\n" HOST "\r\n",
        "GET /lasting HTTP/1.1\r\n" HOST "Request-Id: x\r\n\r\n",
        "GET /lasting HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nab",
        "GET /lasting HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "GET /nowhere HTTP/1.1\r\n" HOST "\r\n",
    };
    struct wire wire = wire_open(toy.port);

    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        for (int round = 0; round < 2; round++)
            ask(&wire, never[i]);
    cr_expect_eq(ask(&wire, "GET /lasting HTTP/1.1\r\n" HOST "\r\n"), 2 * 4 + 1);
    wire_close(&wire);
}

/* What the guard refuses stays refused beside an answer that is there. */
Test(repeat_service, refused_heads_are_not_taken_for_others)
{
#define ASKED "GET /lasting HTTP/1.1\r\n" HOST
    static const struct {
        const char *bytes;
        size_t len;
    } refused[] = {
#define REFUSED(bytes) {bytes, sizeof bytes - 1}
        REFUSED(ASKED HOST "\r\n"),
        REFUSED(ASKED "X : y\r\n\r\n"),
        REFUSED("GET /lasting HTTP/1.1\r\nHost:\0h\r\n\r\n"),
        REFUSED("GET /lasting HTTP/1.1\r\nHost: h\r\n \r\n\r\n"),
        REFUSED("GET /lasting HTTP/1.1\nHost: h\r\n\r\n"),
        REFUSED("GET  /lasting HTTP/1.1\r\nHost: h\r\n\r\n"),
        REFUSED("GET /lasting HTTP/1.1 \r\nHost: h\r\n\r\n"),
    };
    struct wire wire = wire_open(toy.port);

    for (int round = 0; round < 3; round++) {
        cr_expect_eq(ask(&wire, ASKED "\r\n"), 1);
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
            cr_expect_eq(wire_status(toy.port, refused[i].bytes, refused[i].len), 400, "%zu", i);
    }
    wire_close(&wire);
}

/* Connections end as they do otherwise: after so many requests, and when the service does. */
Test(repeat_service, last_answer_of_a_connection_says_so)
{
    struct wire wire = wire_open(toy.port);

    for (unsigned i = 1; i <= CONNECTION_REQUESTS_MAX; i++) {
        wire_puts(&wire, ASKED "\r\n");
        struct wire_answer answer = wire_read(&wire, false);
        cr_assert_eq(answer.status, 200);
        cr_assert_eq(wire_field_is(&answer, "Connection", "close"), i == CONNECTION_REQUESTS_MAX);
        wire_answer_free(&answer);
    }
    cr_expect(wire_ends(&wire, WIRE_WAIT_MS));
    wire_close(&wire);
}
