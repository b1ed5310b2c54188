// SPDX-License-Identifier: Apache-2.0
/*
 * properties.c: GET /v1/properties: what one wishes of an encoding, each property measured, with a
 * verdict.
 */
#include <math.h>
#include <string.h>

#include "content.h"
#include "keys.h"
#include "text.h"

#define DIM_OF_BIASES      64 /* of the q and k that biases are added to */
#define POSITIONS_MOST     4096
#define SENTENCE_BYTES_MAX ((size_t)4 << 10)
#define TEXT_BYTES_MAX     ((size_t)64 << 10)

static const struct pe_param keys[] = {
    {"positions", NULL, PE_TEXT, 0, 0, 0, 0, "0:128", NULL, NULL,
     "Positions whose codes are looked at, 2 to 4096; kinds with several axes stand there on all "
     "of "
     "them."},
    {"trained", NULL, PE_INT, 1, PE_POSITION_MAX, 0, 0, "64", NULL, NULL,
     "Length that a model was trained on: positions from there on are beyond it."},
    KEY_CONTENT(CONTENT_CHOICES, "random", 0),
    KEY_SEED,
    KEY_GAIN("1"),
};

struct own {
    struct position_lists positions;
    struct content content;
    size_t dim; /* of q and k */
    struct pe_properties core;
};

/* ---- Reading ------------------------------------------------------------------------------- */

static bool read_positions(struct job *job, struct own *own)
{
    if (!job_positions(job, "positions", NULL, 1, &own->positions))
        return false;
    size_t n = own->positions.list->n;
    if (n >= 2 && n <= POSITIONS_MOST)
        return true;
    return err_add(&job->request->err, n < 2 ? ERR_invalid_value : ERR_limit_exceeded, "positions",
                   "for example 0:128", "positions must be 2 to %d, got %zu", POSITIONS_MOST, n);
}

/* All places that something is measured at lie between the first and as far again behind the last,
 * or 64. */
static bool plan_positions(struct job *job, const struct own *own)
{
    static const double more[] = {0, 8, 24, 55};
    const struct pe_positions *list = own->positions.list;
    const size_t more_n = sizeof more / sizeof *more;
    double *at = job_alloc(job, 3 * list->n + more_n, sizeof *at);
    if (!at)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        at[3 * i] = list->at[0][i];
        at[3 * i + 1] = list->at[0][i] + 64;
        at[3 * i + 2] = 2 * list->at[0][list->n - 1] - list->at[0][i];
    }
    memcpy(at + 3 * list->n, more, sizeof more);
    job->plan_positions =
        (struct pe_positions){.axes = pe_spec_axes(&job->specs[0].spec), .n = 3 * list->n + more_n};
    for (size_t axis = 0; axis < job->plan_positions.axes; axis++)
        job->plan_positions.at[axis] = at;
    return true;
}

static bool prepare(struct job *job)
{
    struct own *own = job->own = arena_calloc(&job->request->arena, 1, sizeof *own);
    if (!own || !job_specs_finish(job))
        return false;
    const struct pe_spec *spec = &job->specs[0].spec;
    own->dim = pe_spec_dim(spec) ? pe_spec_dim(spec) : DIM_OF_BIASES;
    bool ok = read_positions(job, own);
    ok = content_read(job, own->dim, &own->content) && ok;
    if (!ok || !job_center(job, &own->positions) || !plan_positions(job, own))
        return false;
    size_t n = own->positions.list->n;
    struct output *output = job_output(job, "decay", PE_F64, 1, &n);
    output->axes[0] = (struct answer_axis){.name = "steps", .short_name = "steps"};
    return job_work(job, pe_properties_work(spec, n), "positions");
}

/* ---- Telling ------------------------------------------------------------------------------- */

static void found_tree(struct tree *readouts, const struct pe_wish_row *row,
                       const struct pe_property_found *found)
{
    struct tree *node = tree_object(readouts, row->name);
    if (found->verdict == PE_NO_MEANING) {
        tree_null(node, "holds");
        tree_string(node, "reason", found->reason);
        return;
    }
    tree_bool(node, "holds", found->verdict == PE_HOLDS);
    for (size_t i = 0; i < PE_WISH_NUMBERS_MAX && row->numbers[i]; i++)
        if (isnan(found->number[i]))
            tree_null(node, row->numbers[i]);
        else
            tree_number(node, row->numbers[i], found->number[i]);
    tree_string(node, "says", found->verdict == PE_HOLDS ? row->holds : row->fails);
}

/* "every position has a code of its own (smallest distance = 0.97, ...)" */
static void put_measured(struct buf *out, const struct pe_wish_row *row,
                         const struct pe_property_found *found)
{
    if (found->verdict == PE_NO_MEANING) {
        buf_puts(out, found->reason);
        return;
    }
    buf_puts(out, found->verdict == PE_HOLDS ? row->holds : row->fails);
    const char *before = " (";
    for (size_t i = 0; i < PE_WISH_NUMBERS_MAX && row->numbers[i]; i++) {
        if (isnan(found->number[i]))
            continue;
        buf_puts(out, before);
        for (const char *c = row->numbers[i]; *c; c++)
            buf_putc(out, *c == '_' ? ' ' : *c);
        buf_printf(out, found->number[i] == rint(found->number[i]) ? " = %.0f" : " = %.4g",
                   found->number[i]);
        before = ", ";
    }
    buf_puts(out, *before == ',' ? ")" : "");
}

