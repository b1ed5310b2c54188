// SPDX-License-Identifier: Apache-2.0
/*
 * kind_sinusoidal.c: the sinusoids of the first Transformer, and the two ways in which libraries
 * differ from it: sines and cosines in halves instead of interleaved, and frequencies that reach
 * 1/base in the last pair instead of one step later.
 */
#include "frequency.h"
#include "kind.h"
#include "params.h"
#include "rows.h"

enum { LAYOUT_INTERLEAVED, LAYOUT_HALF };
enum { SPACING_PAPER, SPACING_ENDPOINT };
enum { ODD_ZERO, ODD_SIN };

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 0),
    PE__ROW_BASE,
    {.name = "layout",
     .aliases = "order",
     .type = PE_ENUM,
     .choices = "interleaved|gptj half|neox|rotate_half|halves|sin_cos",
     .fallback = "interleaved",
     .help = "Where pair i stands: interleaved has sin in 2i and cos in 2i+1, half has all sines "
             "before all cosines."},
    {.name = "spacing",
     .type = PE_ENUM,
     .choices = "paper endpoint",
     .fallback = "paper",
     .help = "Exponent of base for pair i: paper -2i/dim, endpoint -i/(floor(dim/2)-1), which "
             "needs dim >= 4."},
    {.name = "odd",
     .type = PE_ENUM,
     .choices = "zero sin",
     .fallback = "zero",
     .help = "What an odd dim adds to its pairs: a last column of zeros, or one more sine."},
    PE__ROW_SHIFT,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *spacing = pe__params_value(&spec->params, "spacing");
    const struct pe_value *odd = pe__params_value(&spec->params, "odd");
    if (!dim->set || !spacing->set || !odd->set || spacing->number != SPACING_ENDPOINT)
        return true;
    if (dim->number < 4)
        return pe_fault_add(faults, PE_INVALID_VALUE, "dim", NULL,
                            "dim must be at least 4 with spacing=endpoint, got %.0f", dim->number);
    if ((size_t)dim->number % 2 == 1 && odd->number == ODD_SIN)
        return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "odd", "use odd=zero",
                            "odd=sin has no frequency with spacing=endpoint and the odd dim %.0f",
                            dim->number);
    return true;
}

static bool has_lone_sine(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) % 2 == 1 && pe_spec_number(spec, "odd") == ODD_SIN;
}

static size_t pairs_n(const struct pe_spec *spec)
{
    return pe_spec_dim(spec) / 2 + has_lone_sine(spec);
}

static void frequency(const struct pe_spec *spec, size_t k, bool scaled, mpfr_t w)
{
    (void)scaled; /* there is no scaling */
    size_t dim = pe_spec_dim(spec);
    double base = pe_spec_number(spec, "base");
    if (pe_spec_number(spec, "spacing") == SPACING_PAPER)
        pe__frequency(base, 2 * k, dim, 1, w);
    else
        pe__frequency(base, k, dim / 2 - 1, 1, w);
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    bool interleaved = pe_spec_number(spec, "layout") == LAYOUT_INTERLEAVED;
    *s = interleaved ? 2 * pair : pair;
    *c = interleaved ? 2 * pair + 1 : pairs_n(spec) + pair;
    if (pair == pe_spec_dim(spec) / 2)
        *c = PE__NO_CHANNEL;
}

static const struct pe_library libraries[] = {
    {"transformers", "interleaved: XLM, DistilBERT; layout=half: Marian, Pegasus; "
                     "layout=half with spacing=endpoint: M2M100, XGLM, Speech2Text, Whisper"},
    {"fairseq", "layout=half, spacing=endpoint, real tokens from padding_idx + 1 on"},
    {"tensor2tensor", "layout=half, spacing=endpoint"},
    {"keras-hub", "SinePositionEncoding, interleaved"},
    {"diffusers", "SinusoidalPositionalEmbedding, interleaved"},
    {0},
};

static const struct pe_reference references[] = {
    {"Attention Is All You Need", 2017, "arXiv:1706.03762"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=sinusoidal&dim=8&positions=0:3",
    "/v1/table?kind=sinusoidal&dim=8&layout=half&spacing=endpoint&positions=0:3",
    "/v1/scores?kind=sinusoidal&terms=1",
    NULL,
};

static const struct pe__kind_ops ops = {
    .check = check,
    .frequencies_n = pairs_n,
    .frequency = frequency,
    .pairs_n = pairs_n,
    .pair_channels = pair_channels,
};

const struct pe_kind pe__kind_sinusoidal = {
    .name = "sinusoidal",
    .aliases = "sin",
    .title = "Sinusoidal positional encoding",
    .formula = "PE[p,2i] = sin(p*base^(-2i/dim)), PE[p,2i+1] = cos(p*base^(-2i/dim)); y = x + PE",
    .help =
        "Adds sines and cosines of geometrically spaced wavelengths to the vectors. PE(m).PE(n) "
        "depends on m-n alone, but scores of encoded vectors also have two terms that depend "
        "on where they stand.",
    .outside = "Has a value everywhere. Slow pairs then take values that were never seen, and "
               "models trained with it get worse soon after their length.",
    .acts = PE_ADDS,
    .properties = PE_UNBOUNDED,
    .axes = 1,
    .params = rows,
    .params_n = PE__ROWS_N(rows),
    .libraries = libraries,
    .references = references,
    .examples = examples,
    .ops = &ops,
};
