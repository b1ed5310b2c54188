// SPDX-License-Identifier: Apache-2.0
/*
 * job_tensor.c: tensors of a request: a bare array of numbers, {"dtype", "shape", "data"} or
 * {"dtype", "shape", "b64"} in JSON, or a tensor of a file. Numbers go straight from the body into
 * memory of the right dtype, each rounded once; the elements of a file stay where they are if they
 * can be used there.
 */
#include <string.h>

#include "base64.h"
#include "job.h"
#include "reader.h"

/* One tensor while it is read. */
struct reading {
    struct job *job;
    const json_t *object; /* NULL for a bare array */
    const char *where;
    bool indices; /* i64 is allowed */
    struct tensor *tensor;
};

static const char *place(const struct reading *reading, const char *member)
{
    const char *at = arena_printf(&reading->job->request->arena, "%s/%s", reading->where, member);
    return at ? at : reading->where;
}

/* Members of a tensor object; every other one is a mistake. */
static bool members_known(const struct reading *reading)
{
    struct err *err = &reading->job->request->err;
    const char *key;
    json_t *value;
    bool known = true;
    json_object_foreach((json_t *)reading->object, key, value)
    {
        if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0 && strcmp(key, "data") != 0 &&
            strcmp(key, "b64") != 0)
            known = err_add(err, ERR_unknown_parameter, place(reading, key), NULL,
                            "\"%.40s\" is not read in a tensor; its members are dtype, shape, and "
                            "data or b64",
                            key);
    }
    if (known && json_object_get(reading->object, "data") &&
        json_object_get(reading->object, "b64"))
        return err_add(err, ERR_conflicting_parameters, place(reading, "b64"), NULL,
                       "a tensor has data or b64, not both");
    return known;
}

static bool check_dtype(const struct reading *reading, const char *where, const char *got)
{
    enum pe_dtype dtype = reading->tensor->dtype;
    if (got && (dtype != PE_I64 || reading->indices))
        return true;
    return err_add(&reading->job->request->err, ERR_invalid_value, where, NULL,
                   "dtype must be one of f64, f32, f16, bf16%s; got \"%.40s\"",
                   reading->indices ? ", i64" : "", got ? got : "");
}

static bool read_dtype(const struct reading *reading)
{
    const json_t *dtype = json_object_get(reading->object, "dtype");
    const char *name = json_string_value(dtype);
    if (!dtype)
        return true;
    const char *where = place(reading, "dtype");
    if (name && pe_dtype_parse(name, strlen(name), &reading->tensor->dtype))
        return check_dtype(reading, where, name);
    return err_add(&reading->job->request->err, ERR_invalid_value, where, NULL,
                   "dtype must be one of f64, f32, f16, bf16%s; got \"%.40s\"",
                   reading->indices ? ", i64" : "", name ? name : "(no string)");
}

/* The shape member; false without a sound one. */
static bool read_sizes(const struct reading *reading, size_t *rank, size_t *shape)
{
    struct err *err = &reading->job->request->err;
    const char *at = place(reading, "shape");
    const struct json_array *array = json_doc_array(&reading->job->doc, at);
    if (!array || array->fault || array->rank != 1 || array->count > TREE_RANK_MAX ||
        !array->integers)
        return err_add(err, ERR_malformed_tensor, at, "for example \"shape\": [2, 64]",
                       "shape must be a list of at most %d whole numbers", TREE_RANK_MAX);
    double sizes[TREE_RANK_MAX];
    if (!json_array_read(array, PE_F64, sizes, err))
        return false;
    *rank = array->count;
    for (size_t i = 0; i < *rank; i++) {
        if (!(sizes[i] >= 0 && sizes[i] <= PE_POSITION_MAX))
            return err_add(err, ERR_malformed_tensor, at, NULL, "a size cannot be %g", sizes[i]);
        shape[i] = (size_t)sizes[i];
    }
    return true;
}

/* Whether nested data of this shape may be of the other one: the same, or flat, or the same up to
 * an axis of length 0, beyond which there is nothing to nest. */
