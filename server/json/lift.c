// SPDX-License-Identifier: Apache-2.0
/*
 * lift.c: numeric arrays inside the walk: which arrays are numeric, how they are shaped, and what
 * is wrong with them as tensors. Numbers are only skipped here; array.c converts them.
 */
#include <string.h>

#include "walk.h"

/* ---- Which arrays are numeric --------------------------------------------------------------- */

/*
 * Goes from the '[' at `at` to the first leaf behind it (or to the end of the array, if it has
 * none), keeping the brackets that are open on the way. Whatever is wrong here, the walk finds.
 */
static void look_ahead(struct walk *walk, const char *at)
{
    const char *end = walk->scan.end;
    walk->open_n = 0;
    for (; at < end; at++) {
        if (*at == '[' && walk->open_n < JSON_DEPTH_MAX)
            walk->open[walk->open_n++] = at;
        else if (*at == ']')
            walk->open_n--;
        else if (!memchr(" \t\r\n,", *at, 5))
            break;
        if (walk->open_n == 0)
            break;
    }
    walk->leaf = at;
}

static bool is_number_at(const char *at, const char *end)
{
    return at < end && (*at == '-' || (*at >= '0' && *at <= '9') || special_len(at, end));
}

bool array_is_numeric(struct walk *walk)
{
    const char *at = walk->scan.at;
    /* One look serves every array before the leaf: those still open there share it, the others
     * have none. So a byte is looked at once, however deep the nesting. */
    if (!walk->leaf || at >= walk->leaf)
        look_ahead(walk, at);
    for (size_t i = 0; i < walk->open_n; i++)
        if (walk->open[i] == at)
            return is_number_at(walk->leaf, walk->scan.end);
    return true;
}

/* ---- What is lifted as a whole
 * ------------------------------------------------------------------- */

bool lift_begin(struct walk *walk)
{
    const char *pointer = walk_pointer(walk, walk->depth);
    if (!pointer)
        return walk_no_memory(walk);
    walk->lifting = true;
    walk->outside = walk->depth;
    walk->array = (struct json_array){.pointer = pointer, .text = walk->scan.at, .integers = true};
    walk->rank_known = false;
    memset(walk->axis_known, 0, sizeof walk->axis_known);
    return true;
}

/* Room for one more array. */
static bool reserve_array(struct walk *walk)
{
    if (walk->arrays_n == JSON_ARRAYS_MAX) {
        walk->scan.err->limit = JSON_ARRAYS_MAX;
        return err_add(walk->scan.err, ERR_limit_exceeded, NULL, NULL,
                       "the body has more than %d arrays of numbers", JSON_ARRAYS_MAX);
    }
    if (walk->arrays_n < walk->arrays_room)
        return true;
    size_t room = walk->arrays_room ? 4 * walk->arrays_room : 4;
    struct json_array *arrays = arena_calloc(walk->arena, room, sizeof *arrays);
    if (!arrays)
        return walk_no_memory(walk);
    if (walk->arrays_n > 0)
        memcpy(arrays, walk->arrays, walk->arrays_n * sizeof *arrays);
    walk->arrays = arrays;
    walk->arrays_room = room;
    return true;
}

/* Notes walk->array, which ends at scan.at, and puts null in its stead. */
static bool note_array(struct walk *walk)
{
    struct json_array *array = &walk->array;
    if (!reserve_array(walk))
        return false;
    array->len = (size_t)(walk->scan.at - array->text);
    walk->arrays[walk->arrays_n++] = *array;
    buf_append(&walk->envelope, walk->copied, (size_t)(array->text - walk->copied));
    buf_puts(&walk->envelope, "null");
    walk->copied = walk->scan.at;
    return walk_envelope_holds(walk);
}

bool lift_end(struct walk *walk)
{
    walk->lifting = false;
    if (walk->array.rank >
        JSON_RANK_MAX) /* there is a fault; the shape is not to be read past its end */
        walk->array.rank = JSON_RANK_MAX;
    return note_array(walk);
}

