/* SPDX-License-Identifier: MIT */
/* Finds out about the instructions of a kernel: patterns, common lines, ideal costs (suspects.h). */
#include "profile/advice/suspects.h"
#include "profile/kernels.h"
#include "profile/slots.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE = 128,     /* bytes of a line, or two: wmi_used_dwords() */
    WIDEST = 16,    /* bytes per lane of the widest load and store */
    NEIGHBOURS = 64 /* rows before and behind in which an instruction's siblings are looked for */
};

/* ---- shapes ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static struct wmi_shape shape_of(const struct wm_profile_wave *wave)
{
    struct wmi_shape shape = {.has = wave, .run = 64};
    bool first = true;
    for (unsigned lane = 1; wave && lane < 64; lane++) {
        if (!(wave->lanes >> lane & 1) || !(wave->lanes >> (lane - 1) & 1))
            continue;
        const uint64_t apart = distance(wave->address[lane], wave->address[lane - 1]);
        if (first)
            shape.stride = apart;
        first = false;
        while (apart != shape.stride && lane % shape.run)
            shape.run /= 2;
    }
    shape.even = shape.has && !first && shape.run == 64;
    return shape;
}

static uint64_t first_address(const struct wm_profile_wave *wave)
{
    return wave->address[__builtin_ctzll(wave->lanes)];
}

/* ---- families ---- */

/* A set of lines with the row that accessed each first; and rows in trees, whose roots are families. */
struct lines {
    struct {
        uint64_t line;
        uint32_t row; /* + 1; 0: empty */
    } *slot;
    size_t room; /* a power of two */
    uint32_t *parent;
};

static uint32_t root_of(uint32_t *parent, uint32_t row)
{
    while (parent[row] != row)
        row = parent[row] = parent[parent[row]];
    return row;
}

static void add_line(struct lines *lines, uint64_t line, uint32_t row)
{
    size_t at = line * 0x9e3779b97f4a7c15ULL >> 20;
    for (;; at++) {
        const size_t i = at & (lines->room - 1);
        if (lines->slot[i].row && lines->slot[i].line != line)
            continue;
        if (lines->slot[i].row)
            lines->parent[root_of(lines->parent, row)] = root_of(lines->parent, lines->slot[i].row - 1);
        lines->slot[i].line = line;
        lines->slot[i].row = row + 1;
        return;
    }
}

static bool reaches_memory(const struct wm_profile_row *row)
{
    return row->has_vector && row->wave && !row->wave->in_lds;
}

static void add_rows(struct lines *lines, const struct wm_profile_row *const *rows, size_t count)
{
    for (uint32_t row = 0; row < count; row++) {
        lines->parent[row] = row;
        const struct wm_profile_wave *wave = reaches_memory(rows[row]) ? rows[row]->wave : NULL;
        for (uint64_t left = wave ? wave->lanes : 0; left; left &= left - 1)
            add_line(lines, wave->address[__builtin_ctzll(left)] / LINE, row);
    }
}

static void add_to_family(struct wmi_family *family, const struct wm_profile_row *row, uint32_t used)
{
    const bool loads = row->read_requests;
    family->used |= used;
    family->requested += (double)row->distinct_bytes;
    family->memory += (double)(row->memory_read + row->memory_written);
    family->last += (double)(WMI_LAST_BYTES * row->cache[WM_CACHE_LAST].requests);
    if (!loads)
        return;
    family->loaded += (double)row->distinct_bytes;
    family->l2_loaded += (double)row->cache[WM_CACHE_L2].bytes;
}

/* ---- ideal costs ---- */

/* Costs of an execution with all lanes, `stride` bytes apart. */
static struct wmi_ideal cost_of(struct wmi_measurer *measurer, unsigned lanes, const struct wmi_suspect *of,
                                unsigned elements, unsigned bytes, unsigned stride)
{
    uint64_t address[WMI_ACCESS_ELEMENTS][64];
    const uint64_t mask = UINT64_MAX >> (64 - lanes);
    struct wmi_access access = {.path = WMI_PATH_GLOBAL,
                                .kind = of->kind,
                                .lanes = mask,
                                .elements = (uint8_t)elements,
                                .bytes = (uint8_t)bytes};
    for (unsigned e = 0; e < elements; e++) {
        for (unsigned lane = 0; lane < 64; lane++)
            address[e][lane] = (uint64_t)lane * stride + (uint64_t)e * bytes;
        access.element[e] = (struct wmi_element){.mask = mask, .address = address[e]};
    }
    const struct wmi_measure *measure = wmi_measure(measurer, &access);
    return (struct wmi_ideal){measure->sum[WMI_SUM_ADDRESS_CLOCKS], measure->sum[WMI_SUM_TAG_CLOCKS],
                              measure->sum[WMI_SUM_DATA_CLOCKS]};
}

