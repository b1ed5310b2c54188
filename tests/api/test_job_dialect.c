// SPDX-License-Identifier: Apache-2.0
/* test_job_dialect.c: dialect= and its spelling are one request; what is given goes before it. */
#include "call.h"

/* The answer's body and tag. */
static void answer(const char *target, const char *body, char *out, size_t size, char *tag)
{
    struct request request;
    call(&request, body ? "POST" : "GET", target, body);
    cr_assert_eq(request.response.status, 200, "%s: %s", target, call_body(&request));
    const char *field = call_field(&request, "ETag");
    snprintf(tag, 40, "%s", field ? field : "");
    cr_assert_lt(call_body_len(&request), size);
    strcpy(out, call_body(&request));
    call_end(&request);
}

static void expect_same(const char *dialect, const char *spelt, const char *body)
{
    static char first[65536], second[65536];
    char first_tag[40], second_tag[40];
    answer(dialect, body, first, sizeof first, first_tag);
    answer(spelt, body, second, sizeof second, second_tag);
    cr_expect_str_eq(first, second, "%s is not %s", dialect, spelt);
    cr_expect_str_eq(first_tag, second_tag, "%s", dialect);
}

Test(dialect, is_its_spelling)
{
    static const struct {
        const char *dialect, *spelt, *body;
    } rows[] = {
        {"/v1/spec?kind=rope&dialect=transformers", "/v1/spec?kind=rope&layout=half", NULL},
        {"/v1/spec?spec=rope:dim=8&dialect=keras", "/v1/spec?kind=rope&dim=8&layout=neox", NULL},
        {"/v1/table?kind=rope&dim=4&dialect=transformers&dtype=bf16&positions=3",
         "/v1/table?kind=rope&dim=4&layout=half&width=tiled&dtype=bf16&positions=3&"
         "stages=freq:f32,angle:f32,table:bf16&freq_method=reciprocal",
         NULL},
        {"/v1/table?kind=rope&dim=4&dialect=vllm&positions=3",
         "/v1/table?kind=rope&dim=4&layout=half&pack=cos_sin&positions=3&stages=f32&"
         "freq_method=reciprocal",
         NULL},
        {"/v1/table?kind=rope&dim=4&dialect=diffusers&positions=3",
         "/v1/table?kind=rope&dim=4&positions=3&width=full", NULL},
        /* what is given goes before it */
        {"/v1/table?kind=rope&dim=4&dialect=transformers&positions=3&layout=interleaved&width=half&"
         "stages=exact",
         "/v1/table?kind=rope&dim=4&positions=3&width=half", NULL},
        /* keys and stages that make no difference here are left aside */
        {"/v1/apply?kind=rope&dim=4&dialect=meta&positions=3",
         "/v1/apply?kind=rope&dim=4&positions=3&stages=meta", NULL},
        {"/v1/frequencies?kind=rope&dim=4&dialect=onnx",
         "/v1/frequencies?kind=rope&dim=4&layout=half", NULL},
        {"/v1/apply?kind=rope&dim=4&dialect=transformers",
         "/v1/apply?kind=rope&dim=4&layout=half&stages=transformers&freq_method=reciprocal",
         "{\"x\":{\"dtype\":\"bf16\",\"data\":[[1,2,3,4]]},\"positions\":[5]}"},
        {"/v1/table?kind=sinusoidal&dim=7&dialect=fairseq",
         "/v1/table?kind=sinusoidal&dim=7&layout=sin_cos&spacing=endpoint&padding_idx=1", NULL},
        /* who counts the tokens matters where they are counted */
        {"/v1/table?kind=sinusoidal&dim=8&dialect=fairseq&attention_mask=0,1,1",
         "/v1/table?kind=sinusoidal&dim=8&layout=sin_cos&spacing=endpoint&padding_idx=1&"
         "attention_mask=0,1,1&style=fairseq",
         NULL},
        {"/v1/table?kind=sinusoidal&dim=8&dialect=fairseq&ids=9,3,0&padding_idx=0",
         "/v1/table?kind=sinusoidal&dim=8&layout=sin_cos&spacing=endpoint&padding_idx=0&"
         "ids=9,3,0&style=fairseq",
         NULL},
        {"/v1/table?kind=sinusoidal&dim=8&dialect=fairseq&attention_mask=0,1,1&style=gpt2",
         "/v1/table?kind=sinusoidal&dim=8&layout=sin_cos&spacing=endpoint&padding_idx=1&"
         "attention_mask=0,1,1&style=gpt2",
         NULL},
        {"/v1/apply?kind=sinusoidal&dim=4&dialect=fairseq",
         "/v1/apply?kind=sinusoidal&dim=4&layout=sin_cos&spacing=endpoint&padding_idx=1&"
         "style=fairseq",
         "{\"x\":[[0,0,0,0],[0,0,0,0]],\"ids\":[1,5]}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_same(rows[i].dialect, rows[i].spelt, rows[i].body);
}

Test(dialect, stands_in_bodies_too)
{
    expect_same("/v1/scores", "/v1/scores?dialect=ggml",
                "{\"spec\":\"rope:dim=4\",\"q\":[1,2,3,4],\"k\":[4,3,2,1],\"dialect\":\"ggml\"}");
}

Test(dialect, mistakes_are_told)
{
    static const struct {
        const char *target, *says;
    } rows[] = {
        {"/v1/spec?kind=rope&dialect=transformer", "did you mean \\\"transformers\\\"?"},
        {"/v1/spec?kind=none&dialect=meta", "nothing of its own for kind=none"},
        {"/v1/spec?kind=rope&dialect=meta&dialect=vllm", "given twice"},
        {"/v1/spec?kind=rope&scaling=yarn&factor=2&original_max=64&mscale=1&dialect=vllm",
         "vllm has no use for mscale"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request request;
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_eq(request.response.status, 400, "%s", rows[i].target);
        cr_expect(strstr(call_body(&request), rows[i].says), "%s: %s", rows[i].target,
                  call_body(&request));
        call_end(&request);
    }
}
