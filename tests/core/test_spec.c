// SPDX-License-Identifier: Apache-2.0
/*
 * Specs: the compact form both ways, what is echoed, faults of whole specs, and that random specs
 * come back unchanged from their compact form.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/random_spec.h"
#include "posenc.h"

#define N(array) (sizeof(array) / sizeof *(array))

static void print_faults(const struct pe_faults *faults, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (size_t i = 0; i < faults->n && i < PE_FAULTS_MAX; i++)
        len += (size_t)snprintf(out + len, size - len, "%d %s: %s%s%s\n", faults->item[i].status,
                                faults->item[i].param, faults->item[i].detail,
                                *faults->item[i].hint ? "; " : "", faults->item[i].hint);
}

/* "name=value" of all rows that the echo shows. */
static void print_echo(const struct pe_spec *spec, char *out, size_t size)
{
    size_t len = 0;
    *out = '\0';
    for (size_t i = 0; i < spec->params.rows_n; i++) {
        if (!pe_params_applies(&spec->params, i))
            continue;
        len += (size_t)snprintf(out + len, size - len, "%s%s=", len ? " " : "",
                                spec->params.rows[i].name);
        len += pe_value_print(&spec->params.rows[i], &spec->params.value[i], ',', out + len,
                              size - len);
    }
}

