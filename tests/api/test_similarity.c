// SPDX-License-Identifier: Apache-2.0
/*
 * test_similarity.c: /v1/similarity and /v1/grid: published numbers, the decay, cells, refusals.
 */
#include "call.h"

static const json_t *member(const json_t *json, const char *outer, const char *inner)
{
    return json_object_get(json_object_get(json, outer), inner);
}

static double at(const json_t *list, size_t i)
{
    cr_assert(json_is_number(json_array_get(list, i)), "%zu", i);
    return json_number_value(json_array_get(list, i));
}

static const json_t *row(const json_t *answer, const char *tensor, size_t i)
{
    return json_array_get(json_object_get(member(answer, "tensors", tensor), "data"), i);
}

Test(similarity, of_sinusoids_is_that_of_the_specification)
{
    json_t *answer = call_ask("/v1/similarity?kind=sinusoidal&dim=64", NULL, 200);
    cr_expect_eq(json_array_size(row(answer, "similarity", 63)), 64);
    for (size_t i = 2; i < 64; i++) {
        cr_expect_eq(at(row(answer, "similarity", i), i), 32);
        cr_expect_eq(at(row(answer, "similarity", i), i - 1), 30.916831661619025);
        cr_expect_eq(at(row(answer, "similarity", i - 2), i), 28.303862004129687);
    }
    const json_t *decay = member(answer, "readouts", "decay");
    cr_expect_eq(at(json_object_get(decay, "mean"), 1), 30.916831661619025);
    cr_expect_eq(at(json_object_get(decay, "distance"), 63), 63);
    json_decref(answer);
}

/* Codes 0, 1, 2, 3 of integers: products 0 1 4 9 at distance 0, 0 2 6 at 1, 0 3 at 2, 0 at 3. */
Test(similarity, decays_by_means_over_all_pairs)
{
    static const double means[] = {3.5, 8.0 / 3, 1.5, 0};
    json_t *answer = call_ask("/v1/similarity?kind=integer&dim=1&positions=0:4", NULL, 200);
    const json_t *decay = member(answer, "readouts", "decay");
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(at(json_object_get(decay, "mean"), i), means[i]);
    cr_expect_eq(json_number_value(json_object_get(decay, "half_distance")), 2);
    json_decref(answer);
    answer = call_ask("/v1/similarity?kind=integer&dim=1&positions=0,1,3", NULL, 200);
    cr_expect(!member(answer, "readouts", "decay"));
    json_decref(answer);
}

Test(similarity, by_the_distance_is_one_row)
{
    json_t *answer =
        call_ask("/v1/similarity?kind=rope&dim=128&positions=0&k_positions=0,1,10,100,1000,10000",
                 NULL, 200);
    static const double published[] = {
        1, 0.9702138095, 0.6690628578, 0.4772414797, 0.1590270021, -0.0278937801};
    for (size_t i = 0; i < 6; i++)
        cr_expect_float_eq(at(row(answer, "similarity", 0), i), published[i], 5e-11, "%zu", i);
    json_decref(answer);
    answer = call_ask("/v1/similarity?kind=rope&dim=64&value=bound&positions=5&k_positions=5", NULL,
                      200);
    cr_expect_eq(at(row(answer, "bound", 0), 0), 16.5);
    json_decref(answer);
}

/* Half of 32 pairs by the row, half by the column: the mean of the two. */
Test(similarity, of_a_patch)
{
    json_t *answer = call_ask("/v1/grid?kind=rope2d&dim=64", NULL, 200);
    json_t *line =
        call_ask("/v1/similarity?kind=rope&dim=32&positions=0&k_positions=0:8", NULL, 200);
    for (size_t r = 0; r < 14; r++)
        for (size_t c = 0; c < 14; c++) {
            size_t up = r < 7 ? 7 - r : r - 7, left = c < 7 ? 7 - c : c - 7;
            double wanted =
                (at(row(line, "similarity", 0), up) + at(row(line, "similarity", 0), left)) / 2;
            cr_expect_float_eq(at(row(answer, "similarity", r), c), wanted, 1e-15, "%zu,%zu", r, c);
        }
    const json_t *query = member(answer, "readouts", "query");
    cr_expect_eq(at(json_object_get(query, "cell"), 0), 7);
    cr_expect_eq(json_number_value(json_object_get(query, "value")), 1);
    json_decref(answer);
    json_decref(line);
}

Test(similarity, of_any_cell_of_any_grid)
{
    static const char *const targets[] = {
        "/v1/grid?kind=rope2d&dim=8&grid=2x3&query=0,2",
        "/v1/grid?kind=sincos2d&dim=8&grid=2x3&query=0,2&coords=center&normalize=cosine",
        "/v1/grid?spec=sine2d:dim=8&grid=2x3&query=0,2&normalize=cosine",
        "/v1/grid?kind=axial&dim=16&grid=2x3&query=0,2&coords=scaled&ref=16,16",
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        json_t *answer = call_ask(targets[i], NULL, 200);
        for (size_t c = 0; c < 6; c++) {
            double value = at(row(answer, "similarity", c / 3), c % 3);
            cr_expect(c == 2 ? value == 1 : value < 1, "%s: %g", targets[i], value);
        }
        json_decref(answer);
    }
    json_t *answer = call_ask("/v1/grid?kind=mrope&dim=16&grid=2x2x2&query=1,0,1", NULL, 200);
    const json_t *frame = row(answer, "similarity", 1);
    cr_expect_eq(at(json_array_get(frame, 0), 1), 1);
    json_decref(answer);
}

