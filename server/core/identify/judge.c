// SPDX-License-Identifier: Apache-2.0
/*
 * judge.c: the verdict: every spec that was kept is applied to x, and what comes out is held
 * against y: bit by bit, and as far as libraries are off: pair by pair where pairs are turned,
 * number by number where something is added. As good as the best are those that do likewise and
 * are no other spelling of it.
 */
#include <math.h>
#include <string.h>

#include "dtype.h"
#include "identify_search.h"
#include "kind.h"
#include "params.h"

/* How much more there may be to say: a long number always fits somewhere. In 16 bits short ones
 * do, too, and nothing can be left out. */
#define FAR_FETCHED 8
#define HIDDEN      2 /* units of y: a smaller angle may be none */
#define LIKEWISE    4 /* times the squared error of the best, within the limits of libraries */

/* ---- Pairs against the limits of libraries --------------------------------------------------- */

/* Of pairs whose table is rounded as libraries do, so many may be rounded the other way: where a
 * number is hardly nearer to one than to the other, libraries' own errors decide. */
#define STRAYS 0.01

/* Sums over all pairs of one candidate. */
struct tally {
    double squares; /* |factor found - factor expected|^2 by weight */
    double weights;
    size_t n, off; /* pairs, and those beyond the limits */
};

static void tally_pair(const struct pe__search *search, struct tally *tally, size_t at, double c,
                       double s, double angle)
{
    const struct pe__phases *phases = &search->phases;
    double weight = phases->weight[at];
    if (!(weight > 0))
        return;
    double re = phases->re[at] - c, im = phases->im[at] - s;
    double off = re * re + im * im, limit = search->fixed + search->library * angle;
    limit *= sqrt(c * c + s * s);
    tally->squares += weight * off;
    tally->weights += weight;
    tally->n++;
    tally->off += !(sqrt(off) + sqrt(phases->rest[at]) <= limit);
}

/* Where a row of the spec's table has the cosine and the sine of each pair. */
static void read_columns(const struct pe__search *search, const struct pe_spec *spec)
{
    for (size_t pair = 0; pair < search->phases.pairs; pair++) {
        size_t c, s;
        pe_spec_pair_channels(spec, pair, &c, &s);
        search->column[pair][0] = (uint32_t)c;
        search->column[pair][1] = (uint32_t)s;
    }
}

/* Radians that the fastest pair has turned at a row, at most. */
static double angle_at(const struct pe__search *search, size_t row, double fastest, double origin)
{
    double angle = 0;
    for (size_t axis = 0; axis < search->given.axes; axis++)
        angle = fmax(angle, fabs(search->given.at[axis][row] - origin) * fastest);
    return angle;
}

static struct tally tally_pairs(const struct pe__search *search,
                                const struct pe_candidate *candidate, const struct pe_plan *plan)
{
    const struct pe__phases *phases = &search->phases;
    const struct pe_spec *spec = &candidate->spec;
    struct tally tally = {0};
    double origin = pe__origin_of(spec);
    read_columns(search, spec);
    for (size_t row = 0; row < phases->rows; row++) {
        struct pe_positions one = {.axes = search->given.axes, .n = 1};
        if (isnan(search->given.at[0][row]))
            continue;
        for (size_t axis = 0; axis < one.axes; axis++)
            one.at[axis] = &search->given.at[axis][row];
        double angle = angle_at(search, row, candidate->fastest, origin);
        pe_table(plan, &one, PE_F64, search->vector, 2 * phases->pairs);
        for (size_t pair = 0; pair < phases->pairs; pair++) {
            const uint32_t *column = search->column[pair];
            tally_pair(search, &tally, pair * phases->rows + row, search->vector[column[0]],
                       search->vector[column[1]], angle);
        }
    }
    return tally;
}

/* ---- Elements -------------------------------------------------------------------------------- */

struct differences {
    double squares, largest;
    size_t n, differing;
    bool within; /* the limits of libraries, that add */
};

static void compare_vectors(const struct pe__search *search, double angle, struct differences *all)
{
    size_t dim = search->given.y->dim;
    const double *ours = search->vector, *theirs = search->vector + dim;
    double limit = search->fixed + search->library * angle;
    for (size_t i = 0; i < dim; i++) {
        double off = fabs(ours[i] - theirs[i]);
        all->differing += off != 0 && !(isnan(ours[i]) && isnan(theirs[i]));
        if (!isfinite(off))
            continue;
        all->squares += off * off;
        all->largest = off > all->largest ? off : all->largest;
        all->within = all->within && off <= limit * (1 + fabs(theirs[i]));
    }
}

static struct differences compare(const struct pe__search *search,
                                  const struct pe_candidate *candidate, const struct pe_view *y,
                                  const struct pe_view *made)
{
    struct differences all = {.n = y->batches * y->heads * y->tokens * y->dim, .within = true};
    double origin = pe__origin_of(&candidate->spec);
    for (size_t batch = 0; batch < y->batches; batch++)
        for (size_t head = 0; head < y->heads; head++)
            for (size_t token = 0; token < y->tokens; token++) {
                size_t row = (search->given.lists_n > 1 ? batch * y->tokens : 0) + token;
                double angle = angle_at(search, row, candidate->fastest, origin);
                pe__vector(made, batch, head, token, search->vector);
                pe__vector(y, batch, head, token, search->vector + y->dim);
                compare_vectors(search, isnan(angle) ? 0 : angle, &all);
            }
    return all;
}

