// SPDX-License-Identifier: Apache-2.0
/*
 * /v1/positions: ids that transformers gives (golden hf_sinusoidal), the published example of
 * M-RoPE, and values written out by hand from the rules; shapes, dtypes, echoes and mistakes.
 */
#include "call.h"
#include "golden/golden.h"

static json_t *answer_to(const char *target, const char *body)
{
    struct request request;
    call(&request, body ? "POST" : "GET", target, body);
    json_t *json = call_json(&request);
    cr_assert_eq(request.response.status, 200, "%s %s: %s", target, body ? body : "",
                 call_body(&request));
    call_end(&request);
    return json;
}

static char *tensor_text(const json_t *answer, const char *name, const char *member)
{
    const json_t *tensor = json_object_get(json_object_get(answer, "tensors"), name);
    return json_dumps(json_object_get(tensor, member), JSON_COMPACT | JSON_ENCODE_ANY);
}

static void expect_tensor(const json_t *answer, const char *name, const char *member,
                          const char *wanted, const char *what)
{
    char *text = tensor_text(answer, name, member);
    cr_expect_str_eq(text ? text : "nothing", wanted, "%s: %s/%s: %s", what, name, member, text);
    free(text);
}

/* ---- Peers --------------------------------------------------------------------------------- */

/* {"dtype", "shape", "data"} as in the golden file; `name` is the member of the case. */
static json_t *request_of(const json_t *one, const char *name, const char *key, const char *style)
{
    json_t *body = json_object();
    json_t *tensor = json_deep_copy(json_object_get(one, name));
    json_object_set_new(tensor, "dtype", json_string("i64"));
    json_object_set_new(body, key, tensor);
    json_object_set_new(body, "style", json_string(style));
    if (json_object_get(one, "padding_idx"))
        json_object_set(body, "padding_idx", json_object_get(one, "padding_idx"));
    return body;
}

static size_t check_peer(const char *kind, const char *name, const char *key, const char *style,
                         const char *wanted)
{
    json_t *golden = golden_load("hf_sinusoidal.json"), *one;
    size_t i, checked = 0;
    json_array_foreach(json_object_get(golden, "cases"), i, one)
    {
        if (strcmp(json_string_value(json_object_get(one, "kind")), kind) != 0)
            continue;
        json_t *body = request_of(one, name, key, style);
        char *text = json_dumps(body, 0);
        json_t *answer = answer_to("/v1/positions", text);
        char *got = tensor_text(answer, "positions", "data");
        char *data =
            json_dumps(json_object_get(json_object_get(one, wanted), "data"), JSON_COMPACT);
        cr_expect(strstr(got, data), "%s: %s, not %s", text, got, data); /* one batch row */
        free(data);
        free(got);
        free(text);
        json_decref(answer);
        json_decref(body);
        checked++;
    }
    json_decref(golden);
    return checked;
}

Test(positions, are_those_of_transformers)
{
    cr_expect_eq(check_peer("opt rows", "attention_mask", "attention_mask", "opt", "rows"), 4);
    cr_expect_eq(check_peer("roberta position ids", "input_ids", "ids", "roberta", "position_ids"),
                 2);
}

/* ---- Rules --------------------------------------------------------------------------------- */

#define PUBLISHED "[[0,1,2,3,3,3,3,5,6],[0,1,2,3,3,4,4,5,6],[0,1,2,3,4,3,4,5,6]]"

