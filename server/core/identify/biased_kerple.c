// SPDX-License-Identifier: Apache-2.0
/*
 * biased_kerple.c: biases that are a weight times a curve of the distance with one parameter: the
 * curve of each head that leaves least, then the shortest numbers that still do.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "biased.h"
#include "elementary.h"

#define GRID       64  /* parameters that are looked at first */
#define GOLDEN     48  /* steps of golden sections between two of them */
#define NEWTON     8   /* steps in both numbers */
#define POINTS_MAX 256 /* distances that a fit is made of */
#define DIGITS_MAX 17
#define LEAST      2    /* distances besides 0: as many as numbers */
#define BENT       4    /* times what libraries are off: the least bend that shows */
#define APART      1.05 /* a parameter so far from it must not do as well, or it is open */

/* ---- Curves -------------------------------------------------------------------------------- */

static double log_one_plus(double x)
{
    double sum = 1 + x;
    return sum == 1 ? x : pe__plain_log(sum) * (x / (sum - 1));
}

static double logarithm(double d, double a)
{
    return log_one_plus(a * d);
}

static double logarithm_slope(double d, double a)
{
    return d / (1 + a * d);
}

static double power(double d, double p)
{
    return d > 0 ? pe__plain_exp(p * pe__plain_log(d)) : 0;
}

static double power_slope(double d, double p)
{
    return d > 0 ? power(d, p) * pe__plain_log(d) : 0;
}

/* -weight curve(distance, parameter), the parameter between two numbers, and which of the kind's
 * lists the two are. */
static const struct form {
    const char *name, *parameter, *weight;
    double low, high;
    double (*curve)(double d, double parameter);
    double (*slope)(double d, double parameter); /* by the parameter */
} forms[] = {
    {"log", "a", "p", 1e-5, 1e5, logarithm, logarithm_slope},
    {"power", "p", "a", 1e-3, 2, power, power_slope},
};

/* ---- One head ------------------------------------------------------------------------------ */

struct point {
    double distance, bias, limit;
};

struct head {
    const struct form *form;
    size_t n;
    struct point at[POINTS_MAX];
    double parameter, weight;
};

/* Some of the distances, evenly chosen, both ends among them. */
static void read_points(const struct pe__biased *biased, size_t head, struct head *out)
{
    size_t n = biased->groups < POINTS_MAX ? biased->groups : POINTS_MAX;
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t group = n > 1 ? i * (biased->groups - 1) / (n - 1) : 0;
        struct pe__bounds level = pe__level(biased, head, group);
        if (!isnan(level.middle))
            out->at[out->n++] =
                (struct point){fabs(biased->offset[group]), level.middle, pe__off(biased, &level)};
    }
}

/* The weight that suits a parameter best; what it leaves, in squares of the limits. */
static double weigh(struct head *head, double parameter)
{
    double up = 0, down = 0, left = 0;
    head->parameter = parameter;
    for (size_t i = 0; i < head->n; i++) {
        const struct point *at = &head->at[i];
        double curve = head->form->curve(at->distance, parameter), w = at->limit * at->limit;
        up -= at->bias * curve / w;
        down += curve * curve / w;
    }
    head->weight = down > 0 ? up / down : 0;
    for (size_t i = 0; i < head->n; i++) {
        const struct point *at = &head->at[i];
        double off = at->bias + head->weight * head->form->curve(at->distance, parameter);
        left += off * off / (at->limit * at->limit);
    }
    return left;
}

static bool is_within(const struct head *head)
{
    for (size_t i = 0; i < head->n; i++) {
        const struct point *at = &head->at[i];
        double made = -head->weight * head->form->curve(at->distance, head->parameter);
        if (!(fabs(at->bias - made) <= at->limit))
            return false;
    }
    return head->weight > 0;
}

/* Both numbers by Gauss and Newton, for data of more digits than sections find. */
static void sharpen(struct head *head)
{
    for (size_t step = 0; step < NEWTON; step++) {
        double cc = 0, cs = 0, ss = 0, cr = 0, sr = 0;
        for (size_t i = 0; i < head->n; i++) {
            const struct point *at = &head->at[i];
            double curve = head->form->curve(at->distance, head->parameter) / at->limit;
            double slope =
                head->weight * head->form->slope(at->distance, head->parameter) / at->limit;
            double rest = -at->bias / at->limit - head->weight * curve;
            cc += curve * curve;
            cs += curve * slope;
            ss += slope * slope;
            cr += curve * rest;
            sr += slope * rest;
        }
        double whole = cc * ss - cs * cs;
        if (!(whole > 1e-12 * cc * ss))
            return;
        double parameter = head->parameter + (sr * cc - cr * cs) / whole;
        double weight = head->weight + (cr * ss - sr * cs) / whole;
        if (!(parameter > 0 && parameter <= head->form->high && weight > 0))
            return;
        head->parameter = parameter;
        head->weight = weight;
    }
}

