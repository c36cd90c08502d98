/* SPDX-License-Identifier: MIT */
/* The off-chip buffer between tessellation shaders: a row per layout that Mesa's drivers had. */
#include "base/diag.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SLOT_BYTES = 16,
    MAX_VERTICES = 32, /* of a patch, in OpenGL and Vulkan */
    MAX_SLOTS = 64,    /* radeonsi: "less than 64, so that a 64-bit bitmask ... can be calculated" */
    MAX_LINES = 256,   /* lanes of which lines are counted */
};

/* A number in the word. `bits` is 0 where the word does not have it. */
struct field {
    uint8_t shift, bits;
    uint8_t bias;  /* what stands there is the number less this */
    uint16_t unit; /* and then divided by this */
};

/* How many slots per vertex there are is a number of its own in late words; in early ones it follows from
 * where the slots per patch begin. */
struct layout {
    const char *name, *source;
    struct field patches, vertices, patch_data, outputs, stride;
    uint32_t align;   /* bytes: of each slot's stride */
    bool fixed_slots; /* a semantic's slot does not depend on what a shader uses */
};

static const struct layout layouts[] = {
    {.name = "radeonsi-2016",
     .source = "Mesa, \"radeonsi: Add offchip buffer address calculation\", May 2016; radv had the same word",
     .patches = {0, 9, 0, 1},
     .vertices = {9, 6, 0, 1},
     .patch_data = {16, 16, 0, 1},
     .align = SLOT_BYTES,
     .fixed_slots = true},
    {.name = "radeonsi-2020",
     .source = "Mesa, si_shader_llvm_tess.c: tcs_offchip_layout [5:0], [10:6], [31:11]",
     .patches = {0, 6, 1, 1},
     .vertices = {6, 5, 1, 1},
     .patch_data = {11, 21, 0, 1},
     .align = SLOT_BYTES},
    {.name = "radeonsi-2023",
     .source = "Mesa, si_nir_lower_abi.c: tcs_offchip_layout [5:0], [10:6], [31:16]",
     .patches = {0, 6, 1, 1},
     .vertices = {6, 5, 1, 1},
     .patch_data = {16, 16, 0, 1},
     .align = SLOT_BYTES},
    {.name = "radeonsi-2024",
     .source = "Mesa, si_nir_lower_abi.c: tcs_offchip_layout [6:0], [11:7], [28:23]",
     .patches = {0, 7, 1, 1},
     .vertices = {7, 5, 1, 1},
     .outputs = {23, 6, 0, 1},
     .align = SLOT_BYTES},
    {.name = "radv-2025",
     .source = "Mesa, radv_nir_lower_abi.c (numbers less one) and ac_nir_lower_tess_io_to_mem.c: "
               "TCS_MEM_ATTRIB_STRIDE",
     .patches = {0, 7, 1, 1},
     .vertices = {7, 5, 1, 1},
     .outputs = {23, 6, 0, 1},
     .stride = {12, 5, 0, 256},
     .align = 256},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

const char *wm_tess_layout_at(size_t index)
{
    return index < LAYOUTS ? layouts[index].name : NULL;
}

static enum wm_status find(const char *name, const struct layout **found, struct wm_diag *diag)
{
    for (size_t i = 0; name && i < LAYOUTS; i++)
        if (strcasecmp(name, layouts[i].name) == 0) {
            *found = &layouts[i];
            return WM_OK;
        }
    return wmi_fail(diag, WM_NOT_FOUND, "'%s': no such tessellation layout; expected one like %s",
                    name ? name : "(null)", layouts[0].name);
}

/* ---- the word ---- */

static enum wm_status pack(struct field field, const char *what, uint32_t number, uint32_t *word,
                           struct wm_diag *diag)
{
    if (!field.bits)
        return WM_OK;
    const uint64_t limit = ((1ULL << field.bits) - 1) * field.unit + field.bias;
    if (number < field.bias || number > limit)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: %u; the layout's word has room for %u to %llu", what,
                        number, field.bias, (unsigned long long)limit);
    *word |= (number - field.bias) / field.unit << field.shift;
    return WM_OK;
}

