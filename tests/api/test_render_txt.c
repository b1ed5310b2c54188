// SPDX-License-Identifier: Apache-2.0
/* test_render_txt.c: aligned tables with the readouts below. */
#include "answers.h"

#include <math.h>

/* The example of the API's specification; sin and cos of p*base^(-2i/8) in f32. */
Test(render_txt, the_sinusoidal_example)
{
    struct answer_bench bench;
    const float table[] = {
        0,
        1,
        0,
        1,
        0,
        1,
        0,
        1,
        0.84147096f,
        0.5403023f,
        0.099833414f,
        0.9950042f,
        0.009999833f,
        0.99995f,
        0.0009999998f,
        0.9999995f,
        0.9092974f,
        -0.41614684f,
        0.19866933f,
        0.9800666f,
        0.019998666f,
        0.9998f,
        0.0019999987f,
        0.999998f,
    };
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position", .short_name = "pos"};
    bench.answer.axes[1] = (struct answer_axis){.name = "channel", .short_name = "ch"};
    bench_tensor(&bench, "table", PE_F32, 2, (size_t[]){3, 8}, table);
    bench_expect(&bench, FORMAT_TXT,
                 "pos          0           1           2          3            4          5        "
                 "     6          7\n"
                 "  0          0           1           0          1            0          1        "
                 "     0          1\n"
                 "  1 0.84147096   0.5403023 0.099833414  0.9950042  0.009999833    0.99995  "
                 "0.0009999998  0.9999995\n"
                 "  2  0.9092974 -0.41614684  0.19866933  0.9800666  0.019998666     0.9998  "
                 "0.0019999987   0.999998\n");
    bench_release(&bench);
}

Test(render_txt, index_columns_and_names)
{
    struct answer_bench bench;
    const double positions[] = {-1, 1000};
    static const char *const specs[] = {"rope", "alibi:slope=0.5"};
    const int64_t values[] = {1, -22, 333, 4};
    bench_init(&bench);
    bench.answer.axes[0] =
        (struct answer_axis){.name = "spec", .short_name = "spec", .names = specs};
    bench.answer.axes[1] =
        (struct answer_axis){.name = "position", .short_name = "p", .labels = positions};
    bench.answer.axes[2] = (struct answer_axis){.name = "channel", .short_name = "c"};
    bench.answer.position_axis = 1;
    bench_tensor(&bench, "table", PE_I64, 3, (size_t[]){2, 2, 1}, values);
    bench_expect(&bench, FORMAT_TXT,
                 "   p            spec   0\n"
                 "  -1            rope   1\n"
                 "1000            rope -22\n"
                 "  -1 alibi:slope=0.5 333\n"
                 "1000 alibi:slope=0.5   4\n");
    bench_release(&bench);
}

Test(render_txt, tensors_of_rank_1_stand_side_by_side)
{
    struct answer_bench bench;
    const double frequency[] = {1, 0.25}, wavelength[] = {6.5, INFINITY}, other[] = {1, 2, 3};
    const int64_t band[] = {0, 2};
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "pair", .short_name = "pair"};
    bench_tensor(&bench, "inv_freq", PE_F64, 1, (size_t[]){2}, frequency);
    bench_tensor(&bench, "wavelength", PE_F64, 1, (size_t[]){2}, wavelength);
    bench_tensor(&bench, "other", PE_F64, 1, (size_t[]){3}, other);
    bench_tensor(&bench, "band", PE_I64, 1, (size_t[]){2}, band);
    tree_integer(bench.answer.readouts, "kept", 1);
    bench_expect(&bench, FORMAT_TXT,
                 "pair inv_freq wavelength band\n"
                 "   0        1        6.5    0\n"
                 "   1     0.25   Infinity    2\n"
                 "\n"
                 "kept: 1\n");
    bench_release(&bench);
}

Test(render_txt, sentences_take_the_place_of_readouts)
{
    struct answer_bench bench;
    const double value = 2;
    bench_init(&bench);
    bench_tensor(&bench, "score", PE_F64, 0, NULL, &value);
    tree_integer(bench.answer.readouts, "kept", 1);
    bench.answer.text_readouts = "spread 0: only the distance counts";
    bench_expect(&bench, FORMAT_TXT, "score\n    2\n\nspread 0: only the distance counts\n");
    bench.answer.text_readouts = "one\ntwo\n";
    bench_expect(&bench, FORMAT_TXT, "score\n    2\n\none\ntwo\n");
    bench_release(&bench);
}

