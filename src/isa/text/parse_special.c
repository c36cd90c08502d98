/* SPDX-License-Identifier: MIT */
/* Parses modifiers as printed by print_special.c, and LLVM's alternative spellings. */
#include "isa/text/parsed.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    SDWA_DWORD = 6,
    SDWA_PRESERVE = 2,
    DATA_BITS = 4,
    TH_RETURN = 1,
    TH_BYPASS_VALUE = 3,
};

static const char *const field_names[WMI_FIELD_COUNT] = {
#define FIELD(name, ...) #name,
#include "fields.def"
};

void wmi_default_fields(struct wmi_encoder *e)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[e->form->layout];
    e->field[WMI_FIELD_op_sel] = 0; /* also of forms without it, see wmi_op_sel_of_halves() */
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        const unsigned width = spec->width + spec->width2;
        int32_t value = 0;
        switch (spec->show) {
        case WMI_SHOW_always_hex: /* row_mask, bank_mask */
        case WMI_SHOW_bits_hi:
            value = (1 << width) - 1;
            break;
        case WMI_SHOW_sdwa_select:
            value = SDWA_DWORD;
            break;
        case WMI_SHOW_sdwa_unused:
            value = SDWA_PRESERVE;
            break;
        case WMI_SHOW_format:
        case WMI_SHOW_unified_format:
            value = 1; /* 8, 8_UNORM */
            break;
        default:
            break;
        }
        e->field[spec->field] = value;
    }
}

/* [a,b,c]; returns the number of values, or -1 after a message. */
static int parse_list(struct wmi_encoder *e, int64_t *values, int most, int64_t highest)
{
    struct wmi_cursor *c = e->cursor;
    int count = 0;
    if (!wmi_need(c, '[', "'['"))
        return -1;
    do {
        wmi_skip_space(c);
        const char *start = c->at;
        if (count == most) {
            wmi_expected(c, start, "']'");
            return -1;
        }
        if (!wmi_read_number(c, &values[count]) || !wmi_in_range(e, start, values[count], 0, highest))
            return -1;
        count++;
    } while (wmi_take(c, ','));
    return wmi_need(c, ']', "',' or ']'") ? count : -1;
}

static bool has_role(const struct wmi_form *form, unsigned role)
{
    for (unsigned i = 0; i < form->specs; i++)
        if (wmi_specs[form->spec + i].role == role)
            return true;
    return false;
}

/* One bit per source, and one for the result. */
static bool parse_bits(struct wmi_encoder *e, const struct wmi_field_spec *spec, int32_t *value)
{
    int64_t bits[4];
    const char *start = e->cursor->at;
    const int count = parse_list(e, bits, 4, 1);
    int at = 0;
    if (count < 0)
        return false;
    for (unsigned role = WMI_ROLE_A; role <= WMI_ROLE_C; role++) {
        const unsigned bit = role - WMI_ROLE_A;
        if (!has_role(e->form, role))
            continue;
        if (at < count)
            *value = (*value & ~(1 << bit)) | (int32_t)bits[at] << bit;
        at++;
    }
    if (spec->width + spec->width2 == 4) {
        if (at < count)
            *value |= (int32_t)bits[at] << 3;
        at++;
    }
    return count <= at || wmi_expected(e->cursor, start, "fewer values: one for each operand");
}

