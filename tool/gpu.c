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
