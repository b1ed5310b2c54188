// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify_bias.c: biases are found again in score matrices: those of random specs of every
 * kind whose bias is no matter of q and k, and those that libraries gave; and what scores do not
 * tell is said to be open.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/golden_t5.h"
#include "core/plan_from.h"
#include "golden/golden.h"

TestSuite(identify_bias, .timeout = 600);

#define N(array)   (sizeof(array) / sizeof *(array))
#define HEADS_MAX  17
#define TOKENS_MAX 160

static uint64_t draws;

static size_t below(size_t n)
{
    return (size_t)(pe_draw(11, "biases", ++draws) % n);
}

static double uniform(double low, double high)
{
    return low + (high - low) * (double)below(1 << 24) * 0x1p-24;
}

/* ---- Asking -------------------------------------------------------------------------------- */

struct ask {
    char text[1024];
    enum pe_dtype dtype;
    size_t tokens, batches;
    bool bare;   /* the bias itself, without scores before it */
    bool causal; /* keys after the query masked */
    double at[TOKENS_MAX];
    size_t queries; /* the last of them; 0: all */
};

struct found {
    struct pe_spec spec; /* that was asked for */
    struct pe_biased scores;
    struct pe_identify job;
    struct pe_positions queries, keys;
    void *x, *y;
};

static void allocate(struct found *found, size_t n)
{
    found->x = calloc(n, sizeof(double));
    found->y = calloc(n, sizeof(double));
    cr_assert(found->x && found->y);
}

static void identify(struct found *found, enum pe_dtype dtype)
{
    found->job = (struct pe_identify){.dtype = dtype};
    found->job.work = aligned_alloc(64, pe_identify_bias_work_bytes(&found->scores));
    cr_assert_not_null(found->job.work);
    cr_assert_eq(pe_identify_bias(&found->scores, &found->job), PE_OK);
}

/* Scores with the bias of the spec, each element rounded once. */
static void make(const struct ask *ask, struct found *found)
{
    struct pe_faults faults = {0};
    size_t queries = ask->queries ? ask->queries : ask->tokens;
    cr_assert(pe_spec_parse(ask->text, &found->spec, &faults) &&
                  pe_spec_finish(&found->spec, &faults),
              "%s: %s", ask->text, faults.item[0].detail);
    size_t heads = pe_spec_heads(&found->spec), pairs = queries * ask->tokens;
    found->keys = positions_of(ask->at, ask->tokens);
    found->queries = positions_of(ask->at + ask->tokens - queries, queries);
    allocate(found, ask->batches * heads * pairs);
    for (size_t i = 0; !ask->bare && i < ask->batches * heads * pairs; i++)
        pe_store(ask->dtype, found->x, i, uniform(-4, 4));
    struct pe_plan *plan = plan_from(ask->text, &found->keys);
    pe_add_bias(plan, NULL, NULL, &found->queries, &found->keys, 0, heads, ask->batches, ask->dtype,
                found->x, found->y);
    pe_plan_free(plan);
    for (size_t i = 0; ask->causal && i < ask->batches * heads * pairs; i++)
        if (found->keys.at[0][i % ask->tokens] > found->queries.at[0][i % pairs / ask->tokens])
            pe_store(ask->dtype, found->y, i, -INFINITY);
    found->scores = (struct pe_biased){.x_dtype = ask->dtype,
                                       .y_dtype = ask->dtype,
                                       .x = ask->bare ? NULL : found->x,
                                       .y = found->y,
                                       .batches = ask->batches,
                                       .heads = heads,
                                       .queries = &found->queries,
                                       .keys = &found->keys};
    identify(found, ask->dtype);
}

static void release(struct found *found)
{
    pe_identify_release(&found->job);
    pe_spec_release(&found->spec);
    free(found->job.work);
    free(found->x);
    free(found->y);
}

