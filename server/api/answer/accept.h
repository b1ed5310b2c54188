// SPDX-License-Identifier: Apache-2.0
/* accept.h: what a client's Accept field (RFC 9110, 12.5.1) says about a media type. */
#ifndef API_ACCEPT_H
#define API_ACCEPT_H

#define ACCEPT_BEST 1000

/* Quality of "type/subtype" in thousandths: 0 (not wanted) to ACCEPT_BEST. The most specific range
 * counts; parameters other than q are ignored, and so are elements that are not well-formed. A
 * field that is absent (NULL) or empty wants everything. */
int accept_quality(const char *accept, const char *type);

#endif
