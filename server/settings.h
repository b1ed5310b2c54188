// SPDX-License-Identifier: Apache-2.0
/* settings.h: what the options mean to the application and to the HTTP service. */
#ifndef POSENCD_SETTINGS_H
#define POSENCD_SETTINGS_H

#include "api.h"
#include "config.h"

struct app_options settings_app(const struct config *config);
struct http_options settings_http(const struct config *config);

#endif