Test(positions, follow_rules)
{
    static const struct {
        const char *query, *shape, *positions;
    } cases[] = {
        {"attention_mask=0,0,1,1,1&style=gpt2", "[1,5]", "[[0,0,0,1,2]]"},
        {"attention_mask=0,0,1,1,1&style=opt", "[1,5]", "[[1,1,2,3,4]]"},
        {"attention_mask=0,0,1,1,1&style=roberta", "[1,5]", "[[1,1,2,3,4]]"},
        {"attention_mask=0,0,1;1,1,1&style=fairseq&padding_idx=0", "[2,3]", "[[0,0,1],[1,2,3]]"},
        {"attention_mask=0,1,1&style=bart", "[1,3]", "[[2,3,4]]"},
        {"ids=0,7,0&padding_idx=0&style=gpt2", "[1,3]", "[[0,0,0]]"},
        {"lengths=3,1,2&style=gpt2", "[1,6]", "[[0,1,2,0,0,1]]"},
        {"lengths=3,2&style=roberta", "[1,5]", "[[2,3,4,2,3]]"},
        {"grid=3x4", "[2,12]", "[[0,0,0,0,1,1,1,1,2,2,2,2],[0,1,2,3,0,1,2,3,0,1,2,3]]"},
        {"grid=1x2x2&coord_offset=-1", "[3,4]", "[[-1,-1,-1,-1],[-1,-1,0,0],[-1,0,-1,0]]"},
        {"segments=3,2x2,2&merge=1&style=mrope", "[3,9]", PUBLISHED},
        {"segments=3,4x4,2&style=mrope", "[3,9]", PUBLISHED},
        {"segments=3,56x56,2&style=mrope&patch=14", "[3,9]", PUBLISHED},
        {"segments=1,2x2x2&style=mrope&tokens_per_second=2", "[3,3]", "[[0,1,3],[0,1,1],[0,1,1]]"},
        {"segments=1,3x2x2,1&style=mrope&next_start=side", "[3,5]",
         "[[0,1,2,3,2],[0,1,1,1,2],[0,1,1,1,2]]"},
        {"segments=1,2x2,1,2x2&style=mrope_interleaved", "[3,4]",
         "[[0,1,2,3],[0,1,2,3],[0,1,2,3]]"},
        {"grid=2x2x4&style=vision", "[2,16]",
         "[[0,0,1,1,0,0,1,1,0,0,1,1,0,0,1,1],[0,1,0,1,2,3,2,3,0,1,0,1,2,3,2,3]]"},
        {"segments=2x3,1x1&style=pixtral&max_width=10", "[1,7]", "[[0,1,2,10,11,12,0]]"},
        {"lengths=8&style=dual_chunk&chunk_size=10&local_size=2", "[6,8]",
         "[[0,1,2,3,4,5,6,7],[0,1,2,3,4,5,6,7],[8,9,10,10,10,10,10,10],"
         "[10,10,10,10,10,10,10,10],[8,9,10,11,12,13,14,15],[10,11,12,13,14,15,16,17]]"},
        {"lengths=9&style=dual_chunk&chunk_size=10&local_size=2&variant=successive", "[1,9]",
         "[[8,9,10,10,10,10,10,10,8]]"},
        {"lengths=4,2&style=dual_chunk&chunk_size=4&local_size=1", "[6,6]",
         "[[0,1,2,0,0,1],[0,1,2,0,0,1],[3,4,4,3,3,4],[4,4,4,4,4,4],[3,4,5,3,3,4],"
         "[4,5,6,4,4,5]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[160];
        snprintf(target, sizeof target, "/v1/positions?%s", cases[i].query);
        json_t *answer = answer_to(target, NULL);
        expect_tensor(answer, "positions", "data", cases[i].positions, target);
        expect_tensor(answer, "positions", "shape", cases[i].shape, target);
        expect_tensor(answer, "positions", "dtype", "\"i64\"", target);
        json_decref(answer);
    }
}

Test(positions, of_segments_in_json)
{
    static const struct {
        const char *segments, *echo;
        double delta;
    } cases[] = {
        {"[{\"text\":3},{\"grid\":[1,4,4]},{\"text\":2}]", "3,4x4,2", -2},
        {"[{\"text\":3},{\"grid\":\"4x4\"},{\"text\":2}]", "3,4x4,2", -2},
        {"\"3,1x4x4,2\"", "3,4x4,2", -2},
        {"[{\"grid\":[2,4,4],\"seconds\":0.5},{\"text\":1}]", "2x4x4@0.5,1", -6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"segments\":%s,\"style\":\"mrope\"%s}", cases[i].segments,
                 strstr(cases[i].echo, "@") ? ",\"tokens_per_second\":2" : "");
        json_t *answer = answer_to("/v1/positions", body);
        const json_t *params = json_object_get(answer, "params");
        const json_t *delta = json_object_get(json_object_get(answer, "readouts"), "rope_delta");
        cr_expect_str_eq(json_string_value(json_object_get(params, "segments")), cases[i].echo);
        cr_expect_eq(json_number_value(delta), cases[i].delta, "%s: %g", body,
                     json_number_value(delta));
        json_decref(answer);
    }
}

/* Padding is marked; coordinates that a rule makes real are f64, even where they are whole. */
Test(positions, say_what_they_are)
{
    json_t *answer = answer_to("/v1/positions", "{\"ids\":[[5,1],[1,7]],\"style\":\"roberta\"}");
    expect_tensor(answer, "mask", "data", "[[1,0],[0,1]]", "ids");
    expect_tensor(answer, "mask", "dtype", "\"i64\"", "ids");
    const json_t *params = json_object_get(answer, "params");
    cr_expect_str_eq(json_string_value(json_object_get(params, "ids")), "5,1;1,7");
    cr_expect_eq(json_integer_value(json_object_get(params, "padding_idx")), 1);
    json_decref(answer);
    answer = answer_to("/v1/positions?grid=1x1&coords=center", NULL);
    expect_tensor(answer, "positions", "dtype", "\"f64\"", "center");
    cr_expect_null(json_object_get(json_object_get(answer, "tensors"), "mask"));
    json_decref(answer);
    answer = answer_to("/v1/positions?grid=1x1&coord_offset=0.5", NULL);
    expect_tensor(answer, "positions", "data", "[[0.5],[0.5]]", "offset");
    json_decref(answer);
}

Test(positions, name_variants)
{
    json_t *answer =
        answer_to("/v1/positions?lengths=1&style=dual_chunk&chunk_size=10&local_size=2", NULL);
    char *names = json_dumps(json_object_get(answer, "readouts"), JSON_COMPACT);
    cr_expect_str_eq(names, "{\"variants\":[\"key\",\"query\",\"successive\",\"inter\","
                            "\"successive_critical\",\"inter_critical\"]}");
    free(names);
    json_decref(answer);
    struct request request;
    call(&request, "GET", "/v1/positions.csv?lengths=2&style=dual_chunk&chunk_size=10&local_size=2",
         NULL);
    cr_expect_str_eq(call_body(&request),
                     "variant,0,1\nkey,0,1\nquery,0,1\nsuccessive,8,9\ninter,10,10\n"
                     "successive_critical,8,9\ninter_critical,10,11\n");
    call_end(&request);
    call(&request, "GET",
         "/v1/positions.csv?lengths=2&style=dual_chunk&chunk_size=10&local_size=2&variant=inter",
         NULL);
    cr_expect_str_eq(call_body(&request), "variant,0,1\ninter,10,10\n");
    call_end(&request);
}

/* A grid of the largest size, and one cell more. */
Test(positions, have_a_limit)
{
    struct request request;
    call(&request, "GET", "/v1/positions.bin?lengths=1048576&style=gpt2", NULL);
    cr_expect_eq(request.response.status, 200);
    call_end(&request);
    call(&request, "GET", "/v1/positions.bin?lengths=1048575,2&style=gpt2", NULL);
    cr_expect_eq(request.response.status, 422, "%s", call_body(&request));
    call_end(&request);
}

struct mistake {
    const char *target, *body;
    int status;
    const char *where, *says;
};

static void expect_mistakes(const struct mistake *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct request request;
        call(&request, cases[i].body ? "POST" : "GET", cases[i].target, cases[i].body);
        json_t *problem = call_json(&request);
        const char *what = cases[i].body ? cases[i].body : cases[i].target;
        cr_expect_eq(request.response.status, cases[i].status, "%s: %s", what, call_body(&request));
        const json_t *error = json_array_get(json_object_get(problem, "errors"), 0);
        const char *where = json_string_value(json_object_get(error, "pointer"));
        if (!where)
            where = json_string_value(json_object_get(error, "parameter"));
        const char *says = json_string_value(json_object_get(error, "detail"));
        says = says ? says : json_string_value(json_object_get(problem, "detail"));
        cr_expect_str_eq(where ? where : "nowhere", cases[i].where, "%s", what);
        cr_expect(says && strstr(says, cases[i].says), "%s: %s", what, says);
        json_decref(problem);
        call_end(&request);
    }
}

