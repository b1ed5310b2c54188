// SPDX-License-Identifier: Apache-2.0
/*
 * test_apply_rows.c: the ways to encode a tensor give the same bits: row by row into an answer, in
 * place in the body that brought it, in one call of the library. Norms are those of a plain loop.
 */
#include <math.h>

#include "call.h"
#include "posenc.h"

static bool append(void *context, const char *data, size_t len)
{
    buf_append(context, data, len);
    return true;
}

/* Runs a request with bytes for a body (NULL: GET); they are the request's until call_end. */
static struct buf ask(struct request *request, const char *target, const char *type,
                      const struct buf *body)
{
    struct buf bytes;

    call_with.content_type = type;
    call_begin(request, body ? "POST" : "GET", target, NULL);
    call_with.content_type = NULL;
    if (body) { /* from 4096 bytes on, the arena aligns as a body is */
        char *copy = arena_alloc(&request->arena, body->len + 4096);
        cr_assert(copy);
        request->body = memcpy(copy, body->data, body->len);
        request->body_len = body->len;
    }
    call_finish(request);
    buf_init(&bytes, (size_t)1 << 30);
    cr_assert(local_drain(request, append, &bytes), "%s", target);
    cr_assert_eq(request->err.n, 0, "%s: %s", target, request->err.item[0].detail);
    return bytes;
}

/* A file of one tensor x behind a request. */
static void file_make(struct buf *out, const char *json, const char *dtype, const char *shape,
                      const void *data, size_t len)
{
    char header[2000];
    size_t n = (size_t)snprintf(header, sizeof header - 8,
                                "{\"__metadata__\":{\"request\":\"%s\"},\"x\":{\"dtype\":\"%s\","
                                "\"shape\":[%s],\"data_offsets\":[0,%zu]}}",
                                json, dtype, shape, len);
    while (n % 8 != 0)
        header[n++] = ' ';
    uint64_t size = n;
    buf_init(out, (size_t)1 << 30);
    buf_append(out, (const char *)&size, 8);
    buf_append(out, header, n);
    buf_append(out, data, len);
}

/* Members in apostrophes as an object in a string of JSON. */
static void quote(const char *json, char *out)
{
    out += sprintf(out, "{");
    for (const char *c = json; *c; c++)
        out += sprintf(out, *c == '\'' ? "\\\"" : "%c", *c);
    sprintf(out, "}");
}

static const char *elements(const struct buf *file)
{
    uint64_t size;
    memcpy(&size, file->data, 8);
    return file->data + 8 + size;
}

/* The request as a query, and as JSON within JSON. */
static const struct {
    const char *query, *json, *shape, *dtype;
    size_t bytes;
} layouts[] = {
    {"kind=rope&dim=16&shape=16&axes=d&positions=3", "'spec':'rope:dim=16','positions':[3]", "16",
     "F64", 16 * 8},
    {"kind=rope&dim=16&shape=5,16&positions=2:7", "'spec':'rope:dim=16','positions':'2:7'", "5,16",
     "F32", 5 * 16 * 4},
    {"kind=rope&dim=16&layout=half&shape=2,3,5,16&axes=bhtd",
     "'spec':'rope:dim=16,layout=half','axes':'bhtd'", "2,3,5,16", "F32", 2 * 3 * 5 * 16 * 4},
    {"kind=rope&dim=16&shape=2,5,3,16&axes=bthd&inverse=true",
     "'spec':'rope:dim=16','axes':'bthd','inverse':true", "2,5,3,16", "BF16", 2 * 5 * 3 * 16 * 2},
    {"kind=rope&dim=16&shape=3,5,16&axes=htd", "'spec':'rope:dim=16','axes':'htd'", "3,5,16", "F16",
     3 * 5 * 16 * 2},
    {"kind=rope&dim=16&shape=5,3,16&axes=thd", "'spec':'rope:dim=16','axes':'thd'", "5,3,16", "F32",
     5 * 3 * 16 * 4},
    {"kind=rope&dim=16&shape=2,5,48&axes=btd&heads=3",
     "'spec':'rope:dim=16','axes':'btd','heads':3", "2,5,48", "F32", 2 * 5 * 48 * 4},
    {"kind=sinusoidal&dim=16&shape=2,5,16&axes=btd", "'spec':'sinusoidal:dim=16','axes':'btd'",
     "2,5,16", "F32", 2 * 5 * 16 * 4},
    /* Long enough for several parts: of tokens, and of batches. */
    {"kind=rope&dim=64&shape=2,3,3001,64&axes=bhtd", "'spec':'rope:dim=64','axes':'bhtd'",
     "2,3,3001,64", "F32", 2 * 3 * 3001 * 64 * 4},
    {"kind=rope&dim=64&shape=3001,2,3,64&axes=bthd", "'spec':'rope:dim=64','axes':'bthd'",
     "3001,2,3,64", "F32", 2 * 3 * 3001 * 64 * 4},
};

