/* SPDX-License-Identifier: MIT */
/* Prints immediates and modifiers with a syntax of their own: waits, hwreg, messages, swizzles, DPP, SDWA,
 * formats. All texts are LLVM 19's. */
#include "isa/rules/wait.h"
#include "isa/tables.h"
#include "isa/text/put.h"

static const char *const field_names[WMI_FIELD_COUNT] = {
#define FIELD(name, ...) #name,
#include "fields.def"
};

enum {
    MESSAGE_GS = 2,
    MESSAGE_GS_DONE = 3,
    MESSAGE_SYSMSG = 15,
    MESSAGE_NUMBER_MAX = 255,
    FORMAT_DEFAULT_DATA = 1, /* BUF_DATA_FORMAT_8, BUF_NUM_FORMAT_UNORM: not printed */
    FORMAT_DEFAULT_NUMBER = 0,
    FORMAT_DEFAULT_UNIFIED = 1, /* BUF_FMT_8_UNORM */
    VERSION_MASK = 0xff,
    TH_BYPASS = 3, /* with SCOPE_SYS */
    TH_ATOMIC_CASCADE = 4,
    SCOPE_DEV = 2,
    SCOPE_SYS = 3,
};

static void put_numbers(struct wmi_text *text, const unsigned *values, unsigned count, const char *separator)
{
    for (unsigned i = 0; i < count; i++) {
        if (i)
            wmi_put(text, separator);
        wmi_put_unsigned(text, values[i]);
    }
}

static void put_waitcnt(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    const uint32_t *limits = target->limits;
    const unsigned vm_max = (1u << limits[WMI_LIMIT_vmcnt_bits]) - 1;
    const unsigned exp_max = (1u << limits[WMI_LIMIT_expcnt_bits]) - 1;
    const unsigned lgkm_max = (1u << limits[WMI_LIMIT_lgkmcnt_bits]) - 1;
    const struct wmi_waitcnt fields = wmi_waitcnt_fields(target, value);
    const bool all = fields.vm == vm_max && fields.exp == exp_max && fields.lgkm == lgkm_max;
    const struct {
        const char *name;
        unsigned value, max;
    } counters[] = {
        {"vmcnt(", fields.vm, vm_max}, {"expcnt(", fields.exp, exp_max}, {"lgkmcnt(", fields.lgkm, lgkm_max}};
    const char *separator = "";
    for (unsigned i = 0; i < 3; i++) {
        if (counters[i].value == counters[i].max && !all)
            continue;
        wmi_put(text, separator);
        wmi_put(text, counters[i].name);
        wmi_put_unsigned(text, counters[i].value);
        wmi_put(text, ")");
        separator = " ";
    }
}

static void put_hwreg(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    const unsigned id = value & 63, offset = value >> 6 & 31, size = (value >> 11 & 31) + 1;
    const char *name = wmi_name_of(target, WMI_NAMES_hwreg, (int32_t)id);
    wmi_put(text, "hwreg(");
    if (name)
        wmi_put(text, name);
    else
        wmi_put_unsigned(text, id);
    if (offset != 0 || size != 32) {
        wmi_put(text, ", ");
        put_numbers(text, (const unsigned[]){offset, size}, 2, ", ");
    }
    wmi_put(text, ")");
}

/* The name of a message's operation, or NULL if it has none or an invalid one. */
static const char *message_operation(const struct wmi_target *target, unsigned id, unsigned operation)
{
    if (id == MESSAGE_SYSMSG)
        return wmi_name_of(target, WMI_NAMES_sysmsg_operation, (int32_t)operation);
    if (id == MESSAGE_GS_DONE || (id == MESSAGE_GS && operation))
        return wmi_name_of(target, WMI_NAMES_gs_operation, (int32_t)operation);
    return NULL;
}

static const char *or_none(const char *name)
{
    return name ? name : "";
}

const char *wmi_export_target_name(const struct wmi_target *target, uint32_t number)
{
    return or_none(wmi_name_of(target, WMI_NAMES_export_target, (int32_t)number));
}

