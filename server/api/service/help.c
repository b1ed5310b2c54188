// SPDX-License-Identifier: Apache-2.0
/*
 * help.c: help for people with curl. Endpoints, kinds and formats come from their tables; the rest
 * explains how to say things.
 */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "service.h"
#include "text.h"

#define COLUMN_PATH    8
#define COLUMN_FORMAT  16
#define COLUMN_SUMMARY 30
#define COLUMN_PRESET  18

static const char intro[] =
    "posencd " API_SERVICE_VERSION ": positional encodings of transformers, every digit right\n"
    "\n"
    "  U=http://localhost:8080\n"
    "  curl \"$U/v1/table.txt?kind=sinusoidal&dim=8&positions=0:4&dtype=f32\"\n"
    "  curl \"$U/v1/table.txt?kind=rope&dim=8&positions=2^0:2^20&dtype=bf16\"\n"
    "  curl \"$U/v1/frequencies.txt?kind=rope&dim=16&base=500000\"\n"
    "  curl \"$U/v1/scores.txt?kind=sinusoidal&offsets=0:4\"\n"
    "  curl \"$U/v1/attention.txt?kind=rope&labels=the,dog,chased,another,dog\"\n"
    "  curl $U/v1/apply -d '{\"spec\":\"rope:dim=4\",\"positions\":[1],\"x\":[[1,2,3,4]]}'\n"
    "\n";

static const char spelling[] =
    "\n"
    "An encoding is a kind and its keys, in three spellings of the same thing:\n"
    "  query    kind=rope&dim=128&base=500000&layout=half\n"
    "  JSON     {\"kind\":\"rope\",\"dim\":128,\"base\":500000,\"layout\":\"half\"}\n"
    "  compact  rope:dim=128,base=500000,layout=half       (as spec=, or in JSON)\n"
    "Unknown keys are errors; every default that was used is echoed.\n"
    "\n"
    "Positions\n"
    "  7  0,8,24  0:128  0:128:4  -4:4  0:2:0.25  2^0:2^20\n"
    "  0:4;0:4    grid=14x14    grid=4x14x14      a list per axis; grids\n"
    "  0:4;2:6                                    with one axis, a list per batch row\n"
    "  grid=2x3&coords=center                     linspace, scaled, crop likewise\n"
    "  attention_mask=0,0,1,1&style=gpt2          ids= likewise; opt, roberta, bart\n"
    "  class_token=first                          a token without a position\n"
    "/v1/positions gives them by themselves, also of packed sequences (lengths=)\n"
    "and of text with images (segments=), and those of dual chunk attention\n"
    "(style=dual_chunk), which with variant= stands beside positions anywhere.\n"
    "\n"
    "Numbers are the exact value of the formula, rounded once to dtype=f64, f32, f16\n"
    "or bf16, and printed with the fewest digits that come back; numbers=exact gives\n"
    "all digits of the stored value, hex 0x1.8p+1, bits unsigned integers. NaN and\n"
    "infinities are NaN, Infinity, -Infinity: strings in JSON, as they are in csv.\n"
    "Tensors in JSON are\n"
    "  {\"dtype\":\"f32\",\"shape\":[2,2],\"data\":[[1,2],[3,\"NaN\"]]}   or just [[1,2],[3,4]]\n"
    "  {\"dtype\":\"bf16\",\"shape\":[2,2],\"b64\":\"gD8AQEBAgEA=\"}     bytes, little-endian\n"
    "\n";

static const char stages[] =
    "Stages\n"
    "  stages=freq:f32,angle:f32,table:bf16 rounds on the way, as a pipeline does,\n"
    "  each operation correctly. pos is the position, freq the frequency (or slope),\n"
    "  angle their product, table cos and sin (or the value), apply every product and\n"
    "  sum on vectors, dot every product and sum of q.k; the others are exact. One\n"
    "  that makes no difference is an error, but presets leave it out. /v1/precision\n"
    "  also quantises encoded vectors: quantize:e4m3 and e5m2 are OCP FP8 (nearest,\n"
    "  saturating, without a scale), int8 has one per vector, its largest absolute\n"
    "  value / 127. T is the dtype of the tensors:\n";

static const char dialects[] =
    "Dialects\n"
    "  dialect= sets what a library does where others do otherwise. A key that is\n"
    "  given goes before it, and all of it is echoed spelt out:\n";

