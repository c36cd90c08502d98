/* SPDX-License-Identifier: MIT */
/* Listings by several threads. */
#ifndef WAVEMEM_LISTING_PARALLEL_H
#define WAVEMEM_LISTING_PARALLEL_H

#include "tool/listing/run.h"

/* All instructions of the section by several threads, the same listing as by one. Returns where the last one
 * ends; SIZE_MAX: no memory. */
size_t tool_list_parallel(struct tool_run *run, unsigned threads);
/* Whether that is possible and worth it. */
bool tool_is_parallel(const struct tool_run *run, unsigned threads);

#endif
