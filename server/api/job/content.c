// SPDX-License-Identifier: Apache-2.0
/* content.c: the test vectors of content=, seed= and gain=. */
#include "content.h"

#include <stdlib.h>
#include <string.h>

bool content_read(struct job *job, size_t dim, struct content *content)
{
    static const char *const names[] = {"random", "uniform", "ones", "same"};
    const struct pe_value *value = job_key(job, "content");
    const char *text = value->text ? value->text : "";
    *content = (struct content){.dim = dim,
                                .seed = (uint64_t)job_key(job, "seed")->number,
                                .gain = job_key(job, "gain")->number};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            content->form = (enum content_form)i;
            return true;
        }
    if (strncmp(text, "unit:", 5) == 0 && text[5] >= '0' && text[5] <= '9') {
        char *end;
        unsigned long unit = strtoul(text + 5, &end, 10);
        content->form = CONTENT_UNIT;
        content->unit = unit;
        if (*end == '\0' && unit < dim)
            return true;
    }
    return err_add(&job->request->err, ERR_invalid_value, "content", NULL,
                   "content must be " CONTENT_CHOICES " with J below %zu; got \"%.40s\"", dim,
                   text);
}

void content_fill(const struct content *content, const char *stream, enum pe_dtype dtype,
                  size_t first, size_t n, void *out)
{
    switch (content->form) {
    case CONTENT_RANDOM:
    case CONTENT_UNIFORM:
    case CONTENT_SAME:
        pe_fill_random(content->seed, content->form == CONTENT_SAME ? "q" : stream,
                       content->form == CONTENT_UNIFORM ? PE_CONTENT_UNIFORM : PE_CONTENT_NORMAL,
                       content->gain, first, n, dtype, out);
        break;
    case CONTENT_ONES:
    case CONTENT_UNIT:
        for (size_t i = 0; i < n; i++) {
            bool one = content->form == CONTENT_ONES || (first + i) % content->dim == content->unit;
            pe_store(dtype, out, i, one ? content->gain : 0);
        }
        break;
    }
}
