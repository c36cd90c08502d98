/* SPDX-License-Identifier: MIT */
/* Host code of LDS reads, writes and atomics whose places are all in range. */
#include "arithmetic/host_float.h"
#include "jit/lane_access.h"
#include "jit/lds_plan.h"
#include "jit/same.h"

#include <stdlib.h>

/* The rows and registers of an access, all taken before its code branches. */
struct lds_access {
    struct wmi_rows addresses;
    struct wmi_rows at; /* places of the lanes in the LDS, in bytes */
    unsigned splat, last;
    struct wmi_access_scratch scratch;
};

/* addresses: of step->a, in registers, or registers for them. */
static struct lds_access take_registers(struct wmi_stretch *s, const struct wmi_step *step,
                                        struct wmi_lane_shape shape, bool has_two, struct wmi_rows addresses)
{
    struct lds_access access = {.addresses = addresses, .at = addresses};
    if (has_two || step->x) {
        access.at = wmi_stretch_result(s, access.addresses.uniform);
        access.splat = wmi_stretch_register(s);
    }
    access.last = wmi_stretch_register(s);
    access.scratch = wmi_access_scratch(s, shape);
    return access;
}

/* places = from + by */
static void move_places(struct wmi_stretch *s, const struct lds_access *access, const struct wmi_rows *from,
                        uint32_t by)
{
    wmi_move_immediate(&s->host, WMI_RAX, by);
    wmi_access_splat(s, access->splat);
    for (unsigned i = 0; i < wmi_rows_strips(s, &access->at); i++)
        wmi_evex_plain(&s->host, WMI_VPADDD, access->at.reg[i], wmi_rows_register(from, i),
                       wmi_zmm(access->splat));
}

/* RCX = the LDS of the workgroup, last = the last place of so many bytes; the carry flag: there is none.
 * Changes RAX. */
static void load_lds(struct wmi_stretch *s, uint32_t bytes, enum wmi_gpr last)
{
    const struct wmi_compile_layout *layout = s->block->layout;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, offsetof(struct wmi_frame, wave));
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RAX, (int32_t)layout->wave_group);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RCX, WMI_RAX, (int32_t)layout->group_lds);
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, last, WMI_RAX, (int32_t)layout->group_lds_size);
    wmi_arithmetic_immediate(&s->host, 5, false, last, (int32_t)bytes);
}

/* RCX = the LDS of the workgroup, R9 = wmi_lane_tables, `last` = the last place of so many bytes. */
static void find_lds(struct wmi_stretch *s, unsigned bytes, unsigned last)
{
    load_lds(s, bytes, WMI_RAX);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, last, 0, wmi_zmm(WMI_RAX));
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
}

