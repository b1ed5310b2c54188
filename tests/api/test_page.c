// SPDX-License-Identifier: Apache-2.0
/* test_page.c: browsers get a page that loads only what is here, in a language they read; curl gets
 * help; the page's links and modules are there, and it is small. */
#include "call.h"

#include "assets.h"

Test(page, accept_decides)
{
    static const struct {
        const char *accept;
        bool html;
    } rows[] = {
        {NULL, false},
        {"*/*", false},
        {"text/plain", false},
        {"text/html", true},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
        {"text/html;q=0.5, text/plain", false},
        {"application/json", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.accept = rows[i].accept;
        call(&request, "GET", "/", NULL);
        cr_expect_eq(request.response.status, 200);
        cr_expect_str_eq(request.response.content_type,
                         rows[i].html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
                         "Accept: %s", rows[i].accept);
        cr_expect_eq(call_field(&request, "Content-Security-Policy") != NULL, rows[i].html);
        call_end(&request);
    }
}

#define POLICY(ancestors)                                                                          \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " ancestors

Test(page, only_embedded_views_may_stand_in_frames)
{
    static const struct {
        const char *target, *policy;
    } rows[] = {
        {"/", POLICY("'none'")},        {"/?view=explore&spec=rope:dim=64", POLICY("'none'")},
        {"/embed/lesson", POLICY("*")}, {"/embed/explore?spec=rope:dim=64&only=table", POLICY("*")},
        {"/embed/check", POLICY("*")},  {"/embed/precision", POLICY("*")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        call_with.accept = "text/html";
        call(&request, "GET", rows[i].target, NULL);
        cr_expect_eq(request.response.status, 200, "%s", rows[i].target);
        cr_expect_str_eq(call_field(&request, "Content-Security-Policy"), rows[i].policy, "%s",
                         rows[i].target);
        cr_expect_str_eq(call_field(&request, "Cache-Control"), "public, max-age=300");
        call_end(&request);
    }
}

Test(page, other_views_are_not_found)
{
    struct request request;
    call(&request, "GET", "/embed/leson", NULL);
    cr_expect_eq(request.response.status, 404);
    cr_expect_str_eq(request.err.item[0].hint, "did you mean /embed/lesson?");
    call_end(&request);
}

Test(page, language_is_asked_for)
{
    static const struct {
        const char *target, *accept_language, *language;
    } rows[] = {
        {"/", NULL, "en"},
        {"/", "", "en"},
        {"/", "*", "en"},
        {"/", "de", "en"},
        {"/", "ru", "ru"},
        {"/", "ja-JP,ja;q=0.9,en-US;q=0.8,en;q=0.7", "ja"},
        {"/", "en-US,en;q=0.9,ru;q=0.8", "en"},
        {"/", "de, ru-RU;q=0.5, en;q=0.4", "ru"},
        {"/", "en;q=0.1, ru;q=0", "en"},
        {"/?lang=ja", "ru", "ja"},
        {"/embed/lesson?lang=ru&step=2", "en", "ru"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        char lang[32], texts[32];
        call_with.accept = "text/html";
        call_with.accept_language = rows[i].accept_language;
        call(&request, "GET", rows[i].target, NULL);
        snprintf(lang, sizeof lang, "<html lang=\"%s\">", rows[i].language);
        snprintf(texts, sizeof texts, "/texts/%s.js\"", rows[i].language);
        cr_expect(strstr(call_body(&request), lang), "%s, %s", rows[i].target,
                  rows[i].accept_language);
        cr_expect(strstr(call_body(&request), texts), "%s", rows[i].target);
        cr_expect_str_eq(call_field(&request, "Content-Language"), rows[i].language);
        cr_expect_str_eq(call_field(&request, "Vary"), "Accept, Accept-Encoding, Accept-Language");
        call_end(&request);
    }
}

/* So that its plots need not wait for other files to ask for it. */
Test(page, the_view_is_fetched_at_once)
{
    static const struct {
        const char *target, *view;
    } rows[] = {
        {"/", "lesson"},
        {"/?view=explore&spec=rope:dim=64", "explore"},
        {"/?lang=ja&view=precision", "precision"},
        {"/?view=other", "lesson"},
        {"/embed/check", "check"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        char view[40];
        call_with.accept = "text/html";
        call(&request, "GET", rows[i].target, NULL);
        snprintf(view, sizeof view, "/views/%s.js\"", rows[i].view);
        cr_expect(strstr(call_body(&request), view), "%s", rows[i].target);
        call_end(&request);
    }
}

Test(page, other_languages_are_refused)
{
    call_with.accept = "text/html";
    json_decref(call_ask("/?lang=de", NULL, 400));
}

Test(page, says_nothing_inline_and_nothing_from_elsewhere)
{
    static const char *const forbidden[] = {
        "<script>", "<style", "style=", "onload=", "onclick=", "http://", "https://", "src=\"//",
    };
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
        cr_expect_null(strstr(asset_index_html, forbidden[i]), "%s", forbidden[i]);
}

/* What the path of an asset's text leads to: of every file that it names. */
static size_t expect_named_files(const char *text, const char *name, const char *before)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, before)); n++) {
        char target[256];
        at += strlen(before);
        int len = (int)strcspn(at, "\"`");
        const char *up =
            strncmp(name, "views/", 6) == 0 && strncmp(before, "\"../", 4) != 0 ? "views/" : "";
        call_setup();
        snprintf(target, sizeof target, "/assets/%s/%s%.*s", call_app->page_digest, up, len, at);
        struct request request;
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 200, "%s names %s", name, target);
        call_end(&request);
    }
    return n;
}

