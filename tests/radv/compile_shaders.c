/* SPDX-License-Identifier: MIT */
/* Compiles the shaders of cases.c with RADV for a GPU that is not present, records a dispatch of each, and
 * writes what the driver would hand to the GPU: code, registers, descriptor sets, uploaded constants.
 *
 * usage: compile_shaders FAMILY FOLDER_OF_SPIRV OUTPUT_FOLDER
 *
 * Files NAME.code, NAME.sets, NAME.upload (memory) and NAME.state (text, read by run_shaders.c). Exit code 77
 * if there is no Vulkan loader or no RADV.
 */
#include "cases.h"
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The registers and packets of a command buffer. Names and numbers: Mesa, src/amd/registers,
 * src/amd/common/sid.h. */

enum { USER_DATA = 16 };

struct recorded {
    uint32_t groups[3], initiator; /* of the DISPATCH_DIRECT packet */
    uint32_t registers[0x100];     /* from 0xb800 on */
    bool written[0x100];           /* by the command buffer */
    const uint32_t *stream;
    struct block upload;
};

enum {
    NUM_THREAD_X = 0x1c / 4,
    PGM_LO = 0x30 / 4,
    PGM_HI,
    PGM_RSRC1 = 0x48 / 4,
    PGM_RSRC2,
    PGM_RSRC3 = 0xa0 / 4,
    USER_DATA_0 = 0x100 / 4,
};

static void parse_packets(struct recorded *this)
{
    enum { DISPATCH_DIRECT = 0x15, SET_SH_REG = 0x76 };
    for (const uint32_t *p = this->stream; p < this->stream + 4096 && *p >> 30 == 3;) {
        uint32_t count = (*p >> 16 & 0x3fff) + 1, operation = *p >> 8 & 0xff;
        const uint32_t *body = p + 1;
        p = body + count;
        if (operation == SET_SH_REG) {
            for (uint32_t i = 0; i < count - 1; i++) {
                uint32_t at = (body[0] & 0xffff) + i - 0x200; /* 0xb000 + 4 * 0x200 = 0xb800 */
                if (at < 0x100) {
                    this->registers[at] = body[1 + i];
                    this->written[at] = true;
                }
            }
        } else if (operation == DISPATCH_DIRECT) {
            memcpy(this->groups, body, 12);
            this->initiator = body[3];
            return;
        }
    }
    fail("command buffer", "there is no DISPATCH_DIRECT packet");
}

static bool has_features(const struct radv_case *this)
{
    const bool atomics64 = features.v12.shaderBufferInt64Atomics && features.v12.shaderSharedInt64Atomics;
    return (!this->half_floats || features.v12.shaderFloat16) &&
           (!this->words16 || features.all.features.shaderInt16) && (!this->atomics64 || atomics64) &&
           (this->wave == 0 || this->wave >= features.subgroups.minSubgroupSize);
}

/* The resources of a case. */

enum {
    SETS = 3,
    GAP = 0x1000,      /* the first descriptor set of the pool begins here or behind it; uploads are below */
    SPACING = 0x10000, /* of buffers in the device memory; they begin at a multiple that is not 0 */
};

static const VkDescriptorType types[] = {
    [RADV_STORAGE] = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    [RADV_UNIFORM] = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
    [RADV_TEXELS] = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
    [RADV_STORED_TEXELS] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
    [RADV_IMAGE] = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
    [RADV_STORED_IMAGE] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
};

static const VkFormat formats[] = {
    [RADV_RGBA8_UNORM] = VK_FORMAT_R8G8B8A8_UNORM,
    [RADV_RG16_SINT] = VK_FORMAT_R16G16_SINT,
    [RADV_RGBA16_FLOAT] = VK_FORMAT_R16G16B16A16_SFLOAT,
    [RADV_R32_UINT] = VK_FORMAT_R32_UINT,
};

struct resources {
    VkDescriptorSetLayout layouts[SETS];
    VkPipelineLayout layout;
    VkDescriptorSet sets[SETS];
    struct block pool;
};