Test(apply_rows, a_body_becomes_its_answer_in_place)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        char target[300], quoted[600];
        struct request request;
        struct buf file;
        snprintf(target, sizeof target, "/v1/apply.safetensors?%s&seed=3&dtype=%s",
                 layouts[i].query, layouts[i].dtype);
        struct buf seeded = ask(&request, target, NULL, NULL);
        call_end(&request);
        const char *x = elements(&seeded), *y = x + layouts[i].bytes;
        cr_assert(seeded.data + seeded.len == y + layouts[i].bytes, "%s", target);

        quote(layouts[i].json, quoted);
        file_make(&file, quoted, layouts[i].dtype, layouts[i].shape, x, layouts[i].bytes);
        struct buf answer = ask(&request, "/v1/apply", "application/x-safetensors", &file);
        cr_expect_eq(request.response.spans_n, 1);
        const char *span = request.response.spans[0].data;
        cr_expect(span > request.body && span < request.body + request.body_len, "%s", target);
        cr_expect_not_null(call_field(&request, "Repr-Digest"));
        cr_expect(answer.data + answer.len == elements(&answer) + layouts[i].bytes);
        cr_expect(memcmp(elements(&answer), y, layouts[i].bytes) == 0, "%s", target);
        cr_expect(memcmp(elements(&answer), x, layouts[i].bytes) != 0, "%s", target);
        call_end(&request);
        buf_release(&answer);
        buf_release(&file);
        buf_release(&seeded);
    }
}

/* A wider answer has no place in the body; it has the bits of the seeded one. */
Test(apply_rows, a_wider_answer_is_made_beside_the_body)
{
    static const struct {
        const char *query, *json, *shape;
        size_t bytes;
    } rows[] = {
        {"dim=6&shape=6&axes=d&positions=3", "'spec':'pope:dim=6','positions':[3]", "6", 6 * 4},
        {"dim=6&shape=2,3,5,6&axes=bhtd", "'spec':'pope:dim=6','axes':'bhtd'", "2,3,5,6", 180 * 4},
        {"dim=6&shape=2,5,3,6&axes=bthd", "'spec':'pope:dim=6','axes':'bthd'", "2,5,3,6", 180 * 4},
        {"dim=6&shape=2,5,18&axes=btd&heads=3", "'spec':'pope:dim=6','axes':'btd','heads':3",
         "2,5,18", 180 * 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char target[300], quoted[600];
        struct request request;
        struct buf file;
        snprintf(target, sizeof target, "/v1/apply.safetensors?kind=pope&%s&seed=3&dtype=f32",
                 rows[i].query);
        struct buf seeded = ask(&request, target, NULL, NULL);
        call_end(&request);
        const char *x = elements(&seeded), *y = x + rows[i].bytes;
        cr_assert(seeded.data + seeded.len == y + 2 * rows[i].bytes, "%s", target);
        quote(rows[i].json, quoted);
        file_make(&file, quoted, "F32", rows[i].shape, x, rows[i].bytes);
        struct buf answer = ask(&request, "/v1/apply", "application/x-safetensors", &file);
        cr_expect_eq(request.response.spans_n, 0);
        cr_assert(answer.data + answer.len == elements(&answer) + 2 * rows[i].bytes, "%s", target);
        cr_expect(memcmp(elements(&answer), y, 2 * rows[i].bytes) == 0, "%s", target);
        call_end(&request);
        buf_release(&answer);
        buf_release(&file);
        buf_release(&seeded);
    }
}

/* Batches with lists of positions of their own, and what the library makes of them in one call. */
enum { B = 3, T = 2500, D = 64 };
static float batches[B][T][D], encoded[B][T][D];
static double places[B][T];

static void batches_make(void)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    struct pe_plan *plan;
    struct pe_positions positions[B];

    for (size_t b = 0; b < B; b++) {
        for (size_t t = 0; t < T; t++) {
            places[b][t] = (double)(t * (b + 1) + 7 * b);
            for (size_t d = 0; d < D; d++)
                batches[b][t][d] = (float)((double)((b * 31 + t * 17 + d * 7) % 101) / 8 - 6);
        }
        positions[b] = (struct pe_positions){1, T, {places[b]}};
    }
    cr_assert(pe_spec_parse("rope:dim=64", &spec, &faults) && pe_spec_finish(&spec, &faults));
    cr_assert_eq(pe_plan_new(&spec, &positions[2], &plan), PE_OK);
    struct pe_view in, out;
    pe_view_init(&in, PE_F32, batches, "btd", (size_t[]){B, T, D}, 3, 1);
    pe_view_init(&out, PE_F32, encoded, "btd", (size_t[]){B, T, D}, 3, 1);
    void *work = aligned_alloc(64, (pe_apply_work_bytes(plan) + 63) / 64 * 64);
    pe_apply(&(struct pe_apply){.plan = plan,
                                .positions = positions,
                                .positions_n = B,
                                .in = &in,
                                .out = &out,
                                .work = work});
    free(work);
    pe_plan_free(plan);
    pe_spec_release(&spec);
}

