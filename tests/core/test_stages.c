// SPDX-License-Identifier: Apache-2.0
/*
 * test_stages.c: stages as text and back, presets, mistakes, the stages that kinds have, positions
 * that a stage moves.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "posenc.h"

static bool parse(const char *text, enum pe_dtype own, struct pe_stages *stages,
                  struct pe_faults *faults)
{
    *faults = (struct pe_faults){0};
    return pe_stages_parse(text, strlen(text), own, "stages", stages, NULL, faults);
}

Test(stages, are_printed_in_one_order)
{
    static const struct {
        const char *text;
        enum pe_dtype own;
        const char *canonical;
    } rows[] = {
        {"exact", PE_F64, "exact"},
        {"freq:f32,angle:f32,table:bf16", PE_F64, "freq:f32,angle:f32,table:bf16"},
        {"table:bfloat16,angle:float32,freq:FP32", PE_F64, "freq:f32,angle:f32,table:bf16"},
        {"dot:f16,pos:f64", PE_F64, "pos:f64,dot:f16"},
        {"f32", PE_F64, "freq:f32,angle:f32,table:f32"},
        {"f32,apply:bf16", PE_F64, "freq:f32,angle:f32,table:f32,apply:bf16"},
        {"f32,freq:f32", PE_F64, "freq:f32,angle:f32,table:f32"},
        {"f64", PE_F64, "pos:f64,freq:f64,angle:f64,table:f64,apply:f64,dot:f64"},
        {"bf16-pos,bf16-freq,bf16-table", PE_F64, "pos:bf16,freq:bf16,table:bf16"},
        {"f16-apply", PE_F64, "apply:f16"},
        {"all-bf16", PE_F64, "pos:bf16,freq:bf16,angle:bf16,table:bf16,apply:bf16,dot:bf16"},
        {"transformers", PE_BF16, "freq:f32,angle:f32,table:bf16,apply:bf16"},
        {"vllm", PE_F16, "freq:f32,angle:f32,table:f16,apply:f16"},
        {"transformers", PE_F32, "freq:f32,angle:f32,table:f32,apply:f32"},
        {"transformers", PE_F64, "freq:f32,angle:f32,table:f32,apply:f64"},
        {"ggml", PE_F16, "angle:f32,table:f32"},
        {"freq:f32,table:T,apply:T", PE_BF16, "freq:f32,table:bf16,apply:bf16"},
        {"table:T,apply:T", PE_F64, "table:f32,apply:f64"},
        {"dot:f32,quantize:int8,apply:T", PE_BF16, "apply:bf16,quantize:int8,dot:f32"},
        {"meta", PE_BF16, "freq:f32,angle:f32,table:f32,apply:f32"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct pe_stages stages;
        struct pe_faults faults;
        char text[PE_STAGES_TEXT_MAX];
        cr_assert(parse(rows[r].text, rows[r].own, &stages, &faults), "%s: %s", rows[r].text,
                  faults.item[0].detail);
        cr_expect_eq(pe_stages_print(&stages, text, sizeof text), strlen(rows[r].canonical));
        cr_expect_str_eq(text, rows[r].canonical);
        struct pe_stages again;
        cr_expect(parse(text, PE_F32, &again, &faults));
        cr_expect_eq(again.named, stages.named, "%s is its own canonical text", text);
    }
}

/* The longest text fits, and a short buffer gets what snprintf would give it. */
Test(stages, are_printed_within_the_buffer)
{
    struct pe_stages stages;
    struct pe_faults faults;
    char text[PE_STAGES_TEXT_MAX];
    cr_assert(parse("all-bf16", PE_F64, &stages, &faults));
    cr_expect_lt(pe_stages_print(&stages, text, sizeof text), sizeof text);
    char little[6];
    cr_expect_gt(pe_stages_print(&stages, little, sizeof little), sizeof little);
    cr_expect_str_eq(little, "pos:b");
    cr_expect_gt(pe_stages_print(&stages, NULL, 0), 0);
}

Test(stages, tell_what_was_named_by_itself)
{
    struct pe_stages stages;
    struct pe_faults faults = {0};
    unsigned spelt = 0;
    cr_assert(pe_stages_parse("f32,dot:f32", 11, PE_F64, "stages", &stages, &spelt, &faults));
    cr_expect_eq(spelt, 1u << PE_STAGE_DOT);
    cr_assert(pe_stages_parse("pos:f32;more", 7, PE_F64, "stages", &stages, &spelt, &faults));
    cr_expect_eq(spelt, 1u << PE_STAGE_POS, "no more than the length says is read");
    cr_expect_eq(stages.named, 1u << PE_STAGE_POS);
}