static void show(const struct ask *ask, const struct found *found)
{
    char text[700];
    fprintf(stderr, "%.200s in %s, %zu batches of %zu queries, %zu keys%s%s: confidence %d%s\n",
            ask->text, pe_dtype_name(ask->dtype), ask->batches, found->queries.n, found->keys.n,
            ask->bare ? ", bare" : "", ask->causal ? ", causal" : "", found->job.confidence,
            found->job.more ? ", more" : "");
    for (size_t i = 0; i < found->job.found_n && i < 4; i++) {
        const struct pe_candidate *at = &found->job.found[i];
        pe_spec_compact(&at->spec, text, sizeof text);
        fprintf(stderr, "    %d %.160s rms %.3g cost %.3g%s\n", at->explains, text, at->rms,
                at->cost, at->open ? " open" : "");
    }
}

/* ---- Right --------------------------------------------------------------------------------- */

static bool same_text(const struct pe_spec *a, const struct pe_spec *b)
{
    char one[4096], other[4096];
    pe_spec_compact(a, one, sizeof one);
    pe_spec_compact(b, other, sizeof other);
    return strcmp(one, other) == 0;
}

/* Numbers far apart of a query at 0, from first to last. */
static struct pe_positions far_keys(double *memory, double first, double last)
{
    size_t n = (size_t)(last - first) + 1;
    for (size_t i = 0; i < n; i++)
        memory[i] = first + (double)i;
    return positions_of(memory, n);
}

/* Whether buckets change at the same distances, of those that were asked for or twice as far. */
static bool same_buckets(const struct found *found, const struct pe_spec *spec, double far)
{
    double none = 0, memory[4 * TOKENS_MAX + 1];
    int64_t bucket[2][4 * TOKENS_MAX + 1];
    struct pe_positions query = positions_of(&none, 1);
    struct pe_positions keys =
        far_keys(memory, far * fmin(found->scores.first, 0), far * fmax(found->scores.last, 0));
    for (size_t k = 0; k < 2; k++) {
        struct pe_plan *plan;
        cr_assert_eq(pe_plan_new(k ? spec : &found->spec, &keys, &plan), PE_OK);
        pe_buckets(plan, &query, &keys, bucket[k]);
        pe_plan_free(plan);
    }
    for (size_t i = 1; i < keys.n; i++)
        if ((bucket[0][i] == bucket[0][i - 1]) != (bucket[1][i] == bucket[1][i - 1]))
            return false;
    return true;
}

/* Whether both have the same biases between all whole positions that were asked for and those twice
 * as far, within a part of the largest. */
static bool same_numbers(const struct ask *ask, const struct found *found,
                         const struct pe_spec *spec, double limit)
{
    const struct pe_spec *wanted = &found->spec;
    size_t heads = pe_spec_heads(wanted);
    double far[2 * TOKENS_MAX + 1], none = 0, largest = 0, off = 0;
    bool causal = ask->causal || found->queries.n == 1;
    if (spec->kind != wanted->kind || pe_spec_heads(spec) != heads)
        return false;
    for (size_t i = 0; i < N(far); i++)
        far[i] = (double)i - (causal ? 2 * TOKENS_MAX : TOKENS_MAX);
    struct pe_positions query = positions_of(&none, 1), keys = positions_of(far, N(far));
    struct pe_plan *plan[2];
    double *made[2];
    for (size_t k = 0; k < 2; k++) {
        made[k] = calloc(heads * N(far), sizeof **made);
        cr_assert(made[k] && pe_plan_new(k ? spec : wanted, &keys, &plan[k]) == PE_OK);
        pe_bias(plan[k], &query, &keys, 0, heads, PE_F64, made[k]);
    }
    for (size_t i = 0; i < heads * N(far); i++) {
        largest = fmax(largest, fabs(made[0][i]));
        off = fmax(off, fabs(made[0][i] - made[1][i]));
    }
    for (size_t k = 0; k < 2; k++) {
        pe_plan_free(plan[k]);
        free(made[k]);
    }
    return off <= limit * largest;
}

