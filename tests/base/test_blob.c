// SPDX-License-Identifier: Apache-2.0
/* test_blob.c: bytes move from buffer to blob, and live until the last user leaves. */
#include "blob.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <pthread.h>

Test(blob, takes_the_buffer_over)
{
    struct buf buf;
    buf_init(&buf, 100);
    buf_puts(&buf, "bytes");
    const char *data = buf.data;
    struct blob *blob = blob_from_buf(&buf);
    cr_assert_eq(blob->data, data, "not copied");
    cr_assert_eq(blob->len, 5);
    cr_assert_null(buf.data);
    cr_assert_eq(buf.len, 0);
    cr_assert_eq(buf.len_max, 100);
    cr_assert_eq(blob_ref(blob), blob);
    blob_unref(blob);
    cr_assert_arr_eq(blob->data, "bytes", 5);
    blob_unref(blob);
    blob_unref(NULL);
}

static void *take_and_leave(void *blob)
{
    for (int i = 0; i < 10000; i++)
        blob_unref(blob_ref(blob));
    return NULL;
}

Test(blob, counts_across_threads)
{
    struct buf buf;
    buf_init(&buf, 100);
    buf_puts(&buf, "shared");
    struct blob *blob = blob_from_buf(&buf);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, take_and_leave, blob);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(atomic_load(&blob->refs), 1);
    blob_unref(blob);
}

/* Buffers double as they grow; what is kept for long should not. */
Test(blob, gives_back_what_it_does_not_need)
{
    struct buf buf;
    buf_init(&buf, (size_t)1 << 24);
    cr_assert(buf_reserve(&buf, (size_t)1 << 23));
    for (int i = 0; i < 1000; i++)
        buf_puts(&buf, "0123456789");
    struct blob *blob = blob_from_buf(&buf);
    cr_assert_eq(blob->len, 10000);
    cr_expect_lt(malloc_usable_size(blob->data), 20000);
    cr_expect_arr_eq(blob->data + 9990, "0123456789", 10);
    blob_unref(blob);
}
