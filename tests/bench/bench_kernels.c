// SPDX-License-Identifier: Apache-2.0
/*
 * bench_kernels.c: rotating tensors against memcpy of the same bytes (P1), and filling exact tables
 * against the C library's sincos and against memset of the same bytes (P2). One thread.
 */
#include "bench.h"

#include <math.h>

enum { HEADS = 32, TOKENS = 4096, DIM = 128, PAIRS = DIM / 2, TABLE_ROWS = 131072 };
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

/* Tables of PAIRS cosines and sines at positions 0, 1, ...: larger than all caches; as many tokens
 * as P1 has; and one block of rows after the other in the same memory, as the service makes them.
 */
static const struct size {
    const char *name;
    size_t rows, blocks;
} sizes[] = {{"131072 rows", TABLE_ROWS, 1}, {"4096 rows", TOKENS, 1}, {"blocks", 128, 128}};

#define SIZES_N (sizeof sizes / sizeof *sizes)

struct table_run {
    const struct pe_plan *plan;
    const struct size *size;
    enum pe_dtype dtype;
    void *cos_out, *sin_out;
};

static void run_table(void *context)
{
    const struct table_run *run = context;
    struct pe_positions positions = {1, run->size->rows, {axis}};
    for (size_t i = 0; i < run->size->blocks; i++, positions.at[0] += positions.n)
        pe_cos_sin(run->plan, &positions, run->dtype, run->cos_out, run->sin_out);
}

static void run_sincos(void *context)
{
    const struct table_run *run = context;
    double frequency[PAIRS];
    pe_frequencies(run->plan, &(struct pe_frequencies){.inv_freq = frequency});
    double *c = run->cos_out;
    double *s = run->sin_out;
    for (size_t i = 0; i < run->size->blocks; i++)
        for (size_t t = 0; t < run->size->rows; t++)
            for (size_t j = 0; j < PAIRS; j++)
                sincos(axis[i * run->size->rows + t] * frequency[j], &s[t * PAIRS + j],
                       &c[t * PAIRS + j]);
}

/* Of bytes other than 0, which some processors write faster than any other. */
static void run_memset(void *context)
{
    const struct table_run *run = context;
    size_t bytes = run->size->rows * PAIRS * pe_dtype_size(run->dtype);
    for (size_t i = 0; i < run->size->blocks; i++) {
        memset(run->cos_out, (int)(i | 1), bytes);
        memset(run->sin_out, (int)(i | 1), bytes);
    }
}

static void run_plan(void *context)
{
    (void)context;
    pe_plan_free(make_plan(specs[0], &rows));
}

static void add_table_case(const char *what, const struct table_run *run, void (*function)(void *))
{
    static char names[6 * SIZES_N][64];
    static size_t names_n;
    struct table_run *copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = *run;
    snprintf(names[names_n], sizeof *names, "%s, %s", what, run->size->name);
    add_case(names[names_n++], function, copy, run->size->rows * run->size->blocks * PAIRS);
}

static void add_tables(const struct size *size, struct table_run run)
{
    run.size = size;
    run.dtype = PE_F64;
    add_table_case("libm sincos f64", &run, run_sincos);
    add_table_case("table f64", &run, run_table);
    add_table_case("memset f64", &run, run_memset);
    run.dtype = PE_F32;
    add_table_case("table f32", &run, run_table);
    add_table_case("memset f32", &run, run_memset);
}

/* memset's time is that of the memory for tables which do not stay in the caches. There it has
 * nothing to wait for, and arithmetic alone takes longer: as an aim, to see how far. */
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
    {"P2", "table f64, 131072 rows", "libm sincos f64, 131072 rows", true, 30},
    {"P2", "table f64, 131072 rows", "memset f64, 131072 rows", false, 1.5},
    {"P2", "table f32, 131072 rows", "libm sincos f64, 131072 rows", true, 30},
    {"P2", "table f32, 131072 rows", "memset f32, 131072 rows", false, 1.5},
    {"P2", "table f64, 4096 rows", "libm sincos f64, 4096 rows", true, 30},
    {"P2 aim", "table f64, 4096 rows", "memset f64, 4096 rows", false, 1.5},
    {"P2", "table f32, 4096 rows", "libm sincos f64, 4096 rows", true, 30},
    {"P2 aim", "table f32, 4096 rows", "memset f32, 4096 rows", false, 1.5},
    {"P2", "table f64, blocks", "libm sincos f64, blocks", true, 30},
    {"P2 aim", "table f64, blocks", "memset f64, blocks", false, 1.5},
    {"P2", "table f32, blocks", "libm sincos f64, blocks", true, 30},
    {"P2 aim", "table f32, blocks", "memset f32, blocks", false, 1.5},
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
    size_t bytes = (size_t)TABLE_ROWS * PAIRS * sizeof(double);
    struct table_run run = {.plan = make_plan(specs[0], &rows),
                            .cos_out = bench_buffer(bytes),
                            .sin_out = bench_buffer(bytes)};
    for (size_t i = 0; i < SIZES_N; i++) {
        size_t first = cases_n;
        add_tables(&sizes[i], run);
        bench_measure(cases + first, cases_n - first);
    }
    add_case("plan of such a table", run_plan, NULL, PAIRS);
    bench_measure(cases + cases_n - 1, 1);
    return bench_report(argc > 1 ? argv[1] : NULL, cases, cases_n, ratios,
                        sizeof ratios / sizeof *ratios);
}
