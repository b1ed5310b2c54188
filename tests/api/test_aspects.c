// SPDX-License-Identifier: Apache-2.0
/*
 * test_aspects.c: further tensors of an answer (`with`), and how cos, sin and angles are laid out
 * (`width`, `pack`), in every endpoint that has them. What is expected follows from the half-wide
 * cos and sin, or from the definition.
 */
#include <math.h>

#include "call.h"

#define MAX 64 /* numbers of one tensor here */

static size_t flatten(const json_t *data, double *out, size_t n)
{
    if (!json_is_array(data)) {
        cr_assert(n < MAX && json_is_number(data));
        out[n] = json_number_value(data);
        return n + 1;
    }
    for (size_t i = 0; i < json_array_size(data); i++)
        n = flatten(json_array_get(data, i), out, n);
    return n;
}

/* The numbers of a tensor; its shape as text. */
static size_t numbers(const json_t *answer, const char *name, double *out, const char *shape)
{
    const json_t *tensor = json_object_get(json_object_get(answer, "tensors"), name);
    cr_assert(tensor, "no tensor %s", name);
    char *text = json_dumps(json_object_get(tensor, "shape"), JSON_COMPACT);
    cr_expect_str_eq(text, shape, "%s", name);
    free(text);
    return flatten(json_object_get(tensor, "data"), out, 0);
}

/* One row of pairs 0 to 3 as each width lays them out. */
static const struct {
    const char *query;
    size_t pair[8];
} widths[] = {
    {"kind=rope&dim=8&width=tiled", {0, 1, 2, 3, 0, 1, 2, 3}},
    {"kind=rope&dim=8&width=repeated", {0, 0, 1, 1, 2, 2, 3, 3}},
    {"kind=rope&dim=8&width=per_axis", {0, 1, 2, 3, 0, 1, 2, 3}},
    {"kind=rope&dim=8&width=full", {0, 0, 1, 1, 2, 2, 3, 3}},
    {"kind=rope&dim=8&layout=half&width=full", {0, 1, 2, 3, 0, 1, 2, 3}},
    {"kind=rope2d&dim=8&width=per_axis", {0, 1, 0, 1, 2, 3, 2, 3}},
    {"kind=rope2d&dim=8&layout=half&width=tiled", {0, 1, 2, 3, 0, 1, 2, 3}},
};

static const char *position_of(const char *query)
{
    return strstr(query, "rope2d") ? "3;5" : "3";
}

/* Half-wide cos and sin of the kind of a query at its position. */
static void half_of(const char *query, double *cosine, double *sine)
{
    char target[200];
    snprintf(target, sizeof target, "/v1/table?%.*s&dim=8&value=both&positions=%s",
             (int)strcspn(query, "&"), query, position_of(query));
    json_t *answer = call_ask(target, NULL, 200);
    numbers(answer, "cos", cosine, "[1,4]");
    numbers(answer, "sin", sine, "[1,4]");
    json_decref(answer);
}

Test(widths, name_the_pair_of_each_column)
{
    double cosine[MAX], sine[MAX], got[MAX];
    char target[200];
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        half_of(widths[i].query, cosine, sine);
        snprintf(target, sizeof target, "/v1/table?%s&positions=%s", widths[i].query,
                 position_of(widths[i].query));
        json_t *table = call_ask(target, NULL, 200);
        memcpy(target, "/v1/rotation", 12);
        snprintf(target, sizeof target, "/v1/rotation?%s&positions=%s", widths[i].query,
                 position_of(widths[i].query));
        json_t *rotation = call_ask(target, NULL, 200);
        for (int endpoint = 0; endpoint < 2; endpoint++) {
            const json_t *answer = endpoint ? rotation : table;
            numbers(answer, "cos", got, "[1,8]");
            for (size_t c = 0; c < 8; c++)
                cr_expect_eq(got[c], cosine[widths[i].pair[c]], "%s cos %zu", widths[i].query, c);
            numbers(answer, "sin", got, "[1,8]");
            for (size_t c = 0; c < 8; c++)
                cr_expect_eq(got[c], sine[widths[i].pair[c]], "%s sin %zu", widths[i].query, c);
        }
        numbers(rotation, "angle", got, "[1,8]");
        for (size_t c = 0; c < 8; c++)
            cr_expect_float_eq(cos(got[c]), cosine[widths[i].pair[c]], 1e-15, "%s angle %zu",
                               widths[i].query, c);
        json_decref(table);
        json_decref(rotation);
    }
}

