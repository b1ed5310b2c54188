// SPDX-License-Identifier: Apache-2.0
/*
 * test_probes.c: the raw HTTP/1.1 probes of tests/data/http-probes.json (its "format" says what the
 * members mean) against the daemon, many at a time. Those that the installed libmicrohttpd alone
 * makes fail stand in a list with their reasons; the list and the run must agree.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <time.h>

#include "harness.h"
#include "wire.h"

#define PROBES  "tests/data/http-probes.json"
#define FAILING "tests/e2e/probes-" PROBES_VERSION ".txt"
#if MHD_VERSION < 0x01000000
#define PROBES_VERSION "0.9"
#else
#define PROBES_VERSION "1.0"
#endif

#define THREADS     32
#define PROBES_MAX  400
#define ANSWERS_MAX 32
#define WAIT_MS     4000
#define GRACE_MS    400 /* to look for answers too many */

TestSuite(probes, .timeout = 240);

static struct e2e_daemon served;
static json_t *probes;
static atomic_size_t next;
static char verdicts[PROBES_MAX][200]; /* "" for those that pass */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- What is sent -------------------------------------------------------------------------- */

#define BODY   "{\"spec\":\"rope\",\"x\":[[1,2]]}"
#define BODY_1 "{\"spec\":\"rope"
#define BODY_2 "\",\"x\":[[1,2]]}"

static const char *const macros[][2] = {
    {"get", "/livez"}, {"post", "/v1/apply"}, {"type", "application/json"},
    {"body", BODY},    {"len", "27"},         {"len+1", "28"},
    {"hex", "1b"},     {"HEX", "1B"},         {"b1", BODY_1},
    {"b2", BODY_2},    {"h1", "d"},           {"h2", "e"},
};

_Static_assert(sizeof BODY - 1 == 27 && sizeof BODY_1 - 1 == 13, "as the macros say");

struct bytes {
    char *data;
    size_t len, capacity;
};

static void bytes_add(struct bytes *bytes, const char *data, size_t len)
{
    while (bytes->len + len > bytes->capacity) {
        bytes->capacity = 2 * bytes->capacity + 1024;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data)
            abort();
    }
    memcpy(bytes->data + bytes->len, data, len);
    bytes->len += len;
}

/* {{name}} or {{text*count}}, without the braces. */
static void macro_add(struct bytes *bytes, const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++)
        if (strlen(macros[i][0]) == len && memcmp(text, macros[i][0], len) == 0) {
            bytes_add(bytes, macros[i][1], strlen(macros[i][1]));
            return;
        }
    size_t piece = len;
    while (piece > 0 && text[piece - 1] != '*')
        piece--;
    for (long n = strtol(text + piece, NULL, 10); piece > 0 && n > 0; n--)
        bytes_add(bytes, text, piece - 1);
}

/* The text of a probe: each of its characters is a byte, which UTF-8 has made two of some. */
static struct bytes probe_bytes(const json_t *probe)
{
    const json_t *raw = json_object_get(probe, "raw");
    const char *text = json_string_value(raw);
    size_t text_len = json_string_length(raw), len = 0;
    char *latin = malloc(text_len + 1);
    struct bytes bytes = {0};

    if (!latin)
        abort();
    for (size_t i = 0; i < text_len; i++, len++) {
        bool two = ((unsigned char)text[i] & 0xe0) == 0xc0;
        latin[len] = two ? (char)((text[i] & 3) << 6 | (text[i + 1] & 0x3f)) : text[i];
        i += two;
    }
    latin[len] = '\0';
    for (size_t i = 0; i < len;) {
        const char *end = strncmp(latin + i, "{{", 2) == 0 ? strstr(latin + i, "}}") : NULL;
        if (end) {
            macro_add(&bytes, latin + i + 2, (size_t)(end - latin) - i - 2);
            i = (size_t)(end - latin) + 2;
        } else {
            bytes_add(&bytes, latin + i++, 1);
        }
    }
    free(latin);
    return bytes;
}

static void probe_send(struct wire *wire, const json_t *probe)
{
    struct bytes bytes = probe_bytes(probe);
    size_t step = (size_t)json_integer_value(json_object_get(probe, "split"));
    long delay_ms = (long)(1000 * json_number_value(json_object_get(probe, "delay")));
    const struct timespec delay = {delay_ms / 1000, delay_ms % 1000 * 1000000};
    bool open = true;

    if (step == 0)
        open = wire_send(wire, bytes.data, bytes.len);
    for (size_t at = 0; open && step && at < bytes.len; at += step) {
        open = wire_send(wire, bytes.data + at, step < bytes.len - at ? step : bytes.len - at);
        nanosleep(&delay, NULL);
    }
    if (json_is_true(json_object_get(probe, "half_close")))
        shutdown(wire->fd, SHUT_WR);
    free(bytes.data);
}

