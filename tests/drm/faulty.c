/* SPDX-License-Identifier: MIT */
/* Vulkan programs with a mistake.
 *
 * usage: vulkan-faulty FOLDER_OF_SPIRV race|lost|beyond|spin|wait
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
    vk_name(vk, VK_OBJECT_TYPE_BUFFER, (uint64_t)a.buffer, "weights");
    vk_name(vk, VK_OBJECT_TYPE_PIPELINE, (uint64_t)p.pipeline, "stray stores");
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

/* A kernel, or the queue itself, waits for the host, which waits for them. */
static void hang(struct vk *vk, bool kernel)
{
    const VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    struct vk_buffer a = vk_buffer(vk, 8);
    struct vk_pipeline p = vk_pipeline(vk, "spin", 1, 0, NULL, 0, 0);
    VkEvent event;
    vk_check(vkCreateEvent(vk->device, &info, NULL, &event), "vkCreateEvent");
    vk_bind(vk, &p, 0, &a);
    const VkCommandBuffer commands = vk_begin(vk);
    if (kernel) {
        vk_use(commands, &p);
        vkCmdDispatch(commands, 1, 1, 1);
    } else {
        vkCmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                        NULL, 0, NULL, 0, NULL);
    }
    printf("%d\n", vk_try(vk, commands));
}

/* Indices of a storage buffer behind its end, which RADV's descriptors do not let through. */
static void go_beyond(struct vk *vk)
{
    struct vk_buffer a = vk_buffer(vk, 4 * 100), b = vk_buffer(vk, 4 * 128);
    struct vk_pipeline p = vk_pipeline(vk, "robust", 2, 0, NULL, 0, 4);
    const uint32_t from = 80;
    vk_name(vk, VK_OBJECT_TYPE_BUFFER, (uint64_t)a.buffer, "counts");
    vk_bind(vk, &p, 0, &a);
    vk_bind(vk, &p, 1, &b);
    vk_dispatch(vk, &p, &from, 4, 1, 1, 1);
    vk_free_pipeline(vk, &p);
    vk_free(vk, &a);
    vk_free(vk, &b);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        vk_fail("usage: %s FOLDER_OF_SPIRV race|lost|beyond|spin|wait", argv[0]);
    struct vk vk = vk_open(argv[1]);
    if (!strcmp(argv[2], "race"))
        race(&vk);
    else if (!strcmp(argv[2], "lost"))
        lose(&vk);
    else if (!strcmp(argv[2], "beyond"))
        go_beyond(&vk);
    else
        hang(&vk, !strcmp(argv[2], "spin"));
    return 0;
}
