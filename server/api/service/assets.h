// SPDX-License-Identifier: Apache-2.0
/* assets.h: files that are part of the program (server/web/assets.S), as NUL-terminated text. */
#ifndef API_ASSETS_H
#define API_ASSETS_H

extern const char asset_index_html[];
extern const char asset_openapi_json[];

#endif