/* ---- What comes back ----------------------------------------------------------------------- */

struct seen {
    struct wire_answer answers[ANSWERS_MAX];
    int finals[ANSWERS_MAX], interims[ANSWERS_MAX];
    size_t answers_n, finals_n, interims_n;
    bool garbage, ended;
    int64_t first_ms; /* from the end of sending to the first answer, or to the end */
};

static bool is_listed(const json_t *list, size_t index)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if ((size_t)json_integer_value(json_array_get(list, i)) == index)
            return true;
    return false;
}

static size_t finals_wanted(const json_t *probe)
{
    const json_t *expect = json_object_get(probe, "expect");
    size_t most = 0;

    for (size_t i = 0; i < json_array_size(expect); i++)
        if (json_array_size(json_array_get(expect, i)) > most)
            most = json_array_size(json_array_get(expect, i));
    return most;
}

static void probe_read(struct wire *wire, const json_t *probe, struct seen *seen)
{
    int64_t wait_ms = (int64_t)(1000 * json_number_value(json_object_get(probe, "wait")));
    int64_t limit_ms = wait_ms ? wait_ms : WAIT_MS, start = now_ms(), until = start + limit_ms;
    const json_t *heads = json_object_get(probe, "heads");
    size_t wanted = finals_wanted(probe);

    while (seen->answers_n < ANSWERS_MAX) {
        int64_t left = until > now_ms() ? until - now_ms() : 0;
        struct wire_answer answer =
            wire_read_within(wire, is_listed(heads, seen->finals_n), (int)left);
        if (seen->answers_n == 0)
            seen->first_ms = now_ms() - start;
        seen->garbage |= answer.head && answer.status == 0;
        if (answer.status == 0) {
            wire_answer_free(&answer);
            break;
        }
        seen->answers[seen->answers_n++] = answer;
        if (answer.status < 200)
            seen->interims[seen->interims_n++] = answer.status;
        else
            seen->finals[seen->finals_n++] = answer.status;
        int64_t more = now_ms() + (json_object_get(probe, "closes") ? limit_ms : GRACE_MS);
        if (seen->finals_n >= wanted && more < until)
            until = more;
    }
    seen->ended = wire_ends(wire, 0);
    seen->garbage |= wire->len > 0;
}

/* ---- What should have ---------------------------------------------------------------------- */

static bool status_is(const json_t *wanted, int status)
{
    const char *text = json_string_value(wanted);

    if (!text)
        return json_integer_value(wanted) == status;
    return strcmp(text, "any") == 0 || text[0] - '0' == status / 100;
}

static bool alternative_holds(const json_t *wanted, const struct seen *seen)
{
    const char *word = json_string_value(json_array_get(wanted, 0));

    if (word && strcmp(word, "close") == 0)
        return seen->finals_n == 0 && seen->ended;
    if (word && strcmp(word, "wait") == 0)
        return seen->finals_n == 0 && !seen->ended;
    if (word && strcmp(word, "continue") == 0)
        return seen->finals_n == 0 && seen->interims_n == 1 && seen->interims[0] == 100;
    bool holds = json_array_size(wanted) == seen->finals_n;
    for (size_t i = 0; holds && i < seen->finals_n; i++)
        holds = status_is(json_array_get(wanted, i), seen->finals[i]);
    return holds;
}

