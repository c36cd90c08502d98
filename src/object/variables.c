/* SPDX-License-Identifier: MIT */
/* Variables of the source, by DWARF: which ones are in scope, and where their values are.
 *
 * Sources: DWARF 5, sections 2.5, 2.6 and 3.4; LLVM 19, AMDGPUUsage, "Register Identifier"; clang 19,
 * lib/Basic/Targets/AMDGPU.h, getDWARFAddressSpace(): class 1 is private memory, class 2 is LDS. */
#include "wavemem/variable.h"

#include "object/object.h"
#include "object/parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <string.h>

enum { NESTING = 64, TYPE_DEPTH = 16, STACK = 64, CLASS_PRIVATE = 1, CLASS_LDS = 2, DIMENSIONS = 8 };

/* ---- scopes ---- */

/* Entries around an address, the outermost first. */
struct path {
    Dwarf_Die die[NESTING];
    unsigned count;
};

static bool is_scope(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
}

/* Descends to the entries that contain the address. */
static void descend(Dwarf_Die *parent, Dwarf_Addr address, struct path *path)
{
    Dwarf_Die die, from;
    if (path->count == NESTING || dwarf_child(parent, &die) != 0)
        return;
    do {
        const int tag = dwarf_tag(&die);
        const unsigned before = path->count;
        if (is_scope(tag) && dwarf_haspc(&die, address) == 1) {
            path->die[path->count++] = die;
            descend(&die, address, path);
            return;
        }
        if (tag == DW_TAG_namespace)
            descend(&die, address, path);
        if (path->count > before)
            return;
        from = die;
    } while (dwarf_siblingof(&from, &die) == 0);
}

static bool find_path(Dwarf *dwarf, Dwarf_Addr address, struct path *path, Dwarf_Die *unit)
{
    Dwarf_CU *cu = NULL;
    path->count = 0;
    while (!path->count && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, unit, NULL) == 0)
        if (dwarf_haspc(unit, address) == 1)
            descend(unit, address, path);
    return path->count;
}

/* Variable `index`, those of the innermost scope first. depth: inlined functions that it is outside of. */
static bool find_variable(struct path *path, size_t index, Dwarf_Die *variable, unsigned *depth)
{
    *depth = 0;
    for (unsigned i = path->count; i-- > 0;) {
        Dwarf_Die scope = path->die[i], from;
        if (dwarf_child(&scope, variable) == 0)
            do {
                const int tag = dwarf_tag(variable);
                Dwarf_Attribute attribute;
                if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
                    dwarf_attr_integrate(variable, DW_AT_name, &attribute) && index-- == 0)
                    return true;
                from = *variable;
            } while (dwarf_siblingof(&from, variable) == 0);
        *depth += dwarf_tag(&path->die[i]) == DW_TAG_inlined_subroutine;
    }
    return false;
}

/* ---- types ---- */

static uint64_t id_of(Dwarf_Die *type)
{
    return dwarf_dieoffset(type) + 1;
}

/* The type of an entry, without qualifiers and names of its own. False: void, or unknown. */
static bool bare_type(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die from = *die;
    for (unsigned i = 0; i < TYPE_DEPTH; i++) {
        if (!dwarf_attr_integrate(&from, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type))
            return false;
        const int tag = dwarf_tag(type);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
            tag != DW_TAG_restrict_type)
            return true;
        from = *type;
    }
    return false;
}

/* Writes the name that the source uses, without qualifiers. */
static void name_type(Dwarf_Die *die, char *text, size_t size, unsigned depth)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    if (depth == TYPE_DEPTH || !dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
        !dwarf_formref_die(&attribute, &type)) {
        snprintf(text, size, "void");
        return;
    }
    const char *name = dwarf_diename(&type), *suffix = "";
    const int tag = dwarf_tag(&type);
    if (name && *name && tag != DW_TAG_pointer_type) {
        snprintf(text, size, "%s", name);
        return;
    }
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type)
        suffix = tag == DW_TAG_pointer_type ? " *" : " &";
    else if (tag == DW_TAG_array_type)
        suffix = "[]";
    name_type(&type, text, size, depth + 1);
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", suffix);
}

