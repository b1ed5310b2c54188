// SPDX-License-Identifier: Apache-2.0
/* routes.c: THE route table: one row per endpoint. Matched in order. */
#include "api.h"

#define GET  METHOD_GET
#define POST METHOD_POST

// clang-format off
const struct route api_routes[] = {
    /* methods     path                    suffixes  on the loop        on a worker           told by */
    { GET,         "/",                    false, root_quick,      NULL,          NULL, &root_endpoint },
    { GET,         "/help",                false, help_quick,      NULL,          NULL, &help_endpoint },
    { GET,         "/openapi.json",        false, openapi_quick,   NULL,          NULL, &openapi_endpoint },
    { GET,         "/v1",                  false, v1_quick,        NULL,          NULL, &v1_endpoint },
    { GET,         "/v1/encodings",        false, encodings_quick, NULL,          NULL, &encodings_endpoint },
    { GET,         "/v1/encodings/{kind}", false, encodings_quick, NULL,          NULL, &kind_endpoint },
    { GET,         "/v1/spec",             true,  computed_quick,  computed_work, NULL, &spec_endpoint },
    { GET,         "/v1/table",            true,  computed_quick,  computed_work, NULL, &table_endpoint },
    { GET,         "/v1/frequencies",      true,  computed_quick,  computed_work, NULL, &frequencies_endpoint },
    { GET,         "/v1/rotation",         true,  computed_quick,  computed_work, NULL, &rotation_endpoint },
    { GET | POST,  "/v1/apply",            true,  computed_quick,  computed_work, NULL, &apply_endpoint },
    { GET | POST,  "/v1/scores",           true,  computed_quick,  computed_work, NULL, &scores_endpoint },
    { GET,         "/v1/version",          false, version_quick,   NULL,          NULL, &version_endpoint },
    { GET,         "/v1/limits",           false, limits_quick,    NULL,          NULL, &limits_endpoint },
    { GET,         "/livez",               false, livez_quick,     NULL,          NULL, &livez_endpoint },
    { GET,         "/healthz",             false, livez_quick,     NULL,          NULL, &livez_endpoint },
    { GET,         "/readyz",              false, readyz_quick,    NULL,          NULL, &readyz_endpoint },
    { GET,         "/metrics",             false, metrics_quick,   NULL,          NULL, &metrics_endpoint },
};
// clang-format on

const size_t api_routes_n = sizeof api_routes / sizeof *api_routes;