/* The cell that is compared is always told; the middle one spelt out is no other request. */
Test(similarity, of_the_middle_cell_without_a_query)
{
    static const struct {
        const char *target, *self;
        double cell[3];
        size_t axes;
    } rows[] = {
        {"/v1/grid?kind=rope2d&dim=8", "/v1/grid?kind=rope2d&dim=8", {7, 7}, 2},
        {"/v1/grid?kind=rope2d&dim=8&query=7,7", "/v1/grid?kind=rope2d&dim=8", {7, 7}, 2},
        {"/v1/grid?kind=rope2d&dim=8&query=7,6", "/v1/grid?kind=rope2d&dim=8&query=7,6", {7, 6}, 2},
        {"/v1/grid?kind=rope2d&dim=8&grid=3x1", "/v1/grid?kind=rope2d&dim=8&grid=3x1", {1, 0}, 2},
        {"/v1/grid?kind=mrope&dim=16&grid=2x3x4",
         "/v1/grid?kind=mrope&dim=16&grid=2x3x4",
         {1, 1, 2},
         3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *answer = call_ask(rows[i].target, NULL, 200);
        const json_t *asked = member(answer, "params", "query");
        const json_t *told = json_object_get(member(answer, "readouts", "query"), "cell");
        cr_expect_eq(json_array_size(asked), rows[i].axes, "%s", rows[i].target);
        cr_expect(json_equal(asked, told), "%s", rows[i].target);
        for (size_t axis = 0; axis < rows[i].axes; axis++)
            cr_expect_eq(at(asked, axis), rows[i].cell[axis], "%s", rows[i].target);
        cr_expect_str_eq(json_string_value(member(answer, "links", "self")), rows[i].self);
        json_decref(answer);
    }
}

Test(similarity, is_told_in_sentences)
{
    static const struct {
        const char *target, *says;
    } cases[] = {
        {"/v1/similarity.txt?kind=sinusoidal&dim=64&positions=0:3",
         "\nTwo positions have 32 in common at distance 0, on average, and 30.9168 at distance 1.\n"
         "Up to the last distance, 2, it stays above half of that.\n"
         "The least is 28.3039, at distance 2.\nNext: "},
        {"/v1/similarity.txt?kind=integer&dim=1&positions=0:4",
         "\nAt distance 2 it is at most half of that for the first time.\n"},
        {"/v1/grid.txt?kind=rope2d&dim=8&grid=2x3",
         "\nCell 1,1 with itself: 1.\nMost like it of the others is cell 0,1: 0.885063.\n"
         "Least like it is cell 0,0: 0.770126.\nNext: query=0,0 looks from there.\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request request;
        call(&request, "GET", cases[i].target, NULL);
        cr_expect(strstr(call_body(&request), cases[i].says), "%s", call_body(&request));
        call_end(&request);
    }
}

Test(similarity, refuses_what_it_cannot_do)
{
    static const struct {
        const char *target;
        int status;
        const char *says;
    } cases[] = {
        {"/v1/similarity?kind=alibi", 400, "no place"},
        {"/v1/similarity?kind=none", 400, "no place"},
        {"/v1/similarity?kind=xpos", 400, "multiplies scores"},
        {"/v1/similarity?kind=rope&pair_table=tiled", 400, "no angle between"},
        {"/v1/similarity?kind=integer&normalize=cosine", 400, "length 0"},
        {"/v1/similarity?kind=sinusoidal&value=bound", 400, "rotations by one angle"},
        {"/v1/similarity?kind=rope&value=bound&normalize=cosine", 400, "no effect"},
        {"/v1/similarity?kind=rope&value=bound&stages=table:f32", 400, "no effect"},
        {"/v1/similarity?kind=rope&stages=dot:f32", 400, "no effect"},
        {"/v1/similarity?kind=rope&positions=0:8192", 422, "limit"},
        {"/v1/similarity?kind=rope2d", 400, "axes"},
        {"/v1/grid?kind=rope", 400, "kind=rope2d"},
        {"/v1/grid?kind=rope2d&grid=2x2x2", 400, "3 axes"},
        {"/v1/grid?kind=rope2d&query=14,0", 400, "0 to 13"},
        {"/v1/grid?kind=rope2d&query=7", 400, "got 1 numbers"},
        {"/v1/grid?kind=rope2d&query=0.5,1", 400, "got 0.5"},
        {"/v1/grid?kind=sine2d&coords=center", 400, "no effect"},
        {"/v1/grid?kind=rope2d&grid=0x3", 400, "grid"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request request;
        call(&request, "GET", cases[i].target, NULL);
        const char *body = call_body(&request);
        cr_expect_eq(request.response.status, cases[i].status, "%s: %s", cases[i].target, body);
        cr_expect(strstr(body, cases[i].says), "%s: %s: %s", cases[i].target, cases[i].says, body);
        call_end(&request);
    }
}
