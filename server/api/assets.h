// SPDX-License-Identifier: Apache-2.0
/* assets.h: files that are part of the program (server/web/assets.S), each from its first byte to
 * before its end. */
#ifndef API_ASSETS_H
#define API_ASSETS_H

extern const char asset_index_html[], asset_index_html_end[];
extern const char asset_openapi_json[], asset_openapi_json_end[];

#endif