/* Passes of the example wave's atomics if what they update were in LDS. Addresses keep their distances, and
 * so their banks, but for those of the whole. */
static double lds_passes_of(struct wmi_measurer *measurer, const struct wmi_suspect *of)
{
    const struct wm_profile_wave *wave = of->row->wave;
    uint64_t address[64] = {0}, low = UINT64_MAX;
    for (uint64_t left = wave->lanes; left; left &= left - 1) {
        const uint64_t at = wave->address[__builtin_ctzll(left)];
        low = at < low ? at : low;
    }
    for (uint64_t left = wave->lanes; left; left &= left - 1)
        address[__builtin_ctzll(left)] = wave->address[__builtin_ctzll(left)] - low / LINE * LINE;
    struct wmi_access access = {.path = WMI_PATH_DS,
                                .kind = WMI_ACCESS_ATOMIC,
                                .lanes = wave->lanes,
                                .elements = 1,
                                .bytes = (uint8_t)wave->bytes};
    access.element[0] = (struct wmi_element){.space = WMI_SPACE_LDS, .mask = wave->lanes, .address = address};
    return wmi_measure(measurer, &access)->sum[WMI_SUM_LDS_PASSES];
}

/* Whether both instructions access elements of the same size, equally far apart, in the same wave. */
static bool are_siblings(const struct wmi_suspect *a, const struct wmi_suspect *b)
{
    const struct wm_profile_wave *left = a->row->wave, *right = b->row->wave;
    return a->family == b->family && a->kind == b->kind && a->row->bytes == b->row->bytes && b->shape.even &&
           a->shape.stride == b->shape.stride && left->wave == right->wave &&
           !memcmp(left->workgroup, right->workgroup, sizeof left->workgroup);
}

/* Counts the instructions that access consecutive elements of each lane, this one among them, as far as one
 * instruction can access them all. */
static unsigned count_members(const struct wmi_suspects *suspects, size_t at)
{
    const struct wmi_suspect *suspect = &suspects->suspect[at];
    const uint64_t bytes = suspect->row->bytes, stride = suspect->shape.stride;
    const size_t from = at > NEIGHBOURS ? at - NEIGHBOURS : 0;
    uint64_t members = 1ULL << 32; /* bit 32 + n: the element n behind this one */
    if (!suspect->family || !suspect->shape.even || bytes < 4 || bytes >= WIDEST || stride <= bytes ||
        suspect->kind == WMI_ACCESS_ATOMIC)
        return 0;
    for (size_t i = from; i < suspects->count && i < at + NEIGHBOURS; i++) {
        if (!are_siblings(suspect, &suspects->suspect[i]))
            continue;
        const int64_t apart =
            (int64_t)(first_address(suspects->suspect[i].row->wave) - first_address(suspect->row->wave));
        const int64_t element = apart / (int64_t)bytes;
        if (apart % (int64_t)bytes == 0 && apart > -(int64_t)stride && apart < (int64_t)stride &&
            element > -32 && element < 32)
            members |= 1ULL << (32 + element);
    }
    unsigned lowest = 32, highest = 32;
    while (lowest && members >> (lowest - 1) & 1 && (33 - lowest) * bytes < stride)
        lowest--;
    while (highest < 63 && members >> (highest + 1) & 1 && (highest + 2 - lowest) * bytes <= stride)
        highest++;
    const unsigned most = WIDEST / (unsigned)bytes, found = highest - lowest + 1;
    const unsigned whole = found / most * most; /* the last ones may be fewer */
    return 32 - lowest < whole ? most : found - whole > 1 ? found - whole : found > 1 && whole ? most : 0;
}

/* ---- all ---- */

/* Whether the address of an access to private memory comes from a VGPR: the address operand of a load is the
 * second, that of a store the first of scratch instructions and always the second of buffers. */
static bool has_variable_index(const struct wm_profile_row *row)
{
    const char *operand = strchr(row->text, ' ');
    const bool first = !strcmp(row->path, "SCRATCH") && row->operation[0] == 's';
    if (operand && !first)
        operand = strchr(operand, ',');
    if (!operand)
        return false;
    operand += strspn(operand, ", ");
    return strncmp(operand, "off", strlen("off")) != 0;
}