bool lift_b64(struct walk *walk, const char *text)
{
    const char *pointer = walk_pointer(walk, walk->depth);
    if (!pointer)
        return walk_no_memory(walk);
    walk->array = (struct json_array){.pointer = pointer, .text = text, .b64 = true};
    return note_array(walk);
}

/* ---- Its rows and elements ------------------------------------------------------------------ */

/* Rows that are open: the rank of an element that stands here. */
static size_t level(const struct walk *walk)
{
    return walk->depth - walk->outside;
}

/* Notes what makes the array no tensor, the first time, at the element that the outer `depth`
 * frames point to. */
static void fault(struct walk *walk, size_t depth, const char *says)
{
    if (walk->array.fault)
        return;
    const char *pointer = walk_pointer(walk, depth);
    walk->array.fault = pointer ? pointer : walk->array.pointer;
    walk->array.fault_says = says ? says : "a row of another length than the first";
}

static void set_rank(struct walk *walk, size_t rank)
{
    walk->rank_known = true;
    walk->array.rank = rank;
}

static void add_leaf(struct walk *walk)
{
    walk->array.count++;
    if (!walk->rank_known)
        set_rank(walk, level(walk));
    else if (level(walk) != walk->array.rank)
        fault(walk, walk->depth, "a number where there should be a row");
}

void lift_row_begin(struct walk *walk)
{
    if (walk->rank_known && level(walk) >= walk->array.rank)
        fault(walk, walk->depth, "a row where there should be a number");
    else if (level(walk) >= JSON_RANK_MAX)
        fault(walk, walk->depth, "an axis beyond the eighth, which is the last allowed");
}

void lift_row_end(struct walk *walk)
{
    struct json_array *array = &walk->array;
    size_t axis = level(walk) - 1;
    size_t n = walk->frames[walk->depth - 1].n;
    if (!walk->rank_known)
        set_rank(walk, axis + 1);
    if (array->fault) /* without one, axis < rank <= JSON_RANK_MAX */
        return;
    if (!walk->axis_known[axis])
        array->shape[axis] = n;
    else if (array->shape[axis] != n)
        fault(walk, walk->depth - 1,
              arena_printf(walk->arena, "a row of length %zu where the first has length %zu", n,
                           array->shape[axis]));
    walk->axis_known[axis] = true;
}

/* What integer literals say of the array. */
static void note_integer(struct walk *walk, const char *text, size_t len)
{
    if (walk->array.inexact || !integer_is_inexact(text, len))
        return;
    const char *pointer = walk_pointer(walk, walk->depth);
    walk->array.inexact = pointer ? pointer : walk->array.pointer;
}

void lift_number(struct walk *walk, const char *text, size_t len, bool integer)
{
    add_leaf(walk);
    walk->array.integers &= integer;
    if (integer)
        note_integer(walk, text, len);
}

void lift_other(struct walk *walk, const char *says)
{
    walk->array.count++;
    fault(walk, walk->depth, says);
}

/* The end of the number at `at`, which is counted, if a comma follows; else NULL. */
static const char *take_number(struct walk *walk, const char *at)
{
    const char *end = walk->scan.end;
    const char *stop = plain_number_end(at, end);
    bool integer = false;
    if (!stop)
        stop = number_end(at, end, &integer);
    if (!stop || stop == end || *stop != ',')
        return NULL;
    if (integer || !walk->rank_known || level(walk) != walk->array.rank) {
        lift_number(walk, at, (size_t)(stop - at), integer);
    } else {
        walk->array.count++;
        walk->array.integers = false;
    }
    return stop;
}

void lift_numbers(struct walk *walk)
{
    struct frame *row = &walk->frames[walk->depth - 1];
    const char *at = walk->scan.at, *end = walk->scan.end, *stop;
    while ((stop = take_number(walk, at))) {
        row->n++;
        at = stop + 1;
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
            at++;
    }
    walk->scan.at = at;
}
