// SPDX-License-Identifier: Apache-2.0
/* eval.c: see eval.h. All is opened and read before the sandbox, in which the request is answered.
 */
#include "eval.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "sandbox.h"
#include "settings.h"

#define EXIT_USAGE   2
#define EXIT_REQUEST 22 /* as curl --fail */
#define EXIT_SERVICE 70 /* EX_SOFTWARE */
#define BODY_ALIGN   64
#define BODY_FIRST   ((size_t)64 << 10)
#define NAME_BYTES   128
#define FIELDS_MAX   (CONFIG_LIST_MAX + 1)

/* ---- The body ------------------------------------------------------------------------------ */

struct body {
    char *data; /* NULL: none */
    size_t len, capacity;
};

static bool body_reserve(struct body *body, size_t capacity)
{
    size_t rounded = (capacity + BODY_ALIGN) / BODY_ALIGN * BODY_ALIGN;
    char *data = aligned_alloc(BODY_ALIGN, rounded);

    if (!data)
        return false;
    if (body->len > 0)
        memcpy(data, body->data, body->len);
    free(body->data);
    body->data = data;
    body->capacity = rounded;
    return true;
}

/* To the end, or past what a body may have: `len` is then more, and a file's is its size. */
static bool body_read(struct body *body, int fd, size_t len_max)
{
    struct stat facts;
    bool sized = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
    size_t size = sized ? (size_t)facts.st_size : BODY_FIRST;
    ssize_t n = 1;

    if (size > len_max)
        size = len_max;
    while (n > 0 && body->len <= len_max) {
        if (body->len + 1 > body->capacity &&
            !body_reserve(body, body->capacity ? 2 * body->capacity : size + 1))
            return false;
        n = read(fd, body->data + body->len, body->capacity - body->len);
        body->len += n > 0 ? (size_t)n : 0;
    }
    if (sized && body->len > len_max)
        body->len = (size_t)facts.st_size;
    return n >= 0;
}

/* What --data stands for: a text, @file, or @- for standard input. */
static bool body_find(struct body *body, const char *given, size_t len_max)
{
    if (!given)
        return true;
    if (given[0] != '@') {
        size_t len = strlen(given);
        if (!body_reserve(body, len))
            return false;
        memcpy(body->data, given, len);
        body->len = len;
        return true;
    }
    bool standard = strcmp(given, "@-") == 0;
    int fd = standard ? STDIN_FILENO : open(given + 1, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && body_read(body, fd, len_max);
    int error = errno;
    if (fd >= 0 && !standard)
        close(fd);
    errno = error;
    return ok;
}

/* Every npy file begins with its name; a safetensors file with the length of its header, of which
 * some of the eight bytes are zero. Anything else is text. */
static const char *media_type(const struct body *body)
{
    static const char npy[] = "\x93NUMPY";

    if (body->len >= sizeof npy - 1 && memcmp(body->data, npy, sizeof npy - 1) == 0)
        return "application/x-npy";
    return body->len >= 8 && memchr(body->data, '\0', 8) ? "application/x-safetensors"
                                                         : "application/json";
}

/* ---- The head ------------------------------------------------------------------------------ */

struct fields {
    struct header at[FIELDS_MAX];
    char names[CONFIG_LIST_MAX][NAME_BYTES];
    size_t n;
};

/* "Name: value" */
static bool field_add(struct fields *fields, const char *text)
{
    size_t len = strcspn(text, ":");
    char *name = fields->names[fields->n];

    if (text[len] != ':' || len >= NAME_BYTES) {
        fprintf(stderr, "posencd: --header: \"%s\" is not NAME: VALUE\n", text);
        return false;
    }
    memcpy(name, text, len);
    name[len] = '\0';
    const char *value = text + len + 1;
    fields->at[fields->n++] = (struct header){name, value + strspn(value, " \t")};
    return true;
}

static bool fields_find(struct fields *fields, const struct config_list *given,
                        const struct body *body)
{
    bool typed = false;

    for (size_t i = 0; i < given->n; i++) {
        if (!field_add(fields, given->at[i]))
            return false;
        typed |= strcasecmp(fields->at[i].name, "Content-Type") == 0;
    }
    if (body->data && !typed)
        fields->at[fields->n++] = (struct header){"Content-Type", media_type(body)};
    return true;
}

/* ---- The answer ---------------------------------------------------------------------------- */

struct output {
    int fd, error; /* errno of a write that failed */
};

static bool write_all(void *context, const char *data, size_t len)
{
    struct output *output = context;

    while (len > 0) {
        ssize_t n = write(output->fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            output->error = errno;
            return false;
        }
        data += n;
        len -= (size_t)n;
    }
    return true;
}

static int answer(const struct config *config, const struct local_call *call, struct app *app)
{
    const struct http_hooks hooks = app_hooks(app);
    struct budget memory;
    const struct local_limits limits = settings_local(config, &memory);
    struct request request;

    if (!local_begin(&request, &hooks, &limits, call))
        return EXIT_SERVICE;
    local_run(&request, &hooks);
    int status = request.response.status;
    struct output output = {.fd = status < 400 ? STDOUT_FILENO : STDERR_FILENO};
    bool whole = local_drain(&request, write_all, &output);
    local_end(&request);
    if (!whole)
        fprintf(stderr, "posencd: the answer breaks off: %s\n",
                output.error ? strerror(output.error) : "no memory, or past the deadline");
    return output.error              ? EXIT_FAILURE
           : !whole || status >= 500 ? EXIT_SERVICE
           : status >= 400           ? EXIT_REQUEST
                                     : EXIT_SUCCESS;
}

static int confined_answer(const struct config *config, const struct local_call *call)
{
    const struct app_options options = settings_app(config);

    log_set_format(LOG_OFF);
    if (!config->no_sandbox && !sandbox_enter())
        return EXIT_FAILURE;
    struct app *app = app_new(&options);
    int status = app ? answer(config, call, app) : EXIT_SERVICE;
    app_free(app);
    return status;
}

int eval(const struct config *config)
{
    struct body body = {0};
    struct fields fields = {.n = 0};
    int status = EXIT_USAGE;

    if (!body_find(&body, config->data, (size_t)config->body_max)) {
        fprintf(stderr, "posencd: --data %s: %s\n", config->data, strerror(errno));
        status = EXIT_FAILURE;
    } else if (fields_find(&fields, &config->header, &body)) {
        const struct local_call call = {
            .method = body.data ? "POST" : "GET",
            .target = config->eval,
            .fields = fields.at,
            .fields_n = fields.n,
            .body = body.data,
            .body_len = body.len,
        };
        status = confined_answer(config, &call);
    }
    free(body.data);
    return status;
}
