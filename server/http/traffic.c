// SPDX-License-Identifier: Apache-2.0
/* traffic.c: see traffic.h. Alone, because the kernel's header for TCP_INFO contradicts libc's
 * older one, which other headers bring along. */
#include "traffic.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

bool traffic_read(int fd, uint64_t *received, uint64_t *acknowledged)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return false;
    *received = info.tcpi_bytes_received;
    *acknowledged = info.tcpi_bytes_acked;
    return true;
}