Test(positions, name_mistakes)
{
    static const struct mistake cases[] = {
        {"/v1/positions", NULL, 400, "attention_mask", "positions of what?"},
        {"/v1/positions?lengths=3", NULL, 400, "style", "style is missing"},
        {"/v1/positions?lengths=3&style=mrope", NULL, 400, "style", "none for lengths"},
        {"/v1/positions?segments=3&style=gpt2", NULL, 400, "style", "none for segments"},
        {"/v1/positions?lengths=3&ids=1&style=gpt2", NULL, 400, "lengths", "given together"},
        {"/v1/positions?lengths=3,0&style=gpt2", NULL, 400, "lengths", "from 1"},
        {"/v1/positions?lengths=3;4&style=gpt2", NULL, 422, "lengths", "one list"},
        {"/v1/positions?lengths=3&style=gpt2&padding_idx=0", NULL, 400, "padding_idx", "no use"},
        {"/v1/positions?lengths=3&style=gpt2&merge=2", NULL, 400, "merge", "does not read it"},
        {"/v1/positions?grid=2x2&merge=2", NULL, 400, "merge", "grid_order is not merge"},
        {"/v1/positions?grid=2x2&patch=2", NULL, 400, "patch", "just one of coordinates"},
        {"/v1/positions?grid=2x2&style=vision&coords=center", NULL, 400, "coords",
         "the style says"},
        {"/v1/positions?grid=2x3&style=vision", NULL, 400, "grid", "multiples of patch * merge"},
        {"/v1/positions?grid=1x1x2x2&style=vision", NULL, 400, "grid", "got 4 axes"},
        {"/v1/positions?segments=2x2&style=pixtral", NULL, 400, "max_width",
         "max_width is missing"},
        {"/v1/positions?segments=2x2&style=vision&max_width=3", NULL, 400, "max_width",
         "only style=pixtral"},
        {"/v1/positions?segments=2x2&style=vision&next_start=side", NULL, 400, "next_start",
         "no sequence"},
        {"/v1/positions?segments=2x2,x&style=mrope", NULL, 400, "segments", "\"x\" in segments"},
        {"/v1/positions?grid=2x2&dialect=vllm", NULL, 400, "dialect", "no encoding"},
        {"/v1/positions?kind=rope&grid=2x2", NULL, 400, "kind", "takes no encoding"},
        {"/v1/positions", "{\"attention_mask\":[[0,1],[1,2]],\"style\":\"gpt2\"}", 400,
         "/attention_mask/1/1", "got 2"},
        {"/v1/positions", "{\"segments\":[{\"text\":1},{\"txt\":1}],\"style\":\"mrope\"}", 400,
         "/segments/1/txt", "a segment has"},
        {"/v1/positions", "{\"segments\":[{\"text\":1},{\"grid\":[1,2.5]}],\"style\":\"mrope\"}",
         400, "/segments/1/grid", "whole numbers"},
        {"/v1/positions", "{\"segments\":[{\"text\":0}],\"style\":\"mrope\"}", 400, "/segments/0",
         "neither"},
        {"/v1/positions", "{\"segments\":[{}],\"style\":\"mrope\"}", 400, "/segments/0",
         "must be an object"},
        {"/v1/positions", "{\"segments\":[3],\"style\":\"mrope\"}", 400, "/segments",
         "text or a list of objects"},
        {"/v1/positions", "{\"segments\":[{\"grid\":[3,4]}],\"style\":\"mrope\"}", 400, "/segments",
         "multiples"},
    };
    expect_mistakes(cases, sizeof cases / sizeof *cases);
}

