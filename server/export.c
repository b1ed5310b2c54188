// SPDX-License-Identifier: Apache-2.0
/*
 * export.c: see export.h. A file gets its name once all of it is on the disk, so that a folder
 * never holds half of one under its name.
 */
#include "export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures.h"
#include "settings.h"

#define EXIT_SERVICE 70

struct folder {
    const char *path;
    int fd;
    bool differs;
};

static bool complain(const struct folder *folder, const char *name, const char *what)
{
    fprintf(stderr, "posencd: %s/%s: %s\n", folder->path, name, what);
    return false;
}

static bool write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Under another name first. */
static bool file_write(const struct folder *folder, const char *name, const char *data, size_t len)
{
    char draft[160];

    snprintf(draft, sizeof draft, ".%s.%ld", name, (long)getpid());
    int fd = openat(folder->fd, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return complain(folder, name, strerror(errno));
    bool ok = write_all(fd, data, len) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    ok = ok && renameat(folder->fd, draft, folder->fd, name) == 0;
    if (ok)
        return true;
    complain(folder, name, strerror(errno));
    unlinkat(folder->fd, draft, 0);
    return false;
}

/* Whether an open file has exactly these bytes. */
static bool file_is(int fd, const char *data, size_t len)
{
    char piece[4096];
    ssize_t n;

    while ((n = read(fd, piece, sizeof piece)) > 0) {
        if ((size_t)n > len || memcmp(piece, data, (size_t)n) != 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return n == 0 && len == 0;
}

static bool file_take(void *context, const char *name, const char *data, size_t len)
{
    struct folder *folder = context;
    int fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno != ENOENT)
        return complain(folder, name, strerror(errno));
    if (fd < 0)
        return file_write(folder, name, data, len);
    if (!file_is(fd, data, len)) {
        complain(folder, name, "differs from the fixture of this version; kept as it is");
        folder->differs = true;
    }
    close(fd);
    return true;
}

/* Makes the folder if need be; false without one. */
static bool folder_open(struct folder *folder)
{
    if (mkdir(folder->path, 0755) == 0 || errno == EEXIST)
        folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        fprintf(stderr, "posencd: %s: %s\n", folder->path, strerror(errno));
    return folder->fd >= 0;
}

static int files_export(const struct config *config, struct app *app, struct folder *folder)
{
    struct budget memory;
    const struct local_limits limits = settings_local(config, &memory);
    struct err err = {0};
    bool ok = fixture_files(app, &limits, &err, file_take, folder) && fsync(folder->fd) == 0;

    if (err.n > 0)
        fprintf(stderr, "posencd: %s\n", err.item[0].detail);
    return err.n > 0 ? EXIT_SERVICE : ok && !folder->differs ? EXIT_SUCCESS : EXIT_FAILURE;
}

int export_fixtures(const struct config *config)
{
    const struct app_options options = settings_app(config);
    struct folder folder = {.path = config->export_fixtures, .fd = -1};

    if (!folder_open(&folder))
        return EXIT_FAILURE;
    struct app *app = app_new(&options);
    int status = app ? files_export(config, app, &folder) : EXIT_SERVICE;
    app_free(app);
    close(folder.fd);
    return status;
}