const char *wmi_message_name(const struct wmi_target *target, uint32_t message)
{
    const bool operations = target->limits[WMI_LIMIT_message_operations];
    return or_none(wmi_name_of(target, WMI_NAMES_message, (int32_t)(message & (operations ? 15 : 255))));
}

const char *wmi_message_operation_name(const struct wmi_target *target, uint32_t message)
{
    return target->limits[WMI_LIMIT_message_operations]
               ? or_none(message_operation(target, message & 15, message >> 4 & 7))
               : "";
}

/* gfx11 and later: the message is only a number; some messages return data. */
static void put_plain_message(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    const char *name = wmi_name_of(target, WMI_NAMES_message, (int32_t)value);
    wmi_put(text, "sendmsg(");
    if (name)
        wmi_put(text, name);
    else
        put_numbers(text, (const unsigned[]){value, 0, 0}, 3, ", ");
    wmi_put(text, ")");
}

static void put_sendmsg(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    if (!target->limits[WMI_LIMIT_message_operations]) {
        const uint32_t number =
            value & MESSAGE_NUMBER_MAX; /* LLVM prints a name regardless of the upper bits */
        if (value == number || wmi_name_of(target, WMI_NAMES_message, (int32_t)number))
            put_plain_message(text, target, number);
        else
            wmi_put_unsigned(text, value);
        return;
    }
    const unsigned id = value & 15, operation = value >> 4 & 7, stream = value >> 8 & 3;
    const char *name = wmi_name_of(target, WMI_NAMES_message, (int32_t)id);
    const char *operation_name = message_operation(target, id, operation);
    const bool takes_operation = id == MESSAGE_GS || id == MESSAGE_GS_DONE || id == MESSAGE_SYSMSG;
    const bool takes_stream = (id == MESSAGE_GS || id == MESSAGE_GS_DONE) && operation;
    if (name && (takes_operation ? operation_name != NULL : operation == 0) && (takes_stream || !stream)) {
        wmi_put(text, "sendmsg(");
        wmi_put(text, name);
        if (takes_operation) {
            wmi_put(text, ", ");
            wmi_put(text, operation_name);
        }
        if (takes_stream) {
            wmi_put(text, ", ");
            wmi_put_unsigned(text, stream);
        }
        wmi_put(text, ")");
    } else if ((id | operation << 4 | stream << 8) == value) {
        wmi_put(text, "sendmsg(");
        put_numbers(text, (const unsigned[]){id, operation, stream}, 3, ", ");
        wmi_put(text, ")");
    } else {
        wmi_put_unsigned(text, value);
    }
}

/* Fields of all ones wait for nothing and are omitted, unless all fields are so.
 * Source: LLVM AMDGPUInstPrinter.cpp, printDepCtr. */
static void put_depctr(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    const struct wmi_name *const names = target->names[WMI_NAMES_depctr];
    uint32_t all = 0;
    for (const struct wmi_name *name = names; *name->text; name++)
        all |= ((1u << (name->value >> 8 & 255)) - 1) << (name->value & 255);
    if (value & ~all) {
        wmi_put_hex(text, value);
        return;
    }
    const char *separator = "";
    for (const struct wmi_name *name = names; *name->text; name++) {
        const unsigned most = (1u << (name->value >> 8 & 255)) - 1;
        const unsigned field = value >> (name->value & 255) & most;
        if (field == most && value != all)
            continue;
        wmi_put(text, separator);
        wmi_put(text, name->text);
        wmi_put(text, "(");
        wmi_put_unsigned(text, field);
        wmi_put(text, ")");
        separator = " ";
    }
}

/* Source: LLVM AMDGPUInstPrinter.cpp, printDelayFlag, including its comments for invalid values. */
static void put_delay_alu(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    static const struct {
        const char *name, *invalid;
        enum wmi_name_group group;
        unsigned shift, mask;
    } parts[] = {
        {"instid0(", "/* invalid instid value */", WMI_NAMES_delay_instid, 0, 15},
        {"instskip(", "/* invalid instskip value */", WMI_NAMES_delay_skip, 4, 7},
        {"instid1(", "/* invalid instid value */", WMI_NAMES_delay_instid, 7, 15},
    };
    const char *separator = "";
    for (unsigned i = 0; i < 3; i++) {
        const unsigned part = value >> parts[i].shift & parts[i].mask;
        if (!part)
            continue;
        const char *name = wmi_name_of(target, parts[i].group, (int32_t)part);
        wmi_put(text, separator);
        wmi_put(text, parts[i].name);
        wmi_put(text, name ? name : parts[i].invalid);
        wmi_put(text, ")");
        separator = " | ";
    }
    if (!*separator)
        wmi_put(text, "0");
}

