// SPDX-License-Identifier: Apache-2.0
/* test_linger.c: what is sent after the end of a connection is read and thrown away. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linger.h"

static uv_loop_t loop;
static struct linger_list list;

/* Two ends of a connection; the first lingers and is closed. */
static int lingering_peer(void)
{
    int ends[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    shutdown(ends[0], SHUT_WR);
    linger_start(&list, ends[0]);
    close(ends[0]);
    return ends[1];
}

static void setup(void)
{
    uv_loop_init(&loop);
    list = (struct linger_list){.loop = &loop};
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    uv_close(handle, NULL);
}

/* As the service ends. */
static void expect_clean_end(void)
{
    linger_stop_all(&list);
    cr_expect_eq(list.n, 0);
    uv_walk(&loop, close_handle, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0);
}

TestSuite(linger, .init = setup);

Test(linger, reads_until_the_client_has_said_all)
{
    static char data[100000];
    int peer = lingering_peer();

    cr_expect_eq(list.n, 1);
    cr_expect_eq(send(peer, data, sizeof data, MSG_NOSIGNAL), (ssize_t)sizeof data);
    close(peer);
    uv_run(&loop, UV_RUN_DEFAULT); /* ends, because nothing is left to watch */
    cr_expect_eq(list.n, 0);
    expect_clean_end();
}

Test(linger, ends_by_itself_when_the_client_does_not)
{
    int peer = lingering_peer();
    uint64_t start = uv_now(&loop);

    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_geq(uv_now(&loop) - start, LINGER_MS);
    cr_expect_eq(send(peer, "x", 1, MSG_NOSIGNAL), -1);
    cr_expect_eq(errno, EPIPE);
    expect_clean_end();
    close(peer);
}

Test(linger, number_is_limited_and_all_can_be_given_up)
{
    int peers[LINGER_SOCKETS_MAX + 1];

    for (size_t i = 0; i <= LINGER_SOCKETS_MAX; i++)
        peers[i] = lingering_peer();
    cr_expect_eq(list.n, LINGER_SOCKETS_MAX);
    cr_expect_eq(send(peers[LINGER_SOCKETS_MAX], "x", 1, MSG_NOSIGNAL), -1);
    expect_clean_end();
    for (size_t i = 0; i <= LINGER_SOCKETS_MAX; i++)
        close(peers[i]);
}
