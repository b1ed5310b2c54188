// SPDX-License-Identifier: Apache-2.0
/*
 * changes.c: /v1/changes: what each version of the semantics changed, and which fixtures, so that
 * whoever meets other numbers than before can tell why.
 */
#include "changes.h"

#include <string.h>

#include "fixtures.h"
#include "service.h"

const struct change changes[] = {
#define CHANGE(version, summary, changed, fixtures_sha256)                                         \
    {version, summary, changed, fixtures_sha256},
#include "changes.def"
#undef CHANGE
};

const size_t changes_n = sizeof changes / sizeof changes[0];

static void add_added(struct tree *row, const struct change *change)
{
    struct tree *names = tree_array(row, "fixtures_added");

    for (size_t i = 0; i < fixtures_n; i++)
        if (strcmp(fixtures[i].since, change->version) == 0)
            tree_string(names, NULL, fixtures[i].name);
}

static void add_changed(struct tree *row, const struct change *change)
{
    struct tree *names = tree_array(row, "fixtures_changed");

    for (const char *name = change->changed; *name;) {
        size_t len = strcspn(name, " ");
        tree_string(names, NULL, names ? arena_strndup(names->arena, name, len) : NULL);
        name += len + strspn(name + len, " ");
    }
}

enum step changes_quick(struct request *request)
{
    enum format format;
    if (!service_begin(request, &format))
        return STEP_FAILED;

    struct tree *root = tree_new(&request->arena, TREE_OBJECT);
    tree_string(root, "semantics", API_SEMANTICS);
    struct tree *list = tree_array(root, "changes");
    for (size_t i = 0; i < changes_n; i++) {
        struct tree *row = tree_object(list, NULL);
        tree_string(row, "semantics", changes[i].version);
        tree_string(row, "summary", changes[i].summary);
        add_added(row, &changes[i]);
        add_changed(row, &changes[i]);
        tree_string(row, "fixtures_sha256", changes[i].fixtures_sha256);
    }
    return service_answer(request, root, format);
}

const struct endpoint changes_endpoint = {
    .summary = "Every semantics version: what changed in the numbers, and which fixtures.",
    .describes = "",
    .schema = "Changes",
    .cache = CACHE_PAGE,
    .formats = 1U << FORMAT_JSON | 1U << FORMAT_TXT,
};
