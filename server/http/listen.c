// SPDX-License-Identifier: Apache-2.0
/* listen.c: see listen.h. No names are looked up: that could block and would need more libraries.
 */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024
/* What the kernel takes of an answer at a time (it doubles this for its own needs). Left to itself
 * it takes up to 4 MB, which no processor's cache holds until the client reads them: from this,
 * answers of 2.6 MB go out 1.7 times as fast, and the loop is back for others sooner. Enough for
 * 5 MB/s to a client that is 100 ms away. */
#define SEND_BYTES (256 << 10)

/* The digits of a port, 0..65535, or -1. */
static int port_parse(const char *text)
{
    int port = 0;

    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9' || c - text >= 5)
            return -1;
        port = 10 * port + (*c - '0');
    }
    return *text && port <= 65535 ? port : -1;
}

static bool address_parse(const char *text, union listen_address *address)
{
    const char *colon = strrchr(text, ':');
    int port = colon ? port_parse(colon + 1) : -1;
    char host[INET6_ADDRSTRLEN + 2];
    size_t len = colon ? (size_t)(colon - text) : 0;

    memset(address, 0, sizeof *address);
    if (port < 0 || len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, host + 1, &address->v6.sin6_addr) == 1;
    }
    address->v4.sin_family = AF_INET;
    address->v4.sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1;
}

static void url_print(const union listen_address *address, char *url, size_t url_size)
{
    char host[INET6_ADDRSTRLEN] = "";

    if (address->any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof host);
        snprintf(url, url_size, "http://[%s]:%d", host, ntohs(address->v6.sin6_port));
    } else {
        inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host);
        snprintf(url, url_size, "http://%s:%d", host, ntohs(address->v4.sin_port));
    }
}

int listen_open(const char *text, char *url, size_t url_size)
{
    union listen_address address;
    socklen_t size = sizeof address;
    const int on = 1, send_bytes = SEND_BYTES;

    if (!address_parse(text, &address)) {
        fprintf(stderr,
                "posencd: cannot listen on \"%s\": give a numeric address and a port, "
                "such as 127.0.0.1:8080 or [::1]:8080\n",
                text);
        return -1;
    }
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes) != 0 ||
        bind(fd, &address.any,
             address.any.sa_family == AF_INET6 ? sizeof address.v6 : sizeof address.v4) != 0 ||
        listen(fd, BACKLOG) != 0 || getsockname(fd, &address.any, &size) != 0) {
        fprintf(stderr, "posencd: cannot listen on %s: %s\n", text, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    url_print(&address, url, url_size);
    return fd;
}

/* Packets with fewer hops to go are not for this socket. */
static void hops_set(int fd, int hops)
{
    setsockopt(fd, IPPROTO_IP, IP_MINTTL, &hops, sizeof hops);
    setsockopt(fd, IPPROTO_IPV6, IPV6_MINHOPCOUNT, &hops, sizeof hops);
}

/* Nobody sends with so many. (A filter would say it plainly, but containers allow none.) */
void listen_refuse(int fd)
{
    hops_set(fd, 255);
}

int listen_accept(int listening, union listen_address *address, socklen_t *size)
{
    *size = sizeof *address;
    int fd = accept4(listening, &address->any, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) /* it may have begun before and inherited what is set now */
        hops_set(fd, 0);
    return fd;
}
