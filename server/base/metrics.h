// SPDX-License-Identifier: Apache-2.0
/*
 * metrics.h: counters and gauges, one row each in metrics.def, printed as Prometheus text. Updates
 * are relaxed atomics and may come from any thread.
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include <stdint.h>

#include "buf.h"
#include "err.h"

enum metric {
#define METRIC(id, type, name, labels, help) METRIC_##id,
#include "metrics.def"
#undef METRIC
    METRICS_N
};

void metric_add(enum metric metric, int64_t n); /* gauges may go down */
int64_t metric_get(enum metric metric);
/* One finished request: its status (200..599) and how long it took, for the totals and the
 * histogram. */
void metric_request(int status, uint64_t duration_ns);
void metric_problem(enum err_code code); /* one problem document sent */
void metrics_print(struct buf *out);
/* posenc_build_info: which version runs, with which kernels ("avx2"). */
void metrics_print_build(struct buf *out, const char *version, const char *kernels);

#endif
