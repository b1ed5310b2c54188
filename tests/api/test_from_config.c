// SPDX-License-Identifier: Apache-2.0
/*
 * test_from_config.c: /v1/from-config: frequencies to the last bit, and what is said of a config
 * that is wrong, contradicts itself or leaves something open. Configs of each class are sent by
 * e2e/test_cases.c.
 */
#include <math.h>
#include <string.h>

#include "call.h"
#include "golden/golden.h"

#define PATH "/v1/from-config"

/* The answer to a config; status 0: any. */
static json_t *post(const char *target, const char *config, int status)
{
    struct request request;
    call(&request, "POST", target, config);
    json_t *json = call_json(&request);
    cr_assert(status == 0 || request.response.status == status, "%s: %d: %s", config,
              request.response.status, call_body(&request));
    call_end(&request);
    return json;
}

static const json_t *member(const json_t *json, const char *a, const char *b, const char *c)
{
    json = json_object_get(json, a);
    json = b ? json_object_get(json, b) : json;
    return c ? json_object_get(json, c) : json;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

Test(from_config, frequencies_are_the_nearest_doubles)
{
    json_t *configs = golden_load("hf_inv_freq.json"),
           *truth = golden_load("truth_hf_inv_freq.json");
    json_t *cases = json_object_get(configs, "cases"), *one;
    size_t i, compared = 0;
    json_array_foreach(cases, i, one)
    {
        const json_t *wanted = json_array_get(json_object_get(truth, "cases"), i);
        const json_t *context = json_object_get(one, "seq_len");
        const char *name = json_string_value(json_object_get(one, "name"));
        char target[64] = PATH;
        if (json_is_integer(context))
            snprintf(target, sizeof target, PATH "?context=%lld",
                     (long long)json_integer_value(context));
        char *config = json_dumps(json_object_get(one, "config"), JSON_COMPACT);
        json_t *answer = post(target, config, 200);
        double got[512], expected[512];
        size_t n = golden_list(member(answer, "tensors", "inv_freq", "data"), got, 512);
        cr_assert_eq(n, golden_list(json_object_get(wanted, "inv_freq"), expected, 512), "%s",
                     name);
        cr_expect_arr_eq(got, expected, n * sizeof *got, "%s", name);
        cr_expect_eq(golden_number(member(answer, "readouts", "attention_factor", NULL)),
                     golden_number(json_object_get(wanted, "attention_factor")), "%s", name);
        compared += n;
        json_decref(answer);
        free(config);
    }
    cr_expect_gt(compared, 3000);
    json_decref(configs);
    json_decref(truth);
}

/* torch's pow in f32 is a few units in the last place off; the exponents are rounded there too. */
Test(from_config, dialect_of_transformers_is_near_its_float32)
{
    json_t *configs = golden_load("hf_inv_freq.json"), *one;
    size_t i;
    json_array_foreach(json_object_get(configs, "cases"), i, one)
    {
        const json_t *context = json_object_get(one, "seq_len");
        const json_t *recorded = member(one, "inv_freq", "data", NULL);
        char target[80] = PATH "?dialect=transformers&dtype=f32";
        if (json_is_integer(context))
            snprintf(target, sizeof target, PATH "?dialect=transformers&dtype=f32&context=%lld",
                     (long long)json_integer_value(context));
        char *config = json_dumps(json_object_get(one, "config"), JSON_COMPACT);
        json_t *answer = post(target, config, 200);
        cr_expect_str_eq(json_string_value(member(answer, "params", "stages", NULL)), "freq:f32");
        double got[512], expected[512];
        size_t n = golden_list(member(answer, "tensors", "inv_freq", "data"), got, 512);
        cr_assert_eq(n, golden_list(recorded, expected, 512), "%s", config);
        for (size_t k = 0; k < n; k++)
            cr_expect_leq(fabs(got[k] - expected[k]), 5e-7 * fabs(expected[k]), "%s: %zu", config,
                          k);
        json_decref(answer);
        free(config);
    }
    json_decref(configs);
}

Test(from_config, dialects_leave_aside_what_they_do_not_read)
{
    static const char config[] =
        "{\"head_dim\":8,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4,\"attention_factor\":2,"
        "\"original_max_position_embeddings\":64}}";
    json_decref(post(PATH, config, 200));
    json_t *answer = post(PATH "?dialect=vllm", config, 400);
    const json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(error, "pointer")),
                     "/rope_scaling/attention_factor");
    json_decref(answer);
    answer = post(PATH "?dialect=vllm&lenient=1", config, 200); /* 0.1 ln 4 + 1 */
    cr_expect_eq(json_number_value(member(answer, "readouts", "attention_factor", NULL)),
                 1.138629436111989);
    json_decref(answer);
}

