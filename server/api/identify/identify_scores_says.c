// SPDX-License-Identifier: Apache-2.0
/*
 * identify_scores_says.c: biases in words: what a kind adds to scores, what would settle which it
 * is, what to do next.
 */
#include <math.h>
#include <string.h>

#include "identify.h"

/* ---- What it is ---------------------------------------------------------------------------- */

static double number_of(const struct pe_spec *spec, const char *name, double otherwise)
{
    int row = pe_params_find(&spec->params, name, strlen(name));
    const struct pe_value *value = row >= 0 ? &spec->params.value[row] : NULL;
    return value && value->set ? value->number : otherwise;
}

static const char *say_none(struct arena *arena, const struct pe_spec *spec)
{
    (void)spec;
    return arena_printf(arena, "y is x wherever it is not masked: nothing was added");
}

/* What all slopes are of those of the rule for as many heads: 0 if they are not in proportion. */
static double proportion(const struct pe_spec *spec)
{
    const double near = 0.02;
    const struct pe_value *slopes = pe_params_get(&spec->params, "slopes");
    struct pe_faults faults = {0};
    struct pe_spec rule;
    struct pe_positions none = {.axes = 1};
    struct pe_plan *plan;
    double by_rule[PE_HEADS_MAX], part = 0;
    if (!slopes->set || slopes->list_n < 2)
        return 0;
    pe_spec_init(&rule, spec->kind);
    pe_params_set_number(&rule.params, "heads", (double)slopes->list_n, &faults);
    if (pe_spec_finish(&rule, &faults) && pe_plan_new(&rule, &none, &plan) == PE_OK) {
        pe_slopes(plan, PE_F64, by_rule);
        pe_plan_free(plan);
        part = slopes->list[0] / by_rule[0];
        for (size_t i = 1; i < slopes->list_n; i++)
            if (fabs(slopes->list[i] - part * by_rule[i]) > near * part * by_rule[i])
                part = 0;
    }
    pe_spec_release(&rule);
    return part;
}

static const char *say_alibi(struct arena *arena, const struct pe_spec *spec)
{
    static const char *const forms[] = {
        "the distance between query and key", "query less key, negative for keys after it",
        "the last key's position less the key's", "the key's position, negated"};
    double form = number_of(spec, "form", 0), head = number_of(spec, "head", 0);
    double heads = number_of(spec, "heads", 1), part = proportion(spec);
    const char *line = arena_printf(arena, "ALiBi: a slope times %s, subtracted", forms[(int)form]);
    if (!line)
        return NULL;
    if (part > 0)
        return arena_printf(arena,
                            "%s, slopes %.4g times those of the rule (with a head dimension of "
                            "%.4g that is 1/sqrt)",
                            line, part, 1 / (part * part));
    if (pe_params_get(&spec->params, "slopes")->set || pe_params_get(&spec->params, "slope")->set)
        return arena_printf(arena, "%s, slopes by no rule that was tried", line);
    const char *which = head > 0 ? arena_printf(arena, "%s, from head %.0f on", line, head) : line;
    return arena_printf(arena, "%s, slopes of the rule for %.0f head%s with exponent %g",
                        which ? which : line, heads, heads == 1 ? "" : "s",
                        number_of(spec, "bias_max", 8));
}

static const char *say_kerple(struct arena *arena, const struct pe_spec *spec)
{
    return arena_printf(arena,
                        number_of(spec, "form", 0) == 0
                            ? "KERPLE: p ln(1 + a distance) subtracted, a and p learned"
                            : "KERPLE: a times a power p of the distance subtracted, a and p "
                              "learned");
}

static const char *say_sandwich(struct arena *arena, const struct pe_spec *spec)
{
    return arena_printf(arena,
                        "Sandwich: the sum of %g cosines of the distance, base %.12g, less "
                        "its largest value",
                        number_of(spec, "dim", 0) / 2, number_of(spec, "base", 0));
}

static const char *say_source(const struct pe_spec *spec)
{
    return spec->table ? "numbers learned" : "numbers drawn from a seed of this service";
}

static const char *say_t5(struct arena *arena, const struct pe_spec *spec)
{
    return arena_printf(
        arena, "T5: one number for each of %.0f buckets of distances up to %.0f, %s, %s",
        number_of(spec, "buckets", 0), number_of(spec, "max_distance", 0),
        number_of(spec, "bidirectional", 0) != 0 ? "half of them for keys after the query"
                                                 : "keys after the query share the first",
        say_source(spec));
}

static const char *say_swin(struct arena *arena, const struct pe_spec *spec)
{
    const struct pe_value *window = pe_params_get(&spec->params, "window");
    return arena_printf(arena,
                        "Swin: one number for each offset in rows and columns of a window of "
                        "%.0f by %.0f, %s",
                        window->list[0], window->list[1], say_source(spec));
}

static const char *say_fire(struct arena *arena, const struct pe_spec *spec)
{
    (void)spec;
    return arena_printf(arena, "FIRE: a network of the relative distance, its weights drawn from "
                               "a seed of this service");
}

static const struct {
    const char *kind;
    const char *(*says)(struct arena *arena, const struct pe_spec *spec);
} kinds[] = {
    {"none", say_none}, {"alibi", say_alibi}, {"kerple", say_kerple}, {"sandwich", say_sandwich},
    {"t5", say_t5},     {"swin", say_swin},   {"fire", say_fire},
};

