// SPDX-License-Identifier: Apache-2.0
/* accept.h: what a client's fields Accept, Accept-Encoding and Accept-Language (RFC 9110, 12.5)
 * say. */
#ifndef API_ACCEPT_H
#define API_ACCEPT_H

#define ACCEPT_BEST 1000

/* Quality of "type/subtype" in thousandths: 0 (not wanted) to ACCEPT_BEST. The most specific range
 * counts; parameters other than q are ignored, and so are elements that are not well-formed. A
 * field that is absent (NULL) or empty wants everything. */
int accept_quality(const char *accept, const char *type);

#define ACCEPT_UNNAMED (-1)

/* The same for a content coding in Accept-Encoding; ACCEPT_UNNAMED where the field says nothing of
 * it, not even by *. */
int accept_coding(const char *accept, const char *coding);

/* The same for a language such as "ru" in Accept-Language; "ru-RU" asks for it too. */
int accept_language(const char *accept, const char *language);

#endif