static void put_inline_or_hex(struct wmi_text *text, uint32_t value)
{
    if (value <= 64)
        wmi_put_unsigned(text, value);
    else
        wmi_put_hex(text, value);
}

/* The version by name or number, followed by its flags by name. */
static void put_version(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    uint32_t flags = 0;
    unsigned count = 0;
    for (const struct wmi_name *name = target->names[WMI_NAMES_version_flag]; *name->text; name++) {
        flags |= value & (uint32_t)name->value;
        count += (value & (uint32_t)name->value) != 0;
    }
    const char *version = wmi_name_of(target, WMI_NAMES_version, (int32_t)(value & ~flags));
    if (!version && value & ~flags & ~VERSION_MASK) {
        put_inline_or_hex(text, value);
        return;
    }
    for (unsigned i = 1; i < count; i++)
        wmi_put(text, "(");
    if (version)
        wmi_put(text, version);
    else
        wmi_put_unsigned(text, value & ~flags);
    for (const struct wmi_name *name = target->names[WMI_NAMES_version_flag]; *name->text; name++)
        if (flags & (uint32_t)name->value) {
            wmi_put(text, "|");
            wmi_put(text, name->text);
            wmi_put(text, --count ? ")" : "");
        }
}

static void put_gpr_idx(struct wmi_text *text, uint32_t value)
{
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    if (value > 15) {
        wmi_put_hex(text, value);
        return;
    }
    const char *separator = "";
    wmi_put(text, "gpr_idx(");
    for (unsigned i = 0; i < 4; i++)
        if (value >> i & 1) {
            wmi_put(text, separator);
            wmi_put(text, names[i]);
            separator = ",";
        }
    wmi_put(text, ")");
}

static void put_named(struct wmi_text *text, const struct wmi_target *target, enum wmi_name_group group,
                      uint32_t value, const char *otherwise)
{
    const char *name = wmi_name_of(target, group, (int32_t)value);
    wmi_put(text, name ? name : otherwise);
    if (!name)
        wmi_put_unsigned(text, value);
}

void wmi_print_immediate(struct wmi_text *text, const struct wmi_target *target,
                         const struct wmi_instruction *insn, const struct wmi_spec *spec,
                         const struct wmi_operand *operand)
{
    static const char channels[4][3] = {".x", ".y", ".z", ".w"};
    const uint32_t value = (uint32_t)operand->value;
    switch (spec->kind) {
    case WMI_KIND_simm16:
        wmi_put_hex(text, value & 0xffff);
        break;
    case WMI_KIND_label:
        wmi_put_unsigned(text, value & 0xffff);
        break;
    case WMI_KIND_uimm16:
    case WMI_KIND_probe:
        put_inline_or_hex(text, value);
        break;
    case WMI_KIND_waitcnt:
        put_waitcnt(text, target, value);
        break;
    case WMI_KIND_hwreg:
        put_hwreg(text, target, value);
        break;
    case WMI_KIND_sendmsg:
        put_sendmsg(text, target, value);
        break;
    case WMI_KIND_sendmsg_rtn:
        put_plain_message(text, target, value);
        break;
    case WMI_KIND_depctr:
        put_depctr(text, target, value);
        break;
    case WMI_KIND_delay_alu:
        put_delay_alu(text, target, value);
        break;
    case WMI_KIND_version:
        put_version(text, target, value);
        break;
    case WMI_KIND_gpr_idx:
        put_gpr_idx(text, value);
        break;
    case WMI_KIND_attr:
        wmi_put(text, "attr");
        wmi_put_unsigned(text, value);
        wmi_put(text, channels[insn->field[WMI_FIELD_attr_chan] & 3]);
        break;
    case WMI_KIND_interp_slot:
        put_named(text, target, WMI_NAMES_interp_slot, value, "invalid_param_");
        break;
    case WMI_KIND_exp_target:
        put_named(text, target, WMI_NAMES_export_target, value, "invalid_target_");
        break;
    case WMI_KIND_smem_soffset:
        if (!value) {
            wmi_put(text, "null");
            break;
        }
        /* fallthrough */
    case WMI_KIND_simm24:
    case WMI_KIND_smrd_offset:
    case WMI_KIND_smrd_offset_literal:
    case WMI_KIND_smem_soffset_zero:
    case WMI_KIND_smem_offset:
        if ((int32_t)value < 0)
            wmi_put(text, "-");
        wmi_put_hex(text, (int32_t)value < 0 ? -value : value);
        break;
    default:
        wmi_put_unsigned(text, value);
        break;
    }
}