static uint32_t unpack(struct field field, uint32_t word)
{
    const uint32_t bits = word >> field.shift & (uint32_t)((1ULL << field.bits) - 1);
    return bits * field.unit + field.bias;
}

static uint32_t round_up(uint32_t bytes, uint32_t to)
{
    return (bytes + to - 1) / to * to;
}

static enum wm_status check_counts(const struct wm_tess_layout *l, struct wm_diag *diag)
{
    if (!l->patches || l->patches > 511)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%u patches, expected 1 to 511", l->patches);
    if (!l->vertices || l->vertices > MAX_VERTICES)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%u vertices per patch, expected 1 to %d", l->vertices,
                        MAX_VERTICES);
    if (l->attributes > MAX_SLOTS || l->patch_attributes > MAX_SLOTS)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%u attributes, %u per patch: expected up to %d of each",
                        l->attributes, l->patch_attributes, MAX_SLOTS);
    return WM_OK;
}

enum wm_status wm_tess_layout(const char *name, uint32_t patches, uint32_t vertices, uint32_t attributes,
                              uint32_t patch_attributes, struct wm_tess_layout *layout, struct wm_diag *diag)
{
    const struct layout *row = NULL;
    if (!layout)
        return wmi_null(diag, __func__, "layout");
    enum wm_status status = find(name, &row, diag);
    if (status)
        return status;
    struct wm_tess_layout l = {.name = row->name,
                               .source = row->source,
                               .patches = patches,
                               .vertices = vertices,
                               .attributes = attributes,
                               .patch_attributes = patch_attributes};
    status = check_counts(&l, diag);
    if (status)
        return status;
    l.attribute_stride = round_up(patches * vertices * SLOT_BYTES, row->align);
    l.patch_stride = round_up(patches * SLOT_BYTES, row->align);
    l.patch_data = attributes * l.attribute_stride;
    l.size = l.patch_data + patch_attributes * l.patch_stride;
    if ((status = pack(row->patches, "patches", patches, &l.word, diag)) ||
        (status = pack(row->vertices, "vertices", vertices, &l.word, diag)) ||
        (status =
             pack(row->patch_data, "bytes before the attributes per patch", l.patch_data, &l.word, diag)) ||
        (status = pack(row->outputs, "attributes", attributes, &l.word, diag)) ||
        (status = pack(row->stride, "bytes of an attribute", l.attribute_stride, &l.word, diag)))
        return status;
    *layout = l;
    return WM_OK;
}

enum wm_status wm_tess_layout_of_word(const char *name, uint32_t word, uint32_t patch_attributes,
                                      struct wm_tess_layout *layout, struct wm_diag *diag)
{
    const struct layout *row = NULL;
    if (!layout)
        return wmi_null(diag, __func__, "layout");
    enum wm_status status = find(name, &row, diag);
    if (status)
        return status;
    struct wm_tess_layout l = {.name = row->name,
                               .source = row->source,
                               .patches = unpack(row->patches, word),
                               .vertices = unpack(row->vertices, word),
                               .patch_attributes = patch_attributes,
                               .word = word};
    if (!l.patches || !l.vertices || l.vertices > MAX_VERTICES)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "word 0x%x: %u patches of %u vertices, expected some, up to %d", word, l.patches,
                        l.vertices, MAX_VERTICES);
    const uint32_t used = l.patches * l.vertices * SLOT_BYTES;
    l.attribute_stride = row->stride.bits ? unpack(row->stride, word) : round_up(used, row->align);
    if (l.attribute_stride < used)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "word 0x%x: %u bytes of an attribute hold %u", word, used,
                        l.attribute_stride);
    l.patch_stride = round_up(l.patches * SLOT_BYTES, row->align);
    if (row->outputs.bits) {
        l.attributes = unpack(row->outputs, word);
        l.patch_data = l.attributes * l.attribute_stride;
    } else {
        l.patch_data = unpack(row->patch_data, word);
        l.attributes = l.patch_data / l.attribute_stride;
    }
    l.size = l.patch_data + patch_attributes * l.patch_stride;
    if (l.attributes > MAX_SLOTS)
        l.attributes = MAX_SLOTS; /* the rest is nobody's */
    status = check_counts(&l, diag);
    if (!status)
        *layout = l;
    return status;
}

