// SPDX-License-Identifier: Apache-2.0
/*
 * bench_kernels.c: rotating tensors against memcpy of the same bytes (P1), and filling exact tables
 * against the C library's sincos and against memset of the same bytes (P2). One thread.
 */
#include "bench.h"

#include <math.h>

enum { HEADS = 32, TOKENS = 4096, DIM = 128, PAIRS = DIM / 2, TABLE_ROWS = 16384 };
#define ELEMENTS ((size_t)HEADS * TOKENS * DIM)

static const char *const specs[] = {"rope:dim=128,layout=half", "rope:dim=128,layout=interleaved"};

struct apply_run {
    struct pe_view in, out;
    struct pe_apply job;
};

struct copy_run {
    void *to, *from;
    size_t bytes;
};

struct table_run {
    const struct pe_plan *plan;
    const struct pe_positions *positions;
    enum pe_dtype dtype;
    void *cos_out, *sin_out;
};

static double axis[TABLE_ROWS];
static const struct pe_positions tokens = {1, TOKENS, {axis}};
static const struct pe_positions rows = {1, TABLE_ROWS, {axis}};
static struct bench_case cases[64];
static size_t cases_n;

static void add_case(const char *name, void (*run)(void *), void *context, size_t units)
{
    cases[cases_n++] = (struct bench_case){name, run, context, (double)units, 0};
}

static struct pe_plan *make_plan(const char *text, const struct pe_positions *positions)
{
    struct pe_faults faults = {0};
    struct pe_spec spec;
    struct pe_plan *plan = NULL;
    if (!pe_spec_parse(text, &spec, &faults) || !pe_spec_finish(&spec, &faults) ||
        pe_plan_new(&spec, positions, &plan) != PE_OK) {
        fprintf(stderr, "no plan for %s: %s\n", text, faults.item[0].detail);
        exit(1);
    }
    pe_spec_release(&spec);
    return plan;
}

/* ---- P1: apply ---------------------------------------------------------------------------- */

static void run_apply(void *context)
{
    pe_apply(&((struct apply_run *)context)->job);
}

static void run_copy(void *context)
{
    const struct copy_run *run = context;
    memcpy(run->to, run->from, run->bytes);
}

static void add_apply(const char *name, const struct pe_plan *plan, enum pe_dtype dtype,
                      const char *axes, void *in, void *out)
{
    bool heads_first = strcmp(axes, "bhtd") == 0;
    size_t shape[] = {1, heads_first ? HEADS : TOKENS, heads_first ? TOKENS : HEADS, DIM};
    struct apply_run *run = calloc(1, sizeof *run);
    if (!run || !pe_view_init(&run->in, dtype, in, axes, shape, 4, 1) ||
        !pe_view_init(&run->out, dtype, out, axes, shape, 4, 1))
        abort();
    size_t work = (pe_apply_work_bytes(plan) + 63) & ~(size_t)63;
    run->job = (struct pe_apply){.plan = plan,
                                 .positions = &tokens,
                                 .positions_n = 1,
                                 .in = &run->in,
                                 .out = &run->out,
                                 .work = aligned_alloc(64, work ? work : 64)};
    add_case(name, run_apply, run, ELEMENTS);
}

static void add_copy(const char *name, void *to, void *from, size_t bytes, size_t units)
{
    struct copy_run *run = malloc(sizeof *run);
    if (!run)
        abort();
    *run = (struct copy_run){to, from, bytes};
    add_case(name, run_copy, run, units);
}

static void add_all_apply(void)
{
    void *in = bench_buffer(ELEMENTS * sizeof(double));
    void *out = bench_buffer(ELEMENTS * sizeof(double));
    const struct pe_plan *half = make_plan(specs[0], &tokens);
    const struct pe_plan *interleaved = make_plan(specs[1], &tokens);

    add_copy("memcpy f32", out, in, ELEMENTS * 4, ELEMENTS);
    add_apply("f32 half bthd", half, PE_F32, "bthd", in, out);
    add_apply("f32 half bthd in place", half, PE_F32, "bthd", in, in);
    add_apply("f32 half bhtd", half, PE_F32, "bhtd", in, out);
    add_apply("f32 half bhtd in place", half, PE_F32, "bhtd", in, in);
    add_apply("f32 interleaved bthd", interleaved, PE_F32, "bthd", in, out);
    add_apply("f32 interleaved bthd in place", interleaved, PE_F32, "bthd", in, in);
    add_apply("f32 interleaved bhtd", interleaved, PE_F32, "bhtd", in, out);
    add_apply("f32 interleaved bhtd in place", interleaved, PE_F32, "bhtd", in, in);

    add_copy("memcpy 16 bit", out, in, ELEMENTS * 2, ELEMENTS);
    add_apply("f16 half bthd", half, PE_F16, "bthd", in, out);
    add_apply("bf16 half bthd", half, PE_BF16, "bthd", in, out);
    add_copy("memcpy f64", out, in, ELEMENTS * 8, ELEMENTS);
    add_apply("f64 half bthd", half, PE_F64, "bthd", in, out);
    add_apply("f64 half bthd in place", half, PE_F64, "bthd", in, in);
}

