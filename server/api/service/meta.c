// SPDX-License-Identifier: Apache-2.0
/*
 * meta.c: what the service says about itself: /v1 (what there is), /v1/version, /v1/limits. All of
 * it is read from the tables that the rest of the service works by.
 */
#include "doc.h"
#include "guard.h"
#include "job.h"
#include "pace.h"
#include "service.h"

/* The commit this was built from; the Makefile knows it where there is a repository. */
#ifndef POSENCD_REVISION
#define POSENCD_REVISION "unknown"
#endif

#define FORMATS_TREE (1U << FORMAT_JSON | 1U << FORMAT_TXT)

/* ---- /v1 ----------------------------------------------------------------------------------- */

static void add_versions(struct tree *parent)
{
    tree_string(parent, "service", API_SERVICE_VERSION);
    tree_string(parent, "api", "1");
    tree_string(parent, "semantics", API_SEMANTICS_VERSION);
}

static void add_kinds(struct tree *parent)
{
    struct tree *kinds = tree_array(parent, "kinds");

    for (size_t i = 0; i < pe_kinds_n(); i++)
        tree_string(kinds, NULL, pe_kind_at(i)->name);
}

static void add_formats(struct tree *parent)
{
    struct tree *formats = tree_array(parent, "formats");

    for (enum format format = 0; format < FORMATS_N; format++) {
        struct tree *row = tree_object(formats, NULL);
        tree_string(row, "suffix", format_suffix(format));
        tree_string(row, "media_type", format_media_type(format));
    }
}

static void add_endpoints(struct tree *parent)
{
    struct tree *endpoints = tree_array(parent, "endpoints");

    for (size_t i = 0; i < api_routes_n; i++) {
        const struct route *route = &api_routes[i];
        const struct endpoint *endpoint = route->endpoint;
        struct tree *row = tree_object(endpoints, NULL);
        struct tree *methods = tree_array(row, "methods");
        if (route->methods & METHOD_GET)
            tree_string(methods, NULL, "GET");
        if (route->methods & METHOD_POST)
            tree_string(methods, NULL, "POST");
        tree_string(row, "path", route->path);
        tree_string(row, "summary", endpoint->summary);
    }
}

static void add_links(struct tree *parent)
{
    struct tree *links = tree_object(parent, "links");

    tree_string(links, "help", "/help");
    tree_string(links, "openapi", "/openapi.json");
    tree_string(links, "encodings", "/v1/encodings");
    tree_string(links, "limits", "/v1/limits");
    tree_string(links, "fixtures", "/v1/fixtures");
    tree_string(links, "changes", "/v1/changes");
    tree_string(links, "problems", "/problems");
    tree_string(links, "version", "/v1/version");
}

enum step v1_quick(struct request *request)
{
    enum format format;
    if (!service_begin(request, &format))
        return STEP_FAILED;

    struct tree *root = tree_new(&request->arena, TREE_OBJECT);
    tree_string(root, "semantics", API_SEMANTICS);
    tree_string(root, "name", "posencd");
    tree_string(root, "title", "Positional encodings of transformers, every digit right");
    add_versions(tree_object(root, "versions"));
    add_kinds(root);
    add_formats(root);
    add_endpoints(root);
    add_links(root);
    return service_answer(request, root, format);
}

const struct endpoint v1_endpoint = {
    .summary = "What this service has: versions, kinds, formats, endpoints.",
    .describes = "",
    .schema = "Capabilities",
    .cache = CACHE_PAGE,
    .formats = FORMATS_TREE,
};

/* ---- /v1/version --------------------------------------------------------------------------- */

enum step version_quick(struct request *request)
{
    enum format format;
    if (!service_begin(request, &format))
        return STEP_FAILED;

    struct tree *root = tree_new(&request->arena, TREE_OBJECT);
    add_versions(root);
    tree_string(root, "revision", POSENCD_REVISION);
    return service_answer(request, root, format);
}

const struct endpoint version_endpoint = {
    .summary = "Versions of the service, the API and the semantics.",
    .describes = "",
    .schema = "Version",
    .cache = CACHE_PAGE,
    .formats = FORMATS_TREE,
};

/* ---- /v1/limits ---------------------------------------------------------------------------- */

/* One limit: its unit, the option that sets it (NULL: fixed), the problem that exceeding it is
 * (NULL: the connection is closed, or the value is refused as it stands). */
static void add_limit(struct tree *limits, const char *name, double value, const char *unit,
                      const char *option, const char *problem)
{
    struct tree *row = tree_object(limits, name);

    tree_number(row, "value", value);
    tree_string(row, "unit", unit);
    if (option)
        tree_string(row, "option", option);
    if (problem)
        tree_string(row, "problem", problem);
}

