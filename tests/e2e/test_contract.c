// SPDX-License-Identifier: Apache-2.0
/*
 * test_contract.c: every operation of the served OpenAPI document is asked for each answer that the
 * document promises of it: every media type of a 200, every problem that it lists. What the answers
 * hold is compared with their schemas by contract.py, from the record that harness.c keeps. And
 * what holds of every path: HEAD, OPTIONS, other methods, other spellings, other origins.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define BODY_MAX   "8K"
#define BODY_BYTES 9000 /* more than that */

static struct e2e_daemon service;

static void start(void)
{
    static const char *const options[] = {
        "--max-body", BODY_MAX, "--max-elements", "30000", "--max-text-elements", "30000", NULL};
    e2e_start(&service, options);
}

static void stop(void)
{
    e2e_stop(&service);
}

TestSuite(contract, .init = start, .fini = stop, .timeout = 120);

/* What makes a good request of each path that needs something, and one over the limits (with a ?
 * in front it says all of it). */
static const struct subject {
    const char *path, *target; /* target NULL: looked up */
    const char *query, *too_much, *body, *unfit;
} subjects[] = {
    {"/assets/{file}", "/assets/posenc.py", "", "", NULL, NULL},
    {"/assets/{digest}/{file}", NULL, "", "", NULL, NULL},
    {"/assets/{digest}/{folder}/{file}", NULL, "", "", NULL, NULL},
    {"/embed/{view}", "/embed/lesson", "", "", NULL, NULL},
    {"/v1/encodings/{kind}", "/v1/encodings/rope", "", "", NULL, NULL},
    {"/v1/fixtures/{name}", "/v1/fixtures/rope-linear", "", "", NULL, NULL},
    {"/problems/{slug}", "/problems/deadline", "", "", NULL, NULL},
    {"/v1/spec", "/v1/spec", "kind=rope&", "", NULL, NULL},
    {"/v1/table", "/v1/table", "kind=rope&dim=4&", "positions=0:50000", NULL, NULL},
    {"/v1/frequencies", "/v1/frequencies", "kind=rope&", "dim=65536", NULL, NULL},
    {"/v1/rotation", "/v1/rotation", "kind=rope&dim=4&", "positions=0:50000", NULL, NULL},
    {"/v1/properties", "/v1/properties", "kind=rope&dim=4&", "positions=0:5000", NULL, NULL},
    {"/v1/precision", "/v1/precision", "kind=rope&dim=4&", "quantity=table&positions=0:1000000",
     NULL, NULL},
    {"/v1/apply", "/v1/apply", "kind=rope&dim=4&", "positions=0:50000",
     "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]]}",
     "{\"spec\":\"rope:dim=4\",\"x\":[[1,2,3,4]],\"positions\":[1,2]}"},
    {"/v1/scores", "/v1/scores", "kind=rope&", "offsets=0:50000",
     "{\"spec\":\"rope:dim=4\",\"q\":[1,2,3,4],\"k\":[4,3,2,1]}",
     "{\"spec\":\"rope:dim=4\",\"q\":[1,2,3,4],\"k\":[4,3]}"},
    {"/v1/attention", "/v1/attention", "kind=rope&dim=4&", "tokens=200",
     "{\"spec\":\"rope:dim=2\",\"x\":[[1,2],[3,4]]}", "{\"spec\":\"rope:dim=2\",\"x\":[1,2]}"},
    {"/v1/similarity", "/v1/similarity", "kind=rope&", "positions=0:200", NULL, NULL},
    {"/v1/grid", "/v1/grid", "kind=rope2d&", "grid=200x200", NULL, NULL},
    {"/v1/positions", "/v1/positions", "grid=2x3&", "?grid=1024x1024", "{\"grid\":\"2x3\"}",
     "{\"lengths\":[[1],[2]],\"style\":\"gpt2\"}"},
    {"/v1/convert", "/v1/convert", "", "", "{\"from\":\"half\",\"to\":\"interleaved\",\"x\":[1,2]}",
     "{\"from\":\"half\",\"to\":\"interleaved\",\"x\":[1,2,3]}"},
    {"/v1/compare", "/v1/compare", "", "", "{\"actual\":[1],\"expected\":[1]}",
     "{\"actual\":[1],\"expected\":[2],\"strict\":true}"},
    {"/v1/identify", "/v1/identify", "", "", "{\"x\":[[1,2]],\"y\":[[1,2]]}",
     "{\"x\":[[1,2]],\"y\":[[1,2,3]]}"},
    {"/v1/from-config", "/v1/from-config", "", "", "{\"head_dim\":4}", "{\"head_dim\":65536}"},
    {"/v1/plots/table", "/v1/plots/table", "kind=rope&dim=4&", "positions=0:50000", NULL, NULL},
    {"/v1/plots/waves", "/v1/plots/waves", "kind=rope&dim=4&", "positions=0:50000", NULL, NULL},
    {"/v1/plots/frequencies", "/v1/plots/frequencies", "kind=rope&", "dim=65536", NULL, NULL},
    {"/v1/plots/rotation", "/v1/plots/rotation", "kind=rope&dim=4&", "positions=0:50000", NULL,
     NULL},
    {"/v1/plots/angles", "/v1/plots/angles", "kind=rope&dim=4&", "positions=0:50000", NULL, NULL},
    {"/v1/plots/apply", "/v1/plots/apply", "kind=rope&dim=4&", "positions=0:50000", NULL, NULL},
    {"/v1/plots/scores", "/v1/plots/scores", "kind=rope&", "offsets=0:50000",
     "{\"spec\":\"rope:dim=4\",\"q\":[1,2,3,4],\"k\":[4,3,2,1]}",
     "{\"spec\":\"rope:dim=4\",\"q\":[1,2,3,4],\"k\":[4,3]}"},
    {"/v1/plots/decay", "/v1/plots/decay", "kind=rope&", "positions=0:50000", NULL, NULL},
    {"/v1/plots/attention", "/v1/plots/attention", "kind=rope&dim=4&", "tokens=200",
     "{\"spec\":\"rope:dim=2\",\"x\":[[1,2],[3,4]]}", "{\"spec\":\"rope:dim=2\",\"x\":[1,2]}"},
    {"/v1/plots/attention-pair", "/v1/plots/attention-pair", "kind=rope&dim=4&", "tokens=200",
     "{\"spec\":\"rope:dim=2\",\"x\":[[1,2],[3,4]]}", "{\"spec\":\"rope:dim=2\",\"x\":[1,2]}"},
    {"/v1/plots/similarity", "/v1/plots/similarity", "kind=rope&", "positions=0:50000", NULL, NULL},
    {"/v1/plots/grid", "/v1/plots/grid", "kind=rope2d&", "grid=200x200", NULL, NULL},
    {"/v1/plots/precision", "/v1/plots/precision", "kind=rope&dim=4&", "positions=0:50000", NULL,
     NULL},
    {"/v1/plots/bias", "/v1/plots/bias", "kind=alibi&heads=2&", "positions=0:50000", NULL, NULL},
    {"/v1/plots/properties", "/v1/plots/properties", "kind=rope&dim=4&", "positions=0:50000", NULL,
     NULL},
};

