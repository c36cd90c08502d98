/* SPDX-License-Identifier: MIT */
/* Recognizes loops that wait: loops with a load that decides a branch, without a store, and without a
 * register that is carried from one iteration to the next.
 *
 * Without optimization, compilers keep variables in private memory, to which FLAT instructions go as they go
 * to other memory, and lane masks in lanes of a VGPR, which they spill. Both are followed here by what the
 * code shows: memory that a loop reloads by the same address is taken as a private variable, that is, as a
 * register. */
#include "exec/run/polling.h"

#include "isa/rules/registers.h"
#include "lower/flow.h"

#include <string.h>

enum {
    LOOP = 256,   /* maximum instructions of a loop that waits; see waiting.c */
    DECIDES = 32, /* maximum instructions from one to a branch on its result */
    PLACES = 48,  /* maximum dwords of private memory that a loop uses */
    SCC = WMI_REGISTER_COUNT,
    REGISTERS,
    MASK_LANES = 64,
    MASK_SLOTS = 8,
};

bool wmi_has_result(const struct wmi_instruction *insn)
{
    if (wmi_rows[insn->id].class == WMI_CLASS_SMEM)
        return insn->field[WMI_FIELD_glc];
    for (unsigned i = 0; i < insn->operands; i++)
        if (insn->operand[i].kind != WMI_OPERAND_NONE && insn->operand[i].written)
            return true;
    return false;
}

bool wmi_only_changes_memory(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    return row->memory == WMI_MEMORY_STORE || (row->memory == WMI_MEMORY_ATOMIC && !wmi_has_result(insn)) ||
           row->class == WMI_CLASS_EXPORT;
}

/* What one iteration of a loop does to registers. */
struct round {
    bool before[REGISTERS];  /* read before it is written */
    bool written[REGISTERS]; /* written */
    bool changed[REGISTERS]; /* written other than by mask logic */
    bool loaded[REGISTERS];  /* depends on a load of the iteration */
    bool stores;
    bool loads_decide; /* a branch depends on a load */
};

/* A dword of private memory, or the part of it that the loop uses. It has the address that two values form,
 * or a constant one. */
struct place {
    uint32_t address[2];
    int32_t offset;
    uint32_t value;    /* what it contains: two equal numbers are equal values */
    bool loads;        /* the loop reads it */
    bool written;      /* written in this iteration */
    bool before;       /* read before it is written */
    bool loaded;       /* depends on a load of the iteration from other memory */
    bool by_registers; /* the address is in VGPRs, so that only its use tells that it is private */
};

/* What one iteration does to private memory, and to lane masks in lanes of VGPRs. */
struct variables {
    struct place place[PLACES];
    unsigned places;
    bool lost;                 /* there are more places */
    uint32_t values;           /* numbers of values so far */
    uint32_t value[REGISTERS]; /* of each register */
    bool masks[REGISTERS];     /* the VGPR contains masks */
    bool saves[REGISTERS];     /* the AccVGPR is where the loop saves masks */
    struct mask_slot {
        uint32_t address[2];
        int32_t offset;
    } slot[MASK_SLOTS]; /* private memory to which the loop spills masks */
    unsigned slots;
    struct mask_lane {
        bool written, before, changed, loaded, other; /* other: not the result of mask logic */
        uint32_t value;
    } lane[MASK_LANES];
    bool other[REGISTERS]; /* the SGPR is not the result of mask logic */
};

static bool is_vgpr(unsigned reg)
{
    return reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_FLAT_SCRATCH;
}

static void write(struct round *round, unsigned reg, bool logic, bool loaded)
{
    round->written[reg] = true;
    round->changed[reg] |= !logic;
    /* Inactive lanes of a VGPR keep their values, so a loaded VGPR stays loaded. */
    round->loaded[reg] = loaded || (is_vgpr(reg) && round->loaded[reg]);
}

static bool read(struct round *round, unsigned reg)
{
    round->before[reg] |= !round->written[reg];
    return round->loaded[reg];
}

