// SPDX-License-Identifier: Apache-2.0
/* test_listen.c: addresses as text, taken and refused. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "listen.h"

Test(listen, picks_a_port_and_names_it)
{
    char url[80], again[80], text[80];
    int fd = listen_open("127.0.0.1:0", url, sizeof url);

    cr_assert_geq(fd, 0);
    cr_expect_eq(strncmp(url, "http://127.0.0.1:", 17), 0, "%s", url);
    cr_expect_str_neq(url, "http://127.0.0.1:0");
    cr_redirect_stderr();
    snprintf(text, sizeof text, "%s", url + strlen("http://"));
    cr_expect_eq(listen_open(text, again, sizeof again), -1); /* taken */
    close(fd);
    fd = listen_open(text, again, sizeof again);
    cr_expect_geq(fd, 0);
    cr_expect_str_eq(again, url);
    close(fd);
}

Test(listen, takes_version_6)
{
    char url[80];
    int fd = listen_open("[::1]:0", url, sizeof url);

    if (fd < 0)
        cr_skip_test("no IPv6 here");
    cr_expect_eq(strncmp(url, "http://[::1]:", 13), 0, "%s", url);
    close(fd);
}

Test(listen, refuses_what_is_no_address)
{
    static const char *const texts[] = {
        "",       "127.0.0.1",    "127.0.0.1:",         "localhost:80",
        ":8080",  "127.0.0.1:x",  "127.0.0.1:",         "1.2.3:80",
        "::1:80", "[::1]",        "127.0.0.1:65536",    "[::g]:80",
        "[]:80",  "127.0.0.1:-1", "127.0.0.1:00080000",
    };
    char url[80];

    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        cr_expect_eq(listen_open(texts[i], url, sizeof url), -1, "%s", texts[i]);
}
