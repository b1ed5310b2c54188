// SPDX-License-Identifier: Apache-2.0
/*
 * test_examples.c: each body in proto/examples is sent to the endpoint that its name begins with
 * and is answered; the same body twice gives the same bytes.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define BODY_MAX 4096

static struct e2e_daemon service;

static void start(void)
{
    e2e_start(&service, NULL);
}

static void stop(void)
{
    e2e_stop(&service);
}

TestSuite(examples, .init = start, .fini = stop, .timeout = 60);

static size_t read_file(const char *path, char *out)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    size_t len = fread(out, 1, BODY_MAX, file);
    fclose(file);
    cr_assert_lt(len, BODY_MAX, "%s", path);
    return len;
}

static void send_example(const char *name)
{
    static const char *const fields[] = {"Content-Type: application/json", NULL};
    char path[300], target[64], body[BODY_MAX];
    snprintf(path, sizeof path, "proto/examples/%s", name);
    snprintf(target, sizeof target, "/v1/%.*s", (int)strcspn(name, "-"), name);
    size_t len = read_file(path, body);
    struct e2e_answer first = e2e_request(&service, "POST", target, fields, body, len);
    struct e2e_answer second = e2e_request(&service, "POST", target, fields, body, len);
    cr_expect_eq(first.status, 200, "%s: %s", name, first.body);
    cr_expect(first.body_len == second.body_len &&
                  memcmp(first.body, second.body, first.body_len) == 0,
              "%s: other bytes the second time", name);
    json_t *json = json_loadb(first.body, first.body_len, JSON_REJECT_DUPLICATES, NULL);
    cr_expect(json, "%s: not JSON", name);
    cr_expect_str_eq(json_string_value(json_object_get(json, "semantics")), "1", "%s", name);
    json_decref(json);
    e2e_answer_free(&first);
    e2e_answer_free(&second);
}

Test(examples, are_answered)
{
    DIR *folder = opendir("proto/examples");
    cr_assert(folder, "run from the project's root");
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            send_example(entry->d_name);
            n++;
        }
    closedir(folder);
    cr_expect_geq(n, 6);
}
