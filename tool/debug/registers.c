/* SPDX-License-Identifier: MIT */
/* The registers of a wave as a list, as GDB's protocol and DAP show them. */
#include "tool/debug/registers.h"

#include <stdlib.h>
#include <string.h>

enum { STAND_INS = 32 };

static void add(struct debug_registers *list, const char *prefix, int number, unsigned bytes, unsigned words,
                bool lanes)
{
    struct debug_register *one = &list->one[list->count++];
    *one = (struct debug_register){.bytes = bytes, .words = words, .lanes = lanes};
    if (number < 0)
        snprintf(one->name, sizeof one->name, "%s", prefix);
    else
        snprintf(one->name, sizeof one->name, "%s%d", prefix, number);
}

bool debug_registers_of(const struct debug_session *s, bool for_gdb, struct debug_registers *list)
{
    const struct wm_stopped *wave = &s->wave;
    const unsigned mask = wave->wave_size / 32, row = 4 * wave->wave_size;
    *list = (struct debug_registers){
        calloc(STAND_INS + 6 + wave->sgprs + wave->vgprs + wave->agprs, sizeof *list->one), 0};
    if (!list->one)
        return false;
    for (unsigned i = 0; for_gdb && i < STAND_INS; i++) {
        add(list, "x", (int)i, 8, 2, false);
        list->one[i].stands_in = true;
    }
    add(list, "pc", -1, 8, 2, false);
    add(list, "exec", -1, 8, mask, false);
    add(list, "vcc", -1, 8, mask, false);
    add(list, "scc", -1, 4, 1, false);
    add(list, "m0", -1, 4, 1, false);
    add(list, "mode", -1, 4, 1, false);
    for (unsigned i = 0; i < wave->sgprs; i++)
        add(list, "s", (int)i, 4, 1, false);
    for (unsigned i = 0; i < wave->vgprs; i++)
        add(list, "v", (int)i, row, wave->wave_size, true);
    for (unsigned i = 0; i < wave->agprs; i++)
        add(list, "a", (int)i, row, wave->wave_size, true);
    return true;
}

bool debug_read_register(struct debug_session *s, const struct debug_register *one,
                         uint8_t bytes[DEBUG_REGISTER_BYTES])
{
    uint32_t values[DEBUG_LANES] = {0};
    struct wm_diag diag;
    if (!one->stands_in && !debug_get(s, one->name, values, DEBUG_LANES, &diag))
        return false;
    memcpy(bytes, values, one->bytes);
    return true;
}

bool debug_write_register(struct debug_session *s, const struct debug_register *one, const uint8_t *bytes)
{
    uint32_t values[DEBUG_LANES] = {0};
    struct wm_diag diag;
    memcpy(values, bytes, one->bytes);
    return !one->stands_in && debug_set(s, one->name, values, one->words, &diag);
}

char *debug_target_xml(const struct debug_session *s, const struct debug_registers *list)
{
    char *xml = NULL;
    size_t size;
    FILE *out = open_memstream(&xml, &size);
    if (!out)
        return NULL;
    const bool for_gdb = list->count && list->one[0].stands_in;
    fprintf(
        out,
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n%s"
        "<feature name=\"%s\">\n",
        for_gdb ? "<architecture>riscv:rv64</architecture>\n<osabi>none</osabi>\n" : "",
        for_gdb ? "org.gnu.gdb.riscv.cpu" : "org.wavemem.amdgpu");
    for (size_t i = 0; i < list->count; i++) {
        const struct debug_register *one = &list->one[i];
        fprintf(out, "<reg name=\"%s\" bitsize=\"%u\" regnum=\"%zu\" type=\"%s\" group=\"%s\"%s%s/>\n",
                one->name, 8 * one->bytes, i,
                one->lanes                 ? "vec_lanes"
                : !strcmp(one->name, "pc") ? "code_ptr"
                : one->bytes == 8          ? "uint64"
                                           : "uint32",
                one->lanes ? "vector" : "general", strcmp(one->name, "pc") ? "" : " generic=\"pc\"",
                one->lanes ? " encoding=\"vector\" format=\"vector-uint32\"" : "");
        if (!strcmp(one->name, "pc"))
            fprintf(out, "%s<vector id=\"vec_lanes\" type=\"uint32\" count=\"%u\"/>\n",
                    for_gdb ? "</feature>\n<feature name=\"org.wavemem.amdgpu\">\n" : "", s->wave.wave_size);
    }
    fputs("</feature>\n</target>\n", out);
    fclose(out);
    return xml;
}
