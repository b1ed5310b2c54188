// SPDX-License-Identifier: Apache-2.0
/*
 * content.h: test vectors in place of the caller's own: content=, seed= and gain=.
 */
#ifndef API_CONTENT_H
#define API_CONTENT_H

#include "job.h"

#define CONTENT_CHOICES "random, uniform, ones, same (k = q) or unit:J (1 in channel J)"

enum content_form { CONTENT_RANDOM, CONTENT_UNIFORM, CONTENT_ONES, CONTENT_SAME, CONTENT_UNIT };

struct content {
    enum content_form form;
    size_t unit; /* channel of CONTENT_UNIT */
    size_t dim;  /* width of a vector */
    uint64_t seed;
    double gain;
};

/* Reads the keys content, seed and gain for vectors of width dim. */
bool content_read(struct job *job, size_t dim, struct content *content);
/* Elements [first, first + n) of a tensor [.., dim]; stream is its name (with CONTENT_SAME "q"). */
void content_fill(const struct content *content, const char *stream, enum pe_dtype dtype,
                  size_t first, size_t n, void *out);

#endif
