// SPDX-License-Identifier: Apache-2.0
/*
 * value.h: one parameter's value against its row: reading, checking, comparing.
 */
#ifndef PE_CORE_VALUE_H
#define PE_CORE_VALUE_H

#include "posenc.h"
#include "span.h"

/* Reads text by the row's type and checks it; a list is allocated and belongs to `value`. False
 * with one fault (or, without memory, PE_NO_MEMORY). PE_TEXT keeps the text by reference: it must
 * end with a NUL there. */
bool pe__value_read(const struct pe_param *row, struct pe__span text, struct pe_value *value,
                    struct pe_faults *faults);
/* The same for a number or a list, which is copied. */
bool pe__value_from_number(const struct pe_param *row, double number, struct pe_value *value,
                           struct pe_faults *faults);
bool pe__value_from_list(const struct pe_param *row, const double *list, size_t n,
                         struct pe_value *value, struct pe_faults *faults);
bool pe__value_equal(const struct pe_param *row, const struct pe_value *a,
                     const struct pe_value *b);

/* For messages: at most 40 bytes of the caller's text, or a number, NUL-terminated. */
#define PE__SHOWN_MAX 48
const char *pe__show_text(struct pe__span text, char out[PE__SHOWN_MAX]);
const char *pe__show_number(double number, char out[PE__SHOWN_MAX]);

#endif
