/* SPDX-License-Identifier: MIT */
/* Runs the code of a case: adds code that sets and reads registers, assembles and dispatches it.
 *
 * The case's code is at its own line numbers in the assembled text, so that messages of the assembler and of
 * faults name lines of the .test file. It is followed by the label `end`, where registers are stored to
 * memory, and by the kernel's entry, where they are set. */
#include "machine.h"

#include "sem/sem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Registers of the code around a case. */
enum {
    SGPR_RESOURCE = 84, /* 4: V# of the exchange memory */
    SGPR_OFFSET = 88,
    SGPR_SCC,
    SGPR_EXEC, /* 2 */
    SGPR_M0 = 92,
    SGPR_MODE,
    VGPR_PLACE = CASE_VGPRS, /* 4 * lane */
    VGPR_DATA,
};

/* Exchange memory for registers: rows of 256 bytes. */
enum {
    ROW_BYTES = 256,
    LDS_CHUNKS = 512, /* a dword per lane each */
    OUTPUT = (ROWS + LDS_CHUNKS) * ROW_BYTES,
    MARK_ROW = 2 * (ROWS + LDS_CHUNKS), /* set when the code reaches its end */
    EXCHANGE_BYTES = (MARK_ROW + 1) * ROW_BYTES,
    MARK = 0x0c0de,
    POISON = 0xbad0bad,
};

struct machine {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t exchange;
    uint32_t *rows;                  /* the exchange memory */
    uint64_t code, end;              /* range of the case's code */
    unsigned entry_count, end_count; /* instructions of the added code */
    struct wm_diag diag;
};

struct text {
    FILE *out;
    unsigned instructions;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(text->out, format, arguments);
    va_end(arguments);
    fputc('\n', text->out);
    text->instructions++;
}

static unsigned generation_of(const char *target)
{
    return strlen(target) > 6 ? (unsigned)strtoul(target + 3, NULL, 10) / 100 : (unsigned)(target[3] - '0');
}

static unsigned accumulators_of(const char *target)
{
    return !strcmp(target, "gfx908") || !strncmp(target, "gfx90a", 6) || !strncmp(target, "gfx94", 5);
}

bool machine_has_level(const char *level)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    setenv("WAVEMEM_CPU", level, 1);
    const bool has = !strcmp(names[wmi_cpu_level()], level);
    unsetenv("WAVEMEM_CPU"); /* a level that the host lacks is an error of whatever executes next */
    return has;
}

bool machine_create(struct world *world)
{
    struct machine *m = calloc(1, sizeof *m);
    world->machine = m;
    if (!m || wm_machine_create(world->target, &m->machine, &m->diag)) {
        world_complains(world, world->test->line, "%s", m ? m->diag.message : "no memory");
        return false;
    }
    return true;
}

void machine_destroy(struct machine *machine)
{
    if (!machine)
        return;
    wm_machine_destroy(machine->machine);
    wm_object_close(machine->object);
    free(machine);
}

bool machine_allocate(struct world *world, struct memory *memory, unsigned line, bool read_only)
{
    struct machine *m = world->machine;
    if (!wm_allocate(m->machine, memory->bytes, read_only ? WM_READ_ONLY : 0, memory->name, &memory->address,
                     &m->diag))
        return true;
    world_complains(world, line, "%s", m->diag.message);
    return false;
}

bool machine_label(struct world *world, const char *name, uint64_t *address)
{
    struct machine *m = world->machine;
    return m->object && !wm_symbol(m->machine, m->object, name, address, NULL, NULL);
}

/* Fields of a descriptor while it is parsed. */
struct fields {
    struct wm_descriptor_field field[WM_DESCRIPTOR_FIELDS];
    char name[WM_DESCRIPTOR_FIELDS][32];
    size_t count;
};

static void add_field(struct fields *fields, const char *name, uint64_t value)
{
    for (size_t i = 0; i < fields->count; i++)
        if (!strcmp(fields->name[i], name))
            return;
    if (fields->count == WM_DESCRIPTOR_FIELDS)
        return;
    snprintf(fields->name[fields->count], sizeof *fields->name, "%s", name);
    fields->field[fields->count].name = fields->name[fields->count];
    fields->field[fields->count++].value = value;
}