Test(from_config, links_lead_to_the_same_frequencies)
{
    json_t *answer =
        post(PATH "?context=9000",
             "{\"model_type\":\"phi3\",\"head_dim\":8,\"rope_theta\":20000,"
             "\"max_position_embeddings\":8192,\"rope_scaling\":{\"type\":\"longrope\","
             "\"short_factor\":[1,1.5,2,3],\"long_factor\":[1,2,4,8.5],"
             "\"original_max_position_embeddings\":2048}}",
             200);
    const json_t *spec = json_array_get(json_object_get(answer, "specs"), 0);
    struct request request;
    call(&request, "GET", json_string_value(member(spec, "links", "frequencies", NULL)), NULL);
    json_t *other = call_json(&request);
    cr_assert_eq(request.response.status, 200);
    cr_expect(json_equal(member(answer, "tensors", "inv_freq", NULL),
                         member(other, "tensors", "inv_freq", NULL)));
    cr_expect_str_eq(json_string_value(json_object_get(spec, "spec_id")),
                     json_string_value(json_object_get(other, "spec_id")));
    call_end(&request);
    json_decref(other);
    json_decref(answer);
}

/* ---- Mistakes ------------------------------------------------------------------------------ */

static const struct {
    const char *config, *pointer, *says;
} mistakes[] = {
    {"[]", "/", "must be a JSON object"},
    {"{}", "/head_dim", "does not say how wide a head is"},
    {"{\"head_dim\":\"64\"}", "/head_dim", "must be a number; got 64"},
    {"{\"head_dim\":63}", "/head_dim", "must be even"},
    {"{\"hidden_size\":64,\"num_attention_heads\":0}", "/num_attention_heads", "whole number"},
    {"{\"hidden_size\":0.5,\"num_attention_heads\":2}", "/hidden_size", "whole number"},
    {"{\"hidden_size\":64,\"n_embd\":65,\"n_head\":1}", "/n_embd", "is 65 here, but 64 at"},
    {"{\"head_dim\":4,\"rope_theta\":0.5}", "/rope_theta", "greater than 1"},
    {"{\"head_dim\":4,\"rope_theta\":[1]}", "/rope_theta", "must be a number; got a list"},
    {"{\"head_dim\":4,\"rope_theta\":10,\"rotary_emb_base\":20}", "/rotary_emb_base",
     "is 20 here, but 10 at /rope_theta"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"yern\"}}", "/rope_scaling/type",
     "is no type of scaling"},
    {"{\"head_dim\":4,\"rope_scaling\":[1]}", "/rope_scaling", "must be an object"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"linear\",\"rope_type\":\"dynamic\"}}",
     "/rope_scaling/type", "rope_type is \\\"dynamic\\\""},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"linear\"}}", "/rope_scaling/factor",
     "factor is required"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"linear\",\"factor\":0.5}}",
     "/rope_scaling/factor", "at least 1"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":2}}",
     "/max_position_embeddings", "required"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"linear\",\"faktor\":2}}", "/rope_scaling/faktor",
     "unknown key"},
    {"{\"head_dim\":8,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":2,\"beta_fast\":1,"
     "\"beta_slow\":2,\"original_max_position_embeddings\":64}}",
     "/rope_scaling/beta_fast", "at least beta_slow"},
    {"{\"head_dim\":8,\"rope_parameters\":{\"a~/b\":{\"rope_type\":\"linear\",\"factor\":0}}}",
     "/rope_parameters/a~0~1b/factor", "at least 1"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"longrope\",\"factor\":2,\"short_factor\":[1]"
     ","
     "\"long_factor\":[1,2],\"original_max_position_embeddings\":64}}",
     "/rope_scaling/short_factor", "each of the 2 pairs"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"longrope\",\"factor\":2,\"short_factor\":3,"
     "\"long_factor\":[1,2],\"original_max_position_embeddings\":64}}",
     "/rope_scaling/short_factor", "flat list"},
    {"{\"head_dim\":4,\"rope_theta\":10,\"rope_parameters\":{\"rope_theta\":20}}", "/rope_theta",
     "given twice"},
    {"{\"head_dim\":4,\"rope_scaling\":{\"factor\":1},\"rope_parameters\":{\"factor\":2}}",
     "/rope_scaling", "different things"},
    {"{\"head_dim\":4,\"partial_rotary_factor\":0.5,\"rope_parameters\":"
     "{\"partial_rotary_factor\":1}}",
     "/partial_rotary_factor", "given twice"},
    {"{\"head_dim\":4,\"original_max_position_embeddings\":8,\"rope_scaling\":{\"type\":"
     "\"yarn\","
     "\"factor\":2,\"original_max_position_embeddings\":16}}",
     "/rope_scaling/original_max_position_embeddings", "which transformers reads"},
    {"{\"head_dim\":4,\"num_hidden_layers\":0}", "/num_hidden_layers", "1 to 1024"},
    {"{\"head_dim\":4,\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\"]}",
     "/layer_types", "has 1 layers"},
    {"{\"model_type\":\"smollm3\",\"head_dim\":4,\"num_hidden_layers\":2,\"no_rope_layers\":[1]"
     "}",
     "/no_rope_layers", "each of the 2 layers"},
    {"{\"model_type\":\"bloom\"}", "", "heads is missing"},
    {"{\"model_type\":\"gpt2\",\"n_embd\":8}", "", "rows is missing"},
};

