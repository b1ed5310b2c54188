// SPDX-License-Identifier: Apache-2.0
/*
 * guard.c: see guard.h. Everything but head_read() is a pure function. Rules are grouped by the
 * thing they judge; each names what is wrong in words of the request.
 */
#include "guard.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

/* ---- Reading ------------------------------------------------------------------------------- */

static enum MHD_Result head_add(void *cls, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    struct head *head = cls;
    (void)kind;
    if (head->fields_n < HEAD_FIELDS_MAX)
        head->fields[head->fields_n] =
            (struct head_field){name, value ? value : "", name_len, value_len};
    head->fields_n++;
    return MHD_YES;
}

void head_read(struct head *head, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    head->bytes = info ? info->header_size : 0;
    head->fields_n = 0;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, head_add, head);
}

bool head_in_place(const struct head *head)
{
    uintptr_t at = (uintptr_t)head->method + strlen(head->method) + 1;
    bool in_place = (uintptr_t)head->url == at;

    at += strlen(head->target) + 1;
    in_place &= (uintptr_t)head->version == at;
    at += strlen("HTTP/1.1") + strlen("\r\n");
    for (size_t i = 0; i < head->fields_n; i++) {
        const struct head_field *field = &head->fields[i];
        in_place &= (uintptr_t)field->name == at;
        at = (uintptr_t)field->value + field->value_len + strlen("\r\n");
        in_place &= (uintptr_t)field->value > (uintptr_t)field->name + field->name_len;
    }
    return in_place && at + strlen("\r\n") == (uintptr_t)head->method + head->bytes;
}

/* ---- Characters ---------------------------------------------------------------------------- */

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_alnum(text[i]) && (text[i] == '\0' || !strchr("!#$%&'*+-.^_`|~", text[i])))
            return false;
    return len > 0;
}

static bool is_field_text(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < 0x20 && text[i] != '\t') || text[i] == 0x7f)
            return false;
    return true;
}

/* The value without blanks around it: libmicrohttpd 0.9 keeps those at the end. */
static size_t trimmed_len(const struct head_field *field)
{
    size_t len = field->value_len;
    while (len > 0 && (field->value[len - 1] == ' ' || field->value[len - 1] == '\t'))
        len--;
    return len;
}

static bool value_is(const struct head_field *field, const char *text)
{
    return trimmed_len(field) == strlen(text) && strncasecmp(field->value, text, strlen(text)) == 0;
}

/* ---- Rules --------------------------------------------------------------------------------- */

/* The only field of this name; *n counts them. */
static const struct head_field *head_find(const struct head *head, const char *name, size_t *n)
{
    const struct head_field *found = NULL;

    *n = 0;
    for (size_t i = 0; i < head->fields_n; i++)
        if (head->fields[i].name_len == strlen(name) &&
            strncasecmp(head->fields[i].name, name, strlen(name)) == 0) {
            found = &head->fields[i];
            ++*n;
        }
    return found;
}

static bool sizes_check(const struct head *head, struct err *err)
{
    size_t target = strlen(head->target);

    if (target > TARGET_BYTES_MAX)
        return err_add(err, ERR_uri_too_long, NULL, "post the request as JSON",
                       "the request target has %zu bytes, the limit is %d", target,
                       TARGET_BYTES_MAX);
    if (head->fields_n > HEAD_FIELDS_MAX)
        return err_add(err, ERR_headers_too_large, NULL, NULL,
                       "the request has %zu header fields, the limit is %d", head->fields_n,
                       HEAD_FIELDS_MAX);
    if (head->bytes > target && head->bytes - target > HEAD_BYTES_MAX)
        return err_add(err, ERR_headers_too_large, NULL, NULL,
                       "the header fields have %zu bytes, the limit is %d", head->bytes - target,
                       HEAD_BYTES_MAX);
    return true;
}

static bool line_check(const struct head *head, struct err *err)
{
    if (!is_token(head->method, strlen(head->method)))
        return err_add(err, ERR_bad_request, NULL, NULL, "the request method is not a token");
    for (const char *c = head->target; *c; c++)
        if (*c <= 0x20 || *c >= 0x7f || *c == '#')
            return err_add(err, ERR_bad_request, NULL, "percent-encode what is not plain ASCII",
                           "the request target has a byte 0x%02x at offset %zu", (unsigned char)*c,
                           (size_t)(c - head->target));
    if (strcmp(head->target, "*") == 0 && strcmp(head->method, "OPTIONS") != 0)
        return err_add(err, ERR_bad_request, NULL, NULL, "the target * belongs to OPTIONS");
    return true;
}

static bool fields_check(const struct head *head, struct err *err)
{
    for (size_t i = 0; i < head->fields_n; i++) {
        const struct head_field *field = &head->fields[i];
        if (!is_token(field->name, field->name_len))
            return err_add(err, ERR_bad_request, NULL, "no blank may stand before the colon",
                           "the name of header field %zu is not a token", i + 1);
        if (!is_field_text(field->value, field->value_len))
            return err_add(err, ERR_bad_request, NULL, NULL,
                           "header field %s holds a control character", field->name);
    }
    return true;
}

/* host [":" port]; the host a name, an IPv4 address or an IPv6 address in brackets. */
static bool is_host(const char *text, size_t len)
{
    size_t at = 0, digits = 0;
    unsigned port = 0;

    if (len > 0 && text[0] == '[') {
        for (at = 1; at < len && (is_alnum(text[at]) || strchr(":.", text[at])); at++)
            continue;
        if (at == 1 || at == len || text[at++] != ']')
            return false;
    } else {
        while (at < len && (is_alnum(text[at]) || strchr("-._~", text[at])))
            at++;
    }
    if (at == len)
        return len > 0;
    if (text[at++] != ':' || at == 1)
        return false;
    for (; at < len && text[at] >= '0' && text[at] <= '9' && digits < 6; at++, digits++)
        port = port * 10 + (unsigned)(text[at] - '0');
    return at == len && port <= 65535;
}

