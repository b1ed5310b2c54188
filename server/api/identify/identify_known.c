// SPDX-License-Identifier: Apache-2.0
/*
 * identify_known.c: the members known, a part of a spec that is held, and search, the names of the
 * parameters that may be other than their defaults.
 */
#include <string.h>

#include "identify.h"
#include "reader.h"

/* Whether a kind, or any of them (`only` NULL), has a parameter of this name. */
static bool is_parameter(const char *only, const char *name)
{
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        struct pe_params params;
        if (only && strcmp(only, kind->name) != 0)
            continue;
        pe_params_init(&params, kind->params, kind->params_n);
        if (pe_params_find(&params, name, strlen(name)) >= 0)
            return true;
    }
    return false;
}

/* "did you mean \"base\"?" of the parameters of one kind, or of all; NULL: nothing is like it. */
static const char *did_you_mean(struct job *job, const char *only, const char *name)
{
    const char *near = NULL;
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        const char *names[PE_PARAMS_MAX + 1];
        size_t n = 0;
        if (only && strcmp(only, kind->name) != 0)
            continue;
        for (size_t k = 0; k < kind->params_n; k++)
            names[n++] = kind->params[k].name;
        if (near)
            names[n++] = near;
        const char *better = pe_nearest_name(name, names, n);
        near = better ? better : near;
    }
    return near ? arena_printf(&job->request->arena, "did you mean \"%s\"?", near) : NULL;
}

static bool check_name(struct job *job, const struct identify *own, const char *name,
                       const char *where)
{
    const char *kind = own->result.kind;
    if (is_parameter(kind, name))
        return true;
    const char *hint = did_you_mean(job, kind, name);
    return err_add(&job->request->err, ERR_unknown_parameter, where,
                   hint ? hint : "/v1/encodings has the parameters of each kind",
                   "\"%.60s\" is not a parameter of %s%s", name, kind ? "kind=" : "any encoding",
                   kind ? kind : "");
}

static bool read_number_or_word(struct job *job, const json_t *value, const char *where,
                                struct pe_setting *out)
{
    const struct json_array *array = json_doc_array(&job->doc, where);
    if (array) {
        if (array->fault || array->rank != 1)
            return err_add(
                &job->request->err, ERR_invalid_value, array->fault ? array->fault : where, NULL,
                "\"%.60s\" must be a number, a word or a flat list of numbers", out->name);
        double *list = job_alloc(job, array->count, sizeof *list);
        out->list = list;
        out->list_n = array->count;
        return list && json_array_read(array, PE_F64, list, &job->request->err);
    }
    if (json_is_string(value))
        out->text = json_string_value(value);
    else if (json_is_boolean(value))
        out->text = json_is_true(value) ? "true" : "false";
    else if (json_is_number(value))
        out->number = json_number_value(value);
    else
        return err_add(&job->request->err, ERR_invalid_value, where, NULL,
                       "\"%.60s\" must be a number, a word or a flat list of numbers", out->name);
    return true;
}

/* Whether some kind that has the parameter, or the one that is known, takes the value. */
static bool check_value(struct job *job, const struct identify *own, const struct pe_setting *at,
                        const char *where)
{
    struct pe_faults faults = {0};
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        struct pe_spec spec;
        struct pe_faults own_faults = {0};
        const struct pe_kind *kind = pe_kind_at(i);
        if (own->result.kind && strcmp(own->result.kind, kind->name) != 0)
            continue;
        pe_spec_init(&spec, kind);
        bool has = pe_params_find(&spec.params, at->name, strlen(at->name)) >= 0;
        bool ok =
            has &&
            (at->text ? pe_params_set_text(&spec.params, at->name, at->text, &own_faults)
             : at->list
                 ? pe_params_set_list(&spec.params, at->name, at->list, at->list_n, &own_faults)
                 : pe_params_set_number(&spec.params, at->name, at->number, &own_faults));
        pe_spec_release(&spec);
        if (ok)
            return true;
        if (has && faults.n == 0)
            faults = own_faults;
    }
    api_faults_at(&job->request->err, &faults, where);
    return false;
}

/* The compact form of a spec: what it gives is known. */
static bool known_from_text(struct job *job, struct identify *own, const char *text)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    size_t n = 0;
    bool ok = pe_spec_parse(text, &spec, &faults);
    api_faults_at(&job->request->err, &faults, job_where(job, "known"));
    if (!ok)
        return false;
    own->result.kind = spec.kind->name;
    for (size_t i = 0; ok && i < spec.params.rows_n && n < IDENTIFY_KNOWN_MAX; i++) {
        if (!spec.params.value[i].given)
            continue;
        const struct pe_param *row = &spec.params.rows[i];
        size_t len = pe_value_print(row, &spec.params.value[i], '+', NULL, 0);
        char *value = job_alloc(job, len + 1, 1);
        ok = value != NULL;
        if (ok)
            pe_value_print(row, &spec.params.value[i], '+', value, len + 1);
        own->known[n++] = (struct pe_setting){.name = row->name, .text = value};
    }
    pe_spec_release(&spec);
    own->result.known = own->known;
    own->result.known_n = n;
    return ok;
}

