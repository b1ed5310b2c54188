// SPDX-License-Identifier: Apache-2.0
/*
 * Parameters against a table of rows of every type: what is accepted, what is refused and in which
 * words, defaults, conditions, conflicts; the list of faults itself; nearest names.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params.h"
#include "posenc.h"

#define N(array) (sizeof(array) / sizeof *(array))

static const struct pe_param rows[] = {
    {.name = "dim",
     .aliases = "d head_dim",
     .type = PE_INT,
     .min = 2,
     .max = 65536,
     .multiple_of = 2,
     .fallback = "64",
     .help = ""},
    {.name = "base",
     .aliases = "theta",
     .type = PE_REAL,
     .min = 1,
     .max = 1e30,
     .flags = PE_OPEN_MIN,
     .fallback = "10000",
     .help = ""},
    {.name = "layout",
     .type = PE_ENUM,
     .choices = "interleaved|gptj half|neox|rotate_half",
     .fallback = "interleaved",
     .help = ""},
    {.name = "rotary_dim",
     .type = PE_INT,
     .min = 4,
     .max = 65536,
     .multiple_of = 4,
     .flags = PE_DERIVED,
     .fallback = "@dim",
     .help = ""},
    {.name = "seed",
     .type = PE_INT,
     .min = -PE_POSITION_MAX,
     .max = PE_POSITION_MAX,
     .fallback = "0",
     .help = ""},
    {.name = "truncate", .type = PE_BOOL, .fallback = "true", .help = ""},
    {.name = "scaling",
     .type = PE_ENUM,
     .choices = "none linear yarn",
     .fallback = "none",
     .help = ""},
    {.name = "factor",
     .type = PE_REAL,
     .min = 1,
     .max = 100,
     .when = "scaling=linear|yarn",
     .help = ""},
    {.name = "beta",
     .type = PE_REAL,
     .min = 0,
     .max = 100,
     .when = "scaling=yarn",
     .fallback = "32",
     .help = ""},
    {.name = "slopes", .type = PE_REALS, .min = 0, .max = 10, .flags = PE_OPTIONAL, .help = ""},
    {.name = "positions", .type = PE_TEXT, .flags = PE_OPTIONAL, .help = ""},
};

/* Sets "key=value" pairs separated by spaces; the texts live until the next call. */
static void set_pairs(struct pe_params *params, const char *pairs, struct pe_faults *faults)
{
    static char copy[400];
    snprintf(copy, sizeof copy, "%s", pairs);
    char *rest = copy, *pair;
    while ((pair = strsep(&rest, " "))) {
        char *value = strchr(pair, '=');
        if (!value)
            continue;
        *value = '\0';
        pe_params_set_text(params, pair, value + 1, faults);
    }
}

/* "param: detail (hint)" per fault, one line each. */
static void print_faults(const struct pe_faults *faults, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (size_t i = 0; i < faults->n && i < PE_FAULTS_MAX; i++) {
        const struct pe_fault *fault = &faults->item[i];
        len += (size_t)snprintf(out + len, size - len, "%d %s: %s", fault->status, fault->param,
                                fault->detail);
        if (*fault->hint)
            len += (size_t)snprintf(out + len, size - len, " (%s)", fault->hint);
        len += (size_t)snprintf(out + len, size - len, "\n");
    }
}

/* "name=value" of all rows that the echo shows. */
static void print_params(const struct pe_params *params, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (size_t i = 0; i < params->rows_n; i++) {
        if (!pe_params_applies(params, i))
            continue;
        len +=
            (size_t)snprintf(out + len, size - len, "%s%s=", len ? " " : "", params->rows[i].name);
        len += pe_value_print(&params->rows[i], &params->value[i], ',', out + len, size - len);
    }
}

/* A quiet parameter has its default without saying so, however it was given. */
Test(params, are_quiet_about_defaults_that_change_nothing)
{
    static const struct pe_param quiet[] = {
        {.name = "gain",
         .type = PE_REAL,
         .min = 0,
         .max = 9,
         .flags = PE_QUIET,
         .fallback = "1",
         .help = ""},
    };
    static const char *const cases[][2] = {{"", ""}, {"gain=1.0", ""}, {"gain=2", "gain=2"}};
    for (size_t i = 0; i < 3; i++) {
        struct pe_params params;
        struct pe_faults faults = {0};
        char echo[40];
        pe_params_init(&params, quiet, 1);
        set_pairs(&params, cases[i][0], &faults);
        cr_assert(pe_params_finish(&params, &faults));
        print_params(&params, echo, sizeof echo);
        cr_expect_str_eq(echo, cases[i][1], "%s", cases[i][0]);
        cr_expect_eq(pe_params_get(&params, "gain")->number, i == 2 ? 2 : 1);
        pe_params_release(&params);
    }
}

