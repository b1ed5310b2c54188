// SPDX-License-Identifier: Apache-2.0
/*
 * export.h: all fixtures as files in a folder, for repositories that must not call out. A file that
 * is there already stays as it is: fixtures change with the semantics version only, and who has
 * pinned them wants to know.
 */
#ifndef POSENCD_EXPORT_H
#define POSENCD_EXPORT_H

#include "config.h"

/* Exit status: 0; 1 when a file differs from the one that is there, or cannot be written; 70 when
 * one cannot be computed. What is wrong is said on stderr. */
int export_fixtures(const struct config *config);

#endif
