// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_peers.c: rotation against the outputs of other projects' code, within what their
 * arithmetic may be off by. Against the definition it is tested in test_apply_rotate.c.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/apply_to.h"
#include "golden/golden.h"

#define COUNT_MAX  1024
#define TOKENS_MAX 16

/* One case of the file. */
struct peer {
    const char *name, *axes, *layout;
    enum pe_dtype dtype;
    size_t dim, rotary, shape[4];
    double base;
    size_t count, tokens;
    double x[COUNT_MAX], wanted[COUNT_MAX], positions[TOKENS_MAX];
};

static void peer_read(const json_t *item, struct peer *peer)
{
    const char *dtype = json_string_value(json_object_get(item, "dtype"));
    peer->name = json_string_value(json_object_get(item, "name"));
    peer->axes = json_string_value(json_object_get(item, "axes"));
    peer->layout = json_string_value(json_object_get(item, "layout"));
    cr_assert(pe_dtype_parse(dtype, strlen(dtype), &peer->dtype));
    peer->dim = (size_t)json_integer_value(json_object_get(item, "dim"));
    peer->rotary = (size_t)json_integer_value(json_object_get(item, "rotary_dim"));
    peer->base = golden_number(json_object_get(item, "base"));
    for (size_t i = 0; i < 4; i++)
        peer->shape[i] =
            (size_t)json_integer_value(json_array_get(json_object_get(item, "shape"), i));
    peer->count = golden_list(json_object_get(item, "q"), peer->x, COUNT_MAX);
    cr_assert_eq(golden_list(json_object_get(item, "q_out"), peer->wanted, COUNT_MAX), peer->count);
    peer->tokens = golden_list(json_object_get(item, "positions"), peer->positions, TOKENS_MAX);
}

/* What float32 (or shorter) arithmetic may be off by, for a pair of this size: the rounding of the
 * angle, or those of cos, sin, both products and the sum. */
static double tolerance(enum pe_dtype dtype, double position, double size)
{
    if (dtype == PE_F32)
        return (1e-7 * fabs(position) + 2e-7) * size;
    return (dtype == PE_F16 ? 1e-3 : 8e-3) * size;
}

static void expect_row(const struct peer *peer, double position, const void *y, size_t row)
{
    for (size_t channel = peer->rotary; channel < peer->dim; channel++)
        cr_expect_eq(pe_load(peer->dtype, y, row + channel), peer->x[row + channel], "%s",
                     peer->name);
    bool half = strcmp(peer->layout, "half") == 0;
    for (size_t pair = 0; pair < peer->rotary / 2; pair++) {
        size_t channels[2] = {half ? pair : 2 * pair,
                              half ? pair + peer->rotary / 2 : 2 * pair + 1};
        double size = hypot(peer->x[row + channels[0]], peer->x[row + channels[1]]);
        for (size_t i = 0; i < 2; i++) {
            double got = pe_load(peer->dtype, y, row + channels[i]);
            cr_expect_leq(
                fabs(got - peer->wanted[row + channels[i]]), tolerance(peer->dtype, position, size),
                "%s, position %g, channel %zu: %g", peer->name, position, channels[i], got);
        }
    }
}

static void expect_case(struct peer *peer)
{
    double cells[COUNT_MAX];
    for (size_t i = 0; i < peer->count; i++) { /* shortest decimals become the numbers they mean */
        pe_store(peer->dtype, cells, i, peer->x[i]);
        peer->x[i] = pe_load(peer->dtype, cells, i);
    }
    struct pe_view view;
    cr_assert(pe_view_init(&view, peer->dtype, cells, peer->axes, peer->shape, 4, 1));
    cr_assert_eq(view.tokens, peer->tokens, "%s", peer->name);
    struct pe_positions positions = positions_of(peer->positions, peer->tokens);
    char spec[128];
    snprintf(spec, sizeof spec, "rope:dim=%zu,rotary_dim=%zu,layout=%s,base=%.17g", peer->dim,
             peer->rotary, peer->layout, peer->base);
    apply_views(spec, &positions, 1, false, &view, &view);
    for (size_t i = 0; i < peer->count; i += peer->dim)
        expect_row(peer, peer->positions[i / view.token_stride % peer->tokens], cells, i);
}

Test(apply_peers, transformers)
{
    static struct peer peer;
    json_t *golden = golden_load("hf_rope_apply.json");
    const json_t *cases = json_object_get(golden, "cases");
    cr_assert_geq(json_array_size(cases), 20);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        peer_read(json_array_get(cases, i), &peer);
        expect_case(&peer);
    }
    json_decref(golden);
}