/* Source: LLVM AMDGPUInstPrinter.cpp, printSwizzle: the same forms in the same order. */
static void put_swizzle(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    enum { ROTATE = 0xc000, FFT = 0xe000 };
    const unsigned and_mask = value & 31, or_mask = value >> 5 & 31, xor_mask = value >> 10 & 31;
    const unsigned group = 32 - and_mask;
    const bool modes = wmi_names_swizzle_modes(target);
    if ((value & 0xff00) == 0x8000) {
        wmi_put(text, "swizzle(QUAD_PERM,");
        put_numbers(text, (const unsigned[]){value & 3, value >> 2 & 3, value >> 4 & 3, value >> 6 & 3}, 4,
                    ",");
    } else if (value >= FFT && modes) {
        wmi_put(text, "swizzle(FFT,");
        wmi_put_unsigned(text, value & 31);
    } else if (value >= ROTATE && modes) {
        wmi_put(text, "swizzle(ROTATE,");
        put_numbers(text, (const unsigned[]){value >> 10 & 1, value >> 5 & 31}, 2, ",");
    } else if (value & 0x8000) {
        wmi_put_unsigned(text, value);
        return;
    } else if (and_mask == 31 && !or_mask && __builtin_popcount(xor_mask) == 1) {
        wmi_put(text, "swizzle(SWAP,");
        wmi_put_unsigned(text, xor_mask);
    } else if (and_mask == 31 && !or_mask && xor_mask && !(xor_mask & (xor_mask + 1))) {
        wmi_put(text, "swizzle(REVERSE,");
        wmi_put_unsigned(text, xor_mask + 1);
    } else if (group > 1 && !(group & (group - 1)) && or_mask < group && !xor_mask) {
        wmi_put(text, "swizzle(BROADCAST,");
        put_numbers(text, (const unsigned[]){group, or_mask}, 2, ",");
    } else {
        wmi_put(text, "swizzle(BITMASK_PERM,\"");
        for (int bit = 4; bit >= 0; bit--) {
            /* the new value of the lane number's bit if it is 0, and if it is 1 */
            const unsigned zero = (or_mask ^ xor_mask) >> bit & 1;
            const unsigned one = ((and_mask | or_mask) ^ xor_mask) >> bit & 1;
            wmi_put(text, zero == one ? (zero ? "1" : "0") : (zero ? "i" : "p"));
        }
        wmi_put(text, "\"");
    }
    wmi_put(text, ")");
}

static void put_dpp_ctrl(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    const char *name = wmi_name_of(target, WMI_NAMES_dpp, (int32_t)value);
    if (value <= 0xff) {
        wmi_put(text, "quad_perm:[");
        put_numbers(text, (const unsigned[]){value & 3, value >> 2 & 3, value >> 4 & 3, value >> 6}, 4, ",");
        wmi_put(text, "]");
    } else if (name) {
        wmi_put(text, name);
    } else {
        put_named(text, target, WMI_NAMES_dpp_row, value >> 4, "");
        wmi_put(text, ":");
        wmi_put_unsigned(text, value & 15);
    }
}