/* The mean square of what is added. */
static double added_square(const struct pe__search *search)
{
    size_t dim = search->given.x->dim, n = 0;
    double sum = 0;
    for (size_t row = 0; row < search->given.rows; row++) {
        for (size_t i = 0; search->vectors[row] > 0 && i < dim; i++)
            sum += search->added[row * dim + i] * search->added[row * dim + i];
        n += search->vectors[row] > 0 ? dim : 0;
    }
    return n > 0 ? sum / (double)n : 0;
}

/* x encoded as the candidate says and rounded as y was. */
static bool encode(const struct pe__search *search, const struct pe_view *x,
                   const struct pe_plan *plan, const struct pe_candidate *candidate,
                   struct pe_view *made)
{
    const struct pe_identify *job = search->job;
    const struct pe_stages *stages = &candidate->stages;
    if (pe_apply_work_bytes(plan) > PE__APPLY_BYTES)
        return false;
    *made = (struct pe_view){.dtype = job->dtype,
                             .data = search->made,
                             .batches = x->batches,
                             .heads = x->heads,
                             .tokens = x->tokens,
                             .dim = x->dim};
    made->token_stride = made->dim;
    made->head_stride = made->tokens * made->dim;
    made->batch_stride = made->heads * made->head_stride;
    pe_apply(&(struct pe_apply){plan, job->positions, x->batches > 1 ? job->positions_n : 1, false,
                                x, made, search->apply, stages->named ? stages : NULL,
                                candidate->twist == PE_TWIST_KEY});
    return true;
}

#define EXPLAINED 16 /* times what is left, squared: what was added is more, or not explained */

/* Of what adds, whose numbers are told by themselves. */
static void judge_added(const struct pe__search *search, const struct differences *off,
                        struct pe_candidate *candidate)
{
    bool most = EXPLAINED * candidate->rms * candidate->rms <= added_square(search);
    candidate->phase_rms = candidate->rms;
    candidate->explains = off->within && most ? PE_EXPLAINS_LIMITS : PE_EXPLAINS_NOT;
}

static enum pe_status plan_of(const struct pe__search *search, const struct pe_candidate *candidate,
                              struct pe_plan **plan)
{
    struct pe_positions all = {.axes = search->given.axes, .n = search->given.rows};
    struct pe_spec spec = candidate->spec;
    struct pe_value *center = pe__params_value(&spec.params, "center");
    for (size_t axis = 0; axis < all.axes; axis++)
        all.at[axis] = search->given.at[axis];
    if (pe_spec_has_scales(&spec) && !center->set) { /* half of the positions */
        double last = all.at[0][search->order[0][search->order_n - 1]];
        center->set = true;
        center->number = floor((pe_spec_place(&spec, last) + 1) / 2);
    }
    return pe_plan_staged(&spec, &candidate->stages, &all, plan);
}

enum pe_status pe__search_judge_one(struct pe__search *search, struct pe_candidate *candidate)
{
    const struct pe_view *x = search->job->x;
    struct pe_plan *plan;
    struct pe_view made;
    enum pe_status status = plan_of(search, candidate, &plan);
    if (status != PE_OK)
        return status;
    bool adds = candidate->spec.kind->acts == PE_ADDS;
    struct tally tally = {0};
    if (!adds)
        tally = tally_pairs(search, candidate, plan);
    candidate->phase_rms = tally.weights > 0 ? sqrt(tally.squares / tally.weights) : 0;
    double strays = candidate->stages.named ? STRAYS * (double)tally.n : 0;
    bool within = !adds && (double)tally.off <= strays;
    candidate->explains = within ? PE_EXPLAINS_LIMITS : PE_EXPLAINS_NOT;
    candidate->rms = candidate->max_abs = NAN;
    if (candidate->twist != PE_TWIST_SWAPPED && encode(search, x, plan, candidate, &made)) {
        struct differences off = compare(search, candidate, search->given.y, &made);
        candidate->rms = sqrt(off.squares / (double)(off.n ? off.n : 1));
        candidate->max_abs = off.largest;
        if (adds)
            judge_added(search, &off, candidate);
        if (off.differing == 0)
            candidate->explains = PE_EXPLAINS_BITS;
    }
    pe_plan_free(plan);
    return PE_OK;
}

