// SPDX-License-Identifier: Apache-2.0
/*
 * positions.c: lists of positions as text. A range is exact decimal arithmetic on integers, and
 * each of its values is rounded once, so that 0:1:0.1 holds the doubles nearest to 0.1, 0.2, 0.3.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dd.h"
#include "kind.h"
#include "span.h"
#include "text.h"
#include "value.h"

#define GRAMMAR_HINT "write 7, 0,8,24, 0:128, 0:128:4, -4:4, 0:2:0.25 or 2^0:2^20"

/* ---- Exact decimals ----------------------------------------------------------------------- */

/* digits *= 10^n; false when it does not fit. */
static bool scale(__int128 *digits, int64_t n)
{
    for (; n > 0 && *digits != 0; n--)
        if (__builtin_mul_overflow(*digits, 10, digits))
            return false;
    return true;
}

/* Writes n decimals with the same exponent: the smallest. */
static bool align(struct pe__decimal *decimals[], size_t n)
{
    int64_t exponent = INT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (decimals[i]->digits != 0 && decimals[i]->exponent < exponent)
            exponent = decimals[i]->exponent;
    if (exponent == INT64_MAX)
        exponent = 0;
    for (size_t i = 0; i < n; i++) {
        if (!scale(&decimals[i]->digits, decimals[i]->exponent - exponent))
            return false;
        decimals[i]->exponent = exponent;
    }
    return true;
}

/* Whether |decimal| > 2^53, exactly. */
static bool beyond_limit(struct pe__decimal decimal)
{
    __int128 digits = decimal.digits < 0 ? -decimal.digits : decimal.digits;
    __int128 limit = (__int128)1 << 53;
    if (decimal.exponent >= 0)
        return !scale(&digits, decimal.exponent) || digits > limit;
    return scale(&limit, -decimal.exponent) && digits > limit; /* no fit: digits are fewer */
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* One piece of a list: n values start, start + step, ...; or 2^first, 2^(first + 1), ...; or a
 * single value. */
struct run {
    enum { SINGLE, RANGE, POWERS } form;
    double n; /* as a double, because it may be absurd */
    double value;
    struct pe__decimal start, step; /* with one exponent */
    int first;
};

static bool fault_piece(struct pe_faults *faults, const char *param, struct pe__span piece,
                        const char *what)
{
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, param, GRAMMAR_HINT, "\"%s\" in %s %s",
                        pe__show_text(piece, shown), param, what);
}

static bool fault_beyond(struct pe_faults *faults, const char *param, struct pe__span piece)
{
    return fault_piece(faults, param, piece, "is beyond 2^53, the largest position");
}

static struct pe__span trim(struct pe__span piece)
{
    while (piece.len && *piece.text == ' ')
        piece = (struct pe__span){piece.text + 1, piece.len - 1};
    while (piece.len && piece.text[piece.len - 1] == ' ')
        piece.len--;
    return piece;
}

/* "2^20": false, without a fault, when the text is not of this form. */
static bool read_power(struct pe__span text, int *exponent)
{
    int64_t value;
    if (text.len < 3 || memcmp(text.text, "2^", 2) != 0 ||
        !pe_text_read(text.text + 2, text.len - 2, PE_I64, &value, 0) || value < -1074 ||
        value > 53)
        return false;
    *exponent = (int)value;
    return true;
}

static bool read_single(struct pe__span piece, struct run *run, const char *param,
                        struct pe_faults *faults)
{
    *run = (struct run){.form = SINGLE, .n = 1};
    int exponent;
    if (read_power(piece, &exponent)) {
        run->value = ldexp(1, exponent);
        return true;
    }
    if (piece.len > 1 && piece.text[1] == '^')
        return fault_piece(faults, param, piece, "is not a power from 2^-1074 to 2^53");
    if (!pe_text_read(piece.text, piece.len, PE_F64, &run->value, 0) && isnan(run->value))
        return fault_piece(faults, param, piece, "is not a number");
    double magnitude = fabs(run->value);
    if (magnitude > PE_POSITION_MAX ||
        (magnitude == PE_POSITION_MAX &&
         pe__text_compare(piece.text, piece.len, run->value) * run->value > 0))
        return fault_beyond(faults, param, piece);
    run->value += 0.0; /* no negative zero */
    return true;
}

