// SPDX-License-Identifier: Apache-2.0
/* test_openapi.c: the document is whole: every reference leads somewhere, every route is there,
 * every parameter once. */
#include "call.h"

static json_t *document;
static struct request request;

static void fetch(void)
{
    call(&request, "GET", "/openapi.json", NULL);
    cr_assert_eq(request.response.status, 200);
    cr_assert_str_eq(request.response.content_type, "application/json");
    document = call_json(&request);
}

static void drop(void)
{
    json_decref(document);
    call_end(&request);
}

TestSuite(openapi, .init = fetch, .fini = drop);

/* "#/components/schemas/Spec" in the document, or NULL. */
static const json_t *resolve(const char *ref)
{
    const json_t *at = document;
    if (strncmp(ref, "#/", 2) != 0)
        return NULL;
    for (const char *name = ref + 2; at && *name;) {
        char key[64];
        size_t len = strcspn(name, "/");
        snprintf(key, sizeof key, "%.*s", (int)len, name);
        at = json_object_get(at, key);
        name += len + (name[len] == '/');
    }
    return at;
}

/* Checks all references below a node; returns how many there are. Texts left of the skeleton fail.
 */
static size_t check_references(const json_t *node)
{
    size_t n = 0, i;
    const char *key;
    json_t *value;
    if (json_is_string(node))
        cr_expect_neq(json_string_value(node)[0], '@', "%s is left", json_string_value(node));
    json_array_foreach((json_t *)node, i, value) n += check_references(value);
    json_object_foreach((json_t *)node, key, value)
    {
        if (strcmp(key, "$ref") == 0 &&
            strcmp(json_string_value(value), "https://json-schema.org/draft/2020-12/schema") != 0) {
            cr_expect(resolve(json_string_value(value)), "%s leads nowhere",
                      json_string_value(value));
            n++;
        }
        n += check_references(value);
    }
    return n;
}

Test(openapi, references_lead_somewhere)
{
    cr_expect_str_eq(json_string_value(json_object_get(document, "openapi")), "3.1.0");
    cr_expect_gt(check_references(document), 100);
    cr_expect_str_eq(json_string_value(resolve("#/info/version")), API_SERVICE_VERSION);
}

Test(openapi, every_route_with_its_methods)
{
    const json_t *paths = json_object_get(document, "paths");
    json_t *ids = json_object();
    size_t operations = 0;
    for (size_t i = 0; i < api_routes_n; i++) {
        const struct route *route = &api_routes[i];
        const struct endpoint *endpoint = route->endpoint;
        const json_t *item = json_object_get(paths, route->path);
        for (unsigned method = METHOD_GET; method <= METHOD_POST; method <<= 1) {
            if (!(route->methods & method) || method == METHOD_HEAD)
                continue;
            const json_t *operation = json_object_get(item, method == METHOD_GET ? "get" : "post");
            cr_assert(operation, "%s has no such method", route->path);
            cr_expect_str_eq(json_string_value(json_object_get(operation, "summary")),
                             endpoint->summary);
            cr_expect(json_object_get(json_object_get(operation, "responses"), "200"));
            cr_expect_eq(json_object_get(operation, "requestBody") != NULL, method == METHOD_POST);
            const char *id = json_string_value(json_object_get(operation, "operationId"));
            cr_expect_null(json_object_get(ids, id), "%s twice", id);
            json_object_set_new(ids, id, json_true());
            operations++;
        }
    }
    cr_expect_geq(operations, api_routes_n);
    json_decref(ids);
}

static bool has_parameter(const json_t *item, const char *name)
{
    size_t i, found = 0;
    json_t *entry;
    json_array_foreach(json_object_get(item, "parameters"), i, entry)
    {
        const char *ref = json_string_value(json_object_get(entry, "$ref"));
        const json_t *parameter = ref ? resolve(ref) : entry;
        found += strcmp(json_string_value(json_object_get(parameter, "name")), name) == 0;
    }
    cr_expect_leq(found, 1, "%s stands %zu times", name, found);
    return found == 1;
}

/* Which statuses an operation says it has: those of its traits, and no other. */
Test(openapi, operations_list_their_problems)
{
    static const struct {
        const char *path, *method;
        int statuses[9];
    } rows[] = {
        {"/livez", "get", {200, 400}},
        {"/v1/version", "get", {200, 304, 400, 406, 412}},
        {"/v1/encodings/{kind}", "get", {200, 304, 400, 404, 406, 412}},
        {"/v1/spec", "get", {200, 304, 400, 406, 409, 412}},
        {"/v1/table", "get", {200, 304, 400, 406, 409, 412, 422}},
        {"/v1/apply", "post", {200, 400, 406, 409, 412, 413, 415, 422}},
    };
    const json_t *paths = json_object_get(document, "paths");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *item = json_object_get(paths, rows[i].path);
        const json_t *answers = json_object_get(json_object_get(item, rows[i].method), "responses");
        size_t n = 0;
        for (; rows[i].statuses[n]; n++) {
            char status[12];
            snprintf(status, sizeof status, "%d", rows[i].statuses[n]);
            cr_expect(json_object_get(answers, status), "%s: no %s", rows[i].path, status);
        }
        cr_expect(json_object_get(answers, "default"));
        cr_expect_eq(json_object_size(answers), n + 1, "%s has more", rows[i].path);
    }
}

