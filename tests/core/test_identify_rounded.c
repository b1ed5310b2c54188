// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify_rounded.c: encodings of pipelines that round on the way are found, and where they
 * round: by the definition of each stage, at places where it makes a difference. Of few places
 * nothing is claimed that is not so.
 */
#include <criterion/criterion.h>

#include "core/identify_ask.h"

TestSuite(identify_rounded, .timeout = 600);

static struct request counted(const char *text, enum pe_dtype dtype, const char *stages,
                              double from, size_t n)
{
    struct request request = {.dtype = dtype, .stages = stages, .tokens = n, .heads = 2};
    snprintf(request.text, sizeof request.text, "%s", text);
    for (size_t i = 0; i < n; i++)
        request.at[i] = from + (double)i;
    return request;
}

/* The first that is found is the spec with these stages, which give y to the bit. */
static void expect_stages(const struct request *request, const char *stages)
{
    struct pe_spec spec;
    struct pe_identify job;
    char text[PE_STAGES_TEXT_MAX] = "nothing";
    ask(request, &spec, &job);
    if (job.found_n > 0)
        pe_stages_print(&job.found[0].stages, text, sizeof text);
    cr_expect(job.found_n > 0 && job.found[0].explains == PE_EXPLAINS_BITS &&
                  pe_spec_same_numbers(&job.found[0].spec, &spec) && strcmp(text, stages) == 0,
              "%s, %s in %s: %s", request->text, request->stages, pe_dtype_name(request->dtype),
              text);
    if (strcmp(text, stages) != 0)
        show(request, &job);
    pe_identify_release(&job);
    pe_spec_release(&spec);
}

/* Of one thing rounded, and of whole pipelines. */
Test(identify_rounded, finds_what_was_rounded)
{
    static const struct {
        const char *stages;
        enum pe_dtype dtype;
        double from;
        const char *found;
    } cases[] = {
        {"table:bf16", PE_F64, 0, "table:bf16"},
        {"table:bf16", PE_F32, 0, "table:bf16"},
        {"table:bf16", PE_F32, 1000, "table:bf16"},
        {"table:bf16", PE_BF16, 0, "table:bf16"},
        {"table:f16", PE_F64, 0, "table:f16"},
        {"table:f16", PE_F32, 0, "table:f16"},
        {"table:f16", PE_F16, 0, "table:f16"},
        {"table:f32", PE_F64, 0, "table:f32"},
        {"freq:bf16", PE_F32, 0, "freq:bf16"},
        {"freq:f16", PE_F32, 0, "freq:f16"},
        {"freq:f32", PE_F64, 0, "freq:f32"},
        {"pos:bf16", PE_F32, 600, "pos:bf16"},
        {"pos:f16", PE_F32, 4100, "pos:f16"},
        {"angle:bf16", PE_F32, 0, "angle:bf16"},
        {"angle:f16", PE_F32, 0, "angle:f16"},
        {"transformers", PE_BF16, 0, "freq:f32,angle:f32,table:bf16,apply:bf16"},
        {"transformers", PE_F32, 0, "freq:f32,angle:f32,table:f32,apply:f32"},
        {"ggml", PE_F32, 0, "angle:f32,table:f32"},
        {"onnx", PE_F32, 0, "apply:f32"},
        {"all-bf16", PE_BF16, 0, "pos:bf16,freq:bf16,angle:bf16,table:bf16,apply:bf16"},
    };
    static const char *const texts[] = {"rope:dim=64,layout=half", "rope:dim=64,base=500000"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            struct request request =
                counted(texts[k], cases[i].dtype, cases[i].stages, cases[i].from, 40);
            expect_stages(&request, cases[i].found);
        }
}

