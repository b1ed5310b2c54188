// SPDX-License-Identifier: Apache-2.0
/*
 * test_attention.c: /v1/attention: the sentence with two dogs, whose numbers a script of its own
 * computed in Python (mpmath at 400 bits, rounded where posenc/attention.h says); posted vectors
 * and scores; the check of the order; what it refuses.
 */
#include <math.h>

#include "call.h"

#define DOGS "labels=the,dog,chased,another,dog"

/* The part of an answer at a path such as "tensors/weights/data/0/1". */
static const json_t *part(const json_t *json, const char *path)
{
    char step[64];
    for (const char *c = path; *c && json; c += strcspn(c, "/") + (c[strcspn(c, "/")] == '/')) {
        snprintf(step, sizeof step, "%.*s", (int)strcspn(c, "/"), c);
        json = json_is_array(json) ? json_array_get(json, (size_t)atoll(step))
                                   : json_object_get(json, step);
    }
    return json;
}

static double number(const json_t *json, const char *path)
{
    json = part(json, path);
    cr_assert(json_is_number(json), "%s", path);
    return json_number_value(json);
}

static double element(const json_t *answer, const char *tensor, size_t row, size_t column)
{
    char path[80];
    snprintf(path, sizeof path, "tensors/%s/data/%zu/%zu", tensor, row, column);
    return number(answer, path);
}

Test(attention, of_two_dogs)
{
    static const struct {
        const char *query;
        double weights[5]; /* of the first dog */
        double output[3];  /* its first channels */
        double residual, apart;
    } rows[] = {
        {"kind=none",
         {0.15649466975330814, 0.2663297014058286, 0.14763224153434754, 0.16321368590068713,
          0.2663297014058286},
         {-0.10761449483744767, -0.14273359247675968, -0.04123389735672638},
         0,
         0},
        {"kind=rope",
         {0.15907160151054642, 0.2709523806787136, 0.1514989493090089, 0.16246627591388732,
          0.2560107925878438},
         {-0.10621230444805621, -0.14261948321866325, -0.039155254597276624},
         0.009598920353797467,
         0.006117048726250046},
        {"kind=sinusoidal",
         {0.17455795053988213, 0.3558329112729064, 0.16879095141157924, 0.1290354112342935,
          0.17178277554133878},
         {0.23225973298367045, -0.08448032665399156, 0.5157115249705353},
         0.6661286724991868,
         0.4978731582998613},
        {"kind=alibi&slope=0.5&causal=true",
         {0.2627521246480263, 0.7372478753519737, 0, 0, 0},
         {-0.18893354184324468, -0.15288193449529142, -0.029906855252097773},
         0.31604446215179555,
         0.19870448902023707},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char target[160];
        snprintf(target, sizeof target, "/v1/attention?%s&" DOGS, rows[r].query);
        json_t *answer = call_ask(target, NULL, 200);
        for (size_t i = 0; i < 5; i++)
            cr_expect_eq(element(answer, "weights", 1, i), rows[r].weights[i], "%s", target);
        for (size_t i = 0; i < 3; i++)
            cr_expect_eq(element(answer, "output", 1, i), rows[r].output[i], "%s", target);
        cr_expect_eq(number(answer, "readouts/equivariance/max_abs"), rows[r].residual, "%s",
                     target);
        cr_expect_eq(number(answer, "readouts/equal_labels/0/max_abs"), rows[r].apart, "%s",
                     target);
        json_decref(answer);
    }
}

/* Without an encoding tokens are a set, at any size and in any order. */
Test(attention, without_an_encoding_is_equivariant_exactly)
{
    static const char *const targets[] = {
        "/v1/attention?kind=none&tokens=1",
        "/v1/attention?kind=none&tokens=2&dim=3&gain=8",
        "/v1/attention?kind=none&tokens=33&dim=7&gain=3&seed=5",
        "/v1/attention?kind=none&tokens=6&content=uniform&scale=none&permutation=5,4,3,2,1,0",
        "/v1/attention?kind=none&" DOGS "&gain=30&seed=2",
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        json_t *answer = call_ask(targets[i], NULL, 200);
        const json_t *found = part(answer, "readouts/equivariance");
        cr_expect_eq(number(found, "max_abs"), 0, "%s", targets[i]);
        cr_expect_eq(number(found, "relative"), 0, "%s", targets[i]);
        cr_expect(json_is_true(json_object_get(found, "equivariant")), "%s", targets[i]);
        json_decref(answer);
    }
}

