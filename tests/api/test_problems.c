// SPDX-License-Identifier: Apache-2.0
/*
 * test_problems.c: what /problems says is true: each wrong request is answered with that problem
 * and each right one is not; and it is said as text, as JSON and as a page.
 */
#include <ctype.h>

#include "call.h"
#include "problems.h"
#include "text.h"

#define TYPE_OF_CURL "application/x-www-form-urlencoded"

/* Sends an example as curl would. */
static void send_example(struct request *request, const struct problem_example *example)
{
    const struct {
        const char *name, **value;
    } known[] = {{"Content-Type: ", &call_with.content_type}, {"If-Match: ", &call_with.if_match}};
    bool stated = !example->field;

    call_with.content_type = example->body ? TYPE_OF_CURL : NULL;
    for (size_t i = 0; !stated && i < sizeof known / sizeof known[0]; i++) {
        stated = strncmp(example->field, known[i].name, strlen(known[i].name)) == 0;
        if (stated)
            *known[i].value = example->field + strlen(known[i].name);
    }
    cr_assert(stated, "%s", example->field);
    call(request, example->method, example->target, example->body);
    call_with.content_type = call_with.if_match = NULL;
}

Test(problems, wrong_requests_cause_them_and_right_ones_do_not)
{
    size_t sent = 0;

    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        const struct problem_row *row = &problem_rows[code];
        struct request request;
        if (!row->wrong.when) {
            send_example(&request, &row->wrong);
            cr_expect_eq(request.response.status, err_status(code), "%s", err_slug(code));
            cr_assert_gt(request.err.n, 0, "%s", err_slug(code));
            cr_expect_eq(request.err.item[0].code, code, "%s: %s", err_slug(code),
                         err_slug(request.err.item[0].code));
            call_end(&request);
            sent++;
        }
        cr_assert_null(row->right.when, "%s", err_slug(code));
        send_example(&request, &row->right);
        cr_expect_eq(request.response.status, 200, "%s: %s", err_slug(code), call_body(&request));
        call_end(&request);
    }
    cr_expect_geq(sent, 16);
}

Test(problems, explanations_are_sentences)
{
    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        const char *text = problem_rows[code].explanation;
        cr_expect(isupper((unsigned char)text[0]) && text[strlen(text) - 1] == '.', "%s", text);
        cr_expect_leq(strlen(text), 300, "%s", text);
    }
}

/* The type of a problem document is a path that is answered. */
Test(problems, types_lead_to_their_explanation)
{
    struct request wrong, request;

    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        call_begin(&wrong, "GET", "/v1/table?kind=rope", NULL);
        err_add(&wrong.err, code, NULL, NULL, "made up");
        call_finish(&wrong);
        json_t *problem = call_json(&wrong);
        const char *type = json_string_value(json_object_get(problem, "type"));
        call_with.accept = "application/json";
        call(&request, "GET", type, NULL);
        call_with.accept = NULL;
        cr_expect_eq(request.response.status, 200, "%s", type);
        json_t *explained = call_json(&request);
        static const char *const same[] = {"type", "title", "status"};
        for (size_t i = 0; i < 3; i++)
            cr_expect(
                json_equal(json_object_get(problem, same[i]), json_object_get(explained, same[i])),
                "%s: %s", type, same[i]);
        json_decref(explained);
        json_decref(problem);
        call_end(&request);
        call_end(&wrong);
    }
}

/* What Accept and the URL make of it. */
static const struct {
    const char *target, *accept, *type, *starts;
} rows[] = {
    {"/problems/deadline", NULL, "text/plain; charset=utf-8", "deadline: 503 "},
    {"/problems/deadline", "*/*", "text/plain; charset=utf-8", "deadline: 503 "},
    {"/problems/deadline", "text/html,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8",
     "<!doctype html>"},
    {"/problems/deadline", "application/json", "application/json", "{\"type\":"},
    {"/problems/deadline", "text/plain;q=0.5, application/json;q=0.6", "application/json", "{"},
    {"/problems/deadline.json", "text/html", "application/json", "{\"type\":"},
    {"/problems/deadline?format=json", "text/html", "application/json", "{\"type\":"},
    {"/problems/deadline.txt", "text/html", "text/plain; charset=utf-8", "deadline: "},
    {"/problems", NULL, "text/plain; charset=utf-8", "malformed-json: 400 "},
    {"/problems", "text/html", "text/html; charset=utf-8", "<!doctype html>"},
    {"/problems.json", NULL, "application/json", "{\"problems\":[{"},
};

Test(problems, come_in_the_form_that_is_wanted)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.accept = rows[i].accept;
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_eq(request.response.status, 200, "%s", rows[i].target);
        cr_expect_str_eq(request.response.content_type, rows[i].type, "%s for %s", rows[i].target,
                         rows[i].accept);
        const char *body = call_body(&request);
        cr_expect_eq(strncmp(body, rows[i].starts, strlen(rows[i].starts)), 0, "%s", body);
        bool page = strstr(rows[i].type, "html");
        cr_expect_eq(call_field(&request, "Content-Security-Policy") != NULL, page);
        call_end(&request);
    }
    call_with.accept = NULL;
}

Test(problems, list_has_all_and_text_fits_a_terminal)
{
    struct request request;

    call(&request, "GET", "/problems.json", NULL);
    json_t *list = call_json(&request);
    cr_expect_eq(json_array_size(json_object_get(list, "problems")), ERR_CODES_N);
    json_decref(list);
    call_end(&request);

    call(&request, "GET", "/problems", NULL);
    const char *body = call_body(&request);
    for (enum err_code code = 0; code < ERR_CODES_N; code++)
        cr_expect_not_null(strstr(body, err_title(code)), "%s", err_slug(code));
    for (const char *line = body; *line; line += strcspn(line, "\n") + 1)
        if (!strstr(line, ": ") || strstr(line, ": ") > line + strcspn(line, "\n"))
            cr_expect_leq(strcspn(line, "\n"), TEXT_COLUMNS, "%.*s", (int)strcspn(line, "\n"),
                          line);
    call_end(&request);
}

/* On a page no byte of an example is markup. */
Test(problems, page_escapes_what_stands_in_it)
{
    struct request request;

    call_with.accept = "text/html";
    call(&request, "GET", "/problems/unknown-parameter", NULL);
    const char *body = call_body(&request);
    cr_expect_not_null(strstr(body, "kind=rope&amp;dims=8"), "%s", body);
    cr_expect_null(strstr(body, "&dims"));
    call_end(&request);
    call_with.accept = NULL;
}

Test(problems, unknown_ones_are_not_found)
{
    struct request request;

    call(&request, "GET", "/problems/unknown-paramter", NULL);
    cr_expect_eq(request.response.status, 404);
    cr_expect_not_null(strstr(call_body(&request), "did you mean \\\"/problems/unknown-parameter"));
    call_end(&request);
    call(&request, "GET", "/problems?code=400", NULL);
    cr_expect_eq(request.response.status, 400);
    call_end(&request);
    call(&request, "GET", "/problems/deadline.csv", NULL);
    cr_expect_eq(request.response.status, 406);
    call_end(&request);
    call_with.accept = "image/png";
    call(&request, "GET", "/problems", NULL);
    cr_expect_eq(request.response.status, 406);
    call_end(&request);
    call_with.accept = NULL;
}