Test(spec, reads_and_prints_the_compact_form)
{
    static const struct {
        const char *text, *compact, *echo;
    } cases[] = {
        {"rope", "rope:dim=64",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 direction=1 shift=0 scaling=none "
         "attention_factor=1"},
        {"rotary:attention_factor=1,shift=0,direction=1,rotary_dim=64,layout=gptj,theta=1e4,d=64",
         "rope:dim=64",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 direction=1 shift=0 scaling=none "
         "attention_factor=1"},
        {"rope:layout=neox,scaling=linear,factor=8,base=1000000,dim=256,direction=-1,shift=0.5",
         "rope:dim=256,base=1000000,layout=half,direction=-1,shift=0.5,scaling=linear,factor=8",
         "dim=256 base=1000000 layout=half rotary_dim=256 direction=-1 shift=0.5 scaling=linear "
         "factor=8 attention_factor=1"},
        {"rope:dim=80,partial_rotary_factor=0.4", "rope:dim=80,rotary_dim=32",
         "dim=80 base=10000 layout=interleaved rotary_dim=32 direction=1 shift=0 scaling=none "
         "attention_factor=1"},
        {"rope:dim=192,partial_rotary_factor=0.334,rotary_dim=64", "rope:dim=192,rotary_dim=64",
         "dim=192 base=10000 layout=interleaved rotary_dim=64 direction=1 shift=0 scaling=none "
         "attention_factor=1"},
        {"rope:dim=64,partial_rotary_factor=1", "rope:dim=64",
         "dim=64 base=10000 layout=interleaved rotary_dim=64 direction=1 shift=0 scaling=none "
         "attention_factor=1"},
        {"rope2d:axes_split=alternate", "rope2d:dim=64,axes_split=alternate",
         "dim=64 base=10000 layout=interleaved axes_split=alternate rotary_dim=64 direction=1 "
         "shift=0 scaling=none attention_factor=1"},
        {"sin:dim=9,order=sin_cos,odd=sin", "sinusoidal:dim=9,layout=half,odd=sin",
         "dim=9 base=10000 layout=half spacing=paper odd=sin shift=0"},
        {"none", "none:dim=64", "dim=64 shift=0"},
        {"integer:normalize_by=128", "integer:dim=64,normalize_by=128",
         "dim=64 normalize_by=128 shift=0"},
        {"binary:dim=8", "binary:dim=8", "dim=8 bits=8 shift=0"},
        {"binary:bits=5", "binary:dim=64,bits=5", "dim=64 bits=5 shift=0"},
        {"learned:table_std=0.02,rows=512", "learned:dim=64,rows=512",
         "dim=64 rows=512 table_seed=0 table_std=0.02 shift=0"},
        {"alibi", "alibi", "heads=1 head=0 shift=0"},
        {"alibi:slope=0.5", "alibi:slope=0.5", "heads=1 head=0 slope=0.5 shift=0"},
        {"alibi:slopes=0.5+0.25+1e+0", "alibi:heads=3,slopes=0.5+0.25+1",
         "heads=3 head=0 slopes=0.5,0.25,1 shift=0"},
        {"alibi:heads=12,head=11", "alibi:heads=12,head=11", "heads=12 head=11 shift=0"},
        {"t5:bidirectional=1,num_buckets=64,heads=2", "t5:heads=2,buckets=64,bidirectional=true",
         "heads=2 head=0 buckets=64 max_distance=128 bidirectional=true table_seed=0 "
         "table_std=0.02 shift=0"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        char text[600];
        bool ok = read_spec(cases[i].text, &spec, &faults);
        print_faults(&faults, text, sizeof text);
        cr_assert(ok && faults.n == 0, "%s: %s", cases[i].text, text);
        pe_spec_compact(&spec, text, sizeof text);
        cr_assert_str_eq(text, cases[i].compact, "%s: %s", cases[i].text, text);
        print_echo(&spec, text, sizeof text);
        cr_assert_str_eq(text, cases[i].echo, "%s: %s", cases[i].text, text);
        pe_spec_release(&spec);
    }
}

/* The numbers are enum pe_status: 1 unknown, 2 missing, 3 invalid, 4 conflicting. */
Test(spec, refuses_in_plain_words)
{
    static const struct {
        const char *text, *faults;
    } cases[] = {
        {"rop", "3 kind: there is no kind \"rop\"; did you mean \"rope\"?\n"},
        {"", "3 kind: there is no kind \"\"; the catalogue lists all kinds\n"},
        {"rope:", "3 spec: \"\" in the spec has no =; write kind:key=value,key=value\n"},
        {"rope:dim", "3 spec: \"dim\" in the spec has no =; write kind:key=value,key=value\n"},
        {"rope:dim=64,", "3 spec: \"\" in the spec has no =; write kind:key=value,key=value\n"},
        {"rope:dim=63,layuot=half", "3 dim: dim must be even, got 63\n1 layuot: \"layuot\" is not "
                                    "a parameter here; did you mean \"layout\"?\n"},
        {"rope:heads=8", "1 heads: \"heads\" is not a parameter here\n"},
        {"rope:table=sha256:00", "1 table: \"table\" is not a parameter here\n"},
        {"learned:table=sha256:00",
         "1 table: a spec text cannot hold a posted table, only its digest; post the table's "
         "numbers as the member \"table\" of the body\n"},
        {"rope:rotary_dim=80", "3 rotary_dim: rotary_dim must be at most dim (64), got 80\n"},
        {"rope:direction=0,rotary_dim=66",
         "3 rotary_dim: rotary_dim must be at most dim (64), got 66\n3 direction: direction must "
         "be 1 or -1, got 0\n"},
        {"rope:dim=64,partial_rotary_factor=0.5,rotary_dim=16",
         "4 partial_rotary_factor: partial_rotary_factor of dim 64 gives rotary_dim 32, but "
         "rotary_dim is given as 16\n"},
        {"rope:dim=64,partial_rotary_factor=0.3",
         "3 partial_rotary_factor: partial_rotary_factor of dim 64 gives rotary_dim 19, which "
         "must be a positive multiple of 2\n"},
        {"rope:dim=64,partial_rotary_factor=0.01",
         "3 partial_rotary_factor: partial_rotary_factor of dim 64 gives rotary_dim 0, which must "
         "be a positive multiple of 2\n"},
        {"rope:attention_factor=0",
         "3 attention_factor: attention_factor must be greater than 0, got 0\n"},
        {"rope:scaling=linear", "2 factor: factor is required with scaling=linear; for "
                                "example factor=4\n"},
        {"rope:scaling=linear,factor=0.5", "3 factor: factor must be at least 1, got 0.5\n"},
        {"rope2d:dim=66", "3 dim: dim must be a multiple of 4, got 66\n"},
        {"rope2d:rotary_dim=6", "3 rotary_dim: rotary_dim must be a multiple of 4, got 6\n"},
        {"sinusoidal:dim=3,spacing=endpoint", "3 dim: dim must be at least 4 with "
                                              "spacing=endpoint, got 3\n"},
        {"sinusoidal:dim=5,spacing=endpoint,odd=sin",
         "4 odd: odd=sin has no frequency with spacing=endpoint and the odd dim 5; use "
         "odd=zero\n"},
        {"binary:dim=8,bits=9", "3 bits: bits must be at most dim (8), got 9\n"},
        {"integer:normalize_by=0", "3 normalize_by: normalize_by must be at least 1e-9, got 0\n"},
        {"alibi:heads=4,head=4", "3 head: head must be less than heads (4), got 4\n"},
        {"alibi:slopes=1+2,head=2", "3 head: head must be less than heads (2), got 2\n"},
        {"alibi:slope=0.5,heads=2", "4 slope: slope gives 1 of the slopes of heads=2\n"},
        {"alibi:slopes=1+2,heads=3", "4 slopes: slopes gives 2 of the slopes of heads=3\n"},
        {"alibi:slope=1,slopes=1", "4 slope: slope and slopes are both given\n"},
        {"t5:buckets=3,bidirectional=true",
         "3 buckets: buckets must be at least 4 with bidirectional=true, got 3\n"},
        {"t5:max_distance=16", "3 max_distance: max_distance must be greater than 16, the "
                               "distances with a bucket of their own, got 16\n"},
        {"t5:head=1", "3 head: head must be less than heads (1), got 1\n"},
        {"learned:rows=0,table_std=-1", "3 rows: rows must be at least 1, got 0\n3 table_std: "
                                        "table_std must be at least 0, got -1\n"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        char text[1000];
        cr_assert_not(read_spec(cases[i].text, &spec, &faults), "%s", cases[i].text);
        print_faults(&faults, text, sizeof text);
        cr_assert_str_eq(text, cases[i].faults, "%s: %s", cases[i].text, text);
    }
}

Test(spec, collects_mistakes_of_keys_and_of_rules)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    pe_spec_init(&spec, pe_kind_find("rope", 4));
    pe_params_set_text(&spec.params, "layout", "foo", &faults);
    pe_params_set_number(&spec.params, "rotary_dim", 128, &faults);
    cr_assert_not(pe_spec_finish(&spec, &faults));
    char text[400];
    print_faults(&faults, text, sizeof text);
    cr_assert_str_eq(text, "3 layout: layout must be one of interleaved, half; got \"foo\"\n"
                           "3 rotary_dim: rotary_dim must be at most dim (64), got 128\n");
    pe_spec_release(&spec);
}

Test(spec, compact_returns_the_length_it_needs)
{
    struct pe_spec spec;
    struct pe_faults faults = {0};
    const char *whole = "alibi:heads=3,head=1,slopes=0.5+0.25+1e-7";
    cr_assert(read_spec(whole, &spec, &faults));
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        char out[80];
        memset(out, '#', sizeof out);
        cr_assert_eq(pe_spec_compact(&spec, out, size), strlen(whole), "size %zu", size);
        cr_assert(size == 0 || (strncmp(out, whole, size - 1) == 0 && out[size - 1] == '\0'));
        cr_assert_eq(out[size], '#', "writes past %zu bytes", size);
    }
    cr_assert_eq(pe_spec_compact(&spec, NULL, 0), strlen(whole));
    pe_spec_release(&spec);
}