static bool is_load(const struct wmi_instruction *insn, bool lds)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    return row->memory == WMI_MEMORY_LOAD && (lds || row->class != WMI_CLASS_DS) &&
           row->class != WMI_CLASS_SCRATCH;
}

static bool is_exec(const struct wmi_operand *operand)
{
    return operand && operand->kind == WMI_OPERAND_SPECIAL &&
           (operand->reg == WMI_SPECIAL_EXEC || operand->reg == WMI_SPECIAL_EXEC_LO);
}

/* Whether the instruction's results are lane masks. */
static bool is_mask_logic(const struct wmi_instruction *insn)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool moves = insn->id == WMI_INSN_s_mov_b32 || insn->id == WMI_INSN_s_mov_b64;
    return row->group == WMI_GROUP_MASK ||
           (row->class == WMI_CLASS_SALU && row->flags & WMI_ROW_WRITES_EXEC) ||
           (moves && is_exec(wmi_operand(insn, WMI_ROLE_A)));
}

/* loaded: the instruction is a load that counts. */
static void add_to_round(const struct wmi_target *target, struct round *round,
                         const struct wmi_instruction *insn, bool loaded)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const bool logic = is_mask_logic(insn);
    struct wmi_span_of_registers spans[WMI_SPANS];
    const unsigned count = wmi_registers_of(target, insn, spans);
    round->stores |= wmi_only_changes_memory(insn);
    if (row->flags & WMI_ROW_READS_SCC)
        loaded |= read(round, SCC);
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first; spans[i].read && reg < spans[i].first + spans[i].count; reg++)
            loaded |= read(round, reg);
    round->loads_decide |= loaded && wmi_control_flow(insn).branches;
    if (row->flags & WMI_ROW_WRITES_SCC)
        write(round, SCC, true, loaded);
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = spans[i].first; spans[i].written && reg < spans[i].first + spans[i].count; reg++)
            write(round, reg, logic, loaded);
}

/* ---- private memory ---- */

static unsigned vgpr_of(const struct wmi_operand *operand)
{
    return operand && operand->kind == WMI_OPERAND_VGPR ? WMI_REGISTER_VGPR + operand->reg : 0;
}

static unsigned agpr_of(const struct wmi_operand *operand)
{
    return operand && operand->kind == WMI_OPERAND_AGPR ? WMI_REGISTER_AGPR + operand->reg : 0;
}

static unsigned sgpr_of(const struct wmi_operand *operand)
{
    return operand && operand->kind == WMI_OPERAND_SGPR ? operand->reg : REGISTERS;
}

static struct place *place_at(struct variables *vars, const uint32_t address[2], int32_t offset)
{
    for (unsigned i = 0; i < vars->places; i++) {
        struct place *place = &vars->place[i];
        if (place->address[0] == address[0] && place->address[1] == address[1] && place->offset == offset)
            return place;
    }
    if (vars->places == PLACES) {
        vars->lost = true;
        return &vars->place[0];
    }
    struct place *place = &vars->place[vars->places++];
    *place = (struct place){.address = {address[0], address[1]}, .offset = offset, .value = ++vars->values};
    return place;
}

/* Whether the instruction may access private memory. Sets the two values that tell its address, except for
 * field `offset`. A buffer of private memory is the one in s[0:3]. Source: LLVM AMDGPUUsage, "Private Segment
 * Buffer". */
