/* SPDX-License-Identifier: MIT */
/* Listings of code, for wavemem dis. */
#ifndef WAVEMEM_LISTING_H
#define WAVEMEM_LISTING_H

#include "tool/listing/run.h"

/* Prints the sections; returns an enum tool_exit. */
int tool_list(const struct tool_listing *listing, const struct wm_code *code, size_t count);

#endif
