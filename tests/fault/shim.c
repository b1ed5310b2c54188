// SPDX-License-Identifier: Apache-2.0
/*
 * shim.c: loaded into a daemon by LD_PRELOAD: allocations and system calls fail when the test that
 * shares `struct faults` says so. Without POSENC_FAULTS nothing fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults.h"

static struct faults nothing;
static struct faults *faults = &nothing;

__attribute__((constructor)) static void faults_map(void)
{
    const char *path = getenv("POSENC_FAULTS");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *page =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (page == MAP_FAILED)
        return;
    atomic_fetch_add(&((struct faults *)page)->blocks, faults->blocks);
    faults = page;
}

/* Whether this call is one that fails; errno is set then. */
static bool fails(enum fault_call call)
{
    struct fault *fault = &faults->of[call];
    if (atomic_load(&fault->fails) == 0 || atomic_fetch_sub(&fault->after, 1) > 0 ||
        atomic_fetch_sub(&fault->fails, 1) <= 0)
        return false;
    errno = (int)atomic_load(&fault->error);
    return true;
}

/* ---- Memory -------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void *counted(void *block)
{
    atomic_fetch_add(&faults->blocks, block != NULL);
    return block;
}

void *malloc(size_t size)
{
    return fails(FAULT_alloc) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t nmemb, size_t size)
{
    return fails(FAULT_alloc) ? NULL : counted(__libc_calloc(nmemb, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(FAULT_alloc) ? NULL : counted(__libc_memalign(alignment, size));
}

void *realloc(void *ptr, size_t size)
{
    if (!ptr)
        return malloc(size);
    return fails(FAULT_alloc) ? NULL : __libc_realloc(ptr, size);
}

void free(void *ptr)
{
    atomic_fetch_sub(&faults->blocks, ptr != NULL);
    __libc_free(ptr);
}

/* ---- System calls -------------------------------------------------------------------------- */

/* libc's function under this one's name. */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

int accept4(int fd, struct sockaddr *addr, socklen_t *addr_len, int flags)
{
    return fails(FAULT_accept4) ? -1 : REAL(accept4)(fd, addr, addr_len, flags);
}

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
    return fails(FAULT_epoll_wait) ? -1 : REAL(epoll_wait)(epfd, events, maxevents, timeout);
}

/* Only adding needs what the kernel may not have. */
int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    bool failed = op == EPOLL_CTL_ADD && fails(FAULT_epoll_ctl);
    return failed ? -1 : REAL(epoll_ctl)(epfd, op, fd, event);
}

ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    if (!fails(FAULT_recv))
        return REAL(recv)(fd, buf, n, flags);
    return errno ? -1 : REAL(recv)(fd, buf, n > 0, flags);
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    if (!fails(FAULT_send))
        return REAL(send)(fd, buf, n, flags);
    return errno ? -1 : REAL(send)(fd, buf, n > 0, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (!fails(FAULT_sendmsg))
        return REAL(sendmsg)(fd, message, flags);
    if (errno)
        return -1;
    return REAL(send)(fd, message->msg_iov->iov_base, message->msg_iov->iov_len > 0, flags);
}
