// SPDX-License-Identifier: Apache-2.0
/*
 * test_limits.c: every numeric limit of every kind's parameters, from their rows: the limit itself
 * is accepted, the next number beyond it is refused with an error that names parameter and limit.
 */
#include <ctype.h>
#include <math.h>

#include "call.h"

#define TARGET_MAX 2048
#define LIST_MAX   4 /* numbers of a list */

/* Settings under which the limits of other parameters can be reached. A kind without the parameter
 * ignores them. */
static const char *const companions[] = {
    "",
    "dim=65536",
    "dim=2",
    "dim=4",
    "freq_shift=0",
    "sections=1",
    "heads=1024",
    "beta_slow=5e-324",
    "beta_fast=1e6",
    "high_freq_factor=1e6",
    "low_freq_factor=5e-324",
    "original_max=2",
    "max_distance=9007199254740992",
    "buckets=2",
};

struct query {
    const struct pe_kind *kind;
    char text[TARGET_MAX];
    size_t len;
};

/* ---- A query in which a row is read -------------------------------------------------------- */

static const struct pe_param *row_named(const struct pe_kind *kind, const char *name, size_t len)
{
    for (size_t i = 0; i < kind->params_n; i++)
        if (strlen(kind->params[i].name) == len && memcmp(kind->params[i].name, name, len) == 0)
            return &kind->params[i];
    return NULL;
}

/* Where the value of a key begins, or NULL. */
static const char *set_to(const struct query *query, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "&%s=", name);
    const char *at = strstr(query->text, key);
    return at ? at + strlen(key) : NULL;
}

static void set(struct query *query, const char *name, const char *value, size_t value_len)
{
    if (set_to(query, name))
        return;
    query->len += (size_t)snprintf(query->text + query->len, TARGET_MAX - query->len, "&%s=%.*s",
                                   name, (int)value_len, value);
    cr_assert_lt(query->len, TARGET_MAX);
}

/* Whether `when` ("scaling=linear|ntk") holds. */
static bool holds(const struct query *query, const char *when)
{
    size_t len = strcspn(when, "=");
    const struct pe_param *row = row_named(query->kind, when, len);
    const char *value = set_to(query, row->name) ? set_to(query, row->name) : row->fallback;
    size_t value_len = value ? strcspn(value, "&") : 0;
    for (const char *choice = when + len; *choice; choice += strcspn(choice, "|"))
        if (strcspn(++choice, "|") == value_len && memcmp(choice, value, value_len) == 0)
            return true;
    return false;
}

/* Sets what `row` depends on, to the alternative of that number; false when there are fewer. */
static bool set_condition(struct query *query, const struct pe_param *row, size_t alternative)
{
    if (!row->when)
        return alternative == 0;
    size_t len = strcspn(row->when, "=");
    const struct pe_param *other = row_named(query->kind, row->when, len);
    const char *choice = row->when + len + 1;
    for (; alternative > 0; alternative--) {
        choice += strcspn(choice, "|");
        if (*choice++ == '\0')
            return false;
    }
    set_condition(query, other, 0);
    set(query, other->name, choice, strcspn(choice, "|"));
    return true;
}

static bool is_numeric(const struct pe_param *row)
{
    return row->type == PE_INT || row->type == PE_REAL || row->type == PE_REALS;
}

/* What has no default and is read; a factor is optional for some scalings only. */
static void set_required(struct query *query)
{
    for (size_t i = 0; i < query->kind->params_n; i++) {
        const struct pe_param *row = &query->kind->params[i];
        bool required = !row->fallback && !(row->flags & PE_OPTIONAL);
        if (!is_numeric(row) || (row->when && !holds(query, row->when)))
            continue;
        if (strcmp(row->name, "factor") == 0)
            set(query, row->name, "4", 1);
        else if (required)
            set(query, row->name, row->type == PE_INT ? "64" : "1", row->type == PE_INT ? 2 : 1);
    }
}

/* ---- Asking -------------------------------------------------------------------------------- */

static void print_number(double number, char out[PE_TEXT_MAX + 1])
{
    out[pe_text_print(PE_F64, &number, 0, out)] = '\0';
}

/* What stands beside a row's value. */
struct setting {
    size_t companion;   /* of `companions` */
    size_t alternative; /* of what the row's condition allows */
    size_t length;      /* of a list, all of the same number */
};

/* Asks for the spec with `row` set to a number, in a setting; -1 when there is no such setting. */
static int ask(struct request *request, const struct pe_kind *kind, const struct pe_param *row,
               double number, struct setting setting)
{
    struct query query = {.kind = kind};
    char value[PE_TEXT_MAX + 1], list[LIST_MAX * (PE_TEXT_MAX + 2)];
    size_t list_len = 0;
    print_number(number, value);
    for (size_t i = 0; i < setting.length; i++)
        list_len +=
            (size_t)snprintf(list + list_len, sizeof list - list_len, "%s%s", i ? "," : "", value);
    set(&query, row->name, list, list_len);
    if (!set_condition(&query, row, setting.alternative))
        return -1;
    const char *with = companions[setting.companion];
    size_t len = strcspn(with, "=");
    if (*with && row_named(kind, with, len)) {
        const struct pe_param *other = row_named(kind, with, len);
        if (other == row || (other->when && !holds(&query, other->when)))
            return -1;
        set(&query, other->name, with + len + 1, strlen(with + len + 1));
    } else if (*with)
        return -1;
    set_required(&query);
    char target[TARGET_MAX + 64];
    snprintf(target, sizeof target, "/v1/spec?kind=%s%s", kind->name, query.text);
    call(request, "GET", target, NULL);
    return request->response.status;
}

