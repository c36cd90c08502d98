/* SPDX-License-Identifier: MIT */
/* Explains the addresses of one lane: a formula with its numbers for each step.
 *
 * The formulas are from the sources that execution cites; address.c shows them only if they give the same
 * addresses as execution. */
#include "report/address.h"

#include "base/text.h"
#include "memory/buffer.h"
#include "memory/format.h"
#include "memory/image.h"
#include "profile/cost/gpu.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 40, GDS_BYTES = 1 << 16 };

__attribute__((format(printf, 2, 3))) static void say(struct wmi_explained *e, const char *format, ...)
{
    struct wm_address_answer *a = e->answer;
    if (a->step_count == WM_ADDRESS_STEPS)
        return;
    va_list list;
    va_start(list, format);
    wmi_format_list(a->step[a->step_count++], sizeof a->step[0], format, list);
    va_end(list);
}

static void add_address(struct wmi_explained *e, uint64_t address)
{
    if (e->addresses < WM_ADDRESS_ELEMENTS)
        e->address[e->addresses++] = address;
}

/* ---- operands and their values ---- */

/* Returns the operand in `role` and its text in `name`; NULL: there is none, or it is "off". */
static const struct wmi_operand *find(const struct wmi_explained *e, enum wmi_role role, char name[NAME])
{
    for (unsigned i = 0; i < e->insn->operands; i++) {
        const struct wmi_operand *operand = &e->insn->operand[i];
        if (operand->role != role || operand->kind == WMI_OPERAND_NONE || operand->kind == WMI_OPERAND_OFF)
            continue;
        wmi_print_operand(e->target, e->insn, i, name, NAME);
        return operand;
    }
    return NULL;
}

/* Word `word` of a scalar operand. */
static uint32_t scalar(const struct wmi_explained *e, const struct wmi_operand *operand, unsigned word)
{
    const uint32_t *s = e->frame->s;
    switch (operand->kind) {
    case WMI_OPERAND_SGPR:
        return s[operand->reg + word];
    case WMI_OPERAND_TTMP:
        return s[WMI_S_TTMP + operand->reg + word];
    case WMI_OPERAND_SPECIAL:
        switch (operand->reg) {
        case WMI_SPECIAL_M0:
            return s[WMI_S_M0];
        case WMI_SPECIAL_VCC:
        case WMI_SPECIAL_VCC_LO:
            return s[WMI_S_VCC + word];
        case WMI_SPECIAL_VCC_HI:
            return s[WMI_S_VCC + 1];
        case WMI_SPECIAL_FLAT_SCRATCH:
        case WMI_SPECIAL_FLAT_SCRATCH_LO:
            return s[WMI_S_FLAT_SCRATCH + word];
        default:
            return 0; /* null; for other registers the formula may be wrong, and is then not shown */
        }
    default:
        return (uint32_t)(operand->value >> 32 * word);
    }
}

static uint64_t scalar_64(const struct wmi_explained *e, const struct wmi_operand *operand)
{
    return scalar(e, operand, 0) | (uint64_t)scalar(e, operand, 1) << 32;
}

/* Word `word` of a VGPR operand, for the lane. */
static uint32_t vector(const struct wmi_explained *e, const struct wmi_operand *operand, unsigned word)
{
    uint32_t value;
    memcpy(&value,
           (const char *)e->frame + e->vgpr_offset + (operand->reg + word) * (size_t)e->row_bytes +
               4 * e->lane,
           sizeof value);
    return value;
}

static uint64_t frame_64(const struct wmi_explained *e, unsigned slot)
{
    uint64_t value;
    memcpy(&value, &e->frame->s[slot], sizeof value);
    return value;
}

/* ---- buffers ---- */

/* Sets the units in which a converting instruction is range-checked; false: the format is invalid. */
static bool format_of(struct wmi_explained *e, const uint32_t words[4], struct wm_buffer_request *r)
{
    const struct wmi_format_rules *rules =
        wmi_format_rules(wmi_target_limit(e->target, WMI_LIMIT_format_rules));
    const int32_t *field = e->insn->field;
    const bool typed = wmi_rows[e->insn->id].class == WMI_CLASS_TBUFFER;
    const unsigned given = wmi_format_unified(rules)
                               ? (unsigned)field[WMI_FIELD_format]
                               : (unsigned)field[WMI_FIELD_dfmt] | (unsigned)field[WMI_FIELD_nfmt] << 4;
    const unsigned own = wmi_format_code_of(rules, words[3]);
    const struct wmi_format format = wmi_format_of_instruction(rules, typed, given, words[3]);
    char name[NAME];
    unsigned bytes;
    wmi_format_name(&format, name, sizeof name);
    say(e, "format = %s (%u, of the %s%s)", name, typed ? given : own, typed ? "instruction" : "V#",
        typed && !format.layout->components && wmi_format_of(rules, given).layout->components
            ? "; the V# has none, so it is not bound"
            : "");
    wmi_format_places(format.layout, &r->parts, &bytes);
    r->format = true;
    r->bytes = r->parts * bytes;
    return r->parts != 0;
}

