// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify.c: what was applied is found again, and what cannot be told is said to be open.
 * Random encodings are in test_identify_specs.c.
 */
#include <criterion/criterion.h>

#include "core/identify_ask.h"

TestSuite(identify, .timeout = 600);

/* With one position a shift may as well be a scaling; with four it cannot. */
Test(identify, says_what_is_open)
{
    struct request request = {.text = "rope:dim=16,layout=half,shift=1",
                              .dtype = PE_F32,
                              .at = {5},
                              .tokens = 1,
                              .heads = 2};
    struct pe_spec spec;
    struct pe_identify job;
    ask(&request, &spec, &job);
    cr_expect_eq(job.confidence, PE_IDENTIFIED_AMBIGUOUS, "one position cannot tell");
    cr_expect_eq(job.distinct, 1);
    cr_expect(is_among(&job, &spec, job.found_n));
    pe_identify_release(&job);
    pe_spec_release(&spec);
    request.tokens = 4;
    for (size_t i = 0; i < 4; i++)
        request.at[i] = (double)i;
    ask(&request, &spec, &job);
    cr_expect_eq(job.confidence, PE_IDENTIFIED_UNIQUE);
    cr_expect_eq(job.found[0].explains, PE_EXPLAINS_BITS);
    cr_expect(pe_spec_same_numbers(&job.found[0].spec, &spec));
    pe_identify_release(&job);
    pe_spec_release(&spec);
}

/* ---- Several axes -------------------------------------------------------------------------- */

static struct request on_axes(const char *text, size_t axes)
{
    struct request request = {.dtype = PE_F32, .tokens = 12, .heads = 2, .beside_n = axes - 1};
    snprintf(request.text, sizeof request.text, "%s", text);
    for (size_t i = 0; i < request.tokens; i++) {
        request.at[i] = (double)below(40);
        for (size_t axis = 0; axis < axes - 1; axis++)
            request.beside[axis][i] = (double)below(40);
    }
    return request;
}

/* Pairs of every split. */
static const struct {
    const char *text;
    size_t axes;
} specs[] = {
    {"mrope:dim=32,base=50000,layout=half,sections=4+6+6", 3},
    {"mrope:dim=32,layout=half,sections=6+5+5,axes_split=interleaved", 3},
    {"mrope:dim=32,layout=half,sections=6+5+5+0,axes_split=interleaved_ggml", 4},
    {"mrope:dim=32,base=500000,sections=5+5+6,section_axes=1+2+0,axes_split=alternate_tail", 3},
    {"mrope:dim=32,layout=half,sections=7+3+4+2,section_axes=2+0+1+0", 3},
    {"axial:dim=32,layout=half", 2},
    {"axial:dim=32,base=100,layout=half_per_axis", 2},
    {"axial:dim=32,layout=half,spectrum=strided", 2},
    {"axial:dim=32,section_axes=1+0,shift=1", 2},
    {"axial:dim=32,axes_split=alternate", 2},
    {"axial:dim=32,sections=4+6+6", 3},
};

Test(identify, finds_the_axis_of_each_pair)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct request request = on_axes(specs[i].text, specs[i].axes);
        struct pe_spec spec;
        struct pe_identify job;
        ask(&request, &spec, &job);
        bool right = job.found_n > 0 && pe_spec_same_numbers(&job.found[0].spec, &spec);
        cr_expect(right, "%s", request.text);
        cr_expect_eq(job.confidence, PE_IDENTIFIED_UNIQUE, "%s: confidence %d", request.text,
                     job.confidence);
        if (!right || job.confidence != PE_IDENTIFIED_UNIQUE)
            show(&request, &job);
        pe_identify_release(&job);
        pe_spec_release(&spec);
    }
}

#define FEW_N 60

/* Of few places, on which axes are hardly apart, and in 16 bits: what it is sure of is right. */
Test(identify, is_not_sure_of_axes_that_few_places_tell)
{
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_BF16};
    size_t wrong = 0, sure = 0;
    for (size_t i = 0; i < FEW_N; i++) {
        size_t k = below(sizeof specs / sizeof *specs), width = 2 + below(30);
        struct request request = on_axes(specs[k].text, specs[k].axes);
        struct pe_spec spec;
        struct pe_identify job;
        request.dtype = dtypes[below(3)];
        request.tokens = 2 + below(request.tokens - 1);
        for (size_t row = 0; row < request.tokens; row++)
            for (size_t axis = 0; axis < specs[k].axes; axis++)
                *(axis ? &request.beside[axis - 1][row] : &request.at[row]) = (double)below(width);
        ask(&request, &spec, &job);
        bool right = job.found_n > 0 && pe_spec_same_numbers(&job.found[0].spec, &spec);
        sure += job.confidence == PE_IDENTIFIED_UNIQUE;
        if (job.confidence == PE_IDENTIFIED_UNIQUE && !right) {
            wrong++;
            show(&request, &job);
        }
        pe_identify_release(&job);
        pe_spec_release(&spec);
    }
    cr_expect_eq(wrong, 0, "%zu of %zu", wrong, sure);
    cr_expect_gt(sure, 3);
}