/* Leaves if a place of an active lane is out of range. */
static void check_range(struct wmi_stretch *s, const struct lds_access *access)
{
    const struct wmi_rows *places = &access->at;
    const unsigned highest = access->scratch.reg[0];
    for (unsigned i = 0; i < wmi_rows_strips(s, places); i++)
        wmi_access_highest(s, highest, places->reg[i], places->uniform ? WMI_NO_MASK : wmi_access_mask(s, i),
                           !i);
    wmi_test_above(&s->host, highest, access->last, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* The first or only places of the instruction, after all of them have been checked. The same registers are
 * used for the second ones, because elements of two rows leave no others. */
static void find_places(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                        const struct lds_access *access, bool has_two)
{
    if (has_two)
        move_places(s, access, &access->addresses, step->y);
    else if (step->x)
        move_places(s, access, &access->addresses, step->x);
    find_lds(s, shape.bytes, access->last);
    check_range(s, access);
    if (!has_two)
        return;
    move_places(s, access, &access->at, step->x - step->y);
    check_range(s, access);
}

/* ---- places that are guessed ---- */

/* Code for elements that follow one another in each strip, are the same one or, for loads, follow one another
 * in the opposite order, as is guessed. It jumps to `others` if the guess is wrong or a place is out
 * of range, before or after it has moved some strips. */
struct guessed {
    const struct lds_access *access;
    const struct wmi_rows *rows[2]; /* of the one or two places */
    uint32_t offset[2];
    unsigned count;
    int stride;
    bool loads;
    size_t others[2 + 2 * WMI_STRIPS];
    unsigned other_count;
};

static bool is_guessed(const struct wmi_stretch *s, struct wmi_lane_shape shape, bool loads)
{
    const int guess = s->guess[s->at];
    if (s->partial && !loads && shape.rows > 1)
        return false; /* its moves have no mask */
    if (guess == 0)
        return loads || shape.rows == 1;
    return guess == shape.bytes || (loads && guess == -shape.bytes && shape.rows == 1);
}

static void leave_for_others(struct wmi_stretch *s, struct guessed *g, enum wmi_condition condition)
{
    g->others[g->other_count++] = wmi_jump_if(&s->host, condition);
}

static void land_others(struct wmi_stretch *s, const struct guessed *g)
{
    for (unsigned i = 0; i < g->other_count; i++)
        wmi_land(&s->host, g->others[i]);
}

/* RCX = the LDS, R8 = the highest address from which `reach` bytes and those of the strip's other lanes are
 * in range, R9 = wmi_lane_tables. */
static void find_limit(struct wmi_stretch *s, struct guessed *g, uint32_t reach)
{
    load_lds(s, reach + (uint32_t)abs(g->stride) * (WMI_STRIP_LANES - 1), WMI_R8);
    leave_for_others(s, g, WMI_IF_BELOW);
    wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
}

/* Jumps to the others if a lane, or an active one, is not where the first lane of its strip lets it be. Needs
 * R9. */
static void test_guess(struct wmi_stretch *s, struct guessed *g, bool of_all)
{
    const bool by_host = s->host.vectors->differ_from_first;
    const unsigned expected = g->access->scratch.reg[by_host], differs = g->access->scratch.reg[!by_host];
    const struct wmi_host_operand offsets =
        wmi_at(WMI_R9, g->stride ? wmi_lane_offsets((unsigned)abs(g->stride), 0) : 0);
    if (!by_host)
        wmi_evex_plain(&s->host, WMI_VPXORD, differs, differs, wmi_zmm(differs));
    for (unsigned i = 0; i < s->strips; i++) {
        const unsigned address = wmi_rows_register(&g->access->addresses, i),
                       mask = of_all ? WMI_NO_MASK : wmi_access_mask(s, i);
        if (by_host) {
            s->host.vectors->differ_from_first(&s->host, differs, !i, address, offsets, g->stride, mask);
            continue;
        }
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD, expected, 0, wmi_zmm(address));
        if (g->stride)
            wmi_evex_plain(&s->host, g->stride > 0 ? WMI_VPADDD : WMI_VPSUBD, expected, expected, offsets);
        wmi_evex(&s->host, WMI_VPTERNLOGD, differs, expected, wmi_zmm(address), mask, WMI_OR_DIFFERENCE);
    }
    wmi_test_words(&s->host, differs, WMI_K);
    leave_for_others(s, g, WMI_IF_NOT_EQUAL);
}

/* RAX = the place of the strip's lowest element. R8 = the last address. */
static void find_strip(struct wmi_stretch *s, struct guessed *g, unsigned strip)
{
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, wmi_rows_register(&g->access->addresses, strip), 0,
                   wmi_zmm(WMI_RAX));
    if (g->stride < 0)
        wmi_arithmetic_immediate(&s->host, 5, false, WMI_RAX, -g->stride * (WMI_STRIP_LANES - 1));
    wmi_scalar_registers(&s->host, WMI_CMP, false, WMI_RAX, WMI_R8);
    leave_for_others(s, g, WMI_IF_ABOVE);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
}

/* What moves need in registers. Needs R9. */
static void prepare_moves(struct wmi_stretch *s, const struct guessed *g)
{
    if (g->stride < 0)
        wmi_evex_plain(&s->host, WMI_VMOVUPS_LOAD, g->access->scratch.reg[0], 0,
                       wmi_at(WMI_R9, offsetof(struct wmi_lane_tables, reversed)));
}