static void explain_buffer(struct wmi_explained *e)
{
    const struct wmi_instruction *insn = e->insn;
    const struct wmi_row *row = &wmi_rows[insn->id];
    char addr_name[NAME], name[NAME], offset_name[NAME];
    const struct wmi_operand *addr = find(e, WMI_ROLE_ADDR, addr_name), *rsrc = find(e, WMI_ROLE_RSRC, name);
    const struct wmi_operand *soffset = find(e, WMI_ROLE_OFFSET, offset_name);
    uint32_t words[4];
    struct wm_buffer_answer answer;
    struct wm_buffer_request r = {
        .idxen = insn->field[WMI_FIELD_idxen],
        .offen = insn->field[WMI_FIELD_offen],
        .addr64 = insn->field[WMI_FIELD_addr64],
        .inst_offset = insn->field[WMI_FIELD_offset],
        .soffset = soffset ? scalar(e, soffset, 0) : 0,
        .lane = e->lane,
        .bytes = (unsigned)row->elements * row->bytes,
        .atomic = row->memory == WMI_MEMORY_ATOMIC,
    };
    if (!rsrc)
        return;
    for (unsigned i = 0; i < 4; i++)
        words[i] = scalar(e, rsrc, i);
    say(e, "V# %s = 0x%08" PRIx32 " 0x%08" PRIx32 " 0x%08" PRIx32 " 0x%08" PRIx32, name, words[0], words[1],
        words[2], words[3]);
    if (row->flags & WMI_ROW_FORMAT && !format_of(e, words, &r)) {
        say(e, "an invalid format has no components: a load gives 0, a store does nothing");
        add_address(e, 0);
        return;
    }
    if (addr && r.addr64)
        r.address = vector(e, addr, 0) | (uint64_t)vector(e, addr, 1) << 32;
    if (addr && r.idxen)
        r.index = vector(e, addr, 0);
    if (addr && r.offen)
        r.offset = vector(e, addr, r.idxen ? 1 : 0);
    if (wm_buffer_explain(wmi_target_name(e->target), words, &r, &answer, NULL) != WM_OK)
        return;
    for (size_t i = 0; i < answer.step_count; i++)
        say(e, "%s", answer.step[i]);
    for (unsigned i = 0; i < answer.elements; i++)
        add_address(e, answer.address[i]);
}

/* ---- loads to LDS ---- */

/* The LDS address of loads to LDS. Sources: Vega ISA, "LDS" bit; CDNA 3 and 4 ISA, "Memory Buffer Load to
 * LDS"; same as in execution. */
static void say_lds_place(struct wmi_explained *e)
{
    const struct wmi_row *row = &wmi_rows[e->insn->id];
    const struct wmi_operand *result = wmi_operand(e->insn, WMI_ROLE_D);
    if (row->memory != WMI_MEMORY_LOAD || (result && result->kind == WMI_OPERAND_VGPR))
        return;
    const bool buffer = row->class == WMI_CLASS_BUFFER || row->class == WMI_CLASS_TBUFFER;
    const bool wide = buffer && wmi_target_limit(e->target, WMI_LIMIT_lds_bytes) > UINT16_MAX + 1u;
    const bool low = buffer || e->insn->field[WMI_FIELD_lds];
    const uint32_t m0 = e->frame->s[WMI_S_M0] & (wide ? 0x3ffff : low ? 0xffff : 0x3fffc);
    const int32_t offset = e->insn->field[WMI_FIELD_offset];
    const unsigned step = row->elements > 1 ? 16 : 4;
    say(e, "to LDS address = %s %" PRIu32 " + %" PRId32 " (instruction) + lane %u x %u = %" PRId64,
        wide  ? "M0[17:0]"
        : low ? "M0[15:0]"
              : "M0[17:2] x 4 =",
        m0, offset, e->lane, step, (int64_t)m0 + offset + step * (int64_t)e->lane);
}