Test(params, accepts_and_fills_defaults)
{
    static const struct {
        const char *pairs, *echo;
    } cases[] = {
        {"",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 seed=0 truncate=true scaling=none"},
        {"d=8", "dim=8 base=10000 layout=interleaved rotary_dim=8 seed=0 truncate=true "
                "scaling=none"},
        {"head_dim=128 theta=5e5 layout=neox rotary_dim=32 seed=-9007199254740992 truncate=0",
         "dim=128 base=500000 layout=half rotary_dim=32 seed=-9007199254740992 truncate=false "
         "scaling=none"},
        {"layout=half layout=rotate_half dim=64 d=6.4e1 truncate=1 truncate=true",
         "dim=64 base=10000 layout=half rotary_dim=64 seed=0 truncate=true scaling=none"},
        {"scaling=linear factor=1.5",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 seed=0 truncate=true scaling=linear "
         "factor=1.5"},
        {"factor=2 beta=0.1 scaling=yarn",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 seed=0 truncate=true scaling=yarn "
         "factor=2 beta=0.1"},
        {"factor=2 scaling=yarn",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 seed=0 truncate=true scaling=yarn "
         "factor=2 beta=32"},
        {"slopes=0.5,1e-1,1e+0 positions=0:8 seed=-0",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 seed=0 truncate=true scaling=none "
         "slopes=0.5,0.1,1 positions=0:8"},
        {"slopes=1+2e+0+0.25 base=1.0000000000000002",
         "dim=64 base=1.0000000000000002 layout=interleaved rotary_dim=64 seed=0 truncate=true "
         "scaling=none slopes=1,2,0.25"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_params params;
        struct pe_faults faults = {0};
        pe_params_init(&params, rows, N(rows));
        set_pairs(&params, cases[i].pairs, &faults);
        char text[600];
        bool ok = pe_params_finish(&params, &faults);
        print_faults(&faults, text, sizeof text);
        cr_assert(ok && faults.n == 0, "%s: %s", cases[i].pairs, text);
        print_params(&params, text, sizeof text);
        cr_assert_str_eq(text, cases[i].echo, "%s: %s", cases[i].pairs, text);
        pe_params_release(&params);
    }
}

/* The numbers are enum pe_status: 1 unknown, 2 missing, 3 invalid, 4 conflicting. */
static const struct {
    const char *pairs, *faults;
} refusals[] = {
    {"dim=63", "3 dim: dim must be even, got 63\n"},
    {"dim=0", "3 dim: dim must be at least 2, got 0\n"},
    {"dim=70000", "3 dim: dim must be at most 65536, got 70000\n"},
    {"dim=2.5", "3 dim: dim must be an integer, got 2.5\n"},
    {"dim=abc", "3 dim: dim must be an integer, got \"abc\"\n"},
    {"dim=", "3 dim: dim must be an integer, got \"\"\n"},
    {"dim=+64", "3 dim: dim must be an integer, got \"+64\"\n"},
    {"dim=0x40", "3 dim: dim must be an integer, got \"0x40\"\n"},
    {"dim=64.00000000000000000001",
     "3 dim: dim must be an integer, got \"64.00000000000000000001\"\n"},
    {"seed=9007199254740993",
     "3 seed: seed must be an integer of at most 2^53, got \"9007199254740993\"\n"},
    {"seed=-9007199254740994", "3 seed: seed must be at least -9007199254740992, got "
                               "-9007199254740994\n"},
    {"rotary_dim=6", "3 rotary_dim: rotary_dim must be a multiple of 4, got 6\n"},
    {"base=1", "3 base: base must be greater than 1, got 1\n"},
    {"base=-3", "3 base: base must be greater than 1, got -3\n"},
    {"base=NaN", "3 base: base must be a number, got \"NaN\"\n"},
    {"base=1e999", "3 base: base must be a finite double, got \"1e999\"\n"},
    {"layout=foo", "3 layout: layout must be one of interleaved, half; got \"foo\"\n"},
    {"layout=intreleaved",
     "3 layout: layout must be one of interleaved, half; got \"intreleaved\" (did you mean "
     "\"interleaved\"?)\n"},
    {"layout=rotat_half", "3 layout: layout must be one of interleaved, half; got "
                          "\"rotat_half\" (did you mean \"rotate_half\"?)\n"},
    {"truncate=yes", "3 truncate: truncate must be true or false, got \"yes\"\n"},
    {"slopes=", "3 slopes: slopes must have at least one number, got none\n"},
    {"slopes=1,x", "3 slopes: slopes must be a list of numbers, got \"x\"\n"},
    {"slopes=1,,2", "3 slopes: slopes must be a list of numbers, got \"\"\n"},
    {"slopes=1,11", "3 slopes: slopes must be at most 10, got 11\n"},
    {"layuot=half", "1 layuot: \"layuot\" is not a parameter here (did you mean "
                    "\"layout\"?)\n"},
    {"dims=64", "1 dims: \"dims\" is not a parameter here (did you mean \"dim\"?)\n"},
    {"thetta=3", "1 thetta: \"thetta\" is not a parameter here (did you mean \"theta\"?)\n"},
    {"colour=3", "1 colour: \"colour\" is not a parameter here\n"},
    {"dim=64 d=32", "4 dim: dim is given twice, as 64 and as 32\n"},
    {"slopes=1,2 slopes=1,2,3", "4 slopes: slopes is given twice, as 1,2 and as 1,2,3\n"},
    {"layout=half layout=gptj", "4 layout: layout is given twice, as half and as "
                                "interleaved\n"},
    {"positions=1 positions=2", "4 positions: positions is given twice, as 1 and as 2\n"},
    {"factor=2", "1 factor: factor is not read with scaling=none (factor is read only with "
                 "scaling=linear|yarn)\n"},
    {"scaling=linear", "2 factor: factor is required with scaling=linear|yarn\n"},
    {"scaling=linear factor=2 beta=3",
     "1 beta: beta is not read with scaling=linear (beta is read only with scaling=yarn)\n"},
    {"scaling=linaer factor=2", /* not also that factor is not read */
     "3 scaling: scaling must be one of none, linear, yarn; got \"linaer\" (did you mean "
     "\"linear\"?)\n"},
    {"scaling=linear factor=0", "3 factor: factor must be at least 1, got 0\n"},
    {"dim=63 layuot=half base=x scaling=yarn",
     "3 dim: dim must be even, got 63\n"
     "1 layuot: \"layuot\" is not a parameter here (did you mean \"layout\"?)\n"
     "3 base: base must be a number, got \"x\"\n"
     "2 factor: factor is required with scaling=linear|yarn\n"},
};

Test(params, refuses_in_plain_words)
{
    for (size_t i = 0; i < N(refusals); i++) {
        struct pe_params params;
        struct pe_faults faults = {0};
        pe_params_init(&params, rows, N(rows));
        set_pairs(&params, refusals[i].pairs, &faults);
        pe_params_finish(&params, &faults);
        char text[1000];
        print_faults(&faults, text, sizeof text);
        cr_assert_str_eq(text, refusals[i].faults, "%s:\n%s", refusals[i].pairs, text);
        pe_params_release(&params);
    }
}

Test(params, finish_says_whether_all_is_well)
{
    static const struct {
        const char *pairs;
        bool ok;
    } cases[] = {{"", true}, {"dim=63", false}, {"factor=2", false}, {"scaling=yarn", false}};
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_params params;
        struct pe_faults faults = {0};
        pe_params_init(&params, rows, N(rows));
        set_pairs(&params, cases[i].pairs, &faults);
        cr_assert_eq(pe_params_finish(&params, &faults), cases[i].ok, "%s", cases[i].pairs);
        pe_params_release(&params);
    }
}

Test(params, numbers_are_held_to_the_same_rules)
{
    static const struct {
        const char *name;
        double number;
        const char *faults;
    } cases[] = {
        {"dim", 64, ""},
        {"base", 1.5, ""},
        {"truncate", 1, ""},
        {"slopes", 0.5, ""},
        {"dim", 63, "3 dim: dim must be even, got 63\n"},
        {"dim", 2.5, "3 dim: dim must be an integer, got 2.5\n"},
        {"dim", NAN, "3 dim: dim must be a finite number, got NaN\n"},
        {"base", INFINITY, "3 base: base must be a finite number, got Infinity\n"},
        {"truncate", 2, "3 truncate: truncate must be true or false, got 2\n"},
        {"layout", 1, "3 layout: layout must be one of interleaved, half; got \"1\"\n"},
        {"positions", 7, "3 positions: positions must be text, got 7\n"},
        {"slopes", -1, "3 slopes: slopes must be at least 0, got -1\n"},
        {"dmi", 4, "1 dmi: \"dmi\" is not a parameter here (did you mean \"dim\"?)\n"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_params params;
        struct pe_faults faults = {0};
        pe_params_init(&params, rows, N(rows));
        bool ok = pe_params_set_number(&params, cases[i].name, cases[i].number, &faults);
        char text[400];
        print_faults(&faults, text, sizeof text);
        cr_assert_str_eq(text, cases[i].faults, "%s: %s", cases[i].name, text);
        cr_assert_eq(ok, *text == '\0', "%s", cases[i].name);
        pe_params_release(&params);
    }
}

Test(params, lists_are_copied_and_limited)
{
    struct pe_params params;
    struct pe_faults faults = {0};
    pe_params_init(&params, rows, N(rows));
    double list[] = {1, -0.0, 3};
    cr_assert(pe_params_set_list(&params, "slopes", list, 3, &faults));
    list[0] = 9;
    const struct pe_value *value = pe_params_get(&params, "slopes");
    cr_assert(value->list_n == 3 && value->list[0] == 1 && !signbit(value->list[1]));
    list[0] = 1;
    cr_assert(pe_params_set_list(&params, "slopes", list, 3, &faults), "the same again");
    cr_assert_not(pe_params_set_list(&params, "slopes", list, 2, &faults));
    cr_assert_eq(faults.item[0].status, PE_CONFLICTING_PARAMETERS);
    cr_assert_not(pe_params_set_list(&params, "dim", list, 2, &faults));
    cr_assert_str_eq(faults.item[1].detail, "dim must be one value, got a list of 2");
    double *many = calloc(PE_DIM_MAX + 1, sizeof *many);
    cr_assert_not(pe_params_set_list(&params, "slopes", many, PE_DIM_MAX + 1, &faults));
    cr_assert_eq(faults.item[2].status, PE_LIMIT_EXCEEDED);
    cr_assert_str_eq(faults.item[2].detail, "slopes may have at most 65536 numbers, got 65537");
    free(many);
    pe_params_release(&params);
}

Test(params, are_found_by_name_and_alias)
{
    struct pe_params params;
    pe_params_init(&params, rows, N(rows));
    cr_assert_eq(pe_params_find(&params, "dim", 3), 0);
    cr_assert_eq(pe_params_find(&params, "head_dim", 8), 0);
    cr_assert_eq(pe_params_find(&params, "theta and more", 5), 1);
    cr_assert_eq(pe_params_find(&params, "di", 2), -1);
    cr_assert_eq(pe_params_find(&params, "d head_dim", 10), -1);
    cr_assert_eq(pe_params_find(&params, "", 0), -1);
}

Test(value, prints_as_snprintf_does)
{
    struct pe_params params;
    struct pe_faults faults = {0};
    pe_params_init(&params, rows, N(rows));
    pe_params_set_text(&params, "slopes", "0.5,0.25,1e-7", &faults);
    const struct pe_param *row = &rows[pe_params_find(&params, "slopes", 6)];
    const struct pe_value *value = pe_params_get(&params, "slopes");
    const char *whole = "0.5+0.25+1e-7";
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        char out[40];
        memset(out, '#', sizeof out);
        cr_assert_eq(pe_value_print(row, value, '+', out, size), strlen(whole));
        cr_assert(size == 0 || (strncmp(out, whole, size - 1) == 0 && out[size - 1] == '\0'));
        cr_assert_eq(out[size], '#', "writes past %zu bytes", size);
    }
    struct pe_value unset = {0};
    char out[4] = "abc";
    cr_assert_eq(pe_value_print(row, &unset, '+', out, sizeof out), 0);
    cr_assert_str_eq(out, "");
    pe_params_release(&params);
}

Test(value, choices_have_their_first_name)
{
    static const char *const names[] = {"interleaved", "half"};
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        const char *name = pe_choice_name(&rows[2], (double)i, &len);
        cr_assert(len == strlen(names[i]) && memcmp(name, names[i], len) == 0, "%zu", i);
    }
}