static bool read_powers(struct pe__span piece, const struct pe__span parts[3], size_t parts_n,
                        struct run *run, const char *param, struct pe_faults *faults)
{
    int last;
    *run = (struct run){.form = POWERS};
    if (parts_n != 2 || !read_power(parts[0], &run->first) || !read_power(parts[1], &last))
        return fault_piece(faults, param, piece,
                           "is not a range of powers from 2^-1074 to 2^53 (it has no step)");
    if (last < run->first)
        return fault_piece(faults, param, piece, "holds no position");
    run->n = last - run->first + 1;
    return true;
}

/* Reads the ends and the step (1 without) as exact decimals. */
static bool read_ends(struct pe__span piece, const struct pe__span parts[3], size_t parts_n,
                      struct pe__decimal ends[3], const char *param, struct pe_faults *faults)
{
    ends[2] = (struct pe__decimal){1, 0};
    for (size_t i = 0; i < parts_n; i++) {
        double value;
        pe_text_read(parts[i].text, parts[i].len, PE_F64, &value, 0);
        if (isnan(value))
            return fault_piece(faults, param, parts[i], "is not a number");
        if (!pe__text_decimal(parts[i].text, parts[i].len, &ends[i]))
            return fault_piece(faults, param, piece, "has a number of more than 19 digits");
    }
    if (ends[2].digits == 0)
        return fault_piece(faults, param, piece, "has the step 0");
    return true;
}

static bool read_range(struct pe__span piece, const struct pe__span parts[3], size_t parts_n,
                       struct run *run, const char *param, struct pe_faults *faults)
{
    struct pe__decimal ends[3] = {{0}};
    *run = (struct run){.form = RANGE};
    if (!read_ends(piece, parts, parts_n, ends, param, faults))
        return false;
    if (beyond_limit(ends[0]))
        return fault_beyond(faults, param, parts[0]);
    double estimate = (pe__text_value(ends[1]) - pe__text_value(ends[0])) / pe__text_value(ends[2]);
    if (estimate > 2.0 * PE_POSITIONS_N_MAX) { /* too many, however it is counted */
        run->n = floor(estimate);
        return true;
    }
    struct pe__decimal *all[] = {&ends[0], &ends[1], &ends[2]};
    __int128 width;
    if (!align(all, 3) || __builtin_sub_overflow(ends[1].digits, ends[0].digits, &width))
        return fault_piece(faults, param, piece, "has numbers too far apart in size");
    __int128 step = ends[2].digits;
    if (width == 0 || (width < 0) != (step < 0))
        return fault_piece(faults, param, piece, "holds no position");
    __int128 n = width / step + (width % step != 0);
    run->start = ends[0];
    run->step = ends[2];
    run->n = (double)n;
    struct pe__decimal last = {ends[0].digits + (n - 1) * step, ends[0].exponent};
    return beyond_limit(last) ? fault_beyond(faults, param, piece) : true;
}

static bool read_run(struct pe__span piece, struct run *run, const char *param,
                     struct pe_faults *faults)
{
    struct pe__span parts[3] = {{0}}, rest = piece;
    size_t n = 0;
    bool powers = false;
    while (n < 3 && pe__span_cut(&rest, ':', &parts[n])) {
        parts[n] = trim(parts[n]);
        powers |= parts[n].len > 0 && memchr(parts[n].text, '^', parts[n].len);
        n++;
    }
    if (rest.text)
        return fault_piece(faults, param, piece, "has more than three parts");
    if (n < 2)
        return read_single(parts[0], run, param, faults);
    return powers ? read_powers(piece, parts, n, run, param, faults)
                  : read_range(piece, parts, n, run, param, faults);
}

