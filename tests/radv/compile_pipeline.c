/* SPDX-License-Identifier: MIT */
/* Compiles the graphics pipeline pipeline.* with RADV for a GPU that is not present, records a draw, and
 * writes what examples/pipeline.c reads: the code of each hardware stage and what its user SGPRs are. The
 * same of filter.frag for run_filter.c.
 *
 * usage: compile_pipeline FAMILY FOLDER_OF_SPIRV OUTPUT_FOLDER
 *
 * Files STAGE.code, pipeline.table (of vertex buffers), pipeline.state and filter.state. Stages: ls, hs, tes,
 * ps, and vs and filter, of pipelines without tessellation. With merged stages there is no ls, with NGG no
 * tes and no vs.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERTEX_BYTES = 0x1000,
    TABLE_BYTES = 64, /* of V#s of vertex buffers; more than there are */
    FIRST_VERTEX = 5, /* of the draw: what a user SGPR that contains it stands for */
    SH = 0xb000,
    CONTEXT = 0x28000,
};

/* Registers: Mesa, src/amd/registers. */
static struct registers {
    uint32_t value[0x400];
    bool written[0x400];
} shader, context;
static const uint8_t *upload; /* memory of the command buffer: tables of vertex buffers */
static uint8_t table[TABLE_BYTES];
static bool table_is_there;

static uint32_t *context_register(uint32_t address)
{
    return &context.value[(address - CONTEXT) / 4];
}

static void set(struct registers *registers, const uint32_t *body, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++) {
        const uint32_t at = (body[0] & 0xffff) + i;
        if (at < 0x400) {
            registers->value[at] = body[1 + i];
            registers->written[at] = true;
        }
    }
}

static void parse_packets(const uint32_t *stream)
{
    enum { DRAW_INDEX_AUTO = 0x2d, SET_CONTEXT_REG = 0x69, SET_SH_REG = 0x76 };
    for (const uint32_t *p = stream; p < stream + COMMANDS / 4 && *p >> 30 == 3;) {
        const uint32_t count = (*p >> 16 & 0x3fff) + 1, operation = *p >> 8 & 0xff;
        const uint32_t *body = p + 1;
        p = body + (count == 0x4000 ? 0 : count); /* such a NOP has no body */
        if (operation == SET_SH_REG)
            set(&shader, body, count);
        else if (operation == SET_CONTEXT_REG)
            set(&context, body, count);
        else if (operation == DRAW_INDEX_AUTO)
            return;
    }
    fail("command buffer", "there is no DRAW_INDEX_AUTO packet");
}

/* The set has a sampler at byte 0 and an image at 32; where the multisampled image is depends on whether
 * images have an FMASK. */
static VkDescriptorSetLayout make_set_layout(VkDevice device)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_SAMPLER, 1, VK_SHADER_STAGE_ALL_GRAPHICS, NULL},
        {1, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_ALL_GRAPHICS, NULL},
        {2, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_ALL_GRAPHICS, NULL},
    };
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 3,
        .pBindings = bindings,
    };
    VkDescriptorSetLayout layout;
    check(vkCreateDescriptorSetLayout(device, &info, NULL, &layout), "vkCreateDescriptorSetLayout");
    return layout;
}

static VkDescriptorSet make_set(VkDevice device, VkDescriptorSetLayout layout)
{
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_SAMPLER, 1},
                                          {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 2}};
    const VkDescriptorPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    VkDescriptorPool pool;
    check(vkCreateDescriptorPool(device, &pool_info, NULL, &pool), "vkCreateDescriptorPool");
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    VkDescriptorSet result;
    check(vkAllocateDescriptorSets(device, &info, &result), "vkAllocateDescriptorSets");
    return result;
}

/* At the address 0, as the null winsys has it. */
static VkBuffer make_vertex_buffer(VkDevice device)
{
    const VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                              .allocationSize = VERTEX_BYTES};
    VkDeviceMemory memory;
    check(vkAllocateMemory(device, &memory_info, NULL, &memory), "vkAllocateMemory");
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = VERTEX_BYTES,
                                     .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    VkBuffer buffer;
    check(vkCreateBuffer(device, &info, NULL, &buffer), "vkCreateBuffer");
    check(vkBindBufferMemory(device, buffer, memory, 0), "vkBindBufferMemory");
    return buffer;
}

