// SPDX-License-Identifier: Apache-2.0
/*
 * selftest.h: whether this build on this processor gives the right numbers: ten known values,
 * computed anew and compared to the last bit. Takes about a millisecond.
 */
#ifndef API_SELFTEST_H
#define API_SELFTEST_H

#include <stddef.h>

#define SELFTEST_N 10

/* How many of the SELFTEST_N values are right; `wrong` gets the name of the first that is not. */
size_t selftest_run(const char **wrong);

#endif