/* The first head first: most that is rounded otherwise is seen there. */
enum pe_status pe__search_try_bits(struct pe__search *search, struct pe_candidate *candidate)
{
    struct pe_view from = *search->job->x, to = *search->given.y, made;
    struct pe_plan *plan;
    enum pe_status status = plan_of(search, candidate, &plan);
    if (status != PE_OK)
        return status;
    from.batches = from.heads = to.batches = to.heads = 1;
    bool same = encode(search, &from, plan, candidate, &made) &&
                compare(search, candidate, &to, &made).differing == 0;
    if (same && encode(search, search->job->x, plan, candidate, &made) &&
        compare(search, candidate, search->given.y, &made).differing == 0) {
        candidate->explains = PE_EXPLAINS_BITS;
        candidate->rms = candidate->max_abs = 0;
    }
    pe_plan_free(plan);
    return PE_OK;
}

/* ---- Order ------------------------------------------------------------------------------------
 */

static bool is_better(const struct pe_candidate *a, const struct pe_candidate *b)
{
    if (a->explains != b->explains)
        return a->explains > b->explains;
    double sa = a->phase_rms * a->phase_rms, sb = b->phase_rms * b->phase_rms;
    bool alike = a->explains == PE_EXPLAINS_BITS ||
                 (a->explains == PE_EXPLAINS_LIMITS && sa <= LIKEWISE * sb && sb <= LIKEWISE * sa);
    return alike && a->cost != b->cost ? a->cost < b->cost : sa < sb;
}

static void sort(struct pe_identify *job)
{
    for (size_t i = 1; i < job->found_n; i++) {
        struct pe_candidate at = job->found[i];
        size_t k = i;
        for (; k > 0 && is_better(&at, &job->found[k - 1]); k--)
            job->found[k] = job->found[k - 1];
        job->found[k] = at;
    }
}

static double far_fetched(const struct pe__search *search)
{
    return search->rounds_much ? INFINITY : search->job->found[0].cost + FAR_FETCHED;
}

static bool is_rival(const struct pe_candidate *best, const struct pe_candidate *other, double far)
{
    double floor = best->phase_rms * best->phase_rms;
    return other->explains == best->explains && other->cost <= far &&
           (best->explains == PE_EXPLAINS_BITS ||
            other->phase_rms * other->phase_rms <= LIKEWISE * floor);
}

/* Whether a pair turns so little that it may as well stand still, as behind kept_pairs. */
static bool hides_pairs(const struct pe__search *search, const struct pe_spec *spec)
{
    double slowest = INFINITY, farthest = 0, origin = pe__origin_of(spec);
    if (spec->kind->acts != PE_ROTATES)
        return false;
    for (size_t pair = 0; pair < pe_spec_pairs(spec); pair++) {
        double speed = fabs(pe__speed_of(spec, pair));
        slowest = speed > 0 && speed < slowest ? speed : slowest;
    }
    for (size_t axis = 0; axis < search->given.axes; axis++)
        for (size_t i = 0; i < search->order_n; i++)
            farthest =
                fmax(farthest, fabs(search->given.at[axis][search->order[axis][i]] - origin));
    return slowest * farthest < HIDDEN * search->unit;
}

/* Rivals that give other numbers come behind the best; then what says the same otherwise. */
static void count_rivals(struct pe__search *search)
{
    struct pe_identify *job = search->job;
    job->rivals_n = job->found_n > 0 && job->found[0].explains != PE_EXPLAINS_NOT ? 1 : 0;
    for (size_t i = 1; job->rivals_n > 0 && i < job->found_n; i++) {
        struct pe_candidate at = job->found[i];
        if (!is_rival(&job->found[0], &at, far_fetched(search)) ||
            pe_spec_same_numbers(&job->found[0].spec, &at.spec))
            continue;
        for (size_t k = i; k > job->rivals_n; k--)
            job->found[k] = job->found[k - 1];
        job->found[job->rivals_n++] = at;
    }
    size_t n = job->rivals_n > 0 ? job->rivals_n : job->found_n;
    job->more = n > 0 && search->cut < far_fetched(search);
    if (search->rounds_much && job->rivals_n > 1)
        job->more = true; /* where several numbers do, those between them do, too */
    job->axes_open = false;
    for (size_t i = 0; i < n; i++) {
        job->more = job->more || job->found[i].open;
        job->axes_open = job->axes_open || job->found[i].axes_open;
    }
    job->more = job->more || (job->rivals_n > 0 && hides_pairs(search, &job->found[0].spec));
    bool open = job->rivals_n > 1 || job->more || job->axes_open;
    job->confidence = job->rivals_n == 0 ? PE_IDENTIFIED_NOT
                      : open             ? PE_IDENTIFIED_AMBIGUOUS
                                         : PE_IDENTIFIED_UNIQUE;
}

enum pe_status pe__search_judge(struct pe__search *search)
{
    struct pe_identify *job = search->job;
    enum pe_status status = PE_OK;
    for (size_t i = 0; status == PE_OK && i < job->found_n; i++)
        if (job->found[i].phase_rms < 0)
            status = pe__search_judge_one(search, &job->found[i]);
    return status;
}

bool pe__search_is_explained(const struct pe__search *search)
{
    for (size_t i = 0; i < search->job->found_n; i++)
        if (search->job->found[i].explains != PE_EXPLAINS_NOT)
            return true;
    return false;
}

void pe__search_conclude(struct pe__search *search)
{
    sort(search->job);
    count_rivals(search);
}
