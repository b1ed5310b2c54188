// SPDX-License-Identifier: Apache-2.0
/*
 * test_properties.c: /v1/properties: what it answers in JSON and as a table, for every kind, and
 * what it refuses. The numbers are those of core/test_properties.
 */
#include <math.h>

#include "call.h"
#include "posenc.h"

static const json_t *readout(const json_t *answer, const char *property, const char *member)
{
    const json_t *found = json_object_get(json_object_get(answer, "readouts"), property);
    cr_assert(found, "%s", property);
    return json_object_get(found, member);
}

Test(properties, have_verdicts_and_numbers)
{
    json_t *answer = call_ask("/v1/properties?kind=sinusoidal&dim=64", NULL, 200);
    cr_expect(json_is_true(readout(answer, "unique", "holds")));
    cr_expect_float_eq(json_number_value(readout(answer, "unique", "smallest_distance")),
                       1.4718480481224778, 1e-12);
    cr_expect(json_is_false(readout(answer, "relative", "holds")));
    cr_expect_eq(json_number_value(readout(answer, "relative", "at_offset")), 20);
    cr_expect(json_is_null(readout(answer, "length_independent", "length")), "there is none");
    const json_t *decay =
        json_object_get(json_object_get(json_object_get(answer, "tensors"), "decay"), "data");
    cr_expect_eq(json_array_size(decay), 128);
    cr_expect_eq(json_number_value(json_array_get(decay, 0)), 1);
    const json_t *params = json_object_get(answer, "params");
    cr_expect_str_eq(json_string_value(json_object_get(params, "positions")), "0:128");
    cr_expect_eq(json_number_value(json_object_get(params, "trained")), 64);
    json_decref(answer);
    answer = call_ask("/v1/properties?kind=alibi", NULL, 200);
    cr_expect(json_is_null(readout(answer, "linear_shift", "holds")));
    cr_expect(strstr(json_string_value(readout(answer, "linear_shift", "reason")), "distance"));
    json_decref(answer);
}

/* Each kind of the catalogue, with nothing but its name. */
Test(properties, of_every_kind)
{
    for (size_t k = 0; k < pe_kinds_n(); k++) {
        char target[64];
        snprintf(target, sizeof target, "/v1/properties?kind=%s", pe_kind_at(k)->name);
        json_t *answer = call_ask(target, NULL, 200);
        for (enum pe_wish wish = 0; wish < PE_WISHES_N; wish++) {
            const char *name = pe_wish_row(wish)->name;
            const json_t *holds = readout(answer, name, "holds");
            const json_t *words = readout(answer, name, json_is_null(holds) ? "reason" : "says");
            cr_expect(holds && json_string_length(words) > 0, "%s: %s", target, name);
        }
        json_decref(answer);
    }
}

Test(properties, are_a_table_for_a_lesson)
{
    struct request request;
    call(&request, "GET", "/v1/properties.txt?kind=rope&dim=64", NULL);
    const char *text = call_body(&request);
    static const char *const lines[] = {
        "rope:dim=64, measured at 128 positions:\n\n",
        "property           holds measured\n",
        "\nunique             yes   every position has a code of its own (smallest distance\n",
        "\n                         = 1.472, first position = 0, second position = 1)\n",
        "\nrelative           yes   equal distances score equally (spread = 0,",
        "\ndimensions         no    positions have one axis (axes = 1)\n",
        "\nBeyond the positions of training: Has a value everywhere.",
        "\nNext: ",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect(strstr(text, lines[i]), "%s\n%s", lines[i], text);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        cr_expect_leq(strcspn(line, "\n"), 80, "%s", line);
    call_end(&request);
    call(&request, "GET", "/v1/properties.txt?kind=cope", NULL);
    text = call_body(&request);
    cr_expect(strstr(text, "\nunique             -     biases depend on"), "%s", text);
    call_end(&request);
}

Test(properties, refuses)
{
    static const struct {
        const char *query, *where, *says;
        int status;
    } rows[] = {
        {"kind=rope&positions=7", "positions", "2 to 4096, got 1", 400},
        {"kind=rope&positions=0:5000", "positions", "2 to 4096, got 5000", 422},
        {"kind=rope&dim=2048&positions=0:4096", "positions", "multiply-adds", 422},
        {"kind=learned&rows=4&positions=3:9", "positions", "fewer than two", 400},
        {"kind=rope&trained=0", "trained", "trained", 400},
        {"kind=rope&content=waves", "content", "content must be", 400},
        {"positions=0:4", "kind", "kind is missing", 400},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char target[200];
        snprintf(target, sizeof target, "/v1/properties?%s", rows[r].query);
        call_refused(
            &(struct call_refusal){target, NULL, rows[r].status, rows[r].where, rows[r].says});
    }
}
