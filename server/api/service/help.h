// SPDX-License-Identifier: Apache-2.0
/* help.h: help for a terminal, at most TEXT_COLUMNS wide. */
#ifndef API_HELP_H
#define API_HELP_H

#include "buf.h"

void help_write_short(struct buf *out); /* what to try first */
void help_write(struct buf *out);       /* all of it */

#endif