/* The path of a file of the page, under its digest, as the page has it. */
static void page_file(const char *name, char *target, size_t size)
{
    const char *const fields[] = {"Accept: text/html", NULL};
    struct e2e_answer page = e2e_request(&service, "GET", "/", fields, NULL, 0);
    const char *at = strstr(page.body, name);
    while (at && at > page.body && at[-1] != '"')
        at--;
    cr_assert(at, "the page has no %s", name);
    snprintf(target, size, "%.*s", (int)strcspn(at, "\""), at);
    e2e_answer_free(&page);
}

/* The path of the asset of a media type, under its digest if `path` has one. */
static void asset_target(const char *path, const char *media, char *target, size_t size)
{
    const char *of_page = strstr(path, "{folder}")              ? "/views/lesson.js"
                          : strcmp(media, "text/css") == 0      ? "/style.css"
                          : strcmp(media, "image/svg+xml") == 0 ? "/icon.svg"
                                                                : NULL;
    if (of_page) {
        page_file(of_page, target, size);
        return;
    }
    snprintf(target, size, "/assets/posenc.%s", strstr(media, "python") ? "py" : "js");
    if (!strstr(path, "{digest}"))
        return;
    struct e2e_answer answer = e2e_request(&service, "GET", target, NULL, NULL, 0);
    cr_expect(e2e_field(&answer, "Content-Location", target, size), "%s has no digest", target);
    e2e_answer_free(&answer);
}

static struct subject subject_of(const char *path)
{
    static char asset[100];
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        struct subject of = subjects[i];
        if (strcmp(of.path, path) != 0)
            continue;
        if (!of.target) {
            asset_target(path, "text/x-python", asset, sizeof asset);
            of.target = asset;
        }
        return of;
    }
    cr_assert_null(strchr(path, '{'), "%s needs a row in subjects", path);
    return (struct subject){path, path, "", "", NULL, NULL};
}

static void expect(const char *method, const char *target, const char *field, const char *body,
                   size_t body_len, int status, const char *media)
{
    const char *const fields[] = {field ? field : "Accept: */*", NULL};
    struct e2e_answer answer =
        e2e_request(&service, method, target, fields, body, body ? body_len : 0);
    char type[100] = "";
    e2e_field(&answer, "Content-Type", type, sizeof type);
    cr_expect(answer.status == status && strncmp(type, media, strlen(media)) == 0,
              "%s %s (%s): %d %s, not %d %s: %s", method, target, fields[0], answer.status, type,
              status, media, answer.body);
    e2e_answer_free(&answer);
}

