// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify.c: POST /v1/identify of what other routes made: vectors are encoded by /v1/apply,
 * with axes, cosines or stages as they go wrong in practice, and what the answer says is held
 * against what was done. Numbers in the first test are those of the definition.
 */
#include <math.h>

#include "call.h"

#define PATH   "/v1/identify"
#define HEADS  3
#define TOKENS 12
#define DIM    16

/* ---- Vectors -------------------------------------------------------------------------------- */

/* Numbers of 16 bits in [-1, 1). */
static json_t *vectors(size_t heads, size_t tokens)
{
    json_t *all = json_array();
    unsigned state = 1;
    for (size_t head = 0; head < heads; head++) {
        json_t *rows = json_array();
        for (size_t token = 0; token < tokens; token++) {
            json_t *row = json_array();
            for (size_t i = 0; i < DIM; i++) {
                state = state * 1103515245u + 12345u;
                json_array_append_new(row, json_real((double)(state >> 16) / 32768 - 1));
            }
            json_array_append_new(rows, row);
        }
        json_array_append_new(all, rows);
    }
    return all;
}

/* {"dtype": .., "data": ..} */
static json_t *tensor(const char *dtype, json_t *data)
{
    return json_pack("{s:s,s:o}", "dtype", dtype, "data", data);
}

static json_t *ask(const char *path, json_t *body)
{
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    json_t *answer = call_ask(path, text, 200);
    free(text);
    json_decref(body);
    return answer;
}

/* What /v1/apply makes of x; `stages` NULL: none. */
static json_t *encoded(const char *spec, const char *axes, const char *stages, json_t *x)
{
    json_t *body = json_pack("{s:s,s:s,s:s,s:O}", "spec", spec, "axes", axes, "stages",
                             stages ? stages : "exact", "x", x);
    json_t *answer = ask("/v1/apply", body);
    json_t *tensors = json_object_get(answer, "tensors");
    json_t *y = json_deep_copy(json_object_get(json_object_get(tensors, "y"), "data"));
    json_decref(answer);
    return tensor(json_string_value(json_object_get(x, "dtype")), y);
}

static json_t *identified(json_t *x, json_t *y, const char *axes)
{
    return ask(PATH, json_pack("{s:O,s:O,s:s}", "x", x, "y", y, "axes", axes));
}

/* The same question, answered in sentences; free it. */
static char *sentences(json_t *x, json_t *y, const char *axes)
{
    json_t *body = json_pack("{s:O,s:O,s:s}", "x", x, "y", y, "axes", axes);
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    char *says = call_sentences(PATH ".txt", text);
    free(text);
    json_decref(body);
    return says;
}

static const char *best_text(const json_t *answer, const char *key)
{
    return call_text(json_object_get(answer, "best"), key);
}

static void expect_advice(const json_t *answer, const char *part)
{
    const json_t *advice = json_object_get(answer, "advice");
    bool found = false;
    for (size_t i = 0; i < json_array_size(advice); i++)
        found = found || strstr(json_string_value(json_array_get(advice, i)), part);
    char *text = json_dumps(advice, JSON_COMPACT);
    cr_expect(found, "no advice to %s: %s", part, text);
    free(text);
}

/* One thing that goes wrong: what the answer says of it, and what it advises. */
struct finding {
    const char *compact, *twist, *stages, *says, *advice, *text;
};

static void expect_finding(json_t *x, json_t *y, const char *axes, const struct finding *finding)
{
    json_t *answer = identified(x, y, axes);
    char *text = sentences(x, y, axes);
    cr_expect_str_eq(best_text(answer, "compact"), finding->compact);
    cr_expect_str_eq(best_text(answer, "twist"), finding->twist, "%s", finding->compact);
    cr_expect_str_eq(best_text(answer, "stages"), finding->stages, "%s", finding->compact);
    call_says(best_text(answer, "says"), finding->says);
    if (finding->advice)
        expect_advice(answer, finding->advice);
    call_says(text, finding->compact);
    call_says(text, finding->text);
    free(text);
    json_decref(answer);
}