static bool address_of(const struct variables *vars, const struct wmi_instruction *insn, uint32_t address[2])
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const struct wmi_operand *operand = wmi_operand(insn, WMI_ROLE_ADDR),
                             *resource = wmi_operand(insn, WMI_ROLE_RSRC),
                             *base = wmi_operand(insn, WMI_ROLE_SADDR),
                             *offset = wmi_operand(insn, WMI_ROLE_OFFSET);
    const unsigned reg = vgpr_of(operand);
    const bool buffer = row->class == WMI_CLASS_BUFFER;
    if ((row->memory != WMI_MEMORY_LOAD && row->memory != WMI_MEMORY_STORE) || insn->field[WMI_FIELD_lds])
        return false;
    if (row->class == WMI_CLASS_FLAT && reg) {
        address[0] = vars->value[reg];
        address[1] = vars->value[reg + 1];
        return true;
    }
    /* Compilers access private memory without an index or cache bits. */
    const bool cached = !insn->field[WMI_FIELD_glc] && !insn->field[WMI_FIELD_slc] &&
                        !insn->field[WMI_FIELD_dlc] && !insn->field[WMI_FIELD_sc0] &&
                        !insn->field[WMI_FIELD_sc1] && !insn->field[WMI_FIELD_idxen];
    if (row->class != WMI_CLASS_SCRATCH && !(buffer && sgpr_of(resource) == 0 && cached))
        return false;
    const struct wmi_operand *scalar = buffer ? offset : base;
    const bool by_register = buffer ? insn->field[WMI_FIELD_offen] != 0 : reg != 0;
    address[0] = by_register && reg ? vars->value[reg] : 0;
    address[1] = UINT32_MAX - sgpr_of(scalar);
    return true;
}

/* The registers of a load's result or a store's data. */
static unsigned data_of(const struct wmi_instruction *insn)
{
    return vgpr_of(
        wmi_operand(insn, wmi_rows[insn->id].memory == WMI_MEMORY_LOAD ? WMI_ROLE_D : WMI_ROLE_DATA));
}

static bool is_mask_slot(const struct variables *vars, const uint32_t address[2], int32_t offset)
{
    for (unsigned i = 0; i < vars->slots; i++)
        if (vars->slot[i].address[0] == address[0] && vars->slot[i].address[1] == address[1] &&
            vars->slot[i].offset == offset)
            return true;
    return false;
}

/* Adds a load or store that may access private memory. False: it does not. */
static bool add_variable(const struct wmi_target *target, struct round *round, struct variables *vars,
                         const struct wmi_instruction *insn, bool load)
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const unsigned data = data_of(insn), dwords = row->bytes < 4 ? 1 : row->elements * row->bytes / 4u;
    const bool stores = round->stores;
    uint32_t address[2];
    if (!data || !address_of(vars, insn, address))
        return false;
    if (is_mask_slot(vars, address, insn->field[WMI_FIELD_offset])) {
        vars->masks[data] = true; /* the masks stay in their lanes */
        return true;
    }
    vars->masks[data] &= row->memory == WMI_MEMORY_STORE;
    add_to_round(target, round, insn, false);
    round->stores = stores;
    for (unsigned i = 0; i < dwords; i++) {
        struct place *place = place_at(vars, address, insn->field[WMI_FIELD_offset] + 4 * (int32_t)i);
        const unsigned reg = data + i;
        if (row->memory == WMI_MEMORY_STORE) {
            place->written = true;
            place->by_registers |= row->class != WMI_CLASS_SCRATCH;
            place->loaded |= round->loaded[reg];
            place->value = vars->value[reg];
            continue;
        }
        place->loads = true;
        place->before |= !place->written;
        /* Drivers other than HSA's have descriptors of any memory in s[0:3]. */
        const bool any = row->class == WMI_CLASS_FLAT || insn->field[WMI_FIELD_offen];
        round->loaded[reg] |= place->written ? place->loaded : load && any;
        vars->value[reg] = row->bytes < 4 ? ++vars->values : place->value;
    }
    return true;
}

/* ---- masks in lanes ---- */

