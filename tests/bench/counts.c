// SPDX-License-Identifier: Apache-2.0
/*
 * counts.c [PATH [SECONDS]]: the hot paths, one row each, run on n elements and on 2n of them.
 * Under callgrind each run is a call of `counted`, and the difference of two is what the elements
 * cost (counts.py); with a name that path alone is run, over and over for SECONDS (profile.sh).
 * What stands before a run (inputs, plans, what the first run of all makes) is not counted.
 */
#include <time.h>

#include "../api/stand_in.h"
#include "base64.h"
#include "doc.h"
#include "sha256_blocks.h"
#include "write.h"

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)
#ifdef __clang__
#define COMPILER "clang " TEXT_OF(__clang_major__)
#else
#define COMPILER "gcc " TEXT_OF(__GNUC__)
#endif

enum { DIM = 128, HEADS = 8, VALUES_MAX = 1 << 17, BYTES_MAX = 4 << 20 };

struct path {
    const char *name;
    const char *unit;
    size_t n;
    void (*prepare)(const struct path *path, size_t n);
    void (*run)(const struct path *path, size_t n);
    enum pe_dtype dtype;
    const char *what; /* axes, a target, or how positions lie */
    const char *spec;
};

/* What prepare() makes and run() takes. */
static struct {
    void *in, *out; /* BYTES_MAX each */
    double axis[VALUES_MAX / DIM * 2];
    struct pe_positions positions;
    struct pe_plan *plan;
    struct pe_view in_view, out_view;
    void *work;
    struct buf text, printed;
} with;

/* ---- Rotating and tables --------------------------------------------------------------------- */

static void make_plan(const struct path *path, size_t tokens, bool apart)
{
    struct pe_faults faults = {0};
    struct pe_spec spec;
    for (size_t i = 0; i < tokens; i++)
        with.axis[i] = apart ? (double)(pe_draw(0, "p", i) >> 47) : (double)i;
    with.positions = (struct pe_positions){1, tokens, {with.axis}};
    pe_plan_free(with.plan);
    if (!pe_spec_parse(path->spec, &spec, &faults) || !pe_spec_finish(&spec, &faults) ||
        pe_plan_new(&spec, &with.positions, &with.plan) != PE_OK)
        abort();
    pe_spec_release(&spec);
}

static void prepare_rotation(const struct path *path, size_t n)
{
    size_t tokens = n / (DIM * HEADS);
    bool heads_first = strcmp(path->what, "bhtd") == 0;
    size_t shape[] = {1, heads_first ? HEADS : tokens, heads_first ? tokens : HEADS, DIM};
    make_plan(path, tokens, false);
    pe_fill_random(0, "x", PE_CONTENT_NORMAL, 1, 0, n, path->dtype, with.in);
    if (!pe_view_init(&with.in_view, path->dtype, with.in, path->what, shape, 4, 1) ||
        !pe_view_init(&with.out_view, path->dtype, with.out, path->what, shape, 4, 1))
        abort();
    free(with.work);
    with.work = aligned_alloc(64, (pe_apply_work_bytes(with.plan) + 64) & ~(size_t)63);
}

static void rotate_to(const struct pe_view *out)
{
    pe_apply(&(struct pe_apply){.plan = with.plan,
                                .positions = &with.positions,
                                .positions_n = 1,
                                .in = &with.in_view,
                                .out = out,
                                .work = with.work});
}

static void run_rotation(const struct path *path, size_t n)
{
    (void)path, (void)n;
    rotate_to(&with.out_view);
}

static void run_rotation_in_place(const struct path *path, size_t n)
{
    (void)path, (void)n;
    rotate_to(&with.in_view);
}

static void prepare_table(const struct path *path, size_t n)
{
    make_plan(path, n / DIM, strcmp(path->what, "apart") == 0);
}

static void run_cos_sin(const struct path *path, size_t n)
{
    char *sines = (char *)with.out + n / 2 * pe_dtype_size(path->dtype);
    pe_cos_sin(with.plan, &with.positions, path->dtype, with.out, sines);
}

