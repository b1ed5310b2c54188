// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_api.c: requests through routes, handlers and finish hook. An input is a line "METHOD TARGET
 * [ACCEPT]", then the body: JSON, or what its first bytes say. No caller can cause a 500, and what
 * says to be JSON is JSON.
 */
#include <jansson.h>
#include <stdint.h>

#include "../api/stand_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *media_type(const char *body, size_t len)
{
    if (len > 6 && memcmp(body, "\x93NUMPY", 6) == 0)
        return "application/x-npy";
    return len > 8 && body[8] == '{' && body[7] == '\0' ? "application/x-safetensors" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t head = newline ? (size_t)(newline - data) : size;
    char *input = strndup((const char *)data, head), *line = input;
    char *method = strsep(&line, " "), *target = strsep(&line, " ");
    const char *body = newline ? (const char *)newline + 1 : NULL;
    size_t body_len = newline ? size - head - 1 : 0;
    struct request request;
    call_setup();
    call_app->options.elements_max = call_app->options.text_elements_max = 4096;
    call_with.accept = line;
    call_with.content_type = media_type(body, body_len);
    call_begin_bytes(&request, method, target ? target : "", body, body_len);
    call_finish(&request);
    const char *type = request.response.content_type; /* of redirects and OPTIONS: none */
    assert(request.response.status != 500 && (type || request.response.body.len == 0));
    if (type && strstr(type, "json") && request.method != METHOD_HEAD) {
        /* Doubles below 1e21 have no exponent: more than jansson's integers hold. */
        json_t *json =
            json_loads(call_body(&request), JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
        assert(json);
        json_decref(json);
    }
    call_end(&request);
    free(input);
    return 0;
}
