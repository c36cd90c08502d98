/* SPDX-License-Identifier: MIT */
/* Listings of code, section by section. */
#include "tool/listing/listing.h"

#include "tool/listing/parallel.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER = 1 << 16 };

static int list_section(struct tool_run *run)
{
    const struct tool_listing *listing = run->listing;
    const struct wm_code *code = run->code;
    const bool heading = !listing->plain && !listing->json && !listing->symbol;
    if (heading && code->section && code->section[0])
        tool_print(stdout, "\nDisassembly of section %s:\n", code->section);
    run->disassembler = run->disassemblers[0];
    wm_disassembler_begin(run->disassembler, 0);
    run->next_symbol = code->address;
    run->wanted = !listing->symbol;
    if (listing->labels && !tool_find_targets(run))
        return tool_fail("out of memory");
    run->disassembler = run->disassemblers[0];
    wm_disassembler_begin(run->disassembler, 0);
    run->next_symbol = code->address;
    size_t at = tool_is_parallel(run, listing->threads) ? tool_list_parallel(run, listing->threads)
                                                        : tool_list_range(run, 0, code->size);
    free(run->targets);
    run->targets = NULL;
    if (at == SIZE_MAX)
        return tool_fail("out of memory");
    for (; at < code->size && run->wanted && !listing->json; at++)
        printf("%s.byte 0x%02x\n", listing->plain ? "" : "\t", code->bytes[at]);
    return TOOL_CLEAN;
}

static void put_file(const struct tool_listing *listing)
{
    tool_print(stdout, "\n%s:", listing->file);
    printf("\tfile format %s, %s\n", wm_object_version(listing->object) ? "elf64-amdgpu" : "raw instructions",
           wm_object_target(listing->object));
}

int tool_list(const struct tool_listing *listing, const struct wm_code *code, size_t count)
{
    struct tool_text_buffer out;
    if (!tool_open_output(&out, BUFFER, false))
        return tool_fail("out of memory");
    if (!listing->plain && !listing->json && !listing->symbol)
        put_file(listing);
    if (listing->json)
        fputs("[", stdout);
    struct tool_run run = {.listing = listing, .disassemblers = listing->disassembler, .out = &out};
    int result = TOOL_CLEAN;
    for (size_t i = 0; i < count && result == TOOL_CLEAN; i++) {
        run.code = &code[i];
        run.symbol = NULL;
        result = list_section(&run);
    }
    if (listing->json)
        fputs("\n]\n", stdout);
    free(out.buffer);
    if (result == TOOL_CLEAN && listing->symbol && !run.printed)
        return tool_fail("%s: no code belongs to a symbol '%s'", listing->file, listing->symbol);
    return result;
}
