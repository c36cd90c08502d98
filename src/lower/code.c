/* SPDX-License-Identifier: MIT */
/* The code of one dispatch: frame layout, constants, and decoding from guest memory. */
#include "lower/code.h"

#include "base/grow.h"

#include <stdlib.h>

struct wmi_memory_op_node {
    alignas(64) struct wmi_memory_op op; /* the fields that most steps read share one host cache line */
    struct wmi_memory_op_node *next;
};

void wmi_code_init(struct wmi_code *code, const struct wmi_code_options *options)
{
    *code = (struct wmi_code){.options = *options};
    code->images = (struct wmi_image_rules){
        .layout = (enum wmi_descriptor_layout)wmi_target_limit(options->target, WMI_LIMIT_descriptors),
        .formats = wmi_format_rules(wmi_target_limit(options->target, WMI_LIMIT_format_rules)),
        .tiling = options->tiling,
    };
    code->row_bytes = 4 * options->lanes;
    code->vgpr_offset = (uint32_t)offsetof(struct wmi_frame, rows) + WMI_TEMPORARY_ROWS * code->row_bytes;
    code->constant_offset = code->vgpr_offset + (options->vgprs + options->agprs) * code->row_bytes;
}

void wmi_code_free(struct wmi_code *code)
{
    for (struct wmi_memory_op_node *node = code->memory_ops, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    code->memory_ops = NULL;
    free(code->words.run);
    free(code->words.word);
    code->words = (struct wmi_code_words){0};
}

struct wmi_memory_op *wmi_code_memory_op(struct wmi_code *code)
{
    struct wmi_memory_op_node *node = aligned_alloc(alignof(struct wmi_memory_op_node), sizeof *node);
    if (!node)
        return NULL;
    *node = (struct wmi_memory_op_node){.next = code->memory_ops};
    code->memory_ops = node;
    return &node->op;
}

bool wmi_code_decode(const struct wmi_code *code, uint64_t pc, struct wmi_instruction *insn)
{
    const struct wmi_allocation *allocation = wmi_space_find(code->options.space, pc);
    uint32_t words[WMI_INSTRUCTION_DWORDS];
    if (!allocation || pc & 3 || pc >= wmi_code_end(allocation))
        return false;
    const uint64_t left = (wmi_code_end(allocation) - pc) / 4;
    const size_t available = left < WMI_INSTRUCTION_DWORDS ? (size_t)left : WMI_INSTRUCTION_DWORDS;
    /* Copied because other waves may write the code while it is decoded. */
    memcpy(words, allocation->host + (pc - allocation->low), 4 * available);
    return wmi_decode_executed(code->options.target, words, available, insn);
}

bool wmi_code_holds(const struct wmi_code *code, uint64_t pc)
{
    const struct wmi_held_code *held = &code->options.held;
    size_t low = 0, high = held->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (held->pc[middle] < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < held->count && held->pc[low] == pc;
}

bool wmi_code_holds_accesses(const struct wmi_code *code, const struct wmi_instruction *insn)
{
    const struct wmi_held_code *held = &code->options.held;
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool atomic = row->memory == WMI_MEMORY_ATOMIC, may_be_lds = row->class == WMI_CLASS_FLAT;
    const bool lds = row->class == WMI_CLASS_DS;
    if (!row->memory)
        return false;
    if (row->memory == WMI_MEMORY_LOAD && insn->field[WMI_FIELD_lds])
        return held->loads || held->stores; /* moves from memory to LDS */
    const bool kind = (row->memory == WMI_MEMORY_LOAD && held->loads) ||
                      (row->memory == WMI_MEMORY_STORE && held->stores) ||
                      (atomic && (held->loads || held->stores));
    return kind && (lds ? held->lds : held->memory || (may_be_lds && held->lds));
}

void wmi_code_note(struct wmi_code_words *words, uint64_t pc, const struct wmi_instruction *insn)
{
    struct wmi_code_run *last = words->run_count ? &words->run[words->run_count - 1] : NULL;
    if (insn && (!last || last->pc + 4 * last->count != pc)) {
        if (!wmi_grow(&words->run, &words->run_capacity, words->run_count, sizeof *words->run)) {
            words->unknown = true;
            return;
        }
        last = &words->run[words->run_count++];
        *last = (struct wmi_code_run){.pc = pc, .first = words->word_count};
    }
    words->unknown |= !insn;
    for (unsigned i = 0; insn && i < insn->dwords; i++) {
        if (!wmi_grow(&words->word, &words->word_capacity, words->word_count, sizeof *words->word)) {
            words->unknown = true;
            return;
        }
        words->word[words->word_count++] = insn->words[i];
        last->count++;
    }
}

bool wmi_code_is_current(const struct wmi_code *code, size_t from)
{
    const struct wmi_code_words *words = &code->words;
    for (size_t i = words->run_count; !words->unknown && i-- > 0;) {
        const struct wmi_code_run *run = &words->run[i];
        const size_t known = from > run->first ? from - run->first : 0;
        if (known >= run->count)
            break;
        const size_t bytes = (run->count - known) * sizeof *words->word;
        const unsigned char *host = wmi_space_host(code->options.space, run->pc + 4 * known, bytes);
        if (!host || memcmp(host, words->word + run->first + known, bytes))
            return false;
    }
    return !words->unknown;
}

size_t wmi_code_frame_size(const struct wmi_code *code)
{
    return code->constant_offset + code->constant_rows * code->row_bytes;
}

void wmi_code_prepare_frame(const struct wmi_code *code, struct wmi_frame *frame)
{
    memcpy(frame->constant, code->scalar_constant, sizeof code->scalar_constant);
    frame->first = (struct wmi_lanes){.bits = 1, .row = {UINT32_MAX}};
    for (unsigned i = 0; i < code->vector_constants; i++) {
        const struct wmi_vector_constant *c = &code->vector_constant[i];
        uint32_t *row = (uint32_t *)((char *)frame + c->offset);
        for (unsigned r = 0; r < c->rows; r++)
            for (unsigned lane = 0; lane < code->options.lanes; lane++)
                row[r * code->options.lanes + lane] = (uint32_t)(c->value >> 32 * r);
    }
}