static VkPipeline make_pipeline(VkDevice device, VkPipelineLayout layout, const char *folder,
                                bool tessellates, const char *fragments)
{
    const struct {
        const char *name;
        VkShaderStageFlagBits bit;
    } sources[] = {{"pipeline.vert", VK_SHADER_STAGE_VERTEX_BIT},
                   {fragments, VK_SHADER_STAGE_FRAGMENT_BIT},
                   {"pipeline.tesc", VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT},
                   {"pipeline.tese", VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT}};
    const uint32_t count = tessellates ? 4 : 2;
    VkPipelineShaderStageCreateInfo stages[4];
    for (uint32_t i = 0; i < count; i++)
        stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = sources[i].bit,
            .module = load_module(device, folder, sources[i].name),
            .pName = "main",
        };
    const VkFormat format = VK_FORMAT_R32G32B32A32_SFLOAT; /* so that the shader exports floats */
    const VkViewport viewport = {0, 0, 64, 64, 0, 1};
    const VkRect2D scissor = {{0, 0}, {64, 64}};
    const VkVertexInputBindingDescription buffer = {.stride = 32};
    const VkVertexInputAttributeDescription attributes[] = {{0, 0, format, 0}, {1, 0, format, 16}};
    const VkPipelineColorBlendAttachmentState blend = {.colorWriteMask = 15};
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &(VkPipelineRenderingCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                                  .colorAttachmentCount = 1,
                                                  .pColorAttachmentFormats = &format},
        .stageCount = count,
        .pStages = stages,
        .pVertexInputState =
            &(VkPipelineVertexInputStateCreateInfo){
                .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                .vertexBindingDescriptionCount = 1,
                .pVertexBindingDescriptions = &buffer,
                .vertexAttributeDescriptionCount = 2,
                .pVertexAttributeDescriptions = attributes},
        .pInputAssemblyState =
            &(VkPipelineInputAssemblyStateCreateInfo){
                .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
                .topology =
                    tessellates ? VK_PRIMITIVE_TOPOLOGY_PATCH_LIST : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST},
        .pTessellationState =
            &(VkPipelineTessellationStateCreateInfo){
                .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO, .patchControlPoints = 3},
        .pViewportState = &(
            VkPipelineViewportStateCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                               .viewportCount = 1,
                                               .pViewports = &viewport,
                                               .scissorCount = 1,
                                               .pScissors = &scissor},
        .pRasterizationState =
            &(VkPipelineRasterizationStateCreateInfo){
                .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1},
        .pMultisampleState =
            &(VkPipelineMultisampleStateCreateInfo){
                .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT},
        .pColorBlendState =
            &(VkPipelineColorBlendStateCreateInfo){
                .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                .attachmentCount = 1,
                .pAttachments = &blend},
        .layout = layout,
    };
    VkPipeline pipeline;
    check(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
          "vkCreateGraphicsPipelines");
    return pipeline;
}

static void record(VkDevice device, VkPipelineLayout layout, VkDescriptorSet descriptors, VkPipeline pipeline)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    check(vkCreateCommandPool(device, &pool_info, NULL, &pool), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    const size_t before = block_count;
    watched_size = COMMANDS;
    VkCommandBuffer buffer;
    check(vkAllocateCommandBuffers(device, &info, &buffer), "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo begin_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(buffer, &begin_info), "vkBeginCommandBuffer");
    const VkRenderingAttachmentInfo attachment = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    const VkRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, {64, 64}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &attachment,
    };
    vkCmdBeginRendering(buffer, &rendering);
    vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &descriptors, 0, NULL);
    const VkDeviceSize offset = 0;
    const VkBuffer vertices = make_vertex_buffer(device);
    vkCmdBindVertexBuffers(buffer, 0, 1, &vertices, &offset);
    vkCmdDraw(buffer, 9, 1, FIRST_VERTEX, 0);
    vkCmdEndRendering(buffer);
    check(vkEndCommandBuffer(buffer), "vkEndCommandBuffer");
    watched_size = 0;
    const uint32_t *stream = NULL;
    upload = NULL;
    for (size_t i = before; i < block_count; i++)
        if (blocks[i].size == COMMANDS) {
            if (!stream)
                stream = blocks[i].bytes;
            else
                upload = blocks[i].bytes;
        }
    if (!stream || !upload)
        fail("command buffer", "its memory was not found");
    parse_packets(stream);
}

/* A hardware stage and its registers: SPI_SHADER_PGM_LO_*, _PGM_RSRC1_* and _USER_DATA_*_0. */
struct stage {
    const char *name;
    uint32_t pgm_lo, rsrc1, user_data;
};

static const struct stage stages8[] = {{"ls", 0xb520, 0xb528, 0xb530},
                                       {"hs", 0xb420, 0xb428, 0xb430},
                                       {"tes", 0xb120, 0xb128, 0xb130},
                                       {"ps", 0xb020, 0xb028, 0xb030},
                                       {NULL, 0, 0, 0}};
static const struct stage stages9[] = {{"hs", 0xb410, 0xb428, 0xb430},
                                       {"tes", 0xb120, 0xb128, 0xb130},
                                       {"ps", 0xb020, 0xb028, 0xb030},
                                       {NULL, 0, 0, 0}};
static const struct stage stages10[] = {{"hs", 0xb520, 0xb428, 0xb430},
                                        {"tes", 0xb120, 0xb128, 0xb130},
                                        {"ps", 0xb020, 0xb028, 0xb030},
                                        {NULL, 0, 0, 0}};