static bool host_check(const struct head *head, struct err *err)
{
    size_t n;
    const struct head_field *host = head_find(head, "Host", &n);

    if (n == 0 && strcmp(head->version, "HTTP/1.0") != 0)
        return err_add(err, ERR_bad_request, NULL, NULL, "header field Host is missing");
    if (n > 1)
        return err_add(err, ERR_bad_request, NULL, NULL, "header field Host is given %zu times", n);
    if (n == 1 && !is_host(host->value, trimmed_len(host)))
        return err_add(err, ERR_bad_request, NULL, NULL,
                       "header field Host is not a host name with an optional port");
    return true;
}

/* Content-Length as digits only; too large for size_t is ERR_body_too_large. */
static bool length_parse(const struct head_field *field, size_t *length, struct err *err)
{
    size_t len = trimmed_len(field);
    bool overflow = false;

    *length = 0;
    for (size_t i = 0; i < len; i++) {
        if (field->value[i] < '0' || field->value[i] > '9')
            len = 0;
        else
            overflow |= __builtin_mul_overflow(*length, 10, length) ||
                        __builtin_add_overflow(*length, (size_t)(field->value[i] - '0'), length);
    }
    if (len == 0)
        return err_add(err, ERR_bad_request, NULL, NULL,
                       "header field Content-Length is not a number of bytes");
    if (overflow)
        return err_add(err, ERR_body_too_large, NULL, NULL,
                       "header field Content-Length is beyond any body");
    return true;
}

static bool framing_check(const struct head *head, struct framing *framing, struct err *err)
{
    size_t lengths, codings;
    const struct head_field *length = head_find(head, "Content-Length", &lengths);
    const struct head_field *coding = head_find(head, "Transfer-Encoding", &codings);

    *framing = (struct framing){0};
    if (lengths > 1)
        return err_add(err, ERR_bad_request, NULL, NULL,
                       "header field Content-Length is given %zu times", lengths);
    if (lengths && codings)
        return err_add(err, ERR_bad_request, NULL, "send one of the two",
                       "Content-Length and Transfer-Encoding contradict each other");
    if (lengths)
        return length_parse(length, &framing->length, err);
    if (!codings)
        return true;
    if (strcmp(head->version, "HTTP/1.0") == 0)
        return err_add(err, ERR_bad_request, NULL, NULL, "HTTP/1.0 has no Transfer-Encoding");
    if (codings > 1 || coding->value_len != strlen("chunked") || !value_is(coding, "chunked"))
        return err_add(err, codings > 1 ? ERR_bad_request : ERR_not_implemented, NULL, NULL,
                       "header field Transfer-Encoding is not just \"chunked\"");
    framing->chunked = true;
    return true;
}

static bool content_check(const struct head *head, struct framing *framing, struct err *err)
{
    size_t n;
    const struct head_field *coding;

    head_find(head, "Content-Type", &n);
    if (n > 1)
        return err_add(err, ERR_bad_request, NULL, NULL,
                       "header field Content-Type is given %zu times", n);
    coding = head_find(head, "Content-Encoding", &n);
    framing->gzip = n == 1 && (value_is(coding, "gzip") || value_is(coding, "x-gzip"));
    if (n > 1 || (n == 1 && !framing->gzip && !value_is(coding, "identity")))
        return err_add(err, ERR_unsupported_media_type, "Content-Encoding",
                       "send the body as it is, or in gzip",
                       "of content codings gzip is read, once; got \"%.60s\"%s", coding->value,
                       n > 1 ? " and more" : "");
    return true;
}

static bool shape_check(const struct head *head, struct err *err)
{
    if (MHD_VERSION < 0x01000000 && !head_in_place(head))
        return err_add(err, ERR_bad_request, NULL, NULL,
                       "the head has folded lines, zero bytes, bare line feeds or surplus blanks");
    return true;
}

bool guard_check(const struct head *head, struct framing *framing, struct err *err)
{
    return sizes_check(head, err) && line_check(head, err) && fields_check(head, err) &&
           shape_check(head, err) && host_check(head, err) && framing_check(head, framing, err) &&
           content_check(head, framing, err);
}

bool guard_check_unframed(const struct head *head, struct framing *framing, struct err *err)
{
    *framing = (struct framing){0};
    return sizes_check(head, err) && line_check(head, err) && fields_check(head, err) &&
           content_check(head, framing, err);
}

/* ---- Chunks -------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool guard_check_chunk(const char *start, const char *data, size_t room, struct err *err)
{
    size_t before = (uintptr_t)data - (uintptr_t)start, len = 1, size = 0, digits = 0;

    if (before == 0)
        return true;
    while (len < before && len <= CHUNK_LINE_MAX && data[-(ptrdiff_t)len - 1] != '\n')
        len++;
    const char *line = data - len;
    if (len > CHUNK_LINE_MAX || len < 2 || line[len - 2] != '\r' ||
        !is_field_text(line, len - strlen("\r\n")))
        return err_add(err, ERR_bad_request, NULL, NULL,
                       "a chunk line is too long, or ends or holds what it must not");
    for (; hex_value(line[digits]) >= 0; digits++) {
        if (size > SIZE_MAX >> 4)
            room = 0;
        size = size << 4 | (size_t)hex_value(line[digits]);
    }
    if (size > room)
        return err_add(err, ERR_body_too_large, NULL, NULL, "a chunk is larger than any body");
    return true;
}