static void run_table(const struct path *path, size_t n)
{
    (void)n;
    pe_table(with.plan, &with.positions, path->dtype, with.out, DIM);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Uniform in [-10, 10), with all bits of the dtype in use, and their text. */
static void prepare_numbers(const struct path *path, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pe_store(path->dtype, with.in, i, 10 * (double)(int64_t)pe_draw(0, "x", i + 1) * 0x1p-63);
    struct tree_tensor tensor = {path->dtype, 1, {n}, with.in, PE_SHORTEST};
    with.text.len = with.printed.len = 0;
    json_write_tensor_data(&with.text, &tensor);
    json_write_tensor_data(&with.printed, &tensor);
}

static void run_print(const struct path *path, size_t n)
{
    struct tree_tensor tensor = {path->dtype, 1, {n}, with.in, PE_SHORTEST};
    with.printed.len = 0;
    json_write_tensor_data(&with.printed, &tensor);
}

/* The scan of a body, and with `read` the conversion of its array. */
static void scan_body(const struct path *path, size_t n, bool read)
{
    struct arena arena;
    struct err err = {0};
    struct json_doc doc;
    arena_init(&arena, BYTES_MAX);
    if (!json_doc_read(&doc, with.text.data, with.text.len, &arena, &err) ||
        doc.arrays[0].count != n ||
        (read && !json_array_read(&doc.arrays[0], path->dtype, with.out, &err)))
        abort();
    json_doc_release(&doc);
    arena_release(&arena);
}

static void run_scan(const struct path *path, size_t n)
{
    scan_body(path, n, false);
}

static void run_read(const struct path *path, size_t n)
{
    scan_body(path, n, true);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void prepare_bytes(const struct path *path, size_t n)
{
    (void)path;
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)with.in)[i] = (unsigned char)pe_draw(0, "x", i);
    base64_encode(with.in, n, with.text.data);
}

static void run_digest(const struct path *path, size_t n)
{
    uint32_t state[8] = {0};
    (void)path;
    sha256_blocks_portable(state, with.in, n / 64);
    memcpy(with.out, state, sizeof state);
}

static void run_encode(const struct path *path, size_t n)
{
    (void)path;
    base64_encode(with.in, n, with.printed.data);
}

static void run_decode(const struct path *path, size_t n)
{
    struct err err = {0};
    size_t bytes;
    (void)path;
    if (!base64_decode(&(struct tensor_source){with.text.data, BASE64_LEN(n), "/x"}, with.out,
                       &bytes, &err))
        abort();
}

/* ---- Requests, from head to answer ----------------------------------------------------------- */

static void ask(const char *method, const char *target, const char *body, size_t len)
{
    struct request request;
    call_begin_bytes(&request, method, target, body, len);
    call_finish(&request);
    if (request.response.status != 200)
        abort();
    call_end(&request);
}

/* A new application each time. */
static void set_up(bool keeps_answers)
{
    app_free(call_app);
    call_app = NULL;
    call_with.no_cache = !keeps_answers;
    call_setup();
}

static void run_get(const struct path *path, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ask("GET", path->what, NULL, 0);
}

static void prepare_get(const struct path *path, size_t n)
{
    (void)path, (void)n;
    set_up(true);
}

static void run_get_table(const struct path *path, size_t n)
{
    char target[128];
    snprintf(target, sizeof target, "%s:%zu", path->what, n / DIM);
    ask("GET", target, NULL, 0);
}

static void prepare_get_table(const struct path *path, size_t n)
{
    (void)path, (void)n;
    set_up(false);
}

static void prepare_post(const struct path *path, size_t n)
{
    prepare_numbers(path, n);
    struct tree_tensor tensor = {path->dtype, 2, {n / DIM, DIM}, with.in, PE_SHORTEST};
    with.text.len = 0;
    buf_printf(&with.text, "{\"spec\":\"%s\",\"x\":", path->spec);
    json_write_tensor_data(&with.text, &tensor);
    buf_puts(&with.text, "}");
    set_up(false);
}

static void run_post(const struct path *path, size_t n)
{
    (void)n;
    ask("POST", path->what, with.text.data, with.text.len);
}

/* ---- The paths ------------------------------------------------------------------------------- */

#define HALF        "rope:dim=128,layout=half"
#define INTERLEAVED "rope:dim=128,layout=interleaved"
#define ROTATION    "element", 1 << 16, prepare_rotation
#define TABLE       "element", 1 << 16, prepare_table
#define NUMBERS     "number", 20000, prepare_numbers
#define BYTES       "byte", 49152, prepare_bytes
#define GETS        "request", 100, prepare_get