Test(stages, refuse_what_they_do_not_know)
{
    static const struct {
        const char *text;
        enum pe_status status;
        const char *detail, *hint;
    } rows[] = {
        {"frq:f32", PE_INVALID_VALUE, "freq, angle", "freq"},
        {"f23", PE_INVALID_VALUE, "exact, f32, f64", "f32"},
        {"transformer", PE_INVALID_VALUE, "transformers, vllm", "transformers"},
        {"exat", PE_INVALID_VALUE, "got \"exat\"", "exact"},
        {"", PE_INVALID_VALUE, "got \"\"", ""},
        {"freq:f32,", PE_INVALID_VALUE, "got \"\"", ""},
        {"freq", PE_INVALID_VALUE, "got \"\"", "for example freq:f32"},
        {"freq:f8", PE_INVALID_VALUE, "must be one of f64, f32, f16, bf16, T",
         "for example freq:f32"},
        {"table:i64", PE_INVALID_VALUE, "got \"i64\"", ""},
        {"table:t", PE_INVALID_VALUE, "got \"t\"", ""},
        {"freq:f32:f16", PE_INVALID_VALUE, "got \"f32:f16\"", ""},
        {"quantize:fp8", PE_INVALID_VALUE, "must be one of e4m3, e5m2, int8",
         "for example quantize:e4m3"},
        {"quantize:int9", PE_INVALID_VALUE, "got \"int9\"", "did you mean \"quantize:int8\"?"},
        {"quantize:T", PE_INVALID_VALUE, "got \"T\"", ""},
        {"apply:e4m3", PE_INVALID_VALUE, "got \"e4m3\"", "for example apply:f32"},
        {"table:bf61", PE_INVALID_VALUE, "got \"bf61\"", "did you mean \"table:bf16\"?"},
        {"quantize:e4m3,quantize:int8", PE_CONFLICTING_PARAMETERS, "as e4m3 and as int8", ""},
        {"exact,freq:f32", PE_CONFLICTING_PARAMETERS, "stands alone", ""},
        {"freq:f32,freq:bf16", PE_CONFLICTING_PARAMETERS, "as f32 and as bf16", ""},
        {"f32,table:bf16", PE_CONFLICTING_PARAMETERS, "table is given as f32 and as bf16", ""},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct pe_stages stages;
        struct pe_faults faults;
        cr_expect_not(parse(rows[r].text, PE_F64, &stages, &faults), "%s", rows[r].text);
        cr_assert_eq(faults.n, 1, "%s", rows[r].text);
        cr_expect_eq(faults.item[0].status, rows[r].status, "%s", rows[r].text);
        cr_expect_str_eq(faults.item[0].param, "stages");
        cr_expect(strstr(faults.item[0].detail, rows[r].detail), "%s: %s", rows[r].text,
                  faults.item[0].detail);
        cr_expect(strstr(faults.item[0].hint, rows[r].hint), "%s: %s", rows[r].text,
                  faults.item[0].hint);
    }
}

/* Every preset is a text that parses to what it says, and has a word about itself. */
Test(stages, presets_say_what_they_are)
{
    cr_assert_geq(pe_presets_n(), 7);
    for (size_t i = 0; i < pe_presets_n(); i++) {
        const struct pe_preset *preset = pe_preset_at(i);
        struct pe_stages by_name;
        struct pe_stages by_text;
        struct pe_faults faults;
        char text[PE_STAGES_TEXT_MAX];
        cr_assert(parse(preset->name, PE_F16, &by_name, &faults));
        cr_expect_gt(strlen(preset->help), 0);
        snprintf(text, sizeof text, "%s", preset->stages);
        for (char *t; (t = strchr(text, 'T'));) { /* T, for f16 tensors */
            char rest[PE_STAGES_TEXT_MAX];
            snprintf(rest, sizeof rest, "f16%s", t + 1);
            snprintf(t, sizeof text - (size_t)(t - text), "%s", rest);
        }
        cr_assert(parse(text, PE_F64, &by_text, &faults), "%s: %s", preset->name, text);
        cr_expect_arr_eq(&by_name, &by_text, sizeof by_name, "%s", preset->name);
    }
}

