// SPDX-License-Identifier: Apache-2.0
/*
 * plots.h: pictures of answers by URL. A picture is the answer of the endpoint behind it, computed
 * as always, and at its end a figure (plot/) in place of a document. What differs is a row:
 * defaults that make a good picture, and the function that draws it.
 */
#ifndef API_PLOTS_H
#define API_PLOTS_H

#include "chart.h"
#include "job.h"

/* Of all tensors of a picture's answer: more than there are pixels to see. */
#define PLOT_ELEMENTS_MAX ((size_t)1 << 17)
/* An SVG that is opened by itself runs nothing and loads nothing. */
#define PLOT_POLICY "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/* The default of a key behind the picture, which then is part of the request as if it were given.
 */
struct plot_default {
    const char *key, *text;
};

/* One picture while it is drawn. */
struct plotting {
    struct job *job;
    struct arena *arena;
    struct figure *figure;
    const char *title; /* above it */
};

struct plot {
    const char *title;
    const struct plot_default *defaults; /* ends with a key that is NULL; NULL: none */
    bool selects;                        /* the main tensor is drawn, whichever it is */
    /* Draws into the body of the figure. What is wrong with the request is added to its errors. */
    void (*draw)(struct plotting *plotting);
};

extern const struct pe_param plot_keys[];
extern const size_t plot_keys_n;

/* In job_read: the picture's keys. */
bool plot_begin(struct job *job);
/* And when all keys are read: defaults for those that are not given. */
void plot_defaults(struct job *job, struct pe_faults *faults);
/* After prepare: what the picture cannot show. */
bool plot_check(struct job *job);
/* The picture into the answer's body. */
bool plot_write(struct job *job);

/* Of a problem: whether a picture of it is wanted, and that picture, an SVG, in place of the
 * document; false without memory. */
bool plot_wants_problem(const struct request *request);
bool plot_write_problem(struct request *request, const char *sentence);

/* ---- Pieces for those who draw (plots_*.c) ----------------------------------------------------
 */

/* The elements of an output as f64, NULL: there is none of that name, or no memory. */
const double *plot_values(struct plotting *plotting, const char *name);
const double *plot_values_of(struct plotting *plotting, const struct output *output);
/* Labels of an axis as numbers: those it has, else (also where places have several coordinates) 0,
 * 1, ... */
const double *plot_labels(struct plotting *plotting, const struct output *output, size_t axis);
/* And one of them as a text: a word, a number, "row;column". */
const char *plot_place(struct plotting *plotting, const struct output *output, size_t axis,
                       size_t i);
/* What those numbers are, where places have one coordinate or more. */
const char *plot_counted(const struct output *output, size_t axis);
/* "anchor 8" */
const char *plot_named(struct plotting *plotting, const char *name, double number);
/* A number of the readouts, by its path ("spread/max"); NaN: there is none. */
double plot_readout(const struct tree *readouts, const char *path);
/* With at most four digits; static rules as of ticks. */
const char *plot_number(struct plotting *plotting, double value);
/* The i-th of n colours, as far apart as those of the palette are. */
struct legend plot_series(const struct plotting *plotting, const char *text, size_t i, size_t n);
/* Of the i-th of n curves over the same axes also which pieces of it are drawn, so that where
 * curves are equal some of each is seen. */
struct legend plot_curve(const struct plotting *plotting, const char *text, size_t i, size_t n);
/* At most `most` of n things, evenly; how many. */
size_t plot_spread(size_t n, size_t most, size_t *chosen);

void plot_draw_table(struct plotting *plotting); /* plots_cells.c */
void plot_draw_matrix(struct plotting *plotting);
void plot_draw_angles(struct plotting *plotting);
void plot_draw_errors(struct plotting *plotting);
void plot_draw_attention(struct plotting *plotting);
void plot_draw_attention_pair(struct plotting *plotting);
void plot_draw_grid(struct plotting *plotting);
void plot_draw_waves(struct plotting *plotting); /* plots_lines.c */
void plot_draw_apply(struct plotting *plotting);
void plot_draw_frequencies(struct plotting *plotting);
void plot_draw_scores(struct plotting *plotting);
void plot_draw_decay(struct plotting *plotting);
void plot_draw_precision(struct plotting *plotting);
void plot_draw_rotation(struct plotting *plotting);   /* plots_arrows.c */
void plot_draw_properties(struct plotting *plotting); /* plots_words.c */

#endif