Test(value, several_choices_have_one_order)
{
    static const struct pe_param row = {
        .name = "with", .type = PE_ENUMS, .choices = "cos|cosine sin table", .help = ""};
    static const struct {
        const char *text, *printed, *fault;
    } texts[] = {
        {"sin", "sin", NULL},
        {"table,cosine", "cos+table", NULL},
        {"sin+sin,cos", "cos+sin", NULL},
        {"", NULL, "with must be one of cos, sin, table; got \"\""},
        {"cos,,sin", NULL, "with must be one of cos, sin, table; got \"\""},
        {"cos,tables", NULL, "with must be one of cos, sin, table; got \"tables\""},
    };
    for (size_t i = 0; i < N(texts); i++) {
        struct pe_params params;
        struct pe_faults faults = {0};
        char out[40];
        pe_params_init(&params, &row, 1);
        cr_expect_eq(pe_params_set_text(&params, "with", texts[i].text, &faults), !texts[i].fault);
        pe_value_print(&row, &params.value[0], '+', out, sizeof out);
        if (texts[i].fault)
            cr_expect_str_eq(faults.item[0].detail, texts[i].fault);
        else
            cr_expect_str_eq(out, texts[i].printed);
        pe_params_release(&params);
    }
}

Test(nearest, is_within_a_third_of_the_letters)
{
    static const char *const names[] = {
        "d", "dim", "base", "layout", "rotary_dim", "direction", "attention_factor"};
    static const struct {
        const char *name, *nearest;
    } cases[] = {
        {"dims", "dim"},
        {"dmi", "dim"},
        {"Dim", "dim"},
        {"layuot", "layout"},
        {"layot", "layout"},
        {"rotarydim", "rotary_dim"},
        {"rotary_dimm", "rotary_dim"},
        {"drection", "direction"},
        {"bas", "base"},
        {"attn_factor", "attention_factor"},
        {"attnfctr", "attention_factor"},
        {"attn_factro", NULL},
        {"tn_factor", NULL},
        {"attn_fa", NULL},
        {"x", NULL},
        {"", NULL},
        {"frequency", NULL},
        {"rot", NULL},
        {"a_name_of_more_than_thirty-two_letters_in_all", NULL},
    };
    for (size_t i = 0; i < N(cases); i++) {
        const char *got = pe_nearest_name(cases[i].name, names, N(names));
        cr_assert(got == cases[i].nearest ||
                      (got && cases[i].nearest && strcmp(got, cases[i].nearest) == 0),
                  "%s: %s", cases[i].name, got ? got : "none");
    }
}