/* Adds v_readlane and v_writelane of a VGPR that contains masks. False: the instruction is another one. */
static bool add_mask(struct round *round, struct variables *vars, const struct wmi_instruction *insn)
{
    const bool reads = wmi_rows[insn->id].group == WMI_GROUP_READLANE,
               writes = wmi_rows[insn->id].group == WMI_GROUP_WRITELANE;
    const struct wmi_operand *lane = wmi_operand(insn, WMI_ROLE_B);
    const unsigned vgpr = vgpr_of(wmi_operand(insn, reads ? WMI_ROLE_A : WMI_ROLE_D)),
                   sgpr = sgpr_of(wmi_operand(insn, reads ? WMI_ROLE_D : WMI_ROLE_A));
    if ((!reads && !writes) || !lane || lane->kind != WMI_OPERAND_CONSTANT || sgpr == REGISTERS ||
        (reads && !vars->masks[vgpr]))
        return false;
    struct mask_lane *mask = &vars->lane[lane->value % MASK_LANES];
    if (reads) {
        mask->before |= !mask->written;
        write(round, sgpr, !mask->other, mask->loaded);
        vars->other[sgpr] = mask->other;
        vars->value[sgpr] = mask->value;
        return true;
    }
    vars->masks[vgpr] = true;
    mask->loaded = read(round, sgpr);
    mask->other = vars->other[sgpr];
    mask->value = vars->value[sgpr];
    mask->changed |= mask->other;
    mask->written = true;
    return true;
}

/* Adds a copy of masks to or from the AccVGPR that saves them. False: the instruction is another one. */
static bool add_saved_masks(struct variables *vars, const struct wmi_instruction *insn)
{
    const struct wmi_operand *result = wmi_operand(insn, WMI_ROLE_D), *source = wmi_operand(insn, WMI_ROLE_A);
    if (insn->id == WMI_INSN_v_accvgpr_write_b32 && vars->saves[agpr_of(result)])
        return true; /* they stay in their lanes */
    if (insn->id != WMI_INSN_v_accvgpr_read_b32 || !vars->saves[agpr_of(source)])
        return false;
    vars->masks[vgpr_of(result)] = true;
    return true;
}

/* ---- values ---- */

/* The register that the instruction copies to its result's register `i`; REGISTERS: none. */
static unsigned copied(const struct wmi_instruction *insn, unsigned i)
{
    const struct wmi_operand *operand = wmi_operand(insn, WMI_ROLE_A), *b = wmi_operand(insn, WMI_ROLE_B);
    const unsigned a = vgpr_of(operand), agpr = agpr_of(operand), scalar = sgpr_of(operand);
    if (insn->extension == WMI_EXT_DPP || insn->extension == WMI_EXT_DPP8 || insn->extension == WMI_EXT_SDWA)
        return REGISTERS;
    switch (insn->id) {
    case WMI_INSN_v_mov_b32:
    case WMI_INSN_v_mov_b64:
    case WMI_INSN_s_mov_b32:
    case WMI_INSN_s_mov_b64:
    case WMI_INSN_v_accvgpr_read_b32:
    case WMI_INSN_v_accvgpr_write_b32:
        return a ? a + i : agpr ? agpr + i : scalar < REGISTERS ? scalar + i : REGISTERS;
    case WMI_INSN_v_pk_mov_b32: /* as compilers copy pairs, with op_sel:[0,1] */
        if (a != vgpr_of(b) || scalar != sgpr_of(b) || insn->field[WMI_FIELD_op_sel] != 2)
            return REGISTERS;
        return a ? a + i : scalar < REGISTERS ? scalar + i : REGISTERS;
    default:
        return REGISTERS;
    }
}

/* Updates the values of registers, and which SGPRs contain masks. */
static void add_values(const struct wmi_target *target, struct variables *vars,
                       const struct wmi_instruction *insn)
{
    struct wmi_span_of_registers spans[WMI_SPANS];
    const struct wmi_operand *a = wmi_operand(insn, WMI_ROLE_A);
    const unsigned count = wmi_registers_of(target, insn, spans), id = insn->id;
    const bool moves = id == WMI_INSN_s_mov_b32 || id == WMI_INSN_s_mov_b64;
    const bool logic = is_mask_logic(insn);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; spans[i].written && k < spans[i].count; k++) {
            const unsigned reg = spans[i].first + k,
                           from = spans[i].role == WMI_ROLE_D ? copied(insn, k) : REGISTERS;
            const unsigned scalar = sgpr_of(a);
            vars->masks[reg] = false;
            vars->value[reg] = from < REGISTERS ? vars->value[from] : ++vars->values;
            if (!is_vgpr(reg)) /* constants and EXEC are masks */
                vars->other[reg] = moves ? scalar + k < REGISTERS && vars->other[scalar + k] : !logic;
        }
}