static bool parse_swizzle(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    int64_t n[4];
    unsigned count = 0, wanted;
    static const struct {
        const char *name;
        unsigned numbers;
    } modes[] = {{"QUAD_PERM", 4},    {"SWAP", 1}, {"REVERSE", 1}, {"BROADCAST", 2},
                 {"BITMASK_PERM", 0}, {"FFT", 1},  {"ROTATE", 2}};
    const unsigned known = wmi_names_swizzle_modes(e->target) ? 7 : 5;
    unsigned mode = 0;
    if (!wmi_need(c, '(', "'('"))
        return false;
    while (mode < known && !wmi_take_word(c, modes[mode].name))
        mode++;
    if (mode == known)
        return wmi_expected(c, c->at, "QUAD_PERM, SWAP, REVERSE, BROADCAST or BITMASK_PERM");
    wanted = modes[mode].numbers;
    for (; count < wanted; count++)
        if (!wmi_need(c, ',', "','") || !wmi_read_number(c, &n[count]))
            return false;
    const char *end = c->at;
    switch (mode) {
    case 0:
        for (unsigned i = 0; i < 4; i++)
            if (!wmi_in_range(e, end, n[i], 0, 3))
                return false;
        *value = (int32_t)(0x8000 | n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6);
        break;
    case 1:
        if (n[0] < 1 || n[0] > 16 || n[0] & (n[0] - 1))
            return wmi_expected(c, end, "a power of two up to 16");
        *value = (int32_t)(31 | n[0] << 10);
        break;
    case 2:
        if (n[0] < 2 || n[0] > 32 || n[0] & (n[0] - 1))
            return wmi_expected(c, end, "a power of two from 2 to 32");
        *value = (int32_t)(31 | (n[0] - 1) << 10);
        break;
    case 3:
        if (n[0] < 2 || n[0] > 32 || n[0] & (n[0] - 1) || n[1] < 0 || n[1] >= n[0])
            return wmi_expected(c, end, "a power of two from 2 to 32 and a lane below it");
        *value = (int32_t)((32 - n[0]) | n[1] << 5);
        break;
    case 5:
        if (n[0] < 0 || n[0] > 31)
            return wmi_expected(c, end, "a number of five bits");
        *value = (int32_t)(0xe000 | n[0]);
        break;
    case 6:
        if (n[0] < 0 || n[0] > 1 || n[1] < 0 || n[1] > 31)
            return wmi_expected(c, end, "a direction, 0 or 1, and a number of five bits");
        *value = (int32_t)(0xc000 | n[0] << 10 | n[1] << 5);
        break;
    default: {
        unsigned and_mask = 0, or_mask = 0, xor_mask = 0;
        if (!wmi_need(c, ',', "','") || !wmi_need(c, '"', "a mask such as \"00pi1\""))
            return false;
        for (int bit = 4; bit >= 0; bit--, c->at++) {
            const char letter = c->at < c->end ? *c->at : 0;
            if (!letter || !strchr("01pi", letter))
                return wmi_expected(c, c->at, "one of 0, 1, p, i for each of five bits");
            and_mask |= (unsigned)(letter == 'p' || letter == 'i') << bit;
            or_mask |= (unsigned)(letter == '1') << bit;
            xor_mask |= (unsigned)(letter == 'i') << bit;
        }
        if (!wmi_need(c, '"', "'\"'"))
            return false;
        *value = (int32_t)(and_mask | or_mask << 5 | xor_mask << 10);
    }
    }
    return wmi_need(c, ')', "')'");
}

/* format:[8_8_8_8,unorm] with names in any order, or format:78. */
static bool parse_format(struct wmi_encoder *e)
{
    struct wmi_cursor *c = e->cursor;
    int32_t *data = &e->field[WMI_FIELD_dfmt], *number = &e->field[WMI_FIELD_nfmt];
    int64_t value;
    if (!wmi_take(c, '[')) {
        const char *start = c->at;
        if (!wmi_read_number(c, &value) || !wmi_in_range(e, start, value, 0, (1 << 7) - 1))
            return false;
        *data = (int32_t)value & ((1 << DATA_BITS) - 1);
        *number = (int32_t)value >> DATA_BITS;
        return true;
    }
    do {
        if (!wmi_take_name(e, WMI_NAMES_data_format, "BUF_DATA_FORMAT_", data) &&
            !wmi_take_name(e, WMI_NAMES_number_format, "BUF_NUM_FORMAT_", number))
            return wmi_expected(c, c->at, "a name of a data or number format");
    } while (wmi_take(c, ','));
    return wmi_need(c, ']', "',' or ']'");
}

