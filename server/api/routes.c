// SPDX-License-Identifier: Apache-2.0
/* routes.c: THE route table: one row per endpoint. Matched in order. */
#include "api.h"

#define GET  METHOD_GET
#define POST METHOD_POST
/* What job.c drives. */
#define COMPUTED true, computed_quick, computed_work, NULL

// clang-format off
const struct route api_routes[] = {
    /* methods     path               suffixes, on the loop, on a worker, then, told by */
    { GET, "/",                       false, root_quick,      NULL, NULL, &root_endpoint },
    { GET, "/help",                   false, help_quick,      NULL, NULL, &help_endpoint },
    { GET, "/openapi.json",           false, openapi_quick,   NULL, NULL, &openapi_endpoint },
    { GET, "/assets/{file}",          false, asset_quick,     NULL, NULL, &asset_endpoint },
    { GET, "/assets/{digest}/{file}", false, asset_quick,     NULL, NULL, &pinned_asset_endpoint },
    { GET, "/v1",                     true,  v1_quick,        NULL, NULL, &v1_endpoint },
    { GET, "/v1/encodings",           true,  encodings_quick, NULL, NULL, &encodings_endpoint },
    { GET, "/v1/encodings/{kind}",    true,  encodings_quick, NULL, NULL, &kind_endpoint },
    { GET, "/v1/spec",                COMPUTED, &spec_endpoint },
    { GET, "/v1/table",               COMPUTED, &table_endpoint },
    { GET, "/v1/frequencies",         COMPUTED, &frequencies_endpoint },
    { GET, "/v1/rotation",            COMPUTED, &rotation_endpoint },
    { GET | POST, "/v1/apply",        COMPUTED, &apply_endpoint },
    { GET | POST, "/v1/scores",       COMPUTED, &scores_endpoint },
    { GET, "/v1/version",             true,  version_quick,   NULL, NULL, &version_endpoint },
    { GET, "/v1/limits",              true,  limits_quick,    NULL, NULL, &limits_endpoint },
    { GET, "/problems",               true,  problems_quick,  NULL, NULL, &problems_endpoint },
    { GET, "/problems/{slug}",        true,  problems_quick,  NULL, NULL, &problem_endpoint },
    { GET, "/livez",                  false, livez_quick,     NULL, NULL, &livez_endpoint },
    { GET, "/healthz",                false, livez_quick,     NULL, NULL, &livez_endpoint },
    { GET, "/readyz",                 false, readyz_quick,    NULL, NULL, &readyz_endpoint },
    { GET, "/metrics",                false, metrics_quick,   NULL, NULL, &metrics_endpoint },
};
// clang-format on

const size_t api_routes_n = sizeof api_routes / sizeof *api_routes;