/* FORMAT: 8_8_8_8_UNORM, by name on every target. */
static bool add_format(struct world *world, struct scope *scope, const char **at, struct fields *fields)
{
    static const uint32_t none[4] = {0};
    struct wm_format_answer answer;
    struct wm_diag diag;
    char name[32];
    if (!next_word(at, ")", name, sizeof name) ||
        wm_format_load(world->target, name, NULL, none, &answer, &diag)) {
        snprintf(scope->error, sizeof scope->error, "%s", diag.message);
        return false;
    }
    if (answer.unified) {
        add_field(fields, "FORMAT", answer.code);
    } else {
        add_field(fields, "DATA_FORMAT", answer.code & 15);
        add_field(fields, "NUM_FORMAT", answer.code >> 4);
    }
    return true;
}

static bool read_field(struct world *world, struct scope *scope, const char **at, struct fields *fields)
{
    char name[32];
    struct value value;
    uint64_t bits;
    if (!next_word(at, ":", name, sizeof name) || (*at)[strspn(*at, " ")] != ':') {
        snprintf(scope->error, sizeof scope->error, "expected 'FIELD: value' or ')' at '%s'", *at);
        return false;
    }
    *at += strspn(*at, " ") + 1;
    if (!strcmp(name, "FORMAT")) {
        if (!add_format(world, scope, at, fields))
            return false;
    } else {
        if (!evaluate(scope, at, &value) || !value_bits(scope, TYPE_U64, &value, &bits))
            return false;
        add_field(fields, name, bits);
    }
    *at += strspn(*at, " ");
    *at += **at == ',';
    *at += strspn(*at, " ");
    return true;
}

unsigned machine_descriptor(struct world *world, struct scope *scope, const char **text, uint32_t words[8])
{
    static const char *const selects[] = {"DST_SEL_X", "DST_SEL_Y", "DST_SEL_Z", "DST_SEL_W"};
    const enum wm_descriptor_kind kind = **text == 'b'   ? WM_DESCRIPTOR_BUFFER
                                         : **text == 'i' ? WM_DESCRIPTOR_IMAGE
                                                         : WM_DESCRIPTOR_SAMPLER;
    struct fields fields = {.count = 0};
    struct wm_descriptor descriptor;
    struct wm_diag diag;
    *text = strchr(*text, '(') + 1;
    while (**text != ')')
        if (!read_field(world, scope, text, &fields))
            return 0;
    ++*text;
    for (unsigned i = 0; i < 4 && kind != WM_DESCRIPTOR_SAMPLER; i++)
        add_field(&fields, selects[i], 4 + i); /* components in memory order */
    if (kind != WM_DESCRIPTOR_SAMPLER && generation_of(world->target) == 10)
        add_field(&fields, "RESOURCE_LEVEL", 1);
    if (wm_descriptor_encode(world->target, kind, fields.field, fields.count, &descriptor, &diag)) {
        snprintf(scope->error, sizeof scope->error, "%s", diag.message);
        return 0;
    }
    memcpy(words, descriptor.words, sizeof descriptor.words);
    return descriptor.word_count;
}

/* ---- code around the case ---- */

static void add_row(struct text *text, const char *instruction, const char *registers, unsigned number,
                    unsigned row)
{
    add(text, "s_mov_b32 s%d, 0x%x", SGPR_OFFSET, row * ROW_BYTES);
    add(text, "%s %s%u, v%d, s[%d:%d], s%d offen", instruction, registers, number, VGPR_PLACE, SGPR_RESOURCE,
        SGPR_RESOURCE + 3, SGPR_OFFSET);
}

static void load_row(struct text *text, unsigned vgpr, unsigned row)
{
    add_row(text, "buffer_load_dword", "v", vgpr, row);
}

