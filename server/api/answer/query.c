// SPDX-License-Identifier: Apache-2.0
/* query.c: writes query strings. Reading them is the http layer's business. */
#include <string.h>

#include "api.h"

/* What RFC 3986 allows in a query, without what separates parameters or upsets a shell or HTML. */
static bool stays(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("-._~:,;@/!$()*+=", c));
}

static void append_encoded(struct buf *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (stays(*c))
            buf_putc(out, *c);
        else
            buf_printf(out, "%%%02X", (unsigned char)*c);
}

void api_query_append(struct buf *out, const char *name, const char *value)
{
    bool begun = out->len > 0 && memchr(out->data, '?', out->len);

    buf_putc(out, begun ? '&' : '?');
    append_encoded(out, name);
    buf_putc(out, '=');
    append_encoded(out, value);
}
