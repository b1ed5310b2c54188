// SPDX-License-Identifier: Apache-2.0
/*
 * test_properties.c: properties of encodings: numbers that follow from the formulas, least squares
 * computed elsewhere with 80 digits, and that every kind has a verdict or a reason.
 */
#include <math.h>

#include "core/plan_from.h"

#define POSITIONS_MAX 256

struct measured {
    struct pe_properties job;
    double decay[POSITIONS_MAX];
};

/* The properties at n positions; the vectors are the test vectors of seed 0. */
static struct measured *measure(const char *spec, const double *at, size_t n)
{
    static struct measured measured;
    static double vectors[2][256];
    struct pe_positions positions = {.axes = 1, .n = n};
    for (size_t axis = 0; axis < PE_AXES_MAX; axis++)
        positions.at[axis] = at;
    struct pe_spec parsed;
    struct pe_faults faults = {0};
    struct pe_plan *plan;
    cr_assert_leq(n, POSITIONS_MAX);
    cr_assert(pe_spec_parse(spec, &parsed, &faults) && pe_spec_finish(&parsed, &faults), "%s: %s",
              spec, faults.item[0].detail);
    positions.axes = pe_spec_axes(&parsed);
    cr_assert_eq(pe_plan_new(&parsed, &positions, &plan), PE_OK);
    pe_spec_release(&parsed);
    pe_fill_random(0, "q", PE_CONTENT_NORMAL, 1, 0, 256, PE_F64, vectors[0]);
    pe_fill_random(0, "k", PE_CONTENT_NORMAL, 1, 0, 256, PE_F64, vectors[1]);
    measured.job = (struct pe_properties){.plan = plan,
                                          .at = at,
                                          .n = n,
                                          .trained = 64,
                                          .q = vectors[0],
                                          .k = vectors[1],
                                          .dim = 64,
                                          .decay = measured.decay};
    cr_assert_eq(pe_properties(&measured.job), PE_OK, "%s", spec);
    pe_plan_free(plan);
    return &measured;
}

/* The same at 0, 1, ... 127. */
static struct measured *measure_128(const char *spec)
{
    double at[128];
    for (size_t i = 0; i < 128; i++)
        at[i] = (double)i;
    return measure(spec, at, 128);
}

static double number(const struct measured *m, enum pe_wish wish, const char *name)
{
    const struct pe_wish_row *row = pe_wish_row(wish);
    for (size_t i = 0; i < PE_WISH_NUMBERS_MAX && row->numbers[i]; i++)
        if (strcmp(row->numbers[i], name) == 0)
            return m->job.found[wish].number[i];
    cr_assert(false, "%s has no %s", row->name, name);
    return 0;
}

static void expect_near(double value, double expected, double relative, const char *what)
{
    cr_expect(fabs(value - expected) <= relative * fabs(expected), "%s: %.17g and not %.17g", what,
              value, expected);
}

/* Which kinds have what, as everybody tells it. */
Test(properties, verdicts)
{
    static const struct {
        const char *spec, *verdicts; /* in the order of enum pe_wish; -: no meaning */
    } rows[] = {
        /* unique bounded length linear extrapolates deterministic decay relative norm dims bf16 */
        {"none", "n y y - y y - y y n n"},
        {"integer", "y n y n y y n n n n y"},
        {"integer:length=64", "y y n n y y n n n n y"},
        {"binary", "y y y n y y n n n n y"},
        {"sinusoidal", "y y y y y y y n n n y"},
        {"learned", "y y y n n y n n n n y"},
        {"one_hot:dim=64", "y y y - n y n n n n y"},
        {"rope", "y y y y y y y y y n y"},
        {"rope2d", "y y y y y y y - y y y"},
        {"rope:scaling=dynamic,factor=2,original_max=64", "y y n y y y y y y n y"},
        {"sine2d:normalize=true", "y y n y y y y - n y y"},
        {"alibi:slope=0.5", "y n y - y y y y y n y"},
        {"t5", "n y y - y y n y y n n"},
        {"cope", "- - - - - - - - y n -"},
    };
    static const char signs[] = {[PE_FAILS] = 'n', [PE_HOLDS] = 'y', [PE_NO_MEANING] = '-'};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct measured *m = measure_128(rows[r].spec);
        for (enum pe_wish wish = 0; wish < PE_WISHES_N; wish++)
            cr_expect_eq(signs[m->job.found[wish].verdict], rows[r].verdicts[2 * wish], "%s: %s",
                         rows[r].spec, pe_wish_row(wish)->name);
    }
}

