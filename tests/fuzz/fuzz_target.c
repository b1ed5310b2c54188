// SPDX-License-Identifier: Apache-2.0
/* fuzz_target.c: any text as a request target; what comes out is decoded UTF-8, and routed. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "router.h"
#include "target.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_utf8(const char *text)
{
    uint32_t code;
    for (size_t len = strlen(text), n; len > 0; text += n, len -= n)
        assert((n = utf8_decode(text, len, &code)) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct route route = {METHOD_GET, "/a/{b}", true, NULL, NULL, NULL, NULL};
    struct arena arena;
    struct err err = {.n = 0};
    struct target target;
    arena_init(&arena, (size_t)1 << 20);
    const char *raw = arena_strndup(&arena, (const char *)data, size);
    bool ok = raw && target_parse(&target, raw, &arena, &err);
    for (size_t i = 0; ok && i < target.args_n; i++) {
        expect_utf8(target.args[i].name);
        expect_utf8(target.args[i].value);
    }
    if (ok) {
        expect_utf8(target.path);
        struct route_match match = router_match(&route, 1, target.path, METHOD_GET);
        assert(!match.route || (match.arg == 3 && match.path_len > 3));
    }
    assert(!raw || ok == (err.n == 0));
    arena_release(&arena);
    return 0;
}
