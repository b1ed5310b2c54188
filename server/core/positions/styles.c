// SPDX-License-Identifier: Apache-2.0
/* styles.c: the table of styles, and the positions of sequences with padding and in chunks. */
#include <math.h>
#include <string.h>

#include "posenc.h"

static const struct pe_style styles[] = {
    {.name = "gpt2",
     .of = PE_STYLE_OF_TOKENS,
     .axes = 1,
     .help = "Tokens count from 0, padding stands at 0: GPT-2, BLOOM, Llama."},
    {.name = "opt",
     .of = PE_STYLE_OF_TOKENS,
     .axes = 1,
     .reads_padding_idx = true,
     .first = 1,
     .help = "Rows of OPT's table, whose first two are reserved: tokens from padding_idx + 1, "
             "padding at padding_idx."},
    {.name = "roberta",
     .of = PE_STYLE_OF_TOKENS,
     .axes = 1,
     .reads_padding_idx = true,
     .first = 1,
     .help = "Tokens from padding_idx + 1, padding at padding_idx: RoBERTa, XLM-R, CamemBERT, "
             "Longformer, M2M-100."},
    {.name = "fairseq",
     .of = PE_STYLE_OF_TOKENS,
     .axes = 1,
     .reads_padding_idx = true,
     .first = 1,
     .help = "Tokens from padding_idx + 1, padding at padding_idx: fairseq's make_positions."},
    {.name = "bart",
     .of = PE_STYLE_OF_TOKENS,
     .axes = 1,
     .counts_padding = true,
     .first = 2,
     .help = "All places from 2, whatever the mask: BART, mBART, LED."},
    {.name = "mrope",
     .of = PE_STYLE_OF_SEGMENTS,
     .axes = 3,
     .help = "Text counts on all three axes; grids start where it stands, plus frame, row and "
             "column: Qwen2-VL, Qwen2.5-VL, GLM-4V."},
    {.name = "mrope_interleaved",
     .of = PE_STYLE_OF_SEGMENTS,
     .axes = 3,
     .by_frame = true,
     .help = "The same with every frame of a video an image of its own, its timestamp as text "
             "before it: Qwen3-VL."},
    {.name = "vision",
     .of = PE_STYLE_OF_PATCHES,
     .axes = 2,
     .help = "Row and column of each patch, block of merge x merge by block, for every frame "
             "again: the vision tower of Qwen2-VL."},
    {.name = "pixtral",
     .of = PE_STYLE_OF_PATCHES,
     .axes = 1,
     .flat = true,
     .help = "row * max_width + column of each patch, row by row: Pixtral."},
    {.name = "dual_chunk",
     .of = PE_STYLE_OF_CHUNKS,
     .axes = PE_CHUNK_VARIANTS_N,
     .help =
         "Keys count anew every chunk_size - local_size tokens; queries have five positions, by "
         "how many chunks a key is behind: Qwen2.5-1M, vLLM."},
};

size_t pe_styles_n(void)
{
    return sizeof styles / sizeof styles[0];
}

const struct pe_style *pe_style_at(size_t i)
{
    return i < pe_styles_n() ? &styles[i] : NULL;
}

const struct pe_style *pe_style_find(const char *name, size_t len)
{
    for (size_t i = 0; i < pe_styles_n(); i++)
        if (strlen(styles[i].name) == len && memcmp(styles[i].name, name, len) == 0)
            return &styles[i];
    return NULL;
}

void pe_style_tokens(const struct pe_style *style, double padding_idx, const bool *real, size_t n,
                     double *out)
{
    double padding = style->reads_padding_idx ? padding_idx : 0;
    double next = style->first + padding;
    for (size_t i = 0; i < n; i++) {
        bool counts = !real || real[i] || style->counts_padding;
        out[i] = counts ? next : padding;
        next += counts;
    }
}

const char *const *pe_chunk_variants(void)
{
    static const char *const names[PE_CHUNK_VARIANTS_N] = {
        "key", "query", "successive", "inter", "successive_critical", "inter_critical",
    };
    return names;
}

double pe_chunk_position(const struct pe_chunks *chunks, enum pe_chunk_variant variant,
                         double token)
{
    double length = chunks->size - chunks->local;
    double place = fmod(token, length); /* exact */
    switch (variant) {
    case PE_CHUNK_SUCCESSIVE:
        return fmin(place + length, chunks->size);
    case PE_CHUNK_INTER: /* where the successive chunk ends */
        return fmin(2 * length - 1, chunks->size);
    case PE_CHUNK_SUCCESSIVE_CRITICAL:
        return place + length;
    case PE_CHUNK_INTER_CRITICAL:
        return place + chunks->size;
    default:
        return place;
    }
}
