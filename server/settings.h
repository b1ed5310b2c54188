// SPDX-License-Identifier: Apache-2.0
/*
 * settings.h: what the options mean to the application, to the HTTP service and to requests without
 * one.
 */
#ifndef POSENCD_SETTINGS_H
#define POSENCD_SETTINGS_H

#include "api.h"
#include "config.h"
#include "local.h"

struct app_options settings_app(const struct config *config);
struct http_options settings_http(const struct config *config);
/* The deadline counts from now. `memory` becomes that of all requests with these limits. */
struct local_limits settings_local(const struct config *config, struct budget *memory);

#endif
