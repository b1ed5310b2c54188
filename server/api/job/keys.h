// SPDX-License-Identifier: Apache-2.0
/*
 * keys.h: rows of request keys that several endpoints share, so that each is described once.
 */
#ifndef API_KEYS_H
#define API_KEYS_H

#include "posenc.h"

#define KEY_STAGES                                                                                 \
    {                                                                                              \
        "stages", NULL, PE_TEXT, 0, 0, 0, PE_SCALAR, "exact", NULL, NULL,                          \
            "Where the pipeline rounds: exact (nowhere but at the end), a preset such as f32, or " \
            "stages with their dtypes, as in freq:f32,angle:f32,table:T, where T is that of the "  \
            "tensors; /help lists both."                                                           \
    }

#define KEY_DTYPE(help)                                                                            \
    {                                                                                              \
        "dtype", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL | PE_DERIVED, NULL,                           \
            "f64|float64|F64|FP64|double|<f8 f32|float32|F32|FP32|float|<f4 "                      \
            "f16|float16|F16|FP16|half|<f2 bf16|bfloat16|BF16",                                    \
            NULL, help                                                                             \
    }

/* What coordinates the cells of a grid have. */
#define KEYS_COORDS                                                                                \
    {"coords",                                                                                     \
     NULL,                                                                                         \
     PE_ENUM,                                                                                      \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     "index",                                                                                      \
     "index linspace center scaled crop",                                                          \
     NULL,                                                                                         \
     "The coordinate of cell i of N: i + coord_offset; from -1 to 1, both included; "              \
     "2(i + 0.5)/N - 1; (i + coord_offset)/N * ref; start + (stop - start) i/N."},                 \
        {"coord_offset",                                                                           \
         NULL,                                                                                     \
         PE_REAL,                                                                                  \
         -PE_POSITION_MAX,                                                                         \
         PE_POSITION_MAX,                                                                          \
         0,                                                                                        \
         0,                                                                                        \
         "0",                                                                                      \
         NULL,                                                                                     \
         "coords=index|scaled",                                                                    \
         "Added to the number of a cell."},                                                        \
        {"ref",                                                                                    \
         NULL,                                                                                     \
         PE_REALS,                                                                                 \
         -PE_POSITION_MAX,                                                                         \
         PE_POSITION_MAX,                                                                          \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "coords=scaled",                                                                          \
         "Sides of the grid that this one is scaled to, a number per axis."},                      \
        {"start",                                                                                  \
         NULL,                                                                                     \
         PE_REALS,                                                                                 \
         -PE_POSITION_MAX,                                                                         \
         PE_POSITION_MAX,                                                                          \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "coords=crop",                                                                            \
         "First coordinate on each axis."},                                                        \
        {"stop",                                                                                   \
         NULL,                                                                                     \
         PE_REALS,                                                                                 \
         -PE_POSITION_MAX,                                                                         \
         PE_POSITION_MAX,                                                                          \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "coords=crop",                                                                            \
         "Where the coordinates of each axis end, itself not included."},                          \
    {                                                                                              \
        "coord_norm", NULL, PE_ENUM, 0, 0, 0, 0, "separate", "separate max",                       \
            "coords=center|scaled|crop",                                                           \
            "N is the length of each axis, or the longest side for all."                           \
    }

/* The cells of a grid. `merge` may have other uses: merge_when says when it is read. */
#define KEYS_GRID(merge_when)                                                                      \
    {"grid",                                                                                       \
     NULL,                                                                                         \
     PE_TEXT,                                                                                      \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     PE_OPTIONAL,                                                                                  \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     "HxW or TxHxW: the positions of a grid, a coordinate per axis, the first axis outermost."},   \
        {"grid_order",                                                                             \
         NULL,                                                                                     \
         PE_ENUM,                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         "row",                                                                                    \
         "row column merge",                                                                       \
         NULL,                                                                                     \
         "How the cells of a grid follow each other: row by row; column by column (the last axis " \
         "outermost); in blocks of merge x merge cells, row by row inside and outside."},          \
        {"merge",    "spatial_merge_size",       PE_INT, 1, PE_GRID_SIDE_MAX, 0, 0, "2", NULL,     \
         merge_when, "Side of a block of cells."},                                                 \
        KEYS_COORDS

/* Sequences with padding. */
#define KEY_ATTENTION_MASK                                                                         \
    {                                                                                              \
        "attention_mask", "mask", PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,                 \
            "Positions by which of the tokens are padding (0) and which not (1), as in 0,0,1,1; "  \
            "batch rows between ;."                                                                \
    }
#define KEY_IDS                                                                                    \
    {                                                                                              \
        "ids", "input_ids", PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,                       \
            "The same by the tokens' ids, of which padding_idx is padding."                        \
    }
