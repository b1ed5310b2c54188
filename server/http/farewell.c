// SPDX-License-Identifier: Apache-2.0
/* farewell.c: see farewell.h. */
#include "farewell.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const struct {
    const char *status, *text;
} farewells[] = {
    [FAREWELL_BAD_CHUNK] = {"400 Bad Request", "a chunk line of the body is not as it must be"},
    [FAREWELL_TOO_LARGE] = {"413 Content Too Large", "the body is larger than the limit"},
    [FAREWELL_TOO_SLOW] = {"408 Request Timeout", "the request took too long to come"},
};

void farewell_send(int fd, enum farewell farewell)
{
    const char *text = farewells[farewell].text;
    char answer[256];
    int len = snprintf(answer, sizeof answer,
                       "HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: text/plain; "
                       "charset=utf-8\r\nContent-Length: %zu\r\n\r\n%s\n",
                       farewells[farewell].status, strlen(text) + 1, text);

    send(fd, answer, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
}
