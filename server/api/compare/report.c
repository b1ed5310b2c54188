// SPDX-License-Identifier: Apache-2.0
/* report.c: what a comparison found, as members of an answer and as one would write to somebody. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "text.h"

#define REPORT_BYTES_MAX ((size_t)64 << 10)

static const char *const bins[PE_STEPS_BINS] = {"0", "1", "2-3", "4-15", ">15"};

/* ---- Places --------------------------------------------------------------------------------- */

static void place_of(const struct tensor *tensor, size_t at, size_t *place)
{
    for (size_t axis = tensor->rank; axis-- > 0; at /= tensor->shape[axis])
        place[axis] = at % tensor->shape[axis];
}

static void tree_place(const struct comparing *own, struct tree *parent, size_t at)
{
    struct tree *index = tree_array(parent, "index");
    size_t place[TREE_RANK_MAX];
    place_of(&own->actual, at, place);
    for (size_t axis = 0; axis < own->actual.rank; axis++)
        tree_integer(index, NULL, (int64_t)place[axis]);
}

static double element(const struct tensor *tensor, size_t at)
{
    return pe_load(tensor->dtype, tensor->data, at);
}

static void tree_pair(const struct comparing *own, struct tree *parent, size_t at)
{
    tree_number(parent, "actual", element(&own->actual, at));
    tree_number(parent, "expected", element(&own->expected, at));
}

/* ---- As members ----------------------------------------------------------------------------- */

static const char *tolerance_source(const struct comparing *own)
{
    const struct job *job = own->job;
    const char *dtype = pe_dtype_name(pe_dtype_coarser(own->actual.dtype, own->expected.dtype));
    bool both = job_key(job, "rtol")->set && job_key(job, "atol")->set;
    return both ? "given"
                : arena_printf(&job->request->arena, "%sdefault for %s",
                               own->tolerance_given ? "partly given, else " : "", dtype);
}

static void tolerance_tree(const struct comparing *own, struct tree *root)
{
    struct tree *tolerance = tree_object(root, "tolerance");
    tree_number(tolerance, "rtol", own->tolerance.relative);
    tree_number(tolerance, "atol", own->tolerance.absolute);
    if (own->tolerance.steps)
        tree_number(tolerance, "max_ulp", (double)own->tolerance.max_ulp);
    else
        tree_null(tolerance, "max_ulp");
    tree_string(tolerance, "source", tolerance_source(own));
}

static void largest_tree(const struct comparing *own, struct tree *root)
{
    const struct pe_comparison *result = &own->result;
    if (result->elements == 0) {
        tree_null(root, "max_abs");
        tree_null(root, "max_rel");
        tree_null(root, "max_ulp");
        return;
    }
    struct tree *node = tree_object(root, "max_abs");
    tree_number(node, "value", result->max_abs.value);
    tree_place(own, node, result->max_abs.at);
    tree_pair(own, node, result->max_abs.at);
    node = tree_object(root, "max_rel");
    tree_number(node, "value", result->max_rel.value);
    tree_place(own, node, result->max_rel.at);
    node = tree_object(root, "max_ulp");
    tree_number(node, "value", result->max_ulp.value);
    tree_bool(node, "sign_change",
              signbit(element(&own->actual, result->max_ulp.at)) !=
                  signbit(element(&own->expected, result->max_ulp.at)));
    tree_place(own, node, result->max_ulp.at);
}

/* A number, or null where there is none. */
static void tree_measure(struct tree *parent, const char *key, double number)
{
    if (isnan(number))
        tree_null(parent, key);
    else
        tree_number(parent, key, number);
}

static void result_tree(const struct comparing *own, struct tree *root)
{
    const struct pe_comparison *result = &own->result;
    tree_integer(root, "elements", (int64_t)result->elements);
    tree_integer(root, "mismatched", (int64_t)result->mismatched);
    tree_number(root, "mismatched_ratio",
                result->elements ? (double)result->mismatched / (double)result->elements : 0);
    largest_tree(own, root);
    if (result->mismatched > 0) {
        struct tree *first = tree_object(root, "first_mismatch");
        tree_place(own, first, result->first_mismatch);
        tree_pair(own, first, result->first_mismatch);
    } else {
        tree_null(root, "first_mismatch");
    }
    struct tree *histogram = tree_object(root, "ulp_histogram");
    for (size_t bin = 0; bin < PE_STEPS_BINS; bin++)
        tree_integer(histogram, bins[bin], (int64_t)result->steps[bin]);
    tree_measure(root, "cosine", result->cosine);
    tree_measure(root, "rms", result->rms);
    struct tree *nonfinite = tree_object(root, "nonfinite");
    tree_integer(nonfinite, "actual", (int64_t)result->nonfinite_actual);
    tree_integer(nonfinite, "expected", (int64_t)result->nonfinite_expected);
}

static void shape_tree(struct tree *parent, const char *key, const struct tensor *tensor)
{
    struct tree *shape = tree_array(parent, key);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        tree_integer(shape, NULL, (int64_t)tensor->shape[axis]);
}

