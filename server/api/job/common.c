// SPDX-License-Identifier: Apache-2.0
/* common.c: see common.h. */
#include "common.h"

#include <string.h>

#include "job.h"

#define PIN_DIGITS      16
#define SEMANTICS_PARTS 3

const struct pe_param common_keys[COMMON_N] = {
    [COMMON_NUMBERS] = {"numbers", NULL, PE_ENUM, 0, 0, 0, 0, "shortest", "shortest exact hex bits",
                        NULL,
                        "How numbers are written: the fewest digits that come back; all digits of "
                        "the stored value; 0x1.8p+1; the bits as an unsigned integer."},
    [COMMON_SELECT] = {"select", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL | PE_SCALAR, NULL, NULL, NULL,
                       "The tensor that csv, txt, npy and bin give, by name; the main one without "
                       "it."},
    [COMMON_OVERFLOW] = {"overflow", NULL, PE_ENUM, 0, 0, 0, 0, "error", "error inf", NULL,
                         "Posted numbers beyond the range of their dtype: a mistake, or infinite."},
    [COMMON_DIALECT] = {"dialect", NULL, PE_ENUM, 0, 0, 0, PE_OPTIONAL, NULL, PE_DIALECTS, NULL,
                        "Sets what this library does where others do otherwise: keys of the "
                        "encoding and the request; one that is given goes before it. /help lists "
                        "them."},
    [COMMON_PIN] = {"pin", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL | PE_SCALAR, NULL, NULL, NULL,
                    "The first 16 hex digits of the answer's SHA-256 (Repr-Digest): refuse to "
                    "answer with other bytes."},
    [COMMON_SEMANTICS] = {"semantics", NULL, PE_TEXT, 0, 0, 0, PE_OPTIONAL | PE_SCALAR, NULL, NULL,
                          NULL,
                          "The semantics version expected, such as 1 or 1.0.0: refuse to answer "
                          "with another."},
};

bool common_differs(const struct job *job, enum common row)
{
    const struct pe_value *value = &job->common.value[row];
    return value->set && (value->text || value->number != 0);
}

static const char *common_text(const struct job *job, enum common row)
{
    return job->common.value[row].set ? job->common.value[row].text : NULL;
}

static bool is_pin(const char *text)
{
    return strspn(text, "0123456789abcdef") == PIN_DIGITS && text[PIN_DIGITS] == '\0';
}

/* 1, 1.0 or 1.0.0 */
static bool is_version(const char *text)
{
    for (int part = 0; part < SEMANTICS_PARTS; part++) {
        size_t digits = strspn(text, "0123456789");
        text += digits;
        if (digits == 0 || digits > 9)
            return false;
        if (*text == '\0')
            return true;
        if (*text++ != '.')
            return false;
    }
    return false;
}

static bool check_form(struct job *job, enum common row, bool (*is_form)(const char *),
                       const char *form)
{
    const char *text = common_text(job, row);
    if (!text || is_form(text))
        return true;
    return err_add(&job->request->err, ERR_invalid_value, job_where(job, common_keys[row].name),
                   NULL, "%s must be %s; got \"%.40s\"", common_keys[row].name, form, text);
}

static bool unused(struct job *job, enum common row, const char *because)
{
    return !job->common.value[row].given ||
           err_add(&job->request->err, ERR_conflicting_parameters,
                   job_where(job, common_keys[row].name), "leave it out",
                   "\"%s\" has no effect: %s", common_keys[row].name, because);
}

bool common_check(struct job *job)
{
    bool ok = check_form(job, COMMON_PIN, is_pin, "16 lower-case hex digits");
    ok = check_form(job, COMMON_SEMANTICS, is_version, "a version such as 1, 1.0 or 1.0.0") && ok;
    if (!job->has_doc)
        ok = unused(job, COMMON_OVERFLOW, "the request brings no numbers of its own") && ok;
    if (job->endpoint->specs_max == 0 && job->endpoint->document_max == 0)
        ok = unused(job, COMMON_DIALECT, "the request has no encoding") && ok;
    if (job->picture)
        ok = unused(job, COMMON_NUMBERS, "a picture rounds as it needs to") && ok;
    if (job->endpoint->describes[0] == '\0') {
        ok = unused(job, COMMON_NUMBERS, "the answer has no tensors") && ok;
        ok = unused(job, COMMON_SELECT, "the answer has no tensors") && ok;
    }
    return ok;
}
