// SPDX-License-Identifier: Apache-2.0
/*
 * test_sandbox.c: children enter the sandbox and then do something: what serving does not need ends
 * them with SIGSYS, what it needs works. And kernels that have no filters, or forbid them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "sandbox.h"

TestSuite(sandbox, .timeout = 60);

#define REFUSED 3 /* exit status of a child that could not enter */

static int prepared; /* a descriptor opened before the sandbox is entered */

/* Exit status, or minus the signal, of a child that runs `before`, enters and runs `after`. */
static int child(int (*before)(void), int (*after)(void))
{
    int status = 0;
    pid_t pid = fork();

    cr_assert_geq(pid, 0);
    if (pid == 0) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        log_set_format(LOG_OFF);
        if (before && before() != 0)
            _exit(REFUSED);
        _exit(sandbox_enter() ? after() : REFUSED);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- Forbidden ----------------------------------------------------------------------------- */

static int open_self(void)
{
    prepared = open("/proc/self/exe", O_RDONLY);
    return prepared < 0;
}

static int call_execve(void)
{
    char *const none[] = {NULL};
    return execve("/bin/true", none, none);
}

static int call_fork(void)
{
    return fork() == 0;
}

static void *run_nothing(void *unused)
{
    return unused;
}

static int call_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, run_nothing, NULL);
}

static int call_ptrace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static int call_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, 0) < 0;
}

static int call_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0;
}

static int call_unlink(void)
{
    return unlink("/nowhere/at/all");
}

static int call_kill(void)
{
    return kill(getppid(), 0);
}

static int call_tgkill(void)
{
    return syscall(SYS_tgkill, 1, 1, 0) == 0;
}

static int call_mmap_file(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, prepared, 0) == MAP_FAILED;
}

static int call_mmap_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
           MAP_FAILED;
}

static int call_mprotect_code(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(at, 4096, PROT_READ | PROT_EXEC);
}

static int call_setrlimit(void)
{
    const struct rlimit limit = {64, 64};
    return setrlimit(RLIMIT_NOFILE, &limit);
}

static int call_dumpable(void)
{
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int call_lock_filter(void)
{
    int on = 1;
    return setsockopt(0, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on);
}

static int call_setuid(void)
{
    return setuid(getuid());
}

static int call_io_uring(void)
{
    return syscall(SYS_io_uring_setup, 1, NULL) == 0;
}

static int call_bpf(void)
{
    return syscall(SYS_bpf, 0, NULL, 0) == 0;
}

static int call_memfd(void)
{
    return memfd_create("code", 0) < 0;
}

static int call_unknown(void)
{
    return syscall(5000) == 0;
}

static const struct {
    const char *what;
    int (*call)(void);
} forbidden[] = {
    {"execve", call_execve},
    {"fork", call_fork},
    {"a thread", call_thread},
    {"ptrace", call_ptrace},
    {"a netlink socket", call_netlink},
    {"a TCP socket", call_socket},
    {"unlink", call_unlink},
    {"kill", call_kill},
    {"tgkill of another process", call_tgkill},
    {"mmap of a file", call_mmap_file},
    {"mmap of code", call_mmap_code},
    {"mprotect to code", call_mprotect_code},
    {"setrlimit", call_setrlimit},
    {"another prctl", call_dumpable},
    {"another socket option", call_lock_filter},
    {"setuid", call_setuid},
    {"io_uring", call_io_uring},
    {"bpf", call_bpf},
    {"memfd_create", call_memfd},
    {"a call that does not exist", call_unknown},
};

static void skip_without_sandbox(void)
{
    if (SANDBOX_INSTRUMENTED)
        cr_skip_test("an instrumented build has no sandbox");
}

Test(sandbox, what_serving_does_not_need_ends_the_process)
{
    skip_without_sandbox();
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        int status = child(open_self, forbidden[i].call);
        cr_expect_eq(status, -SIGSYS, "%s: %d", forbidden[i].what, status);
    }
}

/* What io_uring_setup fails with. */
static int ring_error(void)
{
    char params[512] = "";

    return syscall(SYS_io_uring_setup, 1, params) >= 0 ? 0 : errno;
}

static int prepare_and_make_ring(void)
{
    return !sandbox_prepare() || ring_error() != ENOSYS;
}

static int nothing(void)
{
    return 0;
}

Test(sandbox, nothing_opened_before_leads_around_it)
{
    skip_without_sandbox();
    cr_expect_eq(child(prepare_and_make_ring, nothing), 0);
}

/* ---- Threads ------------------------------------------------------------------------------- */

static int go[2]; /* a thread reads its order from here */

static void *wait_and_call(void *unused)
{
    char order;

    (void)unused;
    if (read(go[0], &order, 1) == 1)
        call_netlink();
    return NULL;
}

