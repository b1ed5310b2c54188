// SPDX-License-Identifier: Apache-2.0
/* test_err.c: the columns of ERR_MAP, and lists of mistakes. */
#include "err.h"

#include <criterion/criterion.h>
#include <string.h>

Test(err, knows_status_slug_and_title)
{
    cr_assert_eq(err_status(ERR_malformed_json), 400);
    cr_assert_eq(err_status(ERR_shape_mismatch), 422);
    cr_assert_eq(err_status(ERR_draining), 503);
    cr_assert_str_eq(err_slug(ERR_method_not_allowed), "method-not-allowed");
    cr_assert_str_eq(err_title(ERR_unknown_parameter), "Unknown parameter");
}

Test(err, every_row_is_complete)
{
    for (enum err_code code = 0; code < ERR_CODES_N; code++) {
        int status = err_status(code);
        cr_assert(status >= 400 && status <= 599, "code %d has status %d", (int)code, status);
        const char *slug = err_slug(code);
        cr_assert_eq(strspn(slug, "abcdefghijklmnopqrstuvwxyz-"), strlen(slug), "%s", slug);
        cr_assert(err_title(code)[0] >= 'A' && err_title(code)[0] <= 'Z', "%s", err_title(code));
        for (enum err_code other = 0; other < code; other++)
            cr_assert_str_neq(slug, err_slug(other));
    }
}

Test(err, appends_and_returns_false)
{
    struct err err = {0};
    cr_assert_not(err_add(&err, ERR_invalid_value, "/spec/dim", "dim=64 is usual",
                          "dim must be even, got %d", 63));
    cr_assert_not(err_add_at(&err, ERR_malformed_json, NULL, 3, 14, "expected %s", "':'"));
    cr_assert_eq(err.n, 2);
    cr_assert_eq(err.item[0].code, ERR_invalid_value);
    cr_assert_str_eq(err.item[0].where, "/spec/dim");
    cr_assert_str_eq(err.item[0].detail, "dim must be even, got 63");
    cr_assert_str_eq(err.item[0].hint, "dim=64 is usual");
    cr_assert_eq(err.item[0].line, 0);
    cr_assert_null(err.item[0].allowed);
    cr_assert_str_eq(err.item[1].where, "");
    cr_assert_str_eq(err.item[1].detail, "expected ':'");
    cr_assert_str_eq(err.item[1].hint, "");
    cr_assert_eq(err.item[1].line, 3);
    cr_assert_eq(err.item[1].column, 14);
}

Test(err, counts_what_it_cannot_keep)
{
    struct err err = {0};
    for (int i = 0; i < 3 * ERR_ITEMS_MAX; i++)
        err_add(&err, ERR_unknown_parameter, "x", NULL, "number %d", i);
    err_add_at(&err, ERR_malformed_json, "x", 1, 2, "one more");
    cr_assert_eq(err.n, 3 * ERR_ITEMS_MAX + 1);
    cr_assert_str_eq(err.item[ERR_ITEMS_MAX - 1].detail, "number 15");
}

Test(err, cuts_long_texts_between_characters)
{
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\x89"};
    for (size_t i = 0; i < 4; i++)
        for (size_t shift = 0; shift < 4; shift++) {
            char text[2000] = "xxxx";
            size_t len = shift;
            for (; len < 1900; len += i + 1)
                memcpy(text + len, characters[i], i + 1);
            text[len] = '\0';
            struct err err = {0};
            err_add(&err, ERR_invalid_value, text, text, "%s", text);
            const char *parts[] = {err.item[0].where, err.item[0].detail, err.item[0].hint};
            const size_t sizes[] = {sizeof err.item[0].where, sizeof err.item[0].detail,
                                    sizeof err.item[0].hint};
            for (size_t part = 0; part < 3; part++) {
                size_t kept = strlen(parts[part]);
                cr_assert_eq(kept, shift + (sizes[part] - 1 - shift) / (i + 1) * (i + 1),
                             "%zu-byte characters behind %zu bytes: kept %zu of %zu", i + 1, shift,
                             kept, sizes[part]);
                cr_assert_arr_eq(parts[part], text, kept);
            }
        }
}
