// SPDX-License-Identifier: Apache-2.0
/* pace.c: see pace.h. */
#include "pace.h"

#define NS_PER_MS 1000000u
#define NS_PER_S  UINT64_C(1000000000)

static uint64_t start_ms(enum pace pace)
{
    switch (pace) {
    case PACE_IDLE:
        return IDLE_MS_MAX;
    case PACE_HEAD:
        return HEAD_MS_MAX;
    default:
        return RATE_START_MS;
    }
}

void pace_begin(struct pace_watch *watch, enum pace pace, unsigned requests, uint64_t bytes,
                uint64_t now_ns)
{
    *watch = (struct pace_watch){pace, requests, now_ns + start_ms(pace) * NS_PER_MS, bytes};
}

/* What has moved since the last look buys time. */
static void time_buy(struct pace_watch *watch, uint64_t bytes, uint64_t now_ns)
{
    uint64_t most = now_ns + (uint64_t)RATE_STORE_MS * NS_PER_MS;
    uint64_t seconds = (bytes - watch->bytes) / RATE_MIN;
    uint64_t rest = (bytes - watch->bytes) % RATE_MIN;

    watch->bytes = bytes;
    if (seconds >= RATE_STORE_MS / 1000)
        watch->until_ns = most;
    else
        watch->until_ns += seconds * NS_PER_S + rest * NS_PER_S / RATE_MIN;
    if (watch->until_ns > most)
        watch->until_ns = most;
}

bool pace_is_overdue(struct pace_watch *watch, enum pace pace, unsigned requests, uint64_t bytes,
                     uint64_t now_ns)
{
    bool anew = requests != watch->requests;

    if (!anew && pace == PACE_IDLE && watch->pace <= PACE_HEAD && bytes != watch->bytes)
        pace = PACE_HEAD;
    if (anew || pace != watch->pace) /* a head has bytes that the next look must not find gone */
        pace_begin(watch, pace, requests, pace == PACE_HEAD ? UINT64_MAX : bytes, now_ns);
    else if (pace == PACE_BODY || pace == PACE_ANSWER)
        time_buy(watch, bytes, now_ns);
    return pace != PACE_WORK && now_ns >= watch->until_ns;
}
