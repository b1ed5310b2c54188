// SPDX-License-Identifier: Apache-2.0
/*
 * compare.c: POST /v1/compare: whether two tensors agree within a tolerance, how far they are apart
 * and, if they do not agree, which of the known mistakes explains it. The tensor that is expected
 * may be posted, or be an answer of this service.
 */
#include "compare.h"

#include <string.h>

#include "apply.h"

static const struct pe_param keys[] = {
    {"rtol", "relative", PE_REAL, 0, 1e300, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Share of |expected| by which an element may differ, beside atol; without it that of "
     "torch.testing for the coarser dtype: f16 1e-3, bf16 1.6e-2, f32 1.3e-6, f64 1e-7."},
    {"atol", "absolute", PE_REAL, 0, 1e300, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "By how much an element may differ whatever its size; without it 1e-5, f64 1e-7."},
    {"max_ulp", NULL, PE_INT, 0, PE_POSITION_MAX, 0, PE_OPTIONAL, NULL, NULL, NULL,
     "Elements at most so many steps of the coarser dtype apart are close too."},
    {"equal_nan", NULL, PE_BOOL, 0, 1, 0, 0, "false", NULL, NULL, "Whether NaN is close to NaN."},
    {"diagnose", NULL, PE_BOOL, 0, 1, 0, 0, "true", NULL, NULL,
     "Whether to look for the mistake that explains a difference."},
    {"strict", NULL, PE_BOOL, 0, 1, 0, 0, "false", NULL, NULL,
     "A comparison that fails is answered 422, for tools that look at the status; dtypes must be "
     "the same then."},
};

static const char *const tensors[] = {"actual", "expected", "x",   "q",   "k",
                                      "scores", "table",    "cos", "sin", NULL};

/* ---- Reading -------------------------------------------------------------------------------- */

static bool read_actual(struct comparing *own)
{
    struct job *job = own->job;
    bool found;
    if (!job_tensor(job, "actual", &own->actual, &found))
        return false;
    return found || err_add(&job->request->err, ERR_missing_parameter, "/actual",
                            "for example \"actual\": [[1,2,3,4]]",
                            "the tensor \"actual\" is missing: what is to be judged");
}

/* Tensors that only an apply reads. */
static bool none_beside(struct job *job)
{
    bool ok = true;
    for (const char *const *name = apply_endpoint.tensors; *name; name++) {
        const char *pointer = arena_printf(&job->request->arena, "/%s", *name);
        if (json_object_get(job->doc.root, *name) || safetensors_tensor(&job->file, *name))
            ok = err_add(&job->request->err, ERR_conflicting_parameters, pointer, "leave it out",
                         "\"%s\" has no effect: expected is no encoding that is applied to it",
                         *name);
    }
    return ok;
}

static bool read_expected(struct comparing *own)
{
    struct job *job = own->job;
    const json_t *member = json_object_get(job->doc.root, "expected");
    own->has_recipe = json_object_get(member, "spec") || json_object_get(member, "specs") ||
                      json_object_get(member, "get");
    if (!own->has_recipe && !none_beside(job))
        return false;
    if (own->has_recipe)
        return recipe_read(&own->recipe, job, member);
    bool found;
    if (!job_tensor(job, "expected", &own->expected, &found))
        return false;
    return found ||
           err_add(
               &job->request->err, ERR_missing_parameter, "/expected",
               "a tensor, {\"get\": \"/v1/...\"}, or {\"spec\": .., \"positions\": .., \"x\": ..}",
               "\"expected\" is missing: what to compare with");
}

static bool prepare(struct job *job)
{
    struct comparing *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own)
        return job_alloc(job, SIZE_MAX, 1);
    own->job = job;
    own->diagnose = job_key(job, "diagnose")->number != 0;
    own->strict = job_key(job, "strict")->number != 0;
    bool ok = read_actual(own);
    return read_expected(own) && ok;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static void choose_tolerance(struct comparing *own)
{
    const struct job *job = own->job;
    const struct pe_value *relative = job_key(job, "rtol"), *absolute = job_key(job, "atol"),
                          *steps = job_key(job, "max_ulp");
    own->tolerance = pe_tolerance_of(pe_dtype_coarser(own->actual.dtype, own->expected.dtype));
    own->tolerance_given = relative->set || absolute->set;
    if (relative->set)
        own->tolerance.relative = relative->number;
    if (absolute->set)
        own->tolerance.absolute = absolute->number;
    own->tolerance.steps = steps->set;
    own->tolerance.max_ulp = steps->set ? (uint64_t)steps->number : 0;
    own->tolerance.equal_nan = job_key(job, "equal_nan")->number != 0;
}

static bool is_comparable(const struct comparing *own)
{
    const struct tensor *expected = &own->expected;
    return expected->dtype != PE_I64 ||
           err_add(&own->job->request->err, ERR_invalid_value, expected->pointer, NULL,
                   "what is expected has whole numbers (i64); f64, f32, f16 and bf16 are compared");
}

static void judge(struct comparing *own)
{
    const struct tensor *actual = &own->actual, *expected = &own->expected;
    own->shapes_agree =
        actual->rank == expected->rank &&
        memcmp(actual->shape, expected->shape, actual->rank * sizeof *actual->shape) == 0;
    if (own->shapes_agree) {
        pe_comparison_begin(&own->result, actual->dtype, expected->dtype, &own->tolerance);
        pe_comparison_add(&own->result, actual->data, expected->data, actual->count);
        pe_comparison_end(&own->result);
    }
    own->pass = own->shapes_agree && own->result.mismatched == 0 &&
                (!own->strict || actual->dtype == expected->dtype);
}

/* The report as members of a problem document, which are those of the answer. */
static bool fail(struct comparing *own)
{
    struct job *job = own->job;
    struct err *err = &job->request->err;
    const char *verdict = report_verdict(own);
    err->members = job->answer.root;
    err->report = report_text(own, false);
    return err_add(err, ERR_comparison_failed, "/actual", NULL, "%s",
                   verdict && err->report ? verdict : "the comparison failed");
}

static bool compute(struct job *job)
{
    struct comparing *own = job->own;
    struct answer *answer = &job->answer;
    if (own->has_recipe && !recipe_make(&own->recipe))
        return false;
    if (own->has_recipe)
        own->expected = own->recipe.made;
    if (!is_comparable(own))
        return false;
    choose_tolerance(own);
    judge(own);
    if (!own->pass && own->diagnose)
        compare_diagnose(own);
    if (job_expired(job))
        return false;
    *answer = (struct answer){.root = tree_new(&job->request->arena, TREE_OBJECT)};
    answer->tensors = tree_new(&job->request->arena, TREE_OBJECT); /* none, beside the root */
    tree_string(answer->root, "semantics", API_SEMANTICS);
    report_tree(own, answer->root);
    if (!own->pass && own->strict)
        return fail(own);
    if (job->format == FORMAT_TXT)
        answer->text_readouts = report_text(own, true);
    return true;
}

const struct endpoint compare_endpoint = {
    .summary = "Whether a tensor is the one that is expected, how far they are apart, and why.",
    .describes = "",
    .schema = "CompareAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .tensors = tensors,
    .made = "expected",
    .cache = CACHE_COMPUTED,
    .formats = 1 << FORMAT_JSON | 1 << FORMAT_TXT,
    .prepare = prepare,
    .compute = compute,
};