/* A unified name, BUF_FMT_8_UNORM, or one or both of the older data and number formats. */
static bool parse_unified_format(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    int64_t number;
    if (!wmi_take(c, '[')) {
        const char *start = c->at;
        if (!wmi_read_number(c, &number) || !wmi_in_range(e, start, number, 0, (1 << 7) - 1))
            return false;
        *value = (int32_t)number;
        return true;
    }
    if (wmi_take_name(e, WMI_NAMES_unified_format, "BUF_FMT_", value))
        return wmi_need(c, ']', "']'");
    /* data and number format: their names combine to the unified one */
    int32_t parts[2] = {1, 0};
    char name[64];
    const char *start = c->at;
    do {
        if (!wmi_take_name(e, WMI_NAMES_data_format, "BUF_DATA_FORMAT_", &parts[0]) &&
            !wmi_take_name(e, WMI_NAMES_number_format, "BUF_NUM_FORMAT_", &parts[1]))
            return wmi_expected(c, c->at, "a name of a format");
    } while (wmi_take(c, ','));
    const char *data = wmi_name_of(e->target, WMI_NAMES_data_format, parts[0]);
    const char *kind = wmi_name_of(e->target, WMI_NAMES_number_format, parts[1]);
    snprintf(name, sizeof name, "BUF_FMT_%s_%s", data ? data + strlen("BUF_DATA_FORMAT_") : "",
             kind ? kind + strlen("BUF_NUM_FORMAT_") : "");
    for (const struct wmi_name *n = e->target->names[WMI_NAMES_unified_format]; *n->text; n++)
        if (!strcmp(n->text, name)) {
            *value = n->value;
            return wmi_need(c, ']', "']'");
        }
    return wmi_expected(c, start, "formats that go together");
}

static bool parse_temporal_hint(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    static const char *const zeros[] = {"TH_LOAD_RT", "TH_STORE_RT", "TH_ATOMIC_RT", "TH_DEFAULT"};
    static const char *const bypasses[] = {"TH_LOAD_BYPASS", "TH_STORE_BYPASS"};
    const unsigned memory = wmi_rows[e->form->id].memory;
    const enum wmi_name_group group = memory == WMI_MEMORY_ATOMIC  ? WMI_NAMES_th_atomic
                                      : memory == WMI_MEMORY_STORE ? WMI_NAMES_th_store
                                                                   : WMI_NAMES_th_load;
    const char *start = c->at;
    for (unsigned i = 0; i < 4; i++)
        if (wmi_take_word(c, zeros[i])) {
            *value = 0;
            return true;
        }
    if (memory != WMI_MEMORY_ATOMIC && wmi_take_word(c, bypasses[memory == WMI_MEMORY_STORE])) {
        *value = TH_BYPASS_VALUE;
        return true;
    }
    if (wmi_take_word(c, "TH_ATOMIC_RT_RETURN")) {
        *value = TH_RETURN;
        return true;
    }
    if (wmi_take_name(e, group, "", value))
        return true;
    return wmi_expected(c, start, "a temporal hint of this kind of instruction");
}

/* The DPP control at the cursor. Returns false without a message if there is none. */
static bool parse_dpp_ctrl(struct wmi_encoder *e, int32_t *value)
{
    struct wmi_cursor *c = e->cursor;
    int64_t n[4];
    if (wmi_take_word(c, "quad_perm")) {
        if (!wmi_need(c, ':', "':'"))
            return false;
        const int count = parse_list(e, n, 4, 3);
        if (count != 4)
            return count < 0 ? false : wmi_expected(c, c->at, "four lanes");
        *value = (int32_t)(n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6);
        return true;
    }
    const char *start = c->at;
    const size_t length = wmi_word_length(c);
    for (const struct wmi_name *name = e->target->names[WMI_NAMES_dpp]; *name->text; name++) {
        const char *colon = strchr(name->text, ':');
        const size_t own = colon ? (size_t)(colon - name->text) : strlen(name->text);
        if (own != length || memcmp(start, name->text, own))
            continue;
        c->at = start + length;
        *value = name->value;
        if (!colon)
            return true;
        int64_t number;
        if (!wmi_need(c, ':', "':'"))
            return false;
        const char *at = c->at;
        if (!wmi_read_number(c, &number))
            return false;
        for (; *name->text; name++)
            if (!memcmp(name->text, start, length) && name->text[length] == ':' &&
                number == name->text[length + 1] - '0' +
                              (name->text[length + 2]
                                   ? (name->text[length + 1] - '0') * 9 + name->text[length + 2] - '0'
                                   : 0)) {
                *value = name->value;
                return true;
            }
        return wmi_expected(c, at, "another number of lanes");
    }
    for (const struct wmi_name *name = e->target->names[WMI_NAMES_dpp_row]; *name->text; name++) {
        if (strlen(name->text) != length || memcmp(start, name->text, length))
            continue;
        c->at = start + length;
        int64_t number;
        if (!wmi_need(c, ':', "':'"))
            return false;
        const char *at = c->at;
        if (!wmi_read_number(c, &number) || !wmi_in_range(e, at, number, name->value >= 0x15 ? 0 : 1, 15))
            return false;
        *value = name->value << 4 | (int32_t)number;
        return true;
    }
    return wmi_expected(c, start, "a DPP control");
}