static void put_format(struct wmi_text *text, const struct wmi_target *target,
                       const struct wmi_instruction *insn)
{
    const int32_t data = insn->field[WMI_FIELD_dfmt], number = insn->field[WMI_FIELD_nfmt];
    if (data == FORMAT_DEFAULT_DATA && number == FORMAT_DEFAULT_NUMBER)
        return;
    wmi_put(text, " format:[");
    if (data != FORMAT_DEFAULT_DATA)
        put_named(text, target, WMI_NAMES_data_format, (uint32_t)data, "");
    if (data != FORMAT_DEFAULT_DATA && number != FORMAT_DEFAULT_NUMBER)
        wmi_put(text, ",");
    if (number != FORMAT_DEFAULT_NUMBER)
        put_named(text, target, WMI_NAMES_number_format, (uint32_t)number, "");
    wmi_put(text, "]");
}

static void put_unified_format(struct wmi_text *text, const struct wmi_target *target, uint32_t value)
{
    const char *name = wmi_name_of(target, WMI_NAMES_unified_format, (int32_t)value);
    if (value == FORMAT_DEFAULT_UNIFIED)
        return;
    wmi_put(text, name ? " format:[" : " format:");
    if (name)
        wmi_put(text, name);
    else
        wmi_put_unsigned(text, value);
    if (name)
        wmi_put(text, "]");
}

/* One bit per source, and one for the result if the field has four bits: op_sel:[1,0,0]. */
static void put_bits(struct wmi_text *text, const struct wmi_instruction *insn,
                     const struct wmi_field_spec *spec, uint32_t usual)
{
    const uint32_t value = (uint32_t)insn->field[spec->field];
    const bool with_result = spec->width + spec->width2 == 4;
    unsigned bits[4], count = 0;
    bool differs = false;
    for (enum wmi_role role = WMI_ROLE_A; role <= WMI_ROLE_C; role++)
        if (wmi_operand(insn, role))
            bits[count++] = value >> (role - WMI_ROLE_A) & 1;
    if (with_result)
        bits[count++] = value >> 3 & 1;
    for (unsigned i = 0; i < count; i++)
        differs |= bits[i] != usual;
    if (!differs)
        return;
    wmi_put(text, " ");
    wmi_put(text, field_names[spec->field]);
    wmi_put(text, ":[");
    put_numbers(text, bits, count, ",");
    wmi_put(text, "]");
}

/* All bits of the field, regardless of the operands: op_sel:[0,0,1,0]. */
static void put_all_bits(struct wmi_text *text, const struct wmi_field_spec *spec, uint32_t value)
{
    unsigned bits[32];
    for (unsigned i = 0; i < spec->width; i++)
        bits[i] = value >> i & 1;
    if (!value)
        return;
    wmi_put(text, " ");
    wmi_put(text, field_names[spec->field]);
    wmi_put(text, ":[");
    put_numbers(text, bits, spec->width, ",");
    wmi_put(text, "]");
}

/* Two bits in a list of three: op_sel:[1,0,0]. */
static void put_scale_bits(struct wmi_text *text, const struct wmi_field_spec *spec, uint32_t value)
{
    wmi_put(text, " ");
    wmi_put(text, field_names[spec->field]);
    wmi_put(text, ":[");
    put_numbers(text, (const unsigned[]){value & 1, value >> 1 & 1, 0}, 3, ",");
    wmi_put(text, "]");
}

/* Source: LLVM 22, AMDGPUInstPrinter.cpp, printBitOp3. */
static void put_bitop3(struct wmi_text *text, const struct wmi_field_spec *spec, uint32_t table)
{
    enum { LAST_DECIMAL = 10 };
    if (!table)
        return;
    wmi_put(text, " ");
    wmi_put(text, field_names[spec->field]);
    wmi_put(text, ":");
    if (table <= LAST_DECIMAL)
        wmi_put_unsigned(text, table);
    else
        wmi_put_hex(text, table);
}

/* The name of a temporal hint depends on the kind of access and its scope.
 * Source: LLVM AMDGPUInstPrinter.cpp, printTH. */
