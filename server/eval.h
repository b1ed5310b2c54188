// SPDX-License-Identifier: Apache-2.0
/*
 * eval.h: one request of the command line, answered without a network by what would serve it: the
 * bytes are those that HTTP would send. Problems go to standard error, so that what is written to a
 * file by `>` is an answer or empty.
 */
#ifndef POSENCD_EVAL_H
#define POSENCD_EVAL_H

#include "config.h"

/* Exit status: 0 for an answer (2xx, 3xx), 22 for a problem of the request (4xx), 70 for one of the
 * service (5xx); 1 when the body cannot be read or the answer not be written, 2 for a --header that
 * is none. */
int eval(const struct config *config);

#endif
