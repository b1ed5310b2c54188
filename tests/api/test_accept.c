// SPDX-License-Identifier: Apache-2.0
/* test_accept.c: qualities by RFC 9110, 12.5.1. */
#include <criterion/criterion.h>

#include "accept.h"

Test(accept, quality)
{
    static const struct {
        const char *accept, *type;
        int quality;
    } rows[] = {
        {NULL, "text/csv", 1000},
        {"", "text/csv", 1000},
        {" , ", "text/csv", 1000},
        {"*/*", "text/csv", 1000},
        {"text/csv", "text/csv", 1000},
        {"TEXT/CSV", "text/csv", 1000},
        {"text/*", "text/csv", 1000},
        {"text/*", "application/json", 0},
        {"text/csvx", "text/csv", 0},
        {"text/cs", "text/csv", 0},
        {"text/csv;q=0.5", "text/csv", 500},
        {"text/csv ; q=0.123", "text/csv", 123},
        {"text/csv;header=present;q=0.25", "text/csv", 250},
        {"text/csv;Q=1.000", "text/csv", 1000},
        {"text/csv;q=0", "text/csv", 0},
        /* The most specific range counts, wherever it stands and whatever its quality. */
        {"text/csv;q=0.1, text/*;q=0.5, */*", "text/csv", 100},
        {"*/*, text/*;q=0.5, text/csv;q=0.1", "text/csv", 100},
        {"*/*;q=0.8, text/html", "application/json", 800},
        {"text/csv;q=0, */*", "text/csv", 0},
        /* The example of the RFC. */
        {"text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, "
         "*/*;q=0.5",
         "text/html", 300},
        {"text/*;q=0.3, text/plain;q=0.7, */*;q=0.5", "image/jpeg", 500},
        /* What is not well-formed is as if it were not there. */
        {"text/csv;q=2", "text/csv", 0},
        {"text/csv;q=0.1234", "text/csv", 0},
        {"text/csv;q=x, */*;q=0.4", "text/csv", 400},
        {"text/csv;q=", "text/csv", 0},
        {"text/csv;q=1.5", "text/csv", 0},
        {"*", "text/csv", 0},
        {"nonsense", "text/csv", 0},
        {";;;,,,", "text/csv", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(accept_quality(rows[i].accept, rows[i].type), rows[i].quality,
                     "Accept: %s, %s: %d", rows[i].accept, rows[i].type,
                     accept_quality(rows[i].accept, rows[i].type));
}

Test(accept, language)
{
    static const struct {
        const char *accept, *language;
        int quality;
    } rows[] = {
        {"", "ru", ACCEPT_UNNAMED},
        {"ru", "ru", 1000},
        {"RU", "ru", 1000},
        {"ru-RU", "ru", 1000},
        {"rus", "ru", ACCEPT_UNNAMED},
        {"r", "ru", ACCEPT_UNNAMED},
        {"en-US, en;q=0.9", "en", 900},
        {"en;q=0.9, en-US", "en", 900},
        {"*;q=0.1, ja;q=0.2", "ru", 100},
        {"*;q=0.1, ja;q=0.2", "ja", 200},
        {"ru;q=0", "ru", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(accept_language(rows[i].accept, rows[i].language), rows[i].quality,
                     "Accept-Language: %s, %s", rows[i].accept, rows[i].language);
}
