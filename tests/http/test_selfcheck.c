// SPDX-License-Identifier: Apache-2.0
/* test_selfcheck.c: the check of the library passes as we use it, and fails when it does not. */
#include "selfcheck.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

TestSuite(selfcheck, .timeout = 60);

static size_t keep_escapes(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls, (void)connection;
    return strlen(text);
}

static void expect_check(const struct MHD_OptionItem *options, bool passes, const char *says)
{
    char text[512] = "";

    cr_redirect_stderr();
    cr_expect_eq(selfcheck_guard(options), passes);
    fflush(stderr);
    if (says) {
        FILE *file = cr_get_redirected_stderr();
        cr_assert_not_null(fgets(text, sizeof text, file));
        cr_expect_not_null(strstr(text, says), "%s", text);
    }
}

#define STRICTNESS (MHD_VERSION < 0x01000000 ? -1 : 1)

Test(selfcheck, passes_with_the_installed_library)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_STRICT_FOR_CLIENT, STRICTNESS, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_escapes, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    expect_check(options, true, NULL);
}

/* Version 1.0 takes no buffer that is too small for a head. */
#if MHD_VERSION < 0x01000000
Test(selfcheck, fails_where_good_heads_do_not_fit)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, 128, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    expect_check(options, false, "a plain head");
}
#endif

Test(selfcheck, fails_where_the_library_does_not_start)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_BACKLOG_SIZE + 1000, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    expect_check(options, false, "does not start");
}
