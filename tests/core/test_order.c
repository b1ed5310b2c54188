// SPDX-License-Identifier: Apache-2.0
/*
 * test_order.c: where rotated channels stand: from any channel on (rotary_offset), and left in
 * halves (output_order), in every dtype, in place and back; the numbers published for DeepSeek-V3.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "apply_to.h"
#include "scores_setup.h"

#define N(array) (sizeof(array) / sizeof *(array))
#define DIM      600 /* several blocks of pairs */
#define TURNED   520
#define OFFSET   31
#define PAIRS    (TURNED / 2)

static const double at[] = {0, 1, NAN, 1000003, -0.5};
static const struct pe_positions positions = {.axes = 1, .n = N(at), .at = {at}};

Test(order, is_that_of_deepseek)
{
    static const double three[] = {3};
    struct pe_positions one = positions_of(three, 1);
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const double wanted[] = {-1.272232513, 1.683928641, 4.817777168, 6.975968536,
                             -1.838864985, 4.707906576, 6.147277704, 8.020963969};
    double y[8], back[8];
    apply_rows("rope:dim=8,output_order=halves", &one, false, 8, PE_F64, x, PE_F64, y);
    apply_rows("rope:dim=8,output_order=halves", &one, true, 8, PE_F64, y, PE_F64, back);
    for (size_t i = 0; i < 8; i++) {
        cr_expect_float_eq(y[i], wanted[i], 5e-10, "%zu: %.12g", i, y[i]);
        cr_expect_float_eq(back[i], x[i], 1e-14, "%zu: %.12g", i, back[i]);
    }
}

/* The channel in which a member of a pair ends up, `place` counted from the first rotated one. */
static size_t end_of(size_t place, bool half, bool halves)
{
    size_t pair = half ? place % PAIRS : place / 2, second = half ? place / PAIRS : place % 2;
    return halves ? pair + second * PAIRS : place;
}

/* Element i of rows of DIM without the rest, as rows of TURNED. */
static void cut(enum pe_dtype dtype, const void *x, void *part)
{
    size_t size = pe_dtype_size(dtype);
    for (size_t t = 0; t < N(at); t++)
        memcpy((char *)part + t * TURNED * size, (const char *)x + (t * DIM + OFFSET) * size,
               TURNED * size);
}

struct spelling {
    const char *spec, *plain;
    bool half, halves;
};

static const struct spelling spellings[] = {
    {"rope:dim=600,rotary_dim=520,rotary_offset=31", "rope:dim=520", false, false},
    {"rope:dim=600,rotary_dim=520,rotary_offset=31,output_order=halves", "rope:dim=520", false,
     true},
    {"rope:dim=600,rotary_dim=520,rotary_offset=31,output_order=halves,layout=half",
     "rope:dim=520,layout=half", true, true},
    {"rope:dim=600,rotary_dim=520,rotary_offset=31,output_order=halves,kept_pairs=200",
     "rope:dim=520,kept_pairs=200", false, true},
};

/* x, rotated as a vector of the turned channels alone and put where they belong, is y. */
static void expect_moved(const struct spelling *spelling, bool inverse, enum pe_dtype from,
                         const void *x, enum pe_dtype to, const void *y)
{
    static double part[N(at) * TURNED], turned[N(at) * TURNED];
    size_t size = pe_dtype_size(from);
    cut(from, x, part);
    if (inverse) { /* it reads what was moved */
        cut(from, x, turned);
        for (size_t i = 0; i < N(at) * TURNED; i++) {
            size_t end = end_of(i % TURNED, spelling->half, spelling->halves);
            memcpy((char *)part + i * size, (const char *)turned + (i - i % TURNED + end) * size,
                   size);
        }
    }
    apply_rows(spelling->plain, &positions, inverse, TURNED, from, part, to, turned);
    for (size_t i = 0; i < N(at) * DIM; i++) {
        size_t channel = i % DIM;
        double got, wanted;
        if (channel < OFFSET || channel >= OFFSET + TURNED) {
            wanted = pe_load(from, x, i);
            got = pe_load(to, y, i);
        } else {
            size_t place = channel - OFFSET;
            size_t end = inverse ? place : end_of(place, spelling->half, spelling->halves);
            wanted = pe_load(to, turned, i / DIM * TURNED + place);
            got = pe_load(to, y, i - place + end);
        }
        double rounded[1];
        pe_store(to, rounded, 0, wanted);
        cr_assert(same(got, pe_load(to, rounded, 0)), "%s, %s to %s, inverse %d: %zu: %g, not %g",
                  spelling->spec, pe_dtype_name(from), pe_dtype_name(to), inverse, i, got, wanted);
    }
}