/* Text has one number on all axes, and is turned by any of them alike. */
Test(identify, says_that_axes_are_open)
{
    struct request request = on_axes("mrope:dim=32,layout=half,sections=4+6+6", 3);
    struct pe_spec spec;
    struct pe_identify job;
    for (size_t axis = 0; axis < request.beside_n; axis++)
        memcpy(request.beside[axis], request.at, sizeof request.at);
    ask(&request, &spec, &job);
    cr_expect_eq(job.confidence, PE_IDENTIFIED_AMBIGUOUS);
    cr_expect(job.axes_open);
    cr_expect(is_among(&job, &spec, job.found_n));
    pe_identify_release(&job);
    pe_spec_release(&spec);
}

/* ---- One by one ---------------------------------------------------------------------------- */

static struct request at_places(const char *text, const double *at, size_t n)
{
    struct request request = {.dtype = PE_F32, .tokens = n, .heads = 2};
    snprintf(request.text, sizeof request.text, "%s", text);
    memcpy(request.at, at, n * sizeof *at);
    return request;
}

static void expect_first(const struct request *request, enum pe_twist twist)
{
    struct pe_spec spec;
    struct pe_identify job;
    ask(request, &spec, &job);
    cr_expect(job.found_n > 0 && job.found[0].explains != PE_EXPLAINS_NOT &&
                  job.found[0].spec.kind == spec.kind && job.found[0].twist == twist &&
                  pe_spec_same_numbers(&job.found[0].spec, &spec),
              "%s", request->text);
    if (job.found_n == 0 || !pe_spec_same_numbers(&job.found[0].spec, &spec))
        show(request, &job);
    pe_identify_release(&job);
    pe_spec_release(&spec);
}

/* Fast pairs make many turns between any two places. */
Test(identify, finds_what_stands_far_apart)
{
    static const double at[] = {5272, 870, 2422, 1520, 5029};
    static const char *const texts[] = {
        "rope:dim=32,layout=half",
        "rope:dim=32,layout=half,scaling=ntk,factor=8",
        "rope:dim=32,scaling=ntk_fixed,factor=4",
        "rope:dim=32,scaling=dynamic,factor=4,original_max=2048,context=4096",
        "rope:dim=64,layout=half,scaling=yarn,factor=16,original_max=4096",
        "rope:dim=64,base=500000,layout=half,scaling=llama3,factor=8,original_max=8192",
        "rope:dim=64,scaling=yarn,factor=40,original_max=4096,mscale=1,mscale_all_dim=1",
        "rope:dim=32,base=1000000,layout=half,kept_pairs=4",
        "rope:dim=16,base=500000,freq_factors=1+1.5+2+2.5+3+3.5+4+4.5",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct request request = at_places(texts[i], at, sizeof at / sizeof *at);
        expect_first(&request, PE_TWIST_NONE);
    }
}

Test(identify, finds_swapped_cosines_and_sines)
{
    static const double at[] = {0, 1, 2, 5, 9};
    static const char *const texts[] = {"rope:dim=16,layout=half", "rope:dim=16,base=500000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct request request = at_places(texts[i], at, sizeof at / sizeof *at);
        request.dtype = PE_F64;
        request.swapped = true;
        expect_first(&request, PE_TWIST_SWAPPED);
    }
}

/* Scales besides turns; of q, which the tests apply to. */
Test(identify, finds_scales_of_pairs)
{
    static const double at[] = {0, 1, 2, 3, 4, 5};
    static const char *const texts[] = {"xpos:dim=16", "xpos:dim=32,layout=half,scale_base=256",
                                        "xpos:dim=16,center=40"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct request request = at_places(texts[i], at, sizeof at / sizeof *at);
        expect_first(&request, PE_TWIST_NONE);
    }
}

/* Sinusoids, whose pairs are seen in y less x. */
Test(identify, finds_what_was_added)
{
    static const double at[] = {0, 1, 2, 3, 7, 20};
    static const char *const texts[] = {"sinusoidal:dim=16", "sinusoidal:dim=32,layout=half",
                                        "sinusoidal:dim=32,layout=half,spacing=endpoint",
                                        "sinusoidal:dim=16,base=500,layout=cos_sin,shift=2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct request request = at_places(texts[i], at, sizeof at / sizeof *at);
        expect_first(&request, PE_TWIST_NONE);
        request.dtype = PE_F64;
        expect_first(&request, PE_TWIST_NONE);
    }
}
