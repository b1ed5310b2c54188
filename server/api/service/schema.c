// SPDX-License-Identifier: Apache-2.0
/* schema.c: see schema.h. Everything comes from the rows; nothing is known here of any kind. */
#include "schema.h"

#include <math.h>
#include <string.h>

/* A copy in the tree's arena; "" where there is no tree any more. */
static const char *copy(const struct tree *tree, const char *text, size_t len)
{
    const char *made = tree ? arena_strndup(tree->arena, text, len) : NULL;

    if (tree && !made)
        *tree->failed = true;
    return made ? made : "";
}

static void add_words(struct tree *array, const char *words, size_t len, char separator)
{
    for (const char *word = words, *end = words + len; word < end;) {
        const char *stop = memchr(word, separator, (size_t)(end - word));
        stop = stop ? stop : end;
        tree_string(array, NULL, copy(array, word, (size_t)(stop - word)));
        word = stop + 1;
    }
}

void schema_words(struct tree *parent, const char *key, const char *words)
{
    add_words(tree_array(parent, key), words, strlen(words), ' ');
}

bool schema_choice_next(const char **cursor, struct schema_choice *choice)
{
    const char *word = *cursor + strspn(*cursor, " ");
    size_t len = strcspn(word, " "), name_len = strcspn(word, " |");

    *choice = (struct schema_choice){word, word + name_len, name_len, len - name_len};
    if (choice->aliases_len > 0) { /* past the '|' */
        choice->aliases++;
        choice->aliases_len--;
    }
    *cursor = word + len;
    return len > 0;
}

bool schema_is_required(const struct pe_param *row)
{
    return !row->fallback && !(row->flags & PE_OPTIONAL);
}

/* ---- One parameter ------------------------------------------------------------------------- */

static void add_range(struct tree *schema, const struct pe_param *row)
{
    if (isfinite(row->min))
        tree_number(schema, row->flags & PE_OPEN_MIN ? "exclusiveMinimum" : "minimum", row->min);
    if (isfinite(row->max))
        tree_number(schema, "maximum", row->max);
    if (row->multiple_of > 1)
        tree_integer(schema, "multipleOf", row->multiple_of);
}

static void add_choices(struct tree *schema, const char *choices)
{
    struct tree *names = tree_array(schema, "enum");
    struct schema_choice choice;

    for (const char *cursor = choices; schema_choice_next(&cursor, &choice);)
        tree_string(names, NULL, copy(names, choice.name, choice.name_len));
}

static void add_choice_aliases(struct tree *schema, const char *choices)
{
    struct tree *aliases = NULL;
    struct schema_choice choice;

    for (const char *cursor = choices; schema_choice_next(&cursor, &choice);) {
        if (choice.aliases_len == 0)
            continue;
        if (!aliases)
            aliases = tree_object(schema, "x-choice-aliases");
        struct tree *of = tree_array(aliases, copy(schema, choice.name, choice.name_len));
        add_words(of, choice.aliases, choice.aliases_len, '|');
    }
}

/* Numbers separated by commas. */
static void add_default_list(struct tree *schema, const char *text)
{
    struct tree *list = tree_array(schema, "default");
    double number;
    for (size_t len; *text; text += len + (text[len] == ',')) {
        len = strcspn(text, ",");
        if (pe_text_read(text, len, PE_F64, &number, 0))
            tree_number(list, NULL, number);
    }
}

static void add_default(struct tree *schema, const struct pe_param *row)
{
    double number;

    if (!row->fallback)
        return;
    if (row->fallback[0] == '@')
        tree_string(schema, "x-default-from", row->fallback + 1);
    else if (row->type == PE_BOOL)
        tree_bool(schema, "default",
                  strcmp(row->fallback, "1") == 0 || strcmp(row->fallback, "true") == 0);
    else if (row->type == PE_REALS)
        add_default_list(schema, row->fallback);
    else if ((row->type == PE_INT || row->type == PE_REAL) &&
             pe_text_read(row->fallback, strlen(row->fallback), PE_F64, &number, 0))
        tree_number(schema, "default", number);
    else
        tree_string(schema, "default", row->fallback);
}

/* An integer, or a word that stands for one; in answers it is a number. */
static void add_integer(struct tree *schema, const struct pe_param *row, enum schema_place place)
{
    struct tree *number = schema;
    if (row->choices && place != SCHEMA_ANSWER) {
        struct tree *either = tree_array(schema, "oneOf");
        number = tree_object(either, NULL);
        add_choices(tree_object(either, NULL), row->choices);
    }
    tree_string(number, "type", "integer");
    add_range(number, row);
}