static void good_target(const struct subject *of, const char *media, char *target, size_t size)
{
    if (strncmp(of->path, "/assets/", 8) == 0)
        asset_target(of->path, media, target, size);
    else
        snprintf(target, size, "%s?%s", of->target, of->query);
}

/* Asks for each representation by Accept. */
static void expect_good(const char *method, const struct subject *of, const json_t *content)
{
    const char *body = strcmp(method, "POST") == 0 ? of->body : NULL, *media;
    char target[200], accept[120];
    json_t *unused;
    json_object_foreach((json_t *)content, media, unused)
    {
        snprintf(accept, sizeof accept, "Accept: %s", media);
        if (body) /* says it all */
            snprintf(target, sizeof target, "%s", of->target);
        else
            good_target(of, media, target, sizeof target);
        expect(method, target, accept, body, body ? strlen(body) : 0, 200, media);
    }
}

static void expect_unmodified(const struct subject *of)
{
    char target[200];
    snprintf(target, sizeof target, "%s?%s", of->target, of->query);
    expect("GET", target, "If-None-Match: *", NULL, 0, 304, "");
}

/* Asks in a way that must be answered with this status. */
static void expect_problem(const char *method, const struct subject *of, int status)
{
    static char large[BODY_BYTES];
    bool post = strcmp(method, "POST") == 0;
    const char *body = post ? of->body : NULL, *field = NULL, *add = "", *path = of->target;
    char target[200], nowhere[100];
    memset(large, ' ', sizeof large);
    switch (status) {
    case 400:
        /* the state of a page may have any keys */
        add = strncmp(of->path, "/embed/", 7) == 0 ? "state=%zz" : "nonesuch=1";
        break;
    case 404:
        snprintf(nowhere, sizeof nowhere, "%.*s/nonesuch",
                 (int)(strrchr(of->target, '/') - of->target), of->target);
        path = nowhere;
        break;
    case 406:
        field = strncmp(of->path, "/v1", 3) != 0 || strstr(of->path, ".tar")
                    ? "Accept-Encoding: identity;q=0"
                : strstr(of->path, "/plots/") ? "Accept: text/csv"
                                              : "Accept: image/png";
        break;
    case 409:
        add = "semantics=9";
        break;
    case 412:
        field = "If-Match: \"1-0123456789abcdef\"";
        break;
    case 413:
        body = large;
        break;
    case 415:
        field = "Content-Type: text/turtle";
        break;
    case 422:
        add = post ? "" : of->too_much;
        body = post ? of->unfit : NULL;
        break;
    default:
        cr_assert_fail("%s %s: nothing here provokes a %d", method, of->path, status);
    }
    bool alone = *add == '?';
    snprintf(target, sizeof target, "%s?%s%s", path, post || alone ? "" : of->query, add + alone);
    expect(method, target, field, body,
           body == large ? sizeof large
           : body        ? strlen(body)
                         : 0,
           status, "application/problem+json");
}

static void ask_operation(const char *method, const char *path, const json_t *answers)
{
    const struct subject of = subject_of(path);
    const char *status;
    json_t *answer;
    cr_assert(strcmp(method, "GET") == 0 || of.body, "%s needs a body in subjects", path);
    json_object_foreach((json_t *)answers, status, answer)
    {
        if (strcmp(status, "200") == 0)
            expect_good(method, &of, json_object_get(answer, "content"));
        else if (strcmp(status, "304") == 0)
            expect_unmodified(&of);
        else if (strcmp(status, "default") != 0)
            expect_problem(method, &of, (int)strtol(status, NULL, 10));
    }
}

static json_t *fetch_document(void)
{
    struct e2e_answer answer = e2e_request(&service, "GET", "/openapi.json", NULL, NULL, 0);
    json_t *document = json_loadb(answer.body, answer.body_len, 0, NULL);
    cr_assert(document);
    e2e_answer_free(&answer);
    return document;
}

Test(contract, every_answer_that_is_promised_comes)
{
    json_t *document = fetch_document(), *item;
    const char *path;
    size_t operations = 0;
    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        const json_t *get = json_object_get(item, "get"), *post = json_object_get(item, "post");
        if (get)
            ask_operation("GET", path, json_object_get(get, "responses"));
        if (post)
            ask_operation("POST", path, json_object_get(post, "responses"));
        operations += (get != NULL) + (post != NULL);
    }
    cr_expect_geq(operations, 18);
    json_decref(document);
}

/* ---- Methods and paths --------------------------------------------------------------------- */

