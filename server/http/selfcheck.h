// SPDX-License-Identifier: Apache-2.0
/*
 * selfcheck.h: whether the guard holds with the libmicrohttpd that is installed. Part of what it
 * sees depends on where the library leaves a head in its buffer, which no version promises.
 */
#ifndef HTTP_SELFCHECK_H
#define HTTP_SELFCHECK_H

#include <microhttpd.h>
#include <stdbool.h>

/* Sends good and bad heads through a daemon of its own with these options; in a few milliseconds.
 * False after saying on stderr which was not seen for what it is. */
bool selfcheck_guard(const struct MHD_OptionItem *options);

#endif
