// SPDX-License-Identifier: Apache-2.0
/*
 * value.c: one parameter's value against its row. Text and numbers become values here, with a
 * message that names the limit and what was received; the table of values is params.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "text.h"
#include "value.h"

const char *pe__show_text(struct pe__span text, char out[PE__SHOWN_MAX])
{
    size_t len = text.len < 40 ? text.len : 40;
    while (len < text.len && len > 0 && ((unsigned char)text.text[len] & 0xC0) == 0x80)
        len--; /* not in the middle of a UTF-8 sequence */
    snprintf(out, PE__SHOWN_MAX, "%.*s%s", (int)len, text.text ? text.text : "",
             len < text.len ? "..." : "");
    return out;
}

const char *pe__show_number(double number, char out[PE__SHOWN_MAX])
{
    out[pe_text_print(PE_F64, &number, 0, out)] = '\0';
    return out;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static bool fault_number(const struct pe_param *row, struct pe_faults *faults, const char *must,
                         double got)
{
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, row->name, NULL, "%s must be %s, got %s",
                        row->name, must, pe__show_number(got, shown));
}

static bool fault_limit(const struct pe_param *row, struct pe_faults *faults, const char *relation,
                        double limit, double got)
{
    char must[80], shown[PE__SHOWN_MAX];
    snprintf(must, sizeof must, "%s %s", relation, pe__show_number(limit, shown));
    return fault_number(row, faults, must, got);
}

static bool check_number(const struct pe_param *row, double number, struct pe_faults *faults)
{
    if (!isfinite(number))
        return fault_number(row, faults, "a finite number", number);
    if (row->type == PE_BOOL && number != 0 && number != 1)
        return fault_number(row, faults, "true or false", number);
    if (row->type == PE_BOOL)
        return true;
    if ((row->type == PE_INT || row->multiple_of == 1) && number != trunc(number))
        return fault_number(row, faults, "an integer", number);
    if ((row->flags & PE_OPEN_MIN) && number <= row->min)
        return fault_limit(row, faults, "greater than", row->min, number);
    if (number < row->min)
        return fault_limit(row, faults, "at least", row->min, number);
    if (number > row->max)
        return fault_limit(row, faults, "at most", row->max, number);
    if (row->multiple_of == 2 && fmod(number, 2) != 0)
        return fault_number(row, faults, "even", number);
    if (row->multiple_of && fmod(number, row->multiple_of) != 0)
        return fault_limit(row, faults, "a multiple of", row->multiple_of, number);
    return true;
}

static const char *type_name(enum pe_type type)
{
    switch (type) {
    case PE_INT:
        return "an integer";
    case PE_BOOL:
        return "true or false";
    case PE_REALS:
        return "a list of numbers";
    default:
        return "a number";
    }
}

static bool fault_text(const struct pe_param *row, struct pe__span text, const char *must,
                       struct pe_faults *faults)
{
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, row->name, NULL, "%s must be %s, got \"%s\"",
                        row->name, must, pe__show_text(text, shown));
}

static bool fault_no_number(const struct pe_param *row, struct pe__span text, bool is_text,
                            struct pe_faults *faults)
{
    char must[80];
    snprintf(must, sizeof must, "%s%s%s", type_name(row->type), row->choices ? " or " : "",
             row->choices ? row->choices : "");
    return fault_text(row, text, is_text ? must : "a finite double", faults);
}

static int word_index(const struct pe_param *row, struct pe__span text)
{
    return row->type == PE_INT ? pe__span_index(pe__span_of(row->choices), ' ', text) : -1;
}

/* Text to a checked number. An integer is held to its exact decimal value, not the rounded one. */
static bool read_number(const struct pe_param *row, struct pe__span text, double *number,
                        struct pe_faults *faults)
{
    int word = word_index(row, text);
    *number = -1 - word;
    if (word >= 0)
        return true;
    if (!pe_text_read(text.text, text.len, PE_F64, number, 0))
        return fault_no_number(row, text, isnan(*number), faults);
    *number += 0.0; /* no negative zero */
    int order = row->type == PE_INT ? pe__text_compare(text.text, text.len, *number) : 0;
    if (order != 0 && fabs(*number) < PE_POSITION_MAX)
        return fault_text(row, text, "an integer", faults);
    if (order != 0)
        return fault_text(row, text, "an integer of at most 2^53", faults);
    return check_number(row, *number, faults);
}

/* ---- Choices and lists -------------------------------------------------------------------- */

static bool read_bool(const struct pe_param *row, struct pe__span text, double *number,
                      struct pe_faults *faults)
{
    struct pe__span names = pe__span_of("false 0 true 1");
    int i = pe__span_index(names, ' ', text);
    if (i < 0)
        return fault_text(row, text, "true or false", faults);
    *number = i / 2;
    return true;
}