/* Moves what is at the places from number `from` to before `to` of a strip's active lanes, from RAX on. */
static void move_strip(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct guessed *g,
                       unsigned strip, unsigned from, unsigned to)
{
    const unsigned mask = shape.rows == 1 ? wmi_access_mask(s, strip) : WMI_NO_MASK;
    for (unsigned i = from; i < to; i++) {
        const int32_t offset = (int32_t)g->offset[i];
        if (!g->loads && !g->stride)
            wmi_access_store_same(s, shape, g->rows[i], strip, offset, &g->access->scratch);
        else if (!g->loads)
            wmi_access_store_run(s, shape, g->rows[i], strip, offset, mask, &g->access->scratch);
        else if (g->stride < 0)
            wmi_access_load_reversed(s, shape, g->rows[i]->reg[strip], g->access->scratch.reg[0], offset);
        else if (g->stride)
            wmi_access_load_run(s, shape, g->rows[i], strip, offset, mask, &g->access->scratch);
        else
            wmi_access_load_same(s, shape, g->rows[i], strip, offset);
    }
}

/* All lanes store to their first places before any stores to its second one. */
static unsigned passes_of(const struct guessed *g)
{
    return g->loads ? 1 : g->count;
}

static void move_guessed(struct wmi_stretch *s, struct wmi_lane_shape shape, struct guessed *g)
{
    const uint32_t first = g->offset[0], second = g->offset[g->count - 1];
    const uint32_t bytes = !g->stride && shape.bytes < 4 ? 4 : shape.bytes;
    find_limit(s, g, bytes + (first > second ? first : second));
    test_guess(s, g, false);
    prepare_moves(s, g);
    for (unsigned pass = 0; pass < passes_of(g); pass++)
        for (unsigned i = 0; i < s->strips; i++) {
            const size_t idle = wmi_access_unless_active(s, wmi_access_mask(s, i));
            find_strip(s, g, i);
            move_strip(s, shape, g, i, pass, g->loads ? g->count : pass + 1);
            wmi_land_if(&s->host, idle);
        }
}

/* ---- places that the wave knows ---- */

static int32_t known_at(const struct wmi_stretch *s)
{
    const unsigned number = s->lds->number[s->at];
    const size_t known = s->lds->lasts[number] ? offsetof(struct wmi_frame, compiled.lds_lasting)
                                               : offsetof(struct wmi_frame, compiled.lds_known);
    return (int32_t)(known + number * sizeof(uint32_t));
}

static int32_t place_at(const struct wmi_stretch *s, unsigned strip)
{
    return (int32_t)(offsetof(struct wmi_frame, compiled.lds_place) +
                     (s->lds->number[s->at] * WMI_STRIPS + strip) * sizeof(uint64_t));
}

static void set_known(struct wmi_stretch *s, enum wmi_lds_known known)
{
    wmi_move_immediate(&s->host, WMI_RAX, known);
    wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_RAX, WMI_FRAME, known_at(s));
}

/* Finds out whether all addresses are as guessed, and where they are. */
static void learn(struct wmi_stretch *s, const struct guessed *g)
{
    struct guessed all = *g;
    find_limit(s, &all, s->lds->reach[s->lds->number[s->at]]);
    test_guess(s, &all, true);
    for (unsigned i = 0; i < s->strips; i++) {
        find_strip(s, &all, i);
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, true, WMI_RAX, WMI_FRAME, place_at(s, i));
    }
    set_known(s, WMI_LDS_GUESSED);
    const size_t done = wmi_jump(&s->host);
    land_others(s, &all);
    set_known(s, WMI_LDS_OTHERS);
    wmi_land(&s->host, done);
}

static void move_known(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct guessed *g)
{
    if (shape.rows > 1 || g->stride < 0)
        wmi_move_immediate(&s->host, WMI_R9, (uintptr_t)&wmi_lane_tables);
    prepare_moves(s, g);
    for (unsigned pass = 0; pass < passes_of(g); pass++)
        for (unsigned i = 0; i < s->strips; i++) {
            wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, place_at(s, i));
            move_strip(s, shape, g, i, pass, g->loads ? g->count : pass + 1);
        }
}

