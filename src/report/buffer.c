/* SPDX-License-Identifier: MIT */
/* Explains a lane's address in a buffer: each formula with its numbers.
 *
 * Addresses and checks are those of memory/buffer.c. The rules of the range check are repeated here as
 * comparisons to print; tests compare the two. */
#include "memory/buffer.h"

#include "base/diag.h"
#include "base/text.h"
#include "isa/isa.h"
#include "memory/descriptor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct explanation {
    struct wm_buffer_answer *answer;
    const struct wm_buffer_request *request;
    struct wmi_buffer buffer;
};

__attribute__((format(printf, 2, 3))) static void say(struct explanation *e, const char *format, ...)
{
    struct wm_buffer_answer *a = e->answer;
    if (a->step_count == WM_BUFFER_STEPS)
        return;
    va_list list;
    va_start(list, format);
    wmi_format_list(a->step[a->step_count++], sizeof a->step[0], format, list);
    va_end(list);
}

static void say_place(struct explanation *e, const struct wmi_buffer_place *place)
{
    const struct wm_buffer_request *r = e->request;
    const struct wmi_buffer *b = &e->buffer;
    if (r->idxen && b->add_tid)
        say(e, "index = %" PRIu32 " (VGPR) + %u (lane, ADD_TID) = %" PRIu32, r->index, r->lane, place->index);
    else if (r->idxen)
        say(e, "index = %" PRIu32 " (VGPR)", place->index);
    else if (b->add_tid)
        say(e, "index = %" PRIu32 " (lane, ADD_TID)", place->index);
    else
        say(e, "index = 0 (neither idxen nor ADD_TID)");
    if (r->offen)
        say(e, "offset = %" PRId32 " (instruction) + %" PRIu32 " (VGPR) = %" PRIu32, r->inst_offset,
            r->offset, place->offset);
    else
        say(e, "offset = %" PRIu32 " (instruction)", place->offset);
}

static void say_address(struct explanation *e, const struct wmi_buffer_place *place)
{
    const struct wmi_buffer *b = &e->buffer;
    const uint64_t address = wmi_buffer_address(b, place);
    const bool folded = b->swizzle && b->rules->swizzled_soffset;
    const uint64_t start = b->base + (folded ? 0 : place->soffset);
    if (!b->swizzle) {
        say(e, "linear: %" PRIu32 " x stride %" PRIu32 " + %" PRIu32 " = %" PRIu64, place->index, b->stride,
            place->offset, address - start);
    } else {
        const uint64_t offset = (uint64_t)place->offset + (folded ? place->soffset : 0);
        const uint32_t is = b->index_stride, es = b->element_size;
        if (folded)
            say(e, "swizzled offset = %" PRIu32 " + soffset %" PRIu32 " = %" PRIu64, place->offset,
                place->soffset, offset);
        say(e, "swizzle: index %" PRIu32 " = %" PRIu32 " x %" PRIu32 " (index stride) + %" PRIu32,
            place->index, place->index / is, is, place->index % is);
        say(e, "swizzle: offset %" PRIu64 " = %" PRIu64 " x %" PRIu32 " (element size) + %" PRIu64, offset,
            offset / es, es, offset % es);
        say(e,
            "swizzled: (%" PRIu32 " x stride %" PRIu32 " + %" PRIu64 " x %" PRIu32 ") x %" PRIu32
            " + %" PRIu32 " x %" PRIu32 " + %" PRIu64 " = %" PRIu64,
            place->index / is, b->stride, offset / es, es, is, place->index % is, es, offset % es,
            address - start);
    }
    if (folded)
        say(e, "address = base 0x%" PRIx64 " + %" PRIu64 " = 0x%" PRIx64, b->base, address - start, address);
    else
        say(e, "address = base 0x%" PRIx64 " + soffset %" PRIu32 " + %" PRIu64 " = 0x%" PRIx64, b->base,
            place->soffset, address - start, address);
}

/* ---- the range check ---- */

/* In range if `value` is below `limit`. */
struct comparison {
    const char *value_name, *limit_name;
    uint64_t value, limit;
};

struct rule {
    const char *why; /* the rule that applies */
    struct comparison comparison[2];
    unsigned count; /* 0: not checked */
};

static struct comparison index_in_records(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    return (struct comparison){"index", "NUM_RECORDS", p->index, b->records};
}

