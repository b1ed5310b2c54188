// SPDX-License-Identifier: Apache-2.0
/*
 * test_kernels_rotate.c: the rotation kernels of every usable variant: all lengths to two blocks
 * and three, unaligned, in place and not, with guards around the outputs; the short formats rounded
 * once at every midpoint. Values against the definition are in test_apply_rotate.c.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "kernels.h"

#define LENGTH_MAX 35 /* two blocks of 16 pairs and three */
#define SKEW_MAX   3  /* elements before the first, so that starts are unaligned */
#define GUARD      8  /* elements around what is rotated */
#define ROOM       (GUARD + SKEW_MAX + 2 * LENGTH_MAX + GUARD)

static const enum pe_dtype shorts[] = {PE_F16, PE_BF16};

/* A row of ROOM elements; pairs start at `first`, members as the step says. */
struct place {
    size_t first, n, step;
};

static struct pe__rotation rotation_of(enum pe_dtype dtype, const struct place *place,
                                       const void *x, void *y)
{
    size_t size = pe_dtype_size(dtype);
    size_t a = place->first * size;
    size_t b = (place->first + (place->step == 1 ? place->n : 1)) * size;
    return (struct pe__rotation){.n = place->n,
                                 .step = place->step,
                                 .a = (const char *)x + a,
                                 .b = (const char *)x + b,
                                 .ya = (char *)y + a,
                                 .yb = (char *)y + b,
                                 .rows = 1};
}

static void fill_cos_sin(struct pe__planes *cs)
{
    for (size_t i = 0; i < PE__BLOCK; i++) {
        double angle = (double)i * 0.7;
        cs->cos_hi[i] = cos(angle);
        cs->sin_hi[i] = sin(angle);
        cs->cos_lo[i] = ldexp(cs->cos_hi[i], -55);
        cs->sin_lo[i] = -ldexp(cs->sin_hi[i], -56);
    }
}

/* Normal numbers sown with zeros, infinities, NaN and the ends of the range. */
static void fill_wild(enum pe_dtype dtype, void *x, uint64_t seed)
{
    static const double wild[] = {0,     -0.0,  INFINITY, -INFINITY, NAN,    6e4,
                                  1e-40, 3e-45, 6e-8,     1e300,     1e-310, 1.7e308};
    pe_fill_random(seed, "x", PE_CONTENT_NORMAL, 1, 0, ROOM, dtype, x);
    for (uint64_t k = 0; k < seed % 8; k++)
        pe_store(dtype, x, pe_draw(seed, "place", k) % ROOM, wild[pe_draw(seed, "wild", k) % 12]);
}

static void rotate_narrow(const struct pe__kernels *kernels, enum pe_dtype dtype,
                          const struct pe__rotation *job, const double *c, const double *s)
{
    double cosine[2 * LENGTH_MAX];
    double sine[2 * LENGTH_MAX];
    memcpy(cosine, c, job->n * sizeof *c);
    memcpy(sine, s, job->n * sizeof *s);
    if (job->step == 2)
        kernels->spread(job->n, cosine, sine);
    kernels->rotate[dtype](job, cosine, sine);
}

static size_t rotate(const struct pe__kernels *kernels, enum pe_dtype dtype,
                     const struct pe__rotation *job, const struct pe__planes *cs, uint16_t *bad)
{
    if (dtype == PE_F64)
        return kernels->rotate_f64(
            job, (struct pe__cdd_in){cs->cos_hi, cs->cos_lo, cs->sin_hi, cs->sin_lo}, 0x1p-100,
            bad);
    rotate_narrow(kernels, dtype, job, cs->cos_hi, cs->sin_hi);
    return 0;
}

/* Pairs that are doubtful in any variant are recomputed by the caller, so they may hold anything;
 * they must not have been written, though: in place the input is still needed. */
