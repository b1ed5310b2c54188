// SPDX-License-Identifier: Apache-2.0
/*
 * /v1/convert: against the definition of the two layouts, against what transformers does to the
 * weights of Llama (view, transpose, reshape), against rotations in either layout, and back again,
 * in every dtype and representation; mistakes.
 */
#include "call.h"
#include "files.h"

#define PATH "/v1/convert"

/* The answer to a JSON body. */
static json_t *answer_to(const char *target, const char *body)
{
    struct request request;
    call(&request, "POST", target, body);
    json_t *json = call_json(&request);
    cr_assert_eq(request.response.status, 200, "%s: %s", body, call_body(&request));
    call_end(&request);
    return json;
}

static json_t *data_of(const json_t *answer, const char *name)
{
    const json_t *tensor = json_object_get(json_object_get(answer, "tensors"), name);
    return json_object_get(tensor, "data");
}

static void expect_data(const char *body, const char *name, const char *wanted)
{
    json_t *answer = answer_to(PATH, body);
    char *data = json_dumps(data_of(answer, name), JSON_COMPACT);
    cr_expect_str_eq(data ? data : "nothing", wanted, "%s: %s", body, name);
    free(data);
    json_decref(answer);
}

Test(convert, follows_the_definition_of_the_layouts)
{
    static const struct {
        const char *members, *y;
    } cases[] = {
        {"\"from\":\"interleaved\",\"to\":\"half\",\"x\":[1,2,3,4,5,6,7,8]", "[1,3,5,7,2,4,6,8]"},
        {"\"from\":\"half\",\"to\":\"interleaved\",\"x\":[1,2,3,4,5,6,7,8]", "[1,5,2,6,3,7,4,8]"},
        {"\"from\":\"gptj\",\"to\":\"neox\",\"x\":[1,2]", "[1,2]"},
        {"\"from\":\"half\",\"to\":\"half\",\"x\":[1,2,3,4]", "[1,2,3,4]"},
        /* partial rotation: the first channels of each head, or others */
        {"\"from\":\"gptj\",\"to\":\"neox\",\"rotary_dim\":4,\"x\":[1,2,3,4,5,6]", "[1,3,2,4,5,6]"},
        {"\"from\":\"gptj\",\"to\":\"neox\",\"rotary_dim\":4,\"x\":[1,2,3,4,5]", "[1,3,2,4,5]"},
        {"\"from\":\"gptj\",\"to\":\"neox\",\"rotary_dim\":4,\"rotary_offset\":1,\"x\":[1,2,3,4,5,"
         "6]",
         "[1,2,4,3,5,6]"},
        {"\"from\":\"gptj\",\"to\":\"neox\",\"rotary_dim\":4,\"rotary_offset\":\"tail\","
         "\"x\":[1,2,3,4,5,6]",
         "[1,2,3,5,4,6]"},
        /* heads side by side */
        {"\"from\":\"gptj\",\"to\":\"neox\",\"num_heads\":2,\"x\":[[1,2,3,4,5,6,7,8],[8,7,6,5,4,3,"
         "2,1]]",
         "[[1,3,2,4,5,7,6,8],[8,6,7,5,4,2,3,1]]"},
        {"\"from\":\"gptj\",\"to\":\"neox\",\"num_kv_heads\":2,\"rotary_dim\":4,"
         "\"x\":[1,2,3,4,5,6,7,8,9,10]",
         "[1,3,2,4,5,6,8,7,9,10]"},
        /* on another axis, with axes on either side */
        {"\"from\":\"gptj\",\"to\":\"neox\",\"axis\":1,\"num_heads\":1,"
         "\"x\":[[[1,2],[3,4],[5,6],[7,8]],[[10,20],[30,40],[50,60],[70,80]]]",
         "[[[1,2],[5,6],[3,4],[7,8]],[[10,20],[50,60],[30,40],[70,80]]]"},
        {"\"from\":\"gptj\",\"to\":\"neox\",\"axis\":-3,\"num_heads\":1,"
         "\"x\":[[[1],[2]],[[3],[4]],[[5],[6]],[[7],[8]]]",
         "[[[1],[2]],[[5],[6]],[[3],[4]],[[7],[8]]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        snprintf(body, sizeof body, "{%s}", cases[i].members);
        expect_data(body, "y", cases[i].y);
    }
}

Test(convert, gives_the_permutation_of_the_whole_axis)
{
    expect_data("{\"from\":\"gptj\",\"to\":\"neox\",\"num_heads\":2,\"x\":[1,2,3,4,5,6,7,8]}",
                "permutation", "[0,2,1,3,4,6,5,7]");
    expect_data("{\"from\":\"gptj\",\"to\":\"neox\",\"axis\":0,\"num_heads\":2,\"num_kv_heads\":1,"
                "\"q\":[[1],[2],[3],[4],[5],[6],[7],[8]],\"k\":[[1],[2],[3],[4]]}",
                "q_permutation", "[0,2,1,3,4,6,5,7]");
    expect_data("{\"from\":\"gptj\",\"to\":\"neox\",\"axis\":0,\"num_heads\":2,\"num_kv_heads\":1,"
                "\"q\":[[1],[2],[3],[4],[5],[6],[7],[8]],\"k\":[[1],[2],[3],[4]]}",
                "k_out", "[[1],[3],[2],[4]]");
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* convert_llama_weights_to_hf.py of transformers: w.view(heads, dim1 / heads / 2, 2, dim2)
 * .transpose(1, 2).reshape(dim1, dim2). */
static void permute_as_transformers(const float *w, size_t heads, size_t dim1, size_t dim2,
                                    float *out)
{
    size_t half = dim1 / heads / 2;
    for (size_t h = 0; h < heads; h++)
        for (size_t two = 0; two < 2; two++)
            for (size_t i = 0; i < half; i++)
                for (size_t c = 0; c < dim2; c++)
                    *out++ = w[((h * half + i) * 2 + two) * dim2 + c];
}

enum { DIM1 = 48, DIM2 = 5, KV_DIM1 = 16 };

Test(convert, does_to_weights_what_transformers_does)
{
    static struct file file;
    float weights[(DIM1 + KV_DIM1) * DIM2], wanted[(DIM1 + KV_DIM1) * DIM2];
    for (size_t i = 0; i < (DIM1 + KV_DIM1) * DIM2; i++)
        weights[i] = (float)i;
    permute_as_transformers(weights, 6, DIM1, DIM2, wanted);
    permute_as_transformers(weights + DIM1 * DIM2, 2, KV_DIM1, DIM2, wanted + DIM1 * DIM2);
    file_safetensors(&file,
                     "{\"q\":{\"dtype\":\"F32\",\"shape\":[48,5],\"data_offsets\":[0,960]},"
                     "\"k\":{\"dtype\":\"F32\",\"shape\":[16,5],\"data_offsets\":[960,1280]},"
                     "\"__metadata__\":{\"request\":\"{\\\"from\\\":\\\"interleaved\\\","
                     "\\\"to\\\":\\\"half\\\",\\\"axis\\\":0,\\\"num_heads\\\":6}\"}}",
                     weights, sizeof weights);
    call_with.content_type = "application/x-safetensors";
    struct request request;
    call_bytes(&request, PATH "?num_kv_heads=2", file.bytes, file.len);
    cr_assert_eq(request.response.status, 200, "%s", call_body(&request));
    const char *data;
    size_t len;
    json_t *header = safetensors_open(call_body(&request), call_body_len(&request), &data);
    const char *q = safetensors_data(header, data, "q_out", "F32", &len);
    cr_expect(len == DIM1 * DIM2 * 4 && memcmp(q, wanted, len) == 0, "q");
    const char *k = safetensors_data(header, data, "k_out", "F32", &len);
    cr_expect(len == KV_DIM1 * DIM2 * 4 && memcmp(k, wanted + DIM1 * DIM2, len) == 0, "k");
    json_decref(header);
    call_end(&request);
}

/* ---- Rotations ------------------------------------------------------------------------------- */

/* Rotating in one layout and converting is converting and rotating in the other. */
Test(convert, agrees_with_rotations)
{
    static const char x[] = "[[0.5,-1,2,3.25,-4,5,6,7.5,8,9],[1,2,3,4,5,6,7,8,9,10]]";
    char body[400];
    snprintf(body, sizeof body,
             "{\"spec\":\"rope:dim=10,rotary_dim=8\",\"positions\":[3,77],\"x\":%s}", x);
    json_t *rotated = answer_to("/v1/apply", body);
    char *data = json_dumps(data_of(rotated, "y"), JSON_COMPACT | JSON_REAL_PRECISION(17));
    char *more = NULL;
    cr_assert(asprintf(&more,
                       "{\"from\":\"interleaved\",\"to\":\"half\",\"rotary_dim\":8,\"x\":%s}",
                       data) > 0);
    json_t *one = answer_to(PATH, more);
    snprintf(body, sizeof body,
             "{\"from\":\"interleaved\",\"to\":\"half\",\"rotary_dim\":8,\"x\":%s}", x);
    json_t *converted = answer_to(PATH, body);
    free(more);
    free(data);
    data = json_dumps(data_of(converted, "y"), JSON_COMPACT | JSON_REAL_PRECISION(17));
    cr_assert(asprintf(&more,
                       "{\"spec\":\"rope:dim=10,rotary_dim=8,layout=half\",\"positions\":[3,77],"
                       "\"x\":%s}",
                       data) > 0);
    json_t *other = answer_to("/v1/apply", more);
    cr_expect(json_equal(data_of(one, "y"), data_of(other, "y")));
    free(more);
    free(data);
    json_decref(rotated);
    json_decref(one);
    json_decref(converted);
    json_decref(other);
}

/* ---- Back, and round --------------------------------------------------------------------------*/

/* Any bits, not-a-number with all its payloads too, through a file. */
static void expect_same_bits(const char *dtype, size_t size)
{
    static struct file file;
    enum { VECTORS = 3, DIM = 12 };
    unsigned char bits[VECTORS * DIM * 8];
    size_t bytes = VECTORS * DIM * size, len;
    char header[200];
    for (size_t i = 0; i < bytes; i++)
        bits[i] = (unsigned char)pe_draw(0, dtype, i);
    memset(bits, 0xff, 8);
    call_with.content_type = "application/x-safetensors";
    static const char *const ways[] = {"?from=half&to=interleaved", "?from=interleaved&to=half"};
    unsigned char was[sizeof bits];
    memcpy(was, bits, sizeof bits);
    for (size_t way = 0; way < 2; way++) {
        struct request request;
        char target[100];
        const char *data;
        snprintf(header, sizeof header,
                 "{\"x\":{\"dtype\":\"%s\",\"shape\":[3,12],\"data_offsets\":[0,%zu]}}", dtype,
                 bytes);
        file_safetensors(&file, header, bits, bytes);
        snprintf(target, sizeof target, PATH "%s&rotary_dim=10", ways[way]);
        call_bytes(&request, target, file.bytes, file.len);
        cr_assert_eq(request.response.status, 200, "%s", call_body(&request));
        json_t *answer = safetensors_open(call_body(&request), call_body_len(&request), &data);
        const char *y = safetensors_data(answer, data, "y", dtype, &len);
        cr_assert_eq(len, bytes);
        memcpy(bits, y, len);
        cr_expect((memcmp(bits, was, bytes) == 0) == (way == 1), "%s, way %zu", dtype, way);
        json_decref(answer);
        call_end(&request);
    }
}

Test(convert, back_gives_the_same_bits)
{
    expect_same_bits("F64", 8);
    expect_same_bits("F32", 4);
    expect_same_bits("F16", 2);
    expect_same_bits("BF16", 2);
}

/* Three times in one direction is the identity for 8 channels, and twice for 4. */
Test(convert, says_how_often_until_all_is_back)
{
    for (size_t dim = 2; dim <= 64; dim += 2) {
        json_t *x = json_array(), *body = json_object();
        for (size_t i = 0; i < dim; i++)
            json_array_append_new(x, json_integer((json_int_t)i));
        json_object_set_new(body, "from", json_string("interleaved"));
        json_object_set_new(body, "to", json_string("half"));
        json_t *given = json_deep_copy(x);
        json_int_t said = 0, times = 0;
        do {
            json_object_set(body, "x", given);
            char *text = json_dumps(body, 0);
            json_t *answer = answer_to(PATH, text);
            const json_t *readouts = json_object_get(json_object_get(answer, "readouts"), "x");
            said = json_integer_value(json_object_get(readouts, "cycle"));
            json_decref(given);
            given = json_deep_copy(data_of(answer, "y"));
            json_decref(answer);
            free(text);
            times++;
        } while (!json_equal(given, x) && times < 100);
        cr_expect_eq(said, times, "%zu channels: %lld, not %lld", dim, (long long)said,
                     (long long)times);
        cr_expect(dim != 8 || times == 3);
        json_decref(given);
        json_decref(body);
        json_decref(x);
    }
}

/* ---- Representations ------------------------------------------------------------------------- */

Test(convert, has_all_formats)
{
    static const char body[] =
        "{\"from\":\"gptj\",\"to\":\"neox\",\"x\":{\"dtype\":\"f16\",\"data\":[[1,2,3,4]]}}";
    static const unsigned short y[] = {0x3c00, 0x4200, 0x4000, 0x4400};
    struct request request;
    size_t len;
    call(&request, "POST", PATH ".csv", body);
    cr_expect_str_eq(call_body(&request), "index,0,1,2,3\n0,1,3,2,4\n");
    call_end(&request);
    call(&request, "POST", PATH ".csv?select=permutation", body);
    cr_expect_str_eq(call_body(&request), "index,permutation\n0,0\n1,2\n2,1\n3,3\n");
    call_end(&request);
    call(&request, "POST", PATH ".bin", body);
    cr_expect(call_body_len(&request) == sizeof y && memcmp(call_body(&request), y, sizeof y) == 0);
    call_end(&request);
    call(&request, "POST", PATH ".npy", body);
    static struct file file;
    file.len = call_body_len(&request);
    memcpy(file.bytes, call_body(&request), file.len);
    call_end(&request);
    const char *data = npy_data(file.bytes, file.len, &len);
    cr_expect(len == sizeof y && memcmp(data, y, len) == 0);
    call_with.content_type = "application/x-npy";
    call_bytes(&request, PATH "?from=half&to=interleaved", file.bytes, file.len);
    data = npy_data(call_body(&request), call_body_len(&request), &len);
    cr_expect(len == 8 && memcmp(data, (unsigned short[]){0x3c00, 0x4000, 0x4200, 0x4400}, 8) == 0);
    call_end(&request);
}

Test(convert, says_what_to_do_next)
{
    struct request request;
    call(&request, "POST", PATH ".txt",
         "{\"from\":\"interleaved\",\"to\":\"half\",\"x\":[1,2,3,4,5,6,7,8]}");
    static const char *const says[] = {
        "x: 1 head of 8 channels on axis 0. In each, 6 channels change places and 2 stay.\n",
        "y is numpy.take(x, permutation, axis=0)",
        "To undo it: the same with from=half and to=interleaved.\n",
        "only after 3 times",
        "weights of k with num_kv_heads",
        "Then rotate with layout=half",
    };
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        cr_expect(strstr(call_body(&request), says[i]), "%s: %s", says[i], call_body(&request));
    call_end(&request);
    call(&request, "POST", PATH ".txt", "{\"from\":\"half\",\"to\":\"half\",\"x\":[1,2]}");
    cr_expect(strstr(call_body(&request), "nothing moves"), "%s", call_body(&request));
    call_end(&request);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

Test(convert, names_mistakes)
{
    static const struct {
        const char *members;
        int status;
        const char *where, *says;
    } cases[] = {
        {"\"to\":\"half\",\"x\":[1,2]", 400, "/from", "from is required"},
        {"\"from\":\"hafl\",\"to\":\"half\",\"x\":[1,2]", 400, "/from", "interleaved, half"},
        {"\"from\":\"half\",\"to\":\"gptj\"", 400, "/x", "a tensor is missing"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2],\"k\":[1,2]", 400, "/x", "stands alone"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2,3]", 422, "/x", "no pairs"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[]", 422, "/x", "0 channels"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":{\"data\":7}", 422, "/x", "0 axes"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2],\"axis\":1", 422, "/x", "no axis 1"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2],\"axis\":-2", 422, "/x", "no axis -2"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[[1],[2]],\"axis\":0", 400, "/num_heads",
         "num_heads is missing"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2],\"num_heads\":1,\"num_kv_heads\":1", 400,
         "/num_kv_heads", "both given"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2,3,4],\"num_heads\":3", 422, "/x",
         "4 channels, which 3 heads do not divide"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"q\":[1,2],\"num_kv_heads\":1", 400, "/num_kv_heads",
         "there is no k"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"k\":[1,2],\"num_heads\":1", 400, "/num_heads",
         "there is no q"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"q\":[1,2,3,4],\"k\":[1,2],\"num_heads\":2", 400,
         "/num_kv_heads", "num_kv_heads is missing"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"q\":[1,2,3,4],\"k\":[1,2,3,4],\"num_heads\":2,"
         "\"num_kv_heads\":1",
         422, "/k", "with 2 heads those of q have 2 channels"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2],\"rotary_dim\":4", 400, "/rotary_dim",
         "at most the 2 channels"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2,3,4],\"rotary_dim\":3", 400, "/rotary_dim",
         "even"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2,3,4],\"rotary_dim\":2,\"rotary_offset\":3",
         400, "/rotary_offset", "at most 2"},
        {"\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2],\"dtype\":\"f32\"", 400, "/dtype",
         "is not a parameter of POST /v1/convert"},
        {"\"spec\":\"rope\",\"from\":\"half\",\"to\":\"gptj\",\"x\":[1,2]", 400, "/spec",
         "takes no encoding"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        snprintf(body, sizeof body, "{%s}", cases[i].members);
        call_refused(
            &(struct call_refusal){PATH, body, cases[i].status, cases[i].where, cases[i].says});
    }
}
