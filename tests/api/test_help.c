// SPDX-License-Identifier: Apache-2.0
/* test_help.c: the help is complete and fits a terminal; what it shows works. */
#include "call.h"

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        longest = len > longest ? len : longest;
        line += len + (line[len] == '\n');
    }
    return longest;
}

Test(help, fits_80_columns_and_names_everything)
{
    static const char *const paths[] = {"/help", "/"};
    struct request request;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        call(&request, "GET", paths[i], NULL);
        cr_assert_eq(request.response.status, 200, "%s", paths[i]);
        cr_assert_str_eq(request.response.content_type, "text/plain; charset=utf-8");
        cr_assert(longest_line(call_body(&request)) <= 80, "%s has %zu columns", paths[i],
                  longest_line(call_body(&request)));
        call_end(&request);
    }
    call(&request, "GET", "/help", NULL);
    const char *help = call_body(&request);
    for (size_t i = 0; i < api_routes_n; i++)
        cr_expect(strstr(help, api_routes[i].path), "%s is missing", api_routes[i].path);
    for (size_t i = 0; i < pe_kinds_n(); i++)
        cr_expect(strstr(help, pe_kind_at(i)->name), "%s is missing", pe_kind_at(i)->name);
    for (size_t i = 0; i < pe_presets_n(); i++)
        cr_expect(strstr(help, pe_preset_at(i)->name), "%s is missing", pe_preset_at(i)->name);
    call_end(&request);
}

/* Runs every line `curl "$U/..."` or `curl $U/... -d '...'`; returns how many there were. */
static size_t run_examples(const char *text)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, "$U/")); n++) {
        char target[512] = "", body[512];
        bool quoted = at[-1] == '"';
        size_t len = strcspn(at + 2, quoted ? "\"" : " \n");
        snprintf(target, sizeof target, "%.*s", (int)len, at + 2);
        size_t line = strcspn(at, "\n");
        const char *data = memmem(at, line, "-d '", 4);
        if (data)
            snprintf(body, sizeof body, "%.*s", (int)strcspn(data + 4, "'"), data + 4);
        struct request request;
        call(&request, data ? "POST" : "GET", target, data ? body : NULL);
        cr_expect_eq(request.response.status, 200, "%s: %d %s", target, request.response.status,
                     call_body(&request));
        call_end(&request);
        at += 3;
    }
    return n;
}

Test(help, examples_work)
{
    struct request request;
    call(&request, "GET", "/help", NULL);
    cr_expect_eq(run_examples(call_body(&request)), 14);
    call_end(&request);
}