static bool is_right(const struct ask *ask, const struct found *found, size_t i)
{
    static const double limits[] = {1e-9, 1e-3, 0.1, 0.1};
    const struct pe_spec *spec = &found->job.found[i].spec;
    bool sure = found->job.confidence == PE_IDENTIFIED_UNIQUE;
    if (found->job.found_n > i && spec->kind->acts == PE_ACTS_NOT)
        return memcmp(found->x, found->y,
                      ask->batches * found->scores.heads * found->queries.n * found->keys.n *
                          pe_dtype_size(ask->dtype)) == 0;
    if (found->job.found_n <= i || spec->kind != found->spec.kind)
        return false;
    if (strcmp(spec->kind->name, "t5") == 0)
        return same_buckets(found, spec, sure ? 2 : 1);
    if (spec->table) /* of a window */
        return memcmp(pe_params_get(&spec->params, "window")->list,
                      pe_params_get(&found->spec.params, "window")->list, 2 * sizeof(double)) == 0;
    return same_text(spec, &found->spec) || same_numbers(ask, found, spec, limits[ask->dtype]);
}

/* ---- Random specs -------------------------------------------------------------------------- */

static void add_list(char *text, size_t size, const char *name, size_t n, double low, double high,
                     double unit)
{
    size_t len = strlen(text);
    len += (size_t)snprintf(text + len, size - len, ",%s=", name);
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%.12g", i ? "+" : "",
                                unit * floor(uniform(low, high) / unit + 0.5));
}

static void draw_alibi(char *text, size_t size, size_t heads)
{
    static const char *const forms[] = {"", ",form=signed", ",form=last_zero", ",form=key_index"};
    snprintf(text, size, "alibi:heads=%zu%s", heads, forms[below(4)]);
    size_t way = below(4), len = strlen(text);
    if (way == 1 && heads > 1)
        add_list(text, size, "slopes", heads, 0.01, 1, 1e-4);
    else if (way == 2 && heads > 1)
        snprintf(text + len, size - len, ",bias_max=%zu", 4 + below(20));
    else if (way == 3)
        snprintf(text + len, size - len, ",total_heads=%zu", heads + below(HEADS_MAX - heads));
}

static void draw_kerple(char *text, size_t size, size_t heads)
{
    bool power = below(2);
    snprintf(text, size, "kerple:heads=%zu,form=%s", heads, power ? "power" : "log");
    add_list(text, size, "a", below(4) ? heads : 1, 0.05, 3, 1e-3);
    add_list(text, size, "p", below(4) ? heads : 1, 0.05, 1.9, 1e-3);
}

static void draw_sandwich(char *text, size_t size, size_t heads)
{
    static const size_t bases[] = {10000, 10000, 500000, 20000};
    snprintf(text, size, "sandwich:heads=%zu,dim=%zu,base=%zu", heads, 2 * (1 + below(64)),
             bases[below(4)]);
}

static void draw_t5(char *text, size_t size, size_t heads)
{
    static const size_t buckets[] = {32, 32, 16, 64, 8}, distances[] = {128, 64, 100, 256};
    snprintf(text, size,
             "t5:heads=%zu,buckets=%zu,max_distance=%zu,bidirectional=%s,table_seed=%zu,"
             "table_std=%.6g",
             heads, buckets[below(5)], distances[below(4)], below(2) ? "true" : "false", below(200),
             0.1 * (double)(1 + below(20)));
}

static void draw_swin(char *text, size_t size, size_t heads)
{
    snprintf(text, size, "swin:window=%zu+%zu,heads=%zu,table_seed=%zu,table_std=%.6g",
             2 + below(5), 2 + below(5), heads, below(200), 0.1 * (double)(1 + below(20)));
}

static void draw_fire(char *text, size_t size, size_t heads)
{
    snprintf(text, size, "fire:heads=%zu,table_seed=%zu", heads, below(16));
}

static const struct {
    const char *kind;
    void (*draw)(char *text, size_t size, size_t heads);
    size_t n;
} kinds[] = {
    {"alibi", draw_alibi, 120}, {"kerple", draw_kerple, 60}, {"sandwich", draw_sandwich, 50},
    {"t5", draw_t5, 70},        {"swin", draw_swin, 40},     {"fire", draw_fire, 16},
};

