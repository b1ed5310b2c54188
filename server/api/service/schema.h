// SPDX-License-Identifier: Apache-2.0
/*
 * schema.h: parameter rows as JSON Schema (2020-12), for the catalogue and for OpenAPI. What JSON
 * Schema has no word for stands in members of our own: x-aliases (other spellings),
 * x-choice-aliases, x-when (only read if another parameter has this value), x-default-from (the
 * default is that of another parameter).
 */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include "posenc.h"
#include "tree.h"

/* Where the value stands: positions and lists are text in a query and may be arrays in a body; an
 * answer echoes them by their own names and with nothing left out, so that it has no defaults. */
enum schema_place { SCHEMA_QUERY, SCHEMA_BODY, SCHEMA_ANSWER };

/* The schema of one parameter, its description included; returns it, to be added to. */
struct tree *schema_param(struct tree *parent, const char *key, const struct pe_param *row,
                          enum schema_place place);
/* The schema of a spec object of this kind; `dialect`: with "$schema", as a document of its own. */
void schema_kind(struct tree *parent, const char *key, const struct pe_kind *kind, bool dialect);
/* The same as answers echo it. */
void schema_kind_answer(struct tree *parent, const char *key, const struct pe_kind *kind);

/* An array of the space-separated words of a text. */
void schema_words(struct tree *parent, const char *key, const char *words);

/* Walks over "interleaved|gptj half|neox": one choice with its aliases per call. */
struct schema_choice {
    const char *name, *aliases; /* aliases: separated by '|' */
    size_t name_len, aliases_len;
};
bool schema_choice_next(const char **cursor, struct schema_choice *choice);

/* Whether the caller must give it (when its `when` holds). */
bool schema_is_required(const struct pe_param *row);

#endif