/* ---- FLAT, GLOBAL, SCRATCH ---- */

/* The distance of an access's element `i` from its address, in bytes: in a block, M0 selects registers. */
static uint32_t element_distance(const struct wmi_explained *e, unsigned i)
{
    const bool block = wmi_rows[e->insn->id].elements > 4;
    uint32_t left = e->frame->s[WMI_S_M0];
    for (unsigned k = 0; block && k < i; k++)
        left &= left - 1;
    return block && left ? 4 * (uint32_t)__builtin_ctz(left) : 0;
}

static void say_block(struct wmi_explained *e)
{
    if (wmi_rows[e->insn->id].elements > 4)
        say(e, "block: the registers that M0 0x%08" PRIx32 " selects, each 4 bytes x its number in the block",
            e->frame->s[WMI_S_M0]);
}

/* Private memory: the dwords of a wave's lanes are interleaved. Source: RDNA 3 ISA, scratch addressing. */
static void explain_private(struct wmi_explained *e, uint64_t offset)
{
    const uint64_t value = frame_64(e, WMI_S_FLAT_SCRATCH);
    const bool split = wmi_target_limit(e->target, WMI_LIMIT_split_scratch); /* LO: size; HI: offset / 256 */
    const uint64_t start = split ? (value >> 32) * 256 : value;
    const unsigned lanes = e->frame->wave_size;
    const struct wm_address_answer *a = e->answer;
    const bool block = wmi_rows[e->insn->id].elements > 4;
    const uint64_t first = offset;
    for (unsigned i = 0; i < a->elements; i++) {
        offset = first + (block ? element_distance(e, i) : 4 * i);
        const uint64_t address = start + offset / 4 * 4 * lanes + 4 * e->lane + offset % 4;
        say(e,
            "address = %s 0x%" PRIx64 " + (%" PRIu64 " / 4) x 4 x %u lanes + lane %u x 4 + %" PRIu64
            " = 0x%" PRIx64,
            split ? "FLAT_SCRATCH_HI x 256 =" : "FLAT_SCRATCH", start, offset, lanes, e->lane, offset % 4,
            address);
        add_address(e, address);
    }
    if (split)
        say(e, "range: up to FLAT_SCRATCH_LO %" PRIu32 " bytes of a lane", (uint32_t)value);
}

static void explain_flat(struct wmi_explained *e)
{
    char name[NAME];
    const struct wmi_operand *addr = find(e, WMI_ROLE_ADDR, name);
    if (!addr)
        return;
    const uint64_t base = vector(e, addr, 0) | (uint64_t)vector(e, addr, 1) << 32;
    const int64_t offset = e->insn->field[WMI_FIELD_offset];
    const struct {
        const char *name;
        uint64_t base, limit;
    } apertures[] = {
        {"shared", frame_64(e, WMI_S_SHARED_BASE), frame_64(e, WMI_S_SHARED_LIMIT)},
        {"private", frame_64(e, WMI_S_PRIVATE_BASE), frame_64(e, WMI_S_PRIVATE_LIMIT)},
    };
    unsigned i = 0;
    say(e, "%s = 0x%" PRIx64 "; the aperture is chosen before the offset is added", name, base);
    for (; i < 2; i++) {
        const bool in = base >= apertures[i].base && base <= apertures[i].limit;
        say(e, "%s aperture 0x%" PRIx64 " to 0x%" PRIx64 ": %s", apertures[i].name, apertures[i].base,
            apertures[i].limit, in ? "yes" : "no");
        if (in)
            break;
    }
    const uint32_t bits =
        i < 2 ? wmi_target_limit(e->target, i ? WMI_LIMIT_flat_private_bits : WMI_LIMIT_flat_lds_bits) : 64;
    const uint64_t sum = base + (uint64_t)offset - (i < 2 ? apertures[i].base : 0);
    const uint64_t address = sum & (UINT64_MAX >> (64 - bits));
    if (i == 2)
        say(e, "memory: address = 0x%" PRIx64 " + %" PRId64 " (instruction) = 0x%" PRIx64, base, offset,
            address);
    else
        say(e, "%s = 0x%" PRIx64 " - 0x%" PRIx64 " + %" PRId64 " (instruction) = %" PRIu64,
            i ? "the lane's offset" : "LDS address", base, apertures[i].base, offset, sum);
    if (address != sum)
        say(e, "its %" PRIu32 " bits: %" PRIu64, bits, address);
    if (i == 1) {
        explain_private(e, address);
        return;
    }
    for (unsigned k = 0; k < e->answer->elements; k++) {
        const uint64_t at = address + (i == 0 ? k * e->answer->bytes : 0);
        if (i == 0)
            say(e, "range: %" PRIu64 " + %u %s %" PRIu32 " bytes of LDS", at, e->answer->bytes,
                at + e->answer->bytes <= e->lds_bytes ? "<=" : ">", e->lds_bytes);
        add_address(e, at);
    }
}

