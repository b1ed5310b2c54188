// SPDX-License-Identifier: Apache-2.0
/* changes.h: the versions of the semantics (changes.def). */
#ifndef API_CHANGES_H
#define API_CHANGES_H

#include <stddef.h>

struct change {
    const char *version, *summary;
    const char *changed;         /* names of fixtures, separated by blanks */
    const char *fixtures_sha256; /* of proto/fixtures.sha256 */
};

/* The newest first. */
extern const struct change changes[];
extern const size_t changes_n;

#endif
