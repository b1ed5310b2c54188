// SPDX-License-Identifier: Apache-2.0
/*
 * kernels_rotate.inc.c: rotation of rows of pairs in f32, f16 and bf16, included by kernels.inc.c.
 * A pair (a, b) becomes (a c - b s, a s + b c), in double and rounded once. Which channels make a
 * pair, and the values of c and s, are apply_rotate.c's business.
 */

/* What comes next is fetched into the second-level cache: heads outermost 0.83 x memcpy in place,
 * but 1.45 if fetched into the first. */
#define AHEAD_LEVEL 2

/* The quad from element i on with the members of each pair swapped; x is that quad as it is. */
KERNEL_INLINE quad load_swapped(enum pe_dtype dtype, const void *row, size_t i, quad x)
{
    (void)dtype, (void)row, (void)i, (void)x;
#if QUAD_LANES == 4
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
#elif QUAD_LANES == 2
    return __builtin_shufflevector(x, x, 1, 0);
#else
    return load_quad(dtype, row, i ^ 1);
#endif
}

KERNEL_INLINE quad quad_load(const double *x)
{
    quad v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Where a block of one row's pairs is read and written, and its cos and sin. */
struct place {
    const char *a, *b;
    char *ya, *yb;
    const double *c, *s;
};

/* Sixteen pairs whose members lie apart. */
KERNEL_INLINE void rotate_apart(enum pe_dtype dtype, struct place at, bool stream, ordered *lanes)
{
    struct sixteen y;
    struct sixteen z;
    struct sixteen first = load_sixteen(dtype, at.a);
    struct sixteen second = load_sixteen(dtype, at.b);
    EACH_QUAD(k)
    {
        quad a = first.v[k];
        quad b = second.v[k];
        quad c = quad_load(at.c + k * QUAD_LANES);
        quad s = quad_load(at.s + k * QUAD_LANES);
        y.v[k] = sum_of(a * c, -(b * s));
        z.v[k] = sum_of(a * s, b * c);
    }
    store_sixteen(dtype, at.ya, &y, stream, lanes);
    store_sixteen(dtype, at.yb, &z, stream, lanes);
}

/* Eight pairs whose members are adjacent: c and s have two values each, the first s negated. */
KERNEL_INLINE void rotate_adjacent(enum pe_dtype dtype, struct place at, bool stream,
                                   ordered *lanes)
{
    struct sixteen y;
    struct sixteen members = load_sixteen(dtype, at.a);
    EACH_QUAD(k)
    {
        size_t i = k * QUAD_LANES;
        quad x = members.v[k];
        quad swapped = load_swapped(dtype, at.a, i, x);
        y.v[k] = sum_of(x * quad_load(at.c + i), swapped * quad_load(at.s + i));
    }
    store_sixteen(dtype, at.ya, &y, stream, lanes);
}

KERNEL_INLINE void rotate_sixteen(enum pe_dtype dtype, size_t step, struct place at, bool stream,
                                  ordered *lanes)
{
    if (step == 1)
        rotate_apart(dtype, at, stream, lanes);
    else
        rotate_adjacent(dtype, at, stream, lanes);
}

KERNEL_INLINE void fetch(const void *x, size_t ahead)
{
    __builtin_prefetch((const char *)((uintptr_t)x + ahead), 0, AHEAD_LEVEL);
}

/* The last n < 16 elements, by way of memory for 16. */
KERNEL_INLINE void rotate_rest(enum pe_dtype dtype, size_t step, struct place at, size_t n,
                               ordered *lanes)
{
    double c[16] = {0};
    double s[16] = {0};
    char a[16 * sizeof(float)] = {0};
    char b[16 * sizeof(float)] = {0};
    size_t bytes = n * size_of(dtype);
    memcpy(c, at.c, n * sizeof *c);
    memcpy(s, at.s, n * sizeof *s);
    memcpy(a, at.a, bytes);
    if (step == 1)
        memcpy(b, at.b, bytes);
    rotate_sixteen(dtype, step, (struct place){a, b, a, b, c, s}, false, lanes);
    memcpy(at.ya, a, bytes);
    if (step == 1)
        memcpy(at.yb, b, bytes);
}

__attribute__((noinline, cold)) static void settle_nan(void *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pe_store(PE_F32, y, i, pe_load(PE_F32, y, i));
}

KERNEL_INLINE void rotate_row(enum pe_dtype dtype, size_t step, const struct pe__rotation *job,
                              const struct place *row, bool stream)
{
    const size_t bytes = 16 * size_of(dtype);
    struct place at = *row;
    ordered lanes = all_ordered();
    size_t left = step * job->n;
    for (; left >= 16; left -= 16) {
        fetch(at.a, job->ahead);
        if (step == 1)
            fetch(at.b, job->ahead);
        rotate_sixteen(dtype, step, at, stream, &lanes);
        at = (struct place){at.a + bytes,  at.b + bytes, at.ya + bytes,
                            at.yb + bytes, at.c + 16,    at.s + 16};
    }
    if (left > 0)
        rotate_rest(dtype, step, at, left, &lanes);
    if (__builtin_expect(had_nan(lanes), 0)) {
        settle_nan(row->ya, step * job->n);
        if (step == 1)
            settle_nan(row->yb, job->n);
    }
}

KERNEL_INLINE void rotate_rows(enum pe_dtype dtype, size_t step, const struct pe__rotation *rows,
                               const double *c, const double *s, bool stream)
{
    const struct pe__rotation job = *rows; /* own copy: stores cannot change it */
    for (size_t row = 0; row < job.rows; row++) {
        size_t from = row * job.row_in;
        size_t to = row * job.row_out;
        struct place at = {(const char *)job.a + from, (const char *)job.b + from,
                           (char *)job.ya + to,        (char *)job.yb + to,
                           c + row * job.row_values,   s + row * job.row_values};
        rotate_row(dtype, step, &job, &at, stream);
    }
}

KERNEL_INLINE void rotate_narrow(enum pe_dtype dtype, const struct pe__rotation *job,
                                 const double *c, const double *s)
{
    if (job->step == 1 && job->stream)
        rotate_rows(dtype, 1, job, c, s, true);
    else if (job->step == 1)
        rotate_rows(dtype, 1, job, c, s, false);
    else if (job->stream)
        rotate_rows(dtype, 2, job, c, s, true);
    else
        rotate_rows(dtype, 2, job, c, s, false);
}

static void rotate_f32(const struct pe__rotation *job, const double *c, const double *s)
{
    rotate_narrow(PE_F32, job, c, s);
}

static void rotate_f16(const struct pe__rotation *job, const double *c, const double *s)
{
    rotate_narrow(PE_F16, job, c, s);
}

static void rotate_bf16(const struct pe__rotation *job, const double *c, const double *s)
{
    rotate_narrow(PE_BF16, job, c, s);
}

#if QUAD_LANES == 4
/* x[i..i+3], each twice, times sign, from x[2 i] on. */
KERNEL_INLINE void spread_quad(double *x, size_t i, quad sign)
{
    quad v = quad_load(x + i);
    quad low = sign * __builtin_shufflevector(v, v, 0, 0, 1, 1);
    quad high = sign * __builtin_shufflevector(v, v, 2, 2, 3, 3);
    memcpy(x + 2 * i, &low, sizeof low);
    memcpy(x + 2 * i + QUAD_LANES, &high, sizeof high);
}
#endif

/* What adjacent members need: c as c c, s as -s s; in place. */
static void spread(size_t n, double *c, double *s)
{
    size_t i = n;
#if QUAD_LANES == 4
    for (; i >= QUAD_LANES; i -= QUAD_LANES) {
        spread_quad(c, i - QUAD_LANES, (quad){1, 1, 1, 1});
        spread_quad(s, i - QUAD_LANES, (quad){-1, 1, -1, 1});
    }
#endif
    while (i-- > 0) {
        c[2 * i] = c[2 * i + 1] = c[i];
        s[2 * i + 1] = s[i];
        s[2 * i] = -s[i];
    }
}

/* Streamed stores are seen by other threads in their order again. */
static void drain(void)
{
#if QUAD_BYTES == 32
    _mm_sfence();
#endif
}
