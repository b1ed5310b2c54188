// SPDX-License-Identifier: Apache-2.0
/*
 * test_truth.c: every truth_* file of tests/golden over HTTP: what a client reads from the answer
 * is the recorded double, bit for bit.
 */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "golden/golden.h"
#include "harness.h"

#define POSITIONS_MAX 256
#define URL_MAX       8192

static struct e2e_daemon daemon_;

static void start(void)
{
    e2e_start(&daemon_, NULL);
}

static void stop(void)
{
    e2e_stop(&daemon_);
}

TestSuite(truth, .init = start, .fini = stop, .timeout = 120);

static json_t *get(const char *target)
{
    struct e2e_answer answer = e2e_request(&daemon_, "GET", target, NULL, NULL, 0);
    cr_assert_eq(answer.status, 200, "%s: %s", target, answer.body);
    json_error_t error;
    json_t *json = json_loadb(answer.body, answer.body_len, 0, &error);
    cr_assert(json, "%s: %s", target, error.text);
    e2e_answer_free(&answer);
    return json;
}

static const json_t *data(const json_t *answer, const char *tensor)
{
    const json_t *found =
        json_object_get(json_object_get(json_object_get(answer, "tensors"), tensor), "data");
    cr_assert(found, "no tensor %s", tensor);
    return found;
}

/* All positions of a truth file, comma-separated, each with digits enough to come back. */
static void append_positions(char *url, const json_t *positions)
{
    size_t len = strlen(url);
    for (size_t i = 0; i < json_array_size(positions); i++)
        len += (size_t)snprintf(url + len, URL_MAX - len, "%s%.17g", i ? "," : "",
                                golden_number(json_array_get(positions, i)));
    cr_assert_lt(len, URL_MAX);
}

/* Rows of numbers against rows of recorded ones; `column` + i is where number i stands. */
static void compare_rows(const json_t *got, size_t column, const json_t *expected, const char *name)
{
    size_t wrong = 0;
    for (size_t r = 0; r < json_array_size(expected); r++) {
        const json_t *row = json_array_get(expected, r);
        for (size_t i = 0; i < json_array_size(row); i++) {
            double value = json_number_value(json_array_get(json_array_get(got, r), column + i));
            double truth = golden_number(json_array_get(row, i));
            if (memcmp(&value, &truth, sizeof value) != 0 && wrong++ == 0)
                cr_expect_fail("%s row %zu number %zu: %a, not %a", name, r, i, value, truth);
        }
    }
    cr_expect_eq(wrong, 0, "%s: %zu numbers are wrong", name, wrong);
}

static void check_cos_sin(const json_t *truth, const char *name)
{
    char url[URL_MAX];
    snprintf(url, sizeof url,
             "/v1/table?kind=rope&dim=%" JSON_INTEGER_FORMAT "&base=%.17g"
             "&value=both&positions=",
             json_integer_value(json_object_get(truth, "dim")),
             golden_number(json_object_get(truth, "base")));
    append_positions(url, json_object_get(truth, "positions"));
    json_t *answer = get(url);
    compare_rows(data(answer, "cos"), 0, json_object_get(truth, "cos"), name);
    compare_rows(data(answer, "sin"), 0, json_object_get(truth, "sin"), name);
    json_decref(answer);
}

Test(truth, of_rope_far_and_fractional_positions)
{
    static const char *const names[] = {
        "truth_rope_base10000_d64.json",   "truth_rope_base10000_d128.json",
        "truth_rope_base500000_d64.json",  "truth_rope_base500000_d128.json",
        "truth_fractional_positions.json",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *truth = golden_load(names[i]);
        check_cos_sin(truth, names[i]);
        json_decref(truth);
    }
}

/* The rope files hold inverse frequencies too, and are the paper's sinusoidal table. */
Test(truth, of_frequencies_and_of_the_papers_table)
{
    json_t *truth = golden_load("truth_rope_base10000_d64.json");
    json_t *answer = get("/v1/frequencies?kind=rope&dim=64");
    const json_t *expected = json_object_get(truth, "inv_freq");
    for (size_t i = 0; i < json_array_size(expected); i++)
        cr_expect_eq(json_number_value(json_array_get(data(answer, "inv_freq"), i)),
                     golden_number(json_array_get(expected, i)), "inv_freq %zu", i);
    json_decref(answer);

    char url[URL_MAX] = "/v1/table?kind=sinusoidal&dim=64&layout=half&positions=";
    append_positions(url, json_object_get(truth, "positions"));
    answer = get(url);
    compare_rows(data(answer, "table"), 0, json_object_get(truth, "sin"), "sinusoidal, sin");
    compare_rows(data(answer, "table"), 32, json_object_get(truth, "cos"), "sinusoidal, cos");
    json_decref(answer);
    json_decref(truth);
}

Test(truth, of_the_endpoint_spacing)
{
    json_t *truth = golden_load("truth_fairseq_base10000_d64.json");
    char url[URL_MAX] = "/v1/table?kind=sinusoidal&dim=64&layout=half&spacing=endpoint&positions=";
    append_positions(url, json_object_get(truth, "positions"));
    json_t *answer = get(url);
    compare_rows(data(answer, "table"), 0, json_object_get(truth, "sin"), "fairseq, sin");
    compare_rows(data(answer, "table"), 32, json_object_get(truth, "cos"), "fairseq, cos");
    json_decref(answer);
    json_decref(truth);
}

Test(truth, of_alibi_slopes)
{
    json_t *truth = golden_load("truth_alibi.json");
    const char *heads;
    json_t *expected;
    json_object_foreach(json_object_get(truth, "heads"), heads, expected)
    {
        char url[128];
        snprintf(url, sizeof url, "/v1/table?kind=alibi&value=slopes&heads=%s", heads);
        json_t *answer = get(url);
        cr_assert_eq(json_array_size(data(answer, "slopes")), json_array_size(expected));
        for (size_t i = 0; i < json_array_size(expected); i++)
            cr_expect_eq(json_number_value(json_array_get(data(answer, "slopes"), i)),
                         golden_number(json_array_get(expected, i)), "%s heads, slope %zu", heads,
                         i);
        json_decref(answer);
    }
    json_decref(truth);
}

/* PE(0).PE(k) of the facts file, from any anchor, as the position term of the score. */
Test(truth, of_products_of_positions)
{
    json_t *truth = golden_load("truth_facts.json");
    const char *name;
    json_t *fact;
    size_t checked = 0;
    json_object_foreach(json_object_get(truth, "facts"), name, fact)
    {
        int offset, dim;
        char url[256];
        if (sscanf(name, "PE(0).PE(%d) d=%d base=10000", &offset, &dim) != 2)
            continue;
        snprintf(url, sizeof url,
                 "/v1/scores?kind=sinusoidal&dim=%d&terms=1&anchors=0,17,100000&offsets=%d", dim,
                 offset);
        json_t *answer = get(url);
        for (size_t a = 0; a < 3; a++)
            cr_expect_eq(
                json_number_value(json_array_get(json_array_get(data(answer, "position"), a), 0)),
                golden_number(fact), "%s from anchor %zu", name, a);
        json_decref(answer);
        checked++;
    }
    cr_expect_geq(checked, 8);
    json_decref(truth);
}
