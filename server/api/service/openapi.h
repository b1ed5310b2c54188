// SPDX-License-Identifier: Apache-2.0
/* openapi.h: parts of the OpenAPI document that come from tables. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "api.h"
#include "tree.h"

/* Members of components.parameters: kind, spec, format, the keys common to
 * computed endpoints, and every parameter that some kind has. */
void openapi_shared_parameters(struct tree *object);
/* The query parameters of an endpoint: references to the shared ones, and its own keys. */
void openapi_parameters(struct tree *array, const struct endpoint *endpoint);
/* Members of "paths", one per path of the route table. */
void openapi_paths(struct tree *object);
/* The member "responses" of the operation that this method of a route is. */
void openapi_answers(struct tree *operation, const struct route *route, enum method method);
/* One text: the problems that no operation lists, since every request may have them. */
void openapi_shared_problems(struct tree *holder);
/* A schema of the member "params" of the answers of a path. */
void openapi_echo(struct tree *holder, const char *path);

#endif
