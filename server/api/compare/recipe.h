// SPDX-License-Identifier: Apache-2.0
/*
 * recipe.h: what a tensor is compared with, where that is no tensor but how to make one: a GET of
 * this service, or an encoding, positions and vectors to apply it to. Either is a request that is
 * made within the process; once it has been, it can be made again with something changed.
 */
#ifndef API_RECIPE_H
#define API_RECIPE_H

#include "job.h"

#define RECIPE_TENSORS_MAX 8
#define RECIPE_HINT        "for example {\"get\": \"/v1/table?kind=rope&dim=64&positions=0:16\"}"

/* A key of the request, as text of a query or as JSON. */
struct recipe_key {
    const char *name, *text;
    bool json;
};

struct recipe {
    struct job *job; /* the comparison; memory is its request's */
    bool post;       /* an apply; else a GET */
    const char *path, *where;
    const char *target;  /* of the request as it was given */
    const char *request; /* and, of an apply, the JSON in its body */
    struct safetensors_tensor tensors[RECIPE_TENSORS_MAX]; /* posted */
    size_t tensors_n;

    /* Known once it has been made: */
    struct tensor made; /* its main tensor */
    bool has_spec;
    const char *spec;     /* compact */
    const char *stages;   /* canonical */
    size_t encoded;       /* of an apply: which of `tensors` it encodes */
    const char *axes;     /* and what its axes are; NULL: no apply */
    const double *places; /* its positions, where they are one list on one axis; NULL */
    size_t places_n;
    bool given; /* cos and sin are the caller's */
    struct recipe_key keys[PE_PARAMS_MAX];
    size_t keys_n;
    char *body; /* of a POST, made anew each time, since an answer may be made where it was */
    size_t body_max;
    char *again; /* the file that comes of it when it is made again */
    size_t again_max;
};

/* What is changed; NULL: as it was. */
struct recipe_edit {
    const char *spec, *stages, *axes, *positions, *inverse;
    const void *encoded; /* elements in place of those of the tensor that is encoded */
};

/* Whether an apply knows a tensor of this name. */
bool recipe_is_tensor(const char *name);
/* In prepare: reads the member `expected`, whose value is an object that is no tensor. */
bool recipe_read(struct recipe *recipe, struct job *job, const json_t *expected);
/* In compute: makes it; what is wrong with it is told with places in the comparison's body. */
bool recipe_make(struct recipe *recipe);
/* What the request, which has been made, came to; `file` is its answer. */
bool recipe_learn(struct recipe *recipe, const struct request *sub, const struct safetensors *file);
/* The same changed: false if that is no request. The elements are gone when it is called again. */
bool recipe_make_again(struct recipe *recipe, const struct recipe_edit *edit, struct tensor *made);

#endif