static void explain_global(struct wmi_explained *e)
{
    char addr_name[NAME] = "", name[NAME] = "";
    const struct wmi_operand *addr = find(e, WMI_ROLE_ADDR, addr_name);
    const struct wmi_operand *saddr = find(e, WMI_ROLE_SADDR, name);
    const int64_t offset = e->insn->field[WMI_FIELD_offset];
    const uint64_t base = saddr ? scalar_64(e, saddr) : 0;
    uint64_t address = base + (uint64_t)offset;
    if (saddr && addr) {
        const uint32_t value = vector(e, addr, 0);
        address += value;
        say(e,
            "address = %s 0x%" PRIx64 " + %s %" PRIu32 " (unsigned) + %" PRId64 " (instruction) = 0x%" PRIx64,
            name, base, addr_name, value, offset, address);
    } else if (addr) {
        const uint64_t value = vector(e, addr, 0) | (uint64_t)vector(e, addr, 1) << 32;
        address += value;
        say(e, "address = %s 0x%" PRIx64 " + %" PRId64 " (instruction) = 0x%" PRIx64, addr_name, value,
            offset, address);
    } else {
        address += 4 * e->lane;
        say(e, "address = %s 0x%" PRIx64 " + lane %u x 4 + %" PRId64 " (instruction) = 0x%" PRIx64, name,
            base, e->lane, offset, address);
    }
    say_block(e);
    say(e, "range: none; the pages decide");
    for (unsigned i = 0; i < e->answer->elements; i++)
        add_address(e, address + element_distance(e, i));
}

static void explain_scratch(struct wmi_explained *e)
{
    char addr_name[NAME], name[NAME];
    const struct wmi_operand *addr = find(e, WMI_ROLE_ADDR, addr_name);
    const struct wmi_operand *saddr = find(e, WMI_ROLE_SADDR, name);
    const int32_t offset = e->insn->field[WMI_FIELD_offset];
    const uint32_t a = addr ? vector(e, addr, 0) : 0, s = saddr ? scalar(e, saddr, 0) : 0;
    const uint32_t sum = a + s + (uint32_t)offset;
    if (addr && saddr)
        say(e, "the lane's offset = %s %" PRIu32 " + %s %" PRIu32 " + %" PRId32 " (instruction) = %" PRIu32,
            name, s, addr_name, a, offset, sum);
    else if (addr || saddr)
        say(e, "the lane's offset = %s %" PRIu32 " + %" PRId32 " (instruction) = %" PRIu32,
            addr ? addr_name : name, addr ? a : s, offset, sum);
    else
        say(e, "the lane's offset = %" PRId32 " (instruction)", offset);
    say_block(e);
    explain_private(e, sum);
}

/* ---- DS ---- */

/* Says which lane this one reads, and returns it. Source: RDNA 3 and CDNA 3 ISA, DS_SWIZZLE_B32. */
static unsigned say_swizzle(struct wmi_explained *e, uint32_t offset)
{
    const uint32_t low = offset & 31, middle = offset >> 5 & 31, high = offset >> 10 & 31;
    const unsigned half = e->lane & 32, lane = e->lane & 31;
    const char *upper = half ? ", of the upper 32" : "";
    if (offset >= 0xe000) {
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < 5; bit++)
            reversed |= (lane >> bit & 1) << (4 - bit);
        const int kept = __builtin_popcount(low);
        const unsigned other = half | reversed >> kept | (lane & low);
        say(e, "reads lane %u: FFT, the bits of %u reversed are %u, >> %d | (%u & mask %" PRIu32 ")%s", other,
            lane, reversed, kept, lane, low, upper);
        return other;
    }
    if (offset >= 0xc000) {
        const bool right = high & 1;
        const unsigned by = right ? 32 - middle : middle;
        const unsigned other = half | (lane & low) | ((lane + by) & ~low & 31);
        say(e,
            "reads lane %u: (%u %s %" PRIu32 ") modulo 32, with the bits of %u that mask %" PRIu32 " has%s",
            other, lane, right ? "-" : "+", middle, lane, low, upper);
        return other;
    }
    if (offset & 0x8000) {
        const unsigned other = (e->lane & ~3u) | (offset >> 2 * (lane & 3) & 3);
        say(e, "reads lane %u: of its four lanes number pattern[%u:%u] = %u", other, 2 * (lane & 3) + 1,
            2 * (lane & 3), other & 3);
        return other;
    }
    const unsigned other = half | (((lane & low) | middle) ^ high);
    say(e, "reads lane %u: ((%u & %" PRIu32 ") | %" PRIu32 ") ^ %" PRIu32 "%s", other, lane, low, middle,
        high, upper);
    return other;
}