static void tensors_tree(const struct comparing *own, struct tree *root)
{
    struct tree *dtype = tree_object(root, "dtype"), *shape = tree_object(root, "shape");
    tree_string(dtype, "actual", pe_dtype_name(own->actual.dtype));
    tree_string(dtype, "expected", pe_dtype_name(own->expected.dtype));
    shape_tree(shape, "actual", &own->actual);
    shape_tree(shape, "expected", &own->expected);
}

static void diagnosis_tree(const struct comparing *own, struct tree *root)
{
    struct tree *diagnosis = tree_array(root, "diagnosis");
    for (size_t i = 0; i < own->suspects_n; i++) {
        const struct suspect *suspect = &own->suspects[i];
        struct tree *node = tree_object(diagnosis, NULL);
        tree_string(node, "says", suspect_says(own, suspect));
        tree_number(node, "max_abs", suspect->max_abs);
        if (suspect->spec)
            tree_string(node, "spec", suspect->spec);
        if (suspect->key)
            tree_string(node, suspect->key, suspect->value);
    }
    if (own->advice_n == 0)
        return;
    struct tree *advice = tree_array(root, "advice");
    for (size_t i = 0; i < own->advice_n; i++)
        tree_string(advice, NULL, own->advice[i]);
}

void report_tree(const struct comparing *own, struct tree *root)
{
    tree_bool(root, "pass", own->pass);
    tolerance_tree(own, root);
    if (own->shapes_agree)
        result_tree(own, root);
    tensors_tree(own, root);
    diagnosis_tree(own, root);
}

/* ---- As text -------------------------------------------------------------------------------- */

const char *suspect_says(const struct comparing *own, const struct suspect *suspect)
{
    return arena_printf(&own->job->request->arena, "%s %s",
                        !suspect->explains      ? "nearest comes"
                        : suspect->max_abs == 0 ? "actual equals"
                                                : "actual agrees with",
                        suspect->says);
}

/* "[2, 64]" */
static const char *sizes_text(const struct comparing *own, const size_t *sizes, size_t n)
{
    struct arena *arena = &own->job->request->arena;
    const char *text = "[";
    for (size_t i = 0; text && i < n; i++)
        text = arena_printf(arena, "%s%s%zu", text, i > 0 ? ", " : "", sizes[i]);
    text = text ? arena_printf(arena, "%s]", text) : NULL;
    return text ? text : "";
}

static const char *place_text(const struct comparing *own, size_t at)
{
    size_t place[TREE_RANK_MAX];
    place_of(&own->actual, at, place);
    return sizes_text(own, place, own->actual.rank);
}

/* An element in the digits of its own dtype. */
static const char *element_text(const struct comparing *own, const struct tensor *tensor, size_t at)
{
    char digits[PE_TEXT_MAX];
    size_t len = pe_text_print(tensor->dtype, tensor->data, at, digits);
    const char *text = arena_strndup(&own->job->request->arena, digits, len);
    return text ? text : "";
}

const char *report_verdict(const struct comparing *own)
{
    struct arena *arena = &own->job->request->arena;
    const struct pe_comparison *result = &own->result;
    const char *verdict;
    if (!own->shapes_agree)
        verdict = arena_printf(arena, "the shape is %s, expected %s",
                               sizes_text(own, own->actual.shape, own->actual.rank),
                               sizes_text(own, own->expected.shape, own->expected.rank));
    else if (result->mismatched > 0)
        verdict = arena_printf(arena, "%zu of %zu elements %s not close", result->mismatched,
                               result->elements, result->mismatched == 1 ? "is" : "are");
    else if (!own->pass)
        verdict =
            arena_printf(arena, "the dtype is %s, expected %s", pe_dtype_name(own->actual.dtype),
                         pe_dtype_name(own->expected.dtype));
    else
        verdict = result->elements == 1
                      ? "the element is close"
                      : arena_printf(arena, "all %zu elements are close", result->elements);
    bool explained = own->suspects_n > 0 && own->suspects[0].explains;
    return verdict && explained
               ? arena_printf(arena, "%s; %s", verdict, suspect_says(own, &own->suspects[0]))
               : verdict;
}

static void append_wrapped(struct buf *out, size_t indent, const char *text)
{
    text_wrap(out, indent, text ? text : "");
    buf_putc(out, '\n');
}

static void append_tolerance(const struct comparing *own, struct buf *out)
{
    buf_printf(out, "Tolerance: atol %g + rtol %g of |expected|", own->tolerance.absolute,
               own->tolerance.relative);
    if (own->tolerance.steps)
        buf_printf(out, ", or %.0f steps", (double)own->tolerance.max_ulp);
    buf_printf(out, " (%s).\n", tolerance_source(own));
}

/* A number of steps: all of its digits, as long as a double holds them. */
static void append_steps(struct buf *out, double steps)
{
    buf_printf(out, steps < 0x1p53 ? "%.0f" : "%.3g", steps);
}