static void add_service_limits(struct tree *limits, const struct app_options *options)
{
    add_limit(limits, "url", TARGET_BYTES_MAX, "bytes", NULL, err_slug(ERR_uri_too_long));
    add_limit(limits, "headers", HEAD_BYTES_MAX, "bytes", NULL, err_slug(ERR_headers_too_large));
    add_limit(limits, "query_parameters", REQUEST_ARGS_MAX, "parameters", NULL,
              err_slug(ERR_bad_request));
    add_limit(limits, "body", (double)options->body_max, "bytes", "--max-body",
              err_slug(ERR_body_too_large));
    add_limit(limits, "elements", (double)options->elements_max, "elements", "--max-elements",
              err_slug(ERR_limit_exceeded));
    add_limit(limits, "text_elements", (double)options->text_elements_max, "elements",
              "--max-text-elements", err_slug(ERR_limit_exceeded));
    add_limit(limits, "deadline", options->deadline_ms, "ms", "--deadline", err_slug(ERR_deadline));
    add_limit(limits, "workers", options->workers, "threads", "--workers", NULL);
    add_limit(limits, "queue", options->queue, "jobs", "--queue", err_slug(ERR_overloaded));
    add_limit(limits, "memory", (double)options->memory_max, "bytes", "--max-memory",
              err_slug(ERR_overloaded));
    add_limit(limits, "cache", (double)options->cache_max, "bytes", "--cache-size", NULL);
    add_limit(limits, "connections", options->connections_max, "connections", "--max-connections",
              err_slug(ERR_overloaded));
    if (options->peer_connections_max)
        add_limit(limits, "peer_connections", options->peer_connections_max, "connections",
                  "--max-peer-connections", err_slug(ERR_rate_limited));
    add_limit(limits, "connection_requests", CONNECTION_REQUESTS_MAX, "requests", NULL, NULL);
    add_limit(limits, "idle_time", IDLE_MS_MAX, "ms", NULL, NULL);
    add_limit(limits, "head_time", HEAD_MS_MAX, "ms", NULL, NULL);
    add_limit(limits, "rate", RATE_MIN, "bytes/s", NULL, NULL);
}

static void add_json_limits(struct tree *limits)
{
    add_limit(limits, "json_depth", JSON_DEPTH_MAX, "levels", NULL, err_slug(ERR_malformed_json));
    add_limit(limits, "json_envelope", (double)JSON_ENVELOPE_MAX, "bytes", NULL,
              err_slug(ERR_limit_exceeded));
    add_limit(limits, "json_arrays", JSON_ARRAYS_MAX, "numeric arrays", NULL,
              err_slug(ERR_limit_exceeded));
    add_limit(limits, "rank", JSON_RANK_MAX, "axes", NULL, err_slug(ERR_malformed_tensor));
}

static void add_core_limits(struct tree *limits)
{
    const char *invalid = err_slug(ERR_invalid_value);

    add_limit(limits, "encodings", JOB_SPECS_MAX, "encodings", NULL, err_slug(ERR_limit_exceeded));
    add_limit(limits, "position", PE_POSITION_MAX, "tokens", NULL, invalid);
    add_limit(limits, "positions", (double)PE_POSITIONS_N_MAX, "positions", NULL,
              err_slug(ERR_limit_exceeded));
    add_limit(limits, "grid_side", (double)PE_GRID_SIDE_MAX, "cells", NULL, invalid);
    add_limit(limits, "segments", PE_SEGMENTS_MAX, "segments", NULL, err_slug(ERR_limit_exceeded));
    add_limit(limits, "dim", PE_DIM_MAX, "channels", NULL, invalid);
    add_limit(limits, "heads", PE_HEADS_MAX, "heads", NULL, invalid);
    add_limit(limits, "identified_elements", (double)PE_IDENTIFY_ELEMENTS_MAX, "elements", NULL,
              err_slug(ERR_limit_exceeded));
    add_limit(limits, "identified_dim", PE_IDENTIFY_DIM_MAX, "channels", NULL,
              err_slug(ERR_limit_exceeded));
    add_limit(limits, "identified_by", PE_IDENTIFY_TRIED_MAX, "encodings tried", NULL, NULL);
}

enum step limits_quick(struct request *request)
{
    const struct app *app = request->app;
    enum format format;
    if (!service_begin(request, &format))
        return STEP_FAILED;

    struct tree *root = tree_new(&request->arena, TREE_OBJECT);
    tree_string(root, "semantics", API_SEMANTICS);
    struct tree *limits = tree_object(root, "limits");
    add_service_limits(limits, &app->options);
    add_json_limits(limits);
    add_core_limits(limits);
    struct tree *cache = tree_object(root, "cache_seconds");
    tree_integer(cache, "computed", CACHE_COMPUTED_S);
    tree_integer(cache, "pinned", CACHE_PINNED_S);
    tree_integer(cache, "page", CACHE_PAGE_S);
    tree_integer(cache, "error", CACHE_ERROR_S);
    return service_answer(request, root, format);
}

const struct endpoint limits_endpoint = {
    .summary = "All limits, with units, and the cache lifetimes.",
    .describes = "",
    .schema = "Limits",
    .cache = CACHE_NO_STORE,
    .formats = FORMATS_TREE,
};
