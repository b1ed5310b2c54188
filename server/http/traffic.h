// SPDX-License-Identifier: Apache-2.0
/* traffic.h: how many bytes a TCP connection has moved since it began, as the kernel counts them.
 */
#ifndef HTTP_TRAFFIC_H
#define HTTP_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes received from the peer, read or not, and bytes that the peer has acknowledged; false where
 * the kernel does not say (Linux does since 4.1). */
bool traffic_read(int fd, uint64_t *received, uint64_t *acknowledged);

#endif
