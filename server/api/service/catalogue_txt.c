// SPDX-License-Identifier: Apache-2.0
/* catalogue_txt.c: the catalogue of encodings for a terminal, from the core's table of kinds. */
#include <math.h>
#include <stdio.h>

#include "catalogue.h"
#include "schema.h"
#include "text.h"

#define COLUMN_BY     16
#define COLUMN_TITLE  26
#define COLUMN_VALUES 26
#define FACTS_MAX     2048 /* bytes of what is said of one parameter beside its help */

static void append_paragraph(struct buf *out, size_t indent, const char *text)
{
    text_column(out, indent);
    text_wrap(out, indent, text);
    buf_putc(out, '\n');
}

void catalogue_write_list(struct buf *out)
{
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        buf_puts(out, kind->name);
        text_column(out, COLUMN_BY);
        buf_puts(out, catalogue_by(kind->acts));
        text_column(out, COLUMN_TITLE);
        text_wrap(out, COLUMN_TITLE, kind->title);
        buf_putc(out, '\n');
    }
    buf_puts(out, "\n/v1/encodings/rope?format=txt tells all about one of them.\n"
                  "\nNot offered\n");
    for (size_t i = 0; i < catalogue_absent_n; i++) {
        append_paragraph(out, 2, catalogue_absent[i].title);
        append_paragraph(out, 6, catalogue_absent[i].reason);
    }
}

static void append_number(struct buf *out, double number)
{
    if (fabs(number) == PE_POSITION_MAX)
        buf_puts(out, number < 0 ? "-2^53" : "2^53");
    else if (buf_reserve(out, PE_TEXT_MAX))
        out->len += pe_text_print(PE_F64, &number, 0, out->data + out->len);
}

/* "2 to 65536, a multiple of 2" */
static void append_range(struct buf *out, const struct pe_param *row)
{
    buf_puts(out, row->flags & PE_OPEN_MIN ? "above " : "");
    append_number(out, row->min);
    if (row->max > row->min) {
        buf_puts(out, row->flags & PE_OPEN_MIN ? ", up to " : " to ");
        append_number(out, row->max);
    }
    if (row->multiple_of > 1)
        buf_printf(out, ", a multiple of %u", row->multiple_of);
}

static void append_choices(struct buf *out, const char *choices)
{
    struct schema_choice choice;
    bool first = true;

    for (const char *cursor = choices; schema_choice_next(&cursor, &choice); first = false) {
        buf_puts(out, first ? "" : ", ");
        buf_append(out, choice.name, choice.name_len);
    }
}

static void append_values(struct buf *out, const struct pe_param *row)
{
    switch (row->type) {
    case PE_INT:
        buf_puts(out, "integer, ");
        append_range(out, row);
        if (row->choices) {
            buf_puts(out, ", or ");
            append_choices(out, row->choices);
        }
        break;
    case PE_REAL:
        buf_puts(out, "number, ");
        append_range(out, row);
        break;
    case PE_REALS:
        buf_puts(out, row->multiple_of ? "integers, each " : "numbers, each ");
        append_range(out, row);
        break;
    case PE_BOOL:
        buf_puts(out, "true, false");
        break;
    case PE_ENUM:
        append_choices(out, row->choices);
        break;
    case PE_ENUMS:
        buf_puts(out, "some of ");
        append_choices(out, row->choices);
        break;
    case PE_TEXT:
        buf_puts(out, "text");
        break;
    }
}

static void append_default(struct buf *out, const struct pe_param *row)
{
    if (row->fallback)
        buf_printf(out, "; default %s", row->fallback + (row->fallback[0] == '@'));
    else if (schema_is_required(row))
        buf_puts(out, "; required");
    if (!row->when)
        return;
    buf_puts(out, " (with ");
    for (const char *c = row->when; *c; c++)
        *c == '|' ? buf_puts(out, ", ") : buf_putc(out, *c);
    buf_putc(out, ')');
}

/* Type, range and default, in lines that begin where the first one does. */
static void append_facts(struct buf *out, const struct pe_param *row)
{
    struct buf facts;
    buf_init(&facts, FACTS_MAX);
    append_values(&facts, row);
    append_default(&facts, row);
    buf_putc(&facts, '\0');
    if (facts.failed)
        out->failed = true;
    else
        text_wrap(out, COLUMN_VALUES, facts.data);
    buf_release(&facts);
}

static void append_param(struct buf *out, const struct pe_param *row)
{
    buf_printf(out, "  %s", row->name);
    text_column(out, COLUMN_VALUES);
    append_facts(out, row);
    buf_putc(out, '\n');
    append_paragraph(out, 6, row->help);
    if (row->aliases) {
        buf_puts(out, "      also spelt ");
        text_wrap(out, 6, row->aliases);
        buf_putc(out, '\n');
    }
}

static void append_library(struct buf *out, const struct pe_library *row)
{
    buf_printf(out, "  %s", row->name);
    text_column(out, COLUMN_VALUES);
    text_wrap(out, COLUMN_VALUES, row->use);
    buf_putc(out, '\n');
}

void catalogue_write_kind(struct buf *out, const struct pe_kind *kind)
{
    buf_printf(out, "%s: %s\n\n", kind->name, kind->title);
    append_paragraph(out, 2, kind->formula);
    buf_putc(out, '\n');
    append_paragraph(out, 0, kind->help);
    buf_puts(out, "\nBeyond the positions of training\n");
    append_paragraph(out, 2, kind->outside);
    buf_puts(out, "\nParameters\n");
    for (size_t i = 0; i < kind->params_n; i++)
        append_param(out, &kind->params[i]);
    buf_puts(out, "\nExamples\n");
    for (const char *const *example = kind->examples; *example; example++)
        buf_printf(out, "  curl \"$U%s\"\n", *example);
    buf_puts(out, kind->libraries->name ? "\nUsed by\n" : "\nUsed by no library\n");
    for (const struct pe_library *row = kind->libraries; row->name; row++)
        append_library(out, row);
    buf_puts(out, "\nReferences\n");
    for (const struct pe_reference *row = kind->references; row->title; row++) {
        char line[320];
        snprintf(line, sizeof line, "%s, %d, %s", row->title, row->year, row->id);
        append_paragraph(out, 2, line);
    }
}
