// SPDX-License-Identifier: Apache-2.0
/* aspects_fill.c: see aspects_fill.h. */
#include "aspects_fill.h"

#include <string.h>

#include "widths.h"

/* Makes rows of one list of positions. */
typedef void make_rows(const struct job *job, const struct pe_positions *at, void *out,
                       void *scratch);

static const struct pe_plan *plan_of(const struct job *job)
{
    return job_plan(job, job->aspects->spec);
}

/* Rows [first, first + n) of all lists, those of one list after the other. */
static void each_list(const struct job *job, const struct output *output, size_t first, size_t n,
                      make_rows *make, void *out, void *scratch)
{
    const struct position_lists *lists = job->aspects->positions;
    size_t tokens = lists->list->n, row = job_output_row(output) * pe_dtype_size(output->dtype);
    for (size_t done = 0, some; done < n; done += some) {
        size_t at = first + done, rest = tokens - at % tokens;
        some = rest < n - done ? rest : n - done;
        struct pe_positions part = tokens_slab(&lists->list[at / tokens], at % tokens, some);
        make(job, &part, (char *)out + done * row, scratch);
    }
}

/* ---- cos and sin --------------------------------------------------------------------------- */

static void make_cos_sin(const struct job *job, const struct pe_positions *at, bool sine, void *out,
                         void *scratch)
{
    const struct aspects *own = job->aspects;
    size_t size = pe_dtype_size(own->dtype);
    char *other = (char *)scratch + at->n * own->pairs.all * size;
    void *wanted = own->pairs.some ? scratch : out;
    pe_cos_sin(plan_of(job), at, own->dtype, sine ? other : wanted, sine ? wanted : other);
    if (own->pairs.some)
        columns_take(&own->pairs, wanted, out, at->n, size);
}

static void make_cos(const struct job *job, const struct pe_positions *at, void *out, void *scratch)
{
    make_cos_sin(job, at, false, out, scratch);
}

static void make_sin(const struct job *job, const struct pe_positions *at, void *out, void *scratch)
{
    make_cos_sin(job, at, true, out, scratch);
}

void aspect_cos(const struct job *job, const struct output *output, size_t first, size_t n,
                void *out, void *scratch)
{
    each_list(job, output, first, n, make_cos, out, scratch);
}

void aspect_sin(const struct job *job, const struct output *output, size_t first, size_t n,
                void *out, void *scratch)
{
    each_list(job, output, first, n, make_sin, out, scratch);
}

static void make_packed(const struct job *job, const struct pe_positions *at, void *out,
                        void *scratch)
{
    const struct aspects *own = job->aspects;
    size_t size = pe_dtype_size(own->dtype);
    char *sin = (char *)scratch + at->n * own->pairs.all * size;
    pe_cos_sin(plan_of(job), at, own->dtype, scratch, sin);
    packed_take(pack_of(job), &own->pairs, scratch, sin, out, at->n, size);
}

static void make_encoding(const struct job *job, const struct pe_positions *at, void *out,
                          void *scratch)
{
    const struct columns *channels = &job->aspects->channels;
    enum pe_dtype dtype = job->aspects->dtype;
    pe_table(plan_of(job), at, dtype, channels->some ? scratch : out, channels->all);
    if (channels->some)
        columns_take(channels, scratch, out, at->n, pe_dtype_size(dtype));
}

void aspect_table(const struct job *job, const struct output *output, size_t first, size_t n,
                  void *out, void *scratch)
{
    each_list(job, output, first, n, aspects_packed(job) ? make_packed : make_encoding, out,
              scratch);
}

/* ---- Angles, frequencies, positions -------------------------------------------------------- */

static void make_angles(const struct job *job, const struct pe_positions *at, void *out,
                        void *scratch)
{
    const struct aspects *own = job->aspects;
    (void)scratch;
    pe_angles(plan_of(job), at, own->pairs.index, own->pairs.n, own->form, own->dtype, out);
}

void aspect_angle(const struct job *job, const struct output *output, size_t first, size_t n,
                  void *out, void *scratch)
{
    each_list(job, output, first, n, make_angles, out, scratch);
}

