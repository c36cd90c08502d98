/* SPDX-License-Identifier: MIT */
/* The questions that wavemem explain answers; argv[0] is the question's name. Each returns an enum tool_exit.
 */
#ifndef WAVEMEM_TOOL_EXPLAIN_H
#define WAVEMEM_TOOL_EXPLAIN_H

int explain_descriptor(int argc, char **argv);
int explain_address(int argc, char **argv);
int explain_format(int argc, char **argv);
int explain_image(int argc, char **argv);

#endif
