// SPDX-License-Identifier: Apache-2.0
/*
 * response.h: from struct response to libmicrohttpd: bytes without a copy, length always known, the
 * fields that every answer has.
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include <microhttpd.h>
#include <stdbool.h>

#include "request.h"

/* Makes the answer of a request whose response is complete; `closing` adds Connection: close. The
 * bytes leave request->response for the result. NULL without memory. */
struct MHD_Response *response_build(struct request *request, bool closing);

#endif
