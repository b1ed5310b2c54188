// SPDX-License-Identifier: Apache-2.0
/* pace.c: see pace.h. */
#include "pace.h"

#define NS_PER_MS 1000000u

/* Whether fewer bytes than the rate wants have moved in the window; a full one is followed by the
 * next, so that a fast start does not pay for standing still. */
static bool is_below_rate(struct pace_watch *watch, uint64_t bytes, uint64_t now_ns)
{
    uint64_t ms = (now_ns - watch->since_ns) / NS_PER_MS;

    if (ms < RATE_MS)
        return false;
    if (bytes - watch->bytes < (uint64_t)RATE_MIN * RATE_MS / 1000)
        return true;
    watch->since_ns = now_ns;
    watch->bytes = bytes;
    return false;
}

bool pace_is_overdue(struct pace_watch *watch, enum pace pace, unsigned requests, uint64_t bytes,
                     uint64_t now_ns)
{
    bool anew = requests != watch->requests;

    if (!anew && pace == PACE_IDLE && watch->pace <= PACE_HEAD && bytes != watch->bytes)
        pace = PACE_HEAD;
    if (anew || pace != watch->pace)
        *watch = (struct pace_watch){pace, requests, now_ns, pace == PACE_HEAD ? 0 : bytes};
    switch (pace) {
    case PACE_IDLE:
        return now_ns - watch->since_ns >= (uint64_t)IDLE_MS_MAX * NS_PER_MS;
    case PACE_HEAD:
        return now_ns - watch->since_ns >= (uint64_t)HEAD_MS_MAX * NS_PER_MS;
    case PACE_BODY:
    case PACE_ANSWER:
        return is_below_rate(watch, bytes, now_ns);
    default:
        return false;
    }
}