Test(from_config, mistakes_stand_where_they_are)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        json_t *answer = post(PATH, mistakes[i].config, 400);
        const json_t *error = json_array_get(json_object_get(answer, "errors"), 0);
        const char *pointer = json_string_value(json_object_get(error, "pointer"));
        char *text = json_dumps(error, JSON_COMPACT | JSON_ENCODE_ANY);
        cr_expect_str_eq(pointer ? pointer : "", mistakes[i].pointer, "%s: %s", mistakes[i].config,
                         text);
        cr_expect(text && strstr(text, mistakes[i].says), "%s: %s", mistakes[i].config, text);
        free(text);
        json_decref(answer);
    }
}

/* Each mistake is named once, whatever the number of sets that share the key. */
Test(from_config, one_answer_has_all_mistakes)
{
    json_t *answer =
        post(PATH,
             "{\"model_type\":\"gemma3_text\",\"head_dim\":true,\"rope_theta\":\"big\","
             "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8,\"facto\":1}}",
             400);
    const json_t *errors = json_object_get(answer, "errors");
    cr_expect_eq(json_array_size(errors), 3);
    json_decref(answer);
}

Test(from_config, lenient_makes_warnings)
{
    static const struct {
        const char *config, *pointer, *key;
        double value;
    } rows[] = {
        {"{\"head_dim\":4,\"rope_theta\":10,\"rope_parameters\":{\"rope_theta\":20}}",
         "/rope_theta", "base", 20},
        {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"linear\",\"factor\":2,\"faktor\":3}}",
         "/rope_scaling/faktor", "factor", 2},
        {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"linear\",\"factor\":2},\"rope_parameters\":"
         "{\"rope_type\":\"linear\",\"factor\":3}}",
         "/rope_scaling", "factor", 2},
        {"{\"head_dim\":4,\"original_max_position_embeddings\":8,\"rope_scaling\":{\"type\":"
         "\"yarn\","
         "\"factor\":2,\"original_max_position_embeddings\":16}}",
         "/rope_scaling/original_max_position_embeddings", "original_max", 8},
        {"{\"head_dim\":4,\"partial_rotary_factor\":1,\"rope_parameters\":"
         "{\"partial_rotary_factor\":0.5}}",
         "/partial_rotary_factor", "rotary_dim", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *answer = post(PATH "?lenient=1", rows[i].config, 200);
        const json_t *spec = json_array_get(json_object_get(answer, "specs"), 0), *one;
        bool warned = false;
        size_t k;
        json_array_foreach(json_object_get(answer, "warnings"), k, one)
        {
            const json_t *pointer = json_object_get(one, "pointer");
            warned = warned || (pointer && !strcmp(json_string_value(pointer), rows[i].pointer));
        }
        cr_expect(warned, "%s", rows[i].config);
        cr_expect_eq(json_number_value(member(spec, "spec", rows[i].key, NULL)), rows[i].value,
                     "%s", rows[i].config);
        json_decref(answer);
    }
}

/* What transformers makes of a value that is not what stands there. */
Test(from_config, other_readings_are_named)
{
    static const struct {
        const char *config, *key;
        double value;
        const char *pointer;
    } rows[] = {
        {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4,\"beta_fast\":0,"
         "\"original_max_position_embeddings\":64}}",
         "beta_fast", 32, "/rope_scaling/beta_fast"},
        {"{\"head_dim\":4,\"max_position_embeddings\":128,\"rope_scaling\":{\"type\":\"yarn\","
         "\"factor\":null,\"original_max_position_embeddings\":64}}",
         "factor", 2, "/rope_scaling/factor"},
        {"{\"head_dim\":4,\"max_position_embeddings\":128,\"rope_scaling\":{\"type\":\"yarn\","
         "\"factor\":4,\"original_max_position_embeddings\":64}}",
         "factor", 4, "/rope_scaling/factor"},
        {"{\"head_dim\":4,\"rope_parameters\":{\"full_attention\":{\"type\":\"yarn\",\"factor\":4,"
         "\"truncate\":false,\"original_max_position_embeddings\":64}}}",
         "truncate", 1, "/rope_parameters/full_attention/truncate"},
        {"{\"head_dim\":4,\"rope_scaling\":{\"type\":\"linear\",\"factor\":2,\"beta_fast\":32}}",
         "factor", 2, "/rope_scaling/beta_fast"},
        {"{\"hidden_size\":17,\"num_attention_heads\":4}", "dim", 4, "/hidden_size"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *answer = post(PATH, rows[i].config, 200);
        const json_t *spec = json_array_get(json_object_get(answer, "specs"), 0);
        const json_t *value = member(spec, "spec", rows[i].key, NULL);
        char *warnings = json_dumps(json_object_get(answer, "warnings"), JSON_COMPACT);
        cr_expect_eq(json_is_true(value) ? 1 : json_number_value(value), rows[i].value, "%s",
                     rows[i].config);
        cr_expect(strstr(warnings, rows[i].pointer), "%s: %s", rows[i].config, warnings);
        free(warnings);
        json_decref(answer);
    }
}

Test(from_config, queries_are_checked)
{
    static const char config[] = "{\"head_dim\":4,\"rope_parameters\":{\"a\":{\"rope_theta\":10},"
                                 "\"b\":{\"rope_theta\":20}}}";
    static const struct {
        const char *query;
        int status;
        const char *says;
    } rows[] = {
        {"", 200, "\"inv_freq_a\""},
        {"?layer_type=b", 200, "\"base\":20"},
        {"?layer_type=c", 400, "\"allowed\":[\"a\",\"b\"]"},
        {"?layout=interleaved", 200, "\"layout\":\"interleaved\""},
        {"?layout=gptj", 200, "rope:dim=4,base=10\""},
        {"?layout=sideways", 400, "layout must be one of"},
        {"?dtype=f32", 200, "\"dtype\":\"f32\""},
        {"?dtype=i64", 400, "dtype must be one of"},
        {"?context=0", 400, "context must be"},
        {"?context=7", 200, "context has no effect"},
        {"?kind=rope", 400, "takes no encoding"},
        {"?dims=4", 400, "is not a parameter of POST /v1/from-config"},
        {"?overflow=inf", 400, "has no effect"},
        {"?format=npy", 400, "layer_type is required"},
        {"?format=csv&select=inv_freq_b", 200, "pair,inv_freq_b\n"},
        {"?format=csv&layer_type=a", 200, "pair,inv_freq\n"},
        {"?format=txt&layer_type=a", 200, "note: a: rope:dim=4,base=10,layout=half\n"},
        {"?format=txt&layer_type=a", 200, "note: layout=half is supposed: "},
        {"?stages=freq:f32", 200, "freq:f32"},
        {"?stages=apply:f32", 400, "has no effect"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char target[100];
        struct request request;
        snprintf(target, sizeof target, PATH "%s", rows[i].query);
        call(&request, "POST", target, config);
        cr_expect_eq(request.response.status, rows[i].status, "%s: %s", target,
                     call_body(&request));
        cr_expect(strstr(call_body(&request), rows[i].says), "%s: %s", target, call_body(&request));
        call_end(&request);
    }
}

/* ---- Bodies -------------------------------------------------------------------------------- */

Test(from_config, only_json_is_read)
{
    struct request request;
    call_with.content_type = "application/x-safetensors";
    call(&request, "POST", PATH, "{\"head_dim\":4}");
    cr_expect_eq(request.response.status, 415);
    call_end(&request);
    call_with.content_type = "application/x-www-form-urlencoded"; /* curl -d @config.json */
    json_decref(post(PATH, "{\"head_dim\":4}", 200));
    call_with.content_type = NULL;
}

/* Members that have nothing to do with positions are as many as may be. */
Test(from_config, bodies_up_to_a_mebibyte)
{
    for (int over = 0; over < 2; over++) {
        size_t len = ((size_t)1 << 20) + (size_t)over;
        char *body = malloc(len + 1);
        memset(body, ' ', len);
        body[len] = '\0';
        size_t at = (size_t)sprintf(body, "{\"head_dim\":4,\"id2label\":{\"first\":\"");
        for (size_t i = at; i < len; i++)
            body[i] = 'x';
        memcpy(body + len - 3, "\"}}", 3);
        struct request request;
        call(&request, "POST", PATH, body);
        cr_expect_eq(request.response.status, over ? 413 : 200, "%.300s", call_body(&request));
        call_end(&request);
        free(body);
    }
}

Test(from_config, models_without_frequencies_are_json)
{
    json_decref(post(PATH "?layer_type=encoder", "{\"model_type\":\"t5\",\"num_heads\":2}", 400));
    json_decref(post(PATH "?context=4", "{\"model_type\":\"t5\",\"num_heads\":2}", 200));
    static const char config[] = "{\"model_type\":\"gpt2\",\"n_embd\":8,\"n_positions\":4}";
    struct request request;
    json_decref(post(PATH, config, 200));
    call(&request, "POST", PATH ".csv", config);
    cr_expect_eq(request.response.status, 406);
    call_end(&request);
}