#define KEY_PADDING_IDX                                                                            \
    {                                                                                              \
        "padding_idx", NULL, PE_INT, 0, PE_POSITION_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,         \
            "The id that is padding, and the position where it stands in some styles; 1 without "  \
            "it."                                                                                  \
    }
#define STYLES_OF_TOKENS                                                                           \
    "gpt2|bloom opt roberta|xlm_roberta|camembert|longformer|m2m100 fairseq bart|mbart|led"

/* Dual chunk attention. */
#define KEYS_CHUNKS(help)                                                                          \
    {"chunk_size",                                                                                 \
     NULL,                                                                                         \
     PE_INT,                                                                                       \
     1,                                                                                            \
     PE_CHUNK_SIZE_MAX,                                                                            \
     0,                                                                                            \
     PE_OPTIONAL,                                                                                  \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     "style=dual_chunk: the largest position that a query has without being critical."},           \
        {"local_size",                                                                             \
         NULL,                                                                                     \
         PE_INT,                                                                                   \
         0,                                                                                        \
         PE_CHUNK_SIZE_MAX,                                                                        \
         0,                                                                                        \
         PE_OPTIONAL,                                                                              \
         NULL,                                                                                     \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "style=dual_chunk: less than chunk_size; keys count anew every chunk_size - local_size "  \
         "tokens."},                                                                               \
    {                                                                                              \
        "variant", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL,                                      \
            "key query successive inter successive_critical inter_critical", NULL,                 \
            "style=dual_chunk: " help                                                              \
    }

/* Where tokens stand: lists, or what stands in their place. */
#define KEYS_POSITIONS(fallback, flags)                                                            \
    {"positions",                                                                                  \
     NULL,                                                                                         \
     PE_TEXT,                                                                                      \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     flags,                                                                                        \
     fallback,                                                                                     \
     NULL,                                                                                         \
     NULL,                                                                                         \
     "Positions: 7, 0,8,24, 0:128, 0:128:4, -4:4, 0:2:0.25, 2^0:2^20; a list per batch row, or "   \
     "per axis of kinds with several, between ;."},                                                \
        KEYS_GRID("grid_order=merge"),                                                             \
        {"pixel_mask",                                                                             \
         NULL,                                                                                     \
         PE_TEXT,                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         PE_OPTIONAL,                                                                              \
         NULL,                                                                                     \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "For kinds that count pixels: which ones are valid, as in 1,1;1,0, rows between ;."},     \
        KEY_ATTENTION_MASK, KEY_IDS, KEY_PADDING_IDX,                                              \
        {"style",                                                                                  \
         NULL,                                                                                     \
         PE_ENUM,                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         PE_OPTIONAL,                                                                              \
         NULL,                                                                                     \
         STYLES_OF_TOKENS " dual_chunk",                                                           \
         NULL,                                                                                     \
         "Whose rule makes positions of attention_mask or ids: gpt2 from 0; opt, roberta and "     \
         "fairseq from padding_idx + 1; bart from 2. dual_chunk: positions count tokens, which "   \
         "stand where dual chunk attention rotates them (variant)."},                              \
        KEYS_CHUNKS("What is rotated: keys, or queries for keys in the same chunk (query), in "    \
                    "the one before (successive) or further back (inter)."),                       \
    {                                                                                              \
        "class_token", NULL, PE_ENUM, 0, 0, 0, 0, "none", "none first last", NULL,                 \
            "A token without a position, before or behind the others: it passes through, and its " \
            "row is that of the angle 0, or zeros."                                                \
    }

#define KEY_PREFIX                                                                                 \
    {                                                                                              \
        "prefix", "prefix_tokens", PE_INT, 0, PE_POSITIONS_N_MAX, 0, 0, "0", NULL, NULL,           \
            "So many leading tokens have no position and pass through."                            \
    }

#define KEY_CONTENT(choices, fallback, flags)                                                      \
    {                                                                                              \
        "content", NULL, PE_TEXT, 0, 0, 0, PE_SCALAR | (flags), fallback, NULL, NULL,              \
            "Test vectors: " choices "."                                                           \
    }

#define KEY_SEED                                                                                   \
    {                                                                                              \
        "seed", NULL, PE_INT, 0, 9007199254740992.0, 0, 0, "0", NULL, NULL,                        \
            "Seed of the test vectors (SplitMix64 in counter form)."                               \
    }

#define KEY_SCALE(fallback)                                                                        \
    {                                                                                              \
        "scale", NULL, PE_TEXT, 0, 0, 0, PE_SCALAR, fallback, NULL, NULL,                          \
            "none, sqrt_dim (divide by the root of dim), or a factor."                             \
    }

#define KEY_GAIN(fallback)                                                                         \
    {                                                                                              \
        "gain", NULL, PE_REAL, -1e300, 1e300, 0, 0, fallback, NULL, NULL,                          \
            "Factor on the test vectors."                                                          \
    }

#endif