static int start_thread(void)
{
    pthread_t thread;

    return pipe2(go, O_CLOEXEC) != 0 || pthread_create(&thread, NULL, wait_and_call, NULL) != 0;
}

static int order_thread(void)
{
    for (;;)
        if (write(go[1], "", 1) != 1)
            return 1;
}

Test(sandbox, threads_of_before_are_confined)
{
    skip_without_sandbox();
    cr_expect_eq(child(start_thread, order_thread), -SIGSYS);
}

/* ---- Allowed ------------------------------------------------------------------------------- */

#define THREADS_N 24 /* more than malloc makes arenas for before it counts processors */
static pthread_barrier_t barrier;
static pthread_t threads[THREADS_N];

/* Memory of a heap of its own, grown, mapped, enlarged, shrunk. */
static void *allocate(void *unused)
{
    char *pieces[64];

    (void)unused;
    pthread_barrier_wait(&barrier);
    char *large = malloc(1 << 20);
    for (size_t i = 0; i < 64; i++)
        pieces[i] = calloc(1, 100000);
    large = realloc(large, 64 << 20);
    free(large);
    for (size_t i = 64; i-- > 0;)
        free(pieces[i]);
    return NULL;
}

static int start_threads(void)
{
    pthread_barrier_init(&barrier, NULL, THREADS_N + 1);
    for (size_t i = 0; i < THREADS_N; i++)
        if (pthread_create(&threads[i], NULL, allocate, NULL) != 0)
            return 1;
    return 0;
}

static int work_in_threads(void)
{
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREADS_N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* A file is not there, rather than forbidden: the C library looks for some. */
static int open_file(void)
{
    return open("/proc/self/exe", O_RDONLY) >= 0 || errno != ENOENT;
}

static int end_by_signal(void)
{
    signal(SIGTERM, SIG_DFL);
    return raise(SIGTERM);
}

static int end_by_abort(void)
{
    abort();
}

static int open_sockets(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    prepared = socket(AF_INET, SOCK_STREAM, 0);
    return bind(prepared, (const struct sockaddr *)&any, sizeof any) != 0 ||
           listen(prepared, 1) != 0;
}

static int use_sockets(void)
{
    const struct linger drop = {.l_onoff = 1};
    struct tcp_info info;
    socklen_t size = sizeof info;
    int on = 1;

    return setsockopt(prepared, SOL_SOCKET, SO_LINGER, &drop, sizeof drop) != 0 ||
           setsockopt(prepared, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
           getsockopt(prepared, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
           shutdown(prepared, SHUT_RDWR) != 0 || close(prepared) != 0;
}

static const struct {
    const char *what;
    int (*before)(void), (*after)(void), status;
} permitted[] = {
    {"threads and their memory", start_threads, work_in_threads, 0},
    {"looking for a file", NULL, open_file, 0},
    {"socket options", open_sockets, use_sockets, 0},
    {"raise", NULL, end_by_signal, -SIGTERM},
    {"abort", NULL, end_by_abort, -SIGABRT},
};

Test(sandbox, what_serving_needs_works)
{
    skip_without_sandbox();
    for (size_t i = 0; i < sizeof permitted / sizeof permitted[0]; i++) {
        int status = child(permitted[i].before, permitted[i].after);
        cr_expect_eq(status, permitted[i].status, "%s: %d", permitted[i].what, status);
    }
}

/* ---- Kernels ------------------------------------------------------------------------------- */

/* A kernel that answers requests for filters with an error: one more filter makes it. */
static int kernel_with(int prctl_error, int seccomp_error)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

    seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)seccomp_error), SCMP_SYS(seccomp), 0);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)prctl_error), SCMP_SYS(prctl), 1,
                     (struct scmp_arg_cmp){0, SCMP_CMP_EQ, PR_SET_SECCOMP, 0});
    return seccomp_load(filter);
}

static int kernel_without_seccomp(void)
{
    return kernel_with(EINVAL, ENOSYS);
}

static int kernel_that_cannot_end_processes(void)
{
    return kernel_with(EFAULT, EINVAL);
}

static int kernel_that_forbids(void)
{
    return kernel_with(EPERM, EPERM);
}

Test(sandbox, a_kernel_without_filters_is_served_on_a_refusal_is_not)
{
    skip_without_sandbox();
    cr_expect_eq(child(kernel_without_seccomp, nothing), 0);
    cr_expect_eq(child(kernel_that_cannot_end_processes, nothing), 0);
    cr_expect_eq(child(kernel_that_forbids, nothing), REFUSED);
}

Test(sandbox, an_instrumented_build_goes_without)
{
    cr_expect_eq(child(NULL, call_socket), SANDBOX_INSTRUMENTED ? 0 : -SIGSYS);
}
