// SPDX-License-Identifier: Apache-2.0
/*
 * Positions in sequences of text, images and videos. Expected values are the rule of M-RoPE's
 * get_rope_index written out by hand.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "posenc.h"

#define N(array)   (sizeof(array) / sizeof *(array))
#define TOKENS_MAX 64

static size_t parse(const char *text, struct pe_segment *out)
{
    struct pe_faults faults = {0};
    size_t n;
    cr_assert(pe_segments_parse(text, "segments", out, 8, &n, &faults), "%s: %s", text,
              faults.item[0].detail);
    return n;
}

static struct pe_segments segments_of(const char *style, const struct pe_segment *at, size_t n)
{
    return (struct pe_segments){
        .style = pe_style_find(style, strlen(style)), .at = at, .n = n, .patch = 1, .merge = 1};
}

/* "0,0,0 1,1,1": the coordinates of each token. */
static void expect(const char *what, const struct pe_segments *segments, const char *wanted,
                   double delta)
{
    static double lists[3][TOKENS_MAX];
    double *const at[] = {lists[0], lists[1], lists[2]};
    struct pe_faults faults = {0};
    size_t tokens;
    char text[1024] = "";
    cr_assert(pe_segments_check(segments, "segments", &tokens, &faults), "%s: %s", what,
              faults.item[0].detail);
    cr_assert_leq(tokens, TOKENS_MAX);
    double got = pe_segments_fill(segments, at);
    for (size_t i = 0; i < tokens; i++)
        for (size_t axis = 0; axis < segments->style->axes && axis < 3; axis++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%g",
                     axis ? ","
                     : i  ? " "
                          : "",
                     lists[axis][i]);
    cr_expect_str_eq(text, wanted, "%s: %s", what, text);
    cr_expect_eq(got, delta, "%s: delta %g", what, got);
}

Test(segments, follow_the_rule_of_m_rope)
{
    struct pe_segment at[8];
    struct pe_segments segments = segments_of("mrope", at, parse("3,2x2,2", at));
    static const char published[] = "0,0,0 1,1,1 2,2,2 3,3,3 3,3,4 3,4,3 3,4,4 5,5,5 6,6,6";
    expect("three tokens, an image, two tokens", &segments, published, -2);
    segments.n = parse("3,4x4,2", at);
    segments.merge = 2;
    expect("merged", &segments, published, -2);
    segments.n = parse("3,56x56,2", at);
    segments.patch = 14;
    expect("in pixels", &segments, published, -2);
    segments.after_side = true;
    expect("behind the side", &segments, published, -2);

    segments = segments_of("mrope", at, parse("1,3x1x2,1", at));
    expect("a video", &segments, "0,0,0 1,1,1 1,1,2 2,1,1 2,1,2 3,1,1 3,1,2 4,4,4", -3);
    segments.after_side = true;
    expect("a video longer than its side", &segments,
           "0,0,0 1,1,1 1,1,2 2,1,1 2,1,2 3,1,1 3,1,2 3,3,3", -4);
    segments.n = parse("3x1x2", at);
    expect("the largest is a frame's", &segments, "0,0,0 0,0,1 1,0,0 1,0,1 2,0,0 2,0,1", -3);

    segments = segments_of("mrope_interleaved", at, parse("1,1x2,1,1x2", at));
    expect("frames apart", &segments, "0,0,0 1,1,1 1,1,2 3,3,3 4,4,4 4,4,5", 0);
}

/* frame * seconds * tokens per second, cut to a whole number */
Test(segments, count_time_in_tokens)
{
    struct pe_segment at[8];
    struct pe_segments segments = segments_of("mrope", at, parse("3x1x1@0.7,1", at));
    segments.tokens_per_second = 2;
    expect("0, 1.4, 2.8", &segments, "0,0,0 1,0,0 2,0,0 3,3,3", 0);
    segments.n = parse("3x1x1,1", at);
    expect("a second", &segments, "0,0,0 2,0,0 4,0,0 5,5,5", 2);
    segments.tokens_per_second = 10;
    segments.n = parse("4x1x1@0.3", at); /* the double is a little less than 0.3 */
    expect("2.99..., 5.99..., 8.99...", &segments, "0,0,0 2,0,0 5,0,0 8,0,0", 5);
    segments.n = parse("2x1x1@0.1", at); /* this one a little more than 0.1 */
    expect("1.00...", &segments, "0,0,0 1,0,0", 0);
}