/* ---- rows that are the same in strips ---- */

/* Whether the addresses of the current step, which has one place, are one number in each strip. */
static bool has_same_places(const struct wmi_stretch *s, bool has_two)
{
    return !has_two && s->lds->number[s->at] != WMI_NO_LDS_ADDRESS && s->guess[s->at] == 0;
}

static bool are_places_known(const struct wmi_stretch *s)
{
    return s->known_places >> s->lds->number[s->at] & 1;
}

/* Leaves for the code with a register per strip if the places are not as guessed. */
static void split_unless_known(struct wmi_stretch *s)
{
    if (are_places_known(s))
        return;
    wmi_arithmetic_memory(&s->host, 7, false, WMI_FRAME, known_at(s), WMI_LDS_GUESSED);
    wmi_stretch_split_at(s, wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL));
    s->known_places |= 1u << s->lds->number[s->at];
}

/* d = the dword of each strip, in one register. */
static void read_same(struct wmi_stretch *s, const struct wmi_step *step)
{
    const uint32_t vpbroadcastq = WMI_EVEX(0x59, WMI_MAP_0F38, WMI_PREFIX_66, 1);
    split_unless_known(s);
    const unsigned d = wmi_stretch_register(s);
    for (unsigned i = 0; i < s->strips; i++) {
        const struct wmi_host_operand place = wmi_at(WMI_RAX, (int32_t)step->x);
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, place_at(s, i));
        if (i)
            wmi_evex(&s->host, WMI_VPINSRD, d, d, place, WMI_NO_MASK, (int)i);
        else
            wmi_evex_plain(&s->host, WMI_VMOVD_LOAD, d, 0, place);
    }
    if (s->strips == 4)
        wmi_evex(&s->host, WMI_VSHUFI32X4, d, d, wmi_zmm(d), WMI_NO_MASK, 0);
    else
        wmi_evex_plain(&s->host, vpbroadcastq, d, 0, wmi_zmm(d));
    wmi_stretch_write_runs(s, step->d, d, 0);
    s->has_same = true;
}

/* Writes a row that is the same in strips, each of which has an active lane or writes nothing. */
static void write_same(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_rows data = wmi_stretch_use_base(s, step->b);
    for (unsigned i = 0; i < s->strips; i++) {
        const size_t idle = wmi_access_unless_active(s, wmi_access_mask(s, i));
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_FRAME, place_at(s, i));
        wmi_evex(&s->host, WMI_VPEXTRD, data.reg[0], 0, wmi_at(WMI_RAX, (int32_t)step->x), WMI_NO_MASK,
                 (int)i);
        wmi_land_if(&s->host, idle);
    }
}

/* ---- reads and writes ---- */

/* Moves elements at any places; all registers have been taken. */
static void move_others(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                        const struct guessed *g)
{
    const struct lds_access *access = g->access;
    find_places(s, step, shape, access, g->count == 2);
    for (unsigned i = 0; i < g->count; i++) {
        if (i)
            move_places(s, access, &access->at, step->y - step->x);
        if (g->loads)
            wmi_access_load(s, shape, &access->at, g->rows[i], &access->scratch, 0, false);
        else
            wmi_access_store(s, shape, &access->at, g->rows[i], &access->scratch, 0);
    }
}

/* The code for usual waves comes first, and what it leaves for is set aside. */
static void move(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                 struct guessed *g)
{
    if (g->access->addresses.uniform || !is_guessed(s, shape, g->loads)) {
        move_others(s, step, shape, g);
        return;
    }
    move_guessed(s, shape, g);
    const size_t end = s->host.count, first_exit = s->exit_count;
    move_others(s, step, shape, g);
    wmi_stretch_set_aside(s, end, first_exit, g->others, g->other_count, end);
}

