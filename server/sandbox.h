// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox.h: once everything is open, the process gives up all system calls but the few it serves
 * with (Linux seccomp). Whoever takes it over then cannot start programs, open files, make
 * connections or map code.
 */
#ifndef POSENCD_SANDBOX_H
#define POSENCD_SANDBOX_H

#include <stdbool.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* Sanitizers and coverage need system calls that the service does not: such builds go without. */
#if defined(COVERAGE) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||          \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANDBOX_INSTRUMENTED true
#else
#define SANDBOX_INSTRUMENTED false
#endif

/* Both return false after saying on stderr why the sandbox cannot be had. On a kernel without such
 * filters and in an instrumented build they do nothing, and sandbox_enter says so in the log. */

/* Before anything is opened: what is opened must not be a way around the sandbox. */
bool sandbox_prepare(void);
/* Before the first byte of a client is read. For all threads, now and later, and for ever; any
 * other call ends the process with SIGSYS. */
bool sandbox_enter(void);

#endif