static struct e2e_answer ask(const char *method, const char *target)
{
    return e2e_request(&service, method, target, NULL, NULL, 0);
}

static void expect_field(const struct e2e_answer *answer, const char *target, const char *name,
                         const char *expected)
{
    char value[1000] = "(none)";
    e2e_field(answer, name, value, sizeof value);
    cr_expect_str_eq(value, expected, "%s: %s is %s, not %s", target, name, value, expected);
}

/* What pages of other origins need, whatever the answer is. */
static void expect_open(const struct e2e_answer *answer, const char *target)
{
    static const char *const fields[][2] = {
        {"Access-Control-Allow-Origin", "*"},
        {"Access-Control-Expose-Headers",
         "ETag, Repr-Digest, Link, Posenc-Semantics, Posenc-Spec-Id, Retry-After, Request-Id, "
         "Server-Timing, Tensor"},
        {"Timing-Allow-Origin", "*"},
        {"Cross-Origin-Resource-Policy", "cross-origin"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Access-Control-Allow-Credentials", "(none)"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        expect_field(answer, target, fields[i][0], fields[i][1]);
}

/* A HEAD has the head of the GET and no body. */
static void try_head(const char *target)
{
    static const char *const same[] = {"Content-Type", "Cache-Control", "Link", "ETag", "Vary"};
    struct e2e_answer get = ask("GET", target), head = ask("HEAD", target);
    cr_expect(head.status == 200 && get.status == 200 && head.body_len == 0, "HEAD %s: %d", target,
              head.status);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char value[1000] = "(none)";
        e2e_field(&get, same[i], value, sizeof value);
        expect_field(&head, target, same[i], value);
    }
    expect_open(&get, target);
    expect_open(&head, target);
    e2e_answer_free(&get);
    e2e_answer_free(&head);
}

static void try_options(const char *target, const char *allow)
{
    struct e2e_answer answer = ask("OPTIONS", target);
    cr_expect(answer.status == 204 && answer.body_len == 0, "OPTIONS %s: %d", target,
              answer.status);
    expect_field(&answer, target, "Allow", allow);
    expect_field(&answer, target, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    expect_field(&answer, target, "Access-Control-Max-Age", "86400");
    char allowed[600] = "";
    e2e_field(&answer, "Access-Control-Allow-Headers", allowed, sizeof allowed);
    cr_expect(strstr(allowed, "Content-Type"), "%s: %s", target, allowed);
    expect_open(&answer, target);
    e2e_answer_free(&answer);
}

static void try_other_method(const char *target, const char *allow)
{
    static const char *const methods[] = {"PUT", "PATCH", "DELETE"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct e2e_answer answer = ask(methods[i], target);
        cr_expect_eq(answer.status, 405, "%s %s: %d", methods[i], target, answer.status);
        expect_field(&answer, target, "Allow", allow);
        expect_open(&answer, target);
        e2e_answer_free(&answer);
    }
}

/* /v1/ leads to /v1, with the query kept; /V1 leads nowhere. */
static void try_other_spellings(const char *path)
{
    char target[120], location[120];
    snprintf(target, sizeof target, "%s/?a=b", path);
    snprintf(location, sizeof location, "%s?a=b", path);
    struct e2e_answer answer = ask("GET", target);
    cr_expect_eq(answer.status, 308, "%s: %d", target, answer.status);
    expect_field(&answer, target, "Location", location);
    expect_open(&answer, target);
    e2e_answer_free(&answer);

    snprintf(target, sizeof target, "%s", path);
    for (char *c = target; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    answer = ask("GET", target);
    cr_expect_eq(answer.status, 404, "%s: %d", target, answer.status);
    e2e_answer_free(&answer);
}

Test(contract, every_path_has_head_options_and_one_spelling)
{
    json_t *document = fetch_document(), *item;
    const char *path;
    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        const struct subject of = subject_of(path);
        bool get = json_object_get(item, "get"), post = json_object_get(item, "post");
        char target[200], allow[40];
        good_target(&of, "text/x-python", target, sizeof target);
        snprintf(allow, sizeof allow, "%s%sOPTIONS", get ? "GET, HEAD, " : "",
                 post ? "POST, " : "");
        if (get)
            try_head(target);
        try_options(of.target, allow);
        try_other_method(of.target, allow);
        if (strcmp(path, "/") != 0)
            try_other_spellings(of.target);
    }
    json_decref(document);
}

Test(contract, paths_that_are_not_there)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "OPTIONS", "DELETE"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct e2e_answer answer = ask(methods[i], "/v1/nonesuch");
        cr_expect_eq(answer.status, 404, "%s: %d", methods[i], answer.status);
        expect_open(&answer, methods[i]);
        e2e_answer_free(&answer);
    }
}
