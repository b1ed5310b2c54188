// SPDX-License-Identifier: Apache-2.0
/*
 * test_sections.c: which pairs turn with which axis, and with which frequencies; the numbers are
 * those of rope at the position of that axis, in every bit. The patterns are those of the
 * libraries.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "plan_from.h"
#include "sections.h"

#define N(array)  (sizeof(array) / sizeof *(array))
#define PAIRS_MAX 128
#define TOKENS_N  9

/* A spec that is in order. */
static void spec_from(const char *text, struct pe_spec *spec)
{
    struct pe_faults faults = {0};
    cr_assert(pe_spec_parse(text, spec, &faults) && pe_spec_finish(spec, &faults), "%s: %s", text,
              faults.item[0].detail);
}

/* ---- Axes and channels -------------------------------------------------------------------- */

/* `axes`: the axis of each pair, or the beginning and the end of that. */
Test(sections, deal_out_the_pairs)
{
    static const struct {
        const char *text;
        size_t axes_n;
        const char *axes, *end;
    } rows[] = {
        {"mrope:dim=16,sections=2+3+3", 3, "00111222", ""},
        {"mrope:dim=16,sections=4+0+4", 3, "00002222", ""},
        {"mrope:dim=16,sections=0+0+8,section_axes=5+0+3", 6, "33333333", ""},
        {"mrope:dim=128,sections=24+20+20,axes_split=interleaved", 3, "012012012", "0120000"},
        {"mrope:dim=64,sections=11+11+10,axes_split=interleaved", 3, "012012012", "01201201"},
        {"mrope:dim=16,sections=4+2+2,axes_split=interleaved", 3, "01201200", ""},
        {"mrope:dim=32,sections=5+6+5,axes_split=interleaved", 3, "0120120120120120", ""},
        {"mrope:dim=128,sections=24+20+20+0,axes_split=interleaved_ggml", 4, "012012012",
         "0120330"},
        {"mrope:dim=16,sections=1+1+1+5,axes_split=interleaved_ggml", 4, "01233333", ""},
        {"mrope:dim=128,sections=22+22+20,section_axes=1+2+0,axes_split=alternate_tail", 3,
         "121212", "1200000000000000000000"},
        {"mrope:dim=14,sections=3+2+2,axes_split=alternate_tail", 3, "0101022", ""},
        {"axial:dim=8", 2, "0011", ""},
        {"axial:dim=8,section_axes=1+0", 2, "1100", ""},
        {"axial:dim=12,sections=2+2+2,axes_split=alternate", 3, "012012", ""},
        {"axial:dim=10,axes_split=alternate", 2, "01010", ""},
        {"axial:dim=16,sections=1+1+1+1+1+1+1+1", 8, "01234567", ""},
        {"axial:dim=8,section_axes=0+0", 1, "0000", ""},
        {"axial:dim=20,rotary_dim=8", 2, "0011", ""},
        {"mrope", 3, "00000000000111111111112", "22222"},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct pe_spec spec;
        char axes[PAIRS_MAX + 1] = "";
        spec_from(rows[i].text, &spec);
        size_t pairs = pe_spec_pairs(&spec), end = strlen(rows[i].end);
        for (size_t pair = 0; pair < pairs; pair++)
            axes[pair] = (char)('0' + pe_spec_pair_axis(&spec, pair));
        cr_expect_eq(pe_spec_axes(&spec), rows[i].axes_n, "%s", rows[i].text);
        cr_expect_eq(memcmp(axes, rows[i].axes, strlen(rows[i].axes)), 0, "%s: %s", rows[i].text,
                     axes);
        cr_expect_str_eq(axes + pairs - end, rows[i].end, "%s", rows[i].text);
        cr_expect(end > 0 || pairs == strlen(rows[i].axes), "%s", rows[i].text);
        pe_spec_release(&spec);
    }
}

Test(sections, have_their_channels)
{
    static const struct {
        const char *text;
        size_t first[4], second[4];
    } rows[] = {
        {"axial:dim=8", {0, 2, 4, 6}, {1, 3, 5, 7}},
        {"axial:dim=8,layout=half", {0, 1, 2, 3}, {4, 5, 6, 7}},
        {"axial:dim=8,layout=half_per_axis", {0, 1, 4, 5}, {2, 3, 6, 7}},
        {"axial:dim=8,layout=half_per_axis,sections=3+1", {0, 1, 2, 6}, {3, 4, 5, 7}},
        {"mrope:dim=8,layout=half_per_axis,sections=1+0+3", {0, 2, 3, 4}, {1, 5, 6, 7}},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct pe_spec spec;
        spec_from(rows[i].text, &spec);
        for (size_t pair = 0; pair < 4; pair++) {
            size_t a, b;
            pe_spec_pair_channels(&spec, pair, &a, &b);
            cr_expect(a == rows[i].first[pair] && b == rows[i].second[pair], "%s, pair %zu",
                      rows[i].text, pair);
        }
        pe_spec_release(&spec);
    }
}

/* ---- Numbers ------------------------------------------------------------------------------ */

