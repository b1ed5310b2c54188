// SPDX-License-Identifier: Apache-2.0
/*
 * test_plots.c: pictures by URL: every one in both formats, keys of their own and of what is behind
 * them, refusals, problems as pictures, and that nothing of a title becomes markup.
 */
#include "call.h"

/* A request for each picture. */
static const struct {
    const char *name, *query;
} plots[] = {
    {"table", "kind=sinusoidal&dim=16"},
    {"waves", "kind=sinusoidal&dim=16"},
    {"frequencies", "kind=rope&dim=16&scaling=linear&factor=4"},
    {"apply", "kind=integer&dim=1"},
    {"rotation", "kind=rope&dim=16"},
    {"angles", "kind=rope&dim=16"},
    {"scores", "spec=sinusoidal:dim=16&spec=rope:dim=16"},
    {"decay", "kind=sinusoidal&dim=16"},
    {"attention", "kind=rope&dim=16&labels=the,dog,chased,another,dog"},
    {"attention-pair", "kind=rope&dim=16&tokens=6"},
    {"similarity", "kind=rope&dim=16"},
    {"grid", "kind=rope2d&dim=16&grid=5x7"},
    {"precision", "kind=rope&dim=16&positions=2^0:2^10"},
    {"bias", "kind=alibi&heads=3"},
    {"properties", "kind=rope&dim=16"},
};

#define PLOTS_N (sizeof plots / sizeof plots[0])

static const char *target_of(size_t plot, const char *suffix, const char *more)
{
    static char target[400];
    snprintf(target, sizeof target, "/v1/plots/%s.%s?%s%s", plots[plot].name, suffix,
             plots[plot].query, more);
    return target;
}