/* ---- loops ---- */

/* Whether something but masks is carried from one iteration to the next. */
static bool carries(const struct round *round, const struct variables *vars)
{
    for (unsigned reg = 0; reg < WMI_REGISTER_COUNT; reg++) {
        const bool mask = reg / 2 == WMI_REGISTER_EXEC / 2 || reg / 2 == WMI_REGISTER_VCC / 2;
        if (round->before[reg] && round->changed[reg] && !mask)
            return true;
    }
    for (unsigned i = 0; vars && i < vars->places; i++)
        if (vars->place[i].before && vars->place[i].written)
            return true;
    for (unsigned i = 0; vars && i < MASK_LANES; i++)
        if (vars->lane[i].before && vars->lane[i].changed)
            return true;
    return false;
}

/* Whether what the loop stores may be other memory than variables of its own. */
static bool stores_elsewhere(const struct variables *vars)
{
    for (unsigned i = 0; i < vars->places; i++)
        if (vars->place[i].by_registers && vars->place[i].written && !vars->place[i].loads)
            return true;
    return vars->lost;
}

/* Finds the private memory and the AccVGPRs to which the loop saves VGPRs after it has written masks to their
 * lanes. */
static void find_mask_slots(const struct wmi_code *code, uint64_t first, uint64_t last,
                            struct variables *vars)
{
    struct wmi_instruction insn;
    unsigned masks = 0; /* the VGPR to which it has written masks */
    unsigned left = LOOP;
    for (uint64_t pc = first; pc <= last && left-- && wmi_code_decode(code, pc, &insn);
         pc += 4u * insn.dwords) {
        struct mask_slot *slot = &vars->slot[vars->slots];
        if (wmi_rows[insn.id].group == WMI_GROUP_WRITELANE)
            vars->masks[masks = vgpr_of(wmi_operand(&insn, WMI_ROLE_D))] = true;
        if (insn.id == WMI_INSN_v_accvgpr_write_b32 && masks &&
            vgpr_of(wmi_operand(&insn, WMI_ROLE_A)) == masks)
            vars->saves[agpr_of(wmi_operand(&insn, WMI_ROLE_D))] = true;
        if (wmi_rows[insn.id].memory != WMI_MEMORY_STORE || !masks || data_of(&insn) != masks ||
            wmi_rows[insn.id].class == WMI_CLASS_FLAT || vars->slots == MASK_SLOTS ||
            !address_of(vars, &insn, slot->address))
            continue;
        slot->offset = insn.field[WMI_FIELD_offset];
        vars->slots++;
        masks = 0;
    }
    vars->saves[0] = false;
}

static void begin(const struct wmi_code *code, uint64_t first, uint64_t last, struct variables *vars)
{
    memset(vars, 0, sizeof *vars);
    find_mask_slots(code, first, last, vars);
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        vars->value[reg] = ++vars->values;
    for (unsigned i = 0; i < MASK_LANES; i++)
        vars->lane[i].value = ++vars->values;
}

/* Adds an instruction, with private memory unless vars is NULL. */
static void add(const struct wmi_target *target, struct round *round, struct variables *vars,
                const struct wmi_instruction *insn, bool load)
{
    if (vars && (add_variable(target, round, vars, insn, load) || add_mask(round, vars, insn) ||
                 add_saved_masks(vars, insn)))
        return;
    add_to_round(target, round, insn, load);
    if (vars)
        add_values(target, vars, insn);
}

/* ---- parts of a loop behind its last branch ---- */

enum {
    BEHIND = 4096,     /* maximum instructions behind a loop that a search for a way back examines */
    WINDOW = 1 << 15,  /* dwords behind the loop that it examines */
    TARGETS_MOST = 128 /* branch targets that it has not followed yet */
};