static VkDescriptorSetLayout make_layout(VkDevice device, const VkDescriptorSetLayoutBinding *bindings,
                                         uint32_t count)
{
    VkDescriptorBindingFlags flags[RADV_BINDINGS] = {0};
    VkDescriptorSetLayoutBindingFlagsCreateInfo more = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = count,
        .pBindingFlags = flags,
    };
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = &more,
        .bindingCount = count,
        .pBindings = bindings,
    };
    VkDescriptorSetLayout layout;
    check(vkCreateDescriptorSetLayout(device, &info, NULL, &layout), "vkCreateDescriptorSetLayout");
    return layout;
}

static void make_sets(VkDevice device, const struct radv_case *this, struct resources *r)
{
    for (uint32_t set = 0; set < SETS; set++) {
        VkDescriptorSetLayoutBinding bindings[RADV_BINDINGS];
        uint32_t count = 0;
        for (const struct radv_binding *b = this->bindings; b < this->bindings + RADV_BINDINGS && b->count;
             b++)
            if (b->set == set)
                bindings[count++] = (VkDescriptorSetLayoutBinding){
                    b->binding, types[b->kind], b->count, VK_SHADER_STAGE_COMPUTE_BIT, NULL,
                };
        r->layouts[set] = make_layout(device, bindings, count);
    }
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, this->push_words * 4};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = SETS,
        .pSetLayouts = r->layouts,
        .pushConstantRangeCount = this->push_words != 0,
        .pPushConstantRanges = &range,
    };
    check(vkCreatePipelineLayout(device, &info, NULL, &r->layout), "vkCreatePipelineLayout");

    VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1024},     {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 16},
        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 16}, {VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 16},
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 16},        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 16},
    };
    VkDescriptorPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = SETS + 1,
        .poolSizeCount = sizeof sizes / sizeof *sizes,
        .pPoolSizes = sizes,
    };
    VkDescriptorPool pool;
    size_t before = block_count;
    watched_size = GAP;
    check(vkCreateDescriptorPool(device, &pool_info, NULL, &pool), "vkCreateDescriptorPool");
    watched_size = 0;
    for (size_t i = before; i < block_count; i++) /* the memory is larger than what describes it */
        if (blocks[i].size > r->pool.size)
            r->pool = blocks[i];
    if (r->pool.size <= GAP)
        fail("descriptor pool", "its memory was not found");
    VkDescriptorSetLayoutBinding gap = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, GAP / 16,
                                        VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayout layouts[SETS + 1] = {make_layout(device, &gap, 1)};
    memcpy(layouts + 1, r->layouts, sizeof r->layouts);
    VkDescriptorSetAllocateInfo sets_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = SETS + 1,
        .pSetLayouts = layouts,
    };
    VkDescriptorSet sets[SETS + 1];
    check(vkAllocateDescriptorSets(device, &sets_info, sets), "vkAllocateDescriptorSets");
    memcpy(r->sets, sets + 1, sizeof r->sets);
}

static VkImageView make_image(VkDevice device, const struct radv_binding *b, VkDeviceMemory memory,
                              VkDeviceSize offset)
{
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = formats[b->format],
        .extent = {RADV_WIDTH, b->size / RADV_WIDTH / 4, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_LINEAR,
        .usage = b->kind == RADV_IMAGE ? VK_IMAGE_USAGE_SAMPLED_BIT : VK_IMAGE_USAGE_STORAGE_BIT,
    };
    VkImage image;
    check(vkCreateImage(device, &info, NULL, &image), "vkCreateImage");
    check(vkBindImageMemory(device, image, memory, offset), "vkBindImageMemory");
    VkImageViewCreateInfo view_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = formats[b->format],
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    VkImageView view;
    check(vkCreateImageView(device, &view_info, NULL, &view), "vkCreateImageView");
    return view;
}

static VkBuffer make_buffer(VkDevice device, const struct radv_binding *b, VkDeviceMemory memory,
                            VkDeviceSize offset, VkBufferView *view)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = b->size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                 VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT,
    };
    VkBuffer buffer;
    check(vkCreateBuffer(device, &info, NULL, &buffer), "vkCreateBuffer");
    check(vkBindBufferMemory(device, buffer, memory, offset), "vkBindBufferMemory");
    VkBufferViewCreateInfo view_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = buffer,
        .format = formats[b->format],
        .range = b->size,
    };
    if (b->format)
        check(vkCreateBufferView(device, &view_info, NULL, view), "vkCreateBufferView");
    return buffer;
}