static size_t big_endian(const char *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;
    return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

Test(plots, are_all_in_svg)
{
    for (size_t i = 0; i < PLOTS_N; i++) {
        struct request request;
        call(&request, "GET", target_of(i, "svg", "&width=500&height=400"), NULL);
        const char *body = call_body(&request);
        cr_assert_eq(request.response.status, 200, "%s: %s", plots[i].name, body);
        cr_expect_str_eq(request.response.content_type, "image/svg+xml");
        cr_expect(strstr(body, "width=\"500\" height=\"400\" viewBox=\"0 0 500 400\" role=\"img\""),
                  "%s: %.200s", plots[i].name, body);
        cr_expect(strstr(body, "<title>") && strstr(body, "<desc>") && strstr(body, "</svg>\n"),
                  "%s", plots[i].name);
        const char *policy = call_field(&request, "Content-Security-Policy");
        cr_expect_str_eq(policy ? policy : "",
                         "default-src 'none'; style-src 'unsafe-inline'; sandbox");
        call_end(&request);
    }
}

Test(plots, are_all_in_png)
{
    for (size_t i = 0; i < PLOTS_N; i++) {
        struct request request;
        call(&request, "GET", target_of(i, "png", "&width=500&height=400&density=2"), NULL);
        const char *body = call_body(&request);
        cr_assert_eq(request.response.status, 200, "%s: %s", plots[i].name, body);
        cr_expect_str_eq(request.response.content_type, "image/png");
        cr_expect_eq(memcmp(body, "\x89PNG\r\n\x1a\n", 8), 0, "%s", plots[i].name);
        cr_expect_eq(big_endian(body + 16), 1000, "%s", plots[i].name);
        cr_expect_eq(big_endian(body + 20), 800, "%s", plots[i].name);
        call_end(&request);
    }
}

Test(plots, refuse_what_they_cannot_show)
{
    static const struct {
        const char *target;
        int status;
        const char *detail;
    } rows[] = {
        {"scores.svg?kind=rope&width=0", 400, "width must be at least 240, got 0."},
        {"scores.svg?kind=rope&width=1e9", 400, "width must be at most 4096, got 1000000000."},
        {"scores.svg?kind=rope&height=-1", 400, "height must be at least 160, got -1."},
        {"scores.svg?kind=rope&theme=drak", 400,
         "theme must be one of light, dark, auto; got \"drak\"."},
        {"scores.svg?kind=rope&palette=jet", 400,
         "palette must be one of default, cividis, gray; got \"jet\"."},
        {"scores.svg?kind=rope&font_size=100", 400, "font_size must be at most 32, got 100."},
        {"scores.png?kind=rope&density=4", 400, "density must be at most 3, got 4."},
        {"scores.svg?kind=rope&density=2", 400, "\"density\" has no effect: an SVG has no pixels."},
        {"scores.svg?kind=rope&numbers=hex", 400,
         "\"numbers\" has no effect: a picture rounds as it needs to."},
        {"decay.svg?kind=rope&select=similarity", 400,
         "\"select\" has no effect: this picture shows one tensor of its own."},
        {"scores.svg?kind=rope&anchors=0&select=offsets", 400,
         "the picture shows scores, or with terms=1 one of their terms."},
        {"apply.svg?kind=rope&dim=8&shape=2,4,8,8&axes=bhtd", 400,
         "the picture shows vectors of one list of positions."},
        {"decay.svg?kind=rope2d&positions=0;0&k_positions=0,1;0,1", 400,
         "the distance of positions with several axes is not one number."},
        {"scores.svg?kind=rope&title=a%0Ab", 400,
         "title must be one line without control characters."},
        {"scores.svg?kind=rope&anchors=0:9", 422, "9 anchors would be curves, the limit is 8."},
        {"scores.svg", 400, "kind is missing: which encoding?"},
        {"scores.csv?kind=rope", 406, "csv is not offered here, but svg and png."},
        {"table.svg?kind=rope&dim=512&positions=0:512", 422,
         "the answer would have 262144 elements, the limit is 131072."},
        {"bias.svg?kind=alibi&heads=20&positions=0:4", 422,
         "20 matrices would stand side by side, the limit is 16."},
        {"bias.svg?kind=rope", 400, "kind=rope has no place in /v1/plots/bias."},
        {"waves.svg?kind=alibi", 400, "kind=alibi has no place in /v1/plots/waves."},
        {"properties.svg?kind=rope&width=240&height=160&font_size=32", 400,
         "this picture has no room in 240x160 with font_size=32."},
        {"table.png?kind=rope&title=%E6%97%A5%E6%9C%AC", 400,
         "the font of PNG has no character U+65E5."},
        {"nothing.svg?kind=rope", 404, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char target[200];
        snprintf(target, sizeof target, "/v1/plots/%s", rows[i].target);
        json_t *answer = call_ask(target, NULL, rows[i].status);
        const char *detail = json_string_value(json_object_get(answer, "detail"));
        if (rows[i].detail)
            cr_expect_str_eq(detail, rows[i].detail, "%s: %s", target, detail);
        json_decref(answer);
    }
    json_decref(call_ask("/v1/plots/table.svg?kind=rope", "{}", 405));
}

/* What a browser sends for an <img>. */
#define IMG_ACCEPT "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"

Test(plots, of_problems_are_drawn_for_those_who_want_a_picture)
{
    static const struct {
        const char *target, *type;
        int status;
    } rows[] = {
        {"/v1/plots/scores.svg?kind=rpoe", "image/svg+xml", 400},
        {"/v1/plots/scores.png?kind=rpoe&width=0&theme=drak", "image/svg+xml", 400},
        {"/v1/plots/scroes.svg?kind=rope", "image/svg+xml", 404},
        {"/v1/plots/scores.csv?kind=rope", "image/svg+xml", 406},
        {"/v1/scores.csv?kind=rpoe", "application/problem+json", 400},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.accept = IMG_ACCEPT;
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_eq(request.response.status, rows[i].status, "%s", rows[i].target);
        cr_expect_str_eq(request.response.content_type, rows[i].type, "%s", rows[i].target);
        if (strcmp(rows[i].type, "image/svg+xml") == 0)
            cr_expect(strstr(call_body(&request), err_title(request.err.item[0].code)), "%s",
                      call_body(&request));
        call_end(&request);
    }
    struct request request;
    call_with.accept = IMG_ACCEPT;
    call(&request, "GET", "/v1/plots/scores.svg?kind=rpoe", NULL);
    cr_expect(strstr(call_body(&request), "did you mean &quot;rope&quot;?"), "%s",
              call_body(&request));
    const char *vary = call_field(&request, "Vary");
    cr_expect_str_eq(vary ? vary : "", "Accept, Accept-Encoding");
    call_end(&request);
}

static void shows(const char *target, const char *piece)
{
    struct request request;
    call(&request, "GET", target, NULL);
    cr_assert_eq(request.response.status, 200, "%s: %s", target, call_body(&request));
    cr_expect(strstr(call_body(&request), piece), "%s has no %s", target, piece);
    call_end(&request);
}

Test(plots, have_places_of_several_coordinates)
{
    shows("/v1/plots/table.svg?kind=rope2d&dim=8&grid=2x3", ">1;2</text>");
    shows("/v1/plots/waves.svg?kind=sincos2d&dim=8&grid=2x3", ">token</text>");
    shows("/v1/plots/rotation.svg?kind=rope2d&dim=8&grid=2x3", ">position 0;0</text>");
    shows("/v1/plots/apply.svg?kind=rope2d&dim=8&grid=2x3", ">token</text>");
}

/* Spreads are those of the readouts: 0 for what depends on the distance alone. */
Test(plots, of_scores_are_of_their_terms_too)
{
    shows("/v1/plots/scores.svg?kind=sinusoidal&dim=64",
          ">score: range 30.15, spread 12.32; length");
    shows("/v1/plots/scores.svg?kind=sinusoidal&dim=64&terms=1&select=position",
          ">position: spread 0</text>");
}

Test(plots, of_errors_by_pair_are_cells)
{
    shows("/v1/plots/precision.svg?kind=rope&dim=8&stages=f32;all-bf16&with=pair_error"
          "&select=pair_error&positions=2^0:2^4",
          ">log10 of error</text>");
}

/* The last of two has every other piece, where they are equal the first is seen between. */
Test(plots, of_several_curves_have_them_in_pieces)
{
    shows("/v1/plots/scores.svg?kind=rope&anchors=0,8",
          "stroke-width=\"2.2\" stroke-dasharray=\"6 6\" d=\"M");
    shows("/v1/plots/scores.svg?kind=rope&anchors=0,8,16,24,32",
          "<path class=\"l d s3\" stroke-width=\"3.8\" stroke-dasharray=\"6 18\" d=\"M");
    shows("/v1/plots/precision.svg?kind=rope&stages=exact;f32", ">exact, no error</text>");
}

/* However large or small they are, and with nothing to be seen. */
Test(plots, are_of_any_numbers)
{
    static const char *const vectors[] = {
        "\"q\":[0,0,0,0]",
        "\"q\":[1e-320,0,0,0]",
        "\"q\":[1e300,2,3,4]",
        "\"q\":[1e308,2e307,3,1e308]",
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        struct request request;
        char body[200];
        snprintf(body, sizeof body, "{\"spec\":\"rope:dim=4\",%s,\"k\":[1e307,3,2,1]}", vectors[i]);
        call(&request, "POST", "/v1/plots/scores.svg", body);
        cr_expect_eq(request.response.status, 200, "%s: %s", body, call_body(&request));
        call_end(&request);
    }
}

Test(plots, are_posted_with_vectors_of_ones_own)
{
    struct request request;
    call(&request, "POST", "/v1/plots/scores.svg",
         "{\"spec\":\"rope:dim=4\",\"q\":[1,2,3,4],\"k\":[4,3,2,1],\"title\":\"Ours\",\"width\":"
         "400}");
    cr_assert_eq(request.response.status, 200, "%s", call_body(&request));
    cr_expect(strstr(call_body(&request), "<title>Ours: rope:dim=4</title>"));
    cr_expect(strstr(call_body(&request), "viewBox=\"0 0 400 420\""));
    call_end(&request);
}