/* The same with places that the wave knows or will know. The addresses are loaded where they are needed. */
static void move_or_learn(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                          struct guessed *g, bool is_loaded)
{
    wmi_arithmetic_memory(&s->host, 7, false, WMI_FRAME, known_at(s), WMI_LDS_GUESSED);
    const size_t unknown = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    move_known(s, shape, g);
    const size_t end = s->host.count, first_exit = s->exit_count;
    if (!is_loaded)
        wmi_stretch_load_later(s, &g->access->addresses);
    const size_t wrong = wmi_jump_if(&s->host, WMI_IF_ABOVE); /* the flags are those of the comparison */
    learn(s, g);
    wmi_land(&s->host, wrong);
    move_guessed(s, shape, g);
    const size_t done = wmi_jump(&s->host);
    land_others(s, g);
    move_others(s, step, shape, g);
    wmi_land(&s->host, done);
    wmi_stretch_set_aside(s, end, first_exit, &unknown, 1, end);
}

static bool may_know(const struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                     bool loads)
{
    return s->lds->number[s->at] != WMI_NO_LDS_ADDRESS && is_guessed(s, shape, loads) &&
           wmi_stretch_has_lanes(s, step->a);
}

/* rows: of the results or the data, which `loads` says. */
static void move_places_of(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                           bool has_two, bool loads, struct wmi_rows rows[2][WMI_LANE_ROWS])
{
    bool is_loaded = true;
    const bool knows = may_know(s, step, shape, loads);
    const struct wmi_rows addresses =
        knows ? wmi_stretch_use_later(s, step->a, &is_loaded) : wmi_access_use(s, shape, step->a);
    const struct lds_access access = take_registers(s, step, shape, has_two, addresses);
    for (unsigned i = 0; loads && i < (has_two ? 2 : 1); i++)
        wmi_access_results(s, shape, access.addresses.uniform, rows[i]);
    struct guessed g = {.access = &access,
                        .rows = {rows[0], rows[1]},
                        .offset = {step->x, step->y},
                        .count = has_two ? 2 : 1,
                        .stride = s->guess[s->at],
                        .loads = loads};
    if (knows)
        move_or_learn(s, step, shape, &g, is_loaded);
    else
        move(s, step, shape, &g);
}

/* Reads from the same places in all lanes, which are known before the wave runs. */
static void read_constant(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                          uint32_t address, bool has_two, struct wmi_rows d[2][WMI_LANE_ROWS])
{
    const uint32_t place[2] = {address + step->x, address + step->y};
    const uint32_t last = has_two && place[1] > place[0] ? place[1] : place[0];
    load_lds(s, shape.bytes, WMI_R8);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_arithmetic_immediate(&s->host, 7, false, WMI_R8, (int32_t)last);
    wmi_stretch_exit_if(s, WMI_IF_BELOW);
    wmi_scalar_registers(&s->host, WMI_MOV_LOAD, true, WMI_RAX, WMI_RCX);
    for (unsigned i = 0; i < (has_two ? 2 : 1); i++) {
        wmi_access_results(s, shape, true, d[i]);
        wmi_access_load_same(s, shape, d[i], 0, (int32_t)place[i]);
    }
}

/* Whether the row is a constant that is a place in some LDS. */
static bool is_constant_place(const struct wmi_stretch *s, uint32_t row, uint32_t *address)
{
    enum { MOST_LDS = 1 << 20 };
    return wmi_stretch_constant(s, row, address) && *address < MOST_LDS;
}

static bool read_places(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                        bool has_two)
{
    struct wmi_rows d[2][WMI_LANE_ROWS];
    uint32_t address;
    if (step->id == WMI_STEP_lds_read_b32 && s->may_hold_same && has_same_places(s, has_two) &&
        !is_constant_place(s, step->a, &address) && wmi_same_is_worth(s, step)) {
        read_same(s, step);
        return true;
    }
    if (is_constant_place(s, step->a, &address))
        read_constant(s, step, shape, address, has_two, d);
    else
        move_places_of(s, step, shape, has_two, true, d);
    s->has_read = true;
    for (unsigned i = 0; i < (has_two ? 2 : 1); i++)
        wmi_access_write(s, shape, step->d + i * shape.rows * s->row_bytes, d[i]);
    wmi_stretch_come_back(s);
    return true;
}