/* torch's frequencies are a reciprocal of a power, ggml's angles a running product. */
Test(identify_rounded, finds_the_method_of_frequencies)
{
    static const struct {
        const char *text, *stages, *method;
        size_t index;
    } cases[] = {
        {"rope:dim=64,layout=half,freq_method=reciprocal", "transformers", "reciprocal", 1},
        {"rope:dim=64,base=500000,freq_method=iterated", "ggml", "iterated", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request request = counted(cases[i].text, PE_F32, cases[i].stages, 0, 60);
        struct pe_spec spec;
        struct pe_identify job;
        char text[300] = "nothing";
        ask(&request, &spec, &job);
        if (job.found_n > 0)
            pe_spec_compact(&job.found[0].spec, text, sizeof text);
        cr_expect(strstr(text, cases[i].method) && job.found[0].explains == PE_EXPLAINS_BITS &&
                      job.found[0].methods == 1u << cases[i].index,
                  "%s: %s", request.text, text);
        pe_identify_release(&job);
        pe_spec_release(&spec);
    }
}

/* Kinds of fewer parameters, as far as they round: y is met as near as libraries are. */
Test(identify_rounded, finds_other_kinds)
{
    static const char *const texts[] = {"sinusoidal:dim=64", "xpos:dim=64,center=0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct request request = counted(texts[i], PE_F32, "f32", 0, 40);
        struct pe_spec spec;
        struct pe_identify job;
        ask(&request, &spec, &job);
        cr_expect(job.found_n > 0 && job.found[0].explains != PE_EXPLAINS_NOT &&
                      pe_spec_same_numbers(&job.found[0].spec, &spec),
                  "%s", request.text);
        pe_identify_release(&job);
        pe_spec_release(&spec);
    }
}

/* A base that stands alone is sure; where its neighbours give the same bits, they are open. */
Test(identify_rounded, is_sure_where_no_other_base_gives_the_bits)
{
    static const struct {
        size_t n;
        enum pe_confidence confidence;
    } cases[] = {{40, PE_IDENTIFIED_UNIQUE}, {2, PE_IDENTIFIED_AMBIGUOUS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request request =
            counted("rope:dim=64,layout=half", PE_F32, "table:bf16", 0, cases[i].n);
        struct pe_spec spec;
        struct pe_identify job;
        ask(&request, &spec, &job);
        cr_expect_eq(job.confidence, cases[i].confidence, "%zu places: confidence %d", cases[i].n,
                     job.confidence);
        cr_expect(is_among(&job, &spec, job.found_n));
        pe_identify_release(&job);
        pe_spec_release(&spec);
    }
}

#define RANDOM_N 80

static struct request random_request(void)
{
    static const char *const stages[] = {
        "table:bf16", "table:f16",    "table:f32", "freq:bf16", "freq:f16", "angle:bf16",
        "pos:bf16",   "transformers", "meta",      "ggml",      "all-bf16", "freq:bf16,table:bf16"};
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_BF16, PE_F16};
    static const double bases[] = {10000, 500000, 1000000, 100, 150000, 12300, 777};
    char text[100];
    snprintf(text, sizeof text, "rope:dim=%zu,base=%g,layout=%s%s", (size_t)4 << below(5),
             bases[below(7)], below(2) ? "half" : "interleaved", below(4) ? "" : ",shift=1");
    return counted(text, dtypes[below(4)], stages[below(12)], below(3) ? 0 : (double)below(2000),
                   2 + below(30));
}

Test(identify_rounded, claims_nothing_that_is_not_so)
{
    size_t sure = 0, right = 0, found = 0;
    for (size_t i = 0; i < RANDOM_N; i++) {
        struct request request = random_request();
        struct pe_spec spec;
        struct pe_identify job;
        ask(&request, &spec, &job);
        bool is_right = job.found_n > 0 && pe_spec_same_numbers(&job.found[0].spec, &spec);
        bool is_sure = job.confidence == PE_IDENTIFIED_UNIQUE;
        sure += is_sure;
        right += is_right;
        found += is_among(&job, &spec, job.found_n);
        cr_expect(is_right || !is_sure, "sure, and wrong");
        if ((is_sure && !is_right) || getenv("SHOW"))
            show(&request, &job);
        pe_identify_release(&job);
        pe_spec_release(&spec);
    }
    cr_log_info("%zu sure, %zu first, %zu among those named", sure, right, found);
    cr_expect_gt(found, RANDOM_N * 3 / 4, "%zu of %d", found, RANDOM_N);
}
