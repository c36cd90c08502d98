/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <dlfcn.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define F(name) PFN_vk##name vk##name;
DRIVER_FUNCTIONS(F)
#undef F

struct features features;
struct block blocks[BLOCKS];
size_t block_count, watched_size;

void *__libc_malloc(size_t size);

/* Visible to the driver. */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED void *malloc(size_t size)
{
    void *bytes = __libc_malloc(size);
    if (watched_size != 0 && size >= watched_size && bytes && block_count < sizeof blocks / sizeof *blocks) {
        memset(bytes, 0, size);
        blocks[block_count++] = (struct block){bytes, size};
    }
    return bytes;
}

void __libc_free(void *bytes);

EXPORTED void free(void *bytes)
{
    for (size_t i = 0; i < block_count && bytes; i++)
        if (blocks[i].bytes == bytes)
            blocks[i].size = 0;
    __libc_free(bytes);
}

static void missing_function(int signal_number, siginfo_t *info, void *context)
{
    (void)info;
#ifdef __x86_64__
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (registers[REG_RIP] == 0) {
        greg_t *stack = (greg_t *)registers[REG_RSP];
        registers[REG_RIP] = *stack;
        registers[REG_RSP] += 8;
        registers[REG_RAX] = 0;
        return;
    }
#else
    (void)context;
#endif
    signal(signal_number, SIG_DFL);
}

void skip(const char *why)
{
    printf("skipped: %s\n", why);
    exit(77);
}

/* The insides of the driver that this program relies on are those of Mesa 22.3; others may differ. */
static bool known_driver = true;

void fail(const char *what, const char *why)
{
    if (!known_driver) {
        printf("skipped: not Mesa 22.3, and %s: %s\n", what, why);
        exit(77);
    }
    fprintf(stderr, "RADV: %s: %s\n", what, why);
    exit(1);
}

void check(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        char text[32];
        snprintf(text, sizeof text, "VkResult %d", result);
        fail(what, text);
    }
}

static uint8_t *spirv(const char *folder, const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.spv", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path, "cannot be read");
    static uint8_t bytes[1 << 20];
    *size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return bytes;
}

void save(const char *folder, const char *name, const char *kind, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, kind);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fail(path, "cannot be written");
}

/* The driver. */

static PFN_vkGetInstanceProcAddr get;
static VkInstance instance;
static VkPhysicalDevice gpu;

VkShaderModule load_module(VkDevice device, const char *folder, const char *name)
{
    size_t size;
    const uint8_t *code = spirv(folder, name, &size);
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = size,
        .pCode = (const uint32_t *)code,
    };
    VkShaderModule module;
    check(vkCreateShaderModule(device, &info, NULL, &module), "vkCreateShaderModule");
    return module;
}

static void find_features(void)
{
    features.executables.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    features.v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    features.v13.pNext = &features.executables;
    features.v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features.v12.pNext = &features.v13;
    features.v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    features.v11.pNext = &features.v12;
    features.all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.all.pNext = &features.v11;
    vkGetPhysicalDeviceFeatures2(gpu, &features.all);
    features.subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &features.subgroups};
    vkGetPhysicalDeviceProperties2(gpu, &properties);
}

void open_driver(const char *family)
{
    glob_t found;
    if (glob("/usr/share/vulkan/icd.d/radeon_icd*.json", 0, NULL, &found) != 0)
        skip("RADV is not installed (Debian: mesa-vulkan-drivers)");
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!loader)
        skip("the Vulkan loader is not installed (Debian: libvulkan1)");
    setenv("VK_ICD_FILENAMES", found.gl_pathv[0], 1);
    setenv("VK_DRIVER_FILES", found.gl_pathv[0], 1);
    setenv("NODEVICE_SELECT", "1", 1); /* Mesa's layer that sorts devices */
    setenv("RADV_FORCE_FAMILY", family, 1);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
    globfree(&found);
    get = (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr");
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    check(create(&info, NULL, &instance), "vkCreateInstance");
#define F(name) vk##name = (PFN_vk##name)get(instance, "vk" #name);
    DRIVER_FUNCTIONS(F)
#undef F
    uint32_t count = 1;
    if (vkEnumeratePhysicalDevices(instance, &count, &gpu) < 0 || count != 1)
        skip("this RADV cannot pretend a GPU (RADV_FORCE_FAMILY)");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu, &properties);
    const uint32_t version = properties.driverVersion;
    printf("%s, Mesa %u.%u.%u\n", properties.deviceName, VK_API_VERSION_MAJOR(version),
           VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
    known_driver = VK_API_VERSION_MAJOR(version) == 22 && VK_API_VERSION_MINOR(version) == 3;
    struct sigaction action = {.sa_sigaction = missing_function, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    find_features();
}

VkDevice open_device(void)
{
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const char *extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features.all,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = &extension,
    };
    VkDevice device;
    block_count = 0;
    watched_size = CODE_BLOCK;
    check(vkCreateDevice(gpu, &info, NULL, &device), "vkCreateDevice");
    watched_size = 0;
    return device;
}

/* What the blocks contained before the pipeline was made; NULL if a block is newer. */
static uint8_t *earlier[sizeof blocks / sizeof *blocks];

void keep_contents(void)
{
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(earlier[i]);
        earlier[i] = NULL;
        if (i < block_count && blocks[i].size) {
            earlier[i] = malloc(blocks[i].size);
            if (!earlier[i])
                fail("pipeline", "no memory");
            memcpy(earlier[i], blocks[i].bytes, blocks[i].size);
        }
    }
}

const uint8_t *find_code(uint64_t offset, size_t code_size, size_t *size)
{
    enum { GRANULE = 256 }; /* of the driver's allocations; constants may end with zeros */
    const uint8_t *code = NULL;
    for (size_t i = 0; i < block_count; i++) {
        const uint8_t *bytes = blocks[i].bytes;
        size_t end = blocks[i].size;
        if (end < CODE_BLOCK || (end & (end - 1)) != 0)
            continue;
        while (end > offset && bytes[end - 1] == (earlier[i] ? earlier[i][end - 1] : 0))
            end--;
        if (end < offset + code_size)
            continue;
        if (code)
            fail("code", "it is in one of two blocks");
        code = bytes + offset;
        *size = (end - offset + GRANULE - 1) / GRANULE * GRANULE;
    }
    if (!code)
        fail("code", "its memory was not found");
    return code;
}
