// SPDX-License-Identifier: Apache-2.0
/* fault.h: mistakes in what the caller gave. See posenc.h. */
#ifndef POSENC_FAULT_H
#define POSENC_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PE_FAULTS_MAX 16 /* faults kept of one request */

enum pe_status {
    PE_OK,
    PE_UNKNOWN_PARAMETER,
    PE_MISSING_PARAMETER,
    PE_INVALID_VALUE,
    PE_CONFLICTING_PARAMETERS,
    PE_SHAPE_MISMATCH,
    PE_LIMIT_EXCEEDED,
    PE_NO_MEMORY,
    PE_STOPPED, /* by the caller's own `stop` */
};

/* One mistake in what the caller gave: which parameter, what is wrong with which value, a hint. */
struct pe_fault {
    enum pe_status status;
    char param[32];
    char detail[240]; /* lower-case start, names the limit and the value received, no full stop */
    char hint[160];   /* may be empty */
};

/* The mistakes of one request, in the order found. Those past PE_FAULTS_MAX are only counted. */
struct pe_faults {
    size_t n;
    struct pe_fault item[PE_FAULTS_MAX];
};

/* Appends a fault (printf-style detail) and returns false, for `return pe_fault_add(...)`.
 * `hint` may be NULL. */
bool pe_fault_add(struct pe_faults *faults, enum pe_status status, const char *param,
                  const char *hint, const char *format, ...) __attribute__((format(printf, 5, 6)));

#ifdef __cplusplus
}
#endif

#endif