static void store_row(struct text *text, unsigned vgpr, unsigned row)
{
    add_row(text, "buffer_store_dword", "v", vgpr, OUTPUT / ROW_BYTES + row);
}

static bool has_upper_registers(const char *target)
{
    return !strcmp(target, "gfx1250");
}

/* Enables all lanes and computes their offsets in the exchange memory. */
static void begin_exchange(const struct world *world, struct text *text)
{
    const struct machine *m = world->machine;
    const uint32_t word3 = generation_of(world->target) >= 10 ? 0x31016fac : 0x00024fac; /* raw dwords */
    uint32_t words[4] = {(uint32_t)m->exchange, (uint32_t)(m->exchange >> 32), EXCHANGE_BYTES, word3};
    if (has_upper_registers(world->target)) { /* 57 bits of the base, 45 of the size */
        words[1] |= (uint32_t)EXCHANGE_BYTES << 25;
        words[2] = EXCHANGE_BYTES >> 7;
        words[3] = 0;
    }
    if (world->lanes == 64) {
        add(text, "s_mov_b64 s[%d:%d], exec", SGPR_EXEC, SGPR_EXEC + 1);
        add(text, "s_mov_b64 exec, -1");
    } else {
        add(text, "s_mov_b32 s%d, exec_lo", SGPR_EXEC);
        add(text, "s_mov_b32 exec_lo, -1");
    }
    add(text, "v_mbcnt_lo_u32_b32 v%d, -1, 0", VGPR_PLACE);
    if (world->lanes == 64)
        add(text, "v_mbcnt_hi_u32_b32 v%d, -1, v%d", VGPR_PLACE, VGPR_PLACE);
    add(text, "v_lshlrev_b32 v%d, 2, v%d", VGPR_PLACE, VGPR_PLACE);
    for (int i = 0; i < 4; i++)
        add(text, "s_mov_b32 s%d, 0x%x", SGPR_RESOURCE + i, words[i]);
}

static unsigned lds_chunks(const struct world *world)
{
    return world->lds ? (world->lds->bytes + 4 * world->lanes - 1) / (4 * world->lanes) : 0;
}

static void set_scalars(const struct world *world, struct text *text)
{
    const struct rows *rows = &world->before;
    for (unsigned i = 0; i < CASE_SGPRS; i++)
        if (rows->set[ROW_S + i])
            add(text, "s_mov_b32 s%u, 0x%x", i, rows->lane[ROW_S + i][0]);
    if (rows->set[ROW_VCC])
        add(text, "s_mov_b32 vcc_lo, 0x%x", rows->lane[ROW_VCC][0]);
    if (rows->set[ROW_VCC + 1])
        add(text, "s_mov_b32 vcc_hi, 0x%x", rows->lane[ROW_VCC + 1][0]);
    for (unsigned i = 0; i < world->mode_count; i++)
        add(text, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, %u, %u), 0x%x", world->modes[i].bit,
            world->modes[i].width, world->modes[i].value);
    if (rows->set[ROW_M0])
        add(text, "s_mov_b32 m0, 0x%x", rows->lane[ROW_M0][0]);
    if (rows->set[ROW_SCC])
        add(text, "s_cmp_%s_u32 s%d, s%d", rows->lane[ROW_SCC][0] ? "eq" : "lg", SGPR_OFFSET, SGPR_OFFSET);
    if (world->lanes == 32) {
        if (rows->set[ROW_EXEC])
            add(text, "s_mov_b32 exec_lo, 0x%x", rows->lane[ROW_EXEC][0]);
        else
            add(text, "s_mov_b32 exec_lo, s%d", SGPR_EXEC);
    } else if (rows->set[ROW_EXEC]) {
        add(text, "s_mov_b32 exec_lo, 0x%x", rows->lane[ROW_EXEC][0]);
        add(text, "s_mov_b32 exec_hi, 0x%x", rows->lane[ROW_EXEC + 1][0]);
    } else {
        add(text, "s_mov_b64 exec, s[%d:%d]", SGPR_EXEC, SGPR_EXEC + 1);
    }
}