static bool is_dpp_word(const struct wmi_encoder *e, const char *word, size_t length)
{
    if (length == strlen("quad_perm") && !memcmp(word, "quad_perm", length))
        return true;
    for (unsigned group = WMI_NAMES_dpp_row; group <= WMI_NAMES_dpp; group++)
        for (const struct wmi_name *name = e->target->names[group]; *name->text; name++)
            if (strcspn(name->text, ":") == length && !memcmp(name->text, word, length))
                return true;
    return false;
}

static bool same(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}

/* The field set by the modifier `word`. */
static const struct wmi_field_spec *field_of(const struct wmi_encoder *e, const char *word, size_t length)
{
    const struct wmi_instruction_layout *layout = &wmi_layouts[e->form->layout];
    for (unsigned i = 0; i < layout->fields; i++) {
        const struct wmi_field_spec *spec = &wmi_field_specs[layout->field + i];
        const char *name = field_names[spec->field];
        const bool hidden = spec->show == WMI_SHOW_none && spec->field != WMI_FIELD_nfmt;
        switch (spec->show) {
        case WMI_SHOW_omod:
            if (same(word, length, "mul") || same(word, length, "div"))
                return spec;
            break;
        case WMI_SHOW_dpp_ctrl:
            if (is_dpp_word(e, word, length))
                return spec;
            break;
        case WMI_SHOW_smem_offset:
        case WMI_SHOW_smem_soffset:
        case WMI_SHOW_smem_soffset_zero:
            if (same(word, length, "offset"))
                return spec;
            break;
        case WMI_SHOW_format:
            if (same(word, length, "format") || same(word, length, "dfmt"))
                return spec;
            break;
        default:
            if (!hidden && same(word, length, name))
                return spec;
            if (spec->show == WMI_SHOW_flag && length > 2 && word[0] == 'n' && word[1] == 'o' &&
                same(word + 2, length - 2, name))
                return spec;
            break;
        }
    }
    return wmi_names_all_halves(e->target, e->form) && same(word, length, field_names[WMI_FIELD_op_sel])
               ? wmi_op_sel_of_halves(e->target, e->form)
               : NULL;
}

bool wmi_at_modifier(struct wmi_encoder *e)
{
    const size_t length = wmi_word_length(e->cursor);
    const char *at = e->cursor->at;
    const bool reg = length && (*at == 'v' || *at == 's') && (length == 1 || isdigit((unsigned char)at[1]));
    return length && !reg && field_of(e, at, length);
}

/* One of the group's names, or its number. */
static bool parse_named(struct wmi_encoder *e, enum wmi_name_group group, int32_t *value)
{
    const char *start = e->cursor->at;
    return wmi_name_or_number(e, group, "", value) &&
           (wmi_name_of(e->target, group, *value) ||
            wmi_expected(e->cursor, start, "a number that has a name"));
}