const char *identify_scores_says(struct job *job, const struct identify *own,
                                 const struct pe_candidate *candidate)
{
    (void)own;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, candidate->spec.kind->name) == 0)
            return kinds[i].says(&job->request->arena, &candidate->spec);
    return candidate->spec.kind->title;
}

/* ---- What the matrices show ---------------------------------------------------------------- */

const char *identify_scores_note(struct job *job, const struct identify *own, size_t i)
{
    const struct pe_biased *scores = &own->biased;
    struct arena *arena = &job->request->arena;
    const char *all[2];
    size_t n = 0;
    const char *s = scores->masked_n == 1 ? "" : "s";
    if (scores->masked == PE_MASKED_CAUSAL)
        all[n++] = arena_printf(arena,
                                "Keys after their query are masked (%zu pair%s), so what they "
                                "would be given does not show",
                                scores->masked_n, s);
    if (scores->masked == PE_MASKED_SOME)
        all[n++] = arena_printf(arena, "%zu pair%s of a query and a key %s masked, and left out",
                                scores->masked_n, s, scores->masked_n == 1 ? "is" : "are");
    if (own->result.rivals_n == 0 && own->result.found_n > 0)
        all[n++] = arena_printf(arena,
                                "Head %zu contradicts: between the query at %g and the key at %g "
                                "the bias is %.6g, and that one gives %.6g",
                                scores->contradiction.head,
                                scores->queries->at[0][scores->contradiction.query],
                                scores->keys->at[0][scores->contradiction.key],
                                scores->contradiction.bias, scores->contradiction.made);
    return i < n ? all[i] : NULL;
}

/* ---- What to do ---------------------------------------------------------------------------- */

/* What settles a parameter that rivals differ in. */
static const struct {
    const char *key, *send;
} settles[] = {
    {"kind", "send all heads, and keys further from the query, such as 100 and more"},
    {"heads", "some heads only: slopes of 8 and of 16 heads cannot be told apart; send all heads"},
    {"head", "send all heads, in their order"},
    {"slope", "one head only: send all heads, whose slopes tell the rule"},
    {"bias_max", "send all heads, whose slopes tell the rule"},
    {"form", "the forms differ in keys after the query and between queries; send several queries "
             "with keys on both sides (under a causal softmax all attend alike)"},
    {"buckets", "send keys further from the query, up to where the bias stays the same: twice "
                "max_distance"},
    {"max_distance", "send keys further from the query, up to where the bias stays the same: "
                     "twice max_distance"},
    {"bidirectional", "send scores without a causal mask, or keys further before the query"},
    {"window", "send the scores of a whole window, all of its places as queries and as keys"},
};

const char *identify_scores_send(struct job *job, const struct identify *own, const char *key)
{
    struct arena *arena = &job->request->arena;
    const struct pe_biased *scores = &own->biased;
    const char *kind = own->result.found_n > 0 ? own->result.found[0].spec.kind->name : "";
    if (scores->distances_n < 2)
        return arena_printf(arena, "one distance only: send several queries and keys, such as 16 "
                                   "of each");
    for (size_t i = 0; i < sizeof settles / sizeof *settles; i++)
        if (strcmp(settles[i].key, key) == 0)
            return settles[i].send;
    if (strcmp(kind, "t5") == 0)
        return arena_printf(arena,
                            "only keys %g to %g from the query were seen; send keys up to 300 "
                            "away, where distances share a bias if there are buckets",
                            scores->first, scores->last);
    if (own->dtype == PE_BF16 || own->dtype == PE_F16)
        return arena_printf(arena,
                            "%s rounds too much to tell; send the bias itself, without x, "
                            "in f32",
                            pe_dtype_name(own->dtype));
    return scores->heads == 1 ? settles[0].send
                              : arena_printf(arena, "send keys further from the query, such as "
                                                    "100 and more");
}

/* What a bias that nothing explains is made of. */
static const char *unexplained(struct arena *arena, const struct pe_biased *scores)
{
    if (scores->hangs_on == PE_HANGS_ON_BATCH)
        return arena_printf(arena, "the bias differs between batches, so it is made of q and k, as "
                                   "in shaw, transformer_xl, deberta and cope: scores alone do "
                                   "not tell which; compare with /v1/apply, which takes q and k");
    if (scores->hangs_on == PE_HANGS_ON_PLACES)
        return arena_printf(arena, "the bias is not the same at equal distances: it may be made of "
                                   "q and k, as in shaw, transformer_xl, deberta and cope, which "
                                   "scores alone do not tell, or positions are others");
    return arena_printf(arena, "the bias depends on key - query alone (a Toeplitz matrix), but no "
                               "rule that was tried gives it: a learned number for each distance, "
                               "or a learned function of it");
}

const char *identify_scores_advice(struct job *job, const struct identify *own, size_t i)
{
    const struct pe_identify *result = &own->result;
    const struct pe_spec *best = result->found_n > 0 ? &result->found[0].spec : NULL;
    struct arena *arena = &job->request->arena;
    const char *all[3];
    size_t n = 0;
    if (!best || result->rivals_n == 0) {
        all[n++] = unexplained(arena, &own->biased);
        all[n++] = "check that x has the scores before the bias, scaled as they are in y";
    } else if (best->table) {
        all[n++] = "the table is learned: best.table has the numbers that were seen, for the "
                   "member table of a request";
    } else if (best->kind->acts == PE_ACTS_NOT) {
        all[n++] = "if attention does use positions, they may be in q and k: send these as vectors";
    }
    return i < n ? all[i] : NULL;
}
