// SPDX-License-Identifier: Apache-2.0
/*
 * faults.h: what a test and the shim in its daemon share: which call fails next, how, and how many
 * have. One page of a file that POSENC_FAULTS names, mapped by both.
 */
#ifndef TESTS_FAULT_FAULTS_H
#define TESTS_FAULT_FAULTS_H

#include <stdatomic.h>

/* malloc, calloc, realloc and aligned_alloc are counted together. */
#define FAULT_CALLS(X) X(alloc) X(accept4) X(recv) X(send) X(sendmsg) X(epoll_wait) X(epoll_ctl)

enum fault_call {
#define X(name) FAULT_##name,
    FAULT_CALLS(X)
#undef X
        FAULT_CALLS_N
};

struct fault {
    atomic_long after; /* calls that go well before those that fail */
    atomic_long fails; /* calls that fail then; 0: none */
    atomic_long error; /* their errno; 0 (recv, send, sendmsg): one byte is moved */
};

struct faults {
    struct fault of[FAULT_CALLS_N];
    atomic_long blocks; /* of memory that the process holds */
};

#endif
