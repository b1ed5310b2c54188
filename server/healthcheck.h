// SPDX-License-Identifier: Apache-2.0
/* healthcheck.h: asks a running daemon whether it is ready: for images without curl. */
#ifndef POSENCD_HEALTHCHECK_H
#define POSENCD_HEALTHCHECK_H

/* `url`: numeric, "http://127.0.0.1:8080" or "[::1]:8080"; 0.0.0.0 and [::] mean this machine.
 * EXIT_SUCCESS when GET /readyz is answered with 200. Else EXIT_FAILURE, with one line on stderr:
 * what the daemon or the system says, or, after 3 s, that there is no answer. */
int healthcheck(const char *url);

#endif
