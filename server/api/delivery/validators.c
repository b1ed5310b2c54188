// SPDX-License-Identifier: Apache-2.0
/* validators.c: see validators.h. */
#include "validators.h"

#include <stdio.h>
#include <string.h>

#include "api.h"
#include "sha256.h"

#define ETAG_DIGITS 16

void etag_make(char etag[ETAG_BYTES], const char *subject, const char *media_type,
               const char *coding)
{
    const char *parts[] = {API_WIRE, subject, media_type, coding};
    char digits[ETAG_DIGITS + 1];
    unsigned char digest[32];
    struct sha256 sha;

    sha256_init(&sha);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        sha256_update(&sha, parts[i], strlen(parts[i]));
        sha256_update(&sha, "\n", 1);
    }
    sha256_final(&sha, digest);
    sha256_digits(digest, ETAG_DIGITS, digits);
    snprintf(etag, ETAG_BYTES, "\"%s-%s\"", API_SEMANTICS, digits);
}

bool etag_is_named(const char *field, const char *etag, bool strong)
{
    size_t len = strlen(etag);

    field += strspn(field, " \t");
    if (*field == '*')
        return field[1 + strspn(field + 1, " \t")] == '\0';
    while (*field) {
        field += strspn(field, " \t,");
        bool weak = strncmp(field, "W/", 2) == 0;
        field += weak ? 2 : 0;
        const char *close = *field == '"' ? strchr(field + 1, '"') : NULL;
        if (!close)
            return false;
        size_t tag_len = (size_t)(close - field) + 1;
        if (tag_len == len && memcmp(field, etag, len) == 0 && !(weak && strong))
            return true;
        field = close + 1;
    }
    return false;
}

enum verdict validators_judge(struct request *request, const char *etag)
{
    const char *match = request_header(request, "If-Match");
    const char *none = request_header(request, "If-None-Match");

    if (match && !etag_is_named(match, etag, true)) {
        err_add(&request->err, ERR_precondition_failed, "If-Match",
                "the answer that was expected is not the one given here any more",
                "If-Match does not name the ETag of the answer, %s", etag[0] ? etag : "none");
        return VERDICT_FAILED;
    }
    if (!none || !etag_is_named(none, etag, false))
        return VERDICT_PROCEED;
    if (request->method != METHOD_POST)
        return VERDICT_NOT_MODIFIED;
    err_add(&request->err, ERR_precondition_failed, "If-None-Match", NULL,
            "If-None-Match names the ETag of the answer, %s", etag[0] ? etag : "none");
    return VERDICT_FAILED;
}
