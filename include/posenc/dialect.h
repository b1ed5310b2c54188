// SPDX-License-Identifier: Apache-2.0
/* dialect.h: dialects: what a library does where others do otherwise. See posenc.h. */
#ifndef POSENC_DIALECT_H
#define POSENC_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"
#include "spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Their names, as the choices of a parameter. */
#define PE_DIALECTS                                                                                \
    "transformers vllm ggml onnx onnxruntime meta torchtune lucidrains diffusers timm keras "      \
    "fairseq"

/* What a library sets for some kinds; all rows of one name are the dialect. Whatever the caller
 * gives goes before it. */
struct pe_dialect {
    const char *name;
    const char *kinds;   /* space-separated; NULL: all */
    const char *keys;    /* "layout=half,yarn_clamp=pairs": of an encoding, where it reads them */
    const char *method;  /* "freq_method=reciprocal": of an encoding, where the stages that the row
                            has in `request` are in force */
    const char *request; /* "width=tiled": of a request, where it has them */
    const char *means;   /* "scaling=dynamic>ntk_divide": a word that it has for another */
    const char *unread;  /* parameters, space-separated, that it has no use for */
    const char *help;    /* a sentence about it, or NULL */
};
size_t pe_dialects_n(void); /* rows */
const struct pe_dialect *pe_dialect_at(size_t i);
bool pe_dialect_has(const struct pe_dialect *row, const struct pe_kind *kind);
/* Sets what the row says in a spec that is not finished yet; staged: with its stages. False:
 * parameters that the library has no use for are given. */
bool pe_dialect_apply(const struct pe_dialect *row, struct pe_spec *spec, bool staged,
                      struct pe_faults *faults);

#ifdef __cplusplus
}
#endif

#endif
