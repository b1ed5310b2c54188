// SPDX-License-Identifier: Apache-2.0
/* test_coding.c: who gets gzip, of what, and that it holds the answer. */
#include "coding.h"

#include "call.h"
#include "gzip.h"
#include "metrics.h"

#define TABLE "/v1/table?kind=rope&dim=8&positions=0:3"
#define LARGE "/v1/table?kind=rope&dim=64&positions=0:64"

/* What zlib makes of the answer; release it. */
static struct buf inflated(struct request *request)
{
    const struct response *response = &request->response;
    struct gzip_fault fault;
    struct buf out;
    buf_init(&out, (size_t)16 << 20);
    cr_assert_eq(gzip_inflate(response->blob ? response->blob->data : response->body.data,
                              response->blob ? response->blob->len : response->body.len, &out,
                              &fault),
                 GZIP_OK);
    buf_putc(&out, '\0');
    return out;
}

Test(coding, gzip_is_another_form_of_the_same_answer)
{
    struct request plain, coded;
    call(&plain, "GET", LARGE, NULL);
    cr_expect_null(call_field(&plain, "Content-Encoding"));
    call_with.accept_encoding = "gzip";
    for (int i = 0; i < 2; i++) { /* made, then kept */
        call(&coded, "GET", LARGE, NULL);
        cr_assert_eq(coded.response.status, 200);
        cr_expect_str_eq(call_field(&coded, "Content-Encoding"), "gzip");
        cr_expect_str_eq(call_field(&coded, "Repr-Digest"), call_field(&plain, "Repr-Digest"));
        cr_expect_str_neq(call_field(&coded, "ETag"), call_field(&plain, "ETag"));
        struct buf text = inflated(&coded);
        cr_expect_str_eq(text.data, call_body(&plain));
        buf_release(&text);
        call_end(&coded);
    }
    call_end(&plain);
    cr_expect_eq(metric_get(METRIC_computations), 2);
    cr_expect_eq(metric_get(METRIC_answer_hits), 1);
}

Test(coding, who_gets_gzip)
{
    static const struct {
        const char *target, *accept;
        int status;
        bool coded;
    } rows[] = {
        {LARGE, "gzip", 200, true},
        {LARGE, "gzip, deflate, br, zstd", 200, true},
        {LARGE, "x-gzip", 200, true},
        {LARGE, "*", 200, true},
        {LARGE, "deflate, gzip;q=0.5", 200, true},
        {LARGE, "identity;q=0.5, gzip;q=1.0", 200, true},
        {LARGE, "identity, gzip;q=0.5", 200, false},
        {LARGE, "gzip;q=0", 200, false},
        {LARGE, "", 200, false},
        {LARGE, NULL, 200, false},
        {LARGE, "br", 200, false},
        {LARGE, "br;q=1, *;q=0.1", 200, true},
        {LARGE, "identity;q=0", 406, false},
        {LARGE, "br, *;q=0", 406, false},
        {LARGE, "identity;q=0, *;q=0", 406, false},
        {LARGE, "*;q=0, gzip", 200, true},
        /* small, or of bytes that do not shrink: only if there is no other way */
        {TABLE, "gzip", 200, false},
        {TABLE, "gzip, identity;q=0", 200, true},
        {"/v1/table.bin?kind=rope&dim=64&positions=0:1000", "gzip", 200, false},
        {"/v1/table.bin?kind=rope&dim=64&positions=0:10", "gzip, *;q=0", 200, true},
        /* so large that it is sent while it is made */
        {"/v1/table.csv?kind=none&dim=64&positions=0:9000", "gzip", 200, false},
        {"/v1/table.csv?kind=none&dim=64&positions=0:9000", "gzip, identity;q=0", 200, true},
        {"/openapi.json", "gzip", 200, true},
        {"/v1/encodings", "gzip", 200, true},
        {"/v1/version", "gzip", 200, false},
        {"/v1/version", "gzip, identity;q=0", 200, true},
        {"/v1/version", "identity;q=0", 406, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int again = 0; again < 2; again++) {
            struct request request;
            call_with.accept_encoding = rows[i].accept;
            call(&request, "GET", rows[i].target, NULL);
            const char *coding = call_field(&request, "Content-Encoding");
            cr_expect_eq(request.response.status, rows[i].status, "row %zu: %d", i,
                         request.response.status);
            cr_expect_eq(coding != NULL, rows[i].coded, "row %zu", i);
            if (rows[i].coded && coding) {
                struct buf text = inflated(&request);
                buf_release(&text);
            }
            call_end(&request);
        }
}