static bool write_places(struct wmi_stretch *s, const struct wmi_step *step, struct wmi_lane_shape shape,
                         bool has_two)
{
    struct wmi_rows data[2][WMI_LANE_ROWS];
    if (step->id == WMI_STEP_lds_write_b32 && s->has_same && has_same_places(s, has_two) &&
        are_places_known(s) && wmi_stretch_stride(s, step->b) == 0) {
        write_same(s, step);
        return true;
    }
    wmi_access_data(s, shape, step->b, data[0]);
    if (has_two)
        wmi_access_data(s, shape, step->c, data[1]);
    move_places_of(s, step, shape, has_two, false, data);
    wmi_stretch_come_back(s);
    return true;
}

/* ---- atomics ---- */

/* How an atomic changes the dword in memory. */
enum lds_change {
    BY_INSTRUCTION, /* an x86 instruction with the operand in memory as destination */
    IF_COMPARED,    /* it becomes DATA if the condition holds for memory and DATA */
    IF_EQUAL,       /* it becomes DATA2 if it equals DATA */
    ALWAYS,         /* it becomes DATA */
    BY_FLOAT_SUM,   /* VADDSS, which chooses among NaNs as the body does */
};

struct lds_atomic {
    uint16_t id;   /* enum wmi_step_id */
    uint8_t how;   /* enum lds_change */
    uint8_t which; /* opcode, or enum wmi_condition */
};

static const struct lds_atomic atomics[] = {
    {WMI_STEP_lds_add_b32, BY_INSTRUCTION, 0x01},
    {WMI_STEP_lds_sub_b32, BY_INSTRUCTION, 0x29},
    {WMI_STEP_lds_and_b32, BY_INSTRUCTION, 0x21},
    {WMI_STEP_lds_or_b32, BY_INSTRUCTION, 0x09},
    {WMI_STEP_lds_xor_b32, BY_INSTRUCTION, 0x31},
    {WMI_STEP_lds_min_i32, IF_COMPARED, WMI_IF_GREATER},
    {WMI_STEP_lds_max_i32, IF_COMPARED, WMI_IF_LESS},
    {WMI_STEP_lds_min_u32, IF_COMPARED, WMI_IF_ABOVE},
    {WMI_STEP_lds_max_u32, IF_COMPARED, WMI_IF_BELOW},
    {WMI_STEP_lds_cmpst_b32, IF_EQUAL, WMI_IF_EQUAL},
    {WMI_STEP_lds_wrxchg_b32, ALWAYS, 0},
    {WMI_STEP_lds_add_f32, BY_FLOAT_SUM, 0},
};

static const struct lds_atomic *atomic_of(const struct wmi_step *step)
{
    for (size_t i = 0; i < sizeof atomics / sizeof *atomics; i++)
        if (atomics[i].id == step->id)
            return &atomics[i];
    return NULL;
}

/* An atomic and its rows in the frame, as displacements from WMI_ROWS. */
struct atomic_code {
    const struct lds_atomic *atomic;
    int32_t address, data, data2, result;
    uint32_t offset;
    bool returns;
    unsigned sum; /* a free register */
};

/* Leaves if a place of an active lane is not aligned. Changes `ones`. */
static void check_alignment(struct wmi_stretch *s, const struct wmi_rows *places, unsigned ones)
{
    wmi_move_immediate(&s->host, WMI_RAX, 3);
    wmi_access_splat(s, ones);
    for (unsigned i = 0; i < wmi_rows_strips(s, places); i++)
        wmi_access_collect(s, WMI_VPTESTMD, places->reg[i], ones,
                           places->uniform ? WMI_NO_MASK : wmi_access_mask(s, i), WMI_NO_IMMEDIATE, !i);
    wmi_kortest(&s->host, WMI_K, WMI_K);
    wmi_stretch_exit_if(s, WMI_IF_NOT_EQUAL);
}

/* [RAX] is changed. R9 = the value before, if the atomic returns it. R11 = DATA, or DATA2 if there are two;
 * changed. R10 + displacements: the rows of the lane. */
