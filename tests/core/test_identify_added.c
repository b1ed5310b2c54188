// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify_added.c: what was added is found again, of every kind that adds; and what cannot be
 * told is said to be open. Random ones are in test_identify_specs.c.
 */
#include <criterion/criterion.h>

#include "core/identify_ask.h"

TestSuite(identify_added, .timeout = 300);

/* Where tokens stand on each axis. */
enum form { COUNTED, EIGHTHS, SCATTERED, GRID, GRID_LAST, VIDEO };

static const size_t axes_of[] = {
    [COUNTED] = 1, [EIGHTHS] = 1, [SCATTERED] = 1, [GRID] = 2, [GRID_LAST] = 4, [VIDEO] = 3};

static double place(enum form form, size_t axis, size_t token)
{
    static const double scattered[] = {0.1, 1, 7.5, 12, 3.25, 40, 5, 0.75};
    switch (form) {
    case COUNTED:
        return (double)token;
    case EIGHTHS:
        return (double)token / 8;
    case SCATTERED:
        return scattered[token % 8] + (double)(token / 8);
    case GRID:
        return (double)(axis == 0 ? token / 5 : token % 5 + 7);
    case GRID_LAST:
        return axis < 2 ? (double)(axis == 0 ? token / 8 + 1 : token % 8 + 1) : axis == 2 ? 7 : 8;
    default:
        return (double)(axis == 0 ? token / 12 : axis == 1 ? token / 4 % 3 : token % 4);
    }
}

static struct request request_of(const char *text, enum form form, size_t tokens,
                                 enum pe_dtype dtype)
{
    struct request request = {
        .dtype = dtype, .tokens = tokens, .heads = 2, .beside_n = axes_of[form] - 1};
    snprintf(request.text, sizeof request.text, "%s", text);
    for (size_t token = 0; token < tokens; token++)
        for (size_t axis = 0; axis < axes_of[form]; axis++)
            *(axis ? &request.beside[axis - 1][token] : &request.at[token]) =
                place(form, axis, token);
    return request;
}

/* Of every kind that adds, and with every parameter that changes its numbers; all of them are told
 * apart by f32 numbers at 40 positions. */