/* ds_permute_b32, ds_bpermute_b32 and ds_swizzle_b32: four bytes of "address" per lane. Sources: Vega ISA,
 * the three instructions; LLVM for the number of lanes that exchange data. */
static void explain_exchange(struct wmi_explained *e)
{
    char name[NAME];
    const struct wmi_operand *addr = find(e, WMI_ROLE_ADDR, name);
    const uint32_t offset = (uint32_t)e->insn->field[WMI_FIELD_offset] & 0xffff;
    const unsigned lane = e->lane;
    unsigned other;
    if (e->insn->id == WMI_INSN_ds_swizzle_b32) {
        other = say_swizzle(e, offset);
    } else {
        if (!addr)
            return;
        const unsigned lanes = wmi_target_limit(e->target, WMI_LIMIT_exchange_lanes) < e->frame->wave_size
                                   ? wmi_target_limit(e->target, WMI_LIMIT_exchange_lanes)
                                   : e->frame->wave_size;
        const uint32_t at = vector(e, addr, 0) + offset;
        other = (lane & ~(lanes - 1)) | (at / 4 & (lanes - 1));
        say(e, "%s lane %u: (%s %" PRIu32 " + %" PRIu32 " (instruction)) / 4 = %" PRIu32 ", modulo %u lanes",
            e->insn->id == WMI_INSN_ds_permute_b32 ? "writes to" : "reads", other, name, vector(e, addr, 0),
            offset, at / 4, lanes);
    }
    add_address(e, 4 * other);
}

/* ds_*_src2_*: the operation's data come from a second place. Source: src/exec/memory/lds_lanes.c. */
static void explain_two_places(struct wmi_explained *e, const struct wmi_operand *addr, const char *name)
{
    const uint32_t value = vector(e, addr, 0), offset = (uint32_t)e->insn->field[WMI_FIELD_offset] & 0xffff;
    const bool by_address = offset & 0x8000;
    const uint32_t first = by_address ? value & 0x1ffff : value;
    const int32_t distance = by_address ? (int32_t)value >> 17 : (int32_t)(offset << 17) >> 17;
    say(e, "address = %s%s %" PRIu32, name, by_address ? "[16:0]" : "", first);
    say(e, "data from %" PRIu32 " + %" PRId32 " (%s) x 4 bytes = %" PRIu32, first, distance,
        by_address ? "ADDR[31:17]" : "instruction", first + 4 * (uint32_t)distance);
    say(e, "range: %" PRIu32 " + %u %s %" PRIu32 " bytes of LDS", first, e->answer->bytes,
        (uint64_t)first + e->answer->bytes <= e->lds_bytes ? "<=" : ">", e->lds_bytes);
    add_address(e, first);
}