static const struct path paths[] = {
    {"rotate f32 half", ROTATION, run_rotation, PE_F32, "bthd", HALF},
    {"rotate f32 half in place", ROTATION, run_rotation_in_place, PE_F32, "bthd", HALF},
    {"rotate f32 half heads first", ROTATION, run_rotation, PE_F32, "bhtd", HALF},
    {"rotate f32 interleaved", ROTATION, run_rotation, PE_F32, "bthd", INTERLEAVED},
    {"rotate f32 interleaved in place", ROTATION, run_rotation_in_place, PE_F32, "bthd",
     INTERLEAVED},
    {"rotate f32 interleaved heads first", ROTATION, run_rotation, PE_F32, "bhtd", INTERLEAVED},
    {"rotate f16 half", ROTATION, run_rotation, PE_F16, "bthd", HALF},
    {"rotate f16 interleaved", ROTATION, run_rotation, PE_F16, "bthd", INTERLEAVED},
    {"rotate bf16 half", ROTATION, run_rotation, PE_BF16, "bthd", HALF},
    {"rotate bf16 interleaved", ROTATION, run_rotation, PE_BF16, "bthd", INTERLEAVED},
    {"rotate f64 half", ROTATION, run_rotation, PE_F64, "bthd", HALF},
    {"rotate f64 interleaved", ROTATION, run_rotation, PE_F64, "bthd", INTERLEAVED},
    {"cos and sin f64", TABLE, run_cos_sin, PE_F64, "run", HALF},
    {"cos and sin f64, positions apart", TABLE, run_cos_sin, PE_F64, "apart", HALF},
    {"cos and sin f32", TABLE, run_cos_sin, PE_F32, "run", HALF},
    {"cos and sin f32, positions apart", TABLE, run_cos_sin, PE_F32, "apart", HALF},
    {"cos and sin bf16", TABLE, run_cos_sin, PE_BF16, "run", HALF},
    {"table f64", TABLE, run_table, PE_F64, "run", "sinusoidal:dim=128"},
    {"table f32", TABLE, run_table, PE_F32, "run", "sinusoidal:dim=128"},
    {"table f32, halves", TABLE, run_table, PE_F32, "run", HALF},
    {"print f64", NUMBERS, run_print, PE_F64, NULL, NULL},
    {"print f32", NUMBERS, run_print, PE_F32, NULL, NULL},
    {"print bf16", NUMBERS, run_print, PE_BF16, NULL, NULL},
    {"scan f64", NUMBERS, run_scan, PE_F64, NULL, NULL},
    {"scan and read f64", NUMBERS, run_read, PE_F64, NULL, NULL},
    {"scan and read f32", NUMBERS, run_read, PE_F32, NULL, NULL},
    {"SHA-256 in C", BYTES, run_digest, PE_F64, NULL, NULL},
    {"base64", BYTES, run_encode, PE_F64, NULL, NULL},
    {"base64 back", BYTES, run_decode, PE_F64, NULL, NULL},
    {"GET livez", GETS, run_get, PE_F64, "/livez", NULL},
    {"GET table, kept", GETS, run_get, PE_F64, "/v1/table?kind=rope&dim=64&positions=0:64", NULL},
    {"GET table JSON f32", "element", 1 << 16, prepare_get_table, run_get_table, PE_F32,
     "/v1/table?kind=rope&dim=128&dtype=f32&positions=0", NULL},
    {"POST apply JSON f32", "element", 1 << 14, prepare_post, run_post, PE_F32, "/v1/apply", HALF},
};
#define PATHS_N (sizeof paths / sizeof *paths)

/* callgrind counts what happens between entering and leaving this function. */
__attribute__((noinline)) static void counted(const struct path *path, size_t n)
{
    path->run(path, n);
    __asm__ volatile("" ::: "memory"); /* no tail call, which would leave it too early */
}

/* With one run before it, which makes what is made once: plans of requests, tables of parameters.
 */
static void prepare(const struct path *path, size_t n)
{
    path->prepare(path, n);
    path->run(path, n);
}

static int run_one(const char *name, double seconds)
{
    const struct path *path = paths;
    while (path < paths + PATHS_N && strcmp(path->name, name) != 0)
        path++;
    if (path == paths + PATHS_N) {
        if (*name)
            fprintf(stderr, "counts: no path called \"%s\"; they are:\n", name);
        for (size_t i = 0; i < PATHS_N; i++)
            fprintf(stderr, "    %s\n", paths[i].name);
        return 2;
    }
    prepare(path, 2 * path->n);
    clock_t start = clock();
    do
        counted(path, 2 * path->n);
    while ((double)(clock() - start) < seconds * CLOCKS_PER_SEC);
    return 0;
}

int main(int arguments_n, char **arguments)
{
    json_doc_setup();
    with.in = aligned_alloc(64, BYTES_MAX);
    with.out = aligned_alloc(64, BYTES_MAX);
    buf_init(&with.text, BYTES_MAX);
    buf_init(&with.printed, BYTES_MAX);
    if (!with.in || !with.out || !buf_reserve(&with.text, BYTES_MAX / 2) ||
        !buf_reserve(&with.printed, BYTES_MAX / 2))
        abort();
    if (arguments_n > 1)
        return run_one(arguments[1], arguments_n > 2 ? strtod(arguments[2], NULL) : 0);
    printf("%s, %s kernels\n", COMPILER, pe_isa_name());
    for (const struct path *path = paths; path < paths + PATHS_N; path++) {
        for (size_t times = 1; times <= 2; times++) {
            prepare(path, times * path->n);
            counted(path, times * path->n);
        }
        printf("%s\t%zu\t%s\n", path->name, path->n, path->unit);
    }
    return 0;
}
