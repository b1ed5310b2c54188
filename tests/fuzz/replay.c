// SPDX-License-Identifier: Apache-2.0
/*
 * replay.c: runs a fuzz target over stored inputs, without libFuzzer, so that every compiler and
 * sanitizer sees what fuzzing started from and what it has found. Arguments are files or folders
 * of files. A target fails by crashing, so to arrive at the closing line is to pass.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The whole file in memory of exactly its size, so that a sanitizer sees a read past the end. */
static bool run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0) {
        perror(path);
        return false;
    }
    size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size ? size : 1);
    bool ok = data && fread(data, 1, size, file) == size;
    if (ok)
        LLVMFuzzerTestOneInput(data, size);
    else
        fprintf(stderr, "%s: cannot be read\n", path);
    free(data);
    fclose(file);
    return ok;
}

static void run_path(const char *path, size_t *passed, size_t *failed)
{
    DIR *folder = opendir(path);
    if (!folder) {
        *(run_file(path) ? passed : failed) += 1;
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        *(run_file(name) ? passed : failed) += 1;
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    size_t passed = 0;
    size_t failed = 0;
    for (int i = 1; i < argc; i++)
        run_path(argv[i], &passed, &failed);
    printf("%s: %zu passed, %zu failed\n", argv[0], passed, failed);
    return failed != 0;
}