static void expect_same(const struct pe__kernels *kernels, enum pe_dtype dtype,
                        const struct place *place, const void *x, const struct pe__planes *cs,
                        uint64_t seed)
{
    size_t bytes = ROOM * pe_dtype_size(dtype);
    double expected[ROOM];
    double apart[ROOM];
    double in_place[ROOM];
    uint16_t bad[PE__BLOCK];
    memcpy(expected, x, bytes);
    memcpy(apart, x, bytes);
    memcpy(in_place, x, bytes);
    struct pe__rotation job = rotation_of(dtype, place, x, expected);
    size_t expected_bad_n = rotate(&pe__kernels_scalar, dtype, &job, cs, bad);
    job = rotation_of(dtype, place, x, apart);
    size_t bad_n = rotate(kernels, dtype, &job, cs, bad);
    job = rotation_of(dtype, place, in_place, in_place);
    rotate(kernels, dtype, &job, cs, bad);
    cr_expect_arr_eq(apart, expected, bytes, "%s, %s, %zu pairs, step %zu, seed %u", kernels->name,
                     pe_dtype_name(dtype), place->n, place->step, (unsigned)seed);
    cr_expect_arr_eq(in_place, expected, bytes, "in place: %s, %s, %zu pairs, step %zu, seed %u",
                     kernels->name, pe_dtype_name(dtype), place->n, place->step, (unsigned)seed);
    cr_expect_eq(bad_n, expected_bad_n, "%s: %zu doubtful, not %zu", kernels->name, bad_n,
                 expected_bad_n);
}

Test(kernels_rotate, every_variant_gives_the_same_bits)
{
    const struct pe__kernels *usable[4];
    size_t usable_n = pe__kernels_usable(usable);
    static struct pe__planes cs;
    fill_cos_sin(&cs);
    double x[ROOM];
    for (size_t v = 0; v < usable_n; v++)
        for (int d = 0; d < PE_I64; d++)
            for (uint64_t seed = 0; seed < 24; seed++)
                for (size_t n = 0; n <= LENGTH_MAX; n++) {
                    struct place place = {GUARD + seed % (SKEW_MAX + 1), n, 1 + seed / 4 % 2};
                    fill_wild((enum pe_dtype)d, x, seed);
                    expect_same(usable[v], (enum pe_dtype)d, &place, x, &cs, seed);
                }
}

/* Which f64 pairs are doubtful: not zeros, NaN and infinities, whose results plain arithmetic
 * decides; those far out of range are. */
Test(kernels_rotate, doubtful_pairs_are_named_and_left_alone)
{
    static const struct {
        double a, b;
        bool doubtful;
    } pairs[] = {
        {1, 2, false},         {0, -0.0, false},     {0, 1, false},      {NAN, 1, false},
        {1, -INFINITY, false}, {0x1p-1000, 0, true}, {1, 0x1p950, true}, {0x1p-1074, 1, false},
    };
    const struct pe__kernels *usable[4];
    size_t usable_n = pe__kernels_usable(usable);
    static struct pe__planes cs;
    fill_cos_sin(&cs);
    double x[ROOM] = {0};
    double y[ROOM] = {0};
    uint16_t bad[PE__BLOCK];
    struct place place = {0, 8, 2};
    for (size_t i = 0; i < 8; i++) {
        x[2 * i] = pairs[i].a;
        x[2 * i + 1] = pairs[i].b;
    }
    for (size_t v = 0; v < usable_n; v++) {
        for (size_t i = 0; i < ROOM; i++)
            y[i] = 77;
        struct pe__rotation job = rotation_of(PE_F64, &place, x, y);
        size_t bad_n = rotate(usable[v], PE_F64, &job, &cs, bad);
        cr_expect_eq(bad_n, 2, "%s: %zu", usable[v]->name, bad_n);
        for (size_t i = 0, k = 0; i < 8; i++) {
            bool named = k < bad_n && bad[k] == i;
            k += named;
            cr_expect_eq(named, pairs[i].doubtful, "%s: pair %zu", usable[v]->name, i);
            cr_expect_eq(y[2 * i] == 77 && y[2 * i + 1] == 77, named, "%s: pair %zu",
                         usable[v]->name, i);
        }
    }
}

/* The element after x, away from 0; past the last one, as if the range went on. */
static double next_value(enum pe_dtype dtype, uint16_t bits)
{
    uint16_t last = dtype == PE_F16 ? 0x7bff : 0x7f7f;
    uint16_t next = (uint16_t)(bits + 1);
    return bits == last ? (dtype == PE_F16 ? 0x1p16 : 0x1p128) : pe_load(dtype, &next, 0);
}

/* With a = b = 1, c a midpoint and s next to nothing, c - s lies at or just beside the midpoint:
 * nearer than f32 can tell. Rounding to f32 on the way, or any other second rounding, shows. */