struct walk {
    const struct wmi_code *code;
    uint64_t first, last; /* the loop */
    unsigned left;        /* instructions that may still be examined */
    unsigned targets;
    uint64_t target[TARGETS_MOST];
    uint64_t visited[WINDOW / 64]; /* a bit for each dword from `last` on */
};

/* Whether the walk reaches the place for the first time. */
static bool visit(struct walk *walk, uint64_t pc)
{
    const uint64_t dword = (pc - walk->last) / 4, bit = UINT64_C(1) << dword % 64;
    if (pc <= walk->last || dword >= WINDOW || walk->visited[dword / 64] & bit)
        return false;
    walk->visited[dword / 64] |= bit;
    return true;
}

static void add_target(struct walk *walk, uint64_t pc)
{
    if (walk->targets < TARGETS_MOST)
        walk->target[walk->targets++] = pc;
}

/* Whether code behind the loop, from `pc` on, leads back into it other than through its start. */
static bool leads_back(struct walk *walk, uint64_t pc)
{
    struct wmi_instruction insn;
    add_target(walk, pc);
    while (walk->targets) {
        bool next = true;
        for (pc = walk->target[--walk->targets]; next; pc += 4u * insn.dwords) {
            if (pc > walk->first && pc <= walk->last)
                return true;
            if (!walk->left || !visit(walk, pc) || !wmi_code_decode(walk->code, pc, &insn))
                break;
            walk->left--;
            const struct wmi_flow flow = wmi_control_flow(&insn);
            if (flow.branches && !flow.calls)
                add_target(walk, pc + 4u * insn.dwords + (uint64_t)(4 * flow.distance));
            next = !flow.ends;
        }
    }
    return false;
}

/* Whether the loop has more code than that from its start to its last branch. Without optimization, compilers
 * place blocks of a loop behind the branch that closes it. Code before the start belongs to loops around it,
 * which may enter it anywhere. */
static bool continues_behind(const struct wmi_code *code, uint64_t first, uint64_t last)
{
    struct walk walk = {.code = code, .first = first, .last = last, .left = BEHIND};
    struct wmi_instruction insn;
    for (uint64_t pc = first; pc <= last && wmi_code_decode(code, pc, &insn); pc += 4u * insn.dwords) {
        const struct wmi_flow flow = wmi_control_flow(&insn);
        const uint64_t next = pc + 4u * insn.dwords, target = next + (uint64_t)(4 * flow.distance);
        if (flow.branches && !flow.calls && target > last && leads_back(&walk, target))
            return true;
        if (next > last && !flow.ends && leads_back(&walk, next))
            return true;
    }
    return false;
}

bool wmi_loop_only_waits(const struct wmi_code *code, uint64_t first, uint64_t last, unsigned memory)
{
    struct round round = {0};
    struct variables variables, *vars = memory & WMI_LOOP_PRIVATE ? &variables : NULL;
    struct wmi_instruction insn;
    uint64_t pc = first;
    if (vars)
        begin(code, first, last, vars);
    for (unsigned i = 0; i < LOOP && pc <= last; i++) {
        if (!wmi_code_decode(code, pc, &insn))
            return false;
        add(code->options.target, &round, vars, &insn, is_load(&insn, memory & WMI_LOOP_LDS));
        pc += 4u * insn.dwords;
    }
    return pc > last && round.loads_decide && !round.stores && !carries(&round, vars) &&
           !(vars && stores_elsewhere(vars)) && !continues_behind(code, first, last);
}

bool wmi_result_decides(const struct wmi_code *code, uint64_t pc)
{
    struct round round = {0};
    struct variables vars;
    struct wmi_instruction insn;
    if (!wmi_code_decode(code, pc, &insn))
        return false;
    begin(code, pc, 0, &vars);
    add(code->options.target, &round, &vars, &insn, wmi_has_result(&insn));
    for (unsigned i = 0; i < DECIDES && !round.loads_decide && !wmi_control_flow(&insn).ends; i++) {
        pc += 4u * insn.dwords;
        if (!wmi_code_decode(code, pc, &insn))
            return false;
        add(code->options.target, &round, &vars, &insn, false);
    }
    return round.loads_decide;
}
