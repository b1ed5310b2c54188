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
            "stages with their dtypes, as in freq:f32,angle:f32,table:bf16; /help lists both."     \
    }

#define KEY_DTYPE(help)                                                                            \
    {                                                                                              \
        "dtype", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL | PE_DERIVED, NULL,                           \
            "f64|float64|F64|FP64|double|<f8 f32|float32|F32|FP32|float|<f4 "                      \
            "f16|float16|F16|FP16|half|<f2 bf16|bfloat16|BF16",                                    \
            NULL, help                                                                             \
    }

#define KEY_POSITIONS(fallback, flags)                                                             \
    {                                                                                              \
        "positions", NULL, PE_TEXT, 0, 0, 0, flags, fallback, NULL, NULL,                          \
            "Positions: 7, 0,8,24, 0:128, 0:128:4, -4:4, 0:2:0.25, 2^0:2^20; for two axes "        \
            "rows;cols."                                                                           \
    }

#define KEY_GRID                                                                                   \
    {                                                                                              \
        "grid", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL, NULL, NULL, NULL,                             \
            "RxC: the positions of a grid, row by row, for kinds with two axes."                   \
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

#define KEY_GAIN(fallback)                                                                         \
    {                                                                                              \
        "gain", NULL, PE_REAL, -1e300, 1e300, 0, 0, fallback, NULL, NULL,                          \
            "Factor on the test vectors."                                                          \
    }

#endif
