// SPDX-License-Identifier: Apache-2.0
/*
 * trials.h: what mistakes.c (keys, stages, axes, vectors) and mistakes_scaling.c (frequencies) try
 * their rows with: an encoding changed, made and compared.
 */
#ifndef API_TRIALS_H
#define API_TRIALS_H

#include "compare.h"

#define CHANGES_MAX 4

/* What the trials know of what is expected. */
struct trials {
    struct comparing *own;
    struct pe_spec spec; /* finished */
    void *scratch;       /* for the elements of the tensor that is encoded, or of what it becomes */
};

struct mistake {
    void (*try)(struct trials *trials, const struct mistake *mistake);
    const char *key, *value;
    const char *because; /* follows what was changed, after a colon; NULL */
};

/* A key with another value; NULL: as if it had not been given. */
struct change {
    const char *key, *value;
};

/* Changes a spec, up to CHANGES_MAX of its keys, and finishes it. */
bool trial_change(struct pe_spec *spec, const struct change *changes);
/* The compact form of what is expected, changed; NULL: it is no encoding, or the same one. */
const char *trial_spec(struct trials *trials, const struct change *changes);
/* The value of a key as text; NULL: the kind has no such key, or it has no value. */
const char *trial_value(const struct trials *trials, const char *key);
bool trial_value_is(const struct trials *trials, const char *key, const char *value);
double trial_number(const struct trials *trials, const char *key);
bool trial_has(const struct trials *trials, const char *key);
const char *trial_text(const struct trials *trials, double number);
/* Whether the kind turns pairs by one angle each. */
bool trial_rotates(const struct trials *trials);
/* What is encoded, if it is an apply. */
bool trial_is_apply(const struct trials *trials);
const struct tensor_view *trial_encoded(const struct trials *trials);

/* "layout=half: because"; "expected computed with layout=half". */
const char *trial_says(struct trials *trials, const char *says, const char *because);
const char *trial_computed(struct trials *trials, const char *what);

/* Makes it as edited and looks at what comes of it: with an edit, a spec, or another value of one
 * key, which the spec then spells out even where it is the default. */
void trial_take_edit(struct trials *trials, const struct recipe_edit *edit,
                     const struct suspect *suspect);
void trial_take_spec(struct trials *trials, const struct change *changes, const char *says,
                     const char *because);
void trial_take_value(struct trials *trials, const char *key, const char *value,
                      const char *because);

/* Functions of rows in mistakes_scaling.c. */
void try_unscaled(struct trials *trials, const struct mistake *mistake);
void try_scaled_twice(struct trials *trials, const struct mistake *mistake);
void try_multiplied(struct trials *trials, const struct mistake *mistake);
void try_attention(struct trials *trials, const struct mistake *mistake);
void try_whole(struct trials *trials, const struct mistake *mistake);
void try_share(struct trials *trials, const struct mistake *mistake);
void try_proportional(struct trials *trials, const struct mistake *mistake);
void try_plain_partial(struct trials *trials, const struct mistake *mistake);
void try_denominator(struct trials *trials, const struct mistake *mistake);

#endif