static struct ask draw(size_t kind)
{
    static const enum pe_dtype dtypes[] = {PE_F64, PE_F32, PE_BF16};
    struct ask ask = {.dtype = dtypes[below(3)], .batches = 1 + below(2), .bare = below(3) == 0};
    kinds[kind].draw(ask.text, sizeof ask.text, 1 + below(HEADS_MAX - 1));
    struct pe_faults faults = {0};
    struct pe_spec spec;
    cr_assert(pe_spec_parse(ask.text, &spec, &faults) && pe_spec_finish(&spec, &faults), "%s",
              ask.text);
    bool window = strcmp(spec.kind->name, "swin") == 0;
    size_t most = strcmp(spec.kind->name, "fire") == 0 ? 8 : below(2) ? 24 : 140;
    ask.tokens = window ? pe_spec_tokens(&spec) : 1 + below(most);
    pe_spec_release(&spec);
    for (size_t i = 0; i < ask.tokens; i++)
        ask.at[i] = (double)i;
    ask.causal = !window && below(3) == 0;
    if (!window && below(4) == 0)
        ask.queries = 1 + below(ask.tokens);
    return ask;
}

#if defined(__SANITIZE_ADDRESS__) || defined(COVERAGE) /* some ten times as slow */
#define SHARE 5
#else
#define SHARE 1
#endif

Test(identify_bias, finds_random_specs_again)
{
    for (size_t kind = 0; kind < N(kinds); kind++) {
        size_t right = 0, unique = 0, wrong = 0;
        for (size_t i = 0; i < kinds[kind].n / SHARE; i++) {
            struct ask ask = draw(kind);
            struct found found;
            make(&ask, &found);
            bool best = is_right(&ask, &found, 0),
                 sure = found.job.confidence == PE_IDENTIFIED_UNIQUE;
            bool among = best;
            for (size_t k = 1; k < found.job.rivals_n; k++)
                among = among || is_right(&ask, &found, k);
            right += best || (among && !sure);
            unique += sure;
            if (sure && !best)
                wrong++;
            if (!best && sure)
                show(&ask, &found);
            release(&found);
        }
        cr_expect_eq(wrong, 0, "%s: %zu of %zu wrong", kinds[kind].kind, wrong, unique);
        cr_expect_gt(unique, kinds[kind].n / SHARE / 20, "%s", kinds[kind].kind);
        cr_expect_geq(10 * right, 9 * (kinds[kind].n / SHARE), "%s: %zu of %zu", kinds[kind].kind,
                      right, kinds[kind].n / SHARE);
    }
}

/* ---- What libraries gave ------------------------------------------------------------------- */

/* Asks for the bias of `heads` by a function of the head and of key - query, between queries and
 * keys of f32. */
static void give(struct found *found, size_t heads, struct pe_positions queries,
                 struct pe_positions keys,
                 double (*bias)(const void *context, size_t head, double relative),
                 const void *context)
{
    size_t pairs = queries.n * keys.n;
    *found = (struct found){.keys = keys, .queries = queries};
    allocate(found, heads * pairs);
    for (size_t i = 0; i < heads * pairs; i++)
        pe_store(
            PE_F32, found->y, i,
            bias(context, i / pairs, keys.at[0][i % keys.n] - queries.at[0][i % pairs / keys.n]));
    found->scores = (struct pe_biased){.y_dtype = PE_F32,
                                       .y = found->y,
                                       .batches = 1,
                                       .heads = heads,
                                       .queries = &found->queries,
                                       .keys = &found->keys};
    identify(found, PE_F32);
}

static double line(const void *slopes, size_t head, double relative)
{
    return -((const double *)slopes)[head] * fabs(relative);
}

/* Slopes of BLOOM, MPT and Falcon, which have errors of f32 and bf16; of the numbers of heads that
 * the spec names. */