static struct comparison offset_in_stride(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    if (b->rules->payload)
        return (struct comparison){"offset of the last byte", "stride", (uint64_t)p->offset + p->bytes - 1,
                                   b->stride};
    return (struct comparison){"offset", "stride", p->offset, b->stride};
}

static struct rule selected_rule(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    const uint64_t last = (uint64_t)p->offset + (b->rules->payload ? p->bytes - 1 : 0);
    const char *what = b->rules->payload ? "offset of the last byte" : "offset";
    const struct rule structured = {
        "OOB_SELECT 0, structured", {index_in_records(b, p), offset_in_stride(b, p)}, 2};
    switch ((enum wmi_buffer_select)b->select) {
    case WMI_BUFFER_STRUCTURED:
        return structured;
    case WMI_BUFFER_INDEX_ONLY:
        return (struct rule){"OOB_SELECT 1, index only", {index_in_records(b, p)}, 1};
    case WMI_BUFFER_EMPTY_ONLY:
        return (struct rule){"OOB_SELECT 2, empty or not", {{"0", "NUM_RECORDS", 0, b->records}}, 1};
    case WMI_BUFFER_RAW:
        break;
    }
    if (!b->swizzle) {
        const char *sum = b->rules->payload ? "offset of the last byte + soffset" : "offset + soffset";
        return (struct rule){"OOB_SELECT 3, raw", {{sum, "NUM_RECORDS", last + p->soffset, b->records}}, 1};
    }
    if (!b->rules->payload) {
        const uint64_t swizzled = wmi_buffer_address(b, p) - b->base - p->soffset;
        return (struct rule){
            "OOB_SELECT 3, raw, swizzled", {{"swizzled offset", "NUM_RECORDS", swizzled, b->records}}, 1};
    }
    if (!b->stride)
        return (struct rule){"OOB_SELECT 3, raw, STRIDE is 0", {{what, "NUM_RECORDS", last, b->records}}, 1};
    struct rule rule = structured;
    rule.why = "OOB_SELECT 3, raw, swizzled: as structured";
    return rule;
}

static struct rule rule_of(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    const enum wmi_buffer_check check = b->rules->check;
    if (check == WMI_BUFFER_CHECK_SELECT)
        return selected_rule(b, p);
    if (b->rules->private_unchecked && b->add_tid && !p->has_index)
        return (struct rule){.why = "ADD_TID without an index, private memory"};
    if (check == WMI_BUFFER_CHECK_IDXEN) {
        if (!p->has_index || !b->stride)
            return (struct rule){p->has_index ? "STRIDE is 0: NUM_RECORDS counts bytes"
                                              : "no idxen: NUM_RECORDS counts bytes, soffset does not count",
                                 {{"offset", "NUM_RECORDS", p->offset, b->records}},
                                 1};
        return (struct rule){"idxen with a stride: NUM_RECORDS counts records",
                             {index_in_records(b, p), offset_in_stride(b, p)},
                             b->swizzle ? 2 : 1};
    }
    if (b->stride && (check == WMI_BUFFER_CHECK_RECORDS || b->swizzle))
        return (struct rule){"STRIDE is not 0: NUM_RECORDS counts records",
                             {index_in_records(b, p), offset_in_stride(b, p)},
                             p->has_index || b->add_tid ? 2 : 1};
    return (struct rule){b->stride ? "not swizzled: NUM_RECORDS counts bytes"
                                   : "STRIDE is 0: NUM_RECORDS counts bytes",
                         {{"index x stride + offset + soffset", "NUM_RECORDS",
                           (uint64_t)p->index * b->stride + p->offset + p->soffset, b->records}},
                         1};
}

static bool say_check(struct explanation *e, const struct wmi_buffer_place *place)
{
    const struct rule rule = rule_of(&e->buffer, place);
    bool ok = true;
    if (!rule.count)
        say(e, "range: not checked (%s)", rule.why);
    for (unsigned i = 0; i < rule.count; i++) {
        const struct comparison *c = &rule.comparison[i];
        const bool here = c->value < c->limit;
        ok &= here;
        say(e, "range: %s %" PRIu64 " %s %s %" PRIu64 "%s%s%s", c->value_name, c->value,
            here ? "<" : ">=", c->limit_name, c->limit, i ? "" : " (", i ? "" : rule.why, i ? "" : ")");
    }
    return ok;
}