static bool is_image(const struct radv_binding *b)
{
    return b->kind == RADV_IMAGE || b->kind == RADV_STORED_IMAGE;
}

static void fill_sets(VkDevice device, const struct radv_case *this, const struct resources *r)
{
    VkMemoryAllocateInfo memory_info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = (RADV_BUFFERS + 1) * SPACING,
    };
    VkDeviceMemory memory;
    check(vkAllocateMemory(device, &memory_info, NULL, &memory), "vkAllocateMemory");
    uint32_t n = 0;
    for (const struct radv_binding *b = this->bindings; b < this->bindings + RADV_BINDINGS && b->count; b++)
        for (uint32_t i = 0; i < b->count; i++) {
            VkDescriptorImageInfo image = {.imageLayout = VK_IMAGE_LAYOUT_GENERAL};
            VkDescriptorBufferInfo buffer = {.range = b->size};
            VkBufferView view = VK_NULL_HANDLE;
            n++;
            if (is_image(b))
                image.imageView = make_image(device, b, memory, SPACING * n);
            else
                buffer.buffer = make_buffer(device, b, memory, SPACING * n, &view);
            VkWriteDescriptorSet write = {
                .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                .dstSet = r->sets[b->set],
                .dstBinding = b->binding,
                .dstArrayElement = i,
                .descriptorCount = 1,
                .descriptorType = types[b->kind],
                .pImageInfo = &image,
                .pBufferInfo = &buffer,
                .pTexelBufferView = &view,
            };
            vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
        }
}

/* Writes where in the memory of the pool the descriptors are and to which buffers they refer. The address is
 * in words 0 and 1: bits 47:0 for buffers, 47:8 for images. */
static void write_descriptors(FILE *file, const struct radv_case *this, const struct block *pool)
{
    const uint32_t *words = pool->bytes;
    uint32_t n = 0;
    for (const struct radv_binding *b = this->bindings; b < this->bindings + RADV_BINDINGS && b->count; b++)
        for (uint32_t i = 0; i < b->count; i++, n++) {
            const uint32_t low = SPACING * (n + 1) >> (is_image(b) ? 8 : 0);
            const uint32_t mask = is_image(b) ? 0xff : 0xffff;
            uint32_t found = 0;
            for (size_t k = GAP / 4; k < pool->size / 4; k += 4)
                if (words[k] == low && (words[k + 1] & mask) == 0) {
                    fprintf(file, "%s 0x%zx %u\n", is_image(b) ? "image" : "buffer", k * 4, n);
                    found++;
                }
            if (found != 1)
                fail(this->name, "not each descriptor was found once in the memory of the pool");
        }
}

static VkPipeline make_pipeline(VkDevice device, const struct radv_case *this, const struct resources *r,
                                const char *folder)
{
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = this->wave,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = this->wave ? &required : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = load_module(device, folder, this->shader),
                  .pName = "main"},
        .layout = r->layout,
    };
    VkPipeline pipeline;
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
          "vkCreateComputePipelines");
    return pipeline;
}

/* A number that the driver states about a pipeline. */
static uint64_t statistic(VkDevice device, VkPipeline pipeline, const char *name)
{
    VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                        .pipeline = pipeline};
    VkPipelineExecutableStatisticKHR all[64];
    uint32_t count = sizeof all / sizeof *all;
    for (uint32_t i = 0; i < count; i++)
        all[i] =
            (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    check(vkGetPipelineExecutableStatisticsKHR(device, &info, &count, all),
          "vkGetPipelineExecutableStatisticsKHR");
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].value.u64;
    fail("no statistic", name);
    return 0;
}

