// SPDX-License-Identifier: Apache-2.0
/* positions_text.c: what there is to say of positions below their table. */
#include <math.h>
#include <string.h>

#include "positions.h"
#include "text.h"

#define TEXT_BYTES_MAX 4096

/* Of the tokens of some rows; what is padding stands nowhere. */
struct range {
    double least, most;
    size_t padded;
};

static struct range range_of(const struct ids *ids, size_t first, size_t rows)
{
    struct range range = {INFINITY, -INFINITY, 0};
    for (size_t i = first * ids->n; i < (first + rows) * ids->n; i++) {
        if (ids->real && !ids->real[i]) {
            range.padded++;
            continue;
        }
        range.least = fmin(range.least, ids->at[i]);
        range.most = fmax(range.most, ids->at[i]);
    }
    return range;
}

static void say_axes(struct buf *out, const struct ids *ids)
{
    text_say(out, "%zu tokens on %zu %s.", ids->n, ids->rows, ids->rows == 1 ? "axis" : "axes");
    for (size_t axis = 0; ids->n > 0 && axis < ids->rows; axis++) {
        struct range range = range_of(ids, axis, 1);
        text_say(out, "On axis %zu they stand at %.6g to %.6g.", axis, range.least, range.most);
    }
}

static void say_rows(struct buf *out, const struct ids *ids)
{
    struct range range = range_of(ids, 0, ids->rows);
    if (ids->rows == 1)
        text_say(out, "%zu %s.", ids->n, ids->n == 1 ? "token" : "tokens");
    else
        text_say(out, "%zu tokens in each of %zu %s.", ids->n, ids->rows,
                 ids->names ? "variants" : "rows");
    if (range.least <= range.most)
        text_say(out, "They stand at positions %.6g to %.6g.", range.least, range.most);
    if (range.padded > 0)
        text_say(out,
                 "%zu %s padding: the number there is what the model is given, and means nothing; "
                 "select=mask shows where.",
                 range.padded, range.padded == 1 ? "place is" : "places are");
}

static void say_next(struct buf *out, const struct ids *ids)
{
    static const char *const kinds[] = {"axial", "rope", "rope2d", "mrope"}; /* by their axes */
    const size_t kinds_n = sizeof kinds / sizeof *kinds;
    if (ids->names)
        text_say(out, "Next: rotate k at the positions of key, and q at those of the variant that "
                      "its chunk needs; /v1/apply does so with variant=successive and the like.");
    else if (strcmp(ids->row, "axis") == 0)
        text_say(out,
                 "Next: give them to /v1/apply as \"positions\": {\"axes\": [..]}, with a kind of "
                 "%zu %s, such as kind=%s.",
                 ids->rows, ids->rows == 1 ? "axis" : "axes",
                 kinds[ids->rows < kinds_n ? ids->rows : 0]);
    else
        text_say(out, "Next: give them to /v1/apply as \"positions\"%s.",
                 ids->rows == 1 ? "" : ", a list for each row of the batch");
}

const char *positions_text(struct arena *arena, const struct ids *ids)
{
    struct buf out;
    buf_init(&out, TEXT_BYTES_MAX);
    if (strcmp(ids->row, "axis") == 0)
        say_axes(&out, ids);
    else
        say_rows(&out, ids);
    if (ids->decodes)
        text_say(&out,
                 "rope_delta is %.6g: a token that is decoded later stands at its number in the "
                 "sequence plus that.",
                 ids->delta);
    say_next(&out, ids);
    const char *text = out.failed ? NULL : arena_strndup(arena, out.data, out.len);
    buf_release(&out);
    return text;
}
