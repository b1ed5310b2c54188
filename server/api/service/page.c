// SPDX-License-Identifier: Apache-2.0
/*
 * page.c: the page: at / for browsers (short help for curl, by Accept), and its views under /embed,
 * for the pages of others. It runs and loads only what comes from here; its query is its own state,
 * which its scripts read.
 */
#include <string.h>

#include "accept.h"
#include "assets.h"
#include "help.h"
#include "service.h"

/* Everything from here, nothing inline; %s may show the page in a frame. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors %s"

static const char *const languages[] = {"en", "ru", "ja"}; /* the first one is the default */
static const char *const views[] = {"lesson", "explore", "check", "precision"};

#define LANGUAGES_N (sizeof languages / sizeof languages[0])
#define VIEWS_N     (sizeof views / sizeof views[0])

static const struct pe_param keys[] = {
    {"lang", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL, "en ru ja", NULL,
     "Language of the page; without it the one that Accept-Language asks for."},
};

/* NULL when lang= names none. */
static const char *language_of(struct request *request)
{
    const char *accept = request_header(request, "Accept-Language"), *best = languages[0];
    int quality = 0;

    for (size_t i = 0; i < request->args_n; i++) {
        if (strcmp(request->args[i].name, "lang") != 0)
            continue;
        for (size_t language = 0; language < LANGUAGES_N; language++)
            if (strcmp(request->args[i].value, languages[language]) == 0)
                return languages[language];
        err_add(&request->err, ERR_invalid_value, "lang", NULL,
                "lang must be one of en, ru, ja; got \"%.60s\"", request->args[i].value);
        return NULL;
    }
    for (size_t i = 0; accept && i < LANGUAGES_N; i++)
        if (accept_language(accept, languages[i]) > quality) {
            quality = accept_language(accept, languages[i]);
            best = languages[i];
        }
    return best;
}

/* NULL when `name` is none. */
static const char *view_named(const char *name)
{
    for (size_t i = 0; i < VIEWS_N; i++)
        if (strcmp(name, views[i]) == 0)
            return views[i];
    return NULL;
}

/* Which the scripts will show at /: that of view=, else the first. */
static const char *view_asked(const struct request *request)
{
    const char *view = NULL;

    for (size_t i = 0; i < request->args_n && !view; i++)
        if (strcmp(request->args[i].name, "view") == 0)
            view = view_named(request->args[i].value);
    return view ? view : views[0];
}

/* Appends the template, with values in place of {{names}}. */
static void append_template(struct buf *out, const char *digest, const char *language,
                            const char *view)
{
    const struct {
        const char *name, *value;
    } holes[] = {{"{{digest}}", digest}, {"{{language}}", language}, {"{{view}}", view}};
    const char *at = asset_index_html;

    for (const char *hole; (hole = strstr(at, "{{")); at = strstr(hole, "}}") + 2) {
        buf_append(out, at, (size_t)(hole - at));
        for (size_t i = 0; i < sizeof holes / sizeof holes[0]; i++)
            if (strncmp(hole, holes[i].name, strlen(holes[i].name)) == 0)
                buf_puts(out, holes[i].value);
    }
    buf_puts(out, at);
}

static enum step answer_page(struct request *request, const char *view, const char *ancestors)
{
    const struct app *app = request->app;
    const char *language = language_of(request);
    const char *policy = arena_printf(&request->arena, POLICY, ancestors);

    if (!language)
        return STEP_FAILED;
    response_header(request, "Content-Security-Policy", policy ? policy : "default-src 'none'");
    response_header(request, "Content-Language", language);
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    append_template(&request->response.body, app->page_digest, language, view);
    return api_done(request, "text/html; charset=utf-8");
}

enum step root_quick(struct request *request)
{
    const char *accept = request_header(request, "Accept");

    if (accept_quality(accept, "text/html") > accept_quality(accept, "text/plain"))
        return answer_page(request, view_asked(request), "'none'");
    if (!service_query(request))
        return STEP_FAILED;
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    help_write_short(&request->response.body);
    return api_done(request, format_media_type(FORMAT_TXT));
}

enum step embed_quick(struct request *request)
{
    const char *view = view_named(request->path_arg);
    char hint[80] = "";

    if (view)
        return answer_page(request, view, "*");
    const char *near = pe_nearest_name(request->path_arg, views, VIEWS_N);
    if (near)
        snprintf(hint, sizeof hint, "did you mean /embed/%s?", near);
    err_add(&request->err, ERR_not_found, NULL, hint, "the page has no view \"%.60s\"",
            request->path_arg);
    return STEP_FAILED;
}

static const char *const media_types[] = {"text/html", NULL};

const struct endpoint root_endpoint = {
    .summary = "A page for browsers, or what to try first with curl.",
    .describes = "",
    .keys = keys,
    .keys_n = sizeof keys / sizeof keys[0],
    .cache = CACHE_PAGE,
    .page = true,
    .languages = true,
};

const struct endpoint embed_endpoint = {
    .summary = "One view of that page, for a frame in another page.",
    .describes = "",
    .keys = keys,
    .keys_n = sizeof keys / sizeof keys[0],
    .cache = CACHE_PAGE,
    .media_types = media_types,
    .languages = true,
};
