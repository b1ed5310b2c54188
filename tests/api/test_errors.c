// SPDX-License-Identifier: Apache-2.0
/*
 * test_errors.c: what callers get wrong, and that the answer says where, what and how to mend it:
 * each row is one wrong request and the places of all its mistakes.
 */
#include "call.h"

struct mistake {
    const char *method, *target, *body;
    int status;
    const char *slug;
    const char *where;  /* of the first error; "" for none */
    const char *detail; /* part of the first error's detail */
    const char *hint;   /* part of its hint, or "" */
    size_t errors_n;
};

static const struct mistake mistakes[] = {
    /* spelling */
    {"GET", "/v1/table?kind=rope&dims=64&layuot=half", NULL, 400, "unknown-parameter", "dims",
     "\"dims\" is not a parameter of GET /v1/table with kind=rope", "did you mean \"dim\"?", 2},
    {"GET", "/v1/table?kind=ropee", NULL, 400, "invalid-value", "kind",
     "there is no kind \"ropee\"", "did you mean \"rope\"?", 1},
    {"GET", "/v1/table?kind=rope&layout=helf", NULL, 400, "invalid-value", "layout", "interleaved",
     "", 1},
    {"GET", "/v1/tabel", NULL, 404, "not-found", "", "/v1/tabel", "did you mean \"/v1/table\"?", 1},
    {"GET", "/v1/encodings/rop", NULL, 404, "not-found", "", "", "rope", 1},
    /* missing */
    {"GET", "/v1/table", NULL, 400, "missing-parameter", "kind", "kind is missing", "kind=rope", 1},
    {"GET", "/v1/table?kind=rope&scaling=linear", NULL, 400, "missing-parameter", "factor",
     "factor", "", 1},
    {"GET", "/v1/table?kind=rope2d&dim=8", NULL, 400, "missing-parameter", "positions", "2 axes",
     "grid=4x4", 1},
    {"POST", "/v1/apply", "{\"x\":[[1,2]]}", 400, "missing-parameter", "/spec", "spec is missing",
     "kind", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope:dim=2\"}", 400, "missing-parameter", "/x",
     "a tensor is missing", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":[[[1,2]]]}", 400, "missing-parameter", "/axes",
     "rank 3", "bhtd", 1},
    {"POST", "/v1/scores", "{\"spec\":\"rope\",\"q\":[1,2]}", 400, "missing-parameter", "/k",
     "together", "", 1},
    /* ranges */
    {"GET", "/v1/table?kind=rope&dim=63", NULL, 400, "invalid-value", "dim", "got 63", "", 1},
    {"GET", "/v1/table?kind=rope&dim=70000", NULL, 400, "invalid-value", "dim", "65536", "", 1},
    {"GET", "/v1/table?kind=rope&dim=64&rotary_dim=66", NULL, 400, "invalid-value", "rotary_dim",
     "got 66", "", 1},
    {"GET", "/v1/table?kind=rope&base=1", NULL, 400, "invalid-value", "base", "got 1", "", 1},
    {"GET", "/v1/table?kind=rope&base=nan", NULL, 400, "invalid-value", "base", "nan", "", 1},
    {"GET", "/v1/table?kind=sinusoidal&dim=2&spacing=endpoint", NULL, 400, "invalid-value", "dim",
     "4", "", 1},
    {"GET", "/v1/table?kind=sinusoidal&dim=9&spacing=shift&freq_shift=4", NULL, 400,
     "invalid-value", "freq_shift", "at most floor(dim/2)-0.5 (3.5), got 4", "", 1},
    {"GET", "/v1/table?kind=sinusoidal&dim=9&spacing=shift&odd=sin", NULL, 400,
     "conflicting-parameters", "odd", "spacing=shift and the odd dim 9", "odd=zero", 1},
    {"GET", "/v1/table?kind=sinusoidal&freq_shift=1", NULL, 400, "unknown-parameter", "freq_shift",
     "not read with spacing=paper", "spacing=shift", 1},
    {"GET", "/v1/table?kind=rope&positions=9007199254740993", NULL, 400, "invalid-value",
     "positions", "9007199254740993", "", 1},
    {"GET", "/v1/table?kind=rope&positions=1:0", NULL, 400, "invalid-value", "positions", "", "",
     1},
    {"GET", "/v1/table?kind=rope&positions=abc", NULL, 400, "invalid-value", "positions", "abc", "",
     1},
    {"GET", "/v1/table?kind=rope&dim=8&channels=8", NULL, 400, "invalid-value", "channels",
     "from 0 to 7; got 8", "", 1},
    {"GET", "/v1/table?kind=sinusoidal&value=cos", NULL, 400, "invalid-value", "value",
     "kind=sinusoidal has no such value", "encoding", 1},
    {"GET", "/v1/frequencies?kind=alibi", NULL, 400, "invalid-value", "kind",
     "kind=alibi has no frequencies", "rope", 1},
    {"GET", "/v1/rotation?kind=sinusoidal", NULL, 400, "invalid-value", "kind",
     "kind=sinusoidal has no place in /v1/rotation", "", 1},
    {"GET", "/v1/scores?kind=rope2d", NULL, 400, "invalid-value", "kind", "2 position axes", "", 1},
    {"GET", "/v1/scores?kind=rope&terms=1", NULL, 400, "invalid-value", "terms",
     "only adding kinds", "sinusoidal", 1},
    {"GET", "/v1/scores?kind=rope&content=unit:64", NULL, 400, "invalid-value", "content",
     "below 64", "", 1},
    {"GET", "/v1/scores?kind=rope&scale=zero", NULL, 400, "invalid-value", "scale", "got \"zero\"",
     "", 1},
    /* no value outside the table, never an extrapolation */
    {"GET", "/v1/table?kind=learned&rows=2048&positions=4096", NULL, 400, "invalid-value",
     "positions", "no value", "", 1},
    {"GET", "/v1/table?kind=learned&positions=0.5", NULL, 400, "invalid-value", "positions", "", "",
     1},
    {"GET", "/v1/table?kind=binary&dim=4&positions=16", NULL, 400, "invalid-value", "positions",
     "16", "", 1},
    {"GET", "/v1/table?kind=binary&positions=-1", NULL, 400, "invalid-value", "positions", "-1", "",
     1},
    /* contradictions */
    {"GET", "/v1/table?kind=rope&dim=64&d=32", NULL, 400, "conflicting-parameters", "dim", "32", "",
     1},
    {"GET", "/v1/table?kind=rope&spec=alibi", NULL, 400, "conflicting-parameters", "kind",
     "together", "", 1},
    {"GET", "/v1/table.csv?kind=rope&format=json", NULL, 400, "conflicting-parameters", "format",
     "csv", "", 1},
    {"GET", "/v1/table?kind=rope2d&dim=4&grid=2x2&positions=0;0", NULL, 400,
     "conflicting-parameters", "grid", "together", "", 1},
    {"GET", "/v1/table?kind=rope&factor=2", NULL, 400, "unknown-parameter", "factor", "factor",
     "linear", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"specs\":{},\"x\":[[1,2]]}", 400,
     "conflicting-parameters", "/specs", "together", "", 1},
    /* refused, and not missing as well */
    {"GET", "/v1/positions?style=gpt3&attention_mask=1,1", NULL, 400, "invalid-value", "style",
     "style must be one of", "gpt2", 1},
    /* keys that would have no effect */
    {"GET", "/v1/table?kind=rope&value=encoding&width=full", NULL, 400, "conflicting-parameters",
     "width", "only cos, sin, angles and scales", "", 1},
    {"GET", "/v1/table?kind=alibi&channels=0", NULL, 400, "conflicting-parameters", "channels",
     "has no channels", "", 1},
    {"GET", "/v1/table?kind=alibi&keys=3&positions=0:4", NULL, 400, "conflicting-parameters",
     "keys", "there are 4 positions for keys=3", "", 1},
    {"GET", "/v1/table?kind=alibi&queries=5&positions=0:4", NULL, 400, "invalid-value", "queries",
     "queries must be at most 4, the number of positions; got 5", "", 1},
    {"GET", "/v1/table?kind=alibi&k_positions=3&keys=1", NULL, 400, "conflicting-parameters",
     "keys", "k_positions says where the keys are", "", 1},
    {"GET", "/v1/table?kind=rope&queries=3", NULL, 400, "conflicting-parameters", "queries",
     "only matrices of queries and keys have them", "", 1},
    {"GET", "/v1/table?kind=alibi&heads=4&total_heads=3", NULL, 400, "invalid-value", "total_heads",
     "total_heads must be at least heads (4), got 3", "", 1},
    {"GET", "/v1/table?kind=alibi&slope=1&bias_max=4", NULL, 400, "conflicting-parameters",
     "bias_max", "slopes are given instead", "", 1},
    {"GET", "/v1/table?kind=t5&value=bucket&dtype=f32", NULL, 400, "conflicting-parameters",
     "dtype", "buckets are i64", "", 1},
    {"GET", "/v1/rotation?kind=rope&seed=3", NULL, 400, "conflicting-parameters", "seed",
     "without content", "", 1},
    {"GET", "/v1/apply?kind=rope&k_positions=0:4", NULL, 400, "conflicting-parameters",
     "k_positions", "there is no k", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":[[1,2]],\"seed\":3}", 400,
     "conflicting-parameters", "/seed", "its own tensors", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"alibi\",\"scores\":[[1]],\"inverse\":true}", 400,
     "conflicting-parameters", "/inverse", "scores are", "", 1},
    {"POST", "/v1/apply?positions=0:1", "{\"spec\":\"rope\",\"x\":[[1,2]],\"positions\":[1]}", 400,
     "conflicting-parameters", "/positions", "in the query and in the body", "", 1},
    {"POST", "/v1/scores", "{\"spec\":\"rope\",\"q\":[1,2],\"k\":[1,2],\"gain\":2}", 400,
     "conflicting-parameters", "/gain", "its own q and k", "", 1},
    /* bodies */
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\n \"x\":[[1,2],}", 400, "malformed-json", "", "", "",
     1},
    {"POST", "/v1/apply", "[1,2,3]", 400, "invalid-value", "/", "object", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":[[1,2],[3]]}", 400, "malformed-tensor", "/x/1",
     "", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":[[1,true]]}", 400, "malformed-tensor", "/x/0/1",
     "", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":{\"shape\":[3],\"data\":[1,2]}}", 400,
     "malformed-tensor", "/x/shape", "shape asks for 3 elements", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":{\"dtype\":\"f8\",\"data\":[1,2]}}", 400,
     "invalid-value", "/x/dtype", "got \"f8\"", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":{\"dtype\":\"f16\",\"data\":[1,1e6]}}", 400,
     "invalid-value", "/x/data/1", "", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":{\"dat\":[1,2]}}", 400, "unknown-parameter",
     "/x/dat", "", "", 1},
    {"POST", "/v1/apply", "{\"spec\":{\"kind\":\"rope\",\"dmi\":2},\"x\":[[1,2]]}", 400,
     "unknown-parameter", "/spec/dmi", "\"dmi\" is not a parameter", "did you mean \"dim\"?", 1},
    {"POST", "/v1/apply", "{\"spec\":{\"kind\":\"rope\",\"dim\":3},\"x\":[[1,2]]}", 400,
     "invalid-value", "/spec/dim", "got 3", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":[[1,2]],\"positons\":[0]}", 400,
     "unknown-parameter", "/positons", "", "did you mean \"positions\"?", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":[[1,2]],\"positions\":[9007199254740993]}", 400,
     "invalid-value", "/positions/0", "refused, not rounded", "", 1},
    /* shapes */
    {"POST", "/v1/apply", "{\"spec\":\"rope:dim=4\",\"x\":[[1,2]]}", 422, "shape-mismatch", "/x",
     "2 channels, the spec says dim=4", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"x\":[[1,2],[3,4]],\"positions\":[0]}", 422,
     "shape-mismatch", "/positions", "1 positions", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"rope\",\"axes\":\"bhtd\",\"x\":[[1,2]]}", 422,
     "shape-mismatch", "/x", "names 4 axes, the tensor has 2", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"alibi\",\"q\":[[1]],\"scores\":[[0]]}", 400,
     "conflicting-parameters", "/q", "kind=alibi adds to scores", "leave it out", 1},
    {"POST", "/v1/apply", "{\"spec\":\"shaw\",\"scores\":[[0]]}", 400, "missing-parameter", "/q",
     "post them beside scores", "scores", 1},
    {"POST", "/v1/apply", "{\"spec\":\"shaw\",\"q\":[[1],[2]],\"k\":[[1]],\"scores\":[[0]]}", 422,
     "shape-mismatch", "/q", "1 and dim", "", 1},
    {"GET", "/v1/scores?kind=cope", NULL, 400, "invalid-value", "kind", "all keys between the two",
     "POST /v1/apply", 1},
    {"GET", "/v1/table?kind=shaw&value=bias", NULL, 400, "invalid-value", "value",
     "kind=shaw has no such value", "/v1/scores", 1},
    {"GET", "/v1/table?kind=swin&positions=49", NULL, 400, "invalid-value", "positions",
     "the window: it has 0 to 48", "", 1},
    {"GET", "/v1/table?kind=kerple&form=power&p=2.5", NULL, 400, "invalid-value", "p", "at most 2",
     "", 1},
    {"GET", "/v1/table?kind=deberta&value=bucket&buckets=256&max_distance=129", NULL, 400,
     "invalid-value", "max_distance", "at least 130", "", 1},
    {"GET", "/v1/table?kind=deberta&value=bucket&buckets=0", NULL, 400, "invalid-value", "buckets",
     "at least 2, or -1", "", 1},
    {"GET", "/v1/scores?kind=transformer_xl&model_dim=65536", NULL, 422, "limit-exceeded",
     "model_dim", "more than 4194304 elements", "", 1},
    {"POST", "/v1/apply", "{\"spec\":\"alibi:heads=2\",\"scores\":[[0,0],[0,0]]}", 422,
     "shape-mismatch", "/scores", "heads=2", "", 1},
    {"POST", "/v1/scores", "{\"spec\":\"rope\",\"q\":[1,2],\"k\":[1,2,3]}", 422, "shape-mismatch",
     "/k", "same shape", "", 1},
    /* limits, formats, methods */
    {"GET", "/v1/table?kind=rope&dim=65536&positions=0:1000", NULL, 422, "limit-exceeded", "",
     "65536000", "", 1},
    {"GET", "/v1/table?kind=rope&positions=0:2000000", NULL, 422, "limit-exceeded", "positions",
     "1048576", "", 1},
    {"GET", "/v1/scores?kind=rope&dim=65536&anchors=0:1000&offsets=0:1000", NULL, 422,
     "limit-exceeded", "offsets", "2147483648", "", 1},
    {"GET", "/v1/table.svg?kind=rope", NULL, 406, "not-acceptable", "", "json", "", 1},
    {"GET", "/v1/table.npy?kind=rope&dtype=bf16", NULL, 406, "not-acceptable", "", "bf16",
     ".safetensors", 1},
    {"DELETE", "/v1/table?kind=rope", NULL, 405, "method-not-allowed", "", "", "", 1},
};