static const struct {
    const char *text;
    enum form form;
} specs[] = {
    {"integer:dim=16", COUNTED},
    {"integer:dim=16,normalize_by=100", COUNTED},
    {"integer:dim=16,length=41,shift=1", COUNTED},
    {"integer:dim=5,normalize_by=2.5", SCATTERED},
    {"binary:dim=16", COUNTED},
    {"binary:dim=16,bits=8,signed=true", COUNTED},
    {"binary:dim=16,bits=7,bit_order=msb", COUNTED},
    {"binary:dim=16,bit_order=msb,signed=true,shift=3", COUNTED},
    {"gray:dim=16", COUNTED},
    {"gray:dim=9,signed=true,shift=1", COUNTED},
    {"gray:dim=16,bits=6,bit_order=msb", COUNTED},
    {"one_hot:dim=64", COUNTED},
    {"one_hot:dim=64,shift=11", COUNTED},
    {"haar:dim=64", COUNTED},
    {"haar:dim=64,normalize=true", COUNTED},
    {"haar:dim=48,length=64,shift=5", COUNTED},
    {"haar:dim=32,length=128,normalize=true", COUNTED},
    {"sinusoidal:dim=16", COUNTED},
    {"sinusoidal:dim=15", COUNTED},
    {"sinusoidal:dim=15,odd=sin", COUNTED},
    {"sinusoidal:dim=17,layout=half,odd=sin", COUNTED},
    {"sinusoidal:dim=17,layout=half,spacing=endpoint,shift=2", COUNTED},
    {"sinusoidal:dim=33,base=500,layout=cos_sin", COUNTED},
    {"sinusoidal:dim=43,base=65400,odd=sin,shift=7", COUNTED},
    {"sinusoidal:dim=32,layout=half,spacing=endpoint,padding_idx=1", COUNTED},
    {"sinusoidal:dim=32,layout=half,spacing=endpoint,padding_idx=3,shift=2", COUNTED},
    {"sinusoidal:dim=32,layout=half,spacing=shift,freq_shift=0.5", COUNTED},
    {"sinusoidal:dim=32,layout=half,spacing=endpoint,position_scale=0.5", COUNTED},
    {"sinusoidal:dim=32,position_scale=3", EIGHTHS},
    {"timestep:dim=32", COUNTED},
    {"timestep:dim=33,order=cos_sin,freq_shift=0", COUNTED},
    {"timestep:dim=32,base=1000,freq_shift=0.25,position_scale=2", EIGHTHS},
    {"fourier:dim=16,bands=powers", EIGHTHS},
    {"fourier:dim=16,bands=powers,order=interleaved", EIGHTHS},
    {"fourier:dim=16,freqs_seed=3", EIGHTHS},
    {"fourier:dim=16,freqs_seed=77,freqs_std=16,order=cos_sin", EIGHTHS},
    {"fourier:dim=16,freqs_seed=2,freqs_std=0.3,angle_unit=radian", COUNTED},
    {"fourier:dim=16,freqs_seed=9,freqs_std=0.3,log_positions=true", SCATTERED},
    {"fourier:dim=6,freqs=0.5+-1.25+0.75", EIGHTHS},
    {"fourier:dim=6,freqs=0.5+-1.25+0.3,log_positions=true", SCATTERED},
    {"sine2d:dim=32", GRID},
    {"sine2d:dim=32,base=100,order=cos_sin,shift=1", GRID},
    {"sine2d:dim=32,order=sin_cos", GRID},
    {"sine2d:dim=32,normalize=true", GRID_LAST},
    {"sine2d:dim=32,normalize=true,offset=-0.5,order=sin_cos", GRID_LAST},
    {"sine2d:dim=32,normalize=true,scale=3", GRID_LAST},
    {"sincos2d:dim=32", GRID},
    {"sincos2d:dim=32,section_axes=1+0", GRID},
    {"sincos2d:dim=32,order=grouped", GRID},
    {"sincos2d:dim=32,order=cos_sin,base=100,section_axes=1+0", GRID},
    {"sincos2d:dim=32,order=interleaved,spacing=endpoint,shift=2", GRID},
    {"sincos2d:dim=24,sections=4+4+4", VIDEO},
    {"sincos2d:dim=32,sections=4+6+6,section_axes=0+2+1", VIDEO},
    {"learned:dim=16", COUNTED},
    {"learned:dim=16,table_seed=500,table_std=1", COUNTED},
    {"learned:dim=16,rows=514,shift=2,table_seed=7", COUNTED},
    {"learned:dim=16,padding_idx=1,table_seed=1", COUNTED},
};

/* Where it is sure it is right; else the spec is among those named, or more than these are said to
 * be; of one position any may be. Whether something was found. */
static bool expect_not_wrong(const struct request *request, bool sure)
{
    struct pe_spec spec;
    struct pe_identify job;
    ask(request, &spec, &job);
    bool unique = job.confidence == PE_IDENTIFIED_UNIQUE;
    bool found = job.confidence != PE_IDENTIFIED_NOT;
    bool open = job.more || job.distinct < 2 || is_among(&job, &spec, job.rivals_n);
    bool ok = unique ? is_among(&job, &spec, 1) : sure ? false : open || !found;
    cr_expect(ok, "%s: confidence %d", request->text, job.confidence);
    if (!ok)
        show(request, &job);
    pe_identify_release(&job);
    pe_spec_release(&spec);
    return found;
}

static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_BF16};

Test(identify_added, finds_every_kind)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            struct request request = request_of(specs[i].text, specs[i].form, 40, dtypes[k]);
            cr_expect(expect_not_wrong(&request, dtypes[k] != PE_BF16), "%s in %s", request.text,
                      pe_dtype_name(dtypes[k]));
        }
}

#define NONE_MAX                                                                                   \
    50 /* frequencies that make many turns from place to place, at few of them; and                \
          what rounding to 16 bits leaves of hundredths */

#if defined(__SANITIZE_ADDRESS__) || defined(COVERAGE) /* some ten times as slow */
#define STEP 5
#else
#define STEP 1
#endif

/* Of few positions, which several codes explain. */
Test(identify_added, is_not_sure_of_what_few_places_tell)
{
    static const size_t counts[] = {1, 2, 4, 9};
    size_t none = 0;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i += STEP)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
                struct request request =
                    request_of(specs[i].text, specs[i].form, counts[n], dtypes[k]);
                none += !expect_not_wrong(&request, false);
            }
    cr_expect_leq(none, NONE_MAX, "%zu", none);
}

