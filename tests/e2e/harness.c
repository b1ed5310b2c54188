// SPDX-License-Identifier: Apache-2.0
/* harness.c: see harness.h. */
#include "harness.h"

#include <criterion/criterion.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 32
#define REQUEST_S     60L

/* ---- The daemon ---------------------------------------------------------------------------- */

static const char *program(void)
{
    const char *path = getenv("POSENCD");
    cr_assert(path, "POSENCD does not name the daemon");
    return path;
}

static void append_arguments(const char *argv[ARGUMENTS_MAX], const char *const *more)
{
    size_t n = 0;

    while (argv[n])
        n++;
    for (size_t i = 0; more && more[i]; i++) {
        cr_assert_lt(n, ARGUMENTS_MAX - 1);
        argv[n++] = more[i];
    }
}

bool e2e_is_sanitized(void)
{
    struct stat info;
    const char *path = getenv("POSENCD");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    cr_assert(fd >= 0 && fstat(fd, &info) == 0);
    size_t size = (size_t)info.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    cr_assert(bytes != MAP_FAILED);
    bool found = memmem(bytes, size, "__asan_init", 11) || memmem(bytes, size, "__tsan_init", 11);
    munmap(bytes, size);
    close(fd);
    return found;
}

void e2e_start(struct e2e_daemon *daemon, const char *const *options)
{
    const char *argv[ARGUMENTS_MAX] = {
        program(), "--listen", "127.0.0.1:0", "--log-format", "off", "--ready-fd", "3"};
    char line[160] = "";
    int ready[2];

    append_arguments(argv, options);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
    daemon->pid = fork();
    cr_assert_geq(daemon->pid, 0);
    if (daemon->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ready[1] == 3)
            fcntl(3, F_SETFD, 0);
        else
            dup2(ready[1], 3);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(ready[1]);
    FILE *file = fdopen(ready[0], "r");
    cr_assert(file && fgets(line, sizeof line, file), "%s did not become ready", argv[0]);
    cr_assert_eq(fgetc(file), EOF, "more than one line from --ready-fd");
    fclose(file);
    cr_assert_eq(sscanf(line, "{\"url\":\"%79[^\"]\"}", daemon->url), 1, "%s", line);
    daemon->port = (int)strtol(strrchr(daemon->url, ':') + 1, NULL, 10);
}

void e2e_stop(struct e2e_daemon *daemon)
{
    int status = -1;

    kill(daemon->pid, SIGTERM);
    waitpid(daemon->pid, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the daemon ended with 0x%x",
              (unsigned)status);
}

int e2e_run(const char *const *arguments, const char *const *environment, char *out, size_t size)
{
    const char *argv[ARGUMENTS_MAX] = {program()};
    int ends[2], status = -1;
    size_t len = 0;

    append_arguments(argv, arguments);
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t i = 0; environment && environment[i]; i++)
            putenv((char *)environment[i]);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t n = 1; n > 0 && len + 1 < size; len += n > 0 ? (size_t)n : 0)
        n = read(ends[0], out + len, size - 1 - len);
    out[len] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The bytes of a file from its beginning, NUL-terminated. */
static char *file_bytes(int fd, size_t *len)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *bytes = calloc(1, (size_t)size + 1);

    cr_assert(bytes && pread(fd, bytes, (size_t)size, 0) == size);
    close(fd);
    *len = (size_t)size;
    return bytes;
}

struct e2e_run e2e_run_with(const char *const *arguments, const char *input, size_t input_len)
{
    const char *argv[ARGUMENTS_MAX] = {program()};

    append_arguments(argv, arguments);
    return e2e_pipe(argv, input, input_len);
}

struct e2e_run e2e_pipe(const char *const *argv, const char *input, size_t input_len)
{
    struct e2e_run run = {0};
    int streams[3], status = -1;

    for (int i = 0; i < 3; i++)
        cr_assert_geq(streams[i] = memfd_create("stream", MFD_CLOEXEC), 0);
    cr_assert_eq(pwrite(streams[0], input, input_len, 0), (ssize_t)input_len);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0; i < 3; i++)
            dup2(streams[i], i);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run.out = file_bytes(streams[1], &run.out_len);
    run.err = file_bytes(streams[2], &run.err_len);
    close(streams[0]);
    return run;
}

void e2e_run_free(struct e2e_run *run)
{
    free(run->out);
    free(run->err);
    *run = (struct e2e_run){0};
}

/* ---- Requests ------------------------------------------------------------------------------ */

struct text {
    char *data;
    size_t len;
};

/* libcurl's way of handing over what has come. */
static size_t collect(char *data, size_t size, size_t n, void *into)
{
    struct text *text = into;

    text->data = realloc(text->data, text->len + size * n + 1);
    if (!text->data)
        abort();
    memcpy(text->data + text->len, data, size * n);
    text->len += size * n;
    text->data[text->len] = '\0';
    return size * n;
}

