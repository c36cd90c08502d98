/* SPDX-License-Identifier: MIT */
/* The topology that libhsakmt reads in place of the kernel's: a folder like /sys/class/kfd/kfd/topology. The
 * runtime chooses code objects by it, so the machine must have the same target. */
#include "shim/model/model.h"

#include <inttypes.h>
#include <stdlib.h>

static bool read_number(const char *path, const char *key, uint64_t *number)
{
    char name[64];
    bool found = false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    if (!key)
        found = fscanf(file, "%" SCNu64, number) == 1;
    while (key && !found && fscanf(file, "%63s %" SCNu64, name, number) == 2)
        found = !strcmp(name, key);
    fclose(file);
    return found;
}

bool model_find_target(unsigned number, char target[SHIM_TARGET])
{
    const char *folder = getenv("HSA_MODEL_TOPOLOGY");
    char path[SHIM_PATH];
    uint64_t id, version;
    unsigned gpus = 0, node = 0;
    if (!folder) {
        shim_complain("HSA_MODEL_TOPOLOGY is not set; expected a folder like /sys/class/kfd/kfd/topology");
        return false;
    }
    for (;; node++) {
        snprintf(path, sizeof path, "%s/nodes/%u/gpu_id", folder, node);
        if (!read_number(path, NULL, &id)) {
            shim_complain("%s: expected a number; the topology has %u GPUs, and GPU %u is wanted", path, gpus,
                          number);
            return false;
        }
        gpus += id != 0;
        if (gpus > number)
            break;
    }
    snprintf(path, sizeof path, "%s/nodes/%u/properties", folder, node);
    if (!read_number(path, "gfx_target_version", &version) || !version || version >= 1000000) {
        shim_complain("%s: expected 'gfx_target_version' with a number such as 90402", path);
        return false;
    }
    /* 90402 is gfx942, 90010 gfx90a. */
    snprintf(target, SHIM_TARGET, "gfx%u%u%x", (unsigned)(version / 10000), (unsigned)(version / 100 % 100),
             (unsigned)(version % 100));
    return true;
}
