// SPDX-License-Identifier: Apache-2.0
/*
 * POST /v1/compare end to end: each known mistake, made here by the plain formula, is the first
 * that the diagnosis names.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "e2e/compare_with.h"
#include "posenc.h"

#define HEADS  3
#define TOKENS 6
#define DIM    16
#define COUNT  ((size_t)HEADS * TOKENS * DIM)
#define FIRST  37 /* position of the first token */

/* ---- The plain formula ---------------------------------------------------------------------- */

/* A way to rotate vectors [head, token, channel]; zeros stand for what is usual. */
struct way {
    bool half, turned_back, exchanged, heads_as_tokens, matched_wide;
    double base, shift, divide, factor;
    int rotary, exponent, from;
    double (*position)(double), (*frequency)(double), (*angle)(double), (*table)(double);
};

static double bf16(double x)
{
    uint16_t bits;
    pe_store(PE_BF16, &bits, 0, x);
    return pe_load(PE_BF16, &bits, 0);
}

static double f16(double x)
{
    uint16_t bits;
    pe_store(PE_F16, &bits, 0, x);
    return pe_load(PE_F16, &bits, 0);
}

static double as_it_is(double x)
{
    return x;
}

static double or_else(double value, double usual)
{
    return value != 0 ? value : usual;
}

static double (*rounding(double (*given)(double)))(double)
{
    return given ? given : as_it_is;
}

/* One vector at a position, in doubles. */
static void rotate_one(const struct way *way, double position, const double *x, double *y)
{
    int rotary = way->rotary ? way->rotary : DIM, pairs = rotary / 2;
    int apart = way->matched_wide ? DIM / 2 : pairs;
    double place = rounding(way->position)(position) + way->shift;
    memcpy(y, x, DIM * sizeof *y);
    for (int i = 0; i < pairs; i++) {
        double exponent = -2.0 * i / (way->exponent ? way->exponent : rotary);
        double w = pow(or_else(way->base, 10000), exponent) / or_else(way->divide, 1);
        double t = rounding(way->angle)(place * rounding(way->frequency)(w));
        double c = rounding(way->table)(cos(t) * or_else(way->factor, 1));
        double s = rounding(way->table)(sin(t) * or_else(way->factor, 1));
        int a = way->from + (way->half ? i : 2 * i);
        int b = way->half ? a + apart : a + 1;
        double kept = c;
        s = way->turned_back ? -s : s;
        c = way->exchanged ? s : c;
        s = way->exchanged ? kept : s;
        y[a] = x[a] * c - x[b] * s;
        y[b] = x[a] * s + x[b] * c;
    }
}

static void rotate(const struct way *way, const double *x, double *y)
{
    for (int h = 0; h < HEADS; h++)
        for (int t = 0; t < TOKENS; t++) {
            size_t at = (size_t)(h * TOKENS + t) * DIM;
            rotate_one(way, FIRST + (way->heads_as_tokens ? h : t), x + at, y + at);
        }
}

/* Numbers that a float holds, of a stream by its name. */
static void draw(const char *stream, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)((double)(int64_t)pe_draw(0, stream, i + 1) * 0x1p-63);
}

TestSuite(compare, .init = start, .fini = stop);

/* The first account of why they differ. */
static const char *first_account(const json_t *report, const char *member)
{
    const json_t *first = json_array_get(json_object_get(report, "diagnosis"), 0);
    const char *text = json_string_value(json_object_get(first, member));
    return text ? text : "";
}

/* ---- Mistakes ------------------------------------------------------------------------------- */

struct mistake {
    const char *spec;  /* of what is expected */
    struct way way;    /* what was done */
    int times;         /* how often; 0: once */
    const char *names; /* what the first account must say */
    const char *more;  /* members of the request; NULL */
};

#define ROPE "rope:dim=16"