/* ---- Record -------------------------------------------------------------------------------- */

#define RECORDED_BODY_MAX ((size_t)8 << 20) /* a larger one is recorded without */
#define RECORDED_MAX      4096              /* different answers of one test */

/* Whether an answer like it was recorded by this process; the file of all tests stays small. */
static bool seen(const char *line)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t digests[RECORDED_MAX];
    static size_t digests_n;
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    size_t i = 0;

    for (const char *c = line; *c; c++)
        digest = (digest ^ (unsigned char)*c) * UINT64_C(0x100000001b3); /* FNV-1a */
    pthread_mutex_lock(&lock);
    while (i < digests_n && digests[i] != digest)
        i++;
    bool found = i < digests_n;
    if (!found && digests_n < RECORDED_MAX)
        digests[digests_n++] = digest;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Fields that are of no interest for the contract, or differ from answer to answer. */
static bool is_passing(const char *name)
{
    return strcasecmp(name, "Date") == 0 || strcasecmp(name, "Connection") == 0;
}

static json_t *head_fields(const struct e2e_answer *answer)
{
    json_t *fields = json_object();

    for (const char *line = strstr(answer->head, "\r\n"); line; line = strstr(line, "\r\n")) {
        char name[64], value[1024];
        line += 2;
        if (sscanf(line, "%63[^:\r]: %1023[^\r]", name, value) != 2 || is_passing(name))
            continue;
        if (strcasecmp(name, "Server-Timing") == 0 || strcasecmp(name, "Request-Id") == 0)
            strcpy(value, "*");
        json_object_set_new(fields, name, json_string(value));
    }
    return fields;
}

/* Appends one line of JSON to the file that POSENC_ANSWERS names: what was asked, and what came.
 * Bodies are kept where they are JSON. */
static void record(const char *method, const char *target, const struct e2e_answer *answer)
{
    const char *path = getenv("POSENC_ANSWERS");
    char type[100] = "", coding[20];
    if (!path)
        return;

    e2e_field(answer, "Content-Type", type, sizeof type);
    bool kept = strstr(type, "json") && answer->body_len <= RECORDED_BODY_MAX &&
                !e2e_field(answer, "Content-Encoding", coding, sizeof coding);
    json_t *entry = json_pack("{s:s, s:s, s:i, s:o, s:s%}", "method", method, "target", target,
                              "status", answer->status, "head", head_fields(answer), "body",
                              kept ? answer->body : "", kept ? answer->body_len : (size_t)0);
    char *line = entry ? json_dumps(entry, JSON_COMPACT) : NULL;
    cr_assert(line, "%s %s: not UTF-8", method, target);
    json_decref(entry);
    if (!seen(line)) {
        size_t len = strlen(line);
        int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        cr_assert_geq(file, 0, "%s", path);
        line[len] = '\n'; /* in place of the NUL: tests run at the same time, each writes once */
        cr_assert_eq(write(file, line, len + 1), (ssize_t)(len + 1), "%s", path);
        close(file);
    }
    free(line);
}

struct e2e_answer e2e_request(const struct e2e_daemon *daemon, const char *method,
                              const char *target, const char *const *fields, const char *body,
                              size_t body_len)
{
    struct text head = {calloc(1, 1), 0}, content = {calloc(1, 1), 0};
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    CURL *curl = curl_easy_init();
    size_t url_size = strlen(daemon->url) + strlen(target) + 1;
    char *url = malloc(url_size);
    long status = 0;

    cr_assert(curl && url && list);
    snprintf(url, url_size, "%s%s", daemon->url, target);
    for (size_t i = 0; fields && fields[i]; i++)
        list = curl_slist_append(list, fields[i]);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, REQUEST_S);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &content);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &head);
    if (body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    CURLcode code = curl_easy_perform(curl);
    cr_assert_eq(code, CURLE_OK, "%s %s: %s", method, target, curl_easy_strerror(code));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(list);
    free(url);
    struct e2e_answer answer = {(int)status, head.data, content.data, content.len};
    record(method, target, &answer);
    return answer;
}

void e2e_answer_free(struct e2e_answer *answer)
{
    free(answer->head);
    free(answer->body);
    *answer = (struct e2e_answer){0};
}

bool e2e_field(const struct e2e_answer *answer, const char *name, char *value, size_t size)
{
    size_t len = strlen(name);

    for (const char *line = strstr(answer->head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, len) != 0 || line[len] != ':')
            continue;
        line += len + 1 + (line[len + 1] == ' ');
        snprintf(value, size, "%.*s", (int)strcspn(line, "\r"), line);
        return true;
    }
    return false;
}
