/* SPDX-License-Identifier: MIT */
/* What a check has seen: launches, instructions and accesses of each kernel. */
#ifndef WMI_COVERAGE_H
#define WMI_COVERAGE_H

#include "check/checker.h"

struct wmi_coverage;

struct wmi_coverage *wmi_coverage_create(void);
void wmi_coverage_destroy(struct wmi_coverage *coverage);
/* Returns the observer of one dispatch, which counts blocks; NULL: no memory. */
const struct wmi_observer *wmi_coverage_begin(struct wmi_coverage *coverage,
                                              const struct wmi_check_dispatch *dispatch);
/* As the functions of struct wmi_checker. */
bool wmi_coverage_exchange(void *coverage, void **code);
void wmi_coverage_forget(void *code);
/* Ends the dispatch, which ran so many workgroups, waves and instructions. False: no memory. */
bool wmi_coverage_end(struct wmi_coverage *coverage, const struct wmi_check_ran *ran);
/* One row per kernel, in the order of their first launches. */
const struct wm_coverage *wmi_coverage_rows(const struct wmi_coverage *coverage, size_t *count);
/* The blocks of a row, in the order of addresses; valid until the next call. NULL: none, or no memory. */
const struct wm_check_block *wmi_coverage_blocks(struct wmi_coverage *coverage, size_t row, size_t *count);

#endif
