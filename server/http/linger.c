// SPDX-License-Identifier: Apache-2.0
/* linger.c: see linger.h. */
#include "linger.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK_MS   10
#define READ      ((size_t)64 << 10)
#define READS_MAX 8 /* of one socket in one tick, so that the loop goes on */

/* Reads what has come; whether there may be more, and there is time for it. */
static bool socket_drain(struct linger_socket *socket, uint64_t now_ms)
{
    char waste[READ];

    for (int i = 0; i < READS_MAX; i++) {
        ssize_t n = recv(socket->fd, waste, sizeof waste, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (n <= 0 || (size_t)n >= socket->left)
            return false;
        socket->left -= (size_t)n;
    }
    return now_ms < socket->end_ms;
}

static void on_tick(uv_timer_t *timer)
{
    struct linger_list *list = timer->data;
    unsigned kept = 0;

    for (unsigned i = 0; i < list->n; i++)
        if (socket_drain(&list->sockets[i], uv_now(list->loop)))
            list->sockets[kept++] = list->sockets[i];
        else
            close(list->sockets[i].fd);
    list->n = kept;
    if (kept == 0)
        uv_timer_stop(timer);
}

void linger_start(struct linger_list *list, int fd)
{
    int copy = list->n < LINGER_SOCKETS_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (copy < 0)
        return;
    if (!list->has_timer)
        uv_timer_init(list->loop, &list->timer);
    list->has_timer = true;
    list->timer.data = list;
    list->sockets[list->n++] =
        (struct linger_socket){copy, LINGER_BYTES, uv_now(list->loop) + LINGER_MS};
    if (!uv_is_active((const uv_handle_t *)&list->timer))
        uv_timer_start(&list->timer, on_tick, TICK_MS, TICK_MS);
}

void linger_stop_all(struct linger_list *list)
{
    while (list->n > 0)
        close(list->sockets[--list->n].fd);
    if (list->has_timer)
        uv_timer_stop(&list->timer);
}
