/* SPDX-License-Identifier: MIT */
/* Expressions of the debugger: registers, arguments, variables, memory, with C's operators. */
#ifndef WAVEMEM_DEBUG_EVALUATE_H
#define WAVEMEM_DEBUG_EVALUATE_H

#include "tool/debug/value.h"

/* Evaluates an expression for one lane of the selected wave.
 *
 *   $v3 $s4 $s[4:5] $v[4:5] $a0 $vcc $exec $scc $m0 $mode $pc ...; behind them .f32 .i32 .u32 .f16 .i16 .u16
 *   .f64 .i64 .u64 .bf16 give the bits another type
 *   $lane $wave $workgroup_x $dispatch $now $1 $_ ...
 *   NAME            an argument of the kernel or a variable of the source
 *   {TYPE} ADDRESS, *(TYPE *) ADDRESS; local#OFFSET, private_lane#OFFSET, global#ADDRESS
 *   EXPR[INDEX], EXPR@COUNT, *EXPR, &EXPR, (TYPE) EXPR, isnan(EXPR), isinf(EXPR), abs(EXPR)
 */
bool debug_evaluate(struct debug_session *s, const char *text, unsigned lane, struct debug_value *value,
                    struct wm_diag *diag);
/* The beginning of the text; *rest is what follows. */
bool debug_evaluate_prefix(struct debug_session *s, const char *text, const char **rest, unsigned lane,
                           struct debug_value *value, struct wm_diag *diag);
/* Whether it is other than 0 for one of the lanes; *lane: the lowest one. */
bool debug_condition(struct debug_session *s, const char *text, uint64_t lanes, unsigned *lane, bool *holds,
                     struct wm_diag *diag);

#endif