Test(identify_bias, finds_the_slopes_of_libraries)
{
    double at[12], slopes[128];
    json_t *document = golden_load("hf_alibi.json");
    const json_t *entry;
    size_t i, n = 0;
    for (size_t k = 0; k < N(at); k++)
        at[k] = (double)k;
    json_array_foreach(json_object_get(document, "cases"), i, entry)
    {
        const char *kind = json_string_value(json_object_get(entry, "kind"));
        size_t heads = (size_t)json_integer_value(json_object_get(entry, "heads"));
        double bias_max = json_number_value(json_object_get(entry, "alibi_bias_max"));
        struct found found;
        if (!strstr(kind, "slopes") || strstr(kind, "falcon") || heads < 2)
            continue;
        const json_t *list = json_object_get(json_object_get(entry, "slopes"), "data");
        cr_assert_eq(golden_list(list, slopes, N(slopes)), heads);
        give(&found, heads, positions_of(at, N(at)), positions_of(at, N(at)), line, slopes);
        const struct pe_spec *best = &found.job.found[0].spec;
        cr_expect(found.job.rivals_n > 0 && strcmp(best->kind->name, "alibi") == 0 &&
                      pe_spec_number(best, "heads") == (double)heads &&
                      !pe_params_get(&best->params, "slopes")->set,
                  "%s of %zu heads", kind, heads);
        const struct pe_value *exponent = pe_params_get(&best->params, "bias_max");
        if (bias_max != 0 && bias_max != 8)
            cr_expect_eq(exponent->number, bias_max, "%zu heads", heads);
        release(&found);
        n++;
    }
    cr_expect_gt(n, 20);
    json_decref(document);
}

/* The bucket of a recorded case, which holds until the next one; as a number of its own. */
static double bucket_value(const void *context, size_t head, double relative)
{
    const struct golden_t5 *golden = context;
    size_t i = 0;
    while (i + 1 < golden->n && (double)golden->at[i + 1].relative <= relative)
        i++;
    return (double)pe_draw(5, "buckets", 2 * (uint64_t)golden->at[i].bucket + head) * 0x1p-64;
}

Test(identify_bias, finds_the_buckets_of_libraries)
{
    double at[512];
    size_t n = 0;
    for (size_t k = 0; k < N(at); k++)
        at[k] = (double)k;
    for (size_t i = 0; i < N(golden_t5); i++) {
        const struct golden_t5 *golden = &golden_t5[i];
        struct found found;
        if (!golden->dense || golden->buckets > 64)
            continue;
        give(&found, 2, positions_of(at + N(at) / 2, 1), positions_of(at, N(at)), bucket_value,
             golden);
        const struct pe_spec *best = &found.job.found[0].spec;
        cr_expect(found.job.rivals_n > 0 && strcmp(best->kind->name, "t5") == 0 &&
                      pe_spec_number(best, "buckets") == golden->buckets &&
                      pe_spec_number(best, "bidirectional") == golden->bidirectional,
                  "%d buckets to %d", golden->buckets, golden->max_distance);
        release(&found);
        n++;
    }
    cr_expect_gt(n, 3);
}

/* ---- What scores do not tell --------------------------------------------------------------- */

Test(identify_bias, says_what_it_is_made_of)
{
    struct ask ask = {.text = "alibi:heads=4", .dtype = PE_F32, .tokens = 12, .batches = 2};
    struct found found;
    for (size_t i = 0; i < ask.tokens; i++)
        ask.at[i] = (double)i;
    ask.causal = true;
    make(&ask, &found);
    cr_expect_eq(found.job.confidence, PE_IDENTIFIED_UNIQUE);
    cr_expect_eq(found.scores.masked, PE_MASKED_CAUSAL);
    cr_expect_eq(found.scores.masked_n, 66);
    cr_expect_eq(found.scores.hangs_on, PE_HANGS_ON_DISTANCE);
    /* One score of one batch is another, then of both. */
    float *y = found.y;
    y[0] += 1;
    pe_identify_release(&found.job);
    cr_expect_eq(pe_identify_bias(&found.scores, &found.job), PE_OK);
    cr_expect_eq(found.scores.hangs_on, PE_HANGS_ON_BATCH);
    cr_expect_eq(found.job.confidence, PE_IDENTIFIED_NOT);
    y[4 * 144] += 1;
    pe_identify_release(&found.job);
    cr_expect_eq(pe_identify_bias(&found.scores, &found.job), PE_OK);
    cr_expect_eq(found.scores.hangs_on, PE_HANGS_ON_PLACES);
    cr_expect_eq(found.job.confidence, PE_IDENTIFIED_NOT);
    cr_expect_eq(found.scores.contradiction.head, 0);
    release(&found);
}
