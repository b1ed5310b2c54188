// SPDX-License-Identifier: Apache-2.0
/* listen.c: see listen.h. No names are looked up: that could block and would need more libraries.
 */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

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

static bool address_parse(const char *text, union address *address)
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

static void url_print(const union address *address, char *url, size_t url_size)
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
    union address address;
    socklen_t size = sizeof address;
    const int on = 1;

    if (!address_parse(text, &address)) {
        fprintf(stderr,
                "posencd: cannot listen on \"%s\": give a numeric address and a port, "
                "such as 127.0.0.1:8080 or [::1]:8080\n",
                text);
        return -1;
    }
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
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

void listen_narrow(int fd)
{
    /* A queue of length 0 still holds one. Where it fails, those are reset that could not be
     * accepted in time. */
    listen(fd, 0);
}

unsigned listen_waiting(int fd)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    /* Of a listening socket this field is the length of its queue. */
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_unacked : 0;
}