/* ---- What goes wrong ------------------------------------------------------------------------ */

/* Vectors of [heads, tokens] posted as [tokens, heads], which the answer turns round. */
Test(identify, sees_heads_and_tokens_in_each_others_place)
{
    json_t *x = tensor("f32", vectors(HEADS, TOKENS));
    json_t *y = encoded("rope:dim=16,layout=half", "htd", NULL, x);
    json_t *answer = identified(x, y, "thd");
    char *text = sentences(x, y, "thd");
    cr_expect_str_eq(best_text(answer, "compact"), "rope:dim=16,layout=half");
    cr_expect_str_eq(call_text(answer, "axes"), "htd");
    call_says(best_text(answer, "says"), "posted as thd, it is htd");
    expect_advice(answer, "transpose, or say axes=htd");
    call_says(text, "heads and tokens in each other's place");
    free(text);
    json_decref(answer);
    answer = identified(x, y, "htd");
    cr_expect_str_eq(best_text(answer, "says"), "half-split pairs, base 10000");
    json_decref(answer);
    json_decref(x);
    json_decref(y);
}

/* (a s - b c, a c + b s), by the definition. */
Test(identify, sees_cosines_and_sines_in_each_others_place)
{
    json_t *x = tensor("f64", vectors(1, TOKENS));
    json_t *y = json_deep_copy(x);
    json_t *from = json_array_get(json_object_get(x, "data"), 0);
    json_t *to = json_array_get(json_object_get(y, "data"), 0);
    for (size_t token = 0; token < TOKENS; token++)
        for (size_t pair = 0; pair < DIM / 2; pair++) {
            json_t *in = json_array_get(from, token), *out = json_array_get(to, token);
            double a = json_real_value(json_array_get(in, pair));
            double b = json_real_value(json_array_get(in, pair + DIM / 2));
            double angle = (double)token * pow(10000, -2.0 * (double)pair / DIM);
            json_array_set_new(out, pair, json_real(a * sin(angle) - b * cos(angle)));
            json_array_set_new(out, pair + DIM / 2, json_real(a * cos(angle) + b * sin(angle)));
        }
    expect_finding(x, y, "htd",
                   &(struct finding){.compact = "rope:dim=16,layout=half",
                                     .twist = "cos_sin_swapped",
                                     .stages = "",
                                     .says = "cosines and sines in each other's place",
                                     .advice = "swap cos and sin",
                                     .text = "swap cos and sin where the table is unpacked"});
    json_decref(x);
    json_decref(y);
}

/* Angles are doubled, as by positions times 2: the answer says both. */
Test(identify, sees_what_was_applied_twice)
{
    static const char *const specs[] = {"rope:dim=16,layout=half", "rope:dim=16,base=500000"};
    static const char *const found[] = {"rope:dim=16,layout=half,position_scale=2",
                                        "rope:dim=16,base=500000,position_scale=2"};
    for (size_t i = 0; i < 2; i++) {
        json_t *x = tensor("f32", vectors(1, TOKENS));
        json_t *once = encoded(specs[i], "htd", NULL, x);
        json_t *y = encoded(specs[i], "htd", NULL, once);
        expect_finding(x, y, "htd",
                       &(struct finding){.compact = found[i],
                                         .twist = "twice",
                                         .stages = "",
                                         .says = "positions times 2, or applied twice",
                                         .advice = "second call",
                                         .text = "rotates what is rotated already"});
        json_decref(x);
        json_decref(once);
        json_decref(y);
    }
}

