// SPDX-License-Identifier: Apache-2.0
/*
 * response.h: from struct response to libmicrohttpd: bytes without a copy, or a stream; the fields
 * that every answer has.
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include <microhttpd.h>
#include <stdbool.h>

#include "request.h"

struct http_exchange;

/* Makes the answer of a request whose response is complete, with Connection: close if it is the
 * last one. The bytes leave request->response for the result. NULL without memory. */
struct MHD_Response *response_build(struct http_exchange *exchange);

#endif
