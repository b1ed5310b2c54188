// SPDX-License-Identifier: Apache-2.0
/*
 * rows.h: parameter rows that several kinds share, so that each fact stands once. A row is used
 * by its macro inside a kind's table; rows named by `when` or "@" stand before those that name
 * them.
 */
#ifndef PE_CORE_ROWS_H
#define PE_CORE_ROWS_H

#include "posenc.h"

#define PE__ROW_DIM(least, multiple)                                                               \
    {                                                                                              \
        .name = "dim", .aliases = "d head_dim d_model", .type = PE_INT, .min = (least),            \
        .max = PE_DIM_MAX, .multiple_of = (multiple), .fallback = "64",                            \
        .help = "Channels of one vector."                                                          \
    }

#define PE__ROW_BASE                                                                               \
    {                                                                                              \
        .name = "base", .aliases = "theta rope_theta", .type = PE_REAL, .min = 1, .max = 1e30,     \
        .flags = PE_OPEN_MIN, .fallback = "10000",                                                 \
        .help =                                                                                    \
            "Base of the series of frequencies: the larger, the longer the longest wavelength."    \
    }

#define PE__ROW_SHIFT                                                                              \
    {                                                                                              \
        .name = "shift", .type = PE_REAL, .min = -PE_POSITION_MAX, .max = PE_POSITION_MAX,         \
        .fallback = "0", .help = "Added to every position."                                        \
    }

/* How positions are used by kinds whose places are real numbers. */
#define PE__ROWS_PLACE                                                                             \
    PE__ROW_SHIFT,                                                                                 \
        {.name = "position_scale",                                                                 \
         .type = PE_REAL,                                                                          \
         .min = -1e6,                                                                              \
         .max = 1e6,                                                                               \
         .flags = PE_QUIET,                                                                        \
         .fallback = "1",                                                                          \
         .help = "Multiplies every position, before shift is added."},                             \
        {.name = "clamp",                                                                          \
         .type = PE_REAL,                                                                          \
         .min = 0,                                                                                 \
         .max = PE_POSITION_MAX,                                                                   \
         .flags = PE_OPTIONAL | PE_OPEN_MIN,                                                       \
         .help = "Positions end here and at its negative, after position_scale and shift."},       \
    {                                                                                              \
        .name = "max_positions", .type = PE_INT, .min = 1, .max = PE_POSITION_MAX,                 \
        .flags = PE_OPTIONAL,                                                                      \
        .help = "Rows of a table that positions are looked up in: negative, fractional and "       \
                "larger ones are errors."                                                          \
    }

#define PE__ROW_PADDING                                                                            \
    {                                                                                              \
        .name = "padding_idx", .type = PE_INT, .min = 0, .max = PE_POSITION_MAX,                   \
        .flags = PE_OPTIONAL,                                                                      \
        .help = "The position, shift included, that stands for padding: its row is zeros."         \
    }

#define PE__ROW_HEADS                                                                              \
    {                                                                                              \
        .name = "heads", .aliases = "num_heads", .type = PE_INT, .min = 1, .max = PE_HEADS_MAX,    \
        .fallback = "1", .help = "Attention heads, each with a bias of its own."                   \
    }

#define PE__ROW_HEAD                                                                               \
    {                                                                                              \
        .name = "head", .type = PE_INT, .min = 0, .max = PE_HEADS_MAX - 1, .fallback = "0",        \
        .help = "The head to use where one is needed (scores), counted from 0; below heads."       \
    }

#define PE__ROW_TABLE_SEED                                                                         \
    {                                                                                              \
        .name = "table_seed", .type = PE_INT, .min = 0, .max = PE_POSITION_MAX, .fallback = "0",   \
        .help = "Seed of the normally distributed table, when none is posted."                     \
    }

#define PE__ROW_TABLE_STD                                                                          \
    {                                                                                              \
        .name = "table_std", .type = PE_REAL, .min = 0, .max = 1000, .fallback = "0.02",           \
        .help = "Standard deviation of the seeded table."                                          \
    }

/* Number of rows of a kind's table. */
#define PE__ROWS_N(rows) (sizeof(rows) / sizeof *(rows))

#endif