/* Parses the value after the colon of a modifier. */
static bool parse_value(struct wmi_encoder *e, const struct wmi_field_spec *spec, const char *word,
                        size_t length)
{
    struct wmi_cursor *c = e->cursor;
    int32_t *value = &e->field[spec->field];
    int64_t number, n[32];
    int count;
    wmi_skip_space(c);
    const char *start = c->at;
    switch (spec->show) {
    case WMI_SHOW_omod:
        if (!wmi_read_number(c, &number))
            return false;
        *value = word[0] == 'd' ? 3 : number == 2 ? 1 : 2;
        if (word[0] == 'd' ? number == 2 : number == 2 || number == 4)
            return true;
        if (number == 1) {
            *value = 0;
            return true;
        }
        return wmi_expected(c, start, "mul:2, mul:4 or div:2");
    case WMI_SHOW_dim:
        return wmi_name_or_number(e, WMI_NAMES_dim, "SQ_RSRC_IMG_", value);
    case WMI_SHOW_dpp8:
        count = parse_list(e, n, 8, 7);
        *value = 0;
        for (int i = 0; i < count; i++)
            *value |= (int32_t)n[i] << 3 * i;
        return count == 8 || (count >= 0 && wmi_expected(c, start, "eight lanes"));
    case WMI_SHOW_th:
        return parse_temporal_hint(e, value);
    case WMI_SHOW_scope:
        if (wmi_take_word(c, "SCOPE_CU")) {
            *value = 0;
            return true;
        }
        return wmi_name_or_number(e, WMI_NAMES_scope, "", value);
    case WMI_SHOW_bound_ctrl:
        if (!wmi_read_number(c, &number) || !wmi_in_range(e, start, number, 0, 1))
            return false;
        *value = number || e->target->limits[WMI_LIMIT_bound_ctrl_0];
        return true;
    case WMI_SHOW_bits:
    case WMI_SHOW_bits_hi:
        if (spec->show == WMI_SHOW_bits)
            *value = 0;
        return parse_bits(e, spec, value);
    case WMI_SHOW_bits_all:
    case WMI_SHOW_pair_bits:
        count = parse_list(e, n, spec->width, 1);
        *value = 0;
        for (int i = 0; i < count; i++)
            *value |= (int32_t)n[i] << i;
        return count >= 0;
    case WMI_SHOW_bits_scales:
    case WMI_SHOW_bits_scales_hi: /* LLVM reads a third value, which has no bit */
        count = parse_list(e, n, 3, 1);
        *value = count > 0 ? (int32_t)(n[0] | (count > 1 ? n[1] << 1 : 0)) : 0;
        return count >= 0;
    case WMI_SHOW_bits_d:
        count = parse_list(e, n, 2, 1);
        *value = count == 2 ? (int32_t)n[1] : 0;
        return count >= 0 && (count == 2 && !n[0] ? true : wmi_expected(c, start, "[0,0] or [0,1]"));
    case WMI_SHOW_bits_ab:
        count = parse_list(e, n, 3, 1);
        *value = count > 0 ? (int32_t)(n[0] | (count > 1 ? n[1] << 1 : 0)) : 0;
        return count >= 0 && (count < 3 || !n[2] ? true : wmi_expected(c, start, "[a,b,0]"));
    case WMI_SHOW_matrix_fmt:
        return parse_named(e, WMI_NAMES_matrix_fmt, value);
    case WMI_SHOW_matrix_scale:
        return parse_named(e, WMI_NAMES_matrix_scale, value);
    case WMI_SHOW_matrix_scale_fmt:
        return parse_named(e, WMI_NAMES_matrix_scale_fmt, value);
    case WMI_SHOW_bitop3_whole:
        if (!wmi_read_number(c, &number) || !wmi_in_range(e, start, number, 0, UINT8_MAX))
            return false;
        *value = (int32_t)number;
        return true;
    case WMI_SHOW_bitop3:
        if (!wmi_read_number(c, &number) || !wmi_in_range(e, start, number, 0, UINT8_MAX))
            return false;
        *value = (int32_t)number & 0x3f;
        e->field[WMI_FIELD_bitop3_hi] = (int32_t)number >> 6;
        return true;
    case WMI_SHOW_bits_c:
        count = parse_list(e, n, 3, 1);
        *value = count == 3 ? (int32_t)n[2] : 0;
        return count == 3 && !n[0] && !n[1] ? true : wmi_expected(c, start, "[0,0,0] or [0,0,1]");
    case WMI_SHOW_bits_cd:
        count = parse_list(e, n, 4, 1);
        *value = count >= 3 ? (int32_t)(n[2] | (count == 4 ? n[3] << 1 : 0)) : 0;
        return count >= 0 && (count < 1 || !n[0]) && (count < 2 || !n[1])
                   ? true
                   : wmi_expected(c, start, "[0,0,a,b]");
    case WMI_SHOW_byte_sel_swapped:
        if (!wmi_read_number(c, &number) || !wmi_in_range(e, start, number, 0, 3))
            return false;
        *value = (int32_t)((number & 1) << 1 | (number >> 1 & 1));
        return true;
    case WMI_SHOW_sdwa_select:
        return wmi_take_name(e, WMI_NAMES_sdwa_select, "", value) ||
               wmi_expected(c, start, "BYTE_0 to BYTE_3, WORD_0, WORD_1 or DWORD");
    case WMI_SHOW_sdwa_unused:
        return wmi_take_name(e, WMI_NAMES_sdwa_unused, "", value) ||
               wmi_expected(c, start, "UNUSED_PAD, UNUSED_SEXT or UNUSED_PRESERVE");
    case WMI_SHOW_swizzle:
        if (wmi_take_word(c, "swizzle"))
            return parse_swizzle(e, value);
        break;
    case WMI_SHOW_format:
        if (same(word, length, "format"))
            return parse_format(e);
        break;
    case WMI_SHOW_unified_format:
        return parse_unified_format(e, value);
    default:
        break;
    }
    if (!wmi_read_number(c, &number))
        return false;
    *value = (int32_t)number;
    return wmi_in_range(e, start, number, INT32_MIN, UINT32_MAX);
}

