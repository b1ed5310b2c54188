// SPDX-License-Identifier: Apache-2.0
/*
 * job_tensor.c: tensors of a JSON body: a bare array of numbers, or {"dtype", "shape", "data"}. The
 * numbers were found by json/doc.c; here they go straight from the body into memory of the right
 * dtype, each rounded once.
 */
#include <string.h>

#include "job.h"
#include "reader.h"

/* Members of a tensor object; every other one is a mistake. */
static bool members_known(struct job *job, const json_t *object, const char *where)
{
    const char *key;
    json_t *value;
    bool known = true;
    json_object_foreach((json_t *)object, key, value)
    {
        if (strcmp(key, "dtype") == 0 || strcmp(key, "shape") == 0 || strcmp(key, "data") == 0)
            continue;
        const char *at = arena_printf(&job->request->arena, "%s/%s", where, key);
        known = err_add(&job->request->err, ERR_unknown_parameter, at,
                        strcmp(key, "b64") == 0 ? "send the numbers as \"data\"" : NULL,
                        "\"%.40s\" is not read in a tensor; its members are dtype, shape and data",
                        key);
    }
    return known;
}

static bool read_dtype(struct job *job, const json_t *object, const char *where,
                       struct tensor *tensor)
{
    const json_t *dtype = json_object_get(object, "dtype");
    if (!dtype)
        return true;
    const char *name = json_string_value(dtype);
    if (name && pe_dtype_parse(name, strlen(name), &tensor->dtype) && tensor->dtype != PE_I64)
        return true;
    return err_add(&job->request->err, ERR_invalid_value,
                   arena_printf(&job->request->arena, "%s/dtype", where), NULL,
                   "dtype must be one of f64, f32, f16, bf16; got \"%.40s\"",
                   name ? name : "(no string)");
}

/* The shape member, which must hold as many elements as there are; replaces a flat shape. */
static bool read_shape(struct job *job, const json_t *object, const char *where,
                       struct tensor *tensor)
{
    struct err *err = &job->request->err;
    if (!json_object_get(object, "shape"))
        return true;
    const char *at = arena_printf(&job->request->arena, "%s/shape", where);
    const struct json_array *array = at ? json_doc_array(&job->doc, at) : NULL;
    if (!array || array->fault || array->rank != 1 || array->count > TREE_RANK_MAX ||
        !array->integers)
        return err_add(err, ERR_malformed_tensor, at, "for example \"shape\": [2, 64]",
                       "shape must be a list of at most %d whole numbers", TREE_RANK_MAX);
    double sizes[TREE_RANK_MAX];
    if (!json_array_read(array, PE_F64, sizes, err))
        return false;
    size_t shape[TREE_RANK_MAX];
    bool same = array->count == tensor->rank;
    for (size_t i = 0; i < array->count; i++) {
        if (!(sizes[i] >= 0 && sizes[i] <= PE_POSITION_MAX))
            return err_add(err, ERR_malformed_tensor, at, NULL, "a size cannot be %g", sizes[i]);
        shape[i] = (size_t)sizes[i];
        same = same && shape[i] == tensor->shape[i];
    }
    if (job_product(shape, array->count) != tensor->count || !(same || tensor->rank == 1))
        return err_add(err, ERR_malformed_tensor, at, NULL,
                       "shape asks for %zu elements in %zu axes, data has %zu in %zu",
                       job_product(shape, array->count), array->count, tensor->count, tensor->rank);
    tensor->rank = array->count;
    memcpy(tensor->shape, shape, sizeof shape);
    return true;
}

static bool read_data(struct job *job, const struct json_array *array, struct tensor *tensor)
{
    struct err *err = &job->request->err;
    size_t limit = job->app->options.text_elements_max;
    if (array->fault)
        return err_add(err, ERR_malformed_tensor, array->fault, NULL, "%s", array->fault_says);
    if (array->count > limit) {
        err_add(err, ERR_limit_exceeded, tensor->pointer, "split the batch",
                "the tensor has %zu elements, the limit is %zu", array->count, limit);
        err->cost = (double)array->count;
        err->limit = (double)limit;
        return false;
    }
    tensor->data = job_alloc(job, array->count, pe_dtype_size(tensor->dtype));
    return tensor->data && json_array_read(array, tensor->dtype, tensor->data, err);
}

bool job_tensor(struct job *job, const char *name, struct tensor *tensor, bool *found)
{
    *tensor = (struct tensor){.dtype = PE_F64};
    const json_t *member = job->has_doc ? json_object_get(job->doc.root, name) : NULL;
    *found = member != NULL;
    if (!member)
        return true;
    struct arena *arena = &job->request->arena;
    const char *where = arena_printf(arena, "/%s", name);
    bool object = json_is_object(member);
    const char *data = object ? arena_printf(arena, "%s/data", where) : where;
    if (!where || !data)
        return false;
    tensor->pointer = where;
    const struct json_array *array = json_doc_array(&job->doc, data);
    if (object && !members_known(job, member, where))
        return false;
    if (!array)
        return err_add(&job->request->err, ERR_malformed_tensor, data,
                       "for example [[1,2],[3,4]] or {\"dtype\":\"f32\",\"data\":[[1,2],[3,4]]}",
                       "a tensor is nested lists of numbers, or an object with such \"data\"");
    tensor->count = array->count;
    tensor->rank = array->rank;
    memcpy(tensor->shape, array->shape, array->rank * sizeof tensor->shape[0]);
    return (!object ||
            (read_dtype(job, member, where, tensor) && read_shape(job, member, where, tensor))) &&
           read_data(job, array, tensor);
}