/* |code(p) - code(p+1)|^2 = sum of 2 - 2 cos w, and code(p).code(p+d) the sum of cos d w. */
Test(properties, of_sinusoids_follow_from_their_frequencies)
{
    const struct measured *m = measure_128("sinusoidal:dim=64");
    double nearest = 0, far = 0, norm = sqrt(32);
    for (int i = 0; i < 32; i++) {
        double w = pow(10000, -i / 32.0);
        nearest += 2 - 2 * cos(w);
        far += cos(127 * w) / 32;
    }
    expect_near(number(m, PE_WISH_UNIQUE, "smallest_distance"), sqrt(nearest), 1e-13, "nearest");
    expect_near(number(m, PE_WISH_BOUNDED, "shortest_code"), norm, 1e-14, "norm");
    expect_near(number(m, PE_WISH_BOUNDED, "longest_code"), norm, 1e-14, "norm");
    cr_expect_eq(number(m, PE_WISH_BOUNDED, "largest_value"), 1);
    expect_near(number(m, PE_WISH_DECAY, "nearest"), 1 - nearest / 64, 1e-12, "distance 1");
    expect_near(number(m, PE_WISH_DECAY, "farthest"), far, 1e-12, "distance 127");
    cr_expect_eq(m->decay[0], 1);
    double x_mean = 64, y_mean = 0, above = 0, below = 0; /* the line through 1 to 127 */
    for (int d = 1; d < 128; d++)
        y_mean += m->decay[d] / 127;
    for (int d = 1; d < 128; d++) {
        above += (d - x_mean) * (m->decay[d] - y_mean);
        below += (d - x_mean) * (d - x_mean);
    }
    expect_near(number(m, PE_WISH_DECAY, "slope_per_position"), above / below, 1e-12, "slope");
    /* as the scores of seed 0 are known */
    expect_near(number(m, PE_WISH_RELATIVE, "spread"), 12.315565411636113, 1e-15, "spread");
    cr_expect_eq(number(m, PE_WISH_RELATIVE, "at_offset"), 20);
    const double at[] = {0, 8, 24};
    m = measure("sinusoidal:dim=64", at, 3);
    expect_near(number(m, PE_WISH_KEEPS_NORM, "smallest_ratio"),
                9.6368724980344013 / 7.6330500742064461, 1e-15, "norm at 0");
    expect_near(number(m, PE_WISH_KEEPS_NORM, "largest_ratio"),
                10.249197854607502 / 7.6330500742064461, 1e-15, "norm at 8");
}

/* Least squares of p + k on p, the channels all alike: a p is off by k (1 - p sum p / sum p^2). */
Test(properties, of_integers_follow_from_sums)
{
    const struct measured *m = measure_128("integer:dim=64");
    static const int shifts[] = {1, 7, 64};
    static const char *const names[] = {"residual_1", "residual_7", "residual_64"};
    double sum = 127 * 64, squares = 127.0 * 128 * 255 / 6;
    for (size_t i = 0; i < 3; i++) {
        double k = shifts[i];
        double left = k * k * (128 - sum * sum / squares);
        double all = squares + 2 * k * sum + 128 * k * k;
        expect_near(number(m, PE_WISH_LINEAR_SHIFT, names[i]), sqrt(left / all), 1e-12, names[i]);
    }
    cr_expect_eq(number(m, PE_WISH_BOUNDED, "largest_value"), 127);
    cr_expect_eq(number(m, PE_WISH_BOUNDED, "longest_code"), 127 * 8);
    cr_expect_eq(number(m, PE_WISH_UNIQUE, "smallest_distance"), 8);
    const double far[] = {255, 256, 257};
    m = measure("integer:dim=4", far, 3);
    cr_expect_eq(m->job.found[PE_WISH_LOW_PRECISION].verdict, PE_FAILS, "256 and 257 in bf16");
    cr_expect_eq(number(m, PE_WISH_LOW_PRECISION, "first_position"), 256);
    cr_expect_eq(number(m, PE_WISH_LOW_PRECISION, "second_position"), 257);
    cr_expect_eq(m->job.found[PE_WISH_UNIQUE].verdict, PE_HOLDS);
    m = measure_128("integer:length=64");
    expect_near(number(m, PE_WISH_LENGTH_INDEPENDENT, "largest_change"), 127 / 63.0 - 1, 1e-15,
                "127 of 63 and of 127");
    cr_expect_eq(number(m, PE_WISH_LENGTH_INDEPENDENT, "length"), 64);
}

/* Solved by normal equations in 80 digits from the same tables. */
Test(properties, residuals_are_those_of_least_squares)
{
    static const struct {
        const char *spec;
        double residuals[3];
    } rows[] = {
        {"binary", {0.48507441511173427, 0.6267626244142493, 0.1767766952966369}},
        {"gray", {0.44870570038228347, 0.6013377943029549, 0.23570226039551584}},
        {"learned:dim=8", {0.9690509641299012, 0.9640134284174496, 0.9621684072545255}},
    };
    static const char *const names[] = {"residual_1", "residual_7", "residual_64"};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct measured *m = measure_128(rows[r].spec);
        for (size_t i = 0; i < 3; i++)
            expect_near(number(m, PE_WISH_LINEAR_SHIFT, names[i]), rows[r].residuals[i], 1e-13,
                        rows[r].spec);
    }
}