static bool fault_choice(const struct pe_param *row, struct pe__span text, struct pe_faults *faults)
{
    struct pe__nearest nearest;
    pe__nearest_init(&nearest, text);
    char list[160] = "";
    struct pe__span rest = pe__span_of(row->choices);
    struct pe__span names, name;
    for (size_t len = 0; pe__span_cut(&rest, ' ', &names) && len < sizeof list;) {
        struct pe__span first = {0};
        while (pe__span_cut(&names, '|', &name)) {
            pe__nearest_offer(&nearest, name);
            first = first.text ? first : name;
        }
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%.*s", len ? ", " : "",
                                (int)first.len, first.text);
    }
    char hint[64] = "", shown[PE__SHOWN_MAX];
    if (nearest.best.text)
        snprintf(hint, sizeof hint, "did you mean \"%.*s\"?", (int)nearest.best.len,
                 nearest.best.text);
    return pe_fault_add(faults, PE_INVALID_VALUE, row->name, hint,
                        "%s must be one of %s; got \"%s\"", row->name, list,
                        pe__show_text(text, shown));
}

static bool read_choice(const struct pe_param *row, struct pe__span text, double *number,
                        struct pe_faults *faults)
{
    struct pe__span rest = pe__span_of(row->choices);
    struct pe__span names;
    for (int i = 0; pe__span_cut(&rest, ' ', &names); i++)
        if (pe__span_index(names, '|', text) >= 0) {
            *number = i;
            return true;
        }
    return fault_choice(row, text, faults);
}

/* Names separated by `,` or `+`, in any order; one that comes twice counts once. */
static bool read_choices(const struct pe_param *row, struct pe__span text, double *number,
                         struct pe_faults *faults)
{
    uint64_t chosen = 0;
    while (text.text) {
        size_t len = 0;
        while (len < text.len && text.text[len] != ',' && text.text[len] != '+')
            len++;
        double index = 0;
        if (!read_choice(row, (struct pe__span){text.text, len}, &index, faults))
            return false;
        chosen |= (uint64_t)1 << (unsigned)index;
        text = len < text.len ? (struct pe__span){text.text + len + 1, text.len - len - 1}
                              : (struct pe__span){0};
    }
    *number = (double)chosen;
    return true;
}

const char *pe_choice_name(const struct pe_param *row, double index, size_t *len)
{
    struct pe__span rest = pe__span_of(row->choices);
    struct pe__span names = {0}, name = {0};
    for (size_t i = 0; i <= (size_t)index; i++)
        pe__span_cut(&rest, ' ', &names);
    pe__span_cut(&names, '|', &name);
    *len = name.len;
    return name.text;
}

/* Cuts the next number off a list separated by `,` or `+`; the + of an exponent is no separator. */
static bool cut_number(struct pe__span *rest, struct pe__span *piece)
{
    if (!rest->text)
        return false;
    size_t len = 0;
    for (; len < rest->len && rest->text[len] != ','; len++)
        if (rest->text[len] == '+' && len > 0 && (rest->text[len - 1] | 0x20) != 'e')
            break;
    *piece = (struct pe__span){rest->text, len};
    *rest = len < rest->len ? (struct pe__span){rest->text + len + 1, rest->len - len - 1}
                            : (struct pe__span){0};
    return true;
}

/* Room for a list of n numbers; a fault when there is none. */
static bool list_new(const struct pe_param *row, size_t n, struct pe_value *value,
                     struct pe_faults *faults)
{
    if (n == 0)
        return pe_fault_add(faults, PE_INVALID_VALUE, row->name, NULL,
                            "%s must have at least one number, got none", row->name);
    if (n > PE_DIM_MAX)
        return pe_fault_add(faults, PE_LIMIT_EXCEEDED, row->name, NULL,
                            "%s may have at most %d numbers, got %zu", row->name, PE_DIM_MAX, n);
    value->list = malloc(n * sizeof *value->list);
    if (!value->list)
        return pe_fault_add(faults, PE_NO_MEMORY, row->name, NULL, "no memory for %zu numbers", n);
    value->list_n = n;
    return true;
}

static void list_drop(struct pe_value *value)
{
    free(value->list);
    value->list = NULL;
    value->list_n = 0;
}

static bool read_list(const struct pe_param *row, struct pe__span text, struct pe_value *value,
                      struct pe_faults *faults)
{
    size_t n = 0;
    struct pe__span piece, rest = text;
    while (text.len && cut_number(&rest, &piece))
        n++;
    if (!list_new(row, n, value, faults))
        return false;
    rest = text;
    for (size_t i = 0; cut_number(&rest, &piece); i++)
        if (!read_number(row, piece, &value->list[i], faults)) {
            list_drop(value);
            return false;
        }
    return true;
}