static const char *member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void check_mistake(const struct mistake *m)
{
    struct request request;
    char slug[64];
    call(&request, m->method, m->target, m->body);
    json_t *problem = call_json(&request);
    const json_t *errors = json_object_get(problem, "errors");
    const json_t *first = json_array_get(errors, 0);
    const char *where =
        json_object_get(first, "pointer") ? member(first, "pointer") : member(first, "parameter");
    char *shown = json_dumps(problem, JSON_COMPACT);
    snprintf(slug, sizeof slug, "/problems/%s", m->slug);
    const char *row = m->body ? m->body : m->target;

    cr_expect_eq(request.response.status, m->status, "%s: %s", row, shown);
    cr_expect_eq(json_integer_value(json_object_get(problem, "status")), m->status, "%s", row);
    cr_expect_str_eq(member(problem, "type"), slug, "%s: %s", row, shown);
    cr_expect_str_eq(where, m->where, "%s: %s", row, shown);
    cr_expect(strstr(member(first, "detail"), m->detail), "%s: %s", row, shown);
    cr_expect(strstr(member(first, "hint"), m->hint), "%s: %s", row, shown);
    cr_expect_eq(json_array_size(errors), m->errors_n, "%s: %s", row, shown);
    cr_expect_str_eq(request.response.content_type, "application/problem+json");
    free(shown);
    json_decref(problem);
    call_end(&request);
}