Test(properties, tell_where_values_end)
{
    static const struct {
        const char *spec;
        double last, with_value;
    } rows[] = {
        {"learned:rows=100", 99, 36}, {"one_hot:dim=80", 79, 16}, {"binary:dim=7", 127, 64},
        {"binary:dim=3", 7, 0},       {"rope", 0x1p53, 64},       {"swin", 48, 0},
        {"t5", 0x1p53, 64},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct measured *m = measure_128(rows[r].spec);
        cr_expect_eq(number(m, PE_WISH_EXTRAPOLATES, "last_position"), rows[r].last, "%s: %g",
                     rows[r].spec, number(m, PE_WISH_EXTRAPOLATES, "last_position"));
        cr_expect_eq(number(m, PE_WISH_EXTRAPOLATES, "beyond_with_value"), rows[r].with_value, "%s",
                     rows[r].spec);
        cr_expect_eq(number(m, PE_WISH_EXTRAPOLATES, "beyond_trained"), 64);
    }
    cr_expect_eq(measure_128("binary:dim=3")->job.measured_n, 8, "positions without a value");
}

/* Of a bias the code is the bias. */
Test(properties, of_biases)
{
    const struct measured *m = measure_128("alibi:slope=0.5");
    expect_near(number(m, PE_WISH_DECAY, "slope_per_position"), -0.5, 1e-14, "slope");
    cr_expect_eq(number(m, PE_WISH_DECAY, "farthest"), -63.5);
    cr_expect_eq(number(m, PE_WISH_BOUNDED, "largest_value"), 63.5);
    cr_expect_eq(number(m, PE_WISH_UNIQUE, "smallest_distance"), 0.5);
    m = measure_128("t5"); /* from 16 on buckets are shared */
    cr_expect_eq(number(m, PE_WISH_UNIQUE, "first_position"), 16);
    cr_expect_eq(number(m, PE_WISH_UNIQUE, "second_position"), 17);
}

/* Uneven positions have no distances by steps; two positions no linear map of 64 channels. */
Test(properties, say_what_has_no_meaning)
{
    const double uneven[] = {0, 1, 3};
    const struct measured *m = measure("rope", uneven, 3);
    cr_expect_eq(m->job.found[PE_WISH_DECAY].verdict, PE_NO_MEANING);
    cr_expect(strstr(m->job.found[PE_WISH_DECAY].reason, "one step between them"));
    cr_expect(isnan(m->decay[1]));
    cr_expect(strstr(m->job.found[PE_WISH_LINEAR_SHIFT].reason, "3 codes are too few"));
    m = measure_128("mrope");
    cr_expect(strstr(m->job.found[PE_WISH_RELATIVE].reason, "3 position axes"));
    cr_expect_eq(number(m, PE_WISH_DIMENSIONS, "axes"), 3);
}

/* A verdict for everything, or a reason; numbers where there is a verdict. */
Test(properties, of_every_kind)
{
    for (size_t k = 0; k < pe_kinds_n(); k++) {
        const struct measured *m = measure_128(pe_kind_at(k)->name);
        for (enum pe_wish wish = 0; wish < PE_WISHES_N; wish++) {
            const struct pe_property_found *found = &m->job.found[wish];
            const struct pe_wish_row *row = pe_wish_row(wish);
            bool has_none = found->verdict == PE_NO_MEANING;
            cr_expect_eq(has_none, found->reason[0] != '\0', "%s %s", pe_kind_at(k)->name,
                         row->name);
            cr_expect(has_none || !isnan(found->number[0]), "%s %s", pe_kind_at(k)->name,
                      row->name);
            cr_expect(row->means[0] && row->holds[0] && row->fails[0]);
        }
        cr_expect_neq(m->job.found[PE_WISH_DETERMINISTIC].verdict, PE_FAILS);
    }
}

static bool stop_at_once(void *context)
{
    ++*(int *)context;
    return true;
}

Test(properties, need_two_codes_and_stop_when_told)
{
    const double at[] = {0, 1};
    double decay[2], vector[64] = {1};
    int asked = 0;
    struct pe_positions positions = positions_of(at, 2);
    struct pe_plan *plan = plan_from("rope:dim=64", &positions);
    struct pe_properties job = {
        .plan = plan, .at = at, .n = 1, .q = vector, .k = vector, .dim = 64, .decay = decay};
    cr_expect_eq(pe_properties(&job), PE_INVALID_VALUE);
    job.n = 2;
    job.stop = stop_at_once;
    job.stop_context = &asked;
    cr_expect_eq(pe_properties(&job), PE_STOPPED);
    cr_expect_eq(asked, 1);
    pe_plan_free(plan);
}