Test(order, of_channels_in_every_dtype_and_direction)
{
    static double x[N(at) * DIM], y[N(at) * DIM];
    for (size_t i = 0; i < 2 * N(spellings); i++)
        for (enum pe_dtype from = PE_F64; from <= PE_BF16; from++) {
            const struct spelling *spelling = &spellings[i / 2];
            bool inverse = i % 2;
            pe_fill_random(i, "x", PE_CONTENT_NORMAL, 1, 0, N(at) * DIM, from, x);
            for (enum pe_dtype to = PE_F64; to <= PE_BF16; to++) {
                apply_rows(spelling->spec, &positions, inverse, DIM, from, x, to, y);
                expect_moved(spelling, inverse, from, x, to, y);
            }
            memcpy(y, x, sizeof x);
            apply_rows(spelling->spec, &positions, inverse, DIM, from, y, from, y);
            expect_moved(spelling, inverse, from, x, from, y);
        }
}

/* With an apply stage too, and a dot product runs over the channels as they stand then. */
Test(order, is_kept_by_stages)
{
    struct pe_stages stages = {.named = 1u << PE_STAGE_APPLY | 1u << PE_STAGE_DOT,
                               .dtype = {[PE_STAGE_APPLY] = PE_F32, [PE_STAGE_DOT] = PE_F32}};
    static const char spec[] = "rope:dim=16,rotary_dim=12,rotary_offset=tail,output_order=halves";
    static struct setup setup;
    setup_init(&setup, 16, 1);
    setup.job.stages = &stages;
    setup.job.anchors_n = 1;
    setup.anchors[0] = 5;
    setup.offsets[0] = 7;
    cr_assert_eq(run(&setup, spec), PE_OK);

    float encoded[2][16];
    for (size_t i = 0; i < 2; i++) {
        double place[] = {i == 0 ? 5 : 12};
        struct pe_positions one = positions_of(place, 1);
        struct pe_view in, out;
        size_t shape[] = {1, 16};
        cr_assert(pe_view_init(&in, PE_F64, i == 0 ? setup.q : setup.k, "td", shape, 2, 1));
        cr_assert(pe_view_init(&out, PE_F32, encoded[i], "td", shape, 2, 1));
        apply_staged(spec, &stages, &one, 1, false, &in, &out);
    }
    float sum = 0;
    for (size_t i = 0; i < 16; i++) {
        double x[] = {i < 4 ? setup.q[i] : encoded[0][i], i < 4 ? setup.k[i] : encoded[1][i]};
        float product = (float)(x[0] * x[1]);
        sum = i == 0 ? product : sum + product;
    }
    cr_expect_eq((float)setup.scores[0], sum, "%.9g, not %.9g", setup.scores[0], (double)sum);
}

Test(order, makes_no_difference_to_scores)
{
    static struct setup plain, moved;
    setup_init(&plain, 16, OFFSETS_MAX);
    setup_init(&moved, 16, OFFSETS_MAX);
    cr_assert_eq(run(&plain, "rope:dim=16"), PE_OK);
    cr_assert_eq(run(&moved, "rope:dim=16,output_order=halves"), PE_OK);
    for (size_t i = 0; i < ANCHORS_N * OFFSETS_MAX; i++)
        cr_expect(same(plain.scores[i], moved.scores[i]), "%zu", i);
}

Test(order, says_what_does_not_fit)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"rope:dim=16,rotary_dim=4,rotary_offset=13",
         "rotary_offset must be at most dim - rotary_dim (12), got 13"},
        {"rope:rotary_offset=-1", "rotary_offset must be at least 0, got -1"},
        {"rope:rotary_offset=tale", "rotary_offset must be an integer or tail, got \"tale\""},
        {"rope:dim=16,rotary_dim=8,rotary_offset=tail,rotary_offset=4",
         "rotary_offset is given twice, as tail and as 4"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec = {0};
        struct pe_faults faults = {0};
        cr_assert(
            !(pe_spec_parse(cases[i].text, &spec, &faults) && pe_spec_finish(&spec, &faults)));
        cr_expect_str_eq(faults.item[0].detail, cases[i].says);
        if (spec.kind)
            pe_spec_release(&spec);
    }
}

/* The tail is echoed as the number that it is. */
Test(order, of_the_tail_is_spelt_out)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    char compact[100];
    cr_assert(pe_spec_parse("rope:dim=80,rotary_offset=tail,rotary_dim=32", &spec, &faults));
    cr_assert(pe_spec_finish(&spec, &faults));
    pe_spec_compact(&spec, compact, sizeof compact);
    cr_expect_str_eq(compact, "rope:dim=80,rotary_dim=32,rotary_offset=48");
    pe_spec_release(&spec);
}