static void explain_lds(struct wmi_explained *e)
{
    char name[NAME];
    const struct wmi_operand *addr = find(e, WMI_ROLE_ADDR, name);
    const struct wmi_row *row = &wmi_rows[e->insn->id];
    const struct wm_address_answer *a = e->answer;
    const unsigned places = row->elements == 2 ? 2 : 1;
    const unsigned parts = a->elements / places; /* of a place, if a lane is partly in range */
    const uint32_t unit = parts * a->bytes * (row->flags & WMI_ROW_STRIDE64 ? 64 : 1);
    const uint32_t m0 = e->frame->s[WMI_S_M0] & 0xffff;
    const bool gds = e->insn->field[WMI_FIELD_gds];
    const char *memory = gds ? "the GDS" : "LDS";
    char data[NAME];
    uint32_t size = e->lds_bytes;
    if (row->memory == WMI_MEMORY_ATOMIC && addr && !find(e, WMI_ROLE_DATA, data)) {
        explain_two_places(e, addr, name);
        return;
    }
    if (gds) { /* see src/exec/memory/gds.c */
        const uint32_t base = addr ? e->frame->s[WMI_S_M0] >> 16 : 0, left = GDS_BYTES - base;
        size = addr && m0 < left ? m0 : left;
        say(e,
            "the instruction's part of the GDS: from %" PRIu32 " (M0[31:16]) on %" PRIu32 " bytes (M0[15:0])",
            base, size);
    } else if (wmi_target_limit(e->target, WMI_LIMIT_lds_m0) && addr && e->frame->s[WMI_S_M0] < size) {
        size = e->frame->s[WMI_S_M0] + 3 < size ? (e->frame->s[WMI_S_M0] + 3) & ~3u : size;
        say(e, "M0 lets %" PRIu32 " of %" PRIu32 " bytes of LDS be seen", size, e->lds_bytes);
    }
    for (unsigned i = 0; i < places; i++) {
        const uint32_t field = (uint32_t)e->insn->field[places == 1 ? WMI_FIELD_offset
                                                        : i         ? WMI_FIELD_offset1
                                                                    : WMI_FIELD_offset0];
        const uint32_t offset = places == 1 ? field & 0xffff : field * unit;
        uint32_t address = offset + (addr ? vector(e, addr, 0) : m0);
        if (addr && places > 1)
            say(e, "address = %s %" PRIu32 " + %" PRIu32 " (offset%u) x %" PRIu32 " bytes = %" PRIu32, name,
                vector(e, addr, 0), field, i, unit, address);
        else if (addr)
            say(e, "address = %s %" PRIu32 " + %" PRIu32 " (instruction) = %" PRIu32, name,
                vector(e, addr, 0), offset, address);
        else if (address == (uint32_t)a->element[i].address[e->lane])
            say(e, "address = M0[15:0] %" PRIu32 " + %" PRIu32 " (instruction) = %" PRIu32, m0, offset,
                address);
        else {
            address = ((m0 + offset) & ~3u) + 4 * e->lane;
            say(e, "address = M0[15:0] %" PRIu32 " + %" PRIu32 " (instruction) + lane %u x 4 = %" PRIu32, m0,
                offset, e->lane, address);
        }
        for (unsigned k = 0; k < parts; k++) {
            const uint64_t at = (uint64_t)address + k * a->bytes;
            say(e, "range: %" PRIu64 " + %u %s %" PRIu32 " bytes of %s", at, a->bytes,
                at + a->bytes <= size ? "<=" : ">", size, memory);
            add_address(e, at);
        }
    }
}

/* ---- SMEM ---- */

/* Source: RDNA 3 and CDNA 3 ISA, "Scalar Memory Addressing": dword accesses
 * ignore the two low bits of each component. */
