// SPDX-License-Identifier: Apache-2.0
/* test_pace.c: a connection looked at four times a second: when it counts as too slow. */
#include <criterion/criterion.h>

#include "pace.h"

#define STEP_NS 250000000u
#define NEVER   (-1)

/* One connection: what it does at each look, and when it is overdue, in milliseconds. */
static const struct {
    const char *what;
    enum pace pace;
    unsigned before_n;          /* looks at PACE_IDLE without a byte that come first */
    unsigned first_bytes;       /* then at once */
    unsigned step_bytes;        /* then at every look */
    unsigned looks_per_request; /* 0: it stays the same request */
    int overdue_ms;             /* after before_n looks */
} rows[] = {
    {"silence", PACE_IDLE, 0, 0, 0, 0, 15000},
    {"half a head, then silence", PACE_IDLE, 0, 20, 0, 0, 10000},
    {"half a head after a pause", PACE_IDLE, 40, 20, 0, 0, 10000},
    {"a dripping head", PACE_IDLE, 0, 1, 1, 0, 10000},
    {"a head known to have begun", PACE_HEAD, 0, 20, 1, 0, 10000},
    {"a fast head without end", PACE_HEAD, 0, 1000, 1000, 0, 10000},
    {"many heads", PACE_HEAD, 0, 20, 20, 3, NEVER},
    {"many silences", PACE_IDLE, 0, 0, 0, 3, NEVER},
    {"a body that stops", PACE_BODY, 0, 100, 0, 0, 5000},
    {"a body just fast enough", PACE_BODY, 0, 256, 256, 0, NEVER},
    {"a body a quarter too slow", PACE_BODY, 0, 192, 192, 0, 20000},
    {"a fast body that stops", PACE_BODY, 0, 1000000, 0, 0, 5000},
    {"an answer not read", PACE_ANSWER, 0, 5000, 0, 0, 5000},
    {"an answer read well", PACE_ANSWER, 0, 0, 5000, 0, NEVER},
    {"many small answers", PACE_ANSWER, 0, 100, 100, 2, NEVER},
    {"a long job", PACE_WORK, 0, 0, 0, 0, NEVER},
};

Test(pace, each_way_of_being_slow_has_its_time)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t now = 1000000000, bytes = 0;
        struct pace_watch watch;
        int overdue_ms = NEVER;
        unsigned look = 0;

        pace_begin(&watch, PACE_IDLE, 0, 0, now);
        for (; look < rows[i].before_n; look++, now += STEP_NS)
            cr_assert_not(pace_is_overdue(&watch, PACE_IDLE, 0, 0, now), "%s", rows[i].what);
        bytes += rows[i].first_bytes;
        uint64_t start = now;
        for (look = 0; look < 400 && overdue_ms == NEVER; look++, now += STEP_NS) {
            unsigned requests = rows[i].looks_per_request ? look / rows[i].looks_per_request : 0;
            if (pace_is_overdue(&watch, rows[i].pace, requests, bytes, now))
                overdue_ms = (int)((now - start) / 1000000);
            bytes += rows[i].step_bytes;
        }
        cr_expect_eq(overdue_ms, rows[i].overdue_ms, "%s: %d", rows[i].what, overdue_ms);
    }
}

/* However fast it was before, a client that stops is overdue ten seconds later; and a kernel that
 * takes bytes in large lumps, far apart, is not. */
Test(pace, speed_is_remembered_for_a_while)
{
    for (unsigned lump_s = 1; lump_s < 40; lump_s += 4) {
        struct pace_watch watch = {0};
        uint64_t bytes = 0, now = 0;
        bool overdue = false;

        pace_begin(&watch, PACE_ANSWER, 0, 0, now);
        for (unsigned look = 0; look < 400 && !overdue; look++, now += STEP_NS) {
            bytes += look % (4 * lump_s) == 1 ? 100000 : 0;
            overdue = pace_is_overdue(&watch, PACE_ANSWER, 0, bytes, now);
        }
        cr_expect_eq(overdue, lump_s > RATE_STORE_MS / 1000, "every %u s", lump_s);
    }
}
