/* SPDX-License-Identifier: MIT */
/* Verbs that only the playground has. */
#ifndef WAVEMEM_WEB_PLAYGROUND_H
#define WAVEMEM_WEB_PLAYGROUND_H

#include "tool/tool.h"

extern const struct tool_verb web_verb_steps;

#endif
