// SPDX-License-Identifier: Apache-2.0
/* test_deliver.c: tags and preconditions of what the service says about itself. */
#include "validators.h"

#include "call.h"

Test(deliver, pages_have_tags)
{
    static const char *const targets[] = {"/",         "/help",         "/openapi.json",
                                          "/v1",       "/v1/encodings", "/v1/encodings/rope.txt",
                                          "/problems", "/v1/version",   "/assets/posenc.py"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct request request;
        char etag[ETAG_BYTES];
        call_with.if_none_match = call_with.if_match = NULL;
        call(&request, "GET", targets[i], NULL);
        snprintf(etag, sizeof etag, "%s", call_field(&request, "ETag"));
        call_end(&request);
        cr_assert_eq(strlen(etag), strlen("\"1-0123456789abcdef\""), "%s: %s", targets[i], etag);
        call_with.if_none_match = etag;
        call(&request, "GET", targets[i], NULL);
        cr_expect_eq(request.response.status, 304, "%s", targets[i]);
        cr_expect_str_eq(call_field(&request, "ETag"), etag);
        cr_expect_null(call_field(&request, "Repr-Digest"));
        call_end(&request);
        call_with.if_none_match = NULL;
        call_with.if_match = "\"1-0000000000000000\"";
        call(&request, "GET", targets[i], NULL);
        cr_expect_eq(request.response.status, 412, "%s", targets[i]);
        call_end(&request);
    }
}
