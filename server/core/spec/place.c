// SPDX-License-Identifier: Apache-2.0
/* place.c: see place.h. */
#include "place.h"

#include <string.h>

#define PLACE_MAX     0x1p54
#define PRODUCT_LEAST 0x1p-900 /* smaller products lose their low part */

static double value_or(const struct pe_spec *spec, const char *name, double fallback)
{
    int row = pe_params_find(&spec->params, name, strlen(name));
    return row >= 0 && spec->params.value[row].set ? spec->params.value[row].number : fallback;
}

struct pe__placing pe__placing_of(const struct pe_spec *spec)
{
    struct pe__placing placing = {1, 0, INFINITY};
    if (spec->kind->acts == PE_BIASES)
        return placing;
    placing.shift = value_or(spec, "shift", 0);
    placing.scale = value_or(spec, "position_scale", 1);
    placing.clamp = value_or(spec, "clamp", INFINITY);
    return placing;
}

static struct pe__pos clamped(const struct pe__placing *placing, struct pe__dd place)
{
    double clamp = placing->clamp;
    if (place.hi > clamp || (place.hi == clamp && place.lo > 0))
        return (struct pe__pos){clamp, 0};
    if (place.hi < -clamp || (place.hi == -clamp && place.lo < 0))
        return (struct pe__pos){-clamp, 0};
    return (struct pe__pos){place.hi, place.lo};
}

bool pe__place(const struct pe__placing *placing, double position, struct pe__pos *place)
{
    struct pe__dd product = {position, 0};
    bool exact = true;
    if (placing->scale != 1) {
        product = pe__two_prod(position, placing->scale);
        exact = position == 0 || placing->scale == 0 || fabs(product.hi) >= PRODUCT_LEAST;
    }
    struct pe__dd upper = pe__two_sum(product.hi, placing->shift);
    struct pe__dd lower = pe__two_sum(upper.lo, product.lo);
    struct pe__dd sum = pe__two_sum(upper.hi, lower.hi);
    *place = clamped(placing, sum);
    bool inside = place->hi == sum.hi && place->lo == sum.lo;
    return (!inside || (exact && lower.lo == 0)) && !(fabs(place->hi) > PLACE_MAX);
}

struct pe__pos pe__place_sum(const struct pe__placing *placing, struct pe__dd position)
{
    struct pe__pos place;
    if (position.lo == 0) {
        pe__place(placing, position.hi, &place);
        return place;
    }
    if (placing->scale != 1)
        position = pe__dd_mul_d(position, placing->scale);
    return clamped(placing, pe__dd_add(position, (struct pe__dd){placing->shift, 0}));
}

struct pe__pos pe__place_distance(const struct pe__placing *placing, struct pe__dd distance)
{
    if (placing->scale != 1)
        distance = distance.lo == 0 ? pe__two_prod(distance.hi, placing->scale)
                                    : pe__dd_mul_d(distance, placing->scale);
    return (struct pe__pos){distance.hi, distance.lo};
}