Test(attention, with_an_encoding_or_a_mask_is_not)
{
    static const char *const queries[] = {
        "kind=rope",         "kind=sinusoidal", "kind=alibi",   "kind=learned&table_std=1",
        "kind=binary&dim=8", "kind=t5",         "kind=integer", "kind=none&causal=true",
        "kind=kerple",       "kind=shaw",       "kind=cope",    "kind=rope2d",
    };
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        char target[160];
        snprintf(target, sizeof target, "/v1/attention?%s", queries[i]);
        json_t *answer = call_ask(target, NULL, 200);
        cr_expect_gt(number(answer, "readouts/equivariance/max_abs"), 0, "%s", target);
        cr_expect(json_is_false(part(answer, "readouts/equivariance/equivariant")));
        json_decref(answer);
    }
    json_t *answer = call_ask("/v1/attention?kind=none&causal=true", NULL, 200);
    cr_expect(strstr(json_string_value(part(answer, "notes/0")), "not even kind=none"));
    json_decref(answer);
}

Test(attention, permutes_every_token_by_default)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        char target[80];
        bool taken[9] = {false};
        snprintf(target, sizeof target, "/v1/attention?kind=none&tokens=9&dim=1&seed=%u", seed);
        json_t *answer = call_ask(target, NULL, 200);
        const json_t *permutation = part(answer, "readouts/equivariance/permutation");
        for (size_t i = 0; i < 9; i++) {
            json_int_t token = json_integer_value(json_array_get(permutation, i));
            cr_expect(token >= 0 && token < 9 && token != (json_int_t)i && !taken[token]);
            taken[token] = true;
        }
        json_decref(answer);
    }
}

/* softmax of [1 0; 0 4]: rows e, 1 and 1, e^4 over their sums. */
Test(attention, of_posted_vectors)
{
    json_t *answer = call_ask("/v1/attention",
                              "{\"spec\":\"none\",\"x\":[[1,0],[0,2]],\"scale\":\"none\"}", 200);
    double e = 2.718281828459045, e4 = 54.598150033144236;
    cr_expect_float_eq(element(answer, "weights", 0, 0), e / (e + 1), 1e-15);
    cr_expect_float_eq(element(answer, "weights", 1, 1), e4 / (e4 + 1), 1e-15);
    cr_expect_float_eq(element(answer, "output", 0, 1), 2 / (e + 1), 1e-15);
    cr_expect_float_eq(number(answer, "readouts/weight_by_distance/mean/1"),
                       (e / (e + 1) + e4 / (e4 + 1)) / 2, 1e-15);
    cr_expect_float_eq(number(answer, "readouts/weight_by_distance/mean/2"), 1 / (e + 1), 1e-15);
    json_decref(answer);

    answer = call_ask("/v1/attention",
                      "{\"spec\":\"none\",\"q\":[[1],[0]],\"k\":[[2],[0]],\"v\":[[1,2,3],[4,5,6]],"
                      "\"scale\":0.5,\"labels\":[\"a\",\"b\"]}",
                      200);
    cr_expect_float_eq(element(answer, "weights", 0, 0), e / (e + 1), 1e-15);
    cr_expect_eq(element(answer, "weights", 1, 0), 0.5);
    cr_expect_eq(element(answer, "output", 1, 2), 4.5);
    cr_expect_str_eq(json_string_value(part(answer, "params/labels")), "a,b");
    json_decref(answer);
}

/* Codes of the positions are added before x becomes q, k and v. */
Test(attention, of_added_codes_gives_encoded_values)
{
    json_t *answer = call_ask(
        "/v1/attention", "{\"spec\":\"integer:dim=1\",\"x\":[[0],[0]],\"positions\":[3,3]}", 200);
    cr_expect_eq(element(answer, "output", 0, 0), 3);
    cr_expect(strstr(json_string_value(part(answer, "notes/0")), "before it becomes"));
    json_decref(answer);
    answer = call_ask("/v1/attention",
                      "{\"spec\":\"integer:dim=1\",\"q\":[[0],[0]],\"k\":[[0],[0]],\"v\":[[5],[7]],"
                      "\"positions\":[3,3]}",
                      200);
    cr_expect_eq(element(answer, "output", 0, 0), 6);
    cr_expect(strstr(json_string_value(part(answer, "notes/0")), "v is used as it is"));
    json_decref(answer);
}

