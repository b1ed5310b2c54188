// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify_known.c: what is known of an encoding is held, what is not searched keeps its
 * default, and what is wrong with either is said where it stands.
 */
#include <stdio.h>
#include <string.h>

#include "call.h"

#define PATH "/v1/identify"
#define X                                                                                          \
    "[[1,2,3,4,5,6,7,8],[0.5,-1,2,7,1,3,-4,2],[3,1,4,1,5,9,2,6],[2,7,1,8,2,8,1,8],[1,4,1,4,2,1,3," \
    "5]]"

/* The answer for what this spec makes of X, with some members besides. */
static json_t *identify(const char *spec, const char *members)
{
    char body[4096];
    snprintf(body, sizeof body, "{\"spec\":\"%s\",\"x\":{\"dtype\":\"f32\",\"data\":" X "}}", spec);
    json_t *applied = call_ask("/v1/apply", body, 200);
    char *y = json_dumps(json_object_get(json_object_get(applied, "tensors"), "y"),
                         JSON_REAL_PRECISION(9));
    cr_assert_not_null(y);
    snprintf(body, sizeof body, "{\"x\":{\"dtype\":\"f32\",\"data\":" X "},\"y\":%s%s}", y,
             members);
    free(y);
    json_decref(applied);
    return call_ask(PATH, body, 200);
}

static void expect(const char *spec, const char *members, const char *compact)
{
    json_t *answer = identify(spec, members);
    const char *confidence = call_text(answer, "confidence");
    if (compact) {
        cr_expect_str_eq(confidence, "unique", "%s%s", spec, members);
        cr_expect_str_eq(call_text(json_object_get(answer, "best"), "compact"), compact, "%s",
                         members);
    } else {
        cr_expect_str_eq(confidence, "none", "%s%s", spec, members);
    }
    json_decref(answer);
}

#define SPEC "rope:dim=8,base=500000,layout=half,shift=1"

Test(identify_known, is_held)
{
    expect(SPEC, "", SPEC);
    expect(SPEC, ",\"known\":{\"kind\":\"rope\",\"base\":500000}", SPEC);
    expect(SPEC, ",\"known\":{\"theta\":500000,\"layout\":\"half\",\"dim\":8}", SPEC);
    expect(SPEC, ",\"known\":\"rope:base=500000,shift=1\"", SPEC);
    expect(SPEC, ",\"known\":{\"kind\":\"xpos\"}", NULL);
    expect(SPEC, ",\"known\":{\"base\":10000}", NULL);
    expect(SPEC, ",\"known\":\"rope:layout=interleaved\"", NULL);
    expect("xpos:dim=8,layout=half", ",\"known\":{\"kind\":\"xpos\"}", "xpos:dim=8,layout=half");
    expect("sinusoidal:dim=8", ",\"known\":{\"kind\":\"sinusoidal\"}", "sinusoidal:dim=8");
}

Test(identify_known, keeps_what_is_not_searched)
{
    expect(SPEC, ",\"search\":\"base,layout,shift\"", SPEC);
    expect(SPEC, ",\"search\":[\"base\",\"layout\",\"shift\"]", SPEC);
    expect(SPEC, ",\"search\":[\"theta\",\"layout\"],\"known\":{\"shift\":1}", SPEC);
    expect(SPEC, ",\"search\":\"base,layout\"", NULL);
    expect(SPEC, ",\"search\":\"shift,layout\"", NULL);
}

static void expect_refused(const struct call_refusal *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        call_refused(&rows[i]);
}

#define ASK(members) PATH, "{\"x\":[[1,2,3,4]],\"y\":[[1,2,3,4]]," members "}"