Test(segments, number_patches)
{
    struct pe_segment at[8];
    struct pe_segments segments = segments_of("vision", at, parse("2x2x4,2x2", at));
    segments.merge = 2;
    expect("blocks, for each frame again", &segments,
           "0,0 0,1 1,0 1,1 0,2 0,3 1,2 1,3 0,0 0,1 1,0 1,1 0,2 0,3 1,2 1,3 0,0 0,1 1,0 1,1", -18);
    segments = segments_of("pixtral", at, parse("32x48,16x16", at));
    segments.patch = 16;
    segments.max_width = 64;
    expect("rows of the largest image", &segments, "0 1 2 64 65 66 0", 60);
}

Test(segments, read_and_print)
{
    static const char *const texts[][2] = {
        {"3,4x4,2x4x4@0.5", "3,4x4,2x4x4@0.5"},
        {"1x4x4", "4x4"},
        {"1x2x2@1", "2x2@1"},
    };
    for (size_t i = 0; i < N(texts); i++) {
        struct pe_segment at[8];
        size_t n = parse(texts[i][0], at);
        char text[64];
        cr_expect_eq(pe_segments_print(at, n, text, sizeof text), strlen(texts[i][1]));
        cr_expect_str_eq(text, texts[i][1]);
        cr_expect_eq(pe_segments_print(at, n, text, 4), strlen(texts[i][1]), "too small");
    }
}

Test(segments, refuse_what_is_no_segment)
{
    static const char *const texts[] = {
        "",    "0",       "007", "3,",   "-3",    "2.5",    "1e2",      "x",       "2x",
        "0x2", "2x2x2x2", "3@1", "2x2@", "2x2@x", "2x2@-1", "2x2@3601", "1048577", "2x2@1@2"};
    for (size_t i = 0; i < N(texts); i++) {
        struct pe_faults faults = {0};
        size_t n;
        cr_expect_not(pe_segments_parse(texts[i], "segments", NULL, 0, &n, &faults), "%s",
                      texts[i]);
        cr_expect_eq(faults.n, 1, "%s", texts[i]);
    }
}

Test(segments, have_limits)
{
    static const struct {
        const char *style, *text, *param;
        size_t patch, merge, tokens_per_second;
        enum pe_status status;
    } cases[] = {
        {"mrope", "3,4x5", "segments", 1, 2, 0, PE_INVALID_VALUE},
        {"mrope", "28x30", "segments", 14, 2, 0, PE_INVALID_VALUE},
        {"vision", "2x3", "segments", 1, 2, 0, PE_INVALID_VALUE},
        {"vision", "3,2x2", "segments", 1, 2, 0, PE_INVALID_VALUE},
        {"mrope_interleaved", "2x2x2", "segments", 1, 1, 0, PE_INVALID_VALUE},
        {"mrope", "2x2x2@0.5", "segments", 1, 1, 0, PE_CONFLICTING_PARAMETERS},
        {"pixtral", "2x65", "max_width", 1, 1, 0, PE_INVALID_VALUE},
        {"mrope", "1048576,1", "segments", 1, 1, 0, PE_LIMIT_EXCEEDED},
        {"mrope", "1048576x1048576x1048576", "segments", 1, 1, 0, PE_LIMIT_EXCEEDED},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_segment at[8];
        struct pe_segments segments = segments_of(cases[i].style, at, parse(cases[i].text, at));
        struct pe_faults faults = {0};
        size_t tokens;
        segments.patch = cases[i].patch;
        segments.merge = cases[i].merge;
        segments.tokens_per_second = cases[i].tokens_per_second;
        segments.max_width = 64;
        cr_expect_not(pe_segments_check(&segments, "segments", &tokens, &faults), "case %zu", i);
        cr_assert_geq(faults.n, 1, "case %zu", i);
        cr_expect_eq(faults.item[0].status, cases[i].status, "case %zu", i);
        cr_expect_str_eq(faults.item[0].param, cases[i].param, "case %zu", i);
    }
}

Test(segments, are_at_most_so_many)
{
    static char text[2 * PE_SEGMENTS_MAX + 2];
    struct pe_faults faults = {0};
    size_t n;
    for (size_t i = 0; i <= PE_SEGMENTS_MAX; i++)
        memcpy(text + 2 * i, "1,", 2);
    text[2 * PE_SEGMENTS_MAX - 1] = '\0';
    cr_expect(pe_segments_parse(text, "segments", NULL, 0, &n, &faults));
    cr_expect_eq(n, PE_SEGMENTS_MAX);
    text[2 * PE_SEGMENTS_MAX - 1] = ',';
    text[2 * PE_SEGMENTS_MAX + 1] = '\0';
    cr_expect_not(pe_segments_parse(text, "segments", NULL, 0, &n, &faults));
    cr_expect_eq(faults.item[0].status, PE_LIMIT_EXCEEDED);
}
