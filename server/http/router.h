// SPDX-License-Identifier: Apache-2.0
/*
 * router.h: which row of the route table a decoded path and a method mean. The table is scanned in
 * order; the same scan finds the methods a path allows.
 */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include <stddef.h>

#include "request.h"

struct route_match {
    const struct route *route; /* NULL: no row has this path with this method */
    unsigned allowed;          /* METHOD_ bits of all rows with this path; 0: no such path */
    size_t path_len;           /* of the path without suffix */
    const char *suffix;        /* "csv", inside the path given; NULL */
    size_t arg;                /* offset of what the last {name} stands for; 0: none */
};

/* HEAD is allowed wherever GET is. Suffixes of formats are cut off only for rows that have them. */
struct route_match router_match(const struct route *routes, size_t routes_n, const char *path,
                                enum method method);

enum method method_parse(const char *text); /* METHOD_OTHER for all that is not served */
const char *method_name(enum method method);
const char *allow_text(unsigned allowed); /* value of Allow: "GET, HEAD, OPTIONS" */

#endif