static void change(struct wmi_stretch *s, const struct atomic_code *code, int32_t lane)
{
    enum { NOT = 1 }; /* of a condition */
    static const uint32_t vmovss_load = WMI_EVEX_OF(0x10, WMI_MAP_0F, WMI_PREFIX_F3, 0, 2),
                          vmovss_store = WMI_EVEX_OF(0x11, WMI_MAP_0F, WMI_PREFIX_F3, 0, 2),
                          vaddss = WMI_EVEX_OF(0x58, WMI_MAP_0F, WMI_PREFIX_F3, 0, 2);
    const struct lds_atomic *atomic = code->atomic;
    const bool compares = atomic->how == IF_COMPARED || atomic->how == IF_EQUAL;
    if (code->returns || compares)
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_R9, WMI_RAX, 0);
    switch ((enum lds_change)atomic->how) {
    case BY_INSTRUCTION:
        wmi_scalar_memory(&s->host, atomic->which, false, WMI_R11, WMI_RAX, 0);
        break;
    case IF_COMPARED:
    case IF_EQUAL:
        if (atomic->how == IF_EQUAL)
            wmi_scalar_memory(&s->host, WMI_CMP, false, WMI_R9, WMI_R10, code->data + lane);
        else
            wmi_scalar_registers(&s->host, WMI_CMP, false, WMI_R9, WMI_R11);
        wmi_scalar_registers(&s->host, WMI_CMOV + (atomic->which ^ NOT), false, WMI_R11, WMI_R9);
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_R11, WMI_RAX, 0);
        break;
    case ALWAYS:
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_R11, WMI_RAX, 0);
        break;
    case BY_FLOAT_SUM:
        wmi_evex_plain(&s->host, vmovss_load, code->sum, 0, wmi_at(WMI_RAX, 0));
        wmi_evex_plain(&s->host, vaddss, code->sum, code->sum, wmi_at(WMI_R10, code->data + lane));
        wmi_evex_plain(&s->host, vmovss_store, code->sum, 0, wmi_at(WMI_RAX, 0));
        break;
    }
}

/* The atomic of the lane whose rows are at R10 + displacements + `lane`. RCX = the LDS. The result is written
 * last, because its row may be that of the address or the data. */
static void change_lane(struct wmi_stretch *s, const struct atomic_code *code, int32_t lane)
{
    const int32_t taken = code->atomic->how == IF_EQUAL ? code->data2 : code->data;
    wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_RAX, WMI_R10, code->address + lane);
    if (code->atomic->how != BY_FLOAT_SUM)
        wmi_scalar_memory(&s->host, WMI_MOV_LOAD, false, WMI_R11, WMI_R10, taken + lane);
    if (code->offset)
        wmi_arithmetic_immediate(&s->host, 0, false, WMI_RAX, (int32_t)code->offset);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
    change(s, code, lane);
    if (code->returns)
        wmi_scalar_memory(&s->host, WMI_MOV_STORE, false, WMI_R9, WMI_R10, code->result + lane);
}

/* All lanes in their order, strip by strip. */
static void change_all(struct wmi_stretch *s, const struct atomic_code *code)
{
    wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_R10, WMI_ROWS, 0);
    wmi_scalar_memory(&s->host, WMI_LEA, true, WMI_R8, WMI_ROWS, (int32_t)s->row_bytes);
    const size_t next = s->host.count;
    for (int32_t i = 0; i < WMI_STRIP_BYTES; i += 4)
        change_lane(s, code, i);
    wmi_arithmetic_immediate(&s->host, 0, true, WMI_R10, WMI_STRIP_BYTES);
    wmi_scalar_registers(&s->host, WMI_CMP, true, WMI_R10, WMI_R8);
    wmi_jump_back_if(&s->host, WMI_IF_NOT_EQUAL, next);
}

/* The active lanes in their order. */
static void change_active(struct wmi_stretch *s, const struct atomic_code *code)
{
    const struct wmi_lane_loop loop = wmi_access_each_lane(s);
    change_lane(s, code, 0);
    wmi_access_next_lane(s, &loop);
}