/* The bits of 0 and 1 are Gray code as well; from 2 on they are not. */
Test(identify_added, names_all_codes_that_fit)
{
    struct request request = request_of("binary:dim=8", COUNTED, 2, PE_F32);
    struct pe_spec spec;
    struct pe_identify job;
    bool gray = false;
    ask(&request, &spec, &job);
    cr_expect_eq(job.confidence, PE_IDENTIFIED_AMBIGUOUS);
    for (size_t i = 0; i < job.rivals_n; i++)
        gray = gray || strcmp(job.found[i].spec.kind->name, "gray") == 0;
    cr_expect(gray && is_among(&job, &spec, job.rivals_n));
    pe_identify_release(&job);
    pe_spec_release(&spec);
    request = request_of("binary:dim=8", COUNTED, 3, PE_F32);
    expect_not_wrong(&request, true);
}

/* A table of no seed: nothing is named, but that something is added to all heads alike is said. */
Test(identify_added, says_that_a_table_was_added)
{
    struct request request = request_of("learned:dim=16,table_seed=123456789", COUNTED, 8, PE_F32);
    struct pe_spec spec;
    struct pe_identify job;
    ask(&request, &spec, &job);
    cr_expect_eq(job.confidence, PE_IDENTIFIED_NOT);
    cr_expect(job.adds);
    pe_identify_release(&job);
    pe_spec_release(&spec);
    request = request_of("rope:dim=16", COUNTED, 8, PE_F32);
    ask(&request, &spec, &job);
    cr_expect_not(job.adds);
    pe_identify_release(&job);
    pe_spec_release(&spec);
}

/* ---- The same numbers ----------------------------------------------------------------------- */

static struct pe_spec spec_of(const char *text)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, &spec, &faults) && pe_spec_finish(&spec, &faults), "%s", text);
    return spec;
}

Test(identify_added, knows_what_is_only_another_spelling)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"integer:dim=4,length=9", "integer:dim=4,normalize_by=8", true},
        {"integer:dim=4,length=9", "integer:dim=4,normalize_by=9", false},
        {"integer:dim=4,shift=1", "integer:dim=4", false},
        {"binary:dim=8,bits=6", "binary:dim=8", true},
        {"binary:dim=8,bits=6,signed=true", "binary:dim=8,signed=true", false},
        {"binary:dim=8,bits=6,bit_order=msb", "binary:dim=8,bit_order=msb", false},
        {"binary:dim=8", "gray:dim=8", false},
        {"haar:dim=8,length=64", "haar:dim=8,length=128", false},
        {"haar:dim=8,length=64,shift=1", "haar:dim=8,length=64", false},
        {"learned:dim=8,rows=100", "learned:dim=8,rows=512", true},
        {"learned:dim=8,table_seed=1", "learned:dim=8", false},
        {"learned:dim=8,padding_idx=1", "learned:dim=8", false},
        {"timestep:dim=32", "sinusoidal:dim=32,layout=half,spacing=endpoint", true},
        {"timestep:dim=33,freq_shift=0", "sinusoidal:dim=33,layout=half", false},
        {"sinusoidal:dim=32,padding_idx=1", "sinusoidal:dim=32", false},
        {"sinusoidal:dim=32,spacing=shift", "sinusoidal:dim=32", true},
        {"sinusoidal:dim=33,odd=sin", "sinusoidal:dim=33", false},
        {"sine2d:dim=32", "sincos2d:dim=32,order=interleaved", true},
        {"sine2d:dim=32,normalize=true", "sine2d:dim=32", false},
        {"sincos2d:dim=32,section_axes=1+0", "sincos2d:dim=32", false},
        {"fourier:dim=4,bands=powers", "fourier:freqs=0.5+1", true},
        {"fourier:freqs=0.5+1", "fourier:freqs=0.5+1,log_positions=true", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pe_spec a = spec_of(cases[i].a), b = spec_of(cases[i].b);
        cr_expect_eq(pe_spec_same_numbers(&a, &b), cases[i].same, "%s, %s", cases[i].a, cases[i].b);
        cr_expect_eq(pe_spec_same_numbers(&b, &a), cases[i].same, "%s, %s", cases[i].b, cases[i].a);
        pe_spec_release(&a);
        pe_spec_release(&b);
    }
}