/* Commas between elements and brackets around rows of [.., n]. */
static void append_row(struct buf *out, size_t row, size_t n, const char *format,
                       double (*element)(size_t i))
{
    buf_puts(out, row > 0 ? ",[" : "[");
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i > 0 ? "," : "");
        buf_printf(out, format, element(row * n + i));
    }
    buf_puts(out, "]");
}

static double place_at(size_t i)
{
    return (&places[0][0])[i];
}

static double batch_at(size_t i)
{
    return (double)(&batches[0][0][0])[i];
}

/* The request as JSON. */
static struct buf batches_body(void)
{
    struct buf body;

    buf_init(&body, (size_t)16 << 20);
    buf_puts(&body, "{\"spec\":\"rope:dim=64\",\"axes\":\"btd\",\"positions\":[");
    for (size_t b = 0; b < B; b++)
        append_row(&body, b, T, "%.0f", place_at);
    buf_puts(&body, "],\"x\":{\"dtype\":\"f32\",\"shape\":[3,2500,64],\"data\":[");
    for (size_t i = 0; i < (size_t)B * T * D; i++) {
        buf_puts(&body, i > 0 ? "," : "");
        buf_printf(&body, "%.9g", batch_at(i));
    }
    buf_puts(&body, "]}}");
    return body;
}

Test(apply_rows, batches_have_positions_of_their_own)
{
    struct request request;

    batches_make();
    struct buf body = batches_body();
    struct buf answer = ask(&request, "/v1/apply.bin", "application/json", &body);
    cr_expect_eq(request.response.spans_n, 1); /* in place, if not in the body */
    cr_assert_eq(answer.len, sizeof encoded);
    cr_expect(memcmp(answer.data, encoded, sizeof encoded) == 0);
    call_end(&request);
    buf_release(&answer);

    answer = ask(&request, "/v1/apply.bin?dtype=f64", "application/json", &body); /* not so */
    cr_expect_eq(request.response.spans_n, 0);
    cr_assert_eq(answer.len, 2 * sizeof encoded);
    const double *wide = (const double *)(const void *)answer.data;
    for (size_t i = 0; i < (size_t)B * T * D; i++)
        cr_expect_float_eq((&encoded[0][0][0])[i], wide[i], 1e-6, "%zu", i);
    call_end(&request);
    buf_release(&answer);
    buf_release(&body);
}

/* The answer as text, from which every number comes back. */
Test(apply_rows, norms_are_those_of_the_vectors_sent)
{
    struct request request;

    batches_make();
    struct buf body = batches_body(),
               answer = ask(&request, "/v1/apply", "application/json", &body);
    buf_putc(&answer, '\0');
    const char *c = strstr(answer.data, "\"data\":") + strlen("\"data\":");
    double least = INFINITY, most = 0;
    for (size_t v = 0; v < (size_t)B * T; v++) {
        double square = 0;
        for (size_t d = 0; d < D; d++) {
            char *end;
            c += strspn(c, "[],");
            float y = strtof(c, &end);
            cr_assert_eq(y, (&encoded[0][0][0])[v * D + d], "vector %zu", v);
            square += (double)y * (double)y;
            c = end;
        }
        least = fmin(least, sqrt(square));
        most = fmax(most, sqrt(square));
    }
    json_t *tree = json_loads(answer.data, 0, NULL);
    json_t *norm = json_object_get(json_object_get(tree, "readouts"), "norm");
    json_t *after = json_object_get(norm, "after");
    cr_expect_float_eq(json_real_value(json_array_get(after, 0)), least, 1e-12);
    cr_expect_float_eq(json_real_value(json_array_get(after, 1)), most, 1e-12);
    json_decref(tree);
    call_end(&request);
    buf_release(&answer);
    buf_release(&body);
}

/* Vectors without a norm do not count, wherever they stand. */
Test(apply_rows, norms_of_what_is_no_number)
{
    static const struct {
        const char *x, *before;
    } rows[] = {
        {"[[3,4,0,0],[\"NaN\",0,0,0],[0,0,6,8]]", "[5,10]"},
        {"[[\"NaN\",0,0,0],[3,4,0,0],[0,0,6,8]]", "[5,10]"},
        {"[[\"NaN\",0,0,0],[0,\"NaN\",0,0]]", "[\"NaN\",\"NaN\"]"},
        {"[[\"Infinity\",0,0,0],[3,4,0,0]]", "[5,\"Infinity\"]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        char body[200], wanted[60];
        snprintf(body, sizeof body, "{\"spec\":\"rope:dim=4\",\"x\":%s}", rows[i].x);
        snprintf(wanted, sizeof wanted, "\"norm\":{\"before\":%s,", rows[i].before);
        call(&request, "POST", "/v1/apply", body);
        cr_expect(strstr(call_body(&request), wanted), "%s: %s", body, call_body(&request));
        call_end(&request);
    }
}