/* Tokens at easy and hard places, another list per axis. */
static const double lists[][TOKENS_N] = {
    {0, 1, 2, 700, -3, 0.5, 0x1p40, 1e-3, 5},
    {0, 0, 4, 1, 31, -7.25, 3, 0x1p52 + 1, 5},
    {0, 3, 0, 65536, 2, 0.1, 1, 9, 5},
};

static const struct pe_positions places = {
    .axes = 3, .n = TOKENS_N, .at = {lists[0], lists[1], lists[2]}};

/* Pair `pair` has, at every token, the cosine and sine of rope's pair k on its axis. */
static void expect_as_rope(const struct pe_plan *plan, size_t pair, const char *rope, size_t k)
{
    double c[TOKENS_N * PAIRS_MAX], s[TOKENS_N * PAIRS_MAX];
    double rope_c[TOKENS_N * PAIRS_MAX], rope_s[TOKENS_N * PAIRS_MAX];
    const struct pe_spec *spec = pe_plan_spec(plan);
    struct pe_positions at = positions_of(lists[pe_spec_pair_axis(spec, pair)], TOKENS_N);
    struct pe_plan *other = plan_from(rope, &at);
    size_t pairs = pe_spec_pairs(spec), others = pe_spec_pairs(pe_plan_spec(other));
    pe_cos_sin(plan, &places, PE_F64, c, s);
    pe_cos_sin(other, &at, PE_F64, rope_c, rope_s);
    for (size_t token = 0; token < TOKENS_N; token++)
        cr_expect(c[token * pairs + pair] == rope_c[token * others + k] &&
                      s[token * pairs + pair] == rope_s[token * others + k],
                  "pair %zu, token %zu", pair, token);
    pe_plan_free(other);
}

Test(sections, with_one_series_turn_as_rope_at_their_positions)
{
    static const struct {
        const char *text, *rope;
    } rows[] = {
        {"mrope:dim=16,sections=2+3+3", "rope:dim=16"},
        {"mrope:dim=256,base=1e6,sections=43+43+42,axes_split=interleaved",
         "rope:dim=256,base=1e6"},
        {"mrope:dim=40,rotary_dim=16,sections=3+3+2,section_axes=1+2+0,axes_split=alternate_tail,"
         "direction=-1",
         "rope:dim=16,direction=-1"},
        {"mrope:dim=16,sections=2+3+3,shift=0.25,scaling=ntk,factor=4",
         "rope:dim=16,shift=0.25,scaling=ntk,factor=4"},
        {"mrope:dim=16,sections=2+3+3,scaling=yarn,factor=4,original_max=512",
         "rope:dim=16,scaling=yarn,factor=4,original_max=512"},
        {"mrope:dim=8,freq_factors=1+2+3+4", "rope:dim=8,freq_factors=1+2+3+4"},
        {"axial:dim=8,freqs=1+0.3+1+0.2", "rope:dim=8,freqs=1+0.3+1+0.2"},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct pe_plan *plan = plan_from(rows[i].text, &places);
        for (size_t pair = 0; pair < pe_spec_pairs(pe_plan_spec(plan)); pair++)
            expect_as_rope(plan, pair, rows[i].rope, pair);
        pe_plan_free(plan);
    }
}

Test(sections, with_series_of_their_own_turn_as_rope_of_their_width)
{
    static const struct {
        const char *text;
        const char *rope[3]; /* by block */
        size_t block[6], k[6];
    } rows[] = {
        {"axial:dim=12,sections=2+2+2",
         {"rope:dim=4", "rope:dim=4", "rope:dim=4"},
         {0, 0, 1, 1, 2, 2},
         {0, 1, 0, 1, 0, 1}},
        {"axial:dim=12,sections=1+2+3,section_axes=2+0+1",
         {"rope:dim=2", "rope:dim=4", "rope:dim=6"},
         {0, 1, 1, 2, 2, 2},
         {0, 0, 1, 0, 1, 2}},
        {"axial:dim=12,sections=2+2+2,axes_split=alternate",
         {"rope:dim=4", "rope:dim=4", "rope:dim=4"},
         {0, 1, 2, 0, 1, 2},
         {0, 0, 0, 1, 1, 1}},
        {"axial:dim=12,spectrum=strided,layout=half",
         {"rope:dim=12", "rope:dim=12"},
         {0, 0, 0, 1, 1, 1},
         {0, 2, 4, 1, 3, 5}},
        {"axial:dim=12,sections=3+3,scaling=linear,factor=2",
         {"rope:dim=6,scaling=linear,factor=2", "rope:dim=6,scaling=linear,factor=2"},
         {0, 0, 0, 1, 1, 1},
         {0, 1, 2, 0, 1, 2}},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct pe_plan *plan = plan_from(rows[i].text, &places);
        for (size_t pair = 0; pair < 6; pair++)
            expect_as_rope(plan, pair, rows[i].rope[rows[i].block[pair]], rows[i].k[pair]);
        pe_plan_free(plan);
    }
}