static void explain_scalar(struct wmi_explained *e)
{
    char name[NAME], offset_name[NAME];
    const struct wmi_operand *base = find(e, WMI_ROLE_ADDR, name);
    const struct wmi_operand *rsrc = base ? NULL : find(e, WMI_ROLE_RSRC, name);
    const struct wmi_operand *offset = find(e, WMI_ROLE_OFFSET, offset_name);
    if (!base && !rsrc)
        return;
    const unsigned bytes = wmi_rows[e->insn->id].bytes;
    const uint64_t mask = ~(uint64_t)(bytes < 4 ? bytes - 1 : 3);
    uint64_t start = base ? scalar_64(e, base) : wmi_buffer_canonical(scalar_64(e, rsrc));
    say(e, rsrc ? "base of V# %s = 0x%" PRIx64 : "base = %s 0x%" PRIx64, name, start);
    start &= mask;
    const bool literal = offset && offset->kind == WMI_OPERAND_LITERAL;
    const bool constant = offset && (literal || offset->kind == WMI_OPERAND_IMMEDIATE);
    const int32_t *field = e->insn->field;
    const bool both =
        wmi_target_limit(e->target, WMI_LIMIT_smem_soffset) || (field[WMI_FIELD_soe] && field[WMI_FIELD_imm]);
    /* Source: CDNA 4 ISA: the register is in units of 64 bytes. */
    const uint32_t scale = wmi_rows[e->insn->id].group == WMI_GROUP_SCRATCH ? 64 : 1;
    const uint32_t soffset = offset && !constant ? scalar(e, offset, 0) * scale : 0;
    const int64_t unit = constant ? wmi_target_limit(e->target, WMI_LIMIT_smem_unit) : 1;
    const int64_t immediate = literal    ? (int64_t)(uint32_t)offset->value
                              : constant ? (int64_t)offset->value
                              : both     ? field[WMI_FIELD_simm]
                                         : 0;
    const uint64_t address = start + ((uint64_t)(immediate * unit) & mask) + (soffset & mask);
    if (offset && !constant)
        say(e, "offset = %s %" PRIu32 "%s + %" PRId64 " (instruction)", offset_name, soffset / scale,
            scale > 1 ? " x 64 bytes" : "", immediate);
    else if (unit != 1)
        say(e, "offset = %" PRId64 " dwords (instruction) = %" PRId64 " bytes", immediate, immediate * unit);
    else
        say(e, "offset = %" PRId64 " (instruction)", immediate);
    say(e, "address = 0x%" PRIx64 " + %" PRIu64 "%s = 0x%" PRIx64, start, address - start,
        mask & 1   ? ""
        : mask & 2 ? ", each without its low bit,"
                   : ", each without its two low bits,",
        address);
    if (rsrc) {
        const uint32_t stride = scalar(e, rsrc, 1) >> 16 & 0x3fff;
        const uint64_t whole = (uint64_t)scalar(e, rsrc, 2) * (stride ? stride : 1);
        const uint64_t size = wmi_target_limit(e->target, WMI_LIMIT_smem_size_rounded) ? whole & mask : whole;
        say(e, "NUM_RECORDS %" PRIu32 " x %s %" PRIu32 " = %" PRIu64 " bytes%s", scalar(e, rsrc, 2),
            stride ? "STRIDE" : "1, as STRIDE is", stride, whole,
            size == whole ? "" : ", rounded down to the size of the data");
        for (uint64_t at = address - start; at < address - start + e->answer->bytes; at += 4)
            say(e, "range: offset %" PRIu64 " %s %" PRIu64, at, at < size ? "<" : ">=", size);
    }
    add_address(e, address);
}

/* ---- images ---- */

/* The lane's coordinates, in register order. */
static void read_coordinates(const struct wmi_explained *e, uint32_t coordinates[WMI_IMAGE_COORDINATES])
{
    char name[NAME];
    uint8_t list[WMI_IMAGE_COORDINATES];
    const struct wmi_operand *addr = find(e, WMI_ROLE_ADDR, name);
    const bool a16 = e->insn->field[WMI_FIELD_a16];
    const unsigned listed =
        wmi_image_address(e->target, e->insn, (unsigned)(addr - e->insn->operand), list, sizeof list);
    for (unsigned i = 0; i < WMI_IMAGE_COORDINATES; i++) {
        const unsigned word = a16 ? i / 2 : i;
        struct wmi_operand one = *addr;
        one.reg = listed && word < listed ? list[word] : (uint16_t)(addr->reg + word);
        coordinates[i] = vector(e, &one, 0);
        if (a16)
            coordinates[i] = coordinates[i] >> i % 2 * 16 & 0xffff;
    }
}

static const char *compare(uint32_t a, uint32_t b)
{
    return a < b ? "<" : ">=";
}

static void say_linear(struct wmi_explained *e, const struct wmi_image *image, const struct wmi_texel *t,
                       const struct wmi_surface_level *level)
{
    const uint64_t slice = image->surface.layer;
    say(e, "rows of %" PRIu64 " bytes%s; slices of %" PRIu64 " bytes, in which the level begins at %" PRIu64,
        level->pitch, image->surface.shape.pitch ? " (the T#'s pitch)" : "", slice, level->offset);
    say(e,
        "address = base 0x%" PRIx64 " + (%" PRIu32 " + %" PRIu32 ") x %" PRIu64 " + %" PRIu64 " + %" PRIu32
        " x %" PRIu64 " + %" PRIu32 " x %u = 0x%" PRIx64,
        image->base, image->first_slice, t->slice, slice, level->offset, t->y, level->pitch, t->x,
        image->format.layout->bytes, wmi_texel_address(image, t));
}

static void say_tiled(struct wmi_explained *e, const struct wmi_image *image, const struct wmi_texel *t)
{
    const uint64_t address = wmi_texel_address(image, t);
    say(e, "tiled, mode %u, as on the default product of the target", image->surface.shape.mode);
    say(e,
        "address = base 0x%" PRIx64 " + 0x%" PRIx64 " = 0x%" PRIx64
        " (wavemem explain image shows how it comes about)",
        image->base, address - image->base, address);
}