/* Where the row is in the frame, stored if only registers hold it. */
static int32_t find_row(struct wmi_stretch *s, uint32_t row)
{
    const struct wmi_rows rows = wmi_stretch_use_in_memory(s, row);
    return wmi_rows_operand(s, &rows, 0).displacement;
}

/* Whether float sums may use the wave's MXCSR: the body's rounds to nearest even. */
static bool rounds_to_nearest(const struct wmi_stretch *s)
{
    const struct wmi_compile_mode *mode = &s->block->mode;
    return mode->mxcsr32 == wmi_host_float_word(0, mode->mode >> 4 & 3);
}

static bool emit_atomic(struct wmi_stretch *s, const struct wmi_step *step)
{
    const struct wmi_lane_shape dword = {.bytes = 4, .rows = 1};
    struct atomic_code code = {.atomic = atomic_of(step), .offset = step->x};
    code.returns = ((const struct wmi_memory_op *)step->data)->returns;
    if (s->version == WMI_LAUNCH)
        return false; /* ids may not be in the frame */
    if (code.atomic->how == BY_FLOAT_SUM && !rounds_to_nearest(s))
        return false;
    code.address = find_row(s, step->a);
    code.data = find_row(s, step->b);
    if (code.atomic->how == IF_EQUAL)
        code.data2 = find_row(s, step->c);
    if (code.returns)
        code.result = find_row(s, step->d);
    const struct lds_access access = take_registers(s, step, dword, false, wmi_access_use(s, dword, step->a));
    code.sum = access.last;
    find_places(s, step, dword, &access, false);
    check_alignment(s, &access.at, access.last);
    (s->partial ? change_active : change_all)(s, &code);
    if (code.returns)
        wmi_stretch_written_in_memory(s, step->d);
    wmi_stretch_come_back(s);
    return true;
}

/* ---- the table ---- */

/* clang-format off */
#define STEPS(STEP) \
    STEP(read_places, read_u8, false, 1, 1, false) \
    STEP(read_places, read_i8, false, 1, 1, true) \
    STEP(read_places, read_u16, false, 2, 1, false) \
    STEP(read_places, read_i16, false, 2, 1, true) \
    STEP(read_places, read_b32, false, 4, 1, false) \
    STEP(read_places, read_b64, false, 8, 2, false) \
    STEP(read_places, read_b128, false, 16, 4, false) \
    STEP(read_places, read2_b32, true, 4, 1, false) \
    STEP(read_places, read2_b64, true, 8, 2, false) \
    STEP(write_places, write_b8, false, 1, 1, false) \
    STEP(write_places, write_b16, false, 2, 1, false) \
    STEP(write_places, write_b32, false, 4, 1, false) \
    STEP(write_places, write_b64, false, 8, 2, false) \
    STEP(write_places, write_b128, false, 16, 4, false) \
    STEP(write_places, write2_b32, true, 4, 1, false) \
    STEP(write_places, write2_b64, true, 8, 2, false)
/* clang-format on */

#define EMITTER(function, name, has_two, ...)                                                                \
    static bool emit_##name(struct wmi_stretch *s, const struct wmi_step *step)                              \
    {                                                                                                        \
        return function(s, step, (struct wmi_lane_shape){__VA_ARGS__}, has_two);                             \
    }
STEPS(EMITTER)

wmi_emit_step *wmi_lds_emitter(const struct wmi_step *step)
{
    if (step->lanes != offsetof(struct wmi_frame, exec))
        return NULL;
    switch (step->id) {
#define CASE(function, name, ...)                                                                            \
    case WMI_STEP_lds_##name:                                                                                \
        return emit_##name;
        STEPS(CASE)
    default:
        return atomic_of(step) ? emit_atomic : NULL;
    }
}

uint32_t wmi_lds_reach(const struct wmi_step *step)
{
    if (step->lanes != offsetof(struct wmi_frame, exec))
        return 0;
    switch (step->id) {
#define REACH(function, name, has_two, bytes, ...)                                                           \
    case WMI_STEP_lds_##name:                                                                                \
        return (bytes) + (has_two && step->y > step->x ? step->y : step->x);
        STEPS(REACH)
    default:
        return 0;
    }
}