static void put_temporal_hint(struct wmi_text *text, const struct wmi_target *target,
                              const struct wmi_instruction *insn, uint32_t value)
{
    const unsigned memory = wmi_rows[insn->id].memory, scope = (unsigned)insn->field[WMI_FIELD_scope];
    const enum wmi_name_group group = memory == WMI_MEMORY_ATOMIC  ? WMI_NAMES_th_atomic
                                      : memory == WMI_MEMORY_STORE ? WMI_NAMES_th_store
                                                                   : WMI_NAMES_th_load;
    const char *name = wmi_name_of(target, group, (int32_t)value);
    if (!value)
        return;
    wmi_put(text, " th:");
    if (memory == WMI_MEMORY_ATOMIC && value & TH_ATOMIC_CASCADE && scope < SCOPE_DEV)
        name = NULL;
    if (memory != WMI_MEMORY_ATOMIC && value == TH_BYPASS && scope == SCOPE_SYS)
        name = memory == WMI_MEMORY_STORE ? "TH_STORE_BYPASS" : "TH_LOAD_BYPASS";
    if (name) {
        wmi_put(text, name);
        return;
    }
    if (memory == WMI_MEMORY_ATOMIC)
        wmi_put(text, "TH_ATOMIC_");
    wmi_put_hex(text, value);
}

/* SMEM's immediate in addition to an SGPR; alone, it is printed as the offset operand. */
static void put_added_offset(struct wmi_text *text, int32_t value)
{
    wmi_put(text, value < 0 ? " offset:-" : " offset:");
    wmi_put_hex(text, (uint32_t)(value < 0 ? -value : value));
}

static void put_name(struct wmi_text *text, const struct wmi_field_spec *spec)
{
    wmi_put(text, " ");
    wmi_put(text, field_names[spec->field]);
    wmi_put(text, ":");
}

/* The name of a field's value, or the value. */
static void put_named_field(struct wmi_text *text, const struct wmi_target *target,
                            const struct wmi_field_spec *spec, enum wmi_name_group group, uint32_t value)
{
    put_name(text, spec);
    put_named(text, target, group, value, "");
}