Test(stages, belong_to_kinds)
{
    const unsigned all = (1u << PE_STAGES_N) - 1;
    const unsigned no_frequencies = all & ~(1u << PE_STAGE_FREQ | 1u << PE_STAGE_ANGLE);
    static const struct {
        const char *kind;
        bool frequencies;
    } rows[] = {{"rope", true}, {"rope2d", true},   {"sinusoidal", true}, {"alibi", true},
                {"t5", false},  {"learned", false}, {"integer", false},   {"binary", false}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct pe_kind *kind = pe_kind_find(rows[r].kind, strlen(rows[r].kind));
        unsigned stages = rows[r].frequencies ? all : no_frequencies;
        if (kind->acts == PE_BIASES) /* no vector changes */
            stages &= ~(1u << PE_STAGE_QUANTIZE);
        cr_expect_eq(pe_kind_stages(kind), stages, "%s", rows[r].kind);
    }
    cr_expect_eq(pe_kind_stages(pe_kind_find("none", 4)), 1u << PE_STAGE_DOT);
}

/* Cases A16 and A17: bf16 has 8 bits, so that steps are 2 from 256 on, 512 from 65536 on. */
Test(stages, move_positions)
{
    static const struct {
        const char *stages;
        double position, rounded;
    } rows[] = {
        {"pos:bf16", 256, 256},     {"pos:bf16", 257, 256},     {"pos:bf16", 258, 258},
        {"pos:bf16", 259, 260},     {"pos:bf16", 261, 260},     {"pos:bf16", 263, 264},
        {"pos:bf16", 265, 264},     {"pos:bf16", 65537, 65536}, {"pos:bf16", 65792, 65536},
        {"pos:bf16", 65793, 66048}, {"pos:bf16", 66049, 66048}, {"pos:bf16", 15962, 15936},
        {"pos:f16", 2049, 2048},    {"pos:f16", 2051, 2052},    {"pos:f32", 16777217, 16777216},
        {"pos:f64", 0.1, 0.1},      {"freq:bf16", 257, 257},    {"pos:bf16", -257, -256},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct pe_stages stages;
        struct pe_faults faults;
        cr_assert(parse(rows[r].stages, PE_F64, &stages, &faults));
        cr_expect_eq(pe_stages_position(&stages, rows[r].position), rows[r].rounded, "%s of %g",
                     rows[r].stages, rows[r].position);
    }
}

static bool check(const char *spec_text, const char *stages_text, double position,
                  struct pe_faults *faults)
{
    struct pe_spec spec;
    struct pe_stages stages;
    cr_assert(parse(stages_text, PE_F64, &stages, faults));
    cr_assert(pe_spec_parse(spec_text, &spec, faults) && pe_spec_finish(&spec, faults));
    const double at[] = {0, position};
    struct pe_positions positions = {.axes = 2, .n = 1, .at = {at, at + 1}};
    if (spec.kind->axes == 1)
        positions = (struct pe_positions){.axes = 1, .n = 2, .at = {at}};
    bool ok = pe_stages_check(&stages, &spec, &positions, "positions", faults);
    pe_spec_release(&spec);
    return ok;
}

/* 2047 becomes 2048 in bf16, where a table of 2048 rows has nothing; f16 ends at 65504. */
Test(stages, check_the_rounded_positions)
{
    struct pe_faults faults;
    cr_expect(check("learned:dim=4,rows=2048", "exact", 2047, &faults));
    cr_expect_not(check("learned:dim=4,rows=2048", "pos:bf16", 2047, &faults));
    cr_expect(strstr(faults.item[0].detail, "2048"), "%s", faults.item[0].detail);
    cr_expect(check("rope:dim=4", "pos:f16", 65519, &faults));
    cr_expect_not(check("rope:dim=4", "pos:f16", 65520, &faults));
    cr_expect(strstr(faults.item[0].detail, "65520") && strstr(faults.item[0].detail, "pos:f16"),
              "%s", faults.item[0].detail);
    cr_expect_not(check("rope2d:dim=4", "pos:f16", -65520, &faults));
    cr_expect(check("rope:dim=4", "freq:f16", 65520, &faults));
}