static bool same_in_all_lanes(const uint32_t *row, unsigned lanes)
{
    for (unsigned i = 1; i < lanes; i++)
        if (row[i] != row[0])
            return false;
    return true;
}

/* Sets the case's registers and jumps to its code. */
static void add_entry(const struct world *world, struct text *text)
{
    const struct rows *rows = &world->before;
    begin_exchange(world, text);
    if (world->lds)
        add(text, "s_mov_b32 m0, -1");
    for (unsigned i = 0; i < lds_chunks(world); i++) {
        load_row(text, VGPR_DATA, ROWS + i);
        add(text, "ds_write_b32 v%d, v%d offset:%u", VGPR_PLACE, VGPR_DATA, 4 * world->lanes * i);
    }
    for (unsigned row = ROW_V; row < ROW_S; row++) {
        const bool accumulator = row >= ROW_A;
        const unsigned vgpr = accumulator ? VGPR_DATA : row;
        if (!rows->set[row])
            continue;
        if (same_in_all_lanes(rows->lane[row], world->lanes))
            add(text, "v_mov_b32 v%u, 0x%x", vgpr, rows->lane[row][0]);
        else
            load_row(text, vgpr, row);
        if (accumulator)
            add(text, "v_accvgpr_write_b32 a%u, v%d", row - ROW_A, VGPR_DATA);
    }
    set_scalars(world, text);
    add(text, "s_branch wm_code");
}

/* Stores the registers that the case compares. */
static void add_end(const struct world *world, struct text *text)
{
    add(text, "s_cselect_b32 s%d, 1, 0", SGPR_SCC);
    add(text, "s_mov_b32 s%d, m0", SGPR_M0);
    add(text, "s_getreg_b32 s%d, hwreg(HW_REG_MODE)", SGPR_MODE);
    begin_exchange(world, text);
    for (unsigned row = ROW_V; row < ROWS; row++) {
        if (!world->wanted[row])
            continue;
        if (row >= ROW_A && row < ROW_S)
            add(text, "v_accvgpr_read_b32 v%d, a%u", VGPR_DATA, row - ROW_A);
        else if (row == ROW_VCC || row == ROW_VCC + 1)
            add(text, "v_mov_b32 v%d, vcc_%s", VGPR_DATA, row == ROW_VCC ? "lo" : "hi");
        else if (row >= ROW_S)
            add(text, "v_mov_b32 v%d, s%u", VGPR_DATA,
                row == ROW_SCC    ? SGPR_SCC
                : row == ROW_M0   ? SGPR_M0
                : row == ROW_MODE ? SGPR_MODE
                : row >= ROW_EXEC ? SGPR_EXEC + row - ROW_EXEC
                                  : row - ROW_S);
        store_row(text, row < ROW_A ? row : VGPR_DATA, row);
    }
    if (world->lds)
        add(text, "s_mov_b32 m0, -1");
    for (unsigned i = 0; i < lds_chunks(world); i++) {
        add(text, "ds_read_b32 v%d, v%d offset:%u", VGPR_DATA, VGPR_PLACE, 4 * world->lanes * i);
        store_row(text, VGPR_DATA, ROWS + i);
    }
    add(text, "v_mov_b32 v%d, 0x%x", VGPR_DATA, MARK);
    add_row(text, "buffer_store_dword", "v", VGPR_DATA, MARK_ROW);
    add(text, "s_endpgm");
}

/* Registers of a raw kernel (include/wavemem/object.h): all registers, denormals kept. */
static void add_descriptor(const struct world *world, FILE *out)
{
    const unsigned generation = generation_of(world->target);
    const bool accumulators = accumulators_of(world->target),
               unified = accumulators && world->target[5] != '8';
    fprintf(out,
            ".rodata\n.p2align 6\n.amdhsa_kernel wm_kernel\n.amdhsa_next_free_vgpr %u\n"
            ".amdhsa_next_free_sgpr 100\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
            ".amdhsa_system_sgpr_workgroup_id_y 1\n.amdhsa_system_sgpr_workgroup_id_z 1\n"
            ".amdhsa_system_vgpr_workitem_id 2\n.amdhsa_float_denorm_mode_32 3\n",
            has_upper_registers(world->target) ? 1024
            : unified                          ? 512
                                               : 256);
    if (unified)
        fprintf(out, ".amdhsa_accum_offset 256\n");
    if (generation >= 10 && !has_upper_registers(world->target))
        fprintf(out, ".amdhsa_wavefront_size32 %d\n", world->lanes == 32);
    fprintf(out, ".end_amdhsa_kernel\n");
}