Test(errors, name_the_place_the_limit_and_the_way_out)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        check_mistake(&mistakes[i]);
}

/* All mistakes of one request come in one answer, each with its place. */
Test(errors, come_all_at_once)
{
    static const char *const places[] = {"dims", "layout", "positions", "dtype"};
    struct request request;
    call(&request, "GET", "/v1/table?kind=rope&dims=64&layout=no&positions=1:0&dtype=f8", NULL);
    json_t *problem = call_json(&request);
    const json_t *errors = json_object_get(problem, "errors");
    cr_assert_eq(json_array_size(errors), 4, "%s", call_body(&request));
    for (size_t p = 0; p < 4; p++) {
        bool found = false;
        for (size_t i = 0; i < 4; i++)
            found |= strcmp(member(json_array_get(errors, i), "parameter"), places[p]) == 0;
        cr_expect(found, "%s is not named: %s", places[p], call_body(&request));
    }
    json_decref(problem);
    call_end(&request);
}

Test(errors, syntax_errors_have_line_and_column)
{
    struct request request;
    call(&request, "POST", "/v1/apply", "{\"spec\":\"rope\",\n \"x\":[[1,2],}");
    json_t *problem = call_json(&request);
    const json_t *first = json_array_get(json_object_get(problem, "errors"), 0);
    cr_expect_eq(json_integer_value(json_object_get(first, "line")), 2);
    cr_expect_eq(json_integer_value(json_object_get(first, "column")), 13, "%s",
                 call_body(&request));
    json_decref(problem);
    call_end(&request);
}

Test(errors, refuse_bodies_of_other_media_types)
{
    struct request request;
    call_with.content_type = "image/png";
    call(&request, "POST", "/v1/apply", "{}");
    cr_expect_eq(request.response.status, 415);
    call_end(&request);
    call_with.content_type = "application/x-www-form-urlencoded";
    call(&request, "POST", "/v1/apply", " {\"spec\":\"rope\",\"x\":[[1,2]]}");
    cr_expect_eq(request.response.status, 200, "what curl -d sends: %s", call_body(&request));
    call_end(&request);
    call(&request, "POST", "/v1/apply", "a=b");
    cr_expect_eq(request.response.status, 415);
    call_end(&request);
}
