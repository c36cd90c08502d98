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
    bool swizzle_enable; /* of the V# */
    unsigned type;       /* TYPE */
};

static uint64_t index_of(const struct wmi_buffer_place *place)
{
    return (uint64_t)place->index + place->lane;
}

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
    if (b->lane && b->idxen)
        say(e, "index = %" PRIu32 " (VGPR) + %" PRIu32 " (lane, ADD_TID) = %" PRIu64, place->index,
            place->lane, index_of(place));
    else if (b->idxen)
        say(e, "index = %" PRIu32 " (VGPR%s)", place->index,
            !b->add_tid                                  ? ""
            : b->rules->lane == WMI_BUFFER_LANE_REPLACED ? "; it replaces ADD_TID's lane"
                                                         : "; ADD_TID adds no lane in a linear buffer");
    else if (b->lane)
        say(e, "index = %" PRIu32 " (lane, ADD_TID)", place->lane);
    else
        say(e, "index = 0 (neither idxen nor ADD_TID)");
    if (r->offen)
        say(e, "offset = %" PRId32 " (instruction) + %" PRIu32 " (VGPR) = %" PRIu64, r->inst_offset,
            r->offset, place->offset);
    else
        say(e, "offset = %" PRIu64 " (instruction)", place->offset);
}

/* Why a buffer with SWIZZLE_ENABLE is addressed as a linear one; empty: it has none, or is swizzled. */
static const char *why_linear(const struct explanation *e)
{
    static const char *const missing[] = {[WMI_BUFFER_SWIZZLE_ALWAYS] = "",
                                          [WMI_BUFFER_SWIZZLE_LANE] = " (SWIZZLE_ENABLE needs ADD_TID)",
                                          [WMI_BUFFER_SWIZZLE_INDEX] =
                                              " (SWIZZLE_ENABLE needs idxen or ADD_TID)"};
    return e->swizzle_enable && !e->buffer.swizzle ? missing[e->buffer.rules->swizzle] : "";
}

static void say_address(struct explanation *e, const struct wmi_buffer_place *place)
{
    const struct wmi_buffer *b = &e->buffer;
    const uint64_t address = wmi_buffer_address(b, place), index = index_of(place);
    const uint64_t in_buffer = wmi_buffer_offset(b, place);
    if (b->contiguous && place->part) {
        say(e, "swizzle: elements of 16 bytes: %" PRIu32 " after the first byte's %" PRIu64, place->part,
            in_buffer - place->part);
    } else if (!b->swizzle) {
        say(e, "linear: %" PRIu64 " x stride %" PRIu32 " + %" PRIu64 " = %" PRIu64 "%s", index, b->stride,
            place->offset, in_buffer, why_linear(e));
    } else {
        const uint64_t offset = place->offset;
        const uint32_t is = b->index_stride, es = b->element_size;
        say(e, "swizzle: index %" PRIu64 " = %" PRIu64 " x %" PRIu32 " (index stride) + %" PRIu64, index,
            index / is, is, index % is);
        say(e, "swizzle: offset %" PRIu64 " = %" PRIu64 " x %" PRIu32 " (element size) + %" PRIu64, offset,
            offset / es, es, offset % es);
        say(e,
            "swizzled: (%" PRIu64 " x stride %" PRIu32 " + %" PRIu64 " x %" PRIu32 ") x %" PRIu32
            " + %" PRIu64 " x %" PRIu32 " + %" PRIu64 " = %" PRIu64,
            index / is, b->stride, offset / es, es, is, index % is, es, offset % es, in_buffer);
    }
    say(e, "address = base 0x%" PRIx64 " + soffset %" PRIu32 " + %" PRIu64 " = 0x%" PRIx64 "%s", b->base,
        place->soffset, in_buffer, address,
        address == b->base + place->soffset + in_buffer ? "" : " (48 bits, sign-extended)");
}

/* ---- the range check ---- */

/* In range if `value` is below `limit`, or not above it. */
struct comparison {
    const char *value_name, *limit_name;
    uint64_t value, limit;
    bool up_to; /* `value` may equal `limit` */
};

struct rule {
    const char *why; /* the rule that applies */
    struct comparison comparison[2];
    unsigned count; /* 0: not checked */
};

static struct comparison index_in_records(const struct wmi_buffer *b, uint64_t index)
{
    return (struct comparison){"index", "NUM_RECORDS", index, b->records, false};
}

static struct comparison end_in_stride(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    return (struct comparison){"offset + bytes", "stride", p->offset + p->bytes, b->stride, true};
}

static struct comparison offset_in_stride(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    if (b->rules->payload)
        return end_in_stride(b, p);
    return (struct comparison){"offset", "stride", p->offset, b->stride, false};
}

/* All bytes are below NUM_RECORDS; `offset` does not include SOFFSET. */
static struct comparison bytes_in_records(const struct wmi_buffer *b, const struct wmi_buffer_place *p,
                                          const char *name, uint64_t offset)
{
    return (struct comparison){name, "NUM_RECORDS", offset + p->soffset + p->bytes, b->records, true};
}

