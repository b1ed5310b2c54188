// SPDX-License-Identifier: Apache-2.0
/*
 * same.c: whether two specs give the same numbers: by what their pairs turn by and where, or by
 * what they add.
 */
#include <math.h>
#include <string.h>

#include "identify_search.h"
#include "kind.h"

bool pe__same_parameters(const struct pe_spec *a, const struct pe_spec *b)
{
    if (a->kind != b->kind)
        return false;
    for (size_t i = 0; i < a->params.rows_n; i++) {
        const struct pe_value *one = &a->params.value[i], *other = &b->params.value[i];
        if (one->set != other->set || one->list_n != other->list_n)
            return false;
        if (one->set && one->number != other->number)
            return false;
        if (one->list_n > 0 && memcmp(one->list, other->list, one->list_n * sizeof *one->list) != 0)
            return false;
    }
    return true;
}

/* A number by its own name, which may be another's other one. */
static double number(const struct pe_spec *spec, const char *name, double none)
{
    int row = pe_params_find(&spec->params, name, strlen(name));
    bool has = row >= 0 && strcmp(spec->params.rows[row].name, name) == 0 &&
               spec->params.value[row].set && pe_params_applies(&spec->params, (size_t)row);
    return has ? spec->params.value[row].number : none;
}

/* What adding kinds do to places besides shift and position_scale: the same in both. */
static bool places_alike(const struct pe_spec *a, const struct pe_spec *b)
{
    static const struct {
        const char *name;
        double none;
    } rows[] = {{"clamp", -1}, {"padding_idx", -1}, {"log_positions", 0}, {"normalize", 0},
                {"scale", -1}, {"eps", -1},         {"offset", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (number(a, rows[i].name, rows[i].none) != number(b, rows[i].name, rows[i].none))
            return false;
    return pe_spec_dim(a) == pe_spec_dim(b);
}

#define PROBES 53 /* powers of two */
#define PART   64 /* channels at a time */

/* Whether a position without a value in one, or with the same in both. */
static bool is_alike_at(const struct pe_spec *a, const struct pe_spec *b, double position,
                        size_t *common)
{
    double one[PART], other[PART];
    size_t dim = pe_spec_dim(a);
    for (size_t first = 0; first < dim; first += PART) {
        size_t n = dim - first < PART ? dim - first : PART;
        if (!pe__added_value(a, position, first, n, one) ||
            !pe__added_value(b, position, first, n, other))
            return true;
        if (memcmp(one, other, n * sizeof *one) != 0)
            return false;
    }
    ++*common;
    return true;
}

/* By what they add to either side of powers of two, where codes change; and to a fraction. */
static bool add_alike(const struct pe_spec *a, const struct pe_spec *b)
{
    double shift = number(a, "shift", 0);
    size_t common = 0;
    bool alike = places_alike(a, b) && is_alike_at(a, b, 0.5, &common);
    for (int i = 0; i < PROBES && alike; i++) {
        double power = ldexp(1, i);
        alike = is_alike_at(a, b, power - 1 - shift, &common) &&
                is_alike_at(a, b, power - shift, &common) && is_alike_at(a, b, power, &common);
    }
    return alike && common > 0;
}

/* The next pair from `pair` on that turns. */
static size_t next_turning(const struct pe_spec *spec, size_t pair, size_t pairs, double *speed)
{
    while (pair < pairs && (*speed = pe__speed_of(spec, pair)) == 0)
        pair++;
    return pair;
}

static bool same_pair(const struct pe_spec *a, size_t i, const struct pe_spec *b, size_t k)
{
    if (pe_spec_pair_axis(a, i) != pe_spec_pair_axis(b, k))
        return false;
    for (size_t after = 0; after < 2; after++) {
        size_t first[2], second[2];
        pe_spec_pair_members(a, i, after, &first[0], &second[0]);
        pe_spec_pair_members(b, k, after, &first[1], &second[1]);
        if (first[0] != first[1] || second[0] != second[1])
            return false;
    }
    return true;
}

bool pe_spec_same_numbers(const struct pe_spec *a, const struct pe_spec *b)
{
    const double same = 1e-11;
    size_t a_n = pe_spec_pairs(a), b_n = pe_spec_pairs(b), i = 0, k = 0;
    if (a_n == 0 || b_n == 0)
        return pe__same_parameters(a, b) ||
               (a->kind == b->kind && a->kind->acts == PE_ADDS && add_alike(a, b));
    if (a->kind->acts == PE_ADDS && !places_alike(a, b))
        return false;
    double gain = pe_spec_attention(a), origin = pe__origin_of(a), speed = 0, other = 0;
    if (a->kind->acts != b->kind->acts || fabs(origin - pe__origin_of(b)) > same * fabs(origin) ||
        fabs(gain - pe_spec_attention(b)) > same || (gain != 1 && a_n != b_n))
        return false;
    for (;; i++, k++) {
        i = next_turning(a, i, a_n, &speed);
        k = next_turning(b, k, b_n, &other);
        if (i == a_n || k == b_n)
            return i == a_n && k == b_n;
        if (fabs(speed - other) > same * fabs(speed) || !same_pair(a, i, b, k))
            return false;
    }
}
