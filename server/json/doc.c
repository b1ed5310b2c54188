// SPDX-License-Identifier: Apache-2.0
/*
 * doc.c: a body becomes a document: the walk checks it and lifts the arrays, jansson makes a tree
 * of the envelope that is left. What jansson finds (a name given twice, too many nodes) is told as
 * what it is in the body.
 */
#include "doc.h"

#include <string.h>

#include "fence.h"
#include "walk.h"

void json_doc_setup(void)
{
    fence_setup();
}

/* The place in the body of a byte of the envelope. */
static const char *place_in_body(const struct walk *walk, size_t offset)
{
    const char *at = walk->scan.body + offset;
    for (size_t i = 0; i < walk->arrays_n && walk->arrays[i].text < at; i++)
        at = at + walk->arrays[i].len - strlen("null");
    return at;
}

/* The opening quote of the string that ends before `at`. A quote inside it stands behind an odd
 * number of backslashes. */
static const char *string_start(const char *at)
{
    for (at -= 2;; at--) {
        size_t backslashes = 0;
        if (*at != '"')
            continue;
        while (at[-1 - (ptrdiff_t)backslashes] == '\\')
            backslashes++;
        if (backslashes % 2 == 0)
            return at;
    }
}

/* Says what jansson refuses although the grammar is right. */
static bool explain(const struct walk *walk, const json_error_t *error)
{
    const char *at = place_in_body(walk, (size_t)error->position);
    if (json_error_code(error) != json_error_duplicate_key)
        return scan_fail(&walk->scan, at, "%s", error->text);
    const char *name = string_start(at);
    int len = (int)(at - name);
    return scan_fail(&walk->scan, name, "the member %.*s%s stands twice in one object",
                     len < 60 ? len : 60, name, len < 60 ? "" : "...");
}

/* A document that has been refused memory is not taken, even if jansson has made it: its lexer
 * loses the bytes of a token for which its buffer cannot grow. */
static bool load_envelope(struct json_doc *doc, struct walk *walk)
{
    json_error_t error;
    fence_begin(JSON_MEMORY_MAX);
    json_t *root = json_loadb(walk->envelope.data, walk->envelope.len,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    enum fence_result fence = fence_end();
    if (fence == FENCE_HELD) {
        doc->root = root;
        return root || explain(walk, &error);
    }
    json_decref(root);
    if (fence == FENCE_NO_MEMORY)
        return err_add(walk->scan.err, ERR_overloaded, NULL, NULL,
                       "there is no memory for the body's values");
    walk->scan.err->limit = (double)JSON_MEMORY_MAX;
    return err_add(walk->scan.err, ERR_limit_exceeded, NULL, NULL,
                   "the body has so many small values that they need more than %zu bytes of memory",
                   JSON_MEMORY_MAX);
}

bool json_doc_read(struct json_doc *doc, const char *body, size_t len, struct arena *arena,
                   struct err *err)
{
    return json_doc_read_large(doc, body, len, JSON_ENVELOPE_MAX, arena, err);
}

bool json_doc_read_large(struct json_doc *doc, const char *body, size_t len, size_t envelope_max,
                         struct arena *arena, struct err *err)
{
    const char *start = len > 0 ? body : "";
    struct walk walk = {.scan = {.body = start, .end = start + len, .at = start, .err = err},
                        .arena = arena,
                        .envelope_max = envelope_max};
    *doc = (struct json_doc){.root = NULL};
    bool ok = walk_body(&walk) && load_envelope(doc, &walk);
    buf_release(&walk.envelope);
    doc->arrays = walk.arrays;
    doc->arrays_n = walk.arrays_n;
    return ok;
}

void json_doc_release(struct json_doc *doc)
{
    json_decref(doc->root);
    *doc = (struct json_doc){.root = NULL};
}

static const struct json_array *find(const struct json_doc *doc, const char *pointer, bool b64)
{
    for (size_t i = 0; i < doc->arrays_n; i++)
        if (doc->arrays[i].b64 == b64 && strcmp(doc->arrays[i].pointer, pointer) == 0)
            return &doc->arrays[i];
    return NULL;
}

const struct json_array *json_doc_array(const struct json_doc *doc, const char *pointer)
{
    return find(doc, pointer, false);
}

const struct json_array *json_doc_b64(const struct json_doc *doc, const char *pointer)
{
    return find(doc, pointer, true);
}

const char *json_b64_text(const struct json_array *string, struct arena *arena, size_t *len)
{
    const char *at = string->text + 1, *end = string->text + string->len - 1;
    *len = (size_t)(end - at);
    if (!memchr(at, '\\', *len))
        return at;
    char *text = arena_alloc(arena, *len);
    *len = 0;
    while (text && at < end) {
        unsigned code = *at == '\\' ? unescape(&at) : (unsigned char)*at++;
        text[(*len)++] = code < 0x80 ? (char)code : '?';
    }
    return text;
}