Test(render_txt, an_answer_that_is_no_envelope_is_all_readouts)
{
    struct answer_bench bench;
    bench_init(&bench);
    bench.answer = (struct answer){.root = tree_new(&bench.arena, TREE_OBJECT)};
    tree_string(bench.answer.root, "service", "0.1.0");
    tree_string(bench.answer.root, "api", "1");
    bench_expect(&bench, FORMAT_TXT, "service: 0.1.0\napi: 1\n");
    bench_expect(&bench, FORMAT_JSON, "{\"service\":\"0.1.0\",\"api\":\"1\"}\n");
    bench_release(&bench);
}

Test(render_txt, empty_tensors_have_a_header)
{
    struct answer_bench bench;
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position", .short_name = "pos"};
    bench_tensor(&bench, "table", PE_F64, 2, (size_t[]){0, 2}, NULL);
    bench_expect(&bench, FORMAT_TXT, "pos 0 1\n");
    bench_release(&bench);
}

/* Ends of columns line up in every row, whatever the numbers. */
Test(render_txt, every_row_has_the_same_columns)
{
    enum { ROWS = 200, COLUMNS = 7 };
    struct answer_bench bench;
    double values[ROWS * COLUMNS];
    struct buf out;
    bench_init(&bench);
    pe_fill_random(3, "x", PE_CONTENT_NORMAL, 1, 0, ROWS * COLUMNS, PE_F64, values);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] *= pow(10, (double)(i % 31) - 15);
    bench.answer.axes[0] = (struct answer_axis){.name = "position", .short_name = "pos"};
    bench_tensor(&bench, "table", PE_F64, 2, (size_t[]){ROWS, COLUMNS}, values);
    buf_init(&out, 1 << 20);
    cr_assert(answer_write(&out, &bench.answer, FORMAT_TXT));
    buf_putc(&out, '\0');

    size_t ends[COLUMNS + 1] = {0}, rows = 0;
    for (const char *line = out.data; *line; line += strcspn(line, "\n") + 1, rows++) {
        size_t at = 0;
        for (size_t column = 0; column <= COLUMNS; column++) {
            at += strspn(line + at, " ");
            at += strcspn(line + at, " \n");
            if (rows == 0)
                ends[column] = at;
            cr_expect_eq(at, ends[column], "row %zu, column %zu ends at %zu, not %zu", rows, column,
                         at, ends[column]);
        }
        cr_expect_eq(line[at], '\n');
    }
    cr_expect_eq(rows, ROWS + 1);
    buf_release(&out);
    bench_release(&bench);
}

Test(render_txt, ends_with_notes)
{
    struct answer_bench bench;
    const double value = 1.5;
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position", .short_name = "pos"};
    bench_tensor(&bench, "table", PE_F64, 2, (size_t[]){1, 1}, &value);
    bench.answer.notes = tree_array(bench.answer.root, "notes");
    tree_string(bench.answer.notes, NULL, "One.");
    tree_string(bench.answer.notes, NULL,
                "Another that is a little too long for the eighty columns of a terminal's line.");
    bench_expect(&bench, FORMAT_TXT,
                 "pos   0\n  0 1.5\n\nnote: One.\nnote: Another that is a little too long for the "
                 "eighty columns of a terminal's\nline.\n");
    bench_release(&bench);
}

Test(render_txt, fails_past_the_limit)
{
    struct answer_bench bench;
    struct buf out;
    const double values[64] = {0};
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position", .short_name = "pos"};
    bench_tensor(&bench, "table", PE_F64, 2, (size_t[]){8, 8}, values);
    for (size_t limit = 0; limit < 170; limit += 7) {
        buf_init(&out, limit);
        cr_expect(!answer_write(&out, &bench.answer, FORMAT_TXT), "limit %zu", limit);
        cr_expect_leq(out.len, limit);
        buf_release(&out);
    }
    bench_release(&bench);
}
