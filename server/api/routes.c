// SPDX-License-Identifier: Apache-2.0
/* routes.c: THE route table: one row per endpoint. Matched in order. */
#include "service.h"

#define GET  METHOD_GET
#define POST METHOD_POST
/* What job.c drives. */
#define COMPUTED true, computed_quick, computed_work, computed_settle
/* What is made at once, on the loop, and perhaps compressed on a worker. */
#define PAGE(quick) quick, service_encode, service_settle

// clang-format off
const struct route api_routes[] = {
    /* methods     path               suffixes, on the loop, on a worker, then, told by */
    { GET, "/",                       false, PAGE(root_quick), &root_endpoint },
    { GET, "/embed/{view}",           false, PAGE(embed_quick), &embed_endpoint },
    { GET, "/help",                   false, PAGE(help_quick), &help_endpoint },
    { GET, "/openapi.json",           false, PAGE(openapi_quick), &openapi_endpoint },
    { GET, "/assets/{file}",          false, PAGE(asset_quick), &asset_endpoint },
    { GET, "/assets/{digest}/{file}", false, PAGE(asset_quick), &pinned_asset_endpoint },
    { GET, "/assets/{digest}/{folder}/{file}", false, PAGE(asset_quick), &module_endpoint },
    { GET, "/v1",                     true,  PAGE(v1_quick), &v1_endpoint },
    { GET, "/v1/encodings",           true,  PAGE(encodings_quick), &encodings_endpoint },
    { GET, "/v1/encodings/{kind}",    true,  PAGE(encodings_quick), &kind_endpoint },
    { GET, "/v1/spec",                COMPUTED, &spec_endpoint },
    { GET, "/v1/table",               COMPUTED, &table_endpoint },
    { GET, "/v1/frequencies",         COMPUTED, &frequencies_endpoint },
    { GET, "/v1/rotation",            COMPUTED, &rotation_endpoint },
    { GET | POST, "/v1/apply",        COMPUTED, &apply_endpoint },
    { GET | POST, "/v1/scores",       COMPUTED, &scores_endpoint },
    { GET | POST, "/v1/attention",    COMPUTED, &attention_endpoint },
    { GET, "/v1/similarity",          COMPUTED, &similarity_endpoint },
    { GET, "/v1/grid",                COMPUTED, &grid_endpoint },
    { GET, "/v1/precision",           COMPUTED, &precision_endpoint },
    { GET, "/v1/properties",          COMPUTED, &properties_endpoint },
    { GET, "/v1/plots/table",         COMPUTED, &plot_table_endpoint },
    { GET, "/v1/plots/waves",         COMPUTED, &plot_waves_endpoint },
    { GET, "/v1/plots/frequencies",   COMPUTED, &plot_frequencies_endpoint },
    { GET, "/v1/plots/rotation",      COMPUTED, &plot_rotation_endpoint },
    { GET, "/v1/plots/angles",        COMPUTED, &plot_angles_endpoint },
    { GET, "/v1/plots/apply",         COMPUTED, &plot_apply_endpoint },
    { GET | POST, "/v1/plots/scores", COMPUTED, &plot_scores_endpoint },
    { GET, "/v1/plots/decay",         COMPUTED, &plot_decay_endpoint },
    { GET | POST, "/v1/plots/attention", COMPUTED, &plot_attention_endpoint },
    { GET | POST, "/v1/plots/attention-pair", COMPUTED, &plot_attention_pair_endpoint },
    { GET, "/v1/plots/similarity",    COMPUTED, &plot_similarity_endpoint },
    { GET, "/v1/plots/grid",          COMPUTED, &plot_grid_endpoint },
    { GET, "/v1/plots/precision",     COMPUTED, &plot_precision_endpoint },
    { GET, "/v1/plots/bias",          COMPUTED, &plot_bias_endpoint },
    { GET, "/v1/plots/properties",    COMPUTED, &plot_properties_endpoint },
    { GET | POST, "/v1/positions",    COMPUTED, &positions_endpoint },
    { POST, "/v1/from-config",        COMPUTED, &from_config_endpoint },
    { POST, "/v1/convert",            COMPUTED, &convert_endpoint },
    { POST, "/v1/compare",            COMPUTED, &compare_endpoint },
    { POST, "/v1/identify",           COMPUTED, &identify_endpoint },
    { GET, "/v1/fixtures",            true,  PAGE(fixtures_quick), &fixtures_endpoint },
    { GET, "/v1/fixtures/{name}",     true,  fixture_quick,   NULL, NULL, &fixture_endpoint },
    { GET, "/v1/fixtures.tar",        false, archive_quick,   archive_work, service_settle, &archive_endpoint },
    { GET, "/v1/changes",             true,  PAGE(changes_quick), &changes_endpoint },
    { GET, "/v1/version",             true,  PAGE(version_quick), &version_endpoint },
    { GET, "/v1/limits",              true,  limits_quick,    NULL, NULL, &limits_endpoint },
    { GET, "/problems",               true,  PAGE(problems_quick), &problems_endpoint },
    { GET, "/problems/{slug}",        true,  PAGE(problems_quick), &problem_endpoint },
    { GET, "/livez",                  false, livez_quick,     NULL, NULL, &livez_endpoint },
    { GET, "/healthz",                false, livez_quick,     NULL, NULL, &livez_endpoint },
    { GET, "/readyz",                 false, readyz_quick,    NULL, NULL, &readyz_endpoint },
    { GET, "/metrics",                false, metrics_quick,   NULL, NULL, &metrics_endpoint },
};
// clang-format on

const size_t api_routes_n = sizeof api_routes / sizeof *api_routes;
