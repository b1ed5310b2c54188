// SPDX-License-Identifier: Apache-2.0
/*
 * bench_identify.c: what it costs to find out what made y of x, beside the apply that made it: x of
 * [8, 64, 128] in a JSON body, and y as it stands in the answer.
 */
#include "bench_post.h"

#define HEADS    8
#define TOKENS   64
#define DIM      128
#define ELEMENTS ((size_t)HEADS * TOKENS * DIM)
#define TEXT_MAX ((size_t)1 << 25)
#define BOUND    5

/* An encoding, and what else stands in the body that asks for it. In bf16 several fit, whose
 * numbers only differ here and there, and all of them have to be made. */
static const struct one {
    const char *target, *name, *spec;
    enum pe_dtype dtype;
    const char *more;
} ones[] = {
    {"identify", "f32, half", "rope:dim=128,layout=half", PE_F32, ""},
    {"identify", "f32, interleaved", "rope:dim=128,layout=interleaved", PE_F32, ""},
    {"identify", "f32, base of 9 digits", "rope:dim=128,layout=half,base=28314.1593", PE_F32, ""},
    {"identify", "f32, base known", "rope:dim=128,layout=half,base=500000", PE_F32,
     ",\"known\":{\"base\":500000}"},
    {"identify", "f32, llama3",
     "rope:dim=128,base=500000,layout=half,scaling=llama3,factor=8,original_max=8192", PE_F32, ""},
    {"identify aim", "bf16, half", "rope:dim=128,layout=half", PE_BF16, ""},
    {"identify aim", "bf16, interleaved", "rope:dim=128,layout=interleaved", PE_BF16, ""},
    {"identify aim", "bf16, base of 9 digits", "rope:dim=128,layout=half,base=28314.1593", PE_BF16,
     ""},
    {"identify", "f16, half", "rope:dim=128,layout=half", PE_F16, ""},
    {"identify", "f64, half", "rope:dim=128,layout=half", PE_F64, ""},
};
#define ONES (sizeof ones / sizeof *ones)

/* Numbers with as many digits as their dtype has. */
static void append_x(struct buf *out, enum pe_dtype dtype)
{
    static const int digits[] = {[PE_F64] = 17, [PE_F32] = 9, [PE_F16] = 5, [PE_BF16] = 4};
    buf_printf(out, "\"x\":{\"dtype\":\"%s\",\"shape\":[%d,%d,%d],\"data\":[", pe_dtype_name(dtype),
               HEADS, TOKENS, DIM);
    for (size_t i = 0; i < ELEMENTS; i++)
        buf_printf(out, "%s%.*g", i ? "," : "", digits[dtype],
                   (double)(int64_t)pe_draw(0, "x", i + 1) * 0x1p-62);
    buf_puts(out, "]}");
}

static void append_y(struct buf *out, const struct buf *answer)
{
    const char *from = strstr(answer->data, "\"y\":{"), *to = from ? strchr(from, '}') : NULL;
    if (!to)
        abort();
    buf_append(out, from, (size_t)(to + 1 - from));
}

static struct post post_new(struct app *app, const char *target, struct buf *body)
{
    struct post post = {app, target, "application/json", bench_buffer(body->len), body->len, NULL};
    if (body->failed)
        abort();
    memcpy(post.body, body->data, body->len);
    buf_release(body);
    return post;
}

static struct post apply_of(struct app *app, const struct one *one)
{
    struct buf body;
    buf_init(&body, TEXT_MAX);
    buf_printf(&body, "{\"axes\":\"htd\",\"spec\":\"%s\",", one->spec);
    append_x(&body, one->dtype);
    buf_puts(&body, "}");
    return post_new(app, "/v1/apply", &body);
}

static struct post identify_of(struct app *app, const struct one *one, struct post apply)
{
    struct buf answer, body;
    buf_init(&answer, TEXT_MAX);
    apply.answer = &answer;
    post_run(&apply);
    buf_putc(&answer, 0);
    buf_init(&body, TEXT_MAX);
    buf_puts(&body, "{");
    append_x(&body, one->dtype);
    buf_puts(&body, ",");
    append_y(&body, &answer);
    buf_printf(&body, "%s}", one->more);
    buf_release(&answer);
    return post_new(app, "/v1/identify", &body);
}

int main(int argc, char **argv)
{
    static struct post posts[2 * ONES];
    static struct bench_case cases[2 * ONES];
    static struct bench_ratio ratios[ONES];
    static char names[2 * ONES][64];
    struct app *app = post_app();
    for (size_t i = 0; i < ONES; i++) {
        struct post *apply = &posts[2 * i], *identify = apply + 1;
        char *applied = names[2 * i], *identified = names[2 * i + 1];
        snprintf(applied, sizeof *names, "apply, %s", ones[i].name);
        snprintf(identified, sizeof *names, "identify, %s", ones[i].name);
        *apply = apply_of(app, &ones[i]);
        *identify = identify_of(app, &ones[i], *apply);
        cases[2 * i] = (struct bench_case){applied, post_run, apply, ELEMENTS, 0};
        cases[2 * i + 1] = (struct bench_case){identified, post_run, identify, ELEMENTS, 0};
        ratios[i] = (struct bench_ratio){ones[i].target, identified, applied, false, BOUND};
    }
    bench_measure(cases, 2 * ONES);
    int status = bench_report(argc > 1 ? argv[1] : NULL, cases, 2 * ONES, ratios, ONES);
    app_free(app);
    return status;
}