Test(spec, knows_its_sizes)
{
    static const struct {
        const char *text;
        size_t dim, pairs, heads;
    } cases[] = {
        {"rope:dim=128,rotary_dim=32", 128, 16, 1},
        {"rope2d:dim=64", 64, 32, 1},
        {"sinusoidal:dim=9", 9, 4, 1},
        {"sinusoidal:dim=9,odd=sin", 9, 5, 1},
        {"sinusoidal:dim=1,odd=sin", 1, 1, 1},
        {"learned:dim=8", 8, 0, 1},
        {"none:dim=1", 1, 0, 1},
        {"alibi:heads=12", 0, 0, 12},
        {"alibi:slopes=1+2", 0, 0, 2},
        {"t5:heads=5", 0, 0, 5},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        cr_assert(read_spec(cases[i].text, &spec, &faults), "%s", cases[i].text);
        cr_assert_eq(pe_spec_dim(&spec), cases[i].dim, "%s", cases[i].text);
        cr_assert_eq(pe_spec_pairs(&spec), cases[i].pairs, "%s", cases[i].text);
        cr_assert_eq(pe_spec_heads(&spec), cases[i].heads, "%s", cases[i].text);
        pe_spec_release(&spec);
    }
}

/* ---- Posted tables ------------------------------------------------------------------------ */

static const double posted[] = {1, 2, 3, 4, 5, 6};

/* Finishes `kind` with a posted table [rows, cols] and the keys set before. */
static bool finish_posted(const char *text, size_t rows, size_t cols, struct pe_spec *spec,
                          struct pe_faults *faults)
{
    cr_assert(pe_spec_parse(text, spec, faults), "%s", text);
    spec->table = posted;
    spec->table_rows = rows;
    spec->table_cols = cols;
    memcpy(spec->table_digest, "0123456789abcdef", 17);
    return pe_spec_finish(spec, faults);
}

