// SPDX-License-Identifier: Apache-2.0
/* param.h: parameters: rows that say what may be given, and their values. See posenc.h. */
#ifndef POSENC_PARAM_H
#define POSENC_PARAM_H

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PE_PARAMS_MAX 96 /* parameters of one kind or request */

enum pe_type {
    PE_INT,   /* integer, |value| <= 2^53 */
    PE_REAL,  /* finite double */
    PE_BOOL,  /* false or true (text also 0 or 1) */
    PE_ENUM,  /* one of `choices`; the value is its index */
    PE_ENUMS, /* some of `choices`; the value has bit 1 << index for each */
    PE_REALS, /* list of finite doubles */
    PE_TEXT,  /* free text with a grammar of its own (positions, shapes) */
};

enum pe_param_flag {
    PE_OPTIONAL = 1, /* may be absent although it has no default */
    PE_OPEN_MIN = 2, /* min itself is not allowed */
    PE_REPEATED = 4, /* request keys only: may be given several times (spec=) */
    PE_SCALAR = 16,  /* PE_TEXT: one word or number, never a list */
    PE_DERIVED = 8,  /* the default comes from another parameter; the echo always shows it */
    PE_QUIET = 32,   /* the echo leaves it out while it has its default, which changes nothing */
};

/* One parameter: the single place where its name, type, range, default and meaning stand. Rows that
 * `fallback` or `when` name come earlier in the table. */
struct pe_param {
    const char *name;
    const char *aliases; /* other spellings, space-separated, or NULL */
    enum pe_type type;
    double min, max;      /* inclusive (see PE_OPEN_MIN); of each element for PE_REALS */
    unsigned multiple_of; /* PE_INT: 0 or the divisor asked for; PE_REALS: 1 for integers */
    unsigned flags;       /* enum pe_param_flag */
    const char *fallback; /* default in text form; "@dim" copies dim; NULL: none */
    const char *choices;  /* PE_ENUM(S): "interleaved|gptj half|neox|rotate_half": choice|alias...;
                             PE_INT: words for -1, -2 .., of which the kind makes numbers */
    const char *when;     /* "scaling=linear|ntk": only read then; NULL: always */
    const char *help;     /* one sentence for the catalogue, with unit */
};

struct pe_value {
    bool given;       /* by the caller, rather than the default */
    bool implied;     /* given by another key, which may stand for more than is read */
    bool set;         /* has a value at all */
    double number;    /* PE_INT, PE_REAL, PE_BOOL (0, 1), PE_ENUM (index of the choice), PE_ENUMS */
    const char *text; /* PE_TEXT: the caller's memory */
    double *list;     /* PE_REALS: owned, freed by pe_params_release */
    size_t list_n;
};

/* Values for a table of rows; `rows` outlives it. */
struct pe_params {
    const struct pe_param *rows;
    size_t rows_n; /* <= PE_PARAMS_MAX */
    struct pe_value value[PE_PARAMS_MAX];
};

void pe_params_init(struct pe_params *params, const struct pe_param *rows, size_t rows_n);
void pe_params_release(struct pe_params *params);
/* Row number of a name or alias, or -1. */
int pe_params_find(const struct pe_params *params, const char *name, size_t len);
/* Sets by text, number or list: type, range and divisibility are checked, and a second value that
 * differs from the first is PE_CONFLICTING_PARAMETERS. `name` may be an alias; one that is not
 * known is PE_UNKNOWN_PARAMETER with the nearest known one as hint. List text separates by `,`
 * or `+`. Text of PE_TEXT rows is kept by reference. False: a fault was added, the value is not
 * used. */
bool pe_params_set_text(struct pe_params *params, const char *name, const char *text,
                        struct pe_faults *faults);
bool pe_params_set_number(struct pe_params *params, const char *name, double number,
                          struct pe_faults *faults);
bool pe_params_set_list(struct pe_params *params, const char *name, const double *list, size_t n,
                        struct pe_faults *faults);
/* Fills defaults, refuses parameters whose `when` does not hold, names the missing ones. False when
 * it found something, or a given value was refused before. */
bool pe_params_finish(struct pe_params *params, struct pe_faults *faults);
/* Value by full name; the row must exist. */
const struct pe_value *pe_params_get(const struct pe_params *params, const char *name);
/* Name of the choice that a PE_ENUM value stands for (static memory, `len` bytes). */
const char *pe_choice_name(const struct pe_param *row, double index, size_t *len);
/* Whether the `when` of row i holds with the values that are set so far. */
bool pe_params_reads(const struct pe_params *params, size_t i);
/* Whether the echo shows row i (after finish): it has a value, its `when` holds, and a quiet one
 * has not its default. */
bool pe_params_applies(const struct pe_params *params, size_t i);
/* Prints one value in text form (lists joined by `separator`); returns the length it needs, as
 * snprintf does. */
size_t pe_value_print(const struct pe_param *row, const struct pe_value *value, char separator,
                      char *out, size_t size);
/* Nearest of `n` names by edit distance, or NULL when none is near enough to be meant. */
const char *pe_nearest_name(const char *name, const char *const *names, size_t n);

#ifdef __cplusplus
}
#endif

#endif