Test(faults, are_counted_past_their_limit)
{
    struct pe_faults faults = {0};
    for (int i = 0; i < PE_FAULTS_MAX + 5; i++)
        cr_assert_not(pe_fault_add(&faults, PE_INVALID_VALUE, "p", NULL, "number %d", i));
    cr_assert_eq(faults.n, PE_FAULTS_MAX + 5);
    cr_assert_str_eq(faults.item[PE_FAULTS_MAX - 1].detail, "number 15");
    cr_assert_str_eq(faults.item[0].hint, "");
}

/* "é" is two bytes: cut texts must not end with half of one. */
Test(faults, cut_texts_between_letters)
{
    char text[400];
    for (size_t start = 0; start < 4; start++) {
        size_t len = start;
        memset(text, 'a', start);
        while (len + 2 < sizeof text - 1) {
            memcpy(text + len, "é", 2);
            len += 2;
        }
        text[len] = '\0';
        struct pe_faults faults = {0};
        pe_fault_add(&faults, PE_INVALID_VALUE, text, text, "%s", text);
        const char *const parts[] = {faults.item[0].param, faults.item[0].detail,
                                     faults.item[0].hint};
        static const size_t sizes[] = {sizeof faults.item[0].param, sizeof faults.item[0].detail,
                                       sizeof faults.item[0].hint};
        for (size_t i = 0; i < N(parts); i++) {
            size_t part = strlen(parts[i]);
            cr_assert(part == sizes[i] - 1 || part == sizes[i] - 2, "part %zu: %zu", i, part);
            cr_assert_eq((part - start) % 2, 0, "part %zu ends inside a letter", i);
        }
    }
}

Test(faults, show_at_most_forty_bytes_of_a_value)
{
    struct pe_params params;
    struct pe_faults faults = {0};
    pe_params_init(&params, rows, N(rows));
    char text[300];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    pe_params_set_text(&params, "dim", text, &faults);
    cr_assert_str_eq(faults.item[0].detail, "dim must be an integer, got "
                                            "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\"");
    pe_params_set_text(&params, text, "1", &faults);
    cr_assert_eq(faults.item[1].status, PE_UNKNOWN_PARAMETER);
    cr_assert_str_eq(faults.item[1].hint, "");
}