static const struct {
    const char *name, *text;
} files[] = {
#define PAGE_FILE(symbol, name, type) {name, asset_##symbol},
#include "page.def"
#undef PAGE_FILE
};

Test(page, modules_import_what_is_there)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        n += expect_named_files(files[i].text, files[i].name, "\"./");
        n += expect_named_files(files[i].text, files[i].name, "\"../");
    }
    cr_expect_gt(n, 20);
}

Test(page, links_work)
{
    size_t links = 0;
    for (const char *at = asset_index_html; (at = strstr(at, "href=\"/")); links++) {
        char target[256];
        size_t len = 0;
        for (at += strlen("href=\""); *at != '"'; at++) {
            if (strncmp(at, "{{", 2) == 0) {
                call_setup();
                len += (size_t)snprintf(target + len, sizeof target - len, "%s",
                                        strncmp(at, "{{digest}}", 10) == 0 ? call_app->page_digest
                                        : strncmp(at, "{{view}}", 8) == 0  ? "check"
                                                                           : "ja");
                at = strstr(at, "}}") + 1;
                continue;
            }
            target[len++] = *at;
        }
        target[len] = '\0';
        struct request request;
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 200, "%s: %s", target, call_body(&request));
        call_end(&request);
    }
    cr_expect_gt(links, 15);
}

/* What README.md shows of the page and of plots is there, and its URLs have answers. */
Test(page, readme_shows_what_is_there)
{
    static const char folder[] = "deploy/screenshots/",
                      plot[] = "src=\"http://127.0.0.1:8080/v1/plots/";
    char *readme = NULL, target[400];
    size_t size = 0, files_n = 0, plots_n = 0;
    FILE *file = fopen("README.md", "r");
    cr_assert(file && getdelim(&readme, &size, '\0', file) > 0);
    fclose(file);
    for (const char *at = readme; (at = strstr(at, folder)); at += strlen(folder), files_n++) {
        snprintf(target, sizeof target, "%.*s", (int)strcspn(at, ")\""), at);
        FILE *picture = fopen(target, "r");
        cr_expect(picture, "README.md shows %s, which is not there", target);
        if (picture)
            fclose(picture);
    }
    for (const char *at = readme; (at = strstr(at, plot)); at += strlen(plot), plots_n++) {
        const char *path = strstr(at, "/v1/");
        struct request request;
        snprintf(target, sizeof target, "%.*s", (int)strcspn(path, "\""), path);
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 200, "%s", target);
        call_end(&request);
    }
    cr_expect_geq(files_n, 10);
    cr_expect_geq(plots_n, 3);
    free(readme);
}

/* Of everything that any view loads, as it goes over the network, with all languages. */
Test(page, is_small)
{
    static const size_t most = 200000;
    size_t sum = 0;
    call_setup();
    call_with.accept_encoding = "gzip";
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char target[256];
        struct request request;
        snprintf(target, sizeof target, "/assets/%s/%s", call_app->page_digest, files[i].name);
        call(&request, "GET", target, NULL);
        cr_expect_eq(request.response.status, 200, "%s", target);
        sum += call_body_len(&request);
        call_end(&request);
    }
    cr_expect_leq(sum, most, "%zu bytes", sum);
    cr_expect_gt(sum, 30000);
}