/* A table that the caller brought stands in the answered spec, not in one that is sent. */
Test(openapi, answered_specs_may_have_a_digest)
{
    const json_t *sent = resolve("#/components/schemas/Spec/oneOf");
    const json_t *answered = resolve("#/components/schemas/FullSpec/oneOf");
    size_t i, digests = 0, learned = 0;
    json_t *kind;
    for (size_t k = 0; k < pe_kinds_n(); k++)
        learned += pe_kind_has_table(pe_kind_at(k));
    cr_expect_eq(json_array_size(sent), pe_kinds_n());
    cr_expect_eq(json_array_size(answered), pe_kinds_n());
    json_array_foreach(answered, i, kind)
    {
        const json_t *members = json_object_get(kind, "properties");
        digests += json_object_get(members, "table") != NULL;
        cr_expect_null(json_object_get(
            json_object_get(json_object_get(json_array_get(sent, i), "properties"), "table"),
            "pattern"));
    }
    cr_expect_geq(learned, 2, "learned and t5");
    cr_expect_eq(digests, learned + 1, "and rope");
}

Test(openapi, endpoints_have_their_parameters)
{
    const json_t *paths = json_object_get(document, "paths");
    for (size_t i = 0; i < api_routes_n; i++) {
        const struct route *route = &api_routes[i];
        const struct endpoint *endpoint = route->endpoint;
        const struct endpoint *asked = endpoint->behind ? endpoint->behind : endpoint;
        const json_t *item = json_object_get(paths, route->path);
        for (size_t j = 0; j < endpoint->keys_n; j++)
            cr_expect(has_parameter(item, endpoint->keys[j].name), "%s: no %s", route->path,
                      endpoint->keys[j].name);
        for (size_t j = 0; j < asked->keys_n; j++)
            cr_expect(has_parameter(item, asked->keys[j].name), "%s: no %s", route->path,
                      asked->keys[j].name);
        for (size_t k = 0; k < pe_kinds_n(); k++) {
            const struct pe_kind *kind = pe_kind_at(k);
            bool taken = asked->specs_max > 0 && (asked->acts & endpoint->acts & 1U << kind->acts);
            for (size_t j = 0; taken && j < kind->params_n; j++)
                cr_expect(has_parameter(item, kind->params[j].name), "%s: no %s", route->path,
                          kind->params[j].name);
        }
        cr_expect_eq(has_parameter(item, "kind"),
                     asked->specs_max > 0 || endpoint == &kind_endpoint, "%s", route->path);
        cr_expect_eq(has_parameter(item, "format"), endpoint->formats != 0, "%s", route->path);
    }
}

Test(openapi, variants_where_kinds_differ)
{
    const json_t *dim = json_object_get(resolve("#/components/parameters/dim"), "schema");
    const json_t *any = json_object_get(dim, "anyOf");
    bool rope = false, rope2d = false;
    size_t i;
    json_t *variant;
    json_array_foreach(any, i, variant)
    {
        const char *title = json_string_value(json_object_get(variant, "title"));
        double multiple = json_number_value(json_object_get(variant, "multipleOf"));
        rope |= strstr(title, "rope") && multiple == 2;
        rope2d |= strstr(title, "rope2d") && multiple == 4;
    }
    cr_expect(rope && rope2d);
}

Test(openapi, every_problem_type)
{
    const json_t *types = resolve("#/components/schemas/Problem/properties/type/enum");
    cr_assert_eq(json_array_size(types), ERR_CODES_N);
    for (size_t code = 0; code < ERR_CODES_N; code++)
        cr_expect_str_eq(json_string_value(json_array_get(types, code)) + strlen("/problems/"),
                         err_slug((enum err_code)code));
}

Test(openapi, takes_no_parameters_but_format)
{
    struct request other;
    call(&other, "GET", "/openapi.json?x=1", NULL);
    cr_expect_eq(other.response.status, 400);
    call_end(&other);
    call(&other, "GET", "/openapi.json?format=txt", NULL);
    cr_expect_eq(other.response.status, 406);
    call_end(&other);
}