static bool shapes_agree(const struct tensor *data, size_t rank, const size_t *shape)
{
    if (data->rank == 1)
        return true;
    bool ends = data->rank == rank || (data->rank > 0 && data->shape[data->rank - 1] == 0);
    return ends && data->rank <= rank &&
           memcmp(data->shape, shape, data->rank * sizeof *shape) == 0;
}

/* The shape member, which must hold as many elements as there are data. */
static bool read_shape(const struct reading *reading)
{
    struct tensor *tensor = reading->tensor;
    size_t rank = 0, shape[TREE_RANK_MAX];
    if (!json_object_get(reading->object, "shape"))
        return true;
    if (!read_sizes(reading, &rank, shape))
        return false;
    size_t count = job_product(shape, rank);
    if (count != tensor->count || !shapes_agree(tensor, rank, shape))
        return err_add(&reading->job->request->err, ERR_malformed_tensor, place(reading, "shape"),
                       NULL, "shape asks for %zu elements in %zu axes, data has %zu in %zu", count,
                       rank, tensor->count, tensor->rank);
    tensor->rank = rank;
    memcpy(tensor->shape, shape, sizeof shape);
    return true;
}

static bool check_count(const struct reading *reading, size_t limit)
{
    struct err *err = &reading->job->request->err;
    size_t count = reading->tensor->count;
    if (count <= limit)
        return true;
    err_add(err, ERR_limit_exceeded, reading->where, "split the batch",
            "the tensor has %zu elements, the limit is %zu", count, limit);
    err->cost = (double)count;
    err->limit = (double)limit;
    return false;
}

/* ---- Numbers as text ------------------------------------------------------------------------- */

static bool read_numbers(const struct reading *reading, const struct json_array *array)
{
    struct job *job = reading->job;
    struct tensor *tensor = reading->tensor;
    struct err *err = &job->request->err;
    if (array->fault)
        return err_add(err, ERR_malformed_tensor, array->fault, NULL, "%s", array->fault_says);
    if (!check_count(reading, job->app->options.text_elements_max))
        return false;
    tensor->data = job_alloc(job, array->count, pe_dtype_size(tensor->dtype));
    bool inf = common_differs(job, COMMON_OVERFLOW);
    return tensor->data &&
           (inf ? json_array_read_inf : json_array_read)(array, tensor->dtype, tensor->data, err);
}

/* A number instead of a list: rank 0. */
static bool read_number(const struct reading *reading, const json_t *number)
{
    struct tensor *tensor = reading->tensor;
    tensor->count = 1;
    tensor->data = job_alloc(reading->job, 1, sizeof(double));
    if (tensor->data)
        pe_store(tensor->dtype, tensor->data, 0, json_number_value(number));
    return tensor->data && read_shape(reading);
}

