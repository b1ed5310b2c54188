// SPDX-License-Identifier: Apache-2.0
/*
 * banned.h: functions that cannot be used safely are build errors. Included before every C source
 * by the Makefile; it reads the headers that declare them first, so that only new uses are caught.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With _FORTIFY_SOURCE some of them are macros, which clang does not poison. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atoll atof gets

#endif