static struct recorded record(VkDevice device, const struct resources *r, VkPipeline pipeline,
                              const uint32_t groups[3], const uint32_t *push, uint32_t push_words)
{
    struct recorded result = {0};
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    check(vkCreateCommandPool(device, &pool_info, NULL, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    size_t before = block_count;
    watched_size = COMMANDS;
    VkCommandBuffer buffer;
    check(vkAllocateCommandBuffers(device, &info, &buffer), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(buffer, &begin_info), "vkBeginCommandBuffer");
    vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, r->layout, 0, SETS, r->sets, 0, NULL);
    if (push_words)
        vkCmdPushConstants(buffer, r->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_words * 4, push);
    vkCmdDispatch(buffer, groups[0], groups[1], groups[2]);
    check(vkEndCommandBuffer(buffer), "vkEndCommandBuffer");
    watched_size = 0;
    for (size_t i = before; i < block_count; i++) {
        if (blocks[i].size != COMMANDS)
            continue;
        if (!result.stream)
            result.stream = blocks[i].bytes;
        else
            result.upload = blocks[i];
    }
    if (!result.stream)
        fail("command buffer", "its memory was not found");
    parse_packets(&result);
    return result;
}

static void compile(const struct radv_case *this, const char *spirv_folder, const char *folder)
{
    VkDevice device = open_device();
    struct resources r = {0};
    make_sets(device, this, &r);
    fill_sets(device, this, &r);
    keep_contents();
    watched_size = CODE_BLOCK;
    VkPipeline pipeline = make_pipeline(device, this, &r, spirv_folder);
    watched_size = 0;

    /* User SGPRs that depend on the numbers of workgroups and on push constants contain them, others are
     * addresses. */
    uint32_t other_groups[3], other_push[RADV_PUSH];
    for (int i = 0; i < 3; i++)
        other_groups[i] = this->workgroups[i] + 1000;
    for (int i = 0; i < RADV_PUSH; i++)
        other_push[i] = ~this->push[i];
    struct recorded one = record(device, &r, pipeline, this->workgroups, this->push, this->push_words);
    struct recorded two = record(device, &r, pipeline, other_groups, other_push, this->push_words);

    const uint32_t *reg = one.registers;
    size_t code_size = statistic(device, pipeline, "Code size");
    uint64_t pc = (uint64_t)reg[PGM_HI] << 40 | (uint64_t)reg[PGM_LO] << 8;
    const uint8_t *code = find_code(pc, code_size, &code_size);
    save(folder, this->name, "code", code, code_size);
    save(folder, this->name, "sets", r.pool.bytes, r.pool.size);
    save(folder, this->name, "upload", one.upload.bytes, one.upload.size);

    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        fail(this->name, "no memory");
    fprintf(file, "wave %u\n", one.initiator >> 15 & 1 ? 32 : 64); /* CS_W32_EN */
    fprintf(file, "workgroups %u %u %u\n", one.groups[0], one.groups[1], one.groups[2]);
    fprintf(file, "workgroup %u %u %u\n", reg[NUM_THREAD_X] & 0xffff, reg[NUM_THREAD_X + 1] & 0xffff,
            reg[NUM_THREAD_X + 2] & 0xffff);
    fprintf(file, "rsrc 0x%x 0x%x 0x%x\n", reg[PGM_RSRC1], reg[PGM_RSRC2], reg[PGM_RSRC3]);
    fprintf(file, "scratch %llu\n", (unsigned long long)statistic(device, pipeline, "Scratch size"));
    for (uint32_t i = 0; i < USER_DATA; i++) {
        uint32_t value = reg[USER_DATA_0 + i];
        if (!one.written[USER_DATA_0 + i])
            continue;
        if (value != two.registers[USER_DATA_0 + i]) {
            fprintf(file, "user %u value 0x%x\n", i, value);
        } else if (value >= GAP) {
            fprintf(file, "user %u sets 0x%x\n", i, value);
        } else if (one.upload.bytes && memcmp((uint8_t *)one.upload.bytes + value, one.groups, 12) == 0) {
            fprintf(file, "user %u upload64 0x%x\n", i, value); /* the numbers of workgroups */
            i++;
        } else {
            fprintf(file, "user %u upload 0x%x\n", i, value);
        }
    }
    write_descriptors(file, this, &r.pool);
    fclose(file);
    save(folder, this->name, "state", text, length);
    free(text);
    vkDestroyDevice(device, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: compile_shaders FAMILY FOLDER_OF_SPIRV OUTPUT_FOLDER\n");
        return 2;
    }
#ifndef __x86_64__
    skip("driver.c knows the calls of x86-64 only");
#endif
    open_driver(argv[1]);
    for (size_t i = 0; i < radv_case_count; i++)
        if (has_features(&radv_cases[i]))
            compile(&radv_cases[i], argv[2], argv[3]);
    return 0;
}
