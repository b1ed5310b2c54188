// SPDX-License-Identifier: Apache-2.0
/*
 * biased_swin.c: biases that depend on rows and columns between two places of a window: which
 * window, and its learned table.
 */
#include <math.h>

#include "biased.h"

#define SIDE_MAX   256 /* as the parameter's */
#define SQUARE_MAX 32

struct window {
    size_t height, width;
};

static size_t row_of(struct window window, size_t query, size_t key)
{
    size_t down = query / window.width + window.height - 1 - key / window.width;
    size_t right = query % window.width + window.width - 1 - key % window.width;
    return down * (2 * window.width - 1) + right;
}

/* False if pairs that share a number of the table do not share a bias. */
static bool read_table(const struct pe__biased *biased, struct window window,
                       struct pe__shown *shown)
{
    for (size_t i = 0; i < biased->heads * biased->pairs; i++) {
        size_t pair = i % biased->pairs, head = i / biased->pairs;
        size_t row = row_of(window, (size_t)biased->query[pair / biased->keys],
                            (size_t)biased->key[pair % biased->keys]);
        if (!pe__bounds_meet(biased, &shown->at[row * biased->heads + head], &biased->at[i]))
            return false;
    }
    return true;
}

static void offer(struct pe__biased *biased, struct window window, double cost)
{
    struct pe__draft draft = pe__biased_draft(biased, "swin");
    struct pe__shown shown;
    double sides[] = {(double)window.height, (double)window.width};
    size_t rows = (2 * window.height - 1) * (2 * window.width - 1);
    pe__draft_list(&draft, "window", sides, 2);
    if (pe__shown_new(biased, rows, &shown) && read_table(biased, window, &shown))
        pe__shown_offer(biased, &draft, &shown, PE__COST_TABLE + cost, false);
}

/* The number of places from 0 to the last position; 0 if some are none of a window's. */
static size_t places_n(const struct pe__biased *biased)
{
    double most = 0;
    for (size_t i = 0; i < biased->queries + biased->keys; i++) {
        double at = i < biased->queries ? biased->query[i] : biased->key[i - biased->queries];
        if (at < 0 || at != floor(at) || at >= SIDE_MAX * SIDE_MAX)
            return 0;
        most = fmax(most, at);
    }
    return (size_t)most + 1;
}

void pe__biased_swin(struct pe__biased *biased)
{
    size_t n = places_n(biased);
    for (size_t width = 1; width <= SIDE_MAX && width <= n && pe__biased_goes_on(biased); width++) {
        size_t height = n / width;
        if (height * width == n && height <= SIDE_MAX)
            offer(biased, (struct window){height, width}, height == width ? 0 : 1);
    }
    for (size_t side = 1; n > 0 && side <= SQUARE_MAX && pe__biased_goes_on(biased); side++)
        if (side * side > n)
            offer(biased, (struct window){side, side}, 2);
}
