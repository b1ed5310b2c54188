// SPDX-License-Identifier: Apache-2.0
/*
 * assets.h: files that are part of the program (server/web/assets.S), as NUL-terminated text, and
 * those of them that stand under /assets (assets.c): the clients, and what the page is made of.
 */
#ifndef API_ASSETS_H
#define API_ASSETS_H

struct app;

extern const char asset_index_html[];
extern const char asset_openapi_json[];
extern const char asset_examples_json[];
extern const char asset_fixtures_sha256[]; /* lines as sha256sum writes them */
extern const char asset_posenc_py[];
extern const char asset_posenc_js[];
#define PAGE_FILE(symbol, name, type) extern const char asset_##symbol[];
#include "page.def"
#undef PAGE_FILE

/* Makes the digests that are part of the lasting paths; once, at start. A client's is its own; the
 * files of the page, which name each other, share one, that changes with any of them. */
void assets_digest(struct app *app);

#endif
