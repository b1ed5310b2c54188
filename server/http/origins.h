// SPDX-License-Identifier: Apache-2.0
/* origins.h: which pages of other origins may read answers: a list, or all of them. */
#ifndef HTTP_ORIGINS_H
#define HTTP_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>

/* "*", or origins such as https://example.org separated by commas. */
bool origins_are_valid(const char *list);
/* Whether the list names all. */
bool origins_are_all(const char *list);
/* Whether it names this one, letter by letter as browsers send it. */
bool origins_have(const char *list, const char *origin);

#endif
