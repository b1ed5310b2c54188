// SPDX-License-Identifier: Apache-2.0
/* test_format.c: suffix, then format=, then Accept; what is not offered is refused by name. */
#include "call.h"

#define ALL (1U << FORMAT_JSON | 1U << FORMAT_CSV | 1U << FORMAT_TXT)

Test(format, order_of_choice)
{
    static const struct {
        const char *target, *accept;
        enum format format;
    } rows[] = {
        {"/v1/table", NULL, FORMAT_JSON},
        {"/v1/table", "*/*", FORMAT_JSON},
        {"/v1/table", "text/html,application/xhtml+xml,*/*;q=0.8", FORMAT_JSON},
        {"/v1/table", "text/csv", FORMAT_CSV},
        {"/v1/table", "text/*", FORMAT_TXT},
        {"/v1/table", "text/plain", FORMAT_TXT},
        {"/v1/table", "application/json;q=0.5, text/csv;q=0.6, text/plain;q=0.2", FORMAT_CSV},
        {"/v1/table", "application/x-npy, application/json;q=0.1", FORMAT_JSON},
        {"/v1/table.csv", "application/json", FORMAT_CSV},
        {"/v1/table.txt", "text/csv", FORMAT_TXT},
        {"/v1/table.json", NULL, FORMAT_JSON},
        {"/v1/table?format=csv", "application/json", FORMAT_CSV},
        {"/v1/table.csv?format=csv", NULL, FORMAT_CSV},
        {"/v1/table?format=txt&format=txt", NULL, FORMAT_TXT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        enum format format = FORMATS_N;
        call_with.accept = rows[i].accept;
        call_begin(&request, "GET", rows[i].target, NULL);
        cr_expect(format_choose(&request, ALL, NULL, &format), "%s: %s", rows[i].target,
                  request.err.item[0].detail);
        cr_expect_eq(format, rows[i].format, "%s, Accept: %s: %d", rows[i].target, rows[i].accept,
                     format);
        call_end(&request);
    }
}

Test(format, refusals)
{
    static const struct {
        const char *target, *accept;
        unsigned formats;
        enum err_code code;
        const char *detail, *hint;
    } rows[] = {
        {"/v1/table.npy", NULL, ALL, ERR_not_acceptable,
         "npy is not offered here, but json, txt and csv", ""},
        {"/v1/table?format=safetensors", NULL, ALL, ERR_not_acceptable,
         "safetensors is not offered here, but json, txt and csv", ""},
        {"/v1/table.svg", NULL, ALL, ERR_not_acceptable,
         "svg is not offered here, but json, txt and csv", ""},
        {"/v1/table.csv", NULL, 1U << FORMAT_JSON | 1U << FORMAT_TXT, ERR_not_acceptable,
         "csv is not offered here, but json and txt", ""},
        {"/v1/table", "text/csv", 1U << FORMAT_JSON, ERR_not_acceptable,
         "text/csv is not offered here, but json", ""},
        {"/v1/table", "application/x-npy", ALL, ERR_not_acceptable,
         "application/x-npy is not offered here, but json, txt and csv", ""},
        {"/v1/table", "*/*;q=0", ALL, ERR_not_acceptable,
         "*/*;q=0 is not offered here, but json, txt and csv", ""},
        {"/v1/table?format=jsn", NULL, ALL, ERR_invalid_value,
         "format must be json, txt or csv, got \"jsn\"", "did you mean \"json\"?"},
        {"/v1/table?format=", NULL, ALL, ERR_invalid_value,
         "format must be json, txt or csv, got \"\"", ""},
        {"/v1/table.csv?format=json", NULL, ALL, ERR_conflicting_parameters,
         "format is \"csv\" and \"json\" in one request", ""},
        {"/v1/table?format=csv&format=json", NULL, ALL, ERR_conflicting_parameters,
         "format is \"csv\" and \"json\" in one request", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        enum format format = FORMATS_N;
        call_with.accept = rows[i].accept;
        call_begin(&request, "GET", rows[i].target, NULL);
        cr_assert(!format_choose(&request, rows[i].formats, NULL, &format), "%s", rows[i].target);
        const struct err_item *item = &request.err.item[0];
        cr_expect_eq(request.err.n, 1, "%s", rows[i].target);
        cr_expect_eq(item->code, rows[i].code, "%s: %s", rows[i].target, err_slug(item->code));
        cr_expect_str_eq(item->detail, rows[i].detail, "%s: %s", rows[i].target, item->detail);
        cr_expect_str_eq(item->hint, rows[i].hint, "%s: %s", rows[i].target, item->hint);
        call_end(&request);
    }
}

Test(format, names)
{
    cr_expect_str_eq(format_suffix(FORMAT_JSON), "json");
    cr_expect_str_eq(format_suffix(FORMAT_CSV), "csv");
    cr_expect_str_eq(format_suffix(FORMAT_TXT), "txt");
    cr_expect_str_eq(format_media_type(FORMAT_JSON), "application/json");
    cr_expect_str_eq(format_media_type(FORMAT_CSV), "text/csv; header=present");
    cr_expect_str_eq(format_media_type(FORMAT_TXT), "text/plain; charset=utf-8");
}