Test(kernels_rotate, short_formats_are_rounded_once)
{
    const struct pe__kernels *usable[4];
    size_t usable_n = pe__kernels_usable(usable);
    for (size_t d = 0; d < 2; d++)
        for (unsigned first = 0; first < (shorts[d] == PE_F16 ? 0x7c00 : 0x7f80); first += 8)
            for (int side = -1; side <= 1; side++) {
                double c[8];
                double s[8];
                uint16_t ones[16];
                uint16_t expected[16];
                uint16_t got[16];
                for (size_t i = 0; i < 8; i++) {
                    uint16_t bits = (uint16_t)(first + i);
                    double value = pe_load(shorts[d], &bits, 0);
                    c[i] = value + (next_value(shorts[d], bits) - value) / 2;
                    s[i] = side * ldexp(c[i], -50);
                    pe_store(shorts[d], ones, i, 1);
                    pe_store(shorts[d], ones, 8 + i, 1);
                    pe_store(shorts[d], expected, i, c[i] - s[i]);
                    pe_store(shorts[d], expected, 8 + i, s[i] + c[i]);
                }
                struct place place = {0, 8, 1};
                for (size_t v = 0; v < usable_n; v++) {
                    struct pe__rotation job = rotation_of(shorts[d], &place, ones, got);
                    rotate_narrow(usable[v], shorts[d], &job, c, s);
                    cr_expect_arr_eq(got, expected, sizeof got, "%s, %s, from %#x, side %d",
                                     usable[v]->name, pe_dtype_name(shorts[d]), first, side);
                }
            }
}

/* Every NaN that arithmetic makes is the same one, whatever the inputs' payloads. */
Test(kernels_rotate, computed_nan_has_no_payload)
{
    static const uint32_t singles[] = {0xffc12345, 0x7fa00001, 0xff800000, 0x7f800000};
    static const double cosine[] = {0.6, 0.6};
    static const double sine[] = {0.8, 0.8};
    const struct pe__kernels *usable[4];
    size_t usable_n = pe__kernels_usable(usable);
    for (size_t v = 0; v < usable_n; v++) {
        uint32_t y[4];
        struct place place = {0, 2, 2};
        struct pe__rotation job = rotation_of(PE_F32, &place, singles, y);
        rotate_narrow(usable[v], PE_F32, &job, cosine, sine);
        cr_expect_eq(y[0], 0x7fc00000, "%s: %#x", usable[v]->name, y[0]);
        cr_expect_eq(y[1], 0x7fc00000, "%s: %#x", usable[v]->name, y[1]);
        cr_expect_eq(y[2], 0xff800000, "%s: %#x", usable[v]->name, y[2]);
        cr_expect_eq(y[3], 0x7fc00000, "%s: %#x", usable[v]->name, y[3]);
    }
}

/* Rows at once, with cos and sin of each or the same for all, through the caches or past them: as
 * each row alone. */
Test(kernels_rotate, rows_are_as_each_of_them)
{
    enum { ROWS = 5, PAIRS = 32, WIDTH = 2 * PAIRS };
    static _Alignas(64) float x[ROWS * WIDTH], together[ROWS * WIDTH], each[ROWS * WIDTH];
    static double c[ROWS * WIDTH], s[ROWS * WIDTH];
    const struct pe__kernels *usable[4];
    size_t usable_n = pe__kernels_usable(usable);
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        c[i] = cos((double)i);
        s[i] = sin((double)i);
    }
    for (size_t v = 0; v < usable_n; v++)
        for (unsigned k = 0; k < 24; k++) {
            enum pe_dtype dtype = (enum pe_dtype)(PE_F32 + k % 3);
            size_t row = WIDTH * pe_dtype_size(dtype);
            struct place place = {0, PAIRS, 1 + k / 3 % 2};
            size_t values = k / 6 % 2 ? WIDTH : 0;
            pe_fill_random(k, "x", PE_CONTENT_NORMAL, 1, 0, ROWS * WIDTH, dtype, x);
            struct pe__rotation job = rotation_of(dtype, &place, x, together);
            job.rows = ROWS;
            job.row_in = job.row_out = row;
            job.row_values = values;
            job.ahead = row;
            job.stream = k / 12;
            usable[v]->rotate[dtype](&job, c, s);
            usable[v]->drain();
            for (size_t r = 0; r < ROWS; r++) {
                job = rotation_of(dtype, &place, (char *)x + r * row, (char *)each + r * row);
                usable[v]->rotate[dtype](&job, c + r * values, s + r * values);
            }
            cr_expect_arr_eq(together, each, ROWS * row, "%s, %s, step %zu", usable[v]->name,
                             pe_dtype_name(dtype), place.step);
        }
}
