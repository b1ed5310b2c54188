// SPDX-License-Identifier: Apache-2.0
/*
 * walk.h: the single pass over a body: how values nest, which arrays are numeric, and what remains
 * when those are taken out. Private to json/; doc.h is what others use.
 */
#ifndef JSON_WALK_H
#define JSON_WALK_H

#include "arena.h"
#include "buf.h"
#include "doc.h"
#include "scan.h"

enum frame_kind {
    FRAME_OBJECT,
    FRAME_ARRAY, /* of anything */
    FRAME_ROW,   /* the numeric array that is being lifted, or a row in it */
};

/* An object or array that is open. */
struct frame {
    enum frame_kind kind;
    size_t n;        /* members or elements read completely: the index of the one being read */
    const char *key; /* object: name of the member being read, its raw text between the quotes */
    size_t key_len;
};

struct walk {
    struct scan scan;
    struct arena *arena;
    size_t envelope_max; /* bytes that jansson may get */

    struct frame frames[JSON_DEPTH_MAX];
    size_t depth;

    /* What was seen ahead of an array's first leaf (see array_is_numeric). */
    const char *leaf;
    const char *open[JSON_DEPTH_MAX];
    size_t open_n;

    /* The numeric array that is being read. */
    bool lifting;
    size_t outside; /* frames around it */
    struct json_array array;
    bool rank_known, axis_known[JSON_RANK_MAX];

    /* Results. */
    struct json_array *arrays;
    size_t arrays_n, arrays_room;
    struct buf envelope;
    const char *copied; /* the envelope has the body up to here */
};

/* Reads the body that walk->scan stands at the beginning of. On success the arrays and the
 * envelope are complete. The caller has zeroed all but scan, arena and envelope_max, and releases
 * the envelope. */
bool walk_body(struct walk *walk);

/* ---- lift.c: numeric arrays, called by the walk ---- */

/* Whether the array that begins at scan.at is numeric (as doc.h defines it). */
bool array_is_numeric(struct walk *walk);
/* Around the array: at its '[', before its frame is pushed; behind its ']', after the pop. */
bool lift_begin(struct walk *walk);
bool lift_end(struct walk *walk);
/* A string of "b64" that began at `text` and ends at scan.at. */
bool lift_b64(struct walk *walk, const char *text);
/* Inside it, the frames being those around the element: a row begins, a row (the top frame) ends,
 * a number stands in text[0..len), there is something else (`says` what, in static memory). */
void lift_row_begin(struct walk *walk);
void lift_row_end(struct walk *walk);
void lift_number(struct walk *walk, const char *text, size_t len, bool integer);
void lift_other(struct walk *walk, const char *says);
/* The bulk of a row: skips numbers that are followed by a comma, if scan.at is at one. */
void lift_numbers(struct walk *walk);

/* JSON pointer of the element being read, in the arena; NULL without memory. Takes the outer
 * `depth` frames only. */
const char *walk_pointer(const struct walk *walk, size_t depth);
/* Adds limit-exceeded for want of memory; returns false. */
bool walk_no_memory(struct walk *walk);
/* Whether the envelope is complete; the error says that the system has no memory. */
bool walk_envelope_holds(struct walk *walk);

#endif
