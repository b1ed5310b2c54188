// SPDX-License-Identifier: Apache-2.0
/* test_origins.c: lists of origins, and what a page of one of them gets. */
#include "origins.h"

#include <criterion/criterion.h>
#include <string.h>

#include "http/toy.h"
#include "wire.h"

Test(origins, valid_lists)
{
    static const struct {
        const char *list;
        bool valid;
    } rows[] = {
        {"*", true},
        {"https://example.org", true},
        {"http://localhost:3000,https://example.org", true},
        {"http://[::1]:8080", true},
        {"moz-extension://0a1b", true},
        {"", false},
        {"*,https://example.org", false},
        {"example.org", false},
        {"https://", false},
        {"://x", false},
        {"https://example.org/", false},
        {"https://example.org/page", false},
        {"https://example.org, https://a.b", false},
        {"https://example.org,", false},
        {"https://exa\r\nmple.org", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(origins_are_valid(rows[i].list), rows[i].valid, "%s", rows[i].list);
}

Test(origins, membership)
{
    static const char list[] = "http://localhost:3000,https://example.org";
    static const struct {
        const char *origin;
        bool member;
    } rows[] = {
        {"http://localhost:3000", true},
        {"https://example.org", true},
        {"https://example.or", false},
        {"https://example.org.evil.com", false},
        {"http://example.org", false},
        {"https://EXAMPLE.org", false},
        {"", false},
        {"null", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(origins_have(list, rows[i].origin), rows[i].member, "%s", rows[i].origin);
}

Test(origins, what_a_page_gets, .timeout = 60)
{
    static const struct {
        const char *list, *origin, *allowed; /* NULL: no field */
        bool varies;
    } rows[] = {
        {NULL, "https://a.b", "*", false},
        {"*", "https://a.b", "*", false},
        {"https://a.b,https://c.d", "https://c.d", "https://c.d", true},
        {"https://a.b,https://c.d", "https://e.f", NULL, true},
        {"https://a.b", NULL, NULL, true},
    };
    static const char *const requests[] = {"GET /say", "OPTIONS /say", "GET /nothing"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http_options options = toy_options();
        options.cors_origin = rows[i].list;
        struct toy toy = toy_start(options);
        for (size_t k = 0; k < sizeof requests / sizeof requests[0]; k++) {
            char head[200];
            struct wire wire = wire_open(toy.port);
            snprintf(head, sizeof head, "%s HTTP/1.1\r\nHost: h\r\n%s%s%s\r\n", requests[k],
                     rows[i].origin ? "Origin: " : "", rows[i].origin ? rows[i].origin : "",
                     rows[i].origin ? "\r\n" : "");
            wire_puts(&wire, head);
            struct wire_answer answer = wire_read(&wire, false);
            if (rows[i].allowed)
                cr_expect(wire_field_is(&answer, "Access-Control-Allow-Origin", rows[i].allowed),
                          "row %zu: %s", i, answer.head);
            else
                cr_expect_null(strstr(answer.head, "Access-Control-Allow-Origin"), "row %zu", i);
            cr_expect_eq(strstr(answer.head, "Vary: Origin") != NULL, rows[i].varies, "row %zu", i);
            wire_answer_free(&answer);
            wire_close(&wire);
        }
        cr_expect_eq(toy_stop(&toy), 0);
    }
}
