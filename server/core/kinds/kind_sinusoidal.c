// SPDX-License-Identifier: Apache-2.0
/*
 * kind_sinusoidal.c: the sinusoids of the first Transformer, and the ways in which libraries differ
 * from it: sines and cosines in halves instead of interleaved, frequencies that reach 1/base in the
 * last pair instead of one step later, or at any other point, an odd width, a row of zeros.
 */
#include "frequency.h"
#include "params.h"
#include "sinusoid.h"

enum { SPACING_PAPER, SPACING_ENDPOINT, SPACING_SHIFT };
enum { ODD_ZERO, ODD_SIN };

static const struct pe_param rows[] = {
    PE__ROW_DIM(1, 0),
    PE__ROW_BASE,
    {.name = "layout",
     .aliases = "order",
     .type = PE_ENUM,
     .choices = "interleaved|gptj half|neox|rotate_half|halves|sin_cos cos_sin",
     .fallback = "interleaved",
     .help = "Where pair i stands: interleaved has sin in 2i and cos in 2i+1, half has all sines "
             "before all cosines, cos_sin all cosines first."},
    {.name = "spacing",
     .type = PE_ENUM,
     .choices = "paper endpoint shift",
     .fallback = "paper",
     .help = "Exponent of base for pair i: paper -2i/dim, endpoint -i/(floor(dim/2)-1), which "
             "needs dim >= 4, shift as freq_shift says."},
    PE__ROW_FREQ_SHIFT("0", "spacing=shift"),
    {.name = "odd",
     .type = PE_ENUM,
     .choices = "zero sin",
     .fallback = "zero",
     .help = "What an odd dim adds to its pairs: a last column of zeros, or one more sine."},
    PE__ROW_PADDING,
    PE__ROWS_PLACE,
};

static bool check(struct pe_spec *spec, struct pe_faults *faults)
{
    const struct pe_value *dim = pe__params_value(&spec->params, "dim");
    const struct pe_value *spacing = pe__params_value(&spec->params, "spacing");
    const struct pe_value *odd = pe__params_value(&spec->params, "odd");
    if (!dim->set || !spacing->set || !odd->set || spacing->number == SPACING_PAPER)
        return true;
    if (spacing->number == SPACING_ENDPOINT && dim->number < 4)
        return pe_fault_add(faults, PE_INVALID_VALUE, "dim", NULL,
                            "dim must be at least 4 with spacing=endpoint, got %.0f", dim->number);
    if ((size_t)dim->number % 2 == 1 && odd->number == ODD_SIN)
        return pe_fault_add(faults, PE_CONFLICTING_PARAMETERS, "odd", "use odd=zero",
                            "odd=sin has no frequency with spacing=%s and the odd dim %.0f",
                            spacing->number == SPACING_SHIFT ? "shift" : "endpoint", dim->number);
    return spacing->number == SPACING_ENDPOINT || pe__freq_shift_check(spec, faults);
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
    double spacing = pe_spec_number(spec, "spacing");
    if (spacing == SPACING_SHIFT)
        pe__freq_shift_frequency(spec, k, w);
    else if (spacing == SPACING_ENDPOINT)
        pe__frequency(pe_spec_number(spec, "base"), k, dim / 2 - 1, 1, w);
    else
        pe__frequency(pe_spec_number(spec, "base"), 2 * k, dim, 1, w);
}

static void pair_channels(const struct pe_spec *spec, size_t pair, size_t *c, size_t *s)
{
    enum pe__order order = (enum pe__order)pe_spec_number(spec, "layout");
    pe__order_channels(order, pairs_n(spec), pe_spec_dim(spec) / 2, pair, c, s);
}

static const struct pe_library libraries[] = {
    {"transformers", "interleaved: XLM, DistilBERT; layout=half: Marian, Pegasus, RoFormer "
                     "(odd=sin), XLNet; layout=half with spacing=endpoint: M2M100, XGLM, "
                     "Speech2Text (padding_idx), Whisper; order=cos_sin with spacing=endpoint: "
                     "MusicGen"},
    {"fairseq", "layout=half, spacing=endpoint, real tokens from padding_idx + 1 on"},
    {"tensor2tensor", "layout=half, spacing=endpoint; min_timescale is position_scale"},
    {"keras-hub", "SinePositionEncoding, interleaved, odd=sin"},
    {"diffusers", "SinusoidalPositionalEmbedding, interleaved; get_timestep_embedding: "
                  "spacing=shift with freq_shift"},
    {0},
};

static const struct pe_reference references[] = {
    {"Attention Is All You Need", 2017, "arXiv:1706.03762"},
    {0},
};

static const char *const examples[] = {
    "/v1/table?kind=sinusoidal&dim=8&positions=0:3",
    "/v1/table?kind=sinusoidal&dim=8&layout=half&spacing=endpoint&positions=0:3",
    "/v1/table?kind=sinusoidal&dim=8&order=cos_sin&spacing=shift&freq_shift=0.5&positions=10",
    "/v1/table?kind=sinusoidal&dim=16&order=sin_cos&spacing=endpoint&padding_idx=1&positions=0:8",
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