Test(identify_known, refuses_what_is_no_part_of_a_spec)
{
    static const struct call_refusal rows[] = {
        {ASK("\"known\":5"), 400, "/known", "part of a spec"},
        {ASK("\"known\":[1]"), 400, "/known", "for example"},
        {ASK("\"known\":\"rop\""), 400, "/known", "did you mean \"rope\"?"},
        {ASK("\"known\":\"rope:bas=1\""), 400, "/known", "did you mean \"base\"?"},
        {ASK("\"known\":\"rope:dim=3\""), 400, "/known", "even"},
        {ASK("\"known\":{\"kind\":\"rop\"}"), 400, "/known/kind", "did you mean \"rope\"?"},
        {ASK("\"known\":{\"kind\":5}"), 400, "/known/kind", "the name of a kind"},
        {ASK("\"known\":{\"bas\":1}"), 400, "/known/bas", "did you mean \"base\"?"},
        {ASK("\"known\":{\"zzzzzz\":1}"), 400, "/known/zzzzzz", "/v1/encodings"},
        {ASK("\"known\":{\"a/b\":1}"), 400, "/known/a~1b", "not a parameter of any encoding"},
        {ASK("\"known\":{\"kind\":\"alibi\",\"base\":1}"), 400, "/known/base", "kind=alibi"},
        {ASK("\"known\":{\"kind\":\"rope\",\"layuot\":1}"), 400, "/known/layuot", "\"layout\"?"},
        {ASK("\"known\":{\"base\":-1}"), 400, "/known/base", "greater than 1, got -1"},
        {ASK("\"known\":{\"base\":\"x\"}"), 400, "/known/base", "a number, got \"x\""},
        {ASK("\"known\":{\"layout\":\"hlaf\"}"), 400, "/known/layout", "did you mean \"half\"?"},
        {ASK("\"known\":{\"base\":null}"), 400, "/known/base", "a number, a word"},
        {ASK("\"known\":{\"base\":{}}"), 400, "/known/base", "a number, a word"},
        {ASK("\"known\":{\"sections\":[1,\"a\"]}"), 400, "/known/sections/1", "flat list"},
        {ASK("\"known\":{\"sections\":[[1],[1]]}"), 400, "/known/sections", "flat list"},
        {ASK("\"known\":{\"sections\":[[1],[1,2]]}"), 400, "/known/sections/1", "flat list"},
        {ASK("\"known\":{\"dim\":8}"), 422, "/known", "4 channels, known says dim=8"},
        {ASK("\"known\":\"rope:dim=8\""), 422, "/known", "4 channels, known says dim=8"},
    };
    expect_refused(rows, sizeof rows / sizeof *rows);
}

Test(identify_known, refuses_to_search_for_what_is_no_parameter)
{
    static const struct call_refusal rows[] = {
        {ASK("\"search\":5"), 400, "/search", "list of names"},
        {ASK("\"search\":[]"), 400, "/search", "for example"},
        {ASK("\"search\":\"\""), 400, "/search", "for example"},
        {ASK("\"search\":[1]"), 400, "/search", "list of names"},
        {ASK("\"search\":\"base,shif\""), 400, "/search", "did you mean \"shift\"?"},
        {ASK("\"search\":[\"bas\"]"), 400, "/search", "did you mean \"base\"?"},
        {ASK("\"search\":\"base,,shift\""), 400, "/search", "not a parameter"},
        {ASK("\"search\":\"kind\""), 400, "/search", "not a parameter"},
        {ASK("\"known\":{\"kind\":\"rope\"},\"search\":\"slopes\""), 400, "/search", "kind=rope"},
    };
    expect_refused(rows, sizeof rows / sizeof *rows);
}

/* More names than are read, each of which is right. */
Test(identify_known, has_limits)
{
    char body[1024];
    size_t len = (size_t)snprintf(body, sizeof body, "{\"x\":[[1,2]],\"y\":[[1,2]],\"search\":\"");
    for (size_t i = 0; i < 25; i++)
        len += (size_t)snprintf(body + len, sizeof body - len, "%sbase", i ? "," : "");
    snprintf(body + len, sizeof body - len, "\"}");
    call_refused(&(struct call_refusal){PATH, body, 422, "/search", "at most 24"});

    static const char *const names[] = {"base",          "layout",     "rotary_dim",
                                        "direction",     "shift",      "scaling",
                                        "factor",        "theta",      "attention_factor",
                                        "kept_pairs",    "sections",   "section_axes",
                                        "axes_split",    "dim",        "spectrum",
                                        "temperature",   "angle_unit", "slopes",
                                        "heads",         "buckets",    "output_order",
                                        "rotary_offset", "scale_base", "position_scale",
                                        "length",        "rope_theta"};
    len = (size_t)snprintf(body, sizeof body, "{\"x\":[[1,2]],\"y\":[[1,2]],\"known\":{");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        len +=
            (size_t)snprintf(body + len, sizeof body - len, "%s\"%s\":2", i ? "," : "", names[i]);
    snprintf(body + len, sizeof body - len, "}}");
    json_t *problem = call_ask(PATH, body, 400);
    json_t *errors = json_object_get(problem, "errors"), *error;
    size_t i;
    bool said = false;
    json_array_foreach(errors, i, error) said =
        said || strstr(call_text(error, "detail"), "at most 24 parameters can be known");
    cr_expect(said);
    json_decref(problem);
}