/* Ordinary numbers of the dtype of the group's first tensor (f16 ones read as bf16 are ordinary
 * too). */
static void fill_input(const struct bench_case *first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (first[i].run == run_apply && bench_is_wanted(&first[i])) {
            const struct pe_view *in = &((struct apply_run *)first[i].context)->in;
            pe_fill_random(0, "x", PE_CONTENT_NORMAL, 1, 0, ELEMENTS, in->dtype, in->data);
            return;
        }
}

/* ---- P2: tables --------------------------------------------------------------------------- */

static void run_table(void *context)
{
    const struct table_run *run = context;
    pe_cos_sin(run->plan, run->positions, run->dtype, run->cos_out, run->sin_out);
}

static void run_sincos(void *context)
{
    const struct table_run *run = context;
    double frequency[PAIRS];
    pe_frequencies(run->plan, &(struct pe_frequencies){.inv_freq = frequency});
    double *c = run->cos_out;
    double *s = run->sin_out;
    for (size_t t = 0; t < TABLE_ROWS; t++)
        for (size_t i = 0; i < PAIRS; i++)
            sincos(axis[t] * frequency[i], &s[t * PAIRS + i], &c[t * PAIRS + i]);
}

static void run_memset(void *context)
{
    const struct table_run *run = context;
    size_t bytes = (size_t)TABLE_ROWS * PAIRS * pe_dtype_size(run->dtype);
    memset(run->cos_out, (int)bytes, bytes);
    memset(run->sin_out, (int)bytes, bytes);
}

static void run_plan(void *context)
{
    (void)context;
    pe_plan_free(make_plan(specs[0], &rows));
}

static void add_all_tables(void)
{
    static struct table_run f64;
    static struct table_run f32;
    size_t values = (size_t)TABLE_ROWS * PAIRS;
    f64 = (struct table_run){make_plan(specs[0], &rows), &rows, PE_F64, bench_buffer(values * 8),
                             bench_buffer(values * 8)};
    f32 = f64;
    f32.dtype = PE_F32;
    add_case("libm sincos f64", run_sincos, &f64, values);
    add_case("table f64", run_table, &f64, values);
    add_case("memset f64", run_memset, &f64, values);
    add_case("table f32", run_table, &f32, values);
    add_case("memset f32", run_memset, &f32, values);
    add_case("plan of that table", run_plan, NULL, PAIRS);
}

static const struct bench_ratio ratios[] = {
    {"P1", "f32 half bthd", "memcpy f32", false, 1.1},
    {"P1", "f32 half bthd in place", "memcpy f32", false, 0.75},
    {"P1", "f32 half bhtd", "memcpy f32", false, 1.4},
    {"P1", "f32 half bhtd in place", "memcpy f32", false, 1.4},
    {"P1", "f32 interleaved bthd", "memcpy f32", false, 1.1},
    {"P1", "f32 interleaved bthd in place", "memcpy f32", false, 0.75},
    {"P1", "f32 interleaved bhtd", "memcpy f32", false, 1.4},
    {"P1", "f32 interleaved bhtd in place", "memcpy f32", false, 1.4},
    {"P1 aim", "f16 half bthd", "memcpy 16 bit", false, 1.6},
    {"P1 aim", "bf16 half bthd", "memcpy 16 bit", false, 1.6},
    {"P1 aim", "f64 half bthd", "memcpy f64", false, 2.0},
    {"P1 aim", "f64 half bthd in place", "memcpy f64", false, 2.0},
    {"P2", "table f64", "libm sincos f64", true, 30},
    {"P2", "table f64", "memset f64", false, 1.5},
    {"P2", "table f32", "libm sincos f64", true, 30},
    {"P2", "table f32", "memset f32", false, 1.5},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < TABLE_ROWS; i++)
        axis[i] = (double)i;
    /* Each width of elements is measured as a group of its own. */
    add_all_apply();
    size_t groups[] = {0, 9, 12, cases_n};
    for (size_t g = 0; g + 1 < sizeof groups / sizeof *groups; g++) {
        fill_input(cases + groups[g], groups[g + 1] - groups[g]);
        bench_measure(cases + groups[g], groups[g + 1] - groups[g]);
    }
    size_t tables = cases_n;
    add_all_tables();
    bench_measure(cases + tables, cases_n - tables);
    return bench_report(argc > 1 ? argv[1] : NULL, cases, cases_n, ratios,
                        sizeof ratios / sizeof *ratios);
}