Test(positions, name_mistakes_of_chunks)
{
    static const struct mistake cases[] = {
        {"/v1/positions?attention_mask=1&style=dual_chunk&chunk_size=2&local_size=1", NULL, 400,
         "chunk_size", "attention_mask does not read it"},
        {"/v1/positions?ids=1&style=dual_chunk", NULL, 400, "style", "none for ids"},
        {"/v1/positions?lengths=3&style=dual_chunk&local_size=1", NULL, 400, "chunk_size",
         "chunk_size is missing"},
        {"/v1/positions?lengths=3&style=dual_chunk&chunk_size=1", NULL, 400, "local_size",
         "local_size is missing"},
        {"/v1/positions?lengths=3&style=dual_chunk&chunk_size=8&local_size=8", NULL, 400,
         "local_size", "less than chunk_size (8), got 8"},
        {"/v1/positions?lengths=3&style=dual_chunk&chunk_size=0&local_size=0", NULL, 400,
         "chunk_size", "at least 1, got 0"},
        {"/v1/positions?lengths=3&style=dual_chunk&chunk_size=4503599627370497&local_size=0", NULL,
         400, "chunk_size", "at most 4503599627370496"},
        {"/v1/positions?lengths=3&style=dual_chunk&chunk_size=8&local_size=1&padding_idx=1", NULL,
         400, "padding_idx", "no use"},
        {"/v1/positions?lengths=3&style=gpt2&local_size=0", NULL, 400, "local_size",
         "only style=dual_chunk"},
        {"/v1/positions?lengths=3&style=gpt2&variant=key", NULL, 400, "variant",
         "only style=dual_chunk"},
    };
    expect_mistakes(cases, sizeof cases / sizeof *cases);
}