static bool value_matches(const char *pattern, const char *value, size_t len)
{
    char posix[512] = "", text[512];
    regex_t regex;

    for (size_t n = 0; *pattern && n + 6 < sizeof posix; pattern++) {
        bool digit = strncmp(pattern, "\\d", 2) == 0;
        n += (size_t)snprintf(posix + n, sizeof posix - n, "%.*s", digit ? 5 : 1,
                              digit ? "[0-9]" : pattern);
        pattern += digit;
    }
    snprintf(text, sizeof text, "%.*s", (int)len, value);
    if (regcomp(&regex, posix, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool matches = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return matches;
}

static bool field_holds(const json_t *rule, const struct wire_answer *answer)
{
    const char *match = json_string_value(json_object_get(rule, "match"));
    size_t len = 0;

    if (!status_is(json_object_get(rule, "status"), answer->status))
        return true;
    const char *value = wire_field(answer, json_string_value(json_object_get(rule, "name")), &len);
    if (!value || json_is_true(json_object_get(rule, "absent")))
        return !value == json_is_true(json_object_get(rule, "absent"));
    return !match || value_matches(match, value, len);
}

static bool contents_hold(const json_t *probe, const struct seen *seen)
{
    const json_t *fields = json_object_get(probe, "fields");
    const json_t *lacks = json_object_get(probe, "body_lacks");

    for (size_t i = 0; i < seen->answers_n; i++) {
        for (size_t k = 0; k < json_array_size(fields); k++)
            if (!field_holds(json_array_get(fields, k), &seen->answers[i]))
                return false;
        for (size_t k = 0; k < json_array_size(lacks); k++)
            if (strstr(seen->answers[i].body, json_string_value(json_array_get(lacks, k))))
                return false;
    }
    return true;
}

/* What is wrong, or NULL. */
static const char *fault_of(const json_t *probe, const struct seen *seen)
{
    const json_t *expect = json_object_get(probe, "expect");
    const json_t *closes = json_object_get(probe, "closes"), *interim;
    const json_t *within = json_object_get(probe, "answer_within");
    int last = seen->finals_n ? seen->finals[seen->finals_n - 1] : 0;
    bool expected = false;

    if (seen->garbage)
        return "something that is no answer";
    for (size_t i = 0; i < json_array_size(expect); i++)
        expected |= alternative_holds(json_array_get(expect, i), seen);
    if (!expected)
        return "not what is expected";
    if (within && (double)seen->first_ms > 1000 * json_number_value(within))
        return "too late";
    if (!seen->ended && (json_is_string(closes) || (closes && last >= 400)))
        return "the connection stays open";
    if (seen->interims_n && json_is_true(json_object_get(probe, "no_interim")))
        return "an interim answer";
    if ((interim = json_object_get(probe, "interim")) && last / 100 == 2 &&
        seen->interims_n != json_array_size(interim))
        return "other interim answers";
    return contents_hold(probe, seen) ? NULL : "fields or bodies that must not be";
}

/* ---- The run ------------------------------------------------------------------------------- */

static void probe_run(const json_t *probe, char *verdict, size_t size)
{
    struct wire wire = wire_open(served.port);
    struct seen *seen = calloc(1, sizeof *seen);

    probe_send(&wire, probe);
    probe_read(&wire, probe, seen);
    const char *fault = fault_of(probe, seen);
    if (fault)
        snprintf(verdict, size, "%s: %s; %zu answers, the first %d, then %s",
                 json_string_value(json_object_get(probe, "name")), fault, seen->finals_n,
                 seen->finals[0], seen->ended ? "the end" : "nothing");
    for (size_t i = 0; i < seen->answers_n; i++)
        wire_answer_free(&seen->answers[i]);
    free(seen);
    wire_close(&wire);
}

static void *run_some(void *nothing)
{
    for (size_t i; (i = atomic_fetch_add(&next, 1)) < json_array_size(probes);)
        probe_run(json_array_get(probes, json_array_size(probes) - 1 - i), verdicts[i],
                  sizeof verdicts[i]);
    return nothing;
}

/* Takes the probes of the list out of the verdicts. */
static void expect_listed(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[200], name[64];

    cr_assert(file, "no %s", path);
    while (fgets(line, sizeof line, file)) {
        bool found = false;
        if (line[0] == '#' || sscanf(line, "%63s", name) != 1)
            continue;
        for (size_t i = 0; !found && i < PROBES_MAX; i++)
            if (strncmp(verdicts[i], name, strlen(name)) == 0 && verdicts[i][strlen(name)] == ':') {
                found = true;
                verdicts[i][0] = '\0';
            }
        cr_expect(found, "%s stands in %s, but it passes", name, path);
    }
    fclose(file);
}

Test(probes, fail_only_as_listed)
{
    pthread_t threads[THREADS];
    json_t *root = json_load_file(PROBES, JSON_ALLOW_NUL, NULL);

    probes = json_object_get(root, "probes");
    cr_assert_gt(json_array_size(probes), 0);
    cr_assert_leq(json_array_size(probes), PROBES_MAX);
    e2e_start(&served, (const char *const[]){"--queue", "100", NULL});
    for (size_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, run_some, NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    expect_listed(FAILING);
    for (size_t i = 0; i < PROBES_MAX; i++)
        cr_expect_str_eq(verdicts[i], "");
    e2e_stop(&served);
    json_decref(root);
}