void wmi_print_field(struct wmi_text *text, const struct wmi_target *target,
                     const struct wmi_instruction *insn, const struct wmi_field_spec *spec)
{
    static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};
    const int32_t value = insn->field[spec->field];
    switch (spec->show) {
    case WMI_SHOW_flag:
        if (value) {
            wmi_put(text, " ");
            wmi_put(text, field_names[spec->field]);
        }
        break;
    case WMI_SHOW_num:
        if (value) {
            put_name(text, spec);
            wmi_put_signed(text, value);
        }
        break;
    case WMI_SHOW_flag_value:
        if (value) {
            put_name(text, spec);
            wmi_put(text, "1");
        }
        break;
    case WMI_SHOW_dim:
        put_name(text, spec);
        put_named(text, target, WMI_NAMES_dim, (uint32_t)value, "");
        break;
    case WMI_SHOW_dpp8: {
        unsigned lanes[8];
        for (unsigned i = 0; i < 8; i++)
            lanes[i] = (uint32_t)value >> 3 * i & 7;
        wmi_put(text, " dpp8:[");
        put_numbers(text, lanes, 8, ",");
        wmi_put(text, "]");
        break;
    }
    case WMI_SHOW_th:
        put_temporal_hint(text, target, insn, (uint32_t)value);
        break;
    case WMI_SHOW_scope:
        if (value) {
            wmi_put(text, " scope:");
            put_named(text, target, WMI_NAMES_scope, (uint32_t)value, "");
        }
        break;
    case WMI_SHOW_bound_ctrl:
        if (value)
            wmi_put(text, " bound_ctrl:1");
        break;
    case WMI_SHOW_hex:
        if (!value)
            break;
        /* fallthrough */
    case WMI_SHOW_always_hex:
        put_name(text, spec);
        wmi_put_hex(text, (uint32_t)value);
        break;
    case WMI_SHOW_wait:
        put_name(text, spec);
        wmi_put_unsigned(text, (uint32_t)value);
        break;
    case WMI_SHOW_bits_c:
        if (value) {
            put_name(text, spec);
            wmi_put(text, "[0,0,1]");
        }
        break;
    case WMI_SHOW_bits_cd:
        if (value) {
            put_name(text, spec);
            wmi_put(text, "[0,0,");
            put_numbers(text, (const unsigned[]){value & 1, value >> 1 & 1}, 2, ",");
            wmi_put(text, "]");
        }
        break;
    case WMI_SHOW_bits_scales:
        if (value)
            put_scale_bits(text, spec, (uint32_t)value);
        break;
    case WMI_SHOW_bits_scales_hi:
        put_scale_bits(text, spec, (uint32_t)value);
        break;
    case WMI_SHOW_bits_d:
        put_name(text, spec);
        wmi_put(text, "[0,1]");
        break;
    case WMI_SHOW_bits_ab:
        put_scale_bits(text, spec, (uint32_t)value);
        break;
    case WMI_SHOW_matrix_fmt:
        put_named_field(text, target, spec, WMI_NAMES_matrix_fmt, (uint32_t)value);
        break;
    case WMI_SHOW_matrix_scale:
        put_named_field(text, target, spec, WMI_NAMES_matrix_scale, (uint32_t)value);
        break;
    case WMI_SHOW_matrix_scale_fmt:
        put_named_field(text, target, spec, WMI_NAMES_matrix_scale_fmt, (uint32_t)value);
        break;
    case WMI_SHOW_bitop3_whole:
        put_bitop3(text, spec, (uint32_t)value);
        break;
    case WMI_SHOW_bitop3:
        put_bitop3(text, spec, (uint32_t)(value | insn->field[WMI_FIELD_bitop3_hi] << 6));
        break;
    case WMI_SHOW_byte_sel_swapped:
        if (value) {
            put_name(text, spec);
            wmi_put_unsigned(text, (value & 1u) << 1 | (value >> 1 & 1u));
        }
        break;
    case WMI_SHOW_pair_bits:
        if (value & 3) {
            put_name(text, spec);
            wmi_put(text, "[");
            put_numbers(text, (const unsigned[]){value & 1, value >> 1 & 1}, 2, ",");
            wmi_put(text, "]");
        }
        break;
    case WMI_SHOW_omod:
        wmi_put(text, omods[value & 3]);
        break;
    case WMI_SHOW_bits:
        put_bits(text, insn, spec, 0);
        break;
    case WMI_SHOW_bits_all:
        put_all_bits(text, spec, (uint32_t)value);
        break;
    case WMI_SHOW_bits_hi:
        put_bits(text, insn, spec, 1);
        break;
    case WMI_SHOW_dpp_ctrl:
        wmi_put(text, " ");
        put_dpp_ctrl(text, target, (uint32_t)value);
        break;
    case WMI_SHOW_sdwa_select:
        put_name(text, spec);
        put_named(text, target, WMI_NAMES_sdwa_select, (uint32_t)value, "");
        break;
    case WMI_SHOW_sdwa_unused:
        put_name(text, spec);
        put_named(text, target, WMI_NAMES_sdwa_unused, (uint32_t)value, "");
        break;
    case WMI_SHOW_smem_offset:
        if (insn->field[WMI_FIELD_soe] && insn->field[WMI_FIELD_imm])
            put_added_offset(text, value);
        break;
    case WMI_SHOW_smem_soffset:
        if (!value)
            break;
        /* fallthrough */
    case WMI_SHOW_smem_soffset_zero:
        if (wmi_operand(insn, WMI_ROLE_OFFSET) &&
            wmi_operand(insn, WMI_ROLE_OFFSET)->kind != WMI_OPERAND_IMMEDIATE)
            put_added_offset(text, value);
        break;
    case WMI_SHOW_swizzle:
        if (value) {
            put_name(text, spec);
            put_swizzle(text, target, (uint32_t)value);
        }
        break;
    case WMI_SHOW_format:
        put_format(text, target, insn);
        break;
    case WMI_SHOW_unified_format:
        put_unified_format(text, target, (uint32_t)value);
        break;
    default:
        break;
    }
}