/* ---- Values ------------------------------------------------------------------------------- */

bool pe__value_read(const struct pe_param *row, struct pe__span text, struct pe_value *value,
                    struct pe_faults *faults)
{
    value->set = true;
    switch (row->type) {
    case PE_INT:
    case PE_REAL:
        return read_number(row, text, &value->number, faults);
    case PE_BOOL:
        return read_bool(row, text, &value->number, faults);
    case PE_ENUM:
        return read_choice(row, text, &value->number, faults);
    case PE_ENUMS:
        return read_choices(row, text, &value->number, faults);
    case PE_REALS:
        return read_list(row, text, value, faults);
    case PE_TEXT:
        value->text = text.text;
        return true;
    }
    return false;
}

bool pe__value_from_number(const struct pe_param *row, double number, struct pe_value *value,
                           struct pe_faults *faults)
{
    char shown[PE__SHOWN_MAX];
    if (row->type == PE_ENUM || row->type == PE_ENUMS)
        return fault_choice(row, pe__span_of(pe__show_number(number, shown)), faults);
    if (row->type == PE_REALS)
        return pe__value_from_list(row, &number, 1, value, faults);
    if (row->type == PE_TEXT)
        return fault_number(row, faults, "text", number);
    value->set = true;
    value->number = number + 0.0; /* no negative zero */
    return check_number(row, number, faults);
}

bool pe__value_from_list(const struct pe_param *row, const double *list, size_t n,
                         struct pe_value *value, struct pe_faults *faults)
{
    if (row->type != PE_REALS)
        return pe_fault_add(faults, PE_INVALID_VALUE, row->name, NULL,
                            "%s must be one value, got a list of %zu", row->name, n);
    if (!list_new(row, n, value, faults))
        return false;
    value->set = true;
    for (size_t i = 0; i < n; i++) {
        value->list[i] = list[i] + 0.0;
        if (!check_number(row, list[i], faults)) {
            list_drop(value);
            return false;
        }
    }
    return true;
}

bool pe__value_equal(const struct pe_param *row, const struct pe_value *a, const struct pe_value *b)
{
    if (row->type == PE_TEXT)
        return strcmp(a->text, b->text) == 0;
    if (row->type != PE_REALS)
        return a->number == b->number;
    return a->list_n == b->list_n && memcmp(a->list, b->list, a->list_n * sizeof *a->list) == 0;
}

static struct pe__span print_plain(const struct pe_param *row, const struct pe_value *value,
                                   char number[PE_TEXT_MAX])
{
    struct pe__span text = {number, 0};
    switch (row->type) {
    case PE_BOOL:
        return pe__span_of(value->number != 0 ? "true" : "false");
    case PE_ENUM:
        text.text = pe_choice_name(row, value->number, &text.len);
        return text;
    case PE_TEXT:
        return pe__span_of(value->text);
    case PE_INT:
        if (row->choices && value->number < 0) {
            text.text = pe_choice_name(row, -1 - value->number, &text.len);
            return text;
        }
        /* fall through */
    default:
        text.len = pe_text_print(PE_F64, &value->number, 0, number);
        return text;
    }
}

/* Appends as much as fits; returns the length wanted so far. */
static size_t append(char *out, size_t size, size_t len, struct pe__span text)
{
    if (len < size)
        snprintf(out + len, size - len, "%.*s", (int)text.len, text.text);
    return len + text.len;
}

/* The chosen names in the order of the row. */
static size_t print_choices(const struct pe_param *row, uint64_t chosen, char separator, char *out,
                            size_t size)
{
    size_t len = 0;
    for (unsigned i = 0; chosen >> i; i++) {
        struct pe__span name;
        if (!(chosen >> i & 1))
            continue;
        if (len > 0)
            len = append(out, size, len, (struct pe__span){&separator, 1});
        name.text = pe_choice_name(row, i, &name.len);
        len = append(out, size, len, name);
    }
    return len;
}

size_t pe_value_print(const struct pe_param *row, const struct pe_value *value, char separator,
                      char *out, size_t size)
{
    char number[PE_TEXT_MAX];
    size_t len = append(out, size, 0, (struct pe__span){"", 0});
    if (!value->set)
        return len;
    if (row->type == PE_ENUMS)
        return print_choices(row, (uint64_t)value->number, separator, out, size);
    if (row->type != PE_REALS)
        return append(out, size, len, print_plain(row, value, number));
    for (size_t i = 0; i < value->list_n; i++) {
        if (i > 0)
            len = append(out, size, len, (struct pe__span){&separator, 1});
        size_t n = pe_text_print(PE_F64, value->list, i, number);
        len = append(out, size, len, (struct pe__span){number, n});
    }
    return len;
}
