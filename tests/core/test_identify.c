// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify.c: what was applied is found again: random encodings in three formats, at 2 to 64
 * positions. Right is an answer whose first encoding gives the same numbers everywhere, by whatever
 * spelling; where it says that it is not sure, one that has such an encoding among its rivals.
 * IDENTIFY_SPECS=10000 tries more of them.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/apply_to.h"

#define SPECS_N    600
#define TOKENS_MAX 64
#define DIM_MAX    32
#define HEADS_MAX  3
#define AXES_MAX   4

TestSuite(identify, .timeout = 600);

static uint64_t draws;

static size_t below(size_t n)
{
    return (size_t)(pe_draw(7, "identify", ++draws) % n);
}

/* ---- Random requests ----------------------------------------------------------------------- */

/* One that models have, or any of three digits. */
static double random_base(bool usual_only)
{
    static const double usual[] = {10000, 500000, 1000000, 100, 150000, 5000000};
    double base = (double)(101 + below(899));
    for (size_t tens = below(5); tens > 0; tens--)
        base *= 10;
    return usual_only || below(3) ? usual[below(6)] : base;
}

static size_t random_scaling(char *out, size_t size, bool blends)
{
    static const double factors[] = {2, 4, 8, 1.5, 32, 2.5};
    double factor = factors[below(6)];
    switch (below(12) + (blends ? 0 : 2)) {
    case 0:
        return (size_t)snprintf(out, size, ",scaling=yarn,factor=%g,original_max=%d", factor,
                                2048 << below(4));
    case 1:
        return (size_t)snprintf(out, size, ",scaling=llama3,factor=%g,original_max=%d", factor,
                                2048 << below(4));
    case 2:
        return (size_t)snprintf(out, size, ",scaling=linear,factor=%g", factor);
    case 3:
        return (size_t)snprintf(out, size, ",scaling=ntk,factor=%g", factor);
    case 4:
        return (size_t)snprintf(out, size, ",scaling=dynamic,factor=2,original_max=64,context=%zu",
                                64 + below(3) * 64);
    default:
        return 0;
    }
}

static void random_spec(char *out, size_t size, bool blends)
{
    static const char *const shifts[] = {"1", "2", "-1", "7", "0.5"};
    char scaling[128] = "";
    size_t dim = (size_t)8 << below(3), n;
    size_t scaled = random_scaling(scaling, sizeof scaling, blends && dim >= 32);
    n = (size_t)snprintf(out, size, "rope:dim=%zu,base=%.9g,layout=%s", dim,
                         random_base(scaled > 0), below(2) ? "half" : "interleaved");
    if (below(4) == 0)
        n += (size_t)snprintf(out + n, size - n, ",rotary_dim=%zu", dim / 2);
    if (below(5) == 0)
        n += (size_t)snprintf(out + n, size - n, ",direction=-1");
    if (below(4) == 0)
        n += (size_t)snprintf(out + n, size - n, ",shift=%s", shifts[below(5)]);
    snprintf(out + n, size - n, "%s", scaling);
}

/* From 0 on, from somewhere else on, or here and there. */
static size_t random_positions(double *at)
{
    size_t n = 2 + below(TOKENS_MAX - 1), form = below(4);
    double position = form == 1 ? (double)below(2000) : 0;
    for (size_t i = 0; i < n; i++) {
        at[i] = position;
        position += form < 3 ? 1 : (double)(1 + below(3));
    }
    return n;
}

struct request {
    char text[256];
    enum pe_dtype dtype;
    double at[TOKENS_MAX];
    size_t tokens, heads;
    bool swapped;    /* cosines and sines, in f64 */
    size_t beside_n; /* axes besides the first */
    double beside[AXES_MAX - 1][TOKENS_MAX];
};

static struct request random_request(void)
{
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_BF16};
    struct request request = {.dtype = dtypes[below(3)], .heads = 1 + below(HEADS_MAX)};
    random_spec(request.text, sizeof request.text, request.dtype != PE_BF16);
    request.tokens = random_positions(request.at);
    return request;
}

/* ---- Asking -------------------------------------------------------------------------------- */

static _Alignas(64) double x[HEADS_MAX * TOKENS_MAX * DIM_MAX], y[HEADS_MAX * TOKENS_MAX * DIM_MAX];

static double normal(void)
{
    double sum = 0;
    for (size_t i = 0; i < 12; i++)
        sum += (double)below(1 << 24) * 0x1p-24;
    return sum - 6;
}

