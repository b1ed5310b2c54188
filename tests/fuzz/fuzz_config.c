// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_config.c: /v1/from-config with any body. The first line is the query. What it answers is
 * JSON, no caller can cause a 500, and an encoding that comes out can be asked for by its link.
 */
#include <jansson.h>
#include <stdint.h>

#include "../api/stand_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow(const char *link)
{
    struct request request;
    call(&request, "GET", link, NULL);
    /* Longer than a URL may be, or than an answer may be. */
    assert(request.response.status == 200 || request.response.status == 414 ||
           request.response.status == 422);
    call_end(&request);
}

/* The links of every spec to its parameters. */
static void follow_specs(const json_t *answer)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(answer, "specs"), i, one)
    {
        const char *compact = json_string_value(json_object_get(one, "compact"));
        char link[4096] = "/v1/spec?spec=";
        size_t len = strlen(link);
        assert(compact);
        if (strlen(compact) >= sizeof link - len)
            continue;
        for (const char *c = compact; *c && len < sizeof link - 4; c++)
            len += (size_t)snprintf(link + len, sizeof link - len, *c == '+' ? "%%2B" : "%c", *c);
        follow(link);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t head = newline ? (size_t)(newline - data) : 0;
    char target[256];
    struct request request;
    snprintf(target, sizeof target, "/v1/from-config%s%.*s", head ? "?" : "",
             (int)(head < 200 ? head : 200), (const char *)data);
    call_setup();
    call_app->options.elements_max = call_app->options.text_elements_max = 4096;
    const char *body = newline ? (const char *)newline + 1 : "";
    call_begin_bytes(&request, "POST", target, body, newline ? size - head - 1 : 0);
    call_finish(&request);
    assert(request.response.status != 500);
    if (request.response.content_type && strstr(request.response.content_type, "json")) {
        json_t *json =
            json_loads(call_body(&request), JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
        assert(json);
        if (request.response.status == 200)
            follow_specs(json);
        json_decref(json);
    }
    call_end(&request);
    return 0;
}
