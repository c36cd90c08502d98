/* SPDX-License-Identifier: MIT */
/* Submissions as text, for people who work on drivers: each packet with its address, and the names of shader
 * registers. Source of the names: Mesa, sid.h. */
#include "shim/drm/drm.h"

#include <errno.h>
#include <stdlib.h>

static FILE *out; /* NULL: nobody wants it */

static void open_text(void)
{
    const char *path = getenv("WAVEMEM_PACKETS");
    out = path && *path ? fopen(path, "ae") : NULL;
    if (path && *path && !out)
        shim_complain("WAVEMEM_PACKETS: '%s': %s", path, strerror(errno));
    if (out)
        setvbuf(out, NULL, _IOLBF, 0);
}

bool drm_text_wanted(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_text);
    return out;
}

static void name_register(uint32_t offset, char name[40])
{
    static const struct {
        uint16_t first, count;
        const char *name;
    } registers[] = {
        {0x201, 1, "COMPUTE_DIM_X"},
        {0x202, 1, "COMPUTE_DIM_Y"},
        {0x203, 1, "COMPUTE_DIM_Z"},
        {0x204, 1, "COMPUTE_START_X"},
        {0x205, 1, "COMPUTE_START_Y"},
        {0x206, 1, "COMPUTE_START_Z"},
        {0x207, 1, "COMPUTE_NUM_THREAD_X"},
        {0x208, 1, "COMPUTE_NUM_THREAD_Y"},
        {0x209, 1, "COMPUTE_NUM_THREAD_Z"},
        {0x20c, 1, "COMPUTE_PGM_LO"},
        {0x20d, 1, "COMPUTE_PGM_HI"},
        {0x210, 1, "COMPUTE_DISPATCH_SCRATCH_BASE_LO"},
        {0x211, 1, "COMPUTE_DISPATCH_SCRATCH_BASE_HI"},
        {0x212, 1, "COMPUTE_PGM_RSRC1"},
        {0x213, 1, "COMPUTE_PGM_RSRC2"},
        {0x215, 1, "COMPUTE_RESOURCE_LIMITS"},
        {0x218, 1, "COMPUTE_TMPRING_SIZE"},
        {0x228, 1, "COMPUTE_PGM_RSRC3"},
        {0x240, 16, "COMPUTE_USER_DATA_"},
    };
    snprintf(name, 40, "0x%x", 0xb000 + 4 * offset);
    for (size_t i = 0; i < SHIM_COUNT(registers); i++)
        if (offset == registers[i].first && registers[i].count == 1)
            snprintf(name, 40, "%s", registers[i].name);
        else if (offset - registers[i].first < registers[i].count && registers[i].count > 1)
            snprintf(name, 40, "%s%u", registers[i].name, offset - registers[i].first);
}

void drm_text_buffer(const struct drm_ring_state *state, uint64_t address, uint32_t bytes, unsigned depth)
{
    static const char *const rings[] = {"graphics", "compute", "SDMA"};
    if (drm_text_wanted())
        fprintf(out, "%*s%u bytes at 0x%llx, %s ring of GPU %u (%s)\n", 2 * depth, "", bytes,
                (unsigned long long)address, rings[state->type], state->device->gpu.number,
                state->device->gpu.product->name);
}

void drm_text_packet(uint64_t address, const char *name, const uint32_t *body, size_t count,
                     bool sets_registers)
{
    flockfile(out);
    fprintf(out, "  0x%llx  %s", (unsigned long long)address, name);
    for (size_t i = sets_registers; i < count; i++) {
        char text[40];
        if (sets_registers) {
            name_register((body[0] & 0xffff) + (uint32_t)i - 1, text);
            fprintf(out, "%s %s = 0x%x", i > 1 ? "," : "", text, body[i]);
        } else {
            fprintf(out, " 0x%x", body[i]);
        }
    }
    fputc('\n', out);
    funlockfile(out);
}