/* Starts a line at `column`, whose text is wrapped there. */
static void put_wrapped(struct buf *out, size_t column, struct buf *from)
{
    buf_putc(from, '\0');
    if (from->failed)
        out->failed = true;
    else
        text_wrap(out, column, from->data);
    buf_putc(out, '\n');
    from->len = 0;
}

#define NAME_COLUMNS    18 /* "length_independent" */
#define VERDICT_COLUMNS 5
#define TEXT_COLUMN     (NAME_COLUMNS + VERDICT_COLUMNS + 2)

static const char *text_of(struct job *job)
{
    static const char *const verdicts[] = {
        [PE_FAILS] = "no", [PE_HOLDS] = "yes", [PE_NO_MEANING] = "-"};
    const struct own *own = job->own;
    const struct pe_kind *kind = job->specs[0].spec.kind;
    struct buf out, said;
    buf_init(&out, TEXT_BYTES_MAX);
    buf_init(&said, SENTENCE_BYTES_MAX);
    buf_printf(&out, "%s, measured at %zu positions:\n\n", job->specs[0].compact,
               own->core.measured_n);
    buf_printf(&out, "%-*s %-*s %s\n", NAME_COLUMNS, "property", VERDICT_COLUMNS, "holds",
               "measured");
    for (enum pe_wish wish = 0; wish < PE_WISHES_N; wish++) {
        const struct pe_wish_row *row = pe_wish_row(wish);
        const struct pe_property_found *found = &own->core.found[wish];
        buf_printf(&out, "%-*s %-*s ", NAME_COLUMNS, row->name, VERDICT_COLUMNS,
                   verdicts[found->verdict]);
        put_measured(&said, row, found);
        put_wrapped(&out, TEXT_COLUMN, &said);
    }
    buf_printf(&said, "Beyond the positions of training: %s", kind->outside);
    buf_putc(&out, '\n');
    put_wrapped(&out, 2, &said);
    buf_puts(&said, "Next: compare with another kind, such as spec=sinusoidal or spec=rope; "
                    "/v1/scores shows the scores behind \"relative\", /v1/precision what rounding "
                    "costs.");
    put_wrapped(&out, 2, &said);
    const char *text = out.failed ? NULL : arena_strndup(&job->request->arena, out.data, out.len);
    buf_release(&said);
    buf_release(&out);
    return text;
}

/* ---- Computing ----------------------------------------------------------------------------- */

static bool should_stop(void *job)
{
    return job_expired(job);
}

static bool measure(struct job *job, struct pe_properties *core)
{
    struct err *err = &job->request->err;
    switch (pe_properties(core)) {
    case PE_OK:
        return true;
    case PE_STOPPED:
        return false; /* and job_expired has said why */
    case PE_INVALID_VALUE:
        return err_add(err, ERR_invalid_value, "positions", "for example 0:32",
                       "fewer than two of the positions have a value");
    default:
        return err_add(err, ERR_overloaded, NULL, NULL, "no memory for the codes");
    }
}

static bool compute(struct job *job)
{
    struct own *own = job->own;
    double *vectors = job_alloc(job, 2 * own->dim, sizeof *vectors);
    double *decay = job_output_data(job, "decay");
    if (!vectors || !decay)
        return false;
    content_fill(&own->content, "q", PE_F64, 0, own->dim, vectors);
    content_fill(&own->content, "k", PE_F64, 0, own->dim, vectors + own->dim);
    own->core = (struct pe_properties){.plan = job_plan(job, 0),
                                       .at = own->positions.list->at[0],
                                       .n = own->positions.list->n,
                                       .trained = job_key(job, "trained")->number,
                                       .q = vectors,
                                       .k = vectors + own->dim,
                                       .dim = own->dim,
                                       .stop = should_stop,
                                       .stop_context = job,
                                       .decay = decay};
    if (!measure(job, &own->core))
        return false;
    tree_integer(job->answer.readouts, "positions_measured", (int64_t)own->core.measured_n);
    for (enum pe_wish wish = 0; wish < PE_WISHES_N; wish++)
        found_tree(job->answer.readouts, pe_wish_row(wish), &own->core.found[wish]);
    if (job_in_words(job)) {
        job->answer.main = NULL; /* the properties are the table */
        job->answer.text_readouts = text_of(job);
    }
    return true;
}

const struct endpoint properties_endpoint = {
    .summary = "What one wishes of an encoding, each property measured, with a verdict.",
    .describes = "decay",
    .schema = "PropertiesAnswer",
    .keys = keys,
    .keys_n = sizeof keys / sizeof *keys,
    .specs_max = 1,
    .acts = ~0u,
    .cache = CACHE_COMPUTED,
    .formats = FORMATS_TENSORS,
    .prepare = prepare,
    .compute = compute,
};
