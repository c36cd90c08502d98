/* SPDX-License-Identifier: MIT */
/* Listings by several threads. */
#ifndef WAVEMEM_LISTING_PARALLEL_H
#define WAVEMEM_LISTING_PARALLEL_H

#include "tool/listing/run.h"

/* Lists the section with several threads; the output is the same as with one. Returns the end of the last
 * instruction; SIZE_MAX: out of memory. */
size_t tool_list_parallel(struct tool_run *run, unsigned threads);
/* Whether that is possible and pays off. */
bool tool_is_parallel(const struct tool_run *run, unsigned threads);

#endif