/* ---- places ---- */

enum wm_status wm_tess_offset(const struct wm_tess_layout *l, const struct wm_tess_place *p, uint32_t *offset,
                              struct wm_diag *diag)
{
    if (!l || !p || !offset)
        return wmi_null(diag, __func__, !l ? "layout" : p ? "offset" : "place");
    const uint64_t slot = (uint64_t)p->slot + p->indirect;
    const uint32_t slots = p->per_patch ? l->patch_attributes : l->attributes;
    if (p->patch >= l->patches)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "patch %u: there are %u", p->patch, l->patches);
    if (!p->per_patch && p->vertex >= l->vertices)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "vertex %u: a patch has %u", p->vertex, l->vertices);
    if (slot >= slots)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "attribute %llu%s: there are %u", (unsigned long long)slot,
                        p->per_patch ? " per patch" : "", slots);
    if (p->byte >= SLOT_BYTES)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "byte %u: an attribute has %d", p->byte, SLOT_BYTES);
    if (p->per_patch)
        *offset = l->patch_data + (uint32_t)slot * l->patch_stride + p->patch * SLOT_BYTES + p->byte;
    else
        *offset = (uint32_t)slot * l->attribute_stride + (p->patch * l->vertices + p->vertex) * SLOT_BYTES +
                  p->byte;
    return WM_OK;
}

enum wm_status wm_tess_place(const struct wm_tess_layout *l, uint32_t offset, struct wm_tess_place *place,
                             struct wm_diag *diag)
{
    if (!l || !place)
        return wmi_null(diag, __func__, l ? "place" : "layout");
    if (!l->vertices || !l->attribute_stride || !l->patch_stride)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "a layout without vertices or strides; expected one of wm_tess_layout()");
    struct wm_tess_place p = {.per_patch = offset >= l->patch_data, .byte = offset % SLOT_BYTES};
    const uint32_t begin = p.per_patch ? l->patch_data : 0;
    const uint32_t stride = p.per_patch ? l->patch_stride : l->attribute_stride;
    const uint32_t in_slot = (offset - begin) % stride / SLOT_BYTES;
    const uint32_t per_patch = p.per_patch ? 1 : l->vertices;
    p.slot = (offset - begin) / stride;
    p.patch = in_slot / per_patch;
    p.vertex = in_slot % per_patch;
    p.byte = (offset - begin) % SLOT_BYTES;
    if (offset >= l->size)
        return wmi_fail(diag, WM_NOT_FOUND, "byte %u: the buffer has %u", offset, l->size);
    if (p.patch >= l->patches || p.slot >= (p.per_patch ? l->patch_attributes : l->attributes))
        return wmi_fail(diag, WM_NOT_FOUND, "byte %u belongs to no attribute", offset);
    *place = p;
    return WM_OK;
}

/* ---- semantics ---- */

