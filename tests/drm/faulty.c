/* SPDX-License-Identifier: MIT */
/* Vulkan programs with a mistake.
 *
 * usage: vulkan-faulty FOLDER_OF_SPIRV race|lost
 * Prints the VkResult of the submission, and with "lost" that of another one. */
#include "vk.h"

#include <stdio.h>
#include <string.h>

static void race(struct vk *vk)
{
    struct vk_buffer a = vk_buffer(vk, 4 * 256), b = vk_buffer(vk, 4 * 256);
    struct vk_pipeline p = vk_pipeline(vk, "race", 2, 0, NULL, 0, 0);
    const VkCommandBuffer commands = vk_begin(vk);
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_use(commands, &p);
    vkCmdDispatch(commands, 1, 1, 1);
    printf("%d\n", vk_try(vk, commands));
}

/* Stores far behind the end of a buffer through its address. */
static void lose(struct vk *vk)
{
    struct vk_buffer a = vk_buffer(vk, 4096);
    struct vk_pipeline p = vk_pipeline(vk, "out_of_bounds", 0, 0, NULL, 0, 12);
    struct {
        uint64_t address;
        uint32_t distance;
    } push = {a.address, 1 << 24};
    for (int i = 0; i < 2; i++) {
        const VkCommandBuffer commands = vk_begin(vk);
        vk_use(commands, &p);
        vkCmdPushConstants(commands, p.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, &push);
        vkCmdDispatch(commands, 1, 1, 1);
        printf("%d\n", vk_try(vk, commands));
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        vk_fail("usage: %s FOLDER_OF_SPIRV race|lost", argv[0]);
    struct vk vk = vk_open(argv[1]);
    if (!strcmp(argv[2], "race"))
        race(&vk);
    else
        lose(&vk);
    return 0;
}
