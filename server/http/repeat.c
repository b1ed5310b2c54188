// SPDX-License-Identifier: Apache-2.0
/* repeat.c: see repeat.h. */
#include "repeat.h"

#include <stdlib.h>
#include <string.h>

/* ---- Keys ---------------------------------------------------------------------------------- */

static void key_add(struct repeat_key *key, const void *bytes, size_t len)
{
    if (len > sizeof key->bytes - key->len) {
        key->len = sizeof key->bytes; /* and nothing fits any more */
        return;
    }
    memcpy(key->bytes + key->len, bytes, len);
    key->len += len;
}

static void key_add_text(struct repeat_key *key, const char *text)
{
    key_add(key, text, strlen(text) + 1);
}

/* Where a text begins, how long it is, and its bytes. */
static void key_add_placed(struct repeat_key *key, const char *start, const char *text, size_t len)
{
    uint32_t place[] = {(uint32_t)((uintptr_t)text - (uintptr_t)start), (uint32_t)len};

    key_add(key, place, sizeof place);
    key_add(key, text, len);
}

/* Eight bytes at a time; who finds two heads of one hash only makes them take turns. */
static uint64_t hash_of(const char *bytes, size_t len)
{
    uint64_t hash = len, word;

    for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, bytes, len);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

void repeat_key_make(struct repeat_key *key, const struct head *head)
{
    const char *start = head->method;
    const uint64_t numbers[] = {head->bytes, head->fields_n};

    key->len = 0;
    if (head->fields_n <= HEAD_FIELDS_MAX) {
        key_add(key, numbers, sizeof numbers);
        key_add_text(key, head->method);
        key_add_text(key, head->target);
        key_add_placed(key, start, head->url, 0);
        key_add_placed(key, start, head->version, strlen(head->version));
        for (size_t i = 0; i < head->fields_n; i++) {
            const struct head_field *field = &head->fields[i];
            key_add_placed(key, start, field->name, field->name_len);
            key_add_placed(key, start, field->value, field->value_len);
        }
    }
    if (key->len == sizeof key->bytes)
        key->len = 0;
    key->hash = hash_of(key->bytes, key->len);
}

/* ---- Answers ------------------------------------------------------------------------------- */

static struct repeat **slot_of(struct repeat_table *table, uint64_t hash, size_t way)
{
    return &table->slots[(hash + way) % REPEATS_MAX];
}

/* The place of the key, or where it would go: a free one if there is one. */
static struct repeat **slot_for(struct repeat_table *table, const struct repeat_key *key)
{
    struct repeat **best = slot_of(table, key->hash, table->turn++ % REPEAT_WAYS);

    for (size_t way = 0; way < REPEAT_WAYS; way++) {
        struct repeat **slot = slot_of(table, key->hash, way);
        if (*slot && (*slot)->hash == key->hash)
            return slot;
        if (!*slot)
            best = slot;
    }
    return best;
}

static size_t size_of(const struct repeat *repeat)
{
    return sizeof *repeat + repeat->key_len + repeat->answer_bytes;
}

static void slot_clear(struct repeat_table *table, struct repeat **slot)
{
    if (!*slot)
        return;
    table->bytes -= size_of(*slot);
    repeat_release(*slot);
    *slot = NULL;
}

struct repeat *repeat_find(struct repeat_table *table, const struct repeat_key *key)
{
    for (size_t way = 0; way < REPEAT_WAYS && key->len > 0; way++) {
        struct repeat *repeat = *slot_of(table, key->hash, way);
        if (!repeat || repeat->hash != key->hash || repeat->key_len != key->len ||
            memcmp(repeat->key, key->bytes, key->len) != 0)
            continue;
        repeat->refs++;
        return repeat;
    }
    return NULL;
}

void repeat_release(struct repeat *repeat)
{
    if (!repeat || --repeat->refs > 0)
        return;
    MHD_destroy_response(repeat->answer);
    free(repeat);
}

bool repeat_keep(struct repeat_table *table, const struct repeat_key *key,
                 struct MHD_Response *answer, size_t answer_bytes, bool was_kept)
{
    size_t size = sizeof(struct repeat) + key->len + answer_bytes;

    if (key->len == 0 || size > table->bytes_max)
        return false;
    struct repeat *repeat = malloc(sizeof *repeat + key->len);
    if (!repeat)
        return false;
    *repeat = (struct repeat){.refs = 1,
                              .answer = answer,
                              .answer_bytes = answer_bytes,
                              .was_kept = was_kept,
                              .hash = key->hash,
                              .key_len = key->len};
    memcpy(repeat->key, key->bytes, key->len);
    struct repeat **slot = slot_for(table, key);
    slot_clear(table, slot);
    for (size_t i = 0; i < REPEATS_MAX && table->bytes > table->bytes_max - size; i++)
        slot_clear(table, slot_of(table, key->hash, i));
    table->bytes += size;
    *slot = repeat;
    return true;
}

void repeat_table_clear(struct repeat_table *table)
{
    for (size_t i = 0; i < REPEATS_MAX; i++)
        slot_clear(table, &table->slots[i]);
}