static struct rule selected_rule(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    const struct comparison index = index_in_records(b, index_of(p)), in_record = offset_in_stride(b, p);
    switch ((enum wmi_buffer_select)b->select) {
    case WMI_BUFFER_STRUCTURED:
        return (struct rule){"OOB_SELECT 0, structured", {index, in_record}, 2};
    case WMI_BUFFER_INDEX_ONLY:
        return (struct rule){"OOB_SELECT 1, index only", {index}, 1};
    case WMI_BUFFER_EMPTY_ONLY:
        return (struct rule){"OOB_SELECT 2, empty or not", {{"0", "NUM_RECORDS", 0, b->records, false}}, 1};
    case WMI_BUFFER_RAW:
        break;
    }
    if (b->swizzle && b->stride)
        return (struct rule){"OOB_SELECT 3, raw, swizzled: as structured", {index, end_in_stride(b, p)}, 2};
    return (struct rule){b->swizzle ? "OOB_SELECT 3, raw, STRIDE is 0" : "OOB_SELECT 3, raw",
                         {bytes_in_records(b, p, "offset + soffset + bytes", p->offset)},
                         1};
}

static struct rule bytes_rule(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    const uint64_t before = index_of(p) * b->stride + p->offset;
    const struct comparison all = bytes_in_records(b, p, "index x stride + offset + soffset + bytes", before);
    const struct comparison record = {"offset + soffset + bytes", "stride", p->offset + p->soffset + p->bytes,
                                      b->stride, true};
    if (b->swizzle)
        return (struct rule){.why = "swizzled"};
    return b->select ? (struct rule){"OOB_SELECT 1, bytes and records", {all, record}, 2}
                     : (struct rule){"OOB_SELECT 0, bytes", {all}, 1};
}

static struct rule rule_of(const struct wmi_buffer *b, const struct wmi_buffer_place *p)
{
    const enum wmi_buffer_check check = b->rules->check;
    if (p->addr64)
        return (struct rule){.why = "addr64"};
    if (check == WMI_BUFFER_CHECK_SELECT)
        return selected_rule(b, p);
    if (check == WMI_BUFFER_CHECK_BYTES)
        return bytes_rule(b, p);
    if (b->rules->private_unchecked && b->add_tid && !b->idxen)
        return (struct rule){.why = "ADD_TID without an index, private memory"};
    if (check == WMI_BUFFER_CHECK_IDXEN && b->idxen && b->strided)
        return (struct rule){
            "idxen with a stride: NUM_RECORDS counts records", {index_in_records(b, p->index)}, 1};
    if (check == WMI_BUFFER_CHECK_IDXEN)
        return (struct rule){b->idxen ? "STRIDE is 0: NUM_RECORDS counts bytes"
                                      : "no idxen: NUM_RECORDS counts bytes",
                             {bytes_in_records(b, p, "offset + soffset + bytes", p->offset)},
                             1};
    if (b->stride && (check == WMI_BUFFER_CHECK_RECORDS || b->swizzle))
        return (struct rule){"STRIDE is not 0: NUM_RECORDS counts records",
                             {index_in_records(b, index_of(p)), offset_in_stride(b, p)},
                             b->idxen || b->add_tid ? 2 : 1};
    return (struct rule){b->stride ? "not swizzled: NUM_RECORDS counts bytes"
                                   : "STRIDE is 0: NUM_RECORDS counts bytes",
                         {bytes_in_records(b, p, "index x stride + offset + soffset + bytes",
                                           index_of(p) * b->stride + p->offset)},
                         1};
}

static bool say_check(struct explanation *e, const struct wmi_buffer_place *place)
{
    const struct rule rule = rule_of(&e->buffer, place);
    bool ok = true;
    if (e->buffer.unbound) {
        say(e, "range: the V# is not bound (%s): a load gives 0, a store does nothing",
            e->type ? "TYPE is not 0" : "its format is 0, without ADD_TID");
        return false;
    }
    if (!rule.count)
        say(e, "range: not checked (%s)", rule.why);
    for (unsigned i = 0; i < rule.count; i++) {
        const struct comparison *c = &rule.comparison[i];
        const bool here = c->value < c->limit + c->up_to;
        ok &= here;
        say(e, "range: %s %" PRIu64 " %s %s %" PRIu64 "%s%s%s", c->value_name, c->value,
            c->up_to ? here ? "<=" : ">"
            : here   ? "<"
                     : ">=",
            c->limit_name, c->limit, i ? "" : " (", i ? "" : rule.why, i ? "" : ")");
    }
    return ok;
}

/* Explains dword `i` of an access that is checked dword by dword, else the whole access. */
static void explain_element(struct explanation *e, struct wmi_buffer_place place, unsigned i)
{
    struct wm_buffer_answer *a = e->answer;
    if (a->elements > 1)
        say(e, "%s %u: offset %" PRIu64, e->request->format ? "component" : "dword", i, place.offset);
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
    say(e,
        "address = base 0x%" PRIx64 " + 0x%" PRIx64 " (VGPRs) + %" PRId32 " (instruction) + soffset %" PRIu32
        " = 0x%" PRIx64,
        e->buffer.base, r->address, r->inst_offset, r->soffset, address);
    a->in_range[0] = say_check(e, &(struct wmi_buffer_place){.addr64 = true});
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
    struct explanation e = {.answer = answer,
                            .request = request,
                            .buffer = wmi_buffer_decode(rules, words, !request->format, request->idxen),
                            .swizzle_enable = wmi_buffer_swizzle_enable(rules, words),
                            .type = words[3] >> 30};
    memset(answer, 0, sizeof *answer);
    if (request->addr64) {
        explain_addr64(&e);
        return WM_OK;
    }
    struct wmi_buffer_place place = {
        .index = request->idxen ? request->index : 0,
        .lane = e.buffer.lane ? request->lane : 0,
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
        place.part += place.bytes;
    }
    if (request->format && answer->elements > 1) {
        say(&e, "range: a lane converts all its components or none: %s", all ? "all" : "none");
        for (unsigned i = 0; i < answer->elements; i++)
            answer->in_range[i] = all;
    }
    return WM_OK;
}