Test(attention, of_posted_scores_has_no_outputs)
{
    json_t *answer = call_ask("/v1/attention",
                              "{\"spec\":\"alibi:slope=0.5\",\"causal\":true,"
                              "\"scores\":[[1,2,3],[0,1,0],[2,2,2]]}",
                              200);
    cr_expect_eq(element(answer, "weights", 0, 0), 1);
    cr_expect_eq(element(answer, "weights", 0, 1), 0);
    cr_expect_float_eq(element(answer, "weights", 2, 2), 0.506480391055654, 1e-15);
    cr_expect_float_eq(element(answer, "weights_without", 2, 2), 1.0 / 3, 1e-15);
    cr_expect(!part(answer, "tensors/output") && !part(answer, "readouts/equivariance"));
    json_decref(answer);
}

Test(attention, compares_with_any_encoding)
{
    json_t *rope = call_ask("/v1/attention?kind=rope&dim=8&tokens=4", NULL, 200);
    json_t *other = call_ask("/v1/attention?kind=none&dim=8&tokens=4&compare=rope", NULL, 200);
    cr_expect(json_equal(part(rope, "tensors/weights/data"),
                         part(other, "tensors/weights_without/data")));
    cr_expect(json_equal(part(rope, "readouts/equivariance"),
                         part(other, "readouts/without/equivariance")));
    cr_expect_str_eq(json_string_value(part(other, "params/compare")), "rope:dim=8");
    json_decref(rope);
    json_decref(other);
}

/* Stages round in both matrices; f32 is far from exact, and near it. */
Test(attention, with_stages_rounds_on_the_way)
{
    json_t *exact = call_ask("/v1/attention?kind=rope&dim=8&tokens=4", NULL, 200);
    json_t *staged = call_ask("/v1/attention?kind=rope&dim=8&tokens=4&stages=f32", NULL, 200);
    double away = element(exact, "weights", 0, 3) - element(staged, "weights", 0, 3);
    cr_expect(away != 0 && fabs(away) < 1e-6, "%g", away);
    json_decref(exact);
    json_decref(staged);
}

Test(attention, spelt_out_is_one_request)
{
    static const char *const spellings[] = {
        "/v1/attention?kind=rope",
        "/v1/attention?kind=rope&tokens=8&compare=none&scale=sqrt_dim&gain=0.25&causal=false",
        "/v1/attention?spec=rope:dim=64&compare=none:dim=64",
    };
    char *canonical[3];
    for (size_t i = 0; i < 3; i++) {
        json_t *answer = call_ask(spellings[i], NULL, 200);
        canonical[i] = strdup(json_string_value(part(answer, "links/self")));
        cr_expect_str_eq(canonical[i], canonical[0]);
        json_decref(answer);
    }
    for (size_t i = 0; i < 3; i++)
        free(canonical[i]);
}

static void expect_text(const char *target, const char *body, const char *const *lines)
{
    struct request request;
    call(&request, body ? "POST" : "GET", target, body);
    const char *text = call_body(&request);
    cr_expect_eq(request.response.status, 200, "%s", text);
    for (; *lines; lines++)
        cr_expect(strstr(text, *lines), "%s: %s\n%s", target, *lines, text);
    call_end(&request);
}

/* The numbers are those of of_two_dogs, rounded. */
Test(attention, is_tables_and_sentences_for_a_lesson)
{
    expect_text(
        "/v1/attention.txt?kind=rope&" DOGS, NULL,
        (const char *const[]){
            "Weights with rope:dim=64; a row is what a token takes from each:\n"
            "  query    the    dog chased another    dog\n",
            "\n    dog 0.1591 0.2710 0.1515  0.1625 0.2560\n",
            "\nWith none:dim=64:\n  query    the    dog chased another    dog\n",
            "\n    dog 0.1565 0.2663 0.1476  0.1632 0.2663\n",
            "\nWith rope:dim=64 the order matters: when tokens change places the outputs change\n"
            "  by up to 0.00959892, 2.43 % of the largest.\n"
            "With none:dim=64 the order does not matter: when tokens change places their\n"
            "  outputs go with them, and change by exactly 0.\n",
            "\nThe outputs of the tokens \"dog\" differ by up to 0.00611705 with rope:dim=64, by\n"
            "  exactly 0 with none:dim=64.\n",
            " of 1.575 to 1.595 nats\n  with rope:dim=64, 1.573 to 1.595 nats with none:dim=64. If "
            "all were equal it\n  would be 1.609 nats.\n",
            "\nNext: causal=true hides what comes later; gain=1 ", NULL});
    expect_text("/v1/attention.txt?kind=none&tokens=2&causal=true", NULL,
                (const char *const[]){"\n    0      1      0\n    1 0.",
                                      "\n\nWith none:dim=64 the order matters",
                                      "\nNext: gain=1 makes content louder; compare=alibi", NULL});
    expect_text("/v1/attention.txt", "{\"spec\":\"none\",\"scores\":[[0,0],[0,0]]}",
                (const char *const[]){"\n    1 0.5000 0.5000\n\nHow widely a token looks: ",
                                      " of 0.6931 to 0.6931 nats\n  with none:dim=64.", NULL});
}