/* One row, of all pairs. */
static void make_frequencies(const struct job *job, bool scaled, void *out, void *scratch)
{
    size_t pairs = pe_spec_pairs(aspects_spec(job));
    double *rest = scratch;
    pe_frequencies(plan_of(job), &(struct pe_frequencies){
                                     .dtype = job->aspects->dtype,
                                     .context = 1,
                                     .inv_freq = scaled ? out : rest,
                                     .base_inv_freq = scaled ? rest : out,
                                     .wavelength = rest + pairs,
                                     .turns = rest + 2 * pairs,
                                     .band = (int64_t *)(void *)(rest + 3 * pairs),
                                 });
}

void aspect_inv_freq(const struct job *job, const struct output *output, size_t first, size_t n,
                     void *out, void *scratch)
{
    (void)output, (void)first, (void)n;
    make_frequencies(job, true, out, scratch);
}

void aspect_base_inv_freq(const struct job *job, const struct output *output, size_t first,
                          size_t n, void *out, void *scratch)
{
    (void)output, (void)first, (void)n;
    make_frequencies(job, false, out, scratch);
}

/* A row for each axis and list. */
void aspect_positions(const struct job *job, const struct output *output, size_t first, size_t n,
                      void *out, void *scratch)
{
    const struct position_lists *lists = job->aspects->positions;
    (void)output, (void)scratch;
    for (size_t row = first; row < first + n; row++) {
        const struct pe_positions *list = &lists->list[row % lists->lists_n];
        pe_positions_used(plan_of(job), list->at[row / lists->lists_n], list->n,
                          (double *)out + (row - first) * list->n);
    }
}

/* ---- Scales -------------------------------------------------------------------------------- */

static void make_scale(const struct job *job, const struct pe_positions *at, void *out,
                       void *scratch)
{
    const struct aspects *own = job->aspects;
    void *wanted = own->pairs.some ? scratch : out;
    pe_scales(plan_of(job), at, own->dtype, wanted);
    if (own->pairs.some)
        columns_take(&own->pairs, wanted, out, at->n, pe_dtype_size(own->dtype));
}

void aspect_scale(const struct job *job, const struct output *output, size_t first, size_t n,
                  void *out, void *scratch)
{
    each_list(job, output, first, n, make_scale, out, scratch);
}

/* ---- Whole numbers ------------------------------------------------------------------------- */

void aspect_axis(const struct job *job, const struct output *output, size_t first, size_t n,
                 void *out, void *scratch)
{
    const struct pe_spec *spec = aspects_spec(job);
    (void)first, (void)n, (void)scratch;
    for (size_t pair = 0; pair < output->count; pair++)
        ((int64_t *)out)[pair] = (int64_t)pe_spec_pair_axis(spec, pair);
}

void aspect_passthrough(const struct job *job, const struct output *output, size_t first, size_t n,
                        void *out, void *scratch)
{
    const struct pe_spec *spec = aspects_spec(job);
    size_t dim = pe_spec_dim(spec), a, b;
    int64_t *next = out;
    char *turned = scratch;
    (void)output, (void)first, (void)n;
    memset(turned, 0, dim);
    for (size_t pair = 0; pair < aspects_kept(spec); pair++) {
        pe_spec_pair_members(spec, pair, false, &a, &b);
        turned[a] = turned[b] = 1;
    }
    for (size_t channel = 0; channel < dim; channel++)
        if (!turned[channel])
            *next++ = (int64_t)channel;
}

/* ---- Biases -------------------------------------------------------------------------------- */

/* A row for each list, head and query. */
void aspect_bias(const struct job *job, const struct output *output, size_t first, size_t n,
                 void *out, void *scratch)
{
    const struct pe_positions *queries = job->aspects->positions->list, *keys = aspects_keys(job);
    size_t heads = pe_spec_heads(aspects_spec(job)), rows = queries->n;
    size_t step = keys->n * pe_dtype_size(output->dtype);
    (void)scratch;
    for (size_t row = first; row < first + n; row++) {
        size_t list = row / rows / heads;
        struct pe_positions query = tokens_slab(&queries[list], row % rows, 1);
        pe_bias(plan_of(job), &query, &keys[list], row / rows % heads, 1, output->dtype,
                (char *)out + (row - first) * step);
    }
}

void aspect_slopes(const struct job *job, const struct output *output, size_t first, size_t n,
                   void *out, void *scratch)
{
    (void)first, (void)n, (void)scratch; /* one row */
    pe_slopes(plan_of(job), output->dtype, out);
}