static char *whole_text(struct world *world, const struct section *code, size_t *size)
{
    char *whole = NULL;
    struct text text = {.out = open_memstream(&whole, size)};
    unsigned line = 1;
    if (!text.out)
        return NULL;
    for (size_t i = 0; i < code->count; i++, line++) {
        for (; line + !i < code->lines[i].number; line++)
            fputc('\n', text.out);
        if (!i)
            fputs("wm_code:\n", text.out), line++;
        fprintf(text.out, "%*s%s\n", (int)code->lines[i].indent, "", code->lines[i].text);
    }
    fputs("end:\n", text.out);
    add_end(world, &text);
    world->machine->end_count = text.instructions;
    fputs(".p2align 8\n.globl wm_kernel\n.type wm_kernel,@function\nwm_kernel:\n", text.out);
    text.instructions = 0;
    add_entry(world, &text);
    world->machine->entry_count = text.instructions;
    add_descriptor(world, text.out);
    fclose(text.out);
    return whole;
}

bool machine_load(struct world *world)
{
    struct machine *m = world->machine;
    const struct section *code = find_section(world->test, SECTION_CODE, world->target_bit, 0);
    char name[32], *messages = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0, length;
    bool good = !wm_allocate(m->machine, EXCHANGE_BYTES, 0, "exchange", &m->exchange, &m->diag);
    char *text = good ? whole_text(world, code, &length) : NULL;
    snprintf(name, sizeof name, "%s%s", world->target,
             generation_of(world->target) < 10 ? ""
             : world->lanes == 64              ? ":wave64"
                                               : ":wave32");
    good = text && !wm_assemble(text, length, world->file->path, name, WM_ASSEMBLE_LINES, &bytes, &size,
                                &messages, &m->diag);
    good = good && !wm_object_open(bytes, size, world->file->path, NULL, &m->object, &m->diag) &&
           !wm_object_find_kernel(m->object, "wm_kernel", &m->kernel, &m->diag) &&
           !wm_load(m->machine, m->object, &m->diag) &&
           !wm_symbol(m->machine, m->object, "wm_code", &m->code, NULL, &m->diag) &&
           !wm_symbol(m->machine, m->object, "end", &m->end, NULL, &m->diag);
    if (!good && messages && *messages) {
        fputs(messages, world->report->out); /* which name the file and line */
        world_complains(world, code->line, "this code does not assemble");
    } else if (!good) {
        world_complains(world, code->line, "%s", text ? m->diag.message : "no memory");
    } else {
        m->rows = wm_host_pointer(m->machine, m->exchange, EXCHANGE_BYTES);
    }
    free(text);
    free(bytes);
    free(messages);
    return good;
}

/* ---- execution ---- */

/* Copies the case's initial values to guest memory. */
static void fill_memory(struct world *world)
{
    struct machine *m = world->machine;
    for (unsigned row = 0; row < ROWS; row++)
        memcpy(m->rows + row * ROW_BYTES / 4, world->before.lane[row], ROW_BYTES);
    for (uint32_t i = OUTPUT / 4; i < EXCHANGE_BYTES / 4; i++)
        m->rows[i] = POISON;
    for (unsigned i = 0; i < world->memory_count; i++) {
        struct memory *memory = &world->memories[i];
        if (memory != world->lds) {
            wm_write(m->machine, memory->address, memory->before, memory->bytes, NULL);
            continue;
        }
        for (uint32_t at = 0; at < memory->bytes; at += 4) {
            const uint32_t chunk = at / (4 * world->lanes), lane = at / 4 % world->lanes;
            memcpy(m->rows + (ROWS + chunk) * ROW_BYTES / 4 + lane, memory->before + at, 4);
        }
    }
}