/* Words of the key and names of the table. */
Test(positions, know_all_styles)
{
    for (size_t i = 0; i < pe_styles_n(); i++) {
        char target[160];
        const struct pe_style *style = pe_style_at(i);
        bool chunks = style->of == PE_STYLE_OF_CHUNKS;
        snprintf(target, sizeof target, "/v1/positions?%s&style=%s%s%s",
                 chunks || style->of == PE_STYLE_OF_TOKENS ? "lengths=1" : "segments=2x2",
                 style->name, style->flat ? "&max_width=2" : "",
                 chunks ? "&chunk_size=2&local_size=1" : "");
        json_t *answer = answer_to(target, NULL);
        const json_t *params = json_object_get(answer, "params");
        cr_expect_str_eq(json_string_value(json_object_get(params, "style")), style->name);
        json_decref(answer);
    }
}

Test(positions, says_where_tokens_stand_and_what_to_do_next)
{
    static const struct {
        const char *target, *body, *says;
    } rows[] = {
        {"/v1/positions.txt", "{\"attention_mask\":[[0,0,1,1,1],[1,1,1,0,1]],\"style\":\"opt\"}",
         "5 tokens in each of 2 rows.\nThey stand at positions 2 to 5.\n3 places are padding"},
        {"/v1/positions.txt?lengths=3,2&style=gpt2", NULL,
         "5 tokens.\nThey stand at positions 0 to 2.\nNext: give them to /v1/apply as "
         "\"positions\".\n"},
        {"/v1/positions.txt?segments=3,2x2,2&style=mrope&merge=1", NULL,
         "9 tokens on 3 axes.\nOn axis 0 they stand at 0 to 6.\n"},
        {"/v1/positions.txt?segments=3,2x2,2&style=mrope&merge=1", NULL, "\nrope_delta is -2: "},
        {"/v1/positions.txt?grid=2x2&coords=center", NULL,
         "On axis 1 they stand at -0.5 to 0.5.\nNext: give them to /v1/apply as \"positions\": "
         "{\"axes\": [..]}"},
        {"/v1/positions.txt?lengths=5&style=dual_chunk&chunk_size=4&local_size=1", NULL,
         "5 tokens in each of 6 variants.\nThey stand at positions 0 to 6.\nNext: rotate k "},
        {"/v1/positions.txt?attention_mask=0&style=gpt2", NULL, "1 token.\n1 place is padding"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        call(&request, rows[i].body ? "POST" : "GET", rows[i].target, rows[i].body);
        cr_expect(strstr(call_body(&request), rows[i].says), "%s: %s", rows[i].target,
                  call_body(&request));
        call_end(&request);
    }
}