static const char outro[] =
    "\n"
    "The suffix of the path decides, then format=, then Accept by quality. select=\n"
    "names another tensor than the main one. npy has no bf16, but with numbers=bits\n"
    "its bits as <u2.\n"
    "\n"
    "A body is JSON; or a file of tensors (Content-Type: application/x-safetensors)\n"
    "with the rest as JSON in __metadata__.request, or in the query; or x alone\n"
    "(application/x-npy). It is answered in its own format unless another is asked.\n"
    "\n"
    "Errors are application/problem+json (RFC 9457), or text for Accept: text/plain;\n"
    "they name all mistakes at once and what was probably meant.\n"
    "\n"
    "  curl $U/v1/encodings            parameters of every kind, as JSON Schema\n"
    "  curl $U/v1/limits               how much may be asked for\n"
    "  curl $U/problems                what each error means, and the right way\n"
    "  curl $U/openapi.json            all of this for machines\n"
    "  curl -O $U/assets/posenc.py     a client for Python\n"
    "  curl -O $U/assets/posenc.js     a client for pages and Node\n"
    "  $U/ in a browser                a page that shows all of this; $U/embed/lesson\n"
    "                                  and its other views are for frames\n";

void help_write_short(struct buf *out)
{
    buf_puts(out, intro);
    buf_puts(out, "  curl $U/help     explains everything\n");
}

static void append_endpoints(struct buf *out)
{
    buf_puts(out, "Endpoints\n");
    for (size_t i = 0; i < api_routes_n; i++) {
        const struct endpoint *endpoint = api_routes[i].endpoint;
        bool get = api_routes[i].methods & METHOD_GET, post = api_routes[i].methods & METHOD_POST;
        buf_puts(out, get && post ? "  G, P" : post ? "  POST" : "  GET");
        text_column(out, COLUMN_PATH);
        buf_puts(out, api_routes[i].path);
        text_column(out, COLUMN_SUMMARY);
        text_wrap(out, COLUMN_SUMMARY, endpoint->summary);
        buf_putc(out, '\n');
    }
    buf_puts(out, "  (G, P: GET and POST; HEAD works wherever GET does)\n");
}

static void append_kinds(struct buf *out)
{
    buf_puts(out, "\nKinds\n  ");
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        buf_puts(out, i > 0 ? " " : "");
        text_wrap(out, 2, pe_kind_at(i)->name);
    }
    buf_puts(out, "\n  /v1/encodings/rope?format=txt tells all about one of them.\n");
}

static void append_formats(struct buf *out)
{
    static const char *const what[FORMATS_N] = {
        [FORMAT_JSON] = "the default: spec, parameters, tensors, readouts, links",
        [FORMAT_CSV] = "the main tensor, index columns first",
        [FORMAT_TXT] = "for a terminal: aligned, readouts below",
        [FORMAT_NPY] = "the main tensor for numpy",
        [FORMAT_SAFETENSORS] = "all tensors; spec and parameters in __metadata__",
        [FORMAT_BIN] = "the main tensor's bytes, little-endian; field Tensor says its shape",
        [FORMAT_SVG] = "a picture, only under /v1/plots/",
        [FORMAT_PNG] = "the same in pixels",
    };

    buf_puts(out, "Formats\n");
    for (enum format format = 0; format < FORMATS_N; format++) {
        buf_printf(out, "  .%s", format_suffix(format));
        text_column(out, COLUMN_FORMAT);
        text_wrap(out, COLUMN_FORMAT, what[format]);
        buf_putc(out, '\n');
    }
}

static void append_dialects(struct buf *out)
{
    buf_puts(out, dialects);
    for (size_t i = 0; i < pe_dialects_n(); i++) {
        const struct pe_dialect *row = pe_dialect_at(i);
        char text[320];
        snprintf(text, sizeof text, "%s: %s%s%s%s%s%s%s", row->kinds, row->keys,
                 row->request ? "," : "", row->request ? row->request : "",
                 row->method ? ", with these stages " : "", row->method ? row->method : "",
                 row->help ? ". " : "", row->help ? row->help : "");
        for (char *c = text; (c = strchr(c, ',')) && c[1] != ' ';) /* lists may be broken */
            *c = ' ';
        buf_printf(out, "    %s", row->name);
        text_column(out, COLUMN_PRESET);
        text_wrap(out, COLUMN_PRESET, text);
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
}

static void append_stages(struct buf *out)
{
    buf_puts(out, stages);
    for (size_t i = 0; i < pe_presets_n(); i++) {
        const struct pe_preset *preset = pe_preset_at(i);
        char text[160];
        snprintf(text, sizeof text, "%s: %s", preset->help, preset->stages);
        buf_printf(out, "    %s", preset->name);
        text_column(out, COLUMN_PRESET);
        text_wrap(out, COLUMN_PRESET, text);
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
}

void help_write(struct buf *out)
{
    buf_puts(out, intro);
    append_endpoints(out);
    append_kinds(out);
    buf_puts(out, spelling);
    append_stages(out);
    append_dialects(out);
    append_formats(out);
    buf_puts(out, outro);
}

enum step help_quick(struct request *request)
{
    if (!service_query(request))
        return STEP_FAILED;
    buf_init(&request->response.body, SERVICE_BYTES_MAX);
    help_write(&request->response.body);
    return api_done(request, format_media_type(FORMAT_TXT));
}

const struct endpoint help_endpoint = {
    .summary = "This help.",
    .describes = "",
    .cache = CACHE_PAGE,
};
