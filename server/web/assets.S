// SPDX-License-Identifier: Apache-2.0
/*
 * assets.S: text files embedded in the program, declared in server/api/service/assets.h. Paths are
 * from the root of the project; those of page.def from here, or from what npm has brought.
 */
        .macro  asset name, file
        .global asset_\name
asset_\name:
        .incbin "\file"
        .byte   0
        .endm

        .section .rodata
        asset   index_html, server/web/index.html
        asset   openapi_json, proto/openapi.in.json
        asset   examples_json, proto/examples.json
        asset   fixtures_sha256, proto/fixtures.sha256
        asset   posenc_py, server/web/posenc.py
        asset   posenc_js, server/web/posenc.js

#define PAGE_FILE(symbol, name, type) asset symbol, name
#include "page.def"

        .section .note.GNU-stack, "", %progbits