static const struct mistake mistakes[] = {
    {ROPE, {.half = true}, 0, "layout=half", NULL},
    {ROPE ",layout=half", {.half = false}, 0, "layout=interleaved", NULL},
    {ROPE, {.turned_back = true}, 0, "direction=-1", NULL},
    {ROPE, {.exchanged = true}, 0, "cos and sin exchanged", NULL},
    {ROPE, {.base = 500000}, 0, "base=500000", NULL},
    {ROPE ",base=1e6", {0}, 0, "base=10000", NULL},
    {ROPE, {.shift = 1}, 0, "shift=1", NULL},
    {ROPE, {.shift = -1}, 0, "shift=-1", NULL},
    {ROPE, {.shift = 2}, 0, "shift=2: positions two further on", NULL},
    {ROPE ",rotary_dim=8", {0}, 0, "rotary_dim=16: rotary_dim is ignored", NULL},
    {ROPE ",layout=half,rotary_dim=8",
     {.half = true, .rotary = 8, .exponent = 16},
     0,
     "dim in the exponent",
     NULL},
    {ROPE ",layout=half,rotary_dim=8",
     {.half = true, .rotary = 8, .exponent = 16, .matched_wide = true},
     0,
     "pairs over the whole width",
     NULL},
    {ROPE ",layout=half,scaling=proportional,partial_rotary_factor=0.5",
     {.half = true, .rotary = 8},
     0,
     "pairs within the channels that turn",
     NULL},
    {ROPE, {.rotary = 8}, 0, "rotary_dim=8", NULL},
    {ROPE, {.rotary = 4}, 0, "rotary_dim=4", NULL},
    {ROPE ",rotary_dim=8", {.rotary = 8, .from = 8}, 0, "the last channels turn", NULL},
    {ROPE ",scaling=linear,factor=4", {0}, 0, "the scaling is ignored", NULL},
    {ROPE ",scaling=linear,factor=4", {.divide = 16}, 0, "the scaling applied twice", NULL},
    {ROPE ",scaling=linear,factor=4", {.divide = 0.25}, 0, "multiplied by the factor", NULL},
    {ROPE ",attention_factor=1.25", {0}, 0, "the attention factor is left out", NULL},
    {ROPE ",attention_factor=1.25", {.factor = 1.5625}, 0, "factor is applied twice", NULL},
    {ROPE, {.table = bf16}, 0, "cos and sin are kept in bf16", NULL},
    {ROPE, {.table = f16}, 0, "cos and sin are kept in f16", NULL},
    {ROPE, {.frequency = bf16}, 0, "frequencies are cast to bf16", NULL},
    {ROPE, {.frequency = f16}, 0, "frequencies are cast to f16", NULL},
    {ROPE, {.angle = bf16}, 0, "angles are made in bf16", NULL},
    {ROPE, {.angle = f16}, 0, "angles are made in f16", NULL},
    {ROPE, {.heads_as_tokens = true}, 0, "heads and tokens taken for each other", NULL},
    {ROPE, {0}, 2, "the encoding applied twice", NULL},
    {ROPE, {0}, -1, "nothing was encoded", NULL},
};

/* What is expected of vectors, with more members of the request. */
static json_t *expected_of(const char *spec, const char *more, const double *x)
{
    json_t *expected = json_pack("{s:s, s:s, s:s, s:o}", "spec", spec, "positions", "37:43", "axes",
                                 "htd", "x", tensor(x, "[3,6,16]", COUNT));
    json_t *members = more ? json_loads(more, 0, NULL) : NULL;
    if (members)
        json_object_update(expected, members);
    json_decref(members);
    return expected;
}

Test(compare, each_known_mistake_is_named_first)
{
    double x[COUNT], y[COUNT], twice[COUNT];
    draw("x", x, COUNT);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *mistake = &mistakes[i];
        rotate(&mistake->way, x, y);
        rotate(&mistake->way, y, twice);
        const double *actual = mistake->times == 2 ? twice : mistake->times < 0 ? x : y;
        json_t *report = post("/v1/compare",
                              json_pack("{s:o, s:o}", "actual", tensor(actual, "[3,6,16]", COUNT),
                                        "expected", expected_of(mistake->spec, mistake->more, x)),
                              200);
        cr_expect_not(json_is_true(json_object_get(report, "pass")));
        const char *says = first_account(report, "says");
        cr_expect(strstr(says, mistake->names) && strncmp(says, "actual ", 7) == 0,
                  "%s, should name %s: \"%s\"", mistake->spec, mistake->names, says);
        json_decref(report);
    }
}

/* Of q and k only k was rotated: q is what was posted. */
Test(compare, of_q_and_k_the_one_that_was_left_out)
{
    double q[COUNT], k[COUNT];
    draw("q", q, COUNT);
    draw("k", k, COUNT);
    json_t *expected = expected_of(ROPE, NULL, k);
    json_object_del(expected, "x");
    json_object_set_new(expected, "q", tensor(q, "[3,6,16]", COUNT));
    json_object_set_new(expected, "k", tensor(k, "[3,6,16]", COUNT));
    json_t *report = post(
        "/v1/compare",
        json_pack("{s:o, s:o}", "actual", tensor(q, "[3,6,16]", COUNT), "expected", expected), 200);
    cr_expect(strstr(first_account(report, "says"), "as when only k is rotated"), "%s",
              first_account(report, "says"));
    json_decref(report);
}

/* ---- Other kinds, other tensors ------------------------------------------------------------- */

