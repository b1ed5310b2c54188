// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_api.c: requests through routes, handlers and finish hook. An input is a line "METHOD TARGET
 * [ACCEPT]", then the body. No caller can cause a 500, and what says to be JSON is JSON.
 */
#include <jansson.h>
#include <stdint.h>

#include "../api/stand_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *input = strndup((const char *)data, size), *rest = input;
    char *line = strsep(&rest, "\n"), *method = strsep(&line, " "), *target = strsep(&line, " ");
    struct request request;
    call_setup();
    call_app->options.elements_max = call_app->options.text_elements_max = 4096;
    call_with.accept = line;
    call_begin(&request, method, target ? target : "", rest);
    call_finish(&request);
    const char *type = request.response.content_type; /* of redirects and OPTIONS: none */
    assert(request.response.status != 500 && (type || request.response.body.len == 0));
    if (type && strstr(type, "json")) {
        /* Doubles below 1e21 have no exponent: more than jansson's integers hold. */
        json_t *json = json_loads(call_body(&request),
                                  JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
        assert(json);
        json_decref(json);
    }
    call_end(&request);
    free(input);
    return 0;
}
