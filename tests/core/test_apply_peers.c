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
 * angle (ggml's is a product of many), or those of cos, sin, both products and the sum. */
static double tolerance(const struct peer *peer, double position, double size)
{
    bool is_ggml = strncmp(peer->name, "ggml", 4) == 0;
    if (peer->dtype == PE_F32)
        return ((is_ggml ? 3e-7 : 1e-7) * fabs(position) + (is_ggml ? 1e-6 : 2e-7)) * size;
    return (peer->dtype == PE_F16 ? 1e-3 : 8e-3) * size;
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
            cr_expect_leq(fabs(got - peer->wanted[row + channels[i]]),
                          tolerance(peer, position, size), "%s, position %g, channel %zu: %g",
                          peer->name, position, channels[i], got);
        }
    }
}

/* Reads the shortest decimals back into the numbers they mean, applies, and gives the rows. */
static size_t apply_case(struct peer *peer, const char *preset, bool inverse, double *cells)
{
    struct pe_stages stages;
    struct pe_faults faults = {0};
    cr_assert(pe_stages_parse(preset, strlen(preset), peer->dtype, "", &stages, NULL, &faults));
    for (size_t i = 0; i < peer->count; i++) {
        pe_store(peer->dtype, cells, i, peer->wanted[i]);
        peer->wanted[i] = pe_load(peer->dtype, cells, i);
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
    apply_staged(spec, &stages, &positions, 1, inverse, &view, &view);
    return view.token_stride;
}

static void expect_case(struct peer *peer, const char *preset, bool inverse)
{
    double cells[COUNT_MAX];
    size_t token_stride = apply_case(peer, preset, inverse, cells);
    for (size_t i = 0; i < peer->count; i += peer->dim)
        expect_row(peer, peer->positions[i / token_stride % peer->tokens], cells, i);
}

static void expect_same_bits(struct peer *peer, const char *preset)
{
    double cells[COUNT_MAX];
    apply_case(peer, preset, false, cells);
    for (size_t i = 0; i < peer->count; i++)
        cr_expect_eq(pe_load(peer->dtype, cells, i), peer->wanted[i], "%s, element %zu: %g, not %g",
                     peer->name, i, pe_load(peer->dtype, cells, i), peer->wanted[i]);
}

Test(apply_peers, transformers)
{
    static struct peer peer;
    json_t *golden = golden_load("selections/rope_apply.json");
    const json_t *cases = json_object_get(golden, "cases");
    cr_assert_geq(json_array_size(cases), 20);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        peer_read(json_array_get(cases, i), &peer);
        expect_case(&peer, "exact", false);
        expect_case(&peer, "f32", false);
    }
    json_decref(golden);
}

/* What Llama's code gives in bfloat16 and float16: every operation rounded, bit for bit. */
Test(apply_peers, transformers_in_half_precision)
{
    static struct peer peer;
    json_t *golden = golden_load("selections/rope_apply.json");
    const json_t *cases = json_object_get(golden, "cases");
    size_t met = 0;
    for (size_t i = 0; i < json_array_size(cases); i++) {
        peer_read(json_array_get(cases, i), &peer);
        if (peer.dtype == PE_F32)
            continue;
        expect_same_bits(&peer, "transformers");
        met++;
    }
    cr_expect_eq(met, 4);
    json_decref(golden);
}

/* Each under the stages that its code rounds at. ggml multiplies its angles up in float32, which
 * nothing here imitates: hence its tolerance, which grows with the position. */
Test(apply_peers, pipelines)
{
    static struct peer peer;
    json_t *golden = golden_load("selections/peer_stages.json");
    const json_t *cases = json_object_get(golden, "cases");
    cr_assert_geq(json_array_size(cases), 15);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        const char *stages = json_string_value(json_object_get(item, "stages"));
        peer_read(item, &peer);
        if (json_is_true(json_object_get(item, "bit_for_bit")))
            expect_same_bits(&peer, stages);
        else
            expect_case(&peer, stages, json_is_true(json_object_get(item, "inverse")));
    }
    json_decref(golden);
}