/* `place` of cos and sin number c among n columns. */
static const struct {
    const char *pack, *shape;
    size_t cosine, sine, step;
} packs[] = {
    {"cos_sin", "[2,16]", 0, 8, 1},
    {"sin_cos", "[2,16]", 8, 0, 1},
    {"stacked", "[2,8,2]", 0, 1, 2},
};

static void expect_packed(const json_t *answer, const double *cosine, const double *sine, size_t i)
{
    double got[MAX];
    numbers(answer, "table", got, packs[i].shape);
    for (size_t row = 0; row < 2; row++)
        for (size_t c = 0; c < 8; c++) {
            size_t at = row * 16 + c * packs[i].step;
            cr_expect_eq(got[at + packs[i].cosine], cosine[row * 8 + c], "%s", packs[i].pack);
            cr_expect_eq(got[at + packs[i].sine], sine[row * 8 + c], "%s", packs[i].pack);
        }
}

Test(packs, join_what_is_separate)
{
    double cosine[MAX], sine[MAX];
    char text[300];
    json_t *both =
        call_ask("/v1/table?kind=rope&dim=8&value=both&width=tiled&positions=3,9", NULL, 200);
    numbers(both, "cos", cosine, "[2,8]");
    numbers(both, "sin", sine, "[2,8]");
    json_decref(both);
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        for (int rotation = 0; rotation < 2; rotation++) {
            snprintf(text, sizeof text, "/v1/%s?kind=rope&dim=8&width=tiled&positions=3,9&pack=%s",
                     rotation ? "rotation" : "table", packs[i].pack);
            json_t *answer = call_ask(text, NULL, 200);
            expect_packed(answer, cosine, sine, i);
            cr_expect_null(json_object_get(json_object_get(answer, "tensors"), "cos"));
            json_decref(answer);
        }
        snprintf(text, sizeof text,
                 "{\"spec\":\"rope:dim=8\",\"positions\":[3,9],\"with\":[\"table\"],\"width\":"
                 "\"tiled\",\"pack\":\"%s\",\"x\":[[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8]]}",
                 packs[i].pack);
        json_t *apply = call_ask("/v1/apply", text, 200);
        expect_packed(apply, cosine, sine, i);
        json_decref(apply);
    }
}

Test(columns, are_chosen_from_what_width_lays_out)
{
    double got[MAX], sine[MAX], cosine[MAX];
    half_of("kind=rope", cosine, sine);
    json_t *some = call_ask(
        "/v1/table?kind=rope&dim=8&value=sin&width=tiled&positions=3&channels=6,1", NULL, 200);
    numbers(some, "sin", got, "[1,2]");
    cr_expect(got[0] == sine[2] && got[1] == sine[1]);
    json_t *pairs =
        call_ask("/v1/rotation?kind=rope&dim=8&width=repeated&positions=3&pairs=2,0", NULL, 200);
    numbers(pairs, "sin", got, "[1,4]");
    cr_expect(got[0] == sine[2] && got[1] == sine[2] && got[2] == sine[0] && got[3] == sine[0]);
    json_decref(some);
    json_decref(pairs);
}

