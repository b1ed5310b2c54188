// SPDX-License-Identifier: Apache-2.0
/* test_buf.c: appending, the limit, and that a failure stays. */
#include "buf.h"

#include <criterion/criterion.h>
#include <string.h>

static void assert_holds(const struct buf *buf, const char *text)
{
    cr_assert_not(buf->failed);
    cr_assert_eq(buf->len, strlen(text), "length %zu, not %zu", buf->len, strlen(text));
    cr_assert_arr_eq(buf->data, text, buf->len);
}

Test(buf, appends)
{
    struct buf buf;
    buf_init(&buf, 100);
    buf_append(&buf, "", 0);
    buf_puts(&buf, "cos");
    buf_putc(&buf, ',');
    buf_append(&buf, "sin!", 3);
    buf_printf(&buf, " %d %s", 64, "pairs");
    assert_holds(&buf, "cos,sin 64 pairs");
    buf_release(&buf);
    cr_assert_eq(buf.len, 0);
    buf_puts(&buf, "again");
    assert_holds(&buf, "again");
    buf_release(&buf);
}

Test(buf, grows_to_its_limit_and_no_further)
{
    struct buf buf;
    for (size_t limit = 0; limit < 2000; limit += 1 + limit / 5) {
        buf_init(&buf, limit);
        for (size_t i = 0; i < limit; i++)
            buf_putc(&buf, (char)('a' + i % 26));
        cr_assert_not(buf.failed, "limit %zu", limit);
        cr_assert_eq(buf.len, limit);
        buf_putc(&buf, '!');
        cr_assert(buf.failed, "limit %zu", limit);
        cr_assert_eq(buf.len, limit);
        for (size_t i = 0; i < limit; i++)
            cr_assert_eq(buf.data[i], 'a' + i % 26, "limit %zu, byte %zu", limit, i);
        buf_release(&buf);
    }
}

Test(buf, drops_everything_behind_a_failure)
{
    struct buf buf;
    buf_init(&buf, 10);
    buf_puts(&buf, "12345");
    buf_puts(&buf, "6789ab");
    cr_assert(buf.failed);
    buf_putc(&buf, '6');
    cr_assert_not(buf_reserve(&buf, 0));
    cr_assert_eq(buf.len, 5);
    buf_release(&buf);
}

Test(buf, reserves_room)
{
    struct buf buf;
    buf_init(&buf, (size_t)1 << 20);
    for (size_t size = 1; size < 100000; size *= 3) {
        cr_assert(buf_reserve(&buf, size));
        cr_assert_geq(buf.capacity - buf.len, size);
        memset(buf.data + buf.len, 'x', size);
        buf.len += size;
    }
    cr_assert_not(buf_reserve(&buf, (size_t)-1));
    cr_assert(buf.failed);
    buf_release(&buf);
}

Test(buf, prints_texts_longer_than_its_first_guess)
{
    struct buf buf;
    for (int width = 250; width < 260; width++) {
        buf_init(&buf, 1000);
        buf_printf(&buf, "%*d", width, 7);
        cr_assert_not(buf.failed);
        cr_assert_eq(buf.len, (size_t)width);
        cr_assert_eq(buf.data[width - 1], '7', "width %d", width);
        buf_printf(&buf, "%*d", 1001 - width, 7);
        cr_assert(buf.failed, "width %d", width);
        cr_assert_eq(buf.len, (size_t)width);
        buf_release(&buf);
    }
}