static void say_image(struct wmi_explained *e, const struct wmi_image *image, const struct wmi_texel *t)
{
    const uint32_t level = image->base_level + (t->level < image->levels ? t->level : 0);
    const uint32_t slices =
        image->type == WMI_IMAGE_3D ? wmi_image_extent(image->depth, level) : image->slices;
    const uint32_t width = wmi_image_extent(image->width, level),
                   height = wmi_image_extent(image->height, level);
    say(e, "texel x %" PRIu32 ", y %" PRIu32 ", slice %" PRIu32 ", level %" PRIu32 ", sample %" PRIu32, t->x,
        t->y, t->slice, t->level, t->sample);
    say(e, "level %" PRIu32 " is %" PRIu32 " x %" PRIu32 " texels of %u bytes", level, width, height,
        image->format.layout->bytes);
    if (image->surface.kind == WMI_SURFACE_LINEAR && level < image->surface.shape.levels)
        say_linear(e, image, t, &image->surface.level[level]);
    else
        say_tiled(e, image, t);
    say(e,
        "range: x %" PRIu32 " %s %" PRIu32 ", y %" PRIu32 " %s %" PRIu32 ", slice %" PRIu32 " %s %" PRIu32
        ", level %" PRIu32 " %s %" PRIu32 ", sample %" PRIu32 " %s %" PRIu32,
        t->x, compare(t->x, width), width, t->y, compare(t->y, height), height, t->slice,
        compare(t->slice, slices), slices, t->level, compare(t->level, image->levels), image->levels,
        t->sample, compare(t->sample, image->samples), image->samples);
}

static void explain_image(struct wmi_explained *e)
{
    char name[NAME], format[NAME];
    uint32_t words[8] = {0}, coordinates[WMI_IMAGE_COORDINATES];
    const int32_t *field = e->insn->field;
    if (find(e, WMI_ROLE_SAMP, name))
        return; /* the sampler chooses texels by floats: only their addresses are shown */
    const struct wmi_operand *rsrc = find(e, WMI_ROLE_RSRC, name);
    const bool dim = wmi_target_limit(e->target, WMI_LIMIT_image_dim);
    for (unsigned i = 0; rsrc && i < (field[WMI_FIELD_r128] ? 4 : 8); i++)
        words[i] = scalar(e, rsrc, i);
    const struct wmi_image_rules rules = {
        .layout = (enum wmi_descriptor_layout)wmi_target_limit(e->target, WMI_LIMIT_descriptors),
        .formats = wmi_format_rules(wmi_target_limit(e->target, WMI_LIMIT_format_rules)),
        .tiling = wmi_gpu_tiling(NULL, e->target)};
    struct wmi_image image;
    wmi_image_decode(&rules, words, &image);
    read_coordinates(e, coordinates);
    const struct wmi_texel texel =
        wmi_image_texel(&image, dim ? (unsigned)field[WMI_FIELD_dim] & 7 : WMI_IMAGE_DIM_TYPE,
                        field[WMI_FIELD_da], wmi_rows[e->insn->id].flags & WMI_ROW_LOD, coordinates);
    wmi_format_name(&image.format, format, sizeof format);
    const char *type = wmi_meaning_name(WMI_MEANING_IMAGE_TYPE, image.type);
    say(e, "T# %s: format %s, %s", name, format, type ? type : "TYPE reserved");
    if (image.placed)
        say_image(e, &image, &texel);
    else if (image.bound)
        say(e, "%s", image.refused);
    else
        say(e, "TYPE is none of an image: a load gives 0, a store does nothing");
    if (image.placed)
        add_address(e, wmi_texel_address(&image, &texel));
}

void wmi_explain_steps(struct wmi_explained *e)
{
    switch (wmi_rows[e->insn->id].class) {
    case WMI_CLASS_BUFFER:
    case WMI_CLASS_TBUFFER:
        explain_buffer(e);
        say_lds_place(e);
        break;
    case WMI_CLASS_FLAT:
        explain_flat(e);
        break;
    case WMI_CLASS_GLOBAL:
        explain_global(e);
        say_lds_place(e);
        break;
    case WMI_CLASS_SCRATCH:
        explain_scratch(e);
        say_lds_place(e);
        break;
    case WMI_CLASS_DS:
        if (!strcmp(e->answer->element[0].space, "lanes"))
            explain_exchange(e);
        else
            explain_lds(e);
        break;
    case WMI_CLASS_SMEM:
        explain_scalar(e);
        break;
    case WMI_CLASS_IMAGE:
        explain_image(e);
        break;
    default:
        break;
    }
}