/* A query and one tensor of its answer. */
static const struct {
    const char *target, *body, *name, *shape;
    size_t n;
    double value[8];
} rows[] = {
    {"/v1/frequencies?kind=rope&dim=8&rotary_dim=4&with=passthrough",
     NULL,
     "passthrough",
     "[4]",
     4,
     {4, 5, 6, 7}},
    {"/v1/frequencies?kind=rope2d&dim=16&with=axis",
     NULL,
     "axis",
     "[8]",
     8,
     {0, 0, 0, 0, 1, 1, 1, 1}},
    {"/v1/frequencies?kind=rope2d&dim=8&axes_split=alternate&with=axis",
     NULL,
     "axis",
     "[4]",
     4,
     {0, 1, 0, 1}},
    {"/v1/table?kind=rope&dim=8&with=passthrough", NULL, "passthrough", "[0]", 0, {0}},
    {"/v1/table?kind=rope&dim=4&with=inv_freq", NULL, "inv_freq", "[2]", 2, {1, 0.01}},
    {"/v1/table?kind=sinusoidal&dim=4&with=inv_freq", NULL, "inv_freq", "[2]", 2, {1, 0.01}},
    {"/v1/table?kind=alibi&heads=2&positions=0:2&with=slopes",
     NULL,
     "slopes",
     "[2]",
     2,
     {0.0625, 0.00390625}},
    {"/v1/table?kind=rope&dim=4&scaling=linear&factor=4&with=base_inv_freq",
     NULL,
     "base_inv_freq",
     "[2]",
     2,
     {1, 0.01}},
    {"/v1/rotation?kind=rope&dim=4&positions=8,10&scaling=linear&factor=4&with=positions",
     NULL,
     "positions",
     "[2]",
     2,
     {2, 2.5}},
    {"/v1/rotation?kind=rope&dim=4&positions=7&shift=0.5&scaling=linear&factor=3&with=positions",
     NULL,
     "positions",
     "[1]",
     1,
     {2.5}},
    /* the sum has 54 bits, and a third of it is nearest to this */
    {"/v1/rotation?kind=rope&dim=4&positions=2^53&shift=1&scaling=linear&factor=3&with=positions",
     NULL,
     "positions",
     "[1]",
     1,
     {3002399751580331}},
    {"/v1/table?kind=sinusoidal&dim=4&positions=257&shift=1&stages=pos:bf16&with=positions",
     NULL,
     "positions",
     "[1]",
     1,
     {257}},
    {"/v1/table?kind=rope2d&dim=4&grid=2x2&with=positions",
     NULL,
     "positions",
     "[2,4]",
     8,
     {0, 0, 1, 1, 0, 1, 0, 1}},
    {"/v1/apply",
     "{\"spec\":\"rope:dim=2\",\"positions\":[[0,1],[5,6]],\"axes\":\"btd\","
     "\"x\":[[[1,2],[1,2]],[[1,2],[1,2]]],\"with\":\"angle\"}",
     "angle",
     "[2,2,1]",
     4,
     {0, 1, 5, 6}},
    {"/v1/apply",
     "{\"spec\":\"alibi:slope=0.5\",\"positions\":[2],\"scores\":[[1,1,1]],"
     "\"with\":[\"bias\"]}",
     "bias",
     "[1,1,3]",
     3,
     {-1, -0.5, 0}},
    {"/v1/apply",
     "{\"spec\":\"rope:dim=4,rotary_dim=2\",\"positions\":[0],\"x\":[[1,2,3,4]],"
     "\"with\":[\"passthrough\"]}",
     "passthrough",
     "[2]",
     2,
     {2, 3}},
};

Test(with, adds_what_it_names)
{
    double got[MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *answer = call_ask(rows[i].target, rows[i].body, 200);
        size_t n = numbers(answer, rows[i].name, got, rows[i].shape);
        cr_expect_eq(n, rows[i].n, "%s: %zu", rows[i].target, n);
        for (size_t j = 0; j < n && j < rows[i].n; j++)
            cr_expect_eq(got[j], rows[i].value[j], "%s %s [%zu]: %.17g", rows[i].target,
                         rows[i].name, j, got[j]);
        json_decref(answer);
    }
}

