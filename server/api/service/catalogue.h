// SPDX-License-Identifier: Apache-2.0
/* catalogue.h: the encodings as text, for catalogue.c. */
#ifndef API_CATALOGUE_H
#define API_CATALOGUE_H

#include "buf.h"
#include "posenc.h"

const char *catalogue_by(enum pe_acts acts); /* "rotation" */

/* Once, before threads: what is offered of each kind. False: there are more than there is room for.
 */
bool catalogue_prepare(void);

/* What is no kind here, and why. */
struct catalogue_absent {
    const char *name, *title, *reason;
};
extern const struct catalogue_absent catalogue_absent[];
extern const size_t catalogue_absent_n;

void catalogue_write_list(struct buf *out);                             /* one line per kind */
void catalogue_write_kind(struct buf *out, const struct pe_kind *kind); /* all about one */

#endif