/* Swaps cosines and sines: (a c - b s, a s + b c) becomes (a s - b c, a c + b s). */
static void swap_pairs(const struct pe_spec *spec, const double *from, double *to, size_t vectors)
{
    size_t dim = pe_spec_dim(spec);
    for (size_t i = 0; i < vectors; i++)
        for (size_t pair = 0; pair < pe_spec_pairs(spec); pair++) {
            size_t a, b;
            pe_spec_pair_members(spec, pair, false, &a, &b);
            double re = from[i * dim + a], im = from[i * dim + b];
            double c = re * to[i * dim + a] + im * to[i * dim + b];
            double s = re * to[i * dim + b] - im * to[i * dim + a], square = re * re + im * im;
            to[i * dim + a] = (re * s - im * c) / square;
            to[i * dim + b] = (re * c + im * s) / square;
        }
}

static void ask(const struct request *request, struct pe_spec *spec, struct pe_identify *job)
{
    struct pe_faults faults = {0};
    struct pe_view from, to;
    struct pe_positions positions = positions_of(request->at, request->tokens);
    positions.axes = 1 + request->beside_n;
    for (size_t axis = 0; axis < request->beside_n; axis++)
        positions.at[1 + axis] = request->beside[axis];
    cr_assert(pe_spec_parse(request->text, spec, &faults) && pe_spec_finish(spec, &faults),
              "%s: %s", request->text, faults.item[0].detail);
    size_t shape[] = {request->heads, request->tokens, pe_spec_dim(spec)};
    for (size_t i = 0; i < shape[0] * shape[1] * shape[2]; i++)
        pe_store(request->dtype, x, i, normal());
    cr_assert(pe_view_init(&from, request->dtype, x, "htd", shape, 3, 1));
    cr_assert(pe_view_init(&to, request->dtype, y, "htd", shape, 3, 1));
    apply_views(request->text, &positions, 1, false, &from, &to);
    if (request->swapped)
        swap_pairs(spec, x, y, shape[0] * shape[1]);
    *job = (struct pe_identify){
        .x = &from, .y = &to, .positions = &positions, .positions_n = 1, .dtype = request->dtype};
    size_t bytes = (pe_identify_work_bytes(&from, 1) + 63) / 64 * 64;
    job->work = aligned_alloc(64, bytes);
    cr_assert_not_null(job->work);
    cr_assert_eq(pe_identify(job), PE_OK);
    free(job->work);
}

/* Whether the spec is among the first n, or is one of those that are told by their base alone. */
static bool is_among(const struct pe_identify *job, const struct pe_spec *spec, size_t n)
{
    double base = pe_spec_effective_base(spec);
    for (size_t i = 0; i < n; i++)
        if (pe_spec_same_numbers(&job->found[i].spec, spec))
            return true;
    return n > 0 && job->more && job->base_low <= base && base <= job->base_high;
}

static void show(const struct request *request, const struct pe_identify *job)
{
    char text[512];
    fprintf(stderr, "%s in %s at %g, %g..%g (%zu), %zu heads: confidence %d%s\n", request->text,
            pe_dtype_name(request->dtype), request->at[0], request->at[1],
            request->at[request->tokens - 1], request->tokens, request->heads, job->confidence,
            job->more        ? ", more"
            : job->axes_open ? ", axes"
                             : "");
    for (size_t i = 0; i < job->found_n && i < 4; i++) {
        pe_spec_compact(&job->found[i].spec, text, sizeof text);
        fprintf(stderr, "    %d %.160s phase %.3g\n", job->found[i].explains, text,
                job->found[i].phase_rms);
    }
}

/* In 16 bits speeds of slow pairs are hardly known, and what was applied is not always among what
 * is tried: the answer says that it is not sure, or that it found nothing. */
#define BF16_MISSING 0.06

Test(identify, finds_what_was_applied)
{
    size_t wrong = 0, missing[PE_DTYPES_N] = {0}, all[PE_DTYPES_N] = {0};
    const char *more = getenv("IDENTIFY_SPECS");
    size_t n = more ? strtoul(more, NULL, 10) : SPECS_N;
    for (size_t i = 0; i < n; i++) {
        struct request request = random_request();
        struct pe_spec spec;
        struct pe_identify job;
        ask(&request, &spec, &job);
        bool sure = job.confidence == PE_IDENTIFIED_UNIQUE;
        bool right = is_among(&job, &spec, sure ? 1 : job.found_n);
        all[request.dtype]++;
        wrong += sure && !right;
        missing[request.dtype] += !sure && !right;
        if (!right && (sure || request.dtype != PE_BF16))
            show(&request, &job);
        pe_identify_release(&job);
        pe_spec_release(&spec);
    }
    cr_expect_eq(wrong, 0, "%zu of %zu are wrong, and sure", wrong, n);
    cr_expect_eq(missing[PE_F64] + missing[PE_F32], 0, "%zu in f64, %zu in f32 are missing",
                 missing[PE_F64], missing[PE_F32]);
    cr_expect_lt((double)missing[PE_BF16], BF16_MISSING * (double)all[PE_BF16],
                 "%zu of %zu in bf16 are missing", missing[PE_BF16], all[PE_BF16]);
}

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
