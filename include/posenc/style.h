// SPDX-License-Identifier: Apache-2.0
/* style.h: the position ids that libraries make of masks, images and videos. See posenc.h. */
#ifndef POSENC_STYLE_H
#define POSENC_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "position.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PE_SEGMENTS_MAX          1024   /* runs of text, images and videos in one sequence */
#define PE_SEGMENT_SECONDS_MAX   3600.0 /* from one frame to the next */
#define PE_TOKENS_PER_SECOND_MAX 1000
#define PE_CHUNK_SIZE_MAX        4503599627370496.0 /* 2^52: two chunks are positions */

enum pe_style_of {
    PE_STYLE_OF_TOKENS,   /* sequences with padding, or packed behind each other */
    PE_STYLE_OF_SEGMENTS, /* a sequence of text, images and videos: frame, row, column */
    PE_STYLE_OF_PATCHES,  /* the patches of images and videos by themselves */
    PE_STYLE_OF_CHUNKS,   /* sequences packed behind each other, in chunks: a row per variant */
};

/* How a library counts. */
struct pe_style {
    const char *name;
    enum pe_style_of of;
    size_t axes;
    const char *help; /* the rule, and who has it */
    /* PE_STYLE_OF_TOKENS: the position of a sequence's first token, after padding_idx where that is
     * read; padding stands at padding_idx, else at 0, unless it is counted like any token. */
    double first;
    bool reads_padding_idx, counts_padding;
    bool by_frame; /* PE_STYLE_OF_SEGMENTS: frames are images apart, so that no grid has several */
    bool flat;     /* PE_STYLE_OF_PATCHES: row * max_width + column instead of row and column */
};

size_t pe_styles_n(void);
const struct pe_style *pe_style_at(size_t i);
const struct pe_style *pe_style_find(const char *name, size_t len); /* NULL: none */

/* Positions of n tokens; `real` tells padding from tokens (NULL: no padding). */
void pe_style_tokens(const struct pe_style *style, double padding_idx, const bool *real, size_t n,
                     double *out);

/* Dual chunk attention: tokens count from 0 in chunks of size - local. A key is rotated once, a
 * query by every other variant, of which attention takes one by how many chunks the key is behind:
 * none, one or more. The critical variants go on beyond the size of a chunk. */
enum pe_chunk_variant {
    PE_CHUNK_KEY,
    PE_CHUNK_QUERY, /* the key in the same chunk */
    PE_CHUNK_SUCCESSIVE,
    PE_CHUNK_INTER,
    PE_CHUNK_SUCCESSIVE_CRITICAL,
    PE_CHUNK_INTER_CRITICAL,
    PE_CHUNK_VARIANTS_N
};
const char *const *pe_chunk_variants(void); /* their names: "key", "query", ... */

struct pe_chunks {
    double size, local; /* whole numbers, 0 <= local < size <= PE_CHUNK_SIZE_MAX */
};

/* The position that a variant has for a token, a whole number from 0. */
double pe_chunk_position(const struct pe_chunks *chunks, enum pe_chunk_variant variant,
                         double token);

/* A run of text, or the grid of an image or a video. */
struct pe_segment {
    size_t text;    /* tokens; 0: a grid of */
    size_t size[3]; /* frames, rows, columns */
    double seconds; /* from frame to frame; NAN: not said, which is 1 */
};

/* Reads "3,4x4,2x4x4@0.5": three tokens of text, an image of 4 rows and columns, a video of 2
 * frames, half a second apart. Stores at most `max`. */
bool pe_segments_parse(const char *text, const char *param, struct pe_segment *out, size_t max,
                       size_t *n, struct pe_faults *faults);
/* The canonical text. Returns the length it needs, as snprintf does. */
size_t pe_segments_print(const struct pe_segment *segments, size_t n, char *out, size_t size);

/* Segments, and what a style has to know of them. */
struct pe_segments {
    const struct pe_style *style; /* of segments or of patches */
    const struct pe_segment *at;
    size_t n;
    size_t patch, merge;      /* rows and columns count pixels, patch by patch in a token's row;
                                 merge x merge patches become one token of a sequence */
    size_t tokens_per_second; /* positions that frames are apart for each second, at most
                                 PE_TOKENS_PER_SECOND_MAX; 0: a frame is one from the next */
    bool after_side;          /* what follows a grid starts at its longer side, not behind the
                                 largest position so far */
    size_t max_width;         /* flat: columns of a whole image */
};

/* Whether sizes are divided by patch and merge, and the tokens are few enough (*tokens). Faults
 * name `param`, or merge and other keys. */
bool pe_segments_check(const struct pe_segments *segments, const char *param, size_t *tokens,
                       struct pe_faults *faults);
/* Positions of all tokens on each axis of the style. Returns the largest + 1 - tokens: what
 * decoding adds to the number of a token to get its position. */
double pe_segments_fill(const struct pe_segments *segments, double *const at[]);

#ifdef __cplusplus
}
#endif

#endif