static void append_largest(const struct comparing *own, struct buf *out)
{
    const struct pe_comparison *result = &own->result;
    if (result->max_abs.value == 0) {
        buf_puts(out, "No two numbers differ.\n");
        return;
    }
    buf_printf(out, "Largest difference %.6g at %s: %s instead of %s.\n", result->max_abs.value,
               place_text(own, result->max_abs.at),
               element_text(own, &own->actual, result->max_abs.at),
               element_text(own, &own->expected, result->max_abs.at));
    buf_printf(out, "Largest relative difference %.6g at %s.\n", result->max_rel.value,
               place_text(own, result->max_rel.at));
    buf_printf(out, "Most steps apart, from one %s to the next: ", pe_dtype_name(result->coarser));
    append_steps(out, result->max_ulp.value);
    buf_printf(out, " at %s.\nElements by steps:", place_text(own, result->max_ulp.at));
    for (size_t bin = 0; bin < PE_STEPS_BINS; bin++)
        buf_printf(out, "%s %zu with %s", bin ? "," : "", result->steps[bin], bins[bin]);
    buf_puts(out, ".\n");
}

static void append_numbers(const struct comparing *own, struct buf *out)
{
    const struct pe_comparison *result = &own->result;
    if (result->elements == 0)
        return;
    if (result->mismatched > 0)
        buf_printf(out, "First at %s: %s instead of %s.\n", place_text(own, result->first_mismatch),
                   element_text(own, &own->actual, result->first_mismatch),
                   element_text(own, &own->expected, result->first_mismatch));
    append_largest(own, out);
    if (!isnan(result->cosine) && !isnan(result->rms))
        buf_printf(out, "Cosine %.9g, root mean square of the differences %.6g.\n", result->cosine,
                   result->rms);
    if (result->nonfinite_actual + result->nonfinite_expected > 0)
        buf_printf(out, "NaN or infinite: %zu in actual, %zu in expected.\n",
                   result->nonfinite_actual, result->nonfinite_expected);
}

/* What to do where the numbers need no more trials. */
static const char *next_step(const struct comparing *own)
{
    const struct suspect *first = &own->suspects[0];
    struct arena *arena = &own->job->request->arena;
    if (own->pass)
        return own->strict ? "keep this request as a test: a comparison that fails is answered 422"
                           : "keep this request as a test; with strict=1 a comparison that fails "
                             "is answered 422, and curl --fail-with-body ends with an error";
    if (own->suspects_n == 0 || !first->explains)
        return NULL;
    return first->spec
               ? arena_printf(arena,
                              "repair what made actual; or, if this is how it shall be, "
                              "expect it with the spec %s%s%s%s%s",
                              first->spec, first->key ? " and " : "", first->key ? first->key : "",
                              first->key ? "=" : "", first->key ? first->value : "")
               : "repair what made actual; or, if this is how it shall be, expect it so";
}

static void append_next(struct buf *out, const char *sentence)
{
    buf_puts(out, "Next: ");
    text_wrap(out, 2, sentence);
    buf_puts(out, ".\n");
}

static void append_diagnosis(const struct comparing *own, struct buf *out)
{
    struct arena *arena = &own->job->request->arena;
    for (size_t i = 0; i < own->suspects_n; i++) {
        const struct suspect *suspect = &own->suspects[i];
        const char *says = suspect_says(own, suspect);
        buf_puts(out, i                           ? ""
                      : own->suspects[0].explains ? "\nWhat explains it:\n"
                                                  : "\nWhat it resembles:\n");
        buf_puts(out, "* ");
        append_wrapped(
            out, 2,
            says ? arena_printf(arena, "%s (largest difference left: %.6g)", says, suspect->max_abs)
                 : NULL);
        if (suspect->spec)
            buf_printf(out, "  spec: %s\n", suspect->spec);
        if (suspect->key)
            buf_printf(out, "  %s: %s\n", suspect->key, suspect->value);
    }
}

static void append_advice(const struct comparing *own, struct buf *out)
{
    const char *next = next_step(own);
    if (next || own->advice_n > 0)
        buf_putc(out, '\n');
    if (next)
        append_next(out, next);
    for (size_t i = 0; i < own->advice_n; i++)
        append_next(out, own->advice[i]);
}

const char *report_text(const struct comparing *own, bool with_verdict)
{
    struct buf out;
    const char *verdict = with_verdict ? report_verdict(own) : NULL;
    buf_init(&out, REPORT_BYTES_MAX);
    if (verdict) {
        append_wrapped(&out, 0, arena_printf(&own->job->request->arena, "%s.", verdict));
        if (!out.failed && out.data[0] >= 'a' && out.data[0] <= 'z')
            out.data[0] = (char)(out.data[0] - 'a' + 'A');
    }
    if (own->actual.dtype != own->expected.dtype)
        buf_printf(&out, "actual is %s, expected is %s.\n", pe_dtype_name(own->actual.dtype),
                   pe_dtype_name(own->expected.dtype));
    append_tolerance(own, &out);
    if (own->shapes_agree)
        append_numbers(own, &out);
    append_diagnosis(own, &out);
    append_advice(own, &out);
    const char *text =
        out.failed ? NULL : arena_strndup(&own->job->request->arena, out.data, out.len);
    buf_release(&out);
    return text;
}
