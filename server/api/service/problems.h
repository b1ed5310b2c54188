// SPDX-License-Identifier: Apache-2.0
/* problems.h: what /problems says of one problem type. */
#ifndef API_PROBLEMS_H
#define API_PROBLEMS_H

#include "err.h"

/* A request as people would send it, or the situation that takes its place. */
struct problem_example {
    const char *when; /* NULL: it is a request */
    const char *method, *target;
    const char *field; /* "Name: value", or NULL */
    const char *body;  /* NULL: none */
};

struct problem_row {
    const char *explanation;
    struct problem_example wrong, right; /* `right` is a request */
};

/* By code (problems.def). */
extern const struct problem_row problem_rows[ERR_CODES_N];

#endif
