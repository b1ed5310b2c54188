// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox.c: the system calls that serving needs, as a seccomp filter made by libseccomp; the same
 * list for x86-64 and AArch64 (it leaves out what an architecture does not have). What happens
 * before, reading options and listening, is not confined.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

#define ARGUMENTS_MAX 2
#define CALLS_MAX     60

/* A call, allowed when all of these of its arguments are as said. */
struct call {
    int number;
    unsigned arguments_n;
    struct scmp_arg_cmp arguments[ARGUMENTS_MAX];
};

// clang-format off
/* Argument i. Of an int the lower half only: the upper one can be anything. */
#define IS(i, value)   {i, SCMP_CMP_MASKED_EQ, UINT32_MAX, (uint32_t)(value)}
#define HAS(i, bits)   {i, SCMP_CMP_MASKED_EQ, bits, bits}
#define LACKS(i, bits) {i, SCMP_CMP_MASKED_EQ, bits, 0}

#define CALL(name)               {SCMP_SYS(name), 0, {{0}}}
#define CALL_IF(name, a)         {SCMP_SYS(name), 1, {a}}
#define CALL_IF_BOTH(name, a, b) {SCMP_SYS(name), 2, {a, b}}

static const struct call allowed[] = {
    /* Clients: taken from the listening socket and talked to; no other socket is made. Options:
     * TCP_NODELAY, TCP_CORK; whether a slow client takes its answer; an end without waiting; no
     * new clients while draining. */
    CALL(accept4), CALL(recvfrom), CALL(sendto), CALL(sendmsg), CALL(shutdown),
    CALL_IF(fcntl, IS(1, F_GETFL)), CALL_IF(fcntl, IS(1, F_GETFD)),
    CALL_IF_BOTH(setsockopt, IS(1, IPPROTO_IP), IS(2, IP_MINTTL)),
    CALL_IF_BOTH(setsockopt, IS(1, IPPROTO_IPV6), IS(2, IPV6_MINHOPCOUNT)),
    CALL_IF(setsockopt, IS(1, IPPROTO_TCP)),
    CALL_IF_BOTH(setsockopt, IS(1, SOL_SOCKET), IS(2, SO_LINGER)),
    CALL_IF_BOTH(getsockopt, IS(1, IPPROTO_TCP), IS(2, TCP_INFO)),
    /* Lingering: libuv waits on a duplicate of a socket. */
    CALL_IF(fcntl, IS(1, F_DUPFD_CLOEXEC)), CALL_IF(ioctl, IS(1, FIONBIO)),
    /* What is open already: the log, wake-ups between threads, signals through a pipe. The C
     * library's last words are a writev. */
    CALL(read), CALL(write), CALL(writev), CALL(close),
    CALL(epoll_wait), CALL(epoll_pwait), CALL(epoll_ctl),
    /* Memory: never a file's and never executable. */
    CALL(brk), CALL(munmap), CALL(mremap), CALL(madvise),
    CALL_IF_BOTH(mmap, LACKS(2, PROT_EXEC), HAS(3, MAP_ANONYMOUS)),
    CALL_IF(mprotect, LACKS(2, PROT_EXEC)),
    /* Threads: all are there, but may be at their very beginning; malloc counts processors. */
    CALL(set_robust_list), CALL(rseq), CALL(futex), CALL(sched_yield), CALL(sched_getaffinity),
    CALL(exit),
    /* Workers give way to the loop: only the calling thread's own priority. */
    CALL_IF_BOTH(getpriority, IS(0, PRIO_PROCESS), IS(1, 0)),
    CALL_IF_BOTH(setpriority, IS(0, PRIO_PROCESS), IS(1, 0)),
    /* Signals that end the service; raise and abort (with tgkill, below); the end. */
    CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(restart_syscall),
    CALL(getpid), CALL(gettid), CALL(exit_group),
    /* The C library's qsort asks how much memory there is before it sorts more than 1024 bytes. */
    CALL(sysinfo),
    /* Clocks, where the kernel does not let user space read them; random request ids. */
    CALL(clock_gettime), CALL(clock_getres), CALL(gettimeofday), CALL(time), CALL(getrandom),
};
// clang-format on

/* Asked for, but the answer "no" does no harm. */
static const struct {
    int number, error;
} refused[] = {
    /* malloc looks for /proc/sys/vm/overcommit_memory when a thread's heap shrinks, and for
     * /sys/devices/system/cpu/online before its ninth arena. */
    {SCMP_SYS(openat), ENOENT},
};

#define ALLOWED_N (sizeof allowed / sizeof allowed[0])
#define REFUSED_N (sizeof refused / sizeof refused[0])
_Static_assert(ALLOWED_N + 1 <= CALLS_MAX, "the list stays short");

/* Zero or a negative errno, as libseccomp has it. */
static int filter_calls(scmp_filter_ctx filter)
{
    int status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);

    for (size_t i = 0; i < ALLOWED_N && status == 0; i++)
        status = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, allowed[i].number,
                                        allowed[i].arguments_n, allowed[i].arguments);
    for (size_t i = 0; i < REFUSED_N && status == 0; i++)
        status = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO((uint32_t)refused[i].error),
                                        refused[i].number, 0, NULL);
    if (status == 0) /* raise: to ourselves only */
        status = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                        &(struct scmp_arg_cmp)IS(0, getpid()));
    return status;
}

/* A ring takes orders past any filter. libuv 1.45 and later make one when a loop begins, and do
 * without where there are none. */
static int filter_rings(scmp_filter_ctx filter)
{
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_uring_setup), 0,
                                  NULL);
}

static int filter_load(uint32_t otherwise, int (*fill)(scmp_filter_ctx filter))
{
    scmp_filter_ctx filter = seccomp_init(otherwise);

    if (!filter)
        return -ENOMEM;
    seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1); /* errors are the kernel's */
    int status = fill(filter);
    if (status == 0)
        status = seccomp_load(filter);
    seccomp_release(filter);
    return status;
}

/* Zero, or the errno that stands for it, when there are filters that end a process: Linux 4.14 with
 * CONFIG_SECCOMP_FILTER. Where there are filters, one at no address is a bad address. */
static int filters_missing(void)
{
    const uint32_t action = SECCOMP_RET_KILL_PROCESS;

    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 && errno != EFAULT)
        return errno;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 ? 0 : errno;
}

/* Why there is to be no sandbox, or NULL. */
static const char *reason_without(void)
{
    if (SANDBOX_INSTRUMENTED)
        return "an instrumented build needs more system calls";
    int error = filters_missing();
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP
               ? "this kernel has no seccomp filters"
               : NULL;
}

static bool filter_enter(uint32_t otherwise, int (*fill)(scmp_filter_ctx filter))
{
    int error = filters_missing();

    if (error == 0)
        error = -filter_load(otherwise, fill);
    if (error != 0)
        fprintf(stderr, "posencd: cannot enter the sandbox: %s; --no-sandbox goes without it\n",
                strerror(error));
    return error == 0;
}

bool sandbox_prepare(void)
{
    return reason_without() || filter_enter(SCMP_ACT_ALLOW, filter_rings);
}

bool sandbox_enter(void)
{
    const char *reason = reason_without();
    struct log_line line;

    tzset(); /* reads a file the first time; the log's gmtime_r would do it later */
    if (!reason && !filter_enter(SCMP_ACT_KILL_PROCESS, filter_calls))
        return false;
    log_begin(&line, "sandbox");
    log_str(&line, "state", reason ? "off" : "on");
    if (reason)
        log_str(&line, "because", reason);
    log_end(&line);
    return true;
}