/* Requests whose `actual` is what another request answers. */
static const struct {
    const char *made_by, *expected, *names;
} requests[] = {
    {"/v1/table?kind=sinusoidal&dim=8&positions=1:9",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:8", "shift=1"},
    {"/v1/table?kind=sinusoidal&dim=8&positions=0:8&layout=half",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:8", "layout=half"},
    {"/v1/table?kind=sinusoidal&dim=8&positions=0:8&spacing=endpoint",
     "/v1/table?kind=sinusoidal&dim=8&positions=0:8", "spacing=endpoint"},
    {"/v1/table?kind=learned&dim=8&positions=2:10", "/v1/table?kind=learned&dim=8&positions=0:8",
     "shift=2: positions two further on, as behind the reserved rows"},
    {"/v1/table?kind=rope&dim=8&stages=pos:bf16&positions=300:308",
     "/v1/table?kind=rope&dim=8&positions=300:308", "positions are cast to bf16"},
    {"/v1/table?kind=alibi&slope=0.3&positions=0:6&stages=table:bf16",
     "/v1/table?kind=alibi&slope=0.3&positions=0:6", "table:bf16"},
    {"/v1/apply?kind=mrope&dim=16&sections=4,2,2&shape=6,16&"
     "positions=0:6;5:11;3:9&axes_split=interleaved",
     "/v1/apply?kind=mrope&dim=16&sections=4,2,2&shape=6,16&positions=0:6;5:11;3:9",
     "axes_split=interleaved: pairs dealt out to the axes in another order"},
    {"/v1/apply?kind=mrope&dim=16&sections=4,2,2&shape=6,16&"
     "positions=0:6;5:11;3:9&section_axes=0,2,1",
     "/v1/apply?kind=mrope&dim=16&sections=4,2,2&shape=6,16&positions=0:6;5:11;3:9",
     "blocks read other axes"},
    {"/v1/apply?kind=rope&dim=16&scaling=yarn&factor=4&original_max=64&shape=6,16&"
     "positions=100:106&attention_factor=1",
     "/v1/"
     "apply?kind=rope&dim=16&scaling=yarn&factor=4&original_max=64&shape=6,16&positions=100:106",
     "the attention factor is left out"},
    {"/v1/apply?kind=rope&dim=16&scaling=yarn&factor=4&original_max=64&shape=6,16&"
     "positions=100:106&attention_factor=1.2964769927807063", /* (1 + ln 4 / 10)^2 */
     "/v1/"
     "apply?kind=rope&dim=16&scaling=yarn&factor=4&original_max=64&shape=6,16&positions=100:106",
     "the attention factor is applied twice"},
    {"/v1/apply?kind=rope&dim=16&shape=6,16&positions=100:106&dtype=f32",
     "/v1/apply?kind=rope&dim=16&scaling=yarn&factor=4&original_max=64&shape=6,16&"
     "positions=100:106&dtype=f32",
     "the scaling is ignored"},
    {"/v1/apply?kind=rope&dim=16&shape=6,16&positions=100:106",
     "/v1/apply?kind=rope&dim=16&scaling=llama3&factor=8&original_max=64&shape=6,16&"
     "positions=100:106",
     "the scaling is ignored"},
};

static json_t *get_tensor(const char *target)
{
    struct e2e_answer answer = e2e_request(&daemon_, "GET", target, NULL, NULL, 0);
    cr_assert_eq(answer.status, 200, "%s: %s", target, answer.body);
    json_t *json = json_loads(answer.body, 0, NULL);
    json_t *tensors = json_object_get(json, "tensors");
    const char *name =
        json_object_get(tensors, "y") ? "y" : json_object_iter_key(json_object_iter(tensors));
    json_t *made = json_incref(json_object_get(tensors, name));
    json_decref(json);
    e2e_answer_free(&answer);
    return made;
}

Test(compare, of_answers_too)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        json_t *report = post("/v1/compare",
                              json_pack("{s:o, s:{s:s}}", "actual", get_tensor(requests[i].made_by),
                                        "expected", "get", requests[i].expected),
                              200);
        const char *says = first_account(report, "says");
        cr_expect(strstr(says, requests[i].names), "%s: \"%s\"", requests[i].names, says);
        json_decref(report);
    }
}

static double value(size_t i)
{
    return (float)sin(1.0 + 3.0 * (double)i);
}

Test(compare, tensors_alone_tell_what_became_of_them)
{
    double e[24], exchanged[24], a[24];
    for (size_t i = 0; i < 24; i++)
        e[i] = value(i);
    for (size_t i = 0; i < 24; i++)
        exchanged[i] = e[i % 4 * 6 + i / 4];
    static const struct {
        const char *shape, *names;
    } moved[] = {{"[4,6]", "channels of its halves interleaved"},
                 {"[4,6]", "sign of every second channel"},
                 {"[4,6]", "halves of its channels exchanged"},
                 {"[4,6]", "times 3"},
                 {"[4,6]", "one further on along axis 0"},
                 {"[4,6]", "rounded to bf16"},
                 {"[6,4]", "axes 0 and 1 exchanged"},
                 {"[2,12]", "in another shape"}};
    static const size_t to_neighbours[] = {0, 3, 1, 4, 2, 5};
    for (size_t kind = 0; kind < sizeof moved / sizeof *moved; kind++) {
        for (size_t i = 0; i < 24; i++) {
            size_t c = i % 6, row = i - c;
            double same = e[i];
            const double of[] = {
                e[row + to_neighbours[c]], c % 2 ? -same : same, e[row + (c + 3) % 6], 3 * same,
                e[(i + 6) % 24],           bf16(same),           exchanged[i],         same};
            a[i] = of[kind];
        }
        const char *shape = moved[kind].shape, *wanted = moved[kind].names;
        json_t *report = post("/v1/compare",
                              json_pack("{s:o, s:o}", "actual", tensor(a, shape, 24), "expected",
                                        tensor(e, "[4,6]", 24)),
                              200);
        const char *says = first_account(report, "says");
        cr_expect(strstr(says, wanted), "%s: \"%s\"", wanted, says);
        json_decref(report);
    }
}