/* A rotation takes each pair's channels, wherever these lie. */
Test(sections, rotate_the_channels_of_a_block)
{
    struct pe_plan *plan = plan_from("axial:dim=10,rotary_dim=8,layout=half_per_axis", &places);
    double x[10 * TOKENS_N], y[10 * TOKENS_N], c[4 * TOKENS_N], s[4 * TOKENS_N];
    static const size_t a[] = {0, 1, 4, 5}, b[] = {2, 3, 6, 7};
    for (size_t i = 0; i < N(x); i++)
        x[i] = (double)(i % 10) + 1;
    struct pe_view in, out;
    cr_assert(pe_view_init(&in, PE_F64, x, "td", (size_t[]){TOKENS_N, 10}, 2, 1));
    cr_assert(pe_view_init(&out, PE_F64, y, "td", (size_t[]){TOKENS_N, 10}, 2, 1));
    struct pe_apply job = {
        .plan = plan, .positions = &places, .positions_n = 1, .in = &in, .out = &out};
    job.work = aligned_alloc(64, (pe_apply_work_bytes(plan) + 63) / 64 * 64);
    pe_apply(&job);
    pe_cos_sin(plan, &places, PE_F64, c, s);
    for (size_t token = 0; token < TOKENS_N; token++) {
        const double *from = x + 10 * token, *to = y + 10 * token;
        for (size_t pair = 0; pair < 4; pair++) {
            double cosine = c[4 * token + pair], sine = s[4 * token + pair];
            cr_expect_float_eq(to[a[pair]], from[a[pair]] * cosine - from[b[pair]] * sine, 1e-14);
            cr_expect_float_eq(to[b[pair]], from[a[pair]] * sine + from[b[pair]] * cosine, 1e-14);
        }
        cr_expect(to[8] == from[8] && to[9] == from[9]);
    }
    free(job.work);
    pe_plan_free(plan);
}

/* ---- Rules -------------------------------------------------------------------------------- */

Test(sections, have_to_fit)
{
    static const struct {
        const char *text, *param, *detail;
    } rows[] = {
        {"mrope:dim=16,sections=2+3+4", "sections",
         "the sections must add up to rotary_dim/2 (8), got 9"},
        {"mrope:dim=32,rotary_dim=16,sections=5+6+5", "sections",
         "the sections must add up to rotary_dim/2 (8), got 16"},
        {"mrope:dim=16,sections=2+3.5+2.5", "sections", "sections must be an integer, got 3.5"},
        {"mrope:dim=16,sections=9+-1+0", "sections", "sections must be at least 0, got -1"},
        {"mrope:dim=18,sections=1+1+1+1+1+1+1+1+1", "sections",
         "there may be at most 8 blocks, got 9"},
        {"mrope:dim=16,sections=4+4,section_axes=0+1+2", "section_axes",
         "section_axes must name an axis for each of the 2 sections, got 3"},
        {"mrope:dim=16,section_axes=0+8", "section_axes", "section_axes must be at most 7, got 8"},
        {"mrope:dim=16,sections=4+4,axes_split=interleaved", "sections",
         "axes_split=interleaved needs 3 sections, got 2"},
        {"mrope:dim=16,sections=3+3+2,axes_split=interleaved_ggml", "sections",
         "axes_split=interleaved_ggml needs 4 sections, got 3"},
        {"mrope:dim=16,sections=2+4+2,axes_split=interleaved", "sections",
         "section 1 of interleaved blocks may have at most 3 of 8 pairs, got 4"},
        {"mrope:dim=16,sections=2+2+4,axes_split=interleaved", "sections",
         "section 2 of interleaved blocks may have at most 3 of 8 pairs, got 4"},
        {"axial:dim=16,sections=3+5,axes_split=alternate", "sections",
         "of 8 pairs that alternate between 2 blocks, section 0 gets 4, not 3"},
        {"mrope:dim=16,sections=2+4+2,axes_split=alternate_tail", "sections",
         "of 6 pairs that alternate between 2 blocks, section 0 gets 3, not 2"},
        {"axial:dim=16,sections=3+3+2,axes_split=interleaved", "spectrum",
         "interleaved blocks have no series of their own"},
        {"axial:dim=16,axes_split=alternate,layout=half_per_axis", "layout",
         "layout=half_per_axis needs blocks that lie together"},
        {"axial:dim=16,sections=3+5,spectrum=strided", "spectrum",
         "spectrum=strided takes every frequency once only with sections of one size, got 3 and 5"},
        {"axial:dim=16,sections=3+5,scaling=ntk,factor=2", "scaling",
         "scaling=ntk would give blocks of different sizes different bases"},
        {"axial:dim=16,spectrum=global,freqs=1+1+1+1+1+1+1+1", "spectrum",
         "spectrum says nothing where the frequencies are given by freqs"},
    };
    for (size_t i = 0; i < N(rows); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        bool ok = pe_spec_parse(rows[i].text, &spec, &faults);
        if (ok) {
            ok = pe_spec_finish(&spec, &faults);
            pe_spec_release(&spec);
        }
        cr_expect(!ok && faults.n == 1, "%s: %zu", rows[i].text, faults.n);
        cr_expect_str_eq(faults.item[0].param, rows[i].param, "%s", rows[i].text);
        cr_expect_str_eq(faults.item[0].detail, rows[i].detail, "%s", rows[i].text);
    }
}
