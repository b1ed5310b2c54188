// SPDX-License-Identifier: Apache-2.0
/* openapi.h: parts of the OpenAPI document that come from tables. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include <jansson.h>

#include "api.h"
#include "tree.h"

/* One method of a route, and the examples of all of them. */
struct operation {
    const struct route *route;
    enum method method;
    const json_t *examples;
};

/* Members of components.parameters: kind, spec, format, the keys common to
 * computed endpoints, and every parameter that some kind has. */
void openapi_shared_parameters(struct tree *object);
/* The schema of a format's name. */
void openapi_format(struct tree *parent, const char *key);
/* The query parameters of an endpoint: references to the shared ones, and its own keys. */
void openapi_parameters(struct tree *array, const struct endpoint *endpoint);
/* The parameters that an operation has because of its body. */
void openapi_body_parameters(struct tree *array);
/* Members of "paths", one per path of the route table. */
void openapi_paths(struct tree *object);
/* The member "responses" of an operation. */
void openapi_answers(struct tree *object, const struct operation *operation);
/* What proto/examples.json holds; NULL without memory. */
json_t *openapi_examples_load(void);
/* The member "examples" of a media type, if there are any: of the body of the operation (status 0),
 * or of an answer. */
void openapi_examples(struct tree *media, const struct operation *operation, int status,
                      const char *media_type);
/* One text: the problems that no operation lists, since every request may have them. */
void openapi_shared_problems(struct tree *holder);
/* A schema of the member "params" of the answers of a path. */
void openapi_echo(struct tree *holder, const char *path);

#endif
