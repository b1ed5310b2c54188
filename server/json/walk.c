// SPDX-License-Identifier: Apache-2.0
/*
 * walk.c: the nesting of a JSON body as a state machine over a small stack of open objects and
 * arrays, so that no body can make it recurse. Words are scan.c's business, the shapes of numeric
 * arrays lift.c's.
 */
#include "walk.h"

#include <string.h>

#include "utf8.h"

#define POINTER_MAX 256 /* bytes; longer ones, which name nothing that we know, are cut */

enum state { AT_VALUE, AT_NAME, BEHIND_VALUE, AT_END };

/* ---- JSON pointers -------------------------------------------------------------------------- */

/* A pointer while it is written. */
struct pointer {
    char text[POINTER_MAX];
    size_t len;
    bool cut; /* nothing is added any more */
};

static void pointer_add(struct pointer *pointer, const char *text, size_t len)
{
    pointer->cut = pointer->cut || len > POINTER_MAX - pointer->len;
    if (pointer->cut)
        return;
    memcpy(pointer->text + pointer->len, text, len);
    pointer->len += len;
}

static void pointer_add_index(struct pointer *pointer, size_t index)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + index % 10);
    while (index /= 10);
    digits[--at] = '/';
    pointer_add(pointer, digits + at, sizeof digits - at);
}

/* RFC 6901 over RFC 8259: takes JSON's escapes out and puts ~0 and ~1 in. */
static void pointer_add_name(struct pointer *pointer, const char *name, size_t len)
{
    pointer_add(pointer, "/", 1);
    for (const char *at = name, *end = name + len; at < end;) {
        char bytes[4] = {*at};
        size_t n = 1;
        if (*at == '\\')
            n = utf8_encode(unescape(&at), bytes);
        else
            at++;
        if (bytes[0] == '~' || bytes[0] == '/')
            pointer_add(pointer, bytes[0] == '~' ? "~0" : "~1", 2);
        else
            pointer_add(pointer, bytes, n);
    }
}

const char *walk_pointer(const struct walk *walk, size_t depth)
{
    struct pointer pointer = {.len = 0};
    for (const struct frame *frame = walk->frames; frame < walk->frames + depth; frame++)
        if (frame->kind == FRAME_OBJECT)
            pointer_add_name(&pointer, frame->key, frame->key_len);
        else
            pointer_add_index(&pointer, frame->n);
    return arena_printf(walk->arena, "%.*s%s", (int)pointer.len, pointer.text,
                        pointer.cut ? "..." : "");
}

/* ---- Values --------------------------------------------------------------------------------- */

bool walk_no_memory(struct walk *walk)
{
    return err_add(walk->scan.err, ERR_limit_exceeded, NULL, NULL,
                   "the body needs more working memory than the %zu bytes a request may have",
                   walk->arena->bytes_max);
}

bool walk_envelope_holds(struct walk *walk)
{
    return !walk->envelope.failed || err_add(walk->scan.err, ERR_overloaded, NULL, NULL,
                                             "there is no memory for the body's values");
}

/* What jansson will get, with the body up to a place, must stay small, however large the arrays
 * are.
 */
static bool check_envelope(struct walk *walk, const char *upto)
{
    size_t pending = (size_t)(upto - walk->copied);
    if (walk->lifting || walk->envelope.len + pending <= walk->envelope_max)
        return true;
    walk->scan.err->limit = (double)walk->envelope_max;
    return err_add(walk->scan.err, ERR_limit_exceeded, NULL, NULL,
                   "the body has more than %zu bytes that are not arrays of numbers",
                   walk->envelope_max);
}

static struct frame *top(struct walk *walk)
{
    return &walk->frames[walk->depth - 1];
}

static bool in_row(const struct walk *walk)
{
    return walk->depth > 0 && walk->frames[walk->depth - 1].kind == FRAME_ROW;
}

/* What may stand where a value begins, for messages. */
static const char *value_wanted(struct walk *walk)
{
    if (walk->depth == 0)
        return "a JSON value";
    if (top(walk)->kind == FRAME_OBJECT)
        return "a value after ':'";
    return top(walk)->n == 0 ? "a value or ']' after '['" : "a value after ','";
}

static bool push(struct walk *walk, enum frame_kind kind)
{
    if (walk->depth == JSON_DEPTH_MAX)
        return scan_fail(&walk->scan, walk->scan.at, "nested deeper than %d levels",
                         JSON_DEPTH_MAX);
    walk->frames[walk->depth++] = (struct frame){.kind = kind};
    walk->scan.at++;
    return true;
}

/* Closes the object or array whose bracket scan.at stands at. */
static bool pop(struct walk *walk)
{
    walk->scan.at++;
    if (in_row(walk))
        lift_row_end(walk);
    walk->depth--;
    return !walk->lifting || walk->depth > walk->outside || lift_end(walk);
}

static bool read_object(struct walk *walk, enum state *next)
{
    if (in_row(walk))
        lift_other(walk, "an object where there should be a number");
    if (!push(walk, FRAME_OBJECT))
        return false;
    *next = AT_NAME;
    if (scan_next(&walk->scan) != '}')
        return true;
    *next = BEHIND_VALUE;
    return pop(walk);
}