/* All digits, where they are asked for, and other tensors. */
Test(attention, in_text_has_all_digits_on_request)
{
    static const char all[] = "\n    dog 0.15649466975330814  0.2663297014058286 ";
    expect_text("/v1/attention.txt?kind=rope&" DOGS "&select=weights_without", NULL,
                (const char *const[]){all, "\nWith rope:dim=64 the order matters", NULL});
    expect_text("/v1/attention.txt?kind=none&" DOGS "&numbers=exact", NULL,
                (const char *const[]){"0.15649466975330814 ", "the order does not matter", NULL});
}

Test(attention, refuses_what_it_cannot_do)
{
    static const struct {
        const char *method, *target, *body;
        int status;
        const char *says;
    } cases[] = {
        {"GET", "/v1/attention?kind=rope&labels=a,,b", NULL, 400, "number 1 does not"},
        {"GET", "/v1/attention?kind=rope&labels=a,b&tokens=2", NULL, 400, "as many as labels"},
        {"GET", "/v1/attention?kind=rope&tokens=4097", NULL, 400, "4096"},
        {"GET", "/v1/attention?kind=rope&tokens=4096", NULL, 422, "multiply-adds"},
        {"GET", "/v1/attention?kind=rope&tokens=3&permutation=0,1,1", NULL, 400, "once"},
        {"GET", "/v1/attention?kind=rope&tokens=3&permutation=0,1,3", NULL, 400, "permutation"},
        {"GET", "/v1/attention?kind=rope&tokens=3&positions=0:4", NULL, 422, "4 positions for 3"},
        {"GET", "/v1/attention?kind=rope&content=same", NULL, 400, "no meaning"},
        {"GET", "/v1/attention?kind=rope&scale=0", NULL, 400, "scale"},
        {"GET", "/v1/attention?kind=rope&compare=rhope", NULL, 400, "did you mean"},
        {"GET", "/v1/attention?kind=rope&compare=rope:dim=32", NULL, 422, "dim 64"},
        {"GET", "/v1/attention?kind=rope&compare=rope2d", NULL, 400, "position axes"},
        {"GET", "/v1/attention?kind=learned&rows=4", NULL, 400, "no value"},
        {"GET", "/v1/attention?kind=xpos", NULL, 400, "multiplies scores"},
        {"GET", "/v1/attention?kind=pope", NULL, 400, "twice as wide"},
        {"GET", "/v1/attention?kind=alibi&stages=dot:f32", NULL, 400, "no effect"},
        {"POST", "/v1/attention", "{\"spec\":\"rope\",\"x\":[[1,2,3]]}", 400, "even"},
        {"POST", "/v1/attention", "{\"spec\":\"rope:dim=4\",\"x\":[[1,2]]}", 422, "dim 4"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"x\":[1,2]}", 422, "[tokens, dim]"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"x\":[[1]],\"gain\":2}", 400, "no effect"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"x\":[[\"NaN\"]]}", 400, "finite"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"q\":[[1]],\"k\":[[1]]}", 400, "/v"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"x\":[[1]],\"scores\":[[1]]}", 400,
         "several"},
        {"POST", "/v1/attention", "{\"spec\":\"rope\",\"scores\":[[1]]}", 400, "without them"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"scores\":[[1,2]]}", 422, "square"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"x\":[[1]],\"labels\":[\"a\",\"b\"]}", 422,
         "2 labels for 1"},
        {"POST", "/v1/attention", "{\"spec\":\"none\",\"labels\":[\"a\",7]}", 400, "strings"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request request;
        call(&request, cases[i].method, cases[i].target, cases[i].body);
        const char *body = call_body(&request);
        cr_expect_eq(request.response.status, cases[i].status, "%s %s: %s", cases[i].target,
                     cases[i].body ? cases[i].body : "", body);
        cr_expect(strstr(body, cases[i].says), "%s: %s", cases[i].says, body);
        call_end(&request);
    }
}
