/* SPDX-License-Identifier: MIT */
/* What makes findings of different runs the same one: their order, and a key for each. */
#ifndef WAVEMEM_TOOL_CHECK_KEYS_H
#define WAVEMEM_TOOL_CHECK_KEYS_H

#include <jansson.h>

/* Returns a new array of the findings in the order of kernels, and in each of them of its code. */
json_t *tool_check_sorted(const json_t *findings);

/* Gives each finding its key, "a76bea1afd4ba2aa:1": a hash of what it is and where, and the number among
 * those with the same hash, in the order of the array. Neither depends on addresses, lines or folders, so
 * that the key remains the same when code moves. It is made of
 * - class, rule, and the kernel with its template arguments;
 * - the source file without its folder, the column, and the functions that are inlined there with the columns
 * of their calls;
 * - without columns, the text of the instruction, without branch targets and literal constants. With them it
 * is left out, because compilers choose instructions and registers, and targets have others;
 * - the same of the other instruction, of findings that are about two;
 * - of findings without an instruction, the allocation.
 * Lines are left out because they change with each edit above them. */
void tool_check_set_keys(json_t *findings);

#endif
