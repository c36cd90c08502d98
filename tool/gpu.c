/* SPDX-License-Identifier: MIT */
/* --gpu: the product that is modelled. */
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wavemem/wavemem.h"

static void list_products(void)
{
    size_t count;
    const struct wm_gpu *gpus = wm_gpus(&count);
    for (size_t i = 0; i < count; i++)
        printf("%-12s  %-36s  %s\n", gpus[i].name, gpus[i].title, gpus[i].targets);
}

int tool_choose_gpu(const char *where, const char *value, const struct wm_gpu **gpu)
{
    struct wm_diag diag;
    if (!*where && !strcmp(value, "list")) {
        list_products();
        exit(fflush(stdout) ? tool_fail("cannot write the list of products") : TOOL_CLEAN);
    }
    return wm_gpu_find(value, gpu, &diag) ? tool_fail("%s--gpu: %s", where, diag.message) : TOOL_CLEAN;
}

bool tool_check_target(const char *where, const char *text)
{
    const struct wm_gpu *gpu;
    struct wm_diag diag;
    uint64_t number;
    if (wm_target_known(text) || tool_parse_u64(text, &number))
        return true;
    if (wm_gpu_find(text, &gpu, &diag) == WM_OK) {
        tool_fail("%s-m %s: this is a product (--gpu); its target is -m %.*s", where, text,
                  (int)strcspn(gpu->targets, " ,"), gpu->targets);
        return false;
    }
    tool_fail(
        "%s-m %s: not a target that wavemem knows; expected one like gfx900 or gfx90a:xnack+, or the number "
        "of a bundle's entry",
        where, text);
    return false;
}