/* A parameter by its number on a scale of logarithms. */
static double on_scale(const struct form *form, double t)
{
    double low = pe__plain_log(form->low), high = pe__plain_log(form->high);
    return fmin(pe__plain_exp(low + t * (high - low)), form->high);
}

static bool fit(struct head *head)
{
    const double golden = 0.6180339887498949;
    double best = INFINITY, at = 0;
    for (size_t i = 0; i <= GRID; i++) {
        double t = (double)i / GRID, left = weigh(head, on_scale(head->form, t));
        if (left < best) {
            best = left;
            at = t;
        }
    }
    double low = fmax(at - 1.0 / GRID, 0), high = fmin(at + 1.0 / GRID, 1);
    for (size_t i = 0; i < GOLDEN; i++) {
        double a = high - golden * (high - low), b = low + golden * (high - low);
        if (weigh(head, on_scale(head->form, a)) < weigh(head, on_scale(head->form, b)))
            high = b;
        else
            low = a;
    }
    weigh(head, on_scale(head->form, low + (high - low) / 2));
    struct head coarse = *head;
    sharpen(head);
    if (!is_within(head))
        *head = coarse;
    return is_within(head);
}

/* ---- Short numbers ------------------------------------------------------------------------- */

static double rounded(double x, int digits)
{
    char text[PE_TEXT_MAX];
    int len = snprintf(text, sizeof text, "%.*e", digits - 1, x);
    pe_text_read(text, (size_t)len, PE_F64, &x, 0);
    return x;
}

/* The shortest numbers that are within the limits, the weight suiting the parameter. */
static void shorten(struct head *head)
{
    struct head fitted = *head;
    for (int digits = 1; digits <= DIGITS_MAX; digits++) {
        double parameter = rounded(fitted.parameter, digits);
        if (!(parameter > 0 && parameter <= head->form->high))
            continue;
        weigh(head, parameter);
        double weight = head->weight;
        for (int more = 1; more <= digits; more++) {
            head->weight = rounded(weight, more);
            if (is_within(head))
                return;
        }
    }
    *head = fitted;
}

/* Whether a parameter well beside it does, too. */
static bool is_open(const struct head *head)
{
    struct head other = *head;
    bool open = false;
    weigh(&other, head->parameter / APART);
    open = is_within(&other);
    if (head->parameter * APART > head->form->high)
        return open;
    weigh(&other, head->parameter * APART);
    return open || is_within(&other);
}

/* Whether the curve is a line, as far as is told. */
static bool is_straight(const struct pe__biased *biased, const struct head *head)
{
    double farthest = fmax(fabs(biased->scores->first), fabs(biased->scores->last));
    return head->form->curve == power ? head->parameter == 1
                                      : head->parameter * farthest < BENT * biased->library;
}

/* ---- All heads ----------------------------------------------------------------------------- */

static size_t distances_n(const struct pe__biased *biased)
{
    size_t n = 0;
    for (size_t i = 0; i < biased->groups; i++) {
        bool again = false;
        for (size_t k = 0; k < i && n <= LEAST && !again; k++)
            again = biased->offset[k] == -biased->offset[i];
        n += biased->offset[i] != 0 && !again;
    }
    return n;
}

static bool is_one(const double *list, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (list[i] != list[0])
            return false;
    return true;
}

static void propose(struct pe__biased *biased, const struct form *form)
{
    double parameters[PE_HEADS_MAX] = {0}, weights[PE_HEADS_MAX] = {0};
    struct head head = {.form = form};
    bool open = false, straight = true;
    size_t n = biased->heads;
    for (size_t i = 0; i < n; i++) {
        read_points(biased, i, &head);
        if (!pe__biased_goes_on(biased) || !fit(&head))
            return;
        shorten(&head);
        open = open || is_open(&head);
        straight = straight && is_straight(biased, &head);
        parameters[i] = head.parameter;
        weights[i] = head.weight;
    }
    bool usual = is_one(parameters, n) && is_one(weights, n) && parameters[0] == 1;
    struct pe__draft draft = pe__biased_draft(biased, "kerple");
    pe__draft_text(&draft, "form", form->name);
    pe__draft_list(&draft, form->parameter, parameters, is_one(parameters, n) ? 1 : n);
    pe__draft_list(&draft, form->weight, weights, is_one(weights, n) ? 1 : n);
    if (straight) /* alibi's */
        return;
    pe__biased_offer(biased, &draft, usual ? PE__COST_RULE + 2 : PE__COST_NUMBERS, open);
}

void pe__biased_kerple(struct pe__biased *biased)
{
    if (distances_n(biased) < LEAST)
        return;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        propose(biased, &forms[i]);
}
