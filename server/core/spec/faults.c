// SPDX-License-Identifier: Apache-2.0
/*
 * faults.c: the list of mistakes of one request. What a mistake is called and how it reaches the
 * client is the caller's business.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "posenc.h"

/* Drops a UTF-8 sequence that truncation cut in two. */
static void cut_partial_utf8(char *text)
{
    size_t len = strlen(text);
    size_t start = len;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t needs = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (len - (start - 1) < needs)
        text[start - 1] = '\0';
}

static void set_text(char *out, size_t size, const char *text)
{
    if (snprintf(out, size, "%s", text) >= (int)size)
        cut_partial_utf8(out);
}

bool pe_fault_add(struct pe_faults *faults, enum pe_status status, const char *param,
                  const char *hint, const char *format, ...)
{
    size_t i = faults->n++;
    if (i >= PE_FAULTS_MAX)
        return false;
    struct pe_fault *fault = &faults->item[i];
    fault->status = status;
    set_text(fault->param, sizeof fault->param, param);
    set_text(fault->hint, sizeof fault->hint, hint ? hint : "");
    va_list args;
    va_start(args, format);
    if (vsnprintf(fault->detail, sizeof fault->detail, format, args) >= (int)sizeof fault->detail)
        cut_partial_utf8(fault->detail);
    va_end(args);
    return false;
}