static void add_type(struct tree *schema, const struct pe_param *row, enum schema_place place)
{
    switch (row->type) {
    case PE_INT:
        add_integer(schema, row, place);
        break;
    case PE_REAL:
        tree_string(schema, "type", "number");
        add_range(schema, row);
        break;
    case PE_BOOL:
        tree_string(schema, "type", "boolean");
        break;
    case PE_ENUM:
        tree_string(schema, "type", "string");
        add_choices(schema, row->choices);
        break;
    case PE_ENUMS:
        tree_string(schema, "type", "array");
        struct tree *words = tree_object(schema, "items");
        tree_string(words, "type", "string");
        add_choices(words, row->choices);
        break;
    case PE_REALS:
        tree_string(schema, "type", "array");
        struct tree *items = tree_object(schema, "items");
        tree_string(items, "type", row->multiple_of ? "integer" : "number");
        add_range(items, row);
        break;
    case PE_TEXT:
        if (place == SCHEMA_QUERY)
            tree_string(schema, "type", "string");
        else
            schema_words(schema, "type",
                         place == SCHEMA_BODY     ? "string number array object"
                         : row->flags & PE_SCALAR ? "string number"
                                                  : "string array");
        break;
    }
}

struct tree *schema_param(struct tree *parent, const char *key, const struct pe_param *row,
                          enum schema_place place)
{
    struct tree *schema = tree_object(parent, key);

    add_type(schema, row, place);
    if (place == SCHEMA_ANSWER)
        return schema;
    add_default(schema, row);
    tree_string(schema, "description", row->help);
    if (row->aliases)
        schema_words(schema, "x-aliases", row->aliases);
    if (row->type == PE_ENUM)
        add_choice_aliases(schema, row->choices);
    if (row->when)
        tree_string(schema, "x-when", row->when);
    return schema;
}

/* ---- One kind ------------------------------------------------------------------------------ */

/* "scaling=linear|ntk" and a parameter without default: if scaling is one of these, it is required.
 */
static void add_condition(struct tree *all, const struct pe_param *row)
{
    const char *equals = strchr(row->when, '=');
    struct tree *rule = tree_object(all, NULL), *test = tree_object(rule, "if");
    const char *name = copy(all, row->when, (size_t)(equals - row->when));

    struct tree *of = tree_object(tree_object(test, "properties"), name);
    add_words(tree_array(of, "enum"), equals + 1, strlen(equals + 1), '|');
    tree_string(tree_array(test, "required"), NULL, name);
    tree_string(tree_array(tree_object(rule, "then"), "required"), NULL, row->name);
}

static void add_required(struct tree *schema, const struct pe_kind *kind)
{
    struct tree *required = tree_array(schema, "required");

    tree_string(required, NULL, "kind");
    for (size_t i = 0; i < kind->params_n; i++)
        if (schema_is_required(&kind->params[i]) && !kind->params[i].when)
            tree_string(required, NULL, kind->params[i].name);
}

static void add_conditions(struct tree *schema, const struct pe_kind *kind)
{
    struct tree *all = NULL;

    for (size_t i = 0; i < kind->params_n; i++) {
        if (!schema_is_required(&kind->params[i]) || !kind->params[i].when)
            continue;
        if (!all)
            all = tree_array(schema, "allOf");
        add_condition(all, &kind->params[i]);
    }
}

void schema_kind(struct tree *parent, const char *key, const struct pe_kind *kind, bool dialect)
{
    struct tree *schema = tree_object(parent, key);

    if (dialect)
        tree_string(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    tree_string(schema, "title", kind->title);
    tree_string(schema, "type", "object");
    struct tree *properties = tree_object(schema, "properties");
    tree_string(tree_object(properties, "kind"), "const", kind->name);
    for (size_t i = 0; i < kind->params_n; i++)
        schema_param(properties, kind->params[i].name, &kind->params[i], SCHEMA_BODY);
    add_required(schema, kind);
    tree_bool(schema, "additionalProperties", false);
    add_conditions(schema, kind);
}

void schema_kind_answer(struct tree *parent, const char *key, const struct pe_kind *kind)
{
    struct tree *schema = tree_object(parent, key);

    tree_string(schema, "title", kind->name);
    tree_string(schema, "type", "object");
    struct tree *properties = tree_object(schema, "properties");
    tree_string(tree_object(properties, "kind"), "const", kind->name);
    for (size_t i = 0; i < kind->params_n; i++)
        schema_param(properties, kind->params[i].name, &kind->params[i], SCHEMA_ANSWER);
    if (pe_kind_has_table(kind) || kind->properties & PE_TABULATED)
        tree_string(tree_object(properties, "table"), "pattern", "^sha256:[0-9a-f]{16}$");
    tree_string(tree_array(schema, "required"), NULL, "kind");
}