/* Sizes of the dimensions; returns their number. 0: a size is unknown, or there are too many. */
static unsigned dimensions_of(Dwarf_Die *array, uint64_t size[DIMENSIONS])
{
    unsigned number = 0;
    Dwarf_Die range, from;
    if (dwarf_child(array, &range) != 0)
        return 0;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word count = 0;
        from = range;
        if (dwarf_tag(&range) != DW_TAG_subrange_type)
            continue;
        if (number == DIMENSIONS)
            return 0;
        if (dwarf_attr_integrate(&range, DW_AT_count, &attribute) && dwarf_formudata(&attribute, &count) == 0)
            size[number++] = count;
        else if (dwarf_attr_integrate(&range, DW_AT_upper_bound, &attribute) &&
                 dwarf_formudata(&attribute, &count) == 0)
            size[number++] = count + 1;
        else
            return 0;
    } while (dwarf_siblingof(&from, &range) == 0);
    return number;
}

static uint64_t elements_of(Dwarf_Die *array)
{
    uint64_t size[DIMENSIONS], elements = 1;
    const unsigned number = dimensions_of(array, size);
    for (unsigned i = 0; i < number; i++)
        elements *= size[i];
    return number ? elements : 0;
}

static enum wm_variable_kind kind_of(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    const int tag = dwarf_tag(type);
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
        return WM_VARIABLE_POINTER;
    if (tag == DW_TAG_enumeration_type)
        return WM_VARIABLE_UNSIGNED;
    if (tag != DW_TAG_base_type || !dwarf_attr_integrate(type, DW_AT_encoding, &attribute) ||
        dwarf_formudata(&attribute, &encoding) != 0)
        return WM_VARIABLE_OTHER;
    switch (encoding) {
    case DW_ATE_float:
        return WM_VARIABLE_FLOAT;
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return WM_VARIABLE_SIGNED;
    default:
        return WM_VARIABLE_UNSIGNED;
    }
}

static void describe_type(Dwarf_Die *variable, struct wm_variable *out)
{
    Dwarf_Die type, element;
    uint64_t elements = 1;
    name_type(variable, out->type, sizeof out->type, 0);
    if (!bare_type(variable, &type))
        return;
    element = type;
    for (unsigned i = 0; i < TYPE_DEPTH && dwarf_tag(&element) == DW_TAG_array_type; i++) {
        Dwarf_Die array = element;
        elements *= elements_of(&array);
        if (!bare_type(&array, &element))
            return;
    }
    out->type_id = id_of(&type);
    out->kind = kind_of(&element);
    const int size =
        out->kind == WM_VARIABLE_POINTER && dwarf_bytesize(&element) <= 0 ? 8 : dwarf_bytesize(&element);
    out->element_bytes = size > 0 ? (uint32_t)size : 0;
    const int whole = dwarf_bytesize(&type); /* vectors of three have the size of four */
    out->bytes = whole > 0 && elements > 1 && dwarf_tag(&type) == DW_TAG_array_type
                     ? (uint64_t)whole
                     : elements * out->element_bytes;
}

/* ---- types by id ----
 * The id of a type is the offset of its entry plus one; in the bits from ID_DIMENSION on, how many dimensions
 * of an array have been selected already. */

enum { ID_DIMENSION = 56 };

