// SPDX-License-Identifier: Apache-2.0
/*
 * posenc.h: positional encodings of transformers, every value rounded once from the exact formula.
 *
 * The order of use: describe an encoding (`struct pe_spec`), make an immutable plan for the
 * positions in question (`pe_plan_new`, the only call that computes frequencies and allocates),
 * then fill tables, rotate tensors or compute scores into memory of your own. Nothing here logs,
 * locks, reads a clock or keeps state between calls. A plan may be shared by any number of threads.
 *
 * Exactness: tables, biases, sums, norms and scores are the real-number value of the formula,
 * rounded to nearest, ties to even, to the dtype asked for. `pe_apply` in f32, f16 and bf16 is a
 * fixed sequence of double operations instead, rounded once at the end. Hence the same bits on
 * every processor, compiler and thread count.
 *
 * Needs libc and MPFR, which ends the process when one of its small allocations fails; a program
 * that must not end gives GMP functions that do not (mp_set_memory_functions) before the first
 * call. All functions are prefixed pe_; those marked (any thread) keep no state.
 */
#ifndef POSENC_H
#define POSENC_H

#include "posenc/apply.h"
#include "posenc/attention.h"
#include "posenc/compare.h"
#include "posenc/dialect.h"
#include "posenc/draw.h"
#include "posenc/fault.h"
#include "posenc/grid.h"
#include "posenc/identify.h"
#include "posenc/number.h"
#include "posenc/param.h"
#include "posenc/plan.h"
#include "posenc/position.h"
#include "posenc/precision.h"
#include "posenc/processor.h"
#include "posenc/properties.h"
#include "posenc/quantize.h"
#include "posenc/score.h"
#include "posenc/similarity.h"
#include "posenc/spec.h"
#include "posenc/stage.h"
#include "posenc/style.h"

#endif