static double run_value(const struct run *run, size_t i)
{
    switch (run->form) {
    case SINGLE:
        return run->value;
    case POWERS:
        return ldexp(1, run->first + (int)i);
    default:
        return pe__text_value((struct pe__decimal){
            run->start.digits + (__int128)i * run->step.digits, run->start.exponent});
    }
}

bool pe_positions_parse(const char *text, const char *param, double *out, size_t max, size_t *n,
                        struct pe_faults *faults)
{
    struct pe__span rest = pe__span_of(text), piece;
    struct run run = {.form = SINGLE};
    bool ok = true;
    double total = 0;
    *n = 0;
    if (trim(rest).len == 0)
        return fault_piece(faults, param, rest, "holds no position");
    while (pe__span_cut(&rest, ',', &piece)) {
        if (!read_run(trim(piece), &run, param, faults)) {
            ok = false;
            continue;
        }
        total += run.n;
        size_t values = ok && total <= PE_POSITIONS_N_MAX ? (size_t)run.n : 0;
        for (size_t i = 0; i < values; i++, ++*n)
            if (*n < max)
                out[*n] = run_value(&run, i);
    }
    if (total <= PE_POSITIONS_N_MAX)
        return ok;
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_LIMIT_EXCEEDED, param, NULL,
                        "%s may hold at most %zu positions, got %s", param, PE_POSITIONS_N_MAX,
                        pe__show_number(total, shown));
}

/* ---- Printing ----------------------------------------------------------------------------- */

static struct pe__decimal shortest_decimal(double value, char text[PE_TEXT_MAX], size_t *len)
{
    struct pe__decimal decimal = {0, 0};
    value += 0.0; /* no negative zero */
    *len = pe_text_print(PE_F64, &value, 0, text);
    pe__text_decimal(text, *len, &decimal);
    return decimal;
}

/* Appends as much of a number as fits; returns the length wanted so far. */
static size_t append_number(char *out, size_t size, size_t len, char separator, double value)
{
    char text[PE_TEXT_MAX];
    size_t text_len;
    shortest_decimal(value, text, &text_len);
    size_t total = text_len + (separator != '\0');
    if (len < size)
        snprintf(out + len, size - len, "%.*s%.*s", separator != '\0', &separator, (int)text_len,
                 text);
    return len + total;
}

/* Whether a decimal is what its nearest double prints as. */
static bool is_shortest(struct pe__decimal decimal)
{
    char text[PE_TEXT_MAX];
    size_t len;
    struct pe__decimal shortest = shortest_decimal(pe__text_value(decimal), text, &len);
    struct pe__decimal *both[] = {&decimal, &shortest};
    return align(both, 2) && decimal.digits == shortest.digits;
}

/* Finds start, stop and step of values that a range holds exactly. */
static bool find_range(const double *at, size_t n, struct pe__decimal *step,
                       struct pe__decimal *end)
{
    if (n < 3)
        return false;
    char text[PE_TEXT_MAX];
    size_t len;
    struct pe__decimal start = shortest_decimal(at[0], text, &len);
    struct pe__decimal next = shortest_decimal(at[1], text, &len);
    struct pe__decimal *both[] = {&start, &next};
    __int128 width;
    if (!align(both, 2) || start.digits == next.digits)
        return false;
    *step = (struct pe__decimal){next.digits - start.digits, start.exponent};
    if (__builtin_mul_overflow(step->digits, (__int128)n, &width) ||
        __builtin_add_overflow(start.digits, width, &width))
        return false;
    for (size_t i = 2; i < n; i++)
        if (pe__text_value((struct pe__decimal){start.digits + (__int128)i * step->digits,
                                                start.exponent}) != at[i])
            return false;
    *end = (struct pe__decimal){width, start.exponent};
    return is_shortest(*step) && is_shortest(*end);
}

