/* SPDX-License-Identifier: MIT */
/* libFuzzer target: arbitrary bytes as a command buffer of a compute ring. Each either runs or fails by one
 * message. The first byte chooses the GPU. The buffer lies in guest memory with 64 KiB of data and a shader
 * behind it, at addresses that seeds have, so that packets find something. Waits end and shaders are stopped
 * at once. */
#include "shim/drm/drm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { COMMANDS = 0x800000, DATA = 0x100000, MEMORY = 1 << 16, GPUS = 4 };

static struct drm_device *devices[GPUS];
static unsigned char *memory[GPUS][2];

/* Shader: s_endpgm, on each generation. */
static void begin(void)
{
    static const uint32_t ends[GPUS] = {0xbf810000, 0xbf810000, 0xbf810000, 0xbfb00000};
    setenv("WAVEMEM_GPU", "gfx803,gfx900,gfx1030,gfx1100", 1);
    for (unsigned i = 0; i < GPUS; i++) {
        const uint64_t addresses[2] = {COMMANDS, DATA};
        devices[i] = drm_device(i);
        for (unsigned k = 0; k < 2; k++) {
            union drm_amdgpu_gem_create create = {
                .in = {.bo_size = MEMORY, .domains = AMDGPU_GEM_DOMAIN_VRAM}};
            if (!devices[i] || drm_buffer_create(devices[i], &create))
                abort();
            const struct drm_amdgpu_gem_va va = {.handle = create.out.handle,
                                                 .operation = AMDGPU_VA_OP_MAP,
                                                 .va_address = addresses[k],
                                                 .map_size = MEMORY};
            if (drm_addresses(devices[i], &va))
                abort();
            memory[i][k] = wm_host_pointer(devices[i]->gpu.machine, addresses[k], MEMORY);
        }
        memcpy(memory[i][1] + 4096, &ends[i], sizeof ends[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const bool ends = true;
    static bool begun;
    if (!begun)
        begin();
    begun = true;
    if (!size || size > MEMORY)
        return 0;
    const unsigned gpu = bytes[0] % GPUS;
    const uint32_t words = (uint32_t)(size - 1) / 4;
    struct drm_ring_state *state = calloc(1, sizeof *state);
    if (!state)
        return 0;
    state->device = devices[gpu];
    state->ends = &ends;
    state->type = AMDGPU_HW_IP_COMPUTE;
    memcpy(memory[gpu][0], bytes + 1, 4 * (size_t)words);
    if (!drm_execute(state, COMMANDS, 4 * words) && !state->problem[0] && !words)
        abort();
    free(state);
    return 0;
}