static void look(struct wmi_suspect *suspect, const struct wm_profile *profile,
                 const struct wmi_binding *binding, const struct wm_profile_row *row)
{
    const struct wmi_profile_dispatch *dispatch = &binding->kernel->dispatch;
    const unsigned lanes = wmi_profile_lanes(profile);
    const uint32_t items = dispatch->workgroup[0] * dispatch->workgroup[1] * dispatch->workgroup[2];
    const uint32_t waves = (items + lanes - 1) / lanes;
    *suspect = (struct wmi_suspect){.row = row, .gpu = &profile->gpu, .shape = shape_of(row->wave)};
    suspect->kind = *row->operation == 'l'   ? WMI_ACCESS_LOAD
                    : *row->operation == 's' ? WMI_ACCESS_STORE
                                             : WMI_ACCESS_ATOMIC;
    const uint64_t idle = row->lines_histogram ? row->lines_histogram[0] : 0;
    suspect->active = row->executions > idle ? row->executions - idle : 0;
    suspect->room = (double)row->executions * (items ? (double)items / waves : lanes);
    suspect->units = binding->units;
    suspect->data_bytes = profile->source.rules ? profile->source.rules->vector.data_bytes : 64;
    suspect->waves_at_once = wmi_kernel_waves_at_once(binding->kernel, &profile->gpu);
    if (!reaches_memory(row))
        return;
    suspect->in_scratch = !strcmp(row->path, "SCRATCH") ||
                          first_address(row->wave) - dispatch->scratch < dispatch->scratch_bytes;
    if (profile->source.rules && profile->log_instructions)
        suspect->bypasses = profile->log_instructions[wmi_profile_slot_of(profile, row)].policy &
                            profile->source.rules->vector.bypass;
    suspect->variable_index = suspect->in_scratch && has_variable_index(row);
}

static bool make_families(struct wmi_suspects *suspects, const struct wm_profile *profile,
                          const struct wm_profile_row *const *rows)
{
    struct lines lines = {.room = 64};
    while (lines.room < 2 * 64 * suspects->count)
        lines.room *= 2;
    lines.slot = calloc(lines.room, sizeof *lines.slot);
    lines.parent = calloc(suspects->count + 1, sizeof *lines.parent);
    suspects->families = calloc(suspects->count + 1, sizeof *suspects->families);
    const bool good = lines.slot && lines.parent && suspects->families;
    if (good)
        add_rows(&lines, rows, suspects->count);
    for (uint32_t i = 0; good && i < suspects->count; i++) {
        if (!reaches_memory(rows[i]))
            continue;
        struct wmi_family *family = &suspects->families[root_of(lines.parent, i)];
        family->block = profile->source.rules ? 1u << profile->source.rules->vector.read_shift : LINE;
        add_to_family(family, rows[i],
                      profile->instructions[wmi_profile_slot_of(profile, rows[i])].counts.used);
        suspects->suspect[i].family = family;
    }
    free(lines.slot);
    free(lines.parent);
    return good;
}

bool wmi_suspects_find(struct wmi_suspects *suspects, struct wm_profile *profile,
                       const struct wmi_binding *binding, const struct wm_profile_row *const *rows,
                       size_t count)
{
    const unsigned lanes = wmi_profile_lanes(profile);
    struct wmi_measurer *measurer = wmi_measurer_create(profile->source.rules, lanes);
    *suspects = (struct wmi_suspects){.count = count};
    suspects->suspect = calloc(count + 1, sizeof *suspects->suspect);
    bool good = measurer && suspects->suspect;
    for (size_t i = 0; good && i < count; i++)
        look(&suspects->suspect[i], profile, binding, rows[i]);
    good = good && make_families(suspects, profile, rows);
    for (size_t i = 0; good && i < count; i++) {
        struct wmi_suspect *suspect = &suspects->suspect[i];
        if (!suspect->family || !rows[i]->wave->bytes)
            continue;
        const unsigned bytes = rows[i]->wave->bytes, given = rows[i]->bytes / bytes;
        const unsigned elements =
            given < WMI_ACCESS_ELEMENTS ? given : WMI_ACCESS_ELEMENTS; /* as of a trace */
        suspect->contiguous =
            cost_of(measurer, lanes, suspect, elements ? elements : 1, bytes, rows[i]->bytes);
        suspect->members = count_members(suspects, i);
        if (suspect->kind == WMI_ACCESS_ATOMIC)
            suspect->lds_passes = lds_passes_of(measurer, suspect);
        if (suspect->members)
            suspect->wide = cost_of(measurer, lanes, suspect, 1, suspect->members * rows[i]->bytes,
                                    (unsigned)suspect->shape.stride);
    }
    free(measurer);
    if (!good)
        wmi_suspects_free(suspects);
    return good;
}

void wmi_suspects_free(struct wmi_suspects *suspects)
{
    free(suspects->suspect);
    free(suspects->families);
    *suspects = (struct wmi_suspects){0};
}
