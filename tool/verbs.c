/* SPDX-License-Identifier: MIT */
/* The list of all verbs. */
#include "tool/tool.h"

#include <string.h>

const struct tool_verb *const tool_verbs[TOOL_VERBS + 1] = {
    &tool_verb_exec,    &tool_verb_run,
    &tool_verb_prof,    &tool_verb_check,
    &tool_verb_debug,   &tool_verb_dap,
    &tool_verb_mcp,     &tool_verb_loader,
    &tool_verb_replay,  &tool_verb_merge,
    &tool_verb_batch,   &tool_verb_diff,
    &tool_verb_compile, &tool_verb_asm,
    &tool_verb_dis,     &tool_verb_info,
    &tool_verb_isa,     &tool_verb_explain,
    &tool_verb_tess,    &tool_verb_tile,
    &tool_verb_untile,  NULL,
};

const struct tool_verb *tool_find_verb(const struct tool_verb *const *verbs, const char *name)
{
    while (*verbs && strcmp((*verbs)->name, name) != 0)
        verbs++;
    return *verbs;
}