static bool read_known(struct job *job, struct identify *own)
{
    const json_t *known = json_object_get(job->doc.root, "known");
    const char *text = job_key(job, "known")->text;
    const char *key;
    json_t *value;
    bool ok = true;
    size_t n = 0;
    if (text)
        return known_from_text(job, own, text);
    if (!known)
        return true;
    if (!json_is_object(known))
        return err_add(&job->request->err, ERR_invalid_value, "/known",
                       "for example \"known\": {\"kind\": \"rope\", \"base\": 10000}",
                       "known must be a part of a spec, as an object or as compact text");
    const json_t *name = json_object_get(known, "kind");
    if (name) {
        struct pe_faults faults = {0};
        const char *word = json_string_value(name);
        if (!word)
            return err_add(&job->request->err, ERR_invalid_value, "/known/kind",
                           "for example \"rope\"", "kind must be the name of a kind");
        const struct pe_kind *kind = pe_kind_require(word, strlen(word), &faults);
        api_faults_at(&job->request->err, &faults, "/known/kind");
        own->result.kind = kind ? kind->name : NULL;
        ok = kind != NULL;
    }
    json_object_foreach((json_t *)known, key, value)
    {
        const char *where = field_pointer(&job->request->arena, "/known/", key);
        if (!where || strcmp(key, "kind") == 0)
            continue;
        if (n == IDENTIFY_KNOWN_MAX)
            return err_add(&job->request->err, ERR_limit_exceeded, "/known", NULL,
                           "at most %d parameters can be known", IDENTIFY_KNOWN_MAX);
        struct pe_setting at = {.name = key};
        bool read = check_name(job, own, key, where) &&
                    read_number_or_word(job, value, where, &at) &&
                    check_value(job, own, &at, where);
        ok = ok && read;
        own->known[n++] = at;
    }
    own->result.known = own->known;
    own->result.known_n = n;
    return ok;
}

static bool add_searched(struct job *job, struct identify *own, const char *name, size_t *n,
                         const char *where)
{
    if (*n == IDENTIFY_KNOWN_MAX)
        return err_add(&job->request->err, ERR_limit_exceeded, where, NULL,
                       "at most %d parameters can be named", IDENTIFY_KNOWN_MAX);
    own->search[(*n)++] = name;
    own->result.search = own->search;
    return name && check_name(job, own, name, where);
}

#define SEARCH_HINT "for example \"search\": [\"base\", \"shift\"]"

static bool read_search(struct job *job, struct identify *own)
{
    const struct pe_value *search = job_key(job, "search");
    const json_t *list = json_object_get(job->doc.root, "search");
    size_t n = 0;
    bool ok = true;
    if (!search->set)
        return true;
    const char *where = job_where(job, "search");
    for (const char *word = search->text; word && *word && ok;) {
        size_t len = strcspn(word, ",");
        ok = add_searched(job, own, arena_strndup(&job->request->arena, word, len), &n, where);
        word += len + (word[len] == ',');
    }
    if (n > 0 || !ok)
        return ok;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return err_add(&job->request->err, ERR_invalid_value, where, SEARCH_HINT,
                       "search must be a list of names of parameters");
    for (size_t i = 0; ok && i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        ok = name ? add_searched(job, own, name, &n, where)
                  : err_add(&job->request->err, ERR_invalid_value, where, SEARCH_HINT,
                            "search must be a list of names of parameters");
    }
    return ok;
}

bool identify_known(struct job *job, struct identify *own)
{
    bool known = read_known(job, own);
    return read_search(job, own) && known;
}

bool identify_known_fits(struct job *job, const struct identify *own, size_t dim)
{
    struct pe_faults faults = {0};
    struct pe_spec spec;
    pe_spec_init(&spec, pe_kind_find("none", 4));
    int row = pe_params_find(&spec.params, "dim", 3);
    for (size_t i = 0; i < own->result.known_n; i++) {
        const struct pe_setting *at = &own->known[i];
        if (pe_params_find(&spec.params, at->name, strlen(at->name)) == row)
            at->text ? pe_params_set_text(&spec.params, at->name, at->text, &faults)
                     : pe_params_set_number(&spec.params, at->name, at->number, &faults);
    }
    const struct pe_value value = spec.params.value[row];
    pe_spec_release(&spec);
    return !value.given || value.number == (double)dim ||
           err_add(&job->request->err, ERR_shape_mismatch, job_where(job, "known"),
                   "axes=td and heads= split the last axis",
                   "vectors have %zu channels, known says dim=%.0f", dim, value.number);
}
