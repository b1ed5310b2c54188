// SPDX-License-Identifier: Apache-2.0
/*
 * test_validators.c: the form of tags, and both comparisons of RFC 9110 (8.8.3.2, with its table of
 * examples).
 */
#include "validators.h"

#include "call.h"

/* printf '1\n/v1/x?a=1\ntext/csv\nidentity\n' | sha256sum | head -c 16 */
Test(validators, a_tag_is_a_hash_of_its_parts)
{
    char etag[ETAG_BYTES];

    etag_make(etag, "/v1/x?a=1", "text/csv", "identity");
    cr_expect_str_eq(etag, "\"1-a896146ad94e2cea\"", "%s", etag);
    etag_make(etag, "/v1/x?a=1", "text/csv", "gzip");
    cr_expect_str_eq(etag, "\"1-9c5e557af56c39ec\"", "%s", etag);
}

Test(validators, both_comparisons)
{
    static const struct {
        const char *field, *etag;
        bool strong, weak;
    } rows[] = {
        /* RFC 9110, 8.8.3.2 */
        {"W/\"1\"", "\"1\"", false, true},
        {"\"1\"", "\"1\"", true, true},
        {"W/\"2\"", "\"1\"", false, false},
        /* lists */
        {"\"a\", \"b\"", "\"b\"", true, true},
        {"\"a\",\"b\"", "\"b\"", true, true},
        {" , ,\"a\" ,\t W/\"b\" ,", "\"b\"", false, true},
        {"W/\"b\", \"b\"", "\"b\"", true, true},
        {"\"a, b\", \"c\"", "\"b\"", false, false},
        {"\"a, b\", \"c\"", "\"c\"", true, true},
        /* any */
        {"*", "\"b\"", true, true},
        {" * ", "\"b\"", true, true},
        {"*", "", true, true},
        /* not well-formed, or of another form */
        {"", "\"b\"", false, false},
        {"b", "\"b\"", false, false},
        {"\"b", "\"b\"", false, false},
        {"w/\"b\"", "\"b\"", false, false},
        {"*, \"b\"", "\"b\"", false, false},
        {"\"\"", "", false, false},
        {"\"B\"", "\"b\"", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_expect_eq(etag_is_named(rows[i].field, rows[i].etag, true), rows[i].strong,
                     "strong: %s of %s", rows[i].etag, rows[i].field);
        cr_expect_eq(etag_is_named(rows[i].field, rows[i].etag, false), rows[i].weak,
                     "weak: %s of %s", rows[i].etag, rows[i].field);
    }
}

Test(validators, order_of_conditions)
{
    static const struct {
        const char *method, *match, *none;
        enum verdict verdict;
    } rows[] = {
        {"GET", NULL, NULL, VERDICT_PROCEED},
        {"GET", "\"t\"", NULL, VERDICT_PROCEED},
        {"GET", "W/\"t\"", NULL, VERDICT_FAILED},
        {"GET", "\"x\"", "\"t\"", VERDICT_FAILED},
        {"GET", "\"t\"", "\"t\"", VERDICT_NOT_MODIFIED},
        {"GET", "*", "W/\"t\"", VERDICT_NOT_MODIFIED},
        {"HEAD", NULL, "*", VERDICT_NOT_MODIFIED},
        {"GET", NULL, "\"x\"", VERDICT_PROCEED},
        {"POST", NULL, "\"t\"", VERDICT_FAILED},
        {"POST", NULL, "*", VERDICT_FAILED},
        {"POST", NULL, "\"x\"", VERDICT_PROCEED},
        {"POST", "\"x\"", NULL, VERDICT_FAILED},
        {"POST", "\"t\"", "\"x\"", VERDICT_PROCEED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.if_match = rows[i].match;
        call_with.if_none_match = rows[i].none;
        call_begin(&request, rows[i].method, "/v1/apply", NULL);
        enum verdict verdict = validators_judge(&request, "\"t\"");
        cr_expect_eq(verdict, rows[i].verdict, "row %zu: %d", i, (int)verdict);
        cr_expect_eq(request.err.n, verdict == VERDICT_FAILED, "row %zu", i);
        cr_expect(verdict != VERDICT_FAILED || request.err.item[0].code == ERR_precondition_failed);
        call_end(&request);
    }
}