Test(table, gives_its_shape_and_enters_the_compact_form)
{
    static const struct {
        const char *text;
        size_t rows, cols;
        const char *compact, *echo;
    } cases[] = {
        {"learned", 3, 2, "learned:dim=2,rows=3,table=sha256:0123456789abcdef",
         "dim=2 rows=3 shift=0"},
        {"learned:dim=2,rows=3,shift=1", 3, 2,
         "learned:dim=2,rows=3,shift=1,table=sha256:0123456789abcdef", "dim=2 rows=3 shift=1"},
        {"t5:max_distance=5", 6, 1, "t5:buckets=6,max_distance=5,table=sha256:0123456789abcdef",
         "heads=1 head=0 buckets=6 max_distance=5 bidirectional=false shift=0"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        char text[200];
        cr_assert(finish_posted(cases[i].text, cases[i].rows, cases[i].cols, &spec, &faults),
                  "%s: %s", cases[i].text, faults.item[0].detail);
        pe_spec_compact(&spec, text, sizeof text);
        cr_assert_str_eq(text, cases[i].compact, "%s", text);
        print_echo(&spec, text, sizeof text);
        cr_assert_str_eq(text, cases[i].echo, "%s", text);
        pe_spec_release(&spec);
    }
}

Test(table, must_agree_with_what_is_given)
{
    static const struct {
        const char *text, *faults;
    } cases[] = {
        {"learned:dim=4", "5 table: table must be [rows, dim] = [3, 4], got [3, 2]\n"},
        {"learned:rows=2", "5 table: table must be [rows, dim] = [2, 2], got [3, 2]\n"},
        {"learned:table_seed=1,table_std=1",
         "4 table_seed: table_seed and a posted table are both given\n4 table_std: table_std and "
         "a posted table are both given\n"},
        {"t5:buckets=32", "5 table: table must be [buckets, heads] = [32, 2], got [3, 2]\n"},
        {"t5:bidirectional=true", "3 buckets: buckets must be at least 4 with bidirectional=true, "
                                  "got 3\n"},
    };
    for (size_t i = 0; i < N(cases); i++) {
        struct pe_spec spec;
        struct pe_faults faults = {0};
        char text[400];
        cr_assert_not(finish_posted(cases[i].text, 3, 2, &spec, &faults), "%s", cases[i].text);
        print_faults(&faults, text, sizeof text);
        cr_assert_str_eq(text, cases[i].faults, "%s: %s", cases[i].text, text);
        pe_spec_release(&spec);
    }
}

/* ---- Random specs ------------------------------------------------------------------------- */

static void check_same(const char *text, const struct pe_spec *a, const struct pe_spec *b)
{
    cr_assert_eq(a->kind, b->kind);
    for (size_t i = 0; i < a->params.rows_n; i++) {
        const struct pe_value *x = &a->params.value[i], *y = &b->params.value[i];
        const char *name = a->params.rows[i].name;
        cr_assert(x->set == y->set && x->number == y->number, "%s: %s %g %g", text, name, x->number,
                  y->number);
        cr_assert(x->list_n == y->list_n &&
                      memcmp(x->list ? x->list : &x->number, y->list ? y->list : &y->number,
                             x->list_n * sizeof(double)) == 0,
                  "%s: %s", text, name);
    }
}

Test(random, specs_come_back_from_their_compact_form)
{
    for (size_t k = 0; k < pe_kinds_n(); k++) {
        size_t valid = 0;
        for (int i = 0; i < 2000; i++) {
            char text[2000], compact[2000], again[2000];
            struct pe_spec spec, back;
            struct pe_faults faults = {0};
            random_spec(pe_kind_at(k), text, sizeof text);
            if (!read_spec(text, &spec, &faults)) {
                cr_assert(faults.n > 0, "%s: refused without a word", text);
                continue;
            }
            valid++;
            pe_spec_compact(&spec, compact, sizeof compact);
            cr_assert(read_spec(compact, &back, &faults), "%s -> %s: %s", text, compact,
                      faults.item[0].detail);
            check_same(compact, &spec, &back);
            pe_spec_compact(&back, again, sizeof again);
            cr_assert_str_eq(compact, again);
            pe_spec_release(&spec);
            pe_spec_release(&back);
        }
        cr_assert(valid > 20, "%s: only %zu of 2000 were valid", pe_kind_at(k)->name, valid);
    }
}
