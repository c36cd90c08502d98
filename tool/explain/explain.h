/* SPDX-License-Identifier: MIT */
/* The questions that wavemem explain answers; argv[0] is the question's name. Each returns an enum tool_exit.
 */
#ifndef WAVEMEM_TOOL_EXPLAIN_H
#define WAVEMEM_TOOL_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int explain_descriptor(int argc, char **argv);
int explain_address(int argc, char **argv);
int explain_format(int argc, char **argv);

/* Evaluates an expression of numbers, `lane`, parentheses and C's + - * / % << >> & ^ | ~, in unsigned 64-bit
 * arithmetic. *end: set to the first character after the expression. False: syntax error or division by zero,
 * at *end. */
bool explain_evaluate(const char *text, unsigned lane, const char **end, uint64_t *value);

#endif