/* The detail of the error about `row`, or "". */
static const char *detail_about(json_t *problem, const struct pe_param *row)
{
    const json_t *errors = json_object_get(problem, "errors");
    for (size_t i = 0; i < json_array_size(errors); i++) {
        const json_t *error = json_array_get(errors, i);
        const char *name = json_string_value(json_object_get(error, "parameter"));
        const char *detail = json_string_value(json_object_get(error, "detail"));
        if (name && detail && strcmp(name, row->name) == 0)
            return detail;
    }
    return "";
}

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += len) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[len]) || at[len] == '_'))
            return true;
    }
    return false;
}

/* Whether the answer refuses the row's value by a rule with another parameter, which it names. */
static bool is_ruled_out(struct request *request, const struct pe_kind *kind,
                         const struct pe_param *row)
{
    json_t *problem = call_json(request);
    const char *detail = detail_about(problem, row);
    bool found = false;
    for (size_t i = 0; i < kind->params_n; i++)
        found |= &kind->params[i] != row && has_word(detail, kind->params[i].name);
    json_decref(problem);
    return found;
}

/* The limit is accepted in some setting, or else a rule with another parameter is tighter. */
static void expect_accepted(const struct pe_kind *kind, const struct pe_param *row, double number)
{
    const size_t companions_n = sizeof companions / sizeof *companions;
    const size_t longest = row->type == PE_REALS ? LIST_MAX : 1;
    bool ruled_out = false;
    char last[TARGET_MAX] = "no setting fits";
    for (size_t i = 0; i < companions_n * longest; i++) {
        struct setting setting = {.companion = i / longest, .length = i % longest + 1};
        for (;; setting.alternative++) {
            struct request request;
            int status = ask(&request, kind, row, number, setting);
            if (status < 0)
                break;
            if (status != 200) {
                ruled_out |= is_ruled_out(&request, kind, row);
                snprintf(last, sizeof last, "%s: %.900s", request.target, call_body(&request));
            }
            call_end(&request);
            if (status == 200)
                return;
        }
    }
    cr_expect(ruled_out, "%s: %s=%g is refused: %s", kind->name, row->name, number, last);
}

static void expect_refused(const struct pe_kind *kind, const struct pe_param *row, double number,
                           const char *relation, double limit)
{
    struct request request;
    char phrase[80], digits[PE_TEXT_MAX + 1];
    print_number(limit, digits);
    snprintf(phrase, sizeof phrase, "%s must be %s %s, got ", row->name, relation, digits);
    cr_assert_geq(ask(&request, kind, row, number, (struct setting){.length = 1}), 0);
    cr_expect_eq(request.response.status, 400, "%s: %s", request.target, call_body(&request));
    json_t *problem = call_json(&request);
    cr_expect(strstr(detail_about(problem, row), phrase), "%s: no \"%s\" in %s", request.target,
              phrase, call_body(&request));
    json_decref(problem);
    call_end(&request);
}

/* ---- Limits -------------------------------------------------------------------------------- */

static double next_beyond(const struct pe_param *row, double limit, double direction)
{
    if (row->type != PE_INT && row->multiple_of == 0)
        return nextafter(limit, direction * INFINITY);
    return limit + direction * (row->multiple_of > 1 ? row->multiple_of : 1);
}

static void check_row(const struct pe_kind *kind, const struct pe_param *row)
{
    if (row->flags & PE_OPEN_MIN) {
        expect_accepted(kind, row, nextafter(row->min, INFINITY));
        expect_refused(kind, row, row->min, "greater than", row->min);
    } else {
        expect_accepted(kind, row, row->min);
        /* 2^53 is the last integer that is told apart from its neighbours. */
        if (row->type != PE_INT || row->min > -PE_POSITION_MAX)
            expect_refused(kind, row, next_beyond(row, row->min, -1), "at least", row->min);
    }
    expect_accepted(kind, row, row->max);
    if (row->type != PE_INT || row->max < PE_POSITION_MAX)
        expect_refused(kind, row, next_beyond(row, row->max, 1), "at most", row->max);
}

Test(limits, of_every_parameter_hold_at_the_last_digit)
{
    size_t checked = 0;
    for (size_t i = 0; i < pe_kinds_n(); i++) {
        const struct pe_kind *kind = pe_kind_at(i);
        for (size_t j = 0; j < kind->params_n; j++) {
            const struct pe_param *row = &kind->params[j];
            if (!is_numeric(row))
                continue;
            check_row(kind, row);
            checked++;
        }
    }
    cr_expect_gt(checked, 50);
}
