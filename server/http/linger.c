// SPDX-License-Identifier: Apache-2.0
/* linger.c: see linger.h. */
#include "linger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct linger_socket {
    uv_poll_t poll;
    uv_timer_t timer;
    struct linger_list *list;
    struct linger_socket *next, **link; /* link: what points here */
    size_t left;                        /* bytes still to be read */
    int fd, handles;
    bool over;
};

static void on_closed(uv_handle_t *handle)
{
    struct linger_socket *linger = handle->data;

    if (--linger->handles > 0)
        return;
    close(linger->fd);
    free(linger);
}

static void linger_end(struct linger_socket *linger)
{
    *linger->link = linger->next;
    if (linger->next)
        linger->next->link = linger->link;
    linger->list->n--;
    uv_close((uv_handle_t *)&linger->poll, on_closed);
    uv_close((uv_handle_t *)&linger->timer, on_closed);
}

static void on_timer(uv_timer_t *timer)
{
    linger_end(timer->data);
}

/* libuv can crash when a poll handle is closed in its own callback: the timer does it. */
static void linger_end_soon(struct linger_socket *linger)
{
    linger->over = true;
    uv_poll_stop(&linger->poll);
    uv_timer_start(&linger->timer, on_timer, 0, 0);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct linger_socket *linger = poll->data;
    char waste[16384];
    (void)events;

    if (linger->over)
        return;
    ssize_t n = status < 0 ? 0 : recv(linger->fd, waste, sizeof waste, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || (size_t)n >= linger->left)
        linger_end_soon(linger);
    else
        linger->left -= (size_t)n;
}

void linger_start(struct linger_list *list, int fd)
{
    struct linger_socket *linger = list->n < LINGER_SOCKETS_MAX ? calloc(1, sizeof *linger) : NULL;

    if (!linger)
        return;
    *linger = (struct linger_socket){.list = list, .left = LINGER_BYTES, .handles = 2};
    linger->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (linger->fd < 0 || uv_poll_init(list->loop, &linger->poll, linger->fd) != 0) {
        if (linger->fd >= 0)
            close(linger->fd);
        free(linger);
        return;
    }
    uv_timer_init(list->loop, &linger->timer);
    linger->poll.data = linger->timer.data = linger;
    linger->next = list->first;
    linger->link = &list->first;
    if (linger->next)
        linger->next->link = &linger->next;
    list->first = linger;
    list->n++;
    uv_poll_start(&linger->poll, UV_READABLE, on_readable);
    uv_timer_start(&linger->timer, on_timer, LINGER_MS, 0);
}

void linger_stop_all(struct linger_list *list)
{
    while (list->first)
        linger_end(list->first);
}