static bool read_array(const struct reading *reading, const struct json_array *array)
{
    struct tensor *tensor = reading->tensor;
    tensor->count = array->count;
    tensor->rank = array->rank;
    memcpy(tensor->shape, array->shape, array->rank * sizeof tensor->shape[0]);
    return (!reading->object || read_shape(reading)) && read_numbers(reading, array);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static bool read_b64(const struct reading *reading, const struct json_array *string)
{
    struct job *job = reading->job;
    struct tensor *tensor = reading->tensor;
    struct err *err = &job->request->err;
    for (size_t i = 0; i < 2; i++) {
        const char *needed = i == 0 ? "dtype" : "shape";
        if (!json_object_get(reading->object, needed))
            return err_add(err, ERR_malformed_tensor, place(reading, needed), NULL,
                           "bytes alone do not say their %s", needed);
    }
    if (!read_sizes(reading, &tensor->rank, tensor->shape))
        return false;
    tensor->count = job_product(tensor->shape, tensor->rank);
    if (!check_count(reading, job->app->options.elements_max))
        return false;
    struct tensor_source text = {.where = string->pointer};
    text.bytes = json_b64_text(string, &job->request->arena, &text.len);
    size_t wanted = tensor->count * pe_dtype_size(tensor->dtype), bytes;
    tensor->data = text.bytes ? job_alloc(job, BASE64_BYTES_MAX(text.len), 1) : NULL;
    if (!tensor->data || !base64_decode(&text, tensor->data, &bytes, err))
        return false;
    return bytes == wanted ||
           err_add(err, ERR_malformed_tensor, string->pointer, NULL,
                   "shape and dtype ask for %zu bytes, b64 has %zu", wanted, bytes);
}

static bool read_file_tensor(const struct reading *reading, const struct tensor_view *view)
{
    struct job *job = reading->job;
    struct tensor *tensor = reading->tensor;
    tensor->dtype = view->dtype;
    tensor->rank = view->rank;
    tensor->count = view->count;
    memcpy(tensor->shape, view->shape, sizeof tensor->shape);
    if (!check_dtype(reading, reading->where, pe_dtype_name(view->dtype)) ||
        !check_count(reading, job->app->options.elements_max))
        return false;
    if (tensor_view_in_place(view)) {
        tensor->data = (void *)view->data; /* the request's own body */
        return true;
    }
    tensor->data = job_alloc(job, view->bytes, 1);
    if (tensor->data)
        tensor_view_unpack(view, tensor->data);
    return tensor->data != NULL;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Where the first element of lists stands that no number begins. */
static const char *first_place(const struct reading *reading, const json_t *list, const char *where)
{
    for (; where && json_array_size(list) > 0; list = json_array_get(list, 0))
        where = arena_printf(&reading->job->request->arena, "%s/0", where);
    return where;
}

static bool read_member(struct reading *reading, const json_t *member)
{
    struct job *job = reading->job;
    reading->object = json_is_object(member) ? member : NULL;
    if (reading->object && (!members_known(reading) || !read_dtype(reading)))
        return false;
    const char *data = reading->object ? place(reading, "data") : reading->where;
    const struct json_array *array = json_doc_array(&job->doc, data);
    const struct json_array *b64 =
        reading->object ? json_doc_b64(&job->doc, place(reading, "b64")) : NULL;
    const json_t *number = reading->object ? json_object_get(member, "data") : NULL;
    if (b64)
        return read_b64(reading, b64);
    if (array)
        return read_array(reading, array);
    if (json_is_number(number))
        return read_number(reading, number);
    return err_add(&job->request->err, ERR_malformed_tensor,
                   first_place(reading, reading->object ? number : member, data),
                   "for example [[1,2],[3,4]] or {\"dtype\":\"f32\",\"data\":[[1,2],[3,4]]}",
                   "a tensor is nested lists of numbers, or an object with such \"data\", or with "
                   "\"b64\"");
}

static bool read_named(struct job *job, const char *name, bool indices, struct tensor *tensor,
                       bool *found)
{
    *tensor = (struct tensor){.dtype = PE_F64};
    const json_t *member = job->has_doc ? json_object_get(job->doc.root, name) : NULL;
    const struct safetensors_tensor *file = member ? NULL : safetensors_tensor(&job->file, name);
    *found = member || file;
    if (!*found)
        return true;
    tensor->pointer = field_pointer(&job->request->arena, "/", name);
    if (!tensor->pointer)
        return false;
    struct reading reading = {
        .job = job, .where = tensor->pointer, .indices = indices, .tensor = tensor};
    return member ? read_member(&reading, member) : read_file_tensor(&reading, &file->view);
}

bool job_tensor(struct job *job, const char *name, struct tensor *tensor, bool *found)
{
    return read_named(job, name, false, tensor, found);
}

bool job_tensor_at(struct job *job, const json_t *member, const char *pointer,
                   struct tensor *tensor)
{
    *tensor = (struct tensor){.dtype = PE_F64, .pointer = pointer};
    struct reading reading = {.job = job, .where = pointer, .tensor = tensor};
    return read_member(&reading, member);
}

bool job_indices(struct job *job, const char *name, struct tensor *tensor)
{
    bool found;
    return read_named(job, name, true, tensor, &found) && found;
}