static bool is_aggregate(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool is_member(int tag)
{
    return tag == DW_TAG_member || tag == DW_TAG_inheritance;
}

/* Member `index` of a struct; with UINT64_MAX, only counts them. */
static size_t find_member(Dwarf_Die *type, size_t index, Dwarf_Die *member)
{
    size_t count = 0;
    Dwarf_Die from;
    Dwarf_Attribute attribute;
    if (!is_aggregate(dwarf_tag(type)) || dwarf_child(type, member) != 0)
        return 0;
    do {
        const bool is_static = dwarf_attr(member, DW_AT_external, &attribute) ||
                               dwarf_attr(member, DW_AT_declaration, &attribute);
        if (is_member(dwarf_tag(member)) && !is_static && count++ == index)
            return count;
        from = *member;
    } while (dwarf_siblingof(&from, member) == 0);
    return count;
}

static uint64_t number_in(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_attr_integrate(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0
               ? value
               : otherwise;
}

/* clang says where a pointer points to by DW_AT_address_class, of OpenCL's and HIP's LDS by other producers
 * too. Source: LLVM, AMDGPUUsage, "Address Class Identifier"; clang 19, getDWARFAddressSpace(). */
static void describe_pointer(Dwarf_Die *die, struct wm_type *type)
{
    const uint64_t class = number_in(die, DW_AT_address_class, 0);
    type->has_space = class == CLASS_PRIVATE || class == CLASS_LDS;
    type->space = class == CLASS_PRIVATE ? WM_VARIABLE_PRIVATE
                  : class == CLASS_LDS   ? WM_VARIABLE_LDS
                                         : WM_VARIABLE_GLOBAL;
}

static void describe_array(Dwarf_Die *die, uint64_t id, struct wm_type *type)
{
    uint64_t size[DIMENSIONS];
    Dwarf_Die element;
    const unsigned number = dimensions_of(die, size);
    const uint64_t selected = id >> ID_DIMENSION;
    if (selected >= number || !bare_type(die, &element))
        return;
    const int bytes = dwarf_bytesize(&element);
    uint64_t all = bytes > 0 ? (uint64_t)bytes : 0;
    for (unsigned i = (unsigned)selected; i < number; i++)
        all *= size[i];
    const int whole = dwarf_bytesize(die); /* vectors of three have the size of four */
    type->elements = size[selected];
    type->bytes = !selected && whole > 0 ? (uint64_t)whole : all;
    type->element = selected + 1 < number ? id + (UINT64_C(1) << ID_DIMENSION) : id_of(&element);
    const char *name = dwarf_diename(die);
    if (!name || !*name) {
        name_type(die, type->name, sizeof type->name, 0);
        for (unsigned i = (unsigned)selected; i < number; i++) {
            const size_t length = strlen(type->name);
            snprintf(type->name + length, sizeof type->name - length, "[%llu]", (unsigned long long)size[i]);
        }
    }
}

struct type_request {
    uint64_t id;
    size_t index;
    struct wm_type *type;     /* or NULL: */
    struct wm_member *member; /* member `index` of the type */
    bool found;
};

static void describe_by_id(Dwarf_Die *die, const struct type_request *r)
{
    struct wm_type *type = r->type;
    Dwarf_Die member;
    Dwarf_Die element;
    const char *name = dwarf_diename(die);
    const int bytes = dwarf_bytesize(die);
    *type = (struct wm_type){.kind = kind_of(die),
                             .bytes = bytes > 0 ? (uint64_t)bytes : 0,
                             .members = find_member(die, SIZE_MAX, &member)};
    snprintf(type->name, sizeof type->name, "%s", name ? name : "");
    if (dwarf_tag(die) == DW_TAG_array_type)
        describe_array(die, r->id, type);
    if (type->kind != WM_VARIABLE_POINTER)
        return;
    type->bytes = type->bytes ? type->bytes : 8;
    describe_pointer(die, type);
    type->element = bare_type(die, &element) ? id_of(&element) : 0;
    name_type(die, type->name, sizeof type->name - 2, 0);
    strcat(type->name, " *");
}

static void describe_member(Dwarf_Die *die, struct wm_member *member)
{
    Dwarf_Die type;
    const char *name = dwarf_diename(die);
    const uint64_t bit = number_in(die, DW_AT_data_bit_offset, UINT64_MAX);
    *member = (struct wm_member){.name = name && dwarf_tag(die) == DW_TAG_member ? name : "",
                                 .type_id = bare_type(die, &type) ? id_of(&type) : 0,
                                 .offset = number_in(die, DW_AT_data_member_location, 0),
                                 .bits = (unsigned)number_in(die, DW_AT_bit_size, 0)};
    if (member->bits && bit != UINT64_MAX) {
        const int size = member->type_id ? dwarf_bytesize(&type) : 1;
        const uint64_t unit = size > 0 ? 8 * (uint64_t)size : 8;
        member->offset = bit / unit * unit / 8;
        member->bit_offset = (unsigned)(bit % unit);
    }
}

static void find_type(Dwarf *dwarf, void *user)
{
    struct type_request *r = user;
    const uint64_t offset = (r->id & ((UINT64_C(1) << ID_DIMENSION) - 1)) - 1;
    Dwarf_Die die, member;
    if (!r->id || !dwarf_offdie(dwarf, offset, &die))
        return;
    r->found = r->type || find_member(&die, r->index, &member) == r->index + 1;
    if (r->type)
        describe_by_id(&die, r);
    else if (r->found)
        describe_member(&member, r->member);
}

/* ---- locations ---- */

struct evaluation {
    const struct wm_object *object;
    const struct wm_variable_reader *reader;
    Dwarf_Attribute *attribute;
    Dwarf_Die *function; /* has the frame base */
    bool in_kernel;
    uint64_t stack[STACK];
    unsigned count;
    /* What the operations up to now have come to: */
    enum { NOTHING, MEMORY, REGISTER, VALUE } kind;
    char name[16];    /* REGISTER */
    bool from_vector; /* the top of the stack is a VGPR's value */
    bool in_frame;    /* the location is in the function's frame, which is private memory */
    uint64_t address; /* MEMORY; VALUE */
    enum wm_variable_space space;
};

/* The name of a register; "": none that is known. Source: AMDGPUUsage of LLVM 22, "Register
 * Identifier". */
static void name_register(uint64_t number, char name[16])
{
    static const struct {
        uint16_t first, count, from;
        const char *prefix;
    } files[] = {{32, 64, 0, "s"},    {1088, 42, 64, "s"}, {1536, 512, 0, "v"},  {2048, 256, 0, "a"},
                 {2560, 256, 0, "v"}, {3072, 256, 0, "a"}, {3584, 512, 512, "v"}};
    *name = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (number >= files[i].first && number - files[i].first < files[i].count)
            snprintf(name, 16, "%s%u", files[i].prefix, (unsigned)(number - files[i].first + files[i].from));
    if (number == 1 || number == 17)
        snprintf(name, 16, "exec_lo");
    if (number == 512 || number == 768)
        snprintf(name, 16, "vcc_lo");
}

static bool push(struct evaluation *e, uint64_t value)
{
    if (e->count == STACK)
        return false;
    e->stack[e->count++] = value;
    e->from_vector = false;
    return true;
}

static enum wm_variable_state push_register(struct evaluation *e, uint64_t number, uint64_t offset)
{
    char name[16];
    uint32_t value;
    name_register(number, name);
    if (!*name)
        return WM_VARIABLE_UNSUPPORTED;
    if (!e->reader->read_register(e->reader->user, name, &value))
        return WM_VARIABLE_UNREADABLE;
    if (!push(e, value + offset))
        return WM_VARIABLE_UNSUPPORTED;
    if (*name == 'v' && !offset) {
        e->from_vector = true;
        memcpy(e->name, name, sizeof e->name);
    }
    return WM_VARIABLE_SHOWN;
}

/* In a kernel the frame begins where the wave's scratch does, and DWARF may have no frame base. In a function
 * that is called the base is a register: an offset for the whole wave, in interleaved memory, unless
 * FLAT_SCRATCH is set up for waves. Source: LLVM AMDGPUUsage, "Call Convention"; unverified with
 * -enable-flat-scratch. */
static enum wm_variable_state push_frame_base(struct evaluation *e, uint64_t offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    e->in_frame = true;
    if (e->in_kernel)
        return push(e, offset) ? WM_VARIABLE_SHOWN : WM_VARIABLE_UNSUPPORTED;
    if (!dwarf_attr_integrate(e->function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1 || ops[0].atom != DW_OP_regx)
        return WM_VARIABLE_UNSUPPORTED;
    const enum wm_variable_state state = push_register(e, ops[0].number, 0);
    if (state != WM_VARIABLE_SHOWN)
        return state;
    const bool for_lane = wmi_target_limit(e->object->target, WMI_LIMIT_initial_scratch);
    uint64_t *base = &e->stack[e->count - 1];
    *base = *base / (for_lane ? 1 : e->reader->wave_size) + offset;
    e->from_vector = false;
    return WM_VARIABLE_SHOWN;
}

static enum wm_variable_state push_address(struct evaluation *e, Dwarf_Op *op)
{
    Dwarf_Attribute at;
    Dwarf_Addr address = op->number;
    if (op->atom != DW_OP_addr &&
        (dwarf_getlocation_attr(e->attribute, op, &at) != 0 || dwarf_formaddr(&at, &address) != 0))
        return WM_VARIABLE_UNSUPPORTED;
    return push(e, address) ? WM_VARIABLE_SHOWN : WM_VARIABLE_UNSUPPORTED;
}

/* clang puts the address class of a variable's stack slot behind its location: "lit1, swap, xderef". Where
 * optimisation has removed the slot, this stays, although what comes before it is the value: a constant, with
 * stack_value behind it, or a VGPR. (Seen with clang 15 and 19.) */
static enum wm_variable_state end_with_class(struct evaluation *e, bool is_value)
{
    if (e->count < 2)
        return WM_VARIABLE_UNSUPPORTED;
    const uint64_t address = e->stack[--e->count], class = e->stack[--e->count];
    e->address = address;
    e->space = class == CLASS_PRIVATE ? WM_VARIABLE_PRIVATE
               : class == CLASS_LDS   ? WM_VARIABLE_LDS
                                      : WM_VARIABLE_GLOBAL;
    e->kind = is_value ? VALUE : e->from_vector ? REGISTER : MEMORY;
    return class <= CLASS_LDS ? WM_VARIABLE_SHOWN : WM_VARIABLE_UNSUPPORTED;
}

static bool apply(struct evaluation *e, unsigned atom)
{
    if (e->count < 2)
        return false;
    uint64_t *a = &e->stack[e->count - 2];
    const uint64_t b = e->stack[e->count - 1];
    const bool vector = e->from_vector;
    if (atom == DW_OP_swap) {
        e->stack[e->count - 1] = *a;
        *a = b;
        e->from_vector = vector;
        return true;
    }
    switch (atom) {
    case DW_OP_plus:
        *a += b;
        break;
    case DW_OP_minus:
        *a -= b;
        break;
    case DW_OP_mul:
        *a *= b;
        break;
    case DW_OP_and:
        *a &= b;
        break;
    case DW_OP_or:
        *a |= b;
        break;
    case DW_OP_xor:
        *a ^= b;
        break;
    case DW_OP_shl:
        *a = b < 64 ? *a << b : 0;
        break;
    case DW_OP_shr:
        *a = b < 64 ? *a >> b : 0;
        break;
    case DW_OP_shra:
        *a = (uint64_t)((int64_t)*a >> (b < 64 ? b : 63));
        break;
    default:
        return false;
    }
    e->count--;
    e->from_vector = false;
    return true;
}

static bool is_literal(const Dwarf_Op *op, uint64_t *value)
{
    *value = op->number;
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
        *value = op->atom - DW_OP_lit0;
        return true;
    }
    switch (op->atom) {
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
        return true;
    default:
        return false;
    }
}

static enum wm_variable_state step(struct evaluation *e, Dwarf_Op *op, const Dwarf_Op *next)
{
    uint64_t value;
    const bool vector = e->from_vector;
    if (is_literal(op, &value)) {
        const bool good = push(e, value);
        e->from_vector = vector; /* of the value below, until they are swapped */
        return good ? WM_VARIABLE_SHOWN : WM_VARIABLE_UNSUPPORTED;
    }
    if ((op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) || op->atom == DW_OP_regx) {
        name_register(op->atom == DW_OP_regx ? op->number : (uint64_t)op->atom - DW_OP_reg0, e->name);
        e->kind = REGISTER;
        return *e->name ? WM_VARIABLE_SHOWN : WM_VARIABLE_UNSUPPORTED;
    }
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return push_register(e, op->atom - DW_OP_breg0, op->number);
    switch (op->atom) {
    case DW_OP_bregx:
        return push_register(e, op->number, op->number2);
    case DW_OP_fbreg:
        return push_frame_base(e, op->number);
    case DW_OP_addr:
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
        return push_address(e, op);
    case DW_OP_plus_uconst:
        if (!e->count)
            return WM_VARIABLE_UNSUPPORTED;
        e->stack[e->count - 1] += op->number;
        e->from_vector = false;
        return WM_VARIABLE_SHOWN;
    case DW_OP_xderef:
        if (next && next->atom != DW_OP_stack_value && next->atom != DW_OP_piece)
            return WM_VARIABLE_UNSUPPORTED;
        return end_with_class(e, next && next->atom == DW_OP_stack_value);
    case DW_OP_stack_value:
        if (e->kind != VALUE) {
            if (!e->count)
                return WM_VARIABLE_UNSUPPORTED;
            e->address = e->stack[--e->count];
            e->kind = VALUE;
        }
        return WM_VARIABLE_SHOWN;
    case DW_OP_nop:
        return WM_VARIABLE_SHOWN;
    default:
        return apply(e, op->atom) ? WM_VARIABLE_SHOWN : WM_VARIABLE_UNSUPPORTED;
    }
}

/* Reads what the location has come to. */
static enum wm_variable_state read_place(struct evaluation *e, uint8_t *bytes, size_t size)
{
    const struct wm_variable_reader *reader = e->reader;
    if (e->kind == NOTHING && e->count) { /* an address */
        e->kind = MEMORY;
        e->address = e->stack[--e->count];
        e->space = e->in_frame ? WM_VARIABLE_PRIVATE : WM_VARIABLE_GLOBAL;
    }
    switch (e->kind) {
    case MEMORY:
        if (e->space == WM_VARIABLE_GLOBAL)
            e->address += reader->bias;
        return reader->read_memory(reader->user, e->space, e->address, bytes, size) ? WM_VARIABLE_SHOWN
                                                                                    : WM_VARIABLE_UNREADABLE;
    case VALUE:
        memcpy(bytes, &e->address, size < 8 ? size : 8);
        return size <= 8 ? WM_VARIABLE_SHOWN : WM_VARIABLE_UNSUPPORTED;
    case REGISTER: { /* and those behind it, of a larger value */
        unsigned number = 0;
        const bool numbered = sscanf(e->name + 1, "%u", &number) == 1;
        for (size_t at = 0; at < size; at += 4) {
            char name[16];
            uint32_t value;
            snprintf(name, sizeof name, "%c%u", *e->name, number + (unsigned)(at / 4));
            if (at && !numbered)
                return WM_VARIABLE_UNSUPPORTED;
            if (!reader->read_register(reader->user, numbered ? name : e->name, &value))
                return WM_VARIABLE_UNREADABLE;
            memcpy(bytes + at, &value, size - at < 4 ? size - at : 4);
        }
        return WM_VARIABLE_SHOWN;
    }
    default:
        return WM_VARIABLE_OPTIMISED_OUT;
    }
}

static enum wm_variable_state evaluate(struct evaluation *e, Dwarf_Op *ops, size_t count, uint8_t *bytes,
                                       size_t size)
{
    size_t done = 0;
    bool pieces = false;
    for (size_t i = 0; i < count; i++) {
        enum wm_variable_state state;
        if (ops[i].atom != DW_OP_piece) {
            state = step(e, &ops[i], i + 1 < count ? &ops[i + 1] : NULL);
            if (state != WM_VARIABLE_SHOWN)
                return state;
            continue;
        }
        pieces = true;
        if (ops[i].number > size - done)
            return WM_VARIABLE_UNSUPPORTED;
        state = read_place(e, bytes + done, ops[i].number);
        if (state != WM_VARIABLE_SHOWN)
            return state;
        done += ops[i].number;
        e->kind = NOTHING;
        e->count = 0;
    }
    if (pieces)
        return done == size ? WM_VARIABLE_SHOWN : WM_VARIABLE_OPTIMISED_OUT;
    return read_place(e, bytes, size);
}

static enum wm_variable_state read_constant(Dwarf_Die *variable, uint8_t *bytes, size_t size)
{
    Dwarf_Attribute attribute;
    Dwarf_Block block;
    Dwarf_Sword number;
    if (!dwarf_attr_integrate(variable, DW_AT_const_value, &attribute))
        return WM_VARIABLE_OPTIMISED_OUT;
    if (dwarf_formsdata(&attribute, &number) == 0 && size <= sizeof number) {
        memcpy(bytes, &number, size);
        return WM_VARIABLE_SHOWN;
    }
    if (dwarf_formblock(&attribute, &block) != 0 || block.length != size)
        return WM_VARIABLE_UNSUPPORTED;
    memcpy(bytes, block.data, size);
    return WM_VARIABLE_SHOWN;
}

/* ---- requests ---- */

struct request {
    const struct wm_object *object;
    uint64_t address;
    size_t index;
    struct wm_variable *variable;
    const struct wm_variable_reader *reader;
    uint8_t *bytes;
    size_t size;
    bool found;
    enum wm_variable_state state;
};

static bool begins_kernel(const struct wm_object *object, Dwarf_Die *function)
{
    Dwarf_Addr entry;
    bool is = false;
    if (dwarf_lowpc(function, &entry) != 0)
        return false;
    for (size_t i = 0; i < object->kernel_count; i++)
        is |= object->kernels[i].public.entry == entry;
    return is;
}

static void find(Dwarf *dwarf, void *user)
{
    struct request *r = user;
    struct path path;
    Dwarf_Die unit, die;
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    unsigned depth;
    int line;
    if (!find_path(dwarf, r->address, &path, &unit) || !find_variable(&path, r->index, &die, &depth))
        return;
    r->found = true;
    if (r->variable) {
        *r->variable = (struct wm_variable){.name = dwarf_diename(&die),
                                            .depth = depth,
                                            .is_parameter = dwarf_tag(&die) == DW_TAG_formal_parameter};
        r->variable->line = dwarf_decl_line(&die, &line) == 0 && line > 0 ? (unsigned)line : 0;
        describe_type(&die, r->variable);
        return;
    }
    if (!dwarf_attr_integrate(&die, DW_AT_location, &attribute)) {
        r->state = read_constant(&die, r->bytes, r->size);
        return;
    }
    const int locations = dwarf_getlocation_addr(&attribute, r->address, &ops, &count, 1);
    struct evaluation e = {.object = r->object,
                           .reader = r->reader,
                           .attribute = &attribute,
                           .function = &path.die[0],
                           .in_kernel = begins_kernel(r->object, &path.die[0])};
    r->state = locations < 0              ? WM_VARIABLE_UNSUPPORTED
               : locations == 0 || !count ? WM_VARIABLE_OPTIMISED_OUT
                                          : evaluate(&e, ops, count, r->bytes, r->size);
}

static void carry_out(struct request *r)
{
    struct wmi_lazy *lazy = r->object->lazy;
    pthread_mutex_lock(&lazy->lock);
    wmi_dwarf_read(r->object, find, r);
    pthread_mutex_unlock(&lazy->lock);
}

static bool look_up(const struct wm_object *object, struct type_request *r)
{
    struct wmi_lazy *lazy = object->lazy;
    pthread_mutex_lock(&lazy->lock);
    wmi_dwarf_read(object, find_type, r);
    pthread_mutex_unlock(&lazy->lock);
    return r->found;
}

bool wm_object_type(const struct wm_object *object, uint64_t id, struct wm_type *type)
{
    return object && type && look_up(object, &(struct type_request){.id = id, .type = type});
}

bool wm_object_member(const struct wm_object *object, uint64_t type_id, size_t index,
                      struct wm_member *member)
{
    return object && member && index < SIZE_MAX &&
           look_up(object, &(struct type_request){.id = type_id, .index = index, .member = member});
}

bool wm_object_variable(const struct wm_object *object, uint64_t address, size_t index,
                        struct wm_variable *variable)
{
    if (!object || !variable)
        return false;
    struct request request = {.object = object, .address = address, .index = index, .variable = variable};
    carry_out(&request);
    return request.found && variable->name;
}

enum wm_variable_state wm_object_variable_read(const struct wm_object *object, uint64_t address, size_t index,
                                               const struct wm_variable_reader *reader, void *bytes,
                                               size_t size)
{
    if (!object || !reader || !bytes || !size || !reader->wave_size)
        return WM_VARIABLE_UNREADABLE;
    memset(bytes, 0, size);
    struct request request = {.object = object,
                              .address = address,
                              .index = index,
                              .reader = reader,
                              .bytes = bytes,
                              .size = size,
                              .state = WM_VARIABLE_OPTIMISED_OUT};
    carry_out(&request);
    return request.state;
}