/* Explains dword `i` of an access that is checked dword by dword, else the whole access. */
static void explain_element(struct explanation *e, struct wmi_buffer_place place, unsigned i)
{
    struct wm_buffer_answer *a = e->answer;
    if (a->elements > 1)
        say(e, "%s %u: offset %" PRIu32, e->request->format ? "component" : "dword", i, place.offset);
    say_address(e, &place);
    a->address[i] = wmi_buffer_address(&e->buffer, &place);
    a->in_range[i] = say_check(e, &place);
}

static void explain_addr64(struct explanation *e)
{
    const struct wm_buffer_request *r = e->request;
    struct wm_buffer_answer *a = e->answer;
    const uint64_t address = e->buffer.base + r->address + (uint32_t)r->inst_offset + r->soffset;
    a->elements = 1;
    a->address[0] = address;
    a->in_range[0] = true;
    say(e,
        "address = base 0x%" PRIx64 " + 0x%" PRIx64 " (VGPRs) + %" PRId32 " (instruction) + soffset %" PRIu32
        " = 0x%" PRIx64,
        e->buffer.base, r->address, r->inst_offset, r->soffset, address);
    say(e, "range: not checked (addr64)");
}

static enum wm_status check_request(const struct wmi_buffer_rules *rules, const struct wm_buffer_request *r,
                                    struct wm_diag *diag)
{
    if (r->lane > 63)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "lane %u: waves have 64 at most", r->lane);
    if (r->bytes < 1 || r->bytes > 16 || (r->bytes > 4 && r->bytes % 4) || r->bytes == 3)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%u bytes: a lane moves 1, 2, 4, 8, 12 or 16", r->bytes);
    if (r->parts > WM_BUFFER_ELEMENTS || (r->parts && r->bytes % r->parts))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%u parts of %u bytes: expected up to %d, all alike", r->parts,
                        r->bytes, WM_BUFFER_ELEMENTS);
    if (r->addr64 && (r->idxen || r->offen))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "addr64 excludes idxen and offen");
    if (r->addr64 && !rules->addr64)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "addr64: gfx6 and gfx7 only");
    if (r->inst_offset < 0 || r->inst_offset > rules->max_offset)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "instruction offset %" PRId32 ": expected 0 to %" PRId32,
                        r->inst_offset, rules->max_offset);
    return WM_OK;
}

enum wm_status wm_buffer_explain(const char *name, const uint32_t words[4],
                                 const struct wm_buffer_request *request, struct wm_buffer_answer *answer,
                                 struct wm_diag *diag)
{
    const struct wmi_target *target = wmi_target_find(name);
    if (!target)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: not a target that wavemem knows; expected one like gfx900",
                        name ? name : "(null)");
    if (!words || !request || !answer)
        return wmi_null(diag, __func__, !words ? "words" : request ? "answer" : "request");
    const struct wmi_buffer_rules *rules = wmi_buffer_rules(wmi_target_limit(target, WMI_LIMIT_buffer_rules));
    if (!rules)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: no rules for buffers", name);
    const enum wm_status status = check_request(rules, request, diag);
    if (status)
        return status;
    struct explanation e = {
        .answer = answer, .request = request, .buffer = wmi_buffer_decode(rules, words, !request->format)};
    memset(answer, 0, sizeof *answer);
    if (request->addr64) {
        explain_addr64(&e);
        return WM_OK;
    }
    struct wmi_buffer_place place = {
        .has_index = request->idxen,
        .index = (request->idxen ? request->index : 0) + (e.buffer.add_tid ? request->lane : 0),
        .offset = (uint32_t)request->inst_offset + (request->offen ? request->offset : 0),
        .soffset = request->soffset,
        .bytes = request->format || request->atomic || request->bytes < 4 ? request->bytes : 4,
    };
    if (request->format && request->parts > 1)
        place.bytes = request->bytes / request->parts;
    answer->elements = request->bytes / place.bytes;
    say_place(&e, &place);
    bool all = true;
    for (unsigned i = 0; i < answer->elements; i++) {
        explain_element(&e, place, i);
        all &= answer->in_range[i];
        place.offset += place.bytes;
    }
    if (request->format && answer->elements > 1) {
        say(&e, "range: a lane converts all its components or none: %s", all ? "all" : "none");
        for (unsigned i = 0; i < answer->elements; i++)
            answer->in_range[i] = all;
    }
    return WM_OK;
}
