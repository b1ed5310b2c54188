// SPDX-License-Identifier: Apache-2.0
/*
 * guesses.c: THE table of what may have become of any tensor on its way: axes exchanged, channels
 * dealt out otherwise, signs, rows off by one, a factor, digits lost. Each is tried on the numbers
 * alone.
 */
#include <math.h>
#include <string.h>

#include "compare.h"

#define FACTOR_LEAST 1e-5 /* a factor nearer to 1 is no mistake but rounding */

/* Elements of what is expected, moved or changed. */
struct trial {
    struct comparing *own;
    const struct tensor *from;
    struct tensor made; /* its data is as large as that of `from` */
};

struct guess {
    void (*try)(struct trial *trial, const struct guess *guess);
    int by;
    const char *says;
};

static void begin(struct trial *trial)
{
    void *data = trial->made.data;
    trial->made = *trial->from;
    trial->made.data = data;
}

static void end(struct trial *trial, const char *says)
{
    if (says)
        suspect_take(trial->own, &(struct suspect){.says = says}, &trial->made);
}

static void copy(struct trial *trial, size_t from, size_t to)
{
    size_t size = pe_dtype_size(trial->from->dtype);
    memcpy((char *)trial->made.data + to * size, (const char *)trial->from->data + from * size,
           size);
}

static double load(const struct trial *trial, size_t i)
{
    return pe_load(trial->from->dtype, trial->from->data, i);
}

static void store(struct trial *trial, size_t i, double value)
{
    pe_store(trial->made.dtype, trial->made.data, i, value);
}

static struct arena *arena_of(const struct trial *trial)
{
    return &trial->own->job->request->arena;
}

/* ---- Axes ----------------------------------------------------------------------------------- */

/* Elements with two axes exchanged, one after the other. */
static void exchange(struct trial *trial, size_t first, size_t second)
{
    const struct tensor *from = trial->from;
    size_t stride[TREE_RANK_MAX] = {0}, place[TREE_RANK_MAX] = {0}, at = 0;
    begin(trial);
    for (size_t axis = from->rank, step = 1; axis-- > 0; step *= from->shape[axis])
        stride[axis] = step;
    trial->made.shape[first] = from->shape[second];
    trial->made.shape[second] = from->shape[first];
    size_t kept = stride[first];
    stride[first] = stride[second];
    stride[second] = kept;
    for (size_t i = 0; i < from->count; i++) {
        copy(trial, at, i);
        for (size_t axis = from->rank; axis-- > 0;) { /* to the next place of the result */
            at += stride[axis];
            if (++place[axis] < trial->made.shape[axis])
                break;
            at -= stride[axis] * trial->made.shape[axis];
            place[axis] = 0;
        }
    }
}

static void try_exchanged(struct trial *trial, const struct guess *guess)
{
    const struct tensor *from = trial->from;
    for (size_t first = 0; first + 1 < from->rank; first++)
        for (size_t second = first + 1; second < from->rank; second++) {
            if (from->shape[first] == 1 && from->shape[second] == 1)
                continue;
            exchange(trial, first, second);
            end(trial, arena_printf(arena_of(trial), guess->says, first, second));
            if (from->shape[first] == from->shape[second])
                continue;
            memcpy(trial->made.shape, from->shape, sizeof from->shape);
            end(trial, arena_printf(arena_of(trial),
                                    "expected with axes %zu and %zu exchanged in memory, but not "
                                    "in the shape",
                                    first, second));
        }
}