static bool has_field(const struct wmi_target *target, const char *name)
{
    for (unsigned m = 0; m < target->mnemonic_count; m++) {
        const struct wmi_instruction_layout *layout =
            &wmi_layouts[wmi_forms[target->mnemonics[m].form].layout];
        for (unsigned i = 0; i < layout->fields; i++)
            if (!strcmp(field_names[wmi_field_specs[layout->field + i].field], name))
                return true;
    }
    return false;
}

/* Consumes a modifier that clears a bit which the encoding does not have: noslc, offset:0. */
static bool parse_absence(struct wmi_encoder *e, const char *word, size_t length)
{
    enum { DLC = 2 };
    static const char *const policies[] = {"glc", "slc", [DLC] = "dlc", "scc"};
    struct wmi_cursor *c = e->cursor;
    const enum wmi_class class = (enum wmi_class)wmi_rows[e->form->id].class;
    int64_t offset;
    if (class < WMI_CLASS_SMEM || class > WMI_CLASS_SCRATCH || !e->form->specs)
        return false;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (length == 5 && word[0] == 'n' && word[1] == 'o' && same(word + 2, 3, policies[i]) &&
            (has_field(e->target, policies[i]) || (i != DLC && has_field(e->target, "sc1")))) {
            c->at = word + length;
            return true;
        }
    if (class != WMI_CLASS_FLAT || !same(word, length, "offset"))
        return false;
    c->at = word + length;
    const char *at = c->at + 1;
    return wmi_take(c, ':') && wmi_read_number(c, &offset) &&
           (offset == 0 || wmi_expected(c, at, "0: this target has no offsets here"));
}

bool wmi_parse_modifier(struct wmi_encoder *e)
{
    struct wmi_cursor *c = e->cursor;
    const size_t length = wmi_word_length(c);
    const char *word = c->at;
    const struct wmi_field_spec *spec = length ? field_of(e, word, length) : NULL;
    if (!spec && parse_absence(e, word, length))
        return true;
    if (!spec)
        return wmi_expected(c, word, "a modifier of this instruction, or the end of the line");
    if (e->field_at[spec->field] && !same(word, length, "dfmt"))
        return wmi_expected(c, word, "each modifier once");
    e->field_at[spec->field] = word;
    if (spec->show == WMI_SHOW_dpp_ctrl)
        return parse_dpp_ctrl(e, &e->field[spec->field]);
    c->at += length;
    if (spec->show == WMI_SHOW_flag) {
        e->field[spec->field] = same(word, length, field_names[spec->field]);
        return true;
    }
    return wmi_need(c, ':', "':' and a value") && parse_value(e, spec, word, length);
}