/* Without tessellation. */
static const struct stage plain = {"vs", 0xb120, 0xb128, 0xb130}, filter = {"filter", 0xb020, 0xb028, 0xb030};

static const struct {
    const char *family;
    const struct stage *stages;
} families[] = {{"polaris10", stages8}, {"vega10", stages9},   {"navi10", stages10},
                {"navi21", stages10},   {"gfx1100", stages10}, {NULL, NULL}};

static void write_stage(FILE *file, const struct stage *stage, const char *folder)
{
    const uint32_t lo = (stage->pgm_lo - SH) / 4, rsrc = (stage->rsrc1 - SH) / 4,
                   user = (stage->user_data - SH) / 4;
    if (!shader.written[lo])
        return;
    size_t size;
    const uint64_t pc = (uint64_t)shader.value[lo + 1] << 40 | (uint64_t)shader.value[lo] << 8;
    const uint8_t *code = find_code(pc, 4, &size);
    save(folder, stage->name, "code", code, size);
    fprintf(file, "stage %s 0x%x 0x%x\n", stage->name, shader.value[rsrc], shader.value[rsrc + 1]);
    const bool has_set = stage->pgm_lo == filter.pgm_lo;
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t value = shader.value[user + i];
        if (!shader.written[user + i])
            continue;
        fprintf(file, "user %u %s\n", i, value == FIRST_VERTEX ? "first-vertex" : has_set ? "set" : "table");
        if (value == FIRST_VERTEX || has_set)
            continue;
        if (value > COMMANDS - TABLE_BYTES)
            fail(stage->name, "the table of vertex buffers was not found");
        if (table_is_there && memcmp(table, upload + value, TABLE_BYTES) != 0)
            fail(stage->name, "its table of vertex buffers is another one");
        memcpy(table, upload + value, TABLE_BYTES);
        table_is_there = true;
    }
}

/* Makes a pipeline and records a draw. The driver's waves have 64 lanes in all these stages. */
static void compile(VkDevice device, VkPipelineLayout layout, VkDescriptorSet descriptors, const char *folder,
                    bool tessellates, const char *fragments)
{
    keep_contents();
    watched_size = CODE_BLOCK;
    const VkPipeline pipeline = make_pipeline(device, layout, folder, tessellates, fragments);
    watched_size = 0;
    memset(&shader, 0, sizeof shader);
    memset(&context, 0, sizeof context);
    record(device, layout, descriptors, pipeline);
    /* VGT_SHADER_STAGES_EN.HS_W32_EN and VS_W32_EN, SPI_PS_IN_CONTROL.PS_W32_EN */
    if (*context_register(0x28b54) & (1u << 21 | 1u << 23) || *context_register(0x286d8) & 1u << 15)
        fail("pipeline", "it has waves of 32 lanes");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: compile_pipeline FAMILY FOLDER_OF_SPIRV OUTPUT_FOLDER\n");
        return 2;
    }
#ifndef __x86_64__
    skip("driver.c knows the calls of x86-64 only");
#endif
    const struct stage *stage = NULL;
    for (int i = 0; families[i].family; i++)
        if (strcmp(families[i].family, argv[1]) == 0)
            stage = families[i].stages;
    if (!stage)
        fail(argv[1], "its stages are not known");
    setenv("RADV_DEBUG", "nongg", 1);
    open_driver(argv[1]);
    VkDevice device = open_device();
    const VkDescriptorSetLayout set_layout = make_set_layout(device);
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &set_layout};
    VkPipelineLayout layout;
    check(vkCreatePipelineLayout(device, &info, NULL, &layout), "vkCreatePipelineLayout");
    const VkDescriptorSet descriptors = make_set(device, set_layout);

    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        fail("pipeline", "no memory");
    compile(device, layout, descriptors, argv[2], true, "pipeline.frag");
    /* VGT_LS_HS_CONFIG.NUM_PATCHES, SPI_PS_INPUT_ENA and _ADDR */
    fprintf(file, "patches %u\n", *context_register(0x28b58) & 0xff);
    fprintf(file, "inputs 0x%x 0x%x\n", *context_register(0x286cc), *context_register(0x286d0));
    for (; stage->name; stage++)
        write_stage(file, stage, argv[3]);
    compile(device, layout, descriptors, argv[2], false, "pipeline.frag");
    write_stage(file, &plain, argv[3]);
    fclose(file);
    save(argv[3], "pipeline", "state", text, length);
    free(text);

    file = open_memstream(&text, &length);
    if (!file)
        fail("pipeline", "no memory");
    compile(device, layout, descriptors, argv[2], false, "filter.frag");
    fprintf(file, "inputs 0x%x 0x%x\n", *context_register(0x286cc), *context_register(0x286d0));
    write_stage(file, &filter, argv[3]);
    fclose(file);
    save(argv[3], "filter", "state", text, length);
    save(argv[3], "pipeline", "table", table, TABLE_BYTES);
    free(text);
    vkDestroyDevice(device, NULL);
    return 0;
}