static void try_reshaped(struct trial *trial, const struct guess *guess)
{
    const struct tensor *actual = &trial->own->actual;
    if (trial->own->shapes_agree || actual->count != trial->from->count)
        return;
    begin(trial);
    memcpy(trial->made.data, trial->from->data,
           trial->from->count * pe_dtype_size(trial->from->dtype));
    trial->made.rank = actual->rank;
    memcpy(trial->made.shape, actual->shape, sizeof actual->shape);
    end(trial, guess->says);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* Row i of an axis is row i + by of what is expected; the rows at the end are not looked at. */
static void try_rows(struct trial *trial, const struct guess *guess)
{
    const struct tensor *from = trial->from, *actual = &trial->own->actual;
    for (size_t axis = 0; trial->own->shapes_agree && axis + 1 < from->rank; axis++) {
        size_t inner = 1, rows = from->shape[axis];
        for (size_t i = axis + 1; i < from->rank; i++)
            inner *= from->shape[i];
        if (rows < 4)
            continue;
        begin(trial);
        for (size_t i = 0; i < from->count; i++) {
            int64_t row = (int64_t)(i / inner % rows) + guess->by;
            if (row >= 0 && row < (int64_t)rows)
                copy(trial, (size_t)((int64_t)i + guess->by * (int64_t)inner), i);
            else
                store(trial, i, pe_load(actual->dtype, actual->data, i));
        }
        end(trial, arena_printf(arena_of(trial), guess->says, axis));
    }
}

/* ---- Channels ------------------------------------------------------------------------------- */

enum { NEIGHBOURS, HALVES, TO_HALVES, TO_NEIGHBOURS };

static size_t source_of(int how, size_t i, size_t width)
{
    size_t half = width / 2;
    switch (how) {
    case NEIGHBOURS:
        return i ^ 1;
    case HALVES:
        return (i + half) % width;
    case TO_HALVES:
        return i < half ? 2 * i : 2 * (i - half) + 1;
    default:
        return i / 2 + (i % 2) * half;
    }
}

static size_t width_of(const struct tensor *tensor)
{
    return tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
}

static void try_channels(struct trial *trial, const struct guess *guess)
{
    size_t width = width_of(trial->from);
    if (width % 2 != 0 || width == 0)
        return;
    begin(trial);
    for (size_t i = 0; i < trial->from->count; i++)
        copy(trial, i - i % width + source_of(guess->by, i % width, width), i);
    end(trial, guess->says);
}

enum { ALL_SIGNS, SECONDS, SECOND_HALF, FIRSTS, FIRST_HALF };

static bool is_negated(int which, size_t i, size_t width)
{
    switch (which) {
    case SECONDS:
        return i % 2 == 1;
    case SECOND_HALF:
        return i >= width / 2;
    case FIRSTS:
        return i % 2 == 0;
    case FIRST_HALF:
        return i < width / 2;
    default:
        return true;
    }
}

static void try_signs(struct trial *trial, const struct guess *guess)
{
    size_t width = width_of(trial->from);
    begin(trial);
    for (size_t i = 0; i < trial->from->count; i++)
        store(trial, i, is_negated(guess->by, i % width, width) ? -load(trial, i) : load(trial, i));
    end(trial, guess->says);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static void try_rounded(struct trial *trial, const struct guess *guess)
{
    enum pe_dtype dtype = (enum pe_dtype)guess->by;
    double rounded;
    if (dtype <= trial->from->dtype)
        return;
    begin(trial);
    for (size_t i = 0; i < trial->from->count; i++) {
        pe_store(dtype, &rounded, 0, load(trial, i));
        store(trial, i, pe_load(dtype, &rounded, 0));
    }
    end(trial, guess->says);
}

/* The factor that leaves the least squares, to six digits, since it is to be read. */
static void try_factor(struct trial *trial, const struct guess *guess)
{
    const struct tensor *actual = &trial->own->actual;
    double products = 0, squares = 0;
    if (!trial->own->shapes_agree)
        return;
    for (size_t i = 0; i < trial->from->count; i++) {
        double e = load(trial, i), a = pe_load(actual->dtype, actual->data, i);
        bool finite = isfinite(a) && isfinite(e);
        products += finite ? a * e : 0;
        squares += finite ? e * e : 0;
    }
    double factor = products / squares;
    if (!isfinite(factor) || factor == 0 || fabs(factor - 1) < FACTOR_LEAST)
        return;
    begin(trial);
    for (size_t i = 0; i < trial->from->count; i++)
        store(trial, i, factor * load(trial, i));
    end(trial, arena_printf(arena_of(trial), guess->says, factor));
}

/* ---- The table ------------------------------------------------------------------------------ */

static const struct guess guesses[] = {
    {try_exchanged, 0, "expected with axes %zu and %zu exchanged"},
    {try_reshaped, 0, "expected in another shape, the same elements in the same order"},
    {try_channels, TO_NEIGHBOURS,
     "expected with the channels of its halves interleaved: layout half became interleaved"},
    {try_channels, TO_HALVES,
     "expected with its channels in halves, the even ones first: layout interleaved became half"},
    {try_channels, NEIGHBOURS, "expected with neighbouring channels exchanged, as cos and sin"},
    {try_channels, HALVES, "expected with the halves of its channels exchanged, as cos and sin"},
    {try_signs, ALL_SIGNS, "expected with the other sign"},
    {try_signs, SECONDS, "expected with the sign of every second channel changed"},
    {try_signs, SECOND_HALF, "expected with the sign of the second half of its channels changed"},
    {try_signs, FIRSTS, "expected with the sign of channels 0, 2, 4 .. changed"},
    {try_signs, FIRST_HALF, "expected with the sign of the first half of its channels changed"},
    {try_rows, 1, "expected one further on along axis %zu: off by one"},
    {try_rows, -1, "expected one back along axis %zu: off by one"},
    {try_rows, 2, "expected two further on along axis %zu, as with two reserved rows"},
    {try_rows, -2, "expected two back along axis %zu, as with two reserved rows"},
    {try_rounded, PE_F32, "expected rounded to f32"},
    {try_rounded, PE_F16, "expected rounded to f16"},
    {try_rounded, PE_BF16, "expected rounded to bf16"},
    {try_factor, 0, "expected times %.6g"},
};

void guesses_try(struct comparing *own)
{
    struct trial trial = {.own = own, .from = &own->expected};
    trial.made.data = job_scratch(own->job, own->expected.count * sizeof(double));
    if (!trial.made.data || own->expected.count != own->actual.count)
        return;
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses && !request_expired(own->job->request);
         i++)
        guesses[i].try(&trial, &guesses[i]);
}
