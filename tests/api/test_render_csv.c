// SPDX-License-Identifier: Apache-2.0
/* test_render_csv.c: csv by RFC 4180: header, index columns, numbers as in JSON. */
#include "answers.h"

#include <math.h>

Test(render_csv, rows_are_positions)
{
    struct answer_bench bench;
    const double positions[] = {-1.5, 1048576};
    const float table[] = {0.1f, -0.0f, 1e-7f, 16777216, NAN, -INFINITY};
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position", .labels = positions};
    bench.answer.axes[1] = (struct answer_axis){.name = "channel"};
    bench_tensor(&bench, "table", PE_F32, 2, (size_t[]){2, 3}, table);
    bench_expect(&bench, FORMAT_CSV,
                 "position,0,1,2\n"
                 "-1.5,0.1,-0.0,1e-7\n"
                 "1048576,16777216,NaN,-Infinity\n");
    bench_release(&bench);
}

Test(render_csv, leading_axes_become_columns_the_position_first)
{
    struct answer_bench bench;
    const double queries[] = {5, 6}, keys[] = {7, 8};
    const int64_t bias[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const char *const names[] = {"a", "b,c", "d\"e"};
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "head", .names = names};
    bench.answer.axes[1] = (struct answer_axis){.name = "position", .labels = queries};
    bench.answer.axes[2] = (struct answer_axis){.name = "key", .labels = keys};
    bench.answer.position_axis = 1;
    bench_tensor(&bench, "table", PE_I64, 3, (size_t[]){3, 2, 2}, bias);
    bench_expect(&bench, FORMAT_CSV,
                 "position,head,7,8\n"
                 "5,a,1,2\n"
                 "6,a,3,4\n"
                 "5,\"b,c\",5,6\n"
                 "6,\"b,c\",7,8\n"
                 "5,\"d\"\"e\",9,10\n"
                 "6,\"d\"\"e\",11,12\n");
    bench_release(&bench);
}

Test(render_csv, names_head_the_columns)
{
    struct answer_bench bench;
    const double values[] = {1, 2};
    static const char *const names[] = {"cos", "sin, really"};
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position"};
    bench.answer.axes[1] = (struct answer_axis){.name = "value", .names = names};
    bench_tensor(&bench, "both", PE_F64, 2, (size_t[]){1, 2}, values);
    bench_expect(&bench, FORMAT_CSV, "position,cos,\"sin, really\"\n0,1,2\n");
    bench_release(&bench);
}

Test(render_csv, rank_1_is_one_column_and_rank_0_one_number)
{
    struct answer_bench bench;
    const double values[] = {1, 0.5}, other[] = {3, 4};
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "pair"};
    bench_tensor(&bench, "inv_freq", PE_F64, 1, (size_t[]){2}, values);
    bench_tensor(&bench, "wavelength", PE_F64, 1, (size_t[]){2}, other);
    bench_expect(&bench, FORMAT_CSV, "pair,inv_freq\n0,1\n1,0.5\n");
    bench_release(&bench);

    bench_init(&bench);
    bench_tensor(&bench, "score", PE_F64, 0, NULL, values);
    bench_expect(&bench, FORMAT_CSV, "score\n1\n");
    bench_release(&bench);
}

Test(render_csv, empty_tensors_have_a_header)
{
    struct answer_bench bench;
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position"};
    bench_tensor(&bench, "table", PE_F64, 2, (size_t[]){0, 2}, NULL);
    bench_expect(&bench, FORMAT_CSV, "position,0,1\n");
    bench_release(&bench);

    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position"};
    bench_tensor(&bench, "table", PE_F64, 2, (size_t[]){2, 0}, NULL);
    bench_expect(&bench, FORMAT_CSV, "position\n0\n1\n");
    bench_release(&bench);
}

Test(render_csv, fails_past_the_limit)
{
    struct answer_bench bench;
    struct buf out;
    const double values[64] = {0};
    bench_init(&bench);
    bench.answer.axes[0] = (struct answer_axis){.name = "position"};
    bench_tensor(&bench, "table", PE_F64, 2, (size_t[]){8, 8}, values);
    for (size_t limit = 0; limit < 150; limit += 7) {
        buf_init(&out, limit);
        cr_expect(!answer_write(&out, &bench.answer, FORMAT_CSV), "limit %zu", limit);
        cr_expect_leq(out.len, limit);
        buf_release(&out);
    }
    bench_release(&bench);
}
