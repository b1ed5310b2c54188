// SPDX-License-Identifier: Apache-2.0
/* job_delivery.h: see job_delivery.c. */
#ifndef API_JOB_DELIVERY_H
#define API_JOB_DELIVERY_H

#include <stdbool.h>

struct job;
struct request;

/* Any thread: once a request is prepared, all that can be told of its answer. False with an error
 * when the caller expects what this service does not have. */
bool job_delivery_prepare(struct job *job);
/* The fields of a computed answer, when it is sent. */
void job_delivery_fields(struct request *request);

#endif