static void take_memory(struct world *world, struct outcome *outcome)
{
    struct machine *m = world->machine;
    const uint32_t *rows = m->rows + OUTPUT / 4;
    outcome->reached_end = m->rows[MARK_ROW * ROW_BYTES / 4] == MARK;
    for (unsigned row = 0; row < ROWS; row++) {
        outcome->after.set[row] = world->wanted[row] && outcome->reached_end;
        memcpy(outcome->after.lane[row], rows + row * ROW_BYTES / 4, ROW_BYTES);
    }
    for (unsigned i = 0; i < world->memory_count; i++) {
        struct memory *memory = &world->memories[i];
        if (memory != world->lds) {
            wm_read(m->machine, memory->address, memory->after, memory->bytes, NULL);
            continue;
        }
        for (uint32_t at = 0; at < memory->bytes; at += 4) {
            const uint32_t chunk = at / (4 * world->lanes), lane = at / 4 % world->lanes;
            memcpy(memory->after + at, rows + (ROWS + chunk) * ROW_BYTES / 4 + lane, 4);
        }
    }
}

static void take_accesses(const struct machine *m, struct wm_profile *profile, struct outcome *outcome)
{
    size_t count;
    const struct wm_profile_row *rows = wm_profile_rows(profile, &count);
    for (size_t i = 0; i < count && outcome->access_count < MOST_ACCESSES; i++) {
        struct access *access = &outcome->accesses[outcome->access_count];
        if (rows[i].pc < m->code || rows[i].pc >= m->end || !rows[i].executions)
            continue;
        *access = (struct access){.executions = rows[i].executions,
                                  .lanes = rows[i].lanes,
                                  .bytes = rows[i].bytes,
                                  .distinct_bytes = rows[i].distinct_bytes,
                                  .lines = rows[i].lines,
                                  .lds_conflicts = rows[i].lds_conflicts};
        snprintf(access->text, sizeof access->text, "%s", rows[i].text);
        snprintf(access->path, sizeof access->path, "%s", rows[i].path);
        snprintf(access->operation, sizeof access->operation, "%s", rows[i].operation);
        outcome->access_count++;
    }
}

bool machine_run(struct world *world, const char *level, bool observed, unsigned threads,
                 struct outcome *outcome)
{
    struct machine *m = world->machine;
    const struct run_options *run = &world->run;
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                   .dynamic_lds = run->lds,
                                   .threads = threads,
                                   .max_instructions = run->budget ? run->budget + m->entry_count : 0,
                                   .timeout = run->timeout,
                                   .alignment = (enum wm_alignment)run->alignment,
                                   .scalar_cache = (enum wm_scalar_cache)run->scalar_cache,
                                   .on_violation = run->on_violation};
    memcpy(dispatch.grid, run->grid, sizeof dispatch.grid);
    memcpy(dispatch.workgroup, run->workgroup, sizeof dispatch.workgroup);
    memcpy(dispatch.cluster, run->cluster, sizeof dispatch.cluster);
    memset(outcome, 0, sizeof *outcome);
    outcome->observed = observed;
    setenv("WAVEMEM_CPU", level, 1);
    fill_memory(world);
    bool good = !observed || !wm_profile_create(&dispatch.profile, &m->diag);
    good = good && !wm_dispatch(m->machine, m->object, m->kernel, &dispatch, &result, &m->diag);
    if (!good)
        world_complains(world, world->test->line, "%s", m->diag.message);
    take_memory(world, outcome);
    outcome->fault = result.fault;
    outcome->violation = result.violation;
    outcome->violations = result.violations;
    outcome->instructions = result.wave_instructions - result.waves * (m->entry_count + m->end_count);
    if (observed && dispatch.profile)
        take_accesses(m, dispatch.profile, outcome);
    wm_profile_destroy(dispatch.profile);
    return good;
}
