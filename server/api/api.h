// SPDX-License-Identifier: Apache-2.0
/*
 * api.h: the HTTP resources: what an endpoint is, the application state they share, and the seams
 * between reading a request (job.h), computing (one file per resource) and answering (answer.h).
 */
#ifndef API_API_H
#define API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"
#include "posenc.h"

#define API_SERVICE_VERSION   "0.1.0"
#define API_SEMANTICS         "1"     /* major, in bodies */
#define API_SEMANTICS_VERSION "1.0.0" /* full, in Posenc-Semantics and /v1/version */
/* Counts changes of an answer's bytes that its numbers take no part in: members, order, notation.
 */
#define API_WIRE "1"

/* Limits and facts that main.c hands over, from the options. */
struct app_options {
    size_t elements_max;      /* of a binary answer, and of all tensors of a request */
    size_t text_elements_max; /* of a JSON, csv or txt answer */
    size_t body_max;          /* bytes */
    size_t memory_max;        /* bytes of all requests together */
    size_t cache_max;         /* bytes of answers that are kept */
    unsigned workers, queue, deadline_ms, connections_max;
    unsigned peer_connections_max; /* of one address; 0: any number */
};

struct answer_cache;
struct plan_store; /* cache of plans, shared by threads (plans.h) */

#define CLIENTS_N           3 /* files under /assets with a digest of their own */
#define ASSET_DIGEST_DIGITS 16

struct app {
    struct app_options options;
    struct plan_store *plans;
    struct answer_cache *answers;     /* finished ones, for the next who asks (answer_cache.h) */
    struct blob *openapi;             /* the finished document, */
    unsigned char openapi_digest[32]; /* and its SHA-256 */
    struct blob *fixtures;            /* the finished list */
    unsigned char fixtures_digest[32];
    char client_digest[CLIENTS_N][ASSET_DIGEST_DIGITS + 1]; /* of rows of service/assets.c, */
    char page_digest[ASSET_DIGEST_DIGITS + 1];              /* and of all others together */
    bool (*draining)(void *context);
    void *draining_context;
    bool undigested; /* answers stay within the process, and only a pin needs their digest */
};

/* For requests that are made to answer another one: the same application, but for the answers that
 * it keeps, which are the loop thread's. False without memory. */
bool app_beside(struct app *beside, const struct app *app);
void app_beside_end(struct app *beside);

/* NULL without memory, or when the self-test finds a wrong number; said on stderr. */
struct app *app_new(const struct app_options *options);
void app_free(struct app *app);
/* Routes and finish hook for http_start(). */
struct http_hooks app_hooks(struct app *app);

/* ---- Endpoints ---------------------------------------------------------------------------- */

enum format {
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_TXT,
    FORMAT_NPY,
    FORMAT_SAFETENSORS,
    FORMAT_BIN,
    FORMAT_SVG,
    FORMAT_PNG,
    FORMATS_N,
};
#define FORMATS_PICTURES (1U << FORMAT_SVG | 1U << FORMAT_PNG)
/* What an answer with tensors is offered as. */
#define FORMATS_TENSORS (((1U << FORMATS_N) - 1) & ~FORMATS_PICTURES)

enum cache_class { CACHE_NO_STORE, CACHE_COMPUTED, CACHE_PAGE, CACHE_PINNED };

struct job;
struct plot;

/* What the tables, readers, errors, the catalogue and OpenAPI know of one endpoint. Rows stand in
 * the resource's file; routes.c points to them. */
struct endpoint {
    const char *summary;         /* one sentence */
    const char *describes;       /* main tensor, for OpenAPI; "" if none */
    const char *schema;          /* of the JSON answer: a name in proto/openapi.in.json */
    const struct pe_param *keys; /* request keys: query parameters and JSON members alike */
    size_t keys_n;
    unsigned specs_max;                        /* 0: takes no encoding; else how many spec= */
    unsigned acts;                             /* kinds it takes: bit 1 << enum pe_acts */
    bool (*takes)(const struct pe_spec *spec); /* of these, encodings that a GET has an answer for;
                                                  NULL: all */
    const char *const *tensors; /* tensor members of a POST, ends with NULL; NULL: none */
    const char *npy;            /* the one that a body in .npy is; NULL: no such bodies */
    const char *made;           /* the one that may be a request instead, which makes it; NULL */
    size_t document_max;        /* a POST's body is a JSON object of somebody else's, of at most so
                                   many bytes, and the request is the query; 0: it is the request */
    enum cache_class cache;
    unsigned formats;               /* bits 1 << enum format */
    const char *const *media_types; /* without formats: ends with NULL; NULL: text/plain */
    bool page;                      /* to browsers also as text/html */
    bool languages;                 /* as text/html in the language that Accept-Language asks for */
    /* Pictures (plots/): the endpoint whose answer they show, which says what may be asked; `keys`
     * are those of the picture itself, `formats` its own. NULL elsewhere. */
    const struct endpoint *behind;
    const struct plot *plot;
    /* Computed endpoints (job.c drives them); NULL elsewhere. */
    bool (*prepare)(struct job *job);  /* reads what is its own, checks, states the outputs */
    bool (*compute)(struct job *job);  /* what outputs do not make themselves, readouts; NULL */
    bool (*conclude)(struct job *job); /* readouts that follow from all outputs made; NULL */
};

