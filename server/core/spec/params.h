// SPDX-License-Identifier: Apache-2.0
/*
 * params.h: what the core needs of parameters beyond posenc.h.
 */
#ifndef PE_CORE_PARAMS_H
#define PE_CORE_PARAMS_H

#include "posenc.h"
#include "span.h"

/* pe_params_set_text for names and values inside a longer text (no PE_TEXT rows). */
bool pe__params_set(struct pe_params *params, struct pe__span name, struct pe__span text,
                    struct pe_faults *faults);
/* The value of a row that may not exist (then NULL) or not be set. */
struct pe_value *pe__params_value(struct pe_params *params, const char *name);
/* Gives a row its value by rule, as if it were a default. */
void pe__params_derive(struct pe_params *params, const char *name, double number);
/* The same for a list, which is copied. False without memory. */
bool pe__params_derive_list(struct pe_params *params, const char *name, const double *list,
                            size_t n, struct pe_faults *faults);
/* Takes a value away: the echo and the compact form do not show it. */
void pe__params_drop(struct pe_params *params, const char *name);
/* The same if the value is this number, which is what not to give it means. */
void pe__params_drop_number(struct pe_params *params, const char *name, double number);
/* Whether row i has a value other than its default. */
bool pe__params_differs(const struct pe_params *params, size_t i);

#endif