static bool read_array(struct walk *walk, enum state *next)
{
    enum frame_kind kind = FRAME_ROW;
    if (in_row(walk))
        lift_row_begin(walk);
    else if (walk->lifting || !array_is_numeric(walk))
        kind = FRAME_ARRAY;
    else if (!check_envelope(walk, walk->scan.at) || !lift_begin(walk))
        return false;
    if (!push(walk, kind))
        return false;
    *next = AT_VALUE;
    if (scan_next(&walk->scan) != ']')
        return true;
    *next = BEHIND_VALUE;
    return pop(walk);
}

static bool is_b64(struct walk *walk)
{
    const struct frame *around = walk->depth > 0 ? top(walk) : NULL;
    return !walk->lifting && around && around->kind == FRAME_OBJECT && around->key_len == 3 &&
           memcmp(around->key, "b64", 3) == 0;
}

static bool read_string(struct walk *walk)
{
    size_t special = in_row(walk) ? special_len(walk->scan.at, walk->scan.end) : 0;
    if (special)
        lift_number(walk, walk->scan.at, special, false);
    else if (in_row(walk))
        lift_other(walk, "a string where there should be a number");
    walk->scan.at += special;
    const char *text = walk->scan.at;
    if (!special && !scan_string(&walk->scan))
        return false;
    return !is_b64(walk) || (check_envelope(walk, text) && lift_b64(walk, text));
}

/* A number of the envelope: jansson and its readers must get what was written. */
static bool check_number(struct walk *walk, const char *text, size_t len, bool integer)
{
    double value;
    const char *says = NULL;
    if (integer && integer_is_inexact(text, len))
        says = "an integer beyond 2^53 would be rounded; write it with an exponent if you mean it";
    else if (!pe_text_read(text, len, PE_F64, &value, 0))
        says = "the number is beyond the range of f64";
    if (!says)
        return true;
    size_t line, column;
    const char *pointer = walk_pointer(walk, walk->depth);
    scan_place(&walk->scan, text, &line, &column);
    return err_add_at(walk->scan.err, ERR_invalid_value, pointer, line, column, "%s", says);
}

static bool read_number(struct walk *walk)
{
    const char *text = walk->scan.at;
    bool integer;
    if (!scan_number(&walk->scan, &integer))
        return false;
    size_t len = (size_t)(walk->scan.at - text);
    if (in_row(walk))
        lift_number(walk, text, len, integer);
    return walk->lifting || check_number(walk, text, len, integer);
}

static bool read_word(struct walk *walk)
{
    if (!scan_word(&walk->scan))
        return scan_expected(&walk->scan, value_wanted(walk));
    if (in_row(walk))
        lift_other(walk, "true, false or null where there should be a number");
    return true;
}

/* ---- The states ----------------------------------------------------------------------------- */

static bool at_value(struct walk *walk, enum state *next)
{
    int c = scan_next(&walk->scan);
    if (in_row(walk)) {
        lift_numbers(walk);
        c = scan_next(&walk->scan);
    }
    *next = BEHIND_VALUE;
    switch (c) {
    case '{':
        return read_object(walk, next);
    case '[':
        return read_array(walk, next);
    case '"':
        return read_string(walk);
    default:
        if (c != '-' && (c < '0' || c > '9'))
            return read_word(walk);
        return read_number(walk);
    }
}

static bool at_name(struct walk *walk, enum state *next)
{
    struct frame *object = top(walk);
    if (scan_next(&walk->scan) != '"')
        return scan_expected(&walk->scan, object->n == 0
                                              ? "a member's name in double quotes or '}'"
                                              : "a member's name in double quotes after ','");
    object->key = walk->scan.at + 1;
    if (!scan_string(&walk->scan))
        return false;
    object->key_len = (size_t)(walk->scan.at - object->key) - 1;
    if (scan_next(&walk->scan) != ':')
        return scan_expected(&walk->scan, "':' after a member's name");
    walk->scan.at++;
    *next = AT_VALUE;
    return true;
}

static bool behind_value(struct walk *walk, enum state *next)
{
    int c = scan_next(&walk->scan);
    if (!check_envelope(walk, walk->scan.at))
        return false;
    if (walk->depth == 0) {
        *next = AT_END;
        return c < 0 || scan_expected(&walk->scan, "nothing after the JSON value");
    }
    struct frame *around = top(walk);
    bool object = around->kind == FRAME_OBJECT;
    around->n++;
    if (c == ',') {
        *next = object ? AT_NAME : AT_VALUE;
        walk->scan.at++;
        return true;
    }
    *next = BEHIND_VALUE;
    if (c == (object ? '}' : ']'))
        return pop(walk);
    return scan_expected(&walk->scan, object ? "',' or '}' after an object member"
                                             : "',' or ']' after an array element");
}

bool walk_body(struct walk *walk)
{
    static bool (*const steps[])(struct walk *, enum state *) = {
        [AT_VALUE] = at_value, [AT_NAME] = at_name, [BEHIND_VALUE] = behind_value};
    walk->copied = walk->scan.body;
    buf_init(&walk->envelope, walk->envelope_max + strlen("null")); /* checked before it is added */
    for (enum state state = AT_VALUE; state != AT_END;)
        if (!steps[state](walk, &state))
            return false;
    buf_append(&walk->envelope, walk->copied, (size_t)(walk->scan.end - walk->copied));
    return walk_envelope_holds(walk);
}