enum wm_status wm_tess_slot(const char *name, const char *semantic, uint32_t index, uint32_t *slot,
                            bool *per_patch, struct wm_diag *diag)
{
    static const struct {
        const char *name;
        uint32_t slot, count;
        bool per_patch;
    } semantics[] = {
        {"position", 0, 1, false}, {"psize", 1, 1, false},    {"clipdist", 2, 2, false},
        {"generic", 4, 60, false}, {"tessouter", 0, 1, true}, {"tessinner", 1, 1, true},
        {"patch", 2, 62, true},
    };
    static const char prefix[] = "TGSI_SEMANTIC_";
    const struct layout *row = NULL;
    if (!semantic || !slot || !per_patch)
        return wmi_null(diag, __func__, !semantic ? "semantic" : slot ? "per_patch" : "slot");
    const enum wm_status status = find(name, &row, diag);
    if (status)
        return status;
    if (!row->fixed_slots)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s numbers the attributes that a shader uses: give the number, not '%s'", row->name,
                        semantic);
    const char *bare =
        strncasecmp(semantic, prefix, sizeof prefix - 1) == 0 ? semantic + sizeof prefix - 1 : semantic;
    for (size_t i = 0; i < sizeof semantics / sizeof semantics[0]; i++) {
        if (strcasecmp(bare, semantics[i].name) != 0)
            continue;
        if (index >= semantics[i].count)
            return wmi_fail(diag, WM_BAD_ARGUMENT, "%s %u: there are %u", semantic, index,
                            semantics[i].count);
        *slot = semantics[i].slot + index;
        *per_patch = semantics[i].per_patch;
        return WM_OK;
    }
    return wmi_fail(diag, WM_NOT_FOUND,
                    "'%s': expected position, psize, clipdist, generic, tessouter, "
                    "tessinner or patch",
                    semantic);
}

/* ---- cache lines ---- */

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Lines of `count` accesses of a slot each. They do not cross lines, which are multiples of a slot. */
static uint32_t distinct(uint32_t *offset, uint32_t count, uint32_t line_bytes)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < count; i++)
        offset[i] /= line_bytes;
    qsort(offset, count, sizeof *offset, compare);
    for (uint32_t i = 0; i < count; i++)
        lines += !i || offset[i] != offset[i - 1];
    return lines;
}

enum wm_status wm_tess_lines(const struct wm_tess_layout *l, uint32_t line_bytes, uint32_t lanes,
                             uint32_t points, struct wm_tess_lines *lines, struct wm_diag *diag)
{
    uint32_t now[MAX_LINES], before[MAX_LINES];
    if (!l || !lines)
        return wmi_null(diag, __func__, l ? "lines" : "layout");
    const uint32_t vertex_bytes = l->attributes * SLOT_BYTES;
    const uint32_t patch_bytes = l->vertices * vertex_bytes + l->patch_attributes * SLOT_BYTES;
    if (line_bytes < SLOT_BYTES || line_bytes & (line_bytes - 1))
        return wmi_fail(diag, WM_BAD_ARGUMENT, "lines of %u bytes: expected a power of two from %d on",
                        line_bytes, SLOT_BYTES);
    if (!lanes || lanes > MAX_LINES || !points || !l->attributes || !l->vertices)
        return wmi_fail(diag, WM_BAD_ARGUMENT,
                        "waves of %u lanes, %u points per patch, %u attributes: "
                        "expected 1 to %d lanes, and some",
                        lanes, points, l->attributes, MAX_LINES);
    memset(lines, 0, sizeof *lines);
    for (uint32_t lane = 0; lane < lanes && lane < l->patches * l->vertices; lane++) {
        now[lane] = lane * SLOT_BYTES;
        before[lane] = lane / l->vertices * patch_bytes + lane % l->vertices * vertex_bytes;
        lines->store_lanes++;
    }
    lines->store = distinct(now, lines->store_lanes, line_bytes);
    lines->store_before = distinct(before, lines->store_lanes, line_bytes);
    for (uint32_t lane = 0; lane < lanes && lane / points < l->patches; lane++) {
        now[lane] = lane / points * l->vertices * SLOT_BYTES;
        before[lane] = lane / points * patch_bytes;
        lines->load_lanes++;
    }
    lines->load = distinct(now, lines->load_lanes, line_bytes);
    lines->load_before = distinct(before, lines->load_lanes, line_bytes);
    return WM_OK;
}
