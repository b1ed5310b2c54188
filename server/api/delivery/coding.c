// SPDX-License-Identifier: Apache-2.0
/* coding.c: see coding.h. */
#include "coding.h"

#include "accept.h"
#include "gzip.h"
#include "request.h"

const char *coding_name(enum coding coding)
{
    return coding == CODING_GZIP ? "gzip" : "identity";
}

bool coding_choose(struct request *request, bool pays, enum coding *coding)
{
    const char *accept = request_header(request, "Accept-Encoding");
    int gzip = accept ? accept_coding(accept, "gzip") : 0;
    int old_gzip = accept ? accept_coding(accept, "x-gzip") : 0;
    int identity = accept ? accept_coding(accept, "identity") : ACCEPT_BEST;

    gzip = old_gzip > gzip ? old_gzip : gzip;
    bool wanted = gzip > 0 && gzip >= identity; /* identity unnamed: acceptable, no more */
    *coding = gzip > 0 && (identity == 0 || (wanted && pays)) ? CODING_GZIP : CODING_IDENTITY;
    return identity != 0 || gzip > 0 ||
           err_add(&request->err, ERR_not_acceptable, "Accept-Encoding", NULL,
                   "the answer is offered as it is or in gzip, and \"%.60s\" wants neither",
                   accept);
}

bool coding_apply(enum coding coding, int level, const char *data, size_t len, struct buf *body)
{
    struct buf out;

    if (coding == CODING_IDENTITY)
        return true;
    buf_init(&out, body->len_max);
    bool made = gzip_deflate(data, len, level, &out) == GZIP_OK;
    if (made) {
        buf_release(body);
        *body = out;
    } else {
        buf_release(&out);
    }
    return made;
}