size_t pe_positions_print(const double *at, size_t n, char *out, size_t size)
{
    struct pe__decimal step, end;
    if (size > 0)
        *out = '\0';
    size_t len = 0;
    if (!find_range(at, n, &step, &end)) {
        for (size_t i = 0; i < n; i++)
            len = append_number(out, size, len, i > 0 ? ',' : '\0', at[i]);
        return len;
    }
    len = append_number(out, size, len, '\0', at[0]);
    len = append_number(out, size, len, ':', pe__text_value(end));
    if (pe__text_value(step) != 1)
        len = append_number(out, size, len, ':', pe__text_value(step));
    return len;
}

/* ---- Checking ----------------------------------------------------------------------------- */

/* What has to hold of the place of each position. */
struct rules {
    const struct pe_spec *spec;
    struct pe__placing placing;
    double rows; /* of a table in which positions are looked up; infinite: there is none */
    const char *param;
};

static bool fault_row(const struct rules *rules, double position, struct pe_faults *faults)
{
    char shown[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, rules->param, "a larger max_positions has more",
                        "position %s is in no row of a table with max_positions=%.0f: rows are "
                        "the whole numbers 0 to %.0f",
                        pe__show_number(position, shown), rules->rows, rules->rows - 1);
}

static bool fault_place(const struct rules *rules, double position, struct pe_faults *faults)
{
    char shown[PE__SHOWN_MAX], scale[PE__SHOWN_MAX], shift[PE__SHOWN_MAX];
    return pe_fault_add(faults, PE_INVALID_VALUE, rules->param,
                        "positions are not rounded: give a position_scale or a shift of fewer "
                        "binary digits, such as a power of two",
                        "position %s times position_scale %s plus shift %s is beyond 2^54 or has "
                        "more than about 106 binary digits",
                        pe__show_number(position, shown),
                        pe__show_number(rules->placing.scale, scale),
                        pe__show_number(rules->placing.shift, shift));
}

static bool check_position(const struct rules *rules, double position, struct pe_faults *faults)
{
    struct pe__pos place;
    bool exact = pe__place(&rules->placing, position, &place);
    if (isnan(position))
        return true;
    if (!exact && rules->placing.scale != 1)
        return fault_place(rules, position, faults);
    bool in_rows = place.hi >= 0 && place.hi < rules->rows && place.hi == trunc(place.hi);
    if (isfinite(rules->rows) && (!in_rows || place.lo != 0))
        return fault_row(rules, position, faults);
    const struct pe__kind_ops *ops = rules->spec->kind->ops;
    return !ops->has_position || ops->has_position(rules->spec, place, rules->param, faults);
}

bool pe_positions_check(const struct pe_spec *spec, const struct pe_positions *positions,
                        const char *param, struct pe_faults *faults)
{
    int row = pe_params_find(&spec->params, "max_positions", 13);
    bool looked_up = row >= 0 && spec->params.value[row].set;
    struct rules rules = {spec, pe__placing_of(spec),
                          looked_up ? spec->params.value[row].number : INFINITY, param};
    if (!spec->kind->ops->has_position && !looked_up && rules.placing.scale == 1)
        return true;
    for (size_t axis = 0; axis < positions->axes; axis++)
        for (size_t i = 0; i < positions->n; i++)
            if (!check_position(&rules, positions->at[axis][i], faults))
                return false;
    return true;
}

static bool has_value(const struct pe_spec *spec, double position)
{
    struct pe_positions one = {.axes = 1, .n = 1, .at = {&position}};
    struct pe_faults faults = {0};
    return pe_positions_check(spec, &one, "positions", &faults);
}

double pe_positions_end(const struct pe_spec *spec)
{
    double has = -1, lacks = 1;
    while (lacks <= PE_POSITION_MAX && has_value(spec, lacks)) {
        has = lacks;
        lacks *= 2;
    }
    if (lacks > PE_POSITION_MAX)
        return INFINITY;
    while (lacks - has > 1) {
        double middle = floor((has + lacks) / 2);
        *(has_value(spec, middle) ? &has : &lacks) = middle;
    }
    return lacks;
}