/* Tensors that come anyway, twice, or in another order are the same request. */
Test(with, has_one_canonical_form)
{
    static const struct {
        const char *target, *self;
    } same[] = {
        {"/v1/rotation?kind=rope&dim=4&with=cos,sin,angle", "/v1/rotation?kind=rope&dim=4"},
        {"/v1/rotation?kind=rope&dim=4&width=half&pack=separate", "/v1/rotation?kind=rope&dim=4"},
        {"/v1/table?kind=rope&dim=4&with=sin,inv_freq,cos,sin",
         "/v1/table?kind=rope&dim=4&with=cos,sin,inv_freq"},
        {"/v1/table?kind=rope&dim=4&with=table", "/v1/table?kind=rope&dim=4"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        json_t *answer = call_ask(same[i].target, NULL, 200);
        const json_t *self = json_object_get(json_object_get(answer, "links"), "self");
        cr_expect_str_eq(json_string_value(self), same[i].self);
        json_decref(answer);
    }
}

Test(with, keeps_the_dtype_that_is_asked_for)
{
    static const struct {
        const char *more, *dtype;
    } asks[] = {{"", "f64"}, {",\"dtype\":\"f32\"", "f32"}};
    for (size_t i = 0; i < 2; i++) {
        char body[200];
        snprintf(body, sizeof body,
                 "{\"spec\":\"rope:dim=2\",\"x\":{\"dtype\":\"bf16\",\"data\":[[1,2]]},"
                 "\"with\":\"cos,positions\"%s}",
                 asks[i].more);
        json_t *answer = call_ask("/v1/apply", body, 200),
               *tensors = json_object_get(answer, "tensors");
        const json_t *cosine = json_object_get(json_object_get(tensors, "cos"), "dtype");
        const json_t *positions = json_object_get(json_object_get(tensors, "positions"), "dtype");
        cr_expect_str_eq(json_string_value(cosine), asks[i].dtype);
        cr_expect_str_eq(json_string_value(positions), "f64");
        json_decref(answer);
    }
}

Test(with, says_what_cannot_be_had)
{
    static const struct {
        const char *target, *body, *parameter;
    } wrong[] = {
        {"/v1/table?kind=rope&with=bias", NULL, "with"},
        {"/v1/table?kind=none&with=inv_freq", NULL, "with"},
        {"/v1/table?kind=t5&with=slopes", NULL, "with"},
        {"/v1/table?kind=rope&with=coss", NULL, "with"},
        {"/v1/table?kind=rope&with=", NULL, "with"},
        {"/v1/frequencies?kind=rope&with=cos", NULL, "with"},
        {"/v1/table?kind=sinusoidal&width=tiled", NULL, "width"},
        {"/v1/table?kind=sinusoidal&pack=cos_sin", NULL, "pack"},
        {"/v1/table?kind=rope&value=encoding&pack=stacked", NULL, "pack"},
        {"/v1/table?kind=rope&value=cos&pack=stacked", NULL, "pack"},
        {"/v1/apply?kind=rope&width=tiled", NULL, "width"},
        {"/v1/rotation?kind=rope&pairs=0,1&width=full", NULL, "width"},
        {"/v1/apply",
         "{\"spec\":\"rope:dim=2\",\"q\":[[1,2]],\"k\":[[1,2]],\"k_positions\":[4],"
         "\"with\":\"cos\"}",
         "/with"},
        {"/v1/apply",
         "{\"spec\":\"rope:dim=2\",\"q\":[[1,2]],\"k\":[[1,2],[1,2]],\"with\":\"cos\"}", "/with"},
        {"/v1/apply", "{\"spec\":\"rope:dim=2\",\"x\":[[1,2]],\"with\":[\"cos\",1]}", "/with"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *problem = call_ask(wrong[i].target, wrong[i].body, 400);
        const json_t *one = json_array_get(json_object_get(problem, "errors"), 0);
        const json_t *where = json_object_get(one, "parameter");
        where = where ? where : json_object_get(one, "pointer");
        cr_expect_str_eq(json_string_value(where), wrong[i].parameter, "%s %s", wrong[i].target,
                         wrong[i].body ? wrong[i].body : "");
        json_decref(problem);
    }
}