/* q as it came, and k of xpos, which is divided by what q is multiplied by. */
Test(identify, sees_what_is_of_k_only)
{
    json_t *x = tensor("f32", vectors(1, TOKENS));
    json_t *answer = identified(x, x, "htd");
    char *text = sentences(x, x, "htd");
    cr_expect_str_eq(best_text(answer, "compact"), "none:dim=16");
    call_says(best_text(answer, "says"), "nothing was applied");
    expect_advice(answer, "only k is rotated");
    call_says(text, "only k is rotated: apply the encoding to q too");
    free(text);
    json_decref(answer);
    json_t *body = json_pack("{s:s,s:s,s:O}", "spec", "xpos:dim=16", "axes", "htd", "k", x);
    json_t *made = ask("/v1/apply", body);
    json_t *k = json_object_get(json_object_get(made, "tensors"), "k_out");
    json_t *y = tensor("f32", json_incref(json_object_get(k, "data")));
    expect_finding(x, y, "htd",
                   &(struct finding){.compact = "xpos:dim=16",
                                     .twist = "key",
                                     .stages = "",
                                     .says = "as k, which is divided by what q is multiplied by",
                                     .text = "It gives every number of y"});
    json_decref(made);
    json_decref(x);
    json_decref(y);
}

/* Tables, frequencies, positions and angles of fewer bits than the vectors. */
Test(identify, sees_where_numbers_were_rounded)
{
    static const struct {
        const char *dtype, *stages, *says, *advice;
    } cases[] = {
        {"f32", "table:bf16", "cos and sin rounded to bfloat16 before use",
         "keep cos and sin in float32"},
        {"f32", "table:f16", "cos and sin rounded to float16 before use",
         "keep cos and sin in float32"},
        {"f64", "table:f32", "cos and sin rounded to float32 before use", "stages=table:f32"},
        {"f32", "freq:bf16", "frequencies rounded to bfloat16 before use",
         "make frequencies in float32"},
        {"f32", "angle:f16", "angles rounded to float16 before use", "make angles in float32"},
        {"f64", "freq:f32,angle:f32,table:f32",
         "frequencies, angles, cos and sin rounded to float32 before use",
         "ask with stages=freq:f32,angle:f32,table:f32 for the same numbers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *x = tensor(cases[i].dtype, vectors(2, 40));
        json_t *y = encoded("rope:dim=16,layout=half", "htd", cases[i].stages, x);
        expect_finding(x, y, "htd",
                       &(struct finding){.compact = "rope:dim=16,layout=half",
                                         .twist = "",
                                         .stages = cases[i].stages,
                                         .says = cases[i].says,
                                         .advice = cases[i].advice,
                                         .text = cases[i].says});
        json_decref(x);
        json_decref(y);
    }
}

/* ---- Libraries ------------------------------------------------------------------------------ */

static char *dialects_of(const char *spec, const char *dtype, const char *stages)
{
    json_t *x = tensor(dtype, vectors(2, 40)), *y = encoded(spec, "htd", stages, x);
    json_t *answer = identified(x, y, "htd");
    char *text = json_dumps(json_object_get(json_object_get(answer, "best"), "dialects"), 0);
    json_decref(answer);
    json_decref(x);
    json_decref(y);
    return text;
}

/* By what their rows in the table of dialects say; with stages by where they round. */
Test(identify, names_the_libraries_that_do_so)
{
    static const struct {
        const char *spec, *dtype, *stages, *dialects;
    } cases[] = {
        {"rope:dim=16,layout=half", "f32", NULL,
         "[\"transformers\", \"vllm\", \"onnx\", \"onnxruntime\", \"keras\"]"},
        {"rope:dim=16", "f32", NULL,
         "[\"ggml\", \"meta\", \"torchtune\", \"lucidrains\", \"diffusers\"]"},
        {"rope:dim=16,layout=half,freq_method=reciprocal", "bf16", "transformers",
         "[\"transformers\", \"vllm\"]"},
        {"rope:dim=16,freq_method=iterated", "f32", "ggml", "[\"ggml\"]"},
        {"rope:dim=16,layout=half", "f32", "table:bf16", "[]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = dialects_of(cases[i].spec, cases[i].dtype, cases[i].stages);
        cr_expect_str_eq(text ? text : "nothing", cases[i].dialects, "%s %s", cases[i].spec,
                         cases[i].stages ? cases[i].stages : "");
        free(text);
    }
}
