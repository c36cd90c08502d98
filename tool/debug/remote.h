/* SPDX-License-Identifier: MIT */
/* GDB's remote protocol, as a front end of the session. */
#ifndef WAVEMEM_DEBUG_REMOTE_H
#define WAVEMEM_DEBUG_REMOTE_H

#include "tool/debug/prompt.h"

/* Where LDS and private memory are in the protocol's one address space: beyond the canonical addresses. */
#define DEBUG_REMOTE_LDS     (UINT64_C(1) << 48)
#define DEBUG_REMOTE_PRIVATE (UINT64_C(1) << 49)

/* Serves one client: "-" on standard input and output, or a port of 127.0.0.1 ("0": a free one, which is
 * printed). Returns an enum tool_exit. */
int debug_serve(struct debug_session *s, const char *where);

#endif