/* Whether it has an answer that is computed, or a picture of one. */
static inline bool endpoint_computes(const struct endpoint *endpoint)
{
    return endpoint->prepare || endpoint->behind;
}

/* The route table (routes.c). */
extern const struct route api_routes[];
extern const size_t api_routes_n;

/* Steps of computed endpoints (job.c). */
enum step computed_quick(struct request *request);
enum step computed_work(struct request *request);
enum step computed_settle(struct request *request);

/* Steps of the service resources (meta.c, catalogue.c, help.c, openapi.c, ...). */
enum step root_quick(struct request *request);      /* /, by Accept: page or help */
enum step help_quick(struct request *request);      /* /help */
enum step openapi_quick(struct request *request);   /* /openapi.json */
enum step embed_quick(struct request *request);     /* /embed/{view} */
enum step asset_quick(struct request *request);     /* /assets/[{digest}/][{folder}/]{file} */
enum step v1_quick(struct request *request);        /* /v1 */
enum step encodings_quick(struct request *request); /* /v1/encodings[/{kind}] */
enum step version_quick(struct request *request);
enum step limits_quick(struct request *request);
enum step changes_quick(struct request *request);  /* /v1/changes */
enum step fixtures_quick(struct request *request); /* /v1/fixtures */
enum step fixture_quick(struct request *request);  /* /v1/fixtures/{name}: goes on as its GET */
enum step archive_quick(struct request *request);  /* /v1/fixtures.tar */
enum step archive_work(struct request *request);
enum step problems_quick(struct request *request); /* /problems[/{slug}] */
enum step livez_quick(struct request *request);    /* and /healthz */
enum step readyz_quick(struct request *request);   /* ?verbose lists the checks */
enum step metrics_quick(struct request *request);
struct blob *openapi_new(const struct app *app); /* NULL without memory */
struct blob *fixtures_new(const struct app *app);

/* Endpoint rows, one per resource file. */
extern const struct endpoint table_endpoint, frequencies_endpoint, rotation_endpoint,
    precision_endpoint, positions_endpoint, apply_endpoint, scores_endpoint, spec_endpoint,
    from_config_endpoint, convert_endpoint, compare_endpoint, properties_endpoint,
    similarity_endpoint, grid_endpoint, attention_endpoint, identify_endpoint;
extern const struct endpoint plot_table_endpoint, plot_waves_endpoint, plot_frequencies_endpoint,
    plot_apply_endpoint, plot_rotation_endpoint, plot_angles_endpoint, plot_scores_endpoint,
    plot_decay_endpoint, plot_attention_endpoint, plot_attention_pair_endpoint,
    plot_similarity_endpoint, plot_grid_endpoint, plot_precision_endpoint, plot_bias_endpoint,
    plot_properties_endpoint;
extern const struct endpoint root_endpoint, embed_endpoint, help_endpoint, openapi_endpoint,
    asset_endpoint, pinned_asset_endpoint, module_endpoint, v1_endpoint, encodings_endpoint,
    kind_endpoint, version_endpoint, limits_endpoint, problems_endpoint, changes_endpoint,
    fixtures_endpoint, fixture_endpoint, archive_endpoint, problem_endpoint, livez_endpoint,
    readyz_endpoint, metrics_endpoint;

/* ---- Shared pieces ------------------------------------------------------------------------ */

/* problem.c: request->err -> problem+json (or text for Accept: text/plain) and status. */
void problem_answer(struct request *request);
/* The finish hook: problem, then the fields all answers have (Cache-Control by endpoint, ...). */
void api_finish(struct request *request);

/* What a request says of its answer's format besides URL and Accept. */
struct format_ask {
    enum format usual;  /* where Accept leaves a choice, if offered */
    const char *member; /* of the body; NULL */
};

/* format.c: suffix, then format=, then Accept by quality; formats is a set of bits. `ask` may be
 * NULL. Known formats that are not offered here, or an Accept that fits none: not-acceptable (lists
 * the offered). */
bool format_choose(struct request *request, unsigned formats, const struct format_ask *ask,
                   enum format *format);
/* The format of a media type without parameters, or of a suffix; FORMATS_N if there is none. */
enum format format_of_type(const char *type, size_t len);
enum format format_of_suffix(const char *suffix);
bool format_is_binary(enum format format); /* elements as bytes, not as text */
const char *format_media_type(enum format format);
const char *format_suffix(enum format format); /* "json" */

/* Faults of the core as errors of the request: `prefix` is "" for a query, "/spec/" for JSON. */
void api_faults(struct err *err, const struct pe_faults *faults, const char *prefix);
/* The same, all at one place: that of a compact spec, say. */
void api_faults_at(struct err *err, const struct pe_faults *faults, const char *where);

/* Appends name=value to a query string, percent-encoding what must be; '?' or '&' in front. */
void api_query_append(struct buf *out, const char *name, const char *value);

/* Ends a quick step that made its body in request->response.body. */
enum step api_done(struct request *request, const char *content_type);

#endif
