/* SPDX-License-Identifier: MIT */
/* The model of GPUs for ROCm's libhsakmt. This program plays the parts of libhsakmt 7.0 (src/hsakmtmodel.c)
 * and of the runtime above it: it loads the library, lets memory appear in apertures, makes queues, writes
 * packets. */
#include <setjmp.h> /* before cmocka.h, which needs these four */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shim/model/interface.h"

#include <dlfcn.h>
#include <elf.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, RING = 64, PATH = 4000 };
#define APERTURE (UINT64_C(1) << 38) /* bytes, as libhsakmt has it */
#define WRITABLE MODEL_MEMORY_WRITABLE

/* Each GPU with another target. gfx_target_version as the kernel's driver writes it. */
static const struct {
    unsigned version;
    const char *object;
} kinds[] = {{90000, "gfx900"}, {90010, "gfx90a"}, {100300, "gfx1030"}};
enum { GPUS = sizeof kinds / sizeof *kinds };

static const struct hsakmt_model_functions *functions;
static const char *objects; /* the folder of the code objects */
static char topology[64];
static struct gpu {
    struct hsakmt_model *model;
    char *aperture;
} gpus[GPUS];

/* ---- libhsakmt's part ---- */

struct memory {
    uint64_t address; /* of the guest */
    void *host;
    size_t size;
    off_t offset;
    unsigned gpu;
};

static int backing;
static off_t backed;
static uint64_t next_address = 0x100000;

static struct memory allocate(unsigned gpu, size_t size, uint32_t flags)
{
    struct memory made = {.size = (size + PAGE - 1) / PAGE * PAGE, .offset = backed, .gpu = gpu};
    backed += (off_t)made.size;
    assert_int_equal(ftruncate(backing, backed), 0);
    made.host = mmap(NULL, made.size, PROT_READ | PROT_WRITE, MAP_SHARED, backing, made.offset);
    assert_ptr_not_equal(made.host, MAP_FAILED);
    made.address = next_address;
    next_address += made.size + PAGE;
    functions->alloced_memory(gpus[gpu].model, (void *)(uintptr_t)made.address, made.size, flags);
    return made;
}

static void map(const struct memory *memory, unsigned gpu, bool writable)
{
    assert_ptr_not_equal(mmap(gpus[gpu].aperture + memory->address, memory->size,
                              PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED | MAP_FIXED, backing,
                              memory->offset),
                         MAP_FAILED);
}

static void unmap(const struct memory *memory, unsigned gpu)
{
    assert_ptr_not_equal(mmap(gpus[gpu].aperture + memory->address, memory->size, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0),
                         MAP_FAILED);
}

static struct memory allocate_mapped(unsigned gpu, size_t size)
{
    const struct memory memory = allocate(gpu, size, WRITABLE | MODEL_MEMORY_VRAM);
    map(&memory, gpu, true);
    return memory;
}

static void release(const struct memory *memory)
{
    unmap(memory, memory->gpu);
    functions->freed_memory(gpus[memory->gpu].model, (void *)(uintptr_t)memory->address, memory->size);
    munmap(memory->host, memory->size);
}

static unsigned events[64]; /* how often each was set; atomic */

static void set_event(void *data, unsigned event)
{
    assert_ptr_equal(data, events);
    __atomic_add_fetch(&events[event], 1, __ATOMIC_SEQ_CST);
}

/* ---- the runtime's part ---- */

struct queue {
    struct memory memory; /* amd_queue_t, ring, signals, arguments */
    struct hsakmt_model_queue *queue;
    amd_queue_t *amd;
    hsa_kernel_dispatch_packet_t *ring;
    unsigned gpu;
};

/* Places in the queue's memory. */
enum {
    RING_AT = PAGE,
    SIGNALS_AT = RING_AT + 64 * RING,
    ARGUMENTS_AT = SIGNALS_AT + PAGE,
    BYTES = ARGUMENTS_AT + PAGE
};

static amd_signal_t *signal_of(const struct queue *queue, unsigned number)
{
    return (amd_signal_t *)((char *)queue->memory.host + SIGNALS_AT) + number;
}

static hsa_signal_t handle_of(const struct queue *queue, unsigned number)
{
    return (hsa_signal_t){queue->memory.address + SIGNALS_AT + number * sizeof(amd_signal_t)};
}

/* Signal 0 says that the queue is inactive. */
static struct queue new_queue(unsigned gpu)
{
    struct queue made = {.memory = allocate_mapped(gpu, BYTES), .gpu = gpu};
    made.amd = made.memory.host;
    made.ring = (void *)((char *)made.memory.host + RING_AT);
    for (unsigned i = 0; i < RING; i++)
        made.ring[i].header = HSA_PACKET_TYPE_INVALID;
    made.amd->queue_inactive_signal = handle_of(&made, 0);
    signal_of(&made, 0)->event_id = 7;
    struct hsakmt_model_queue_info info = {
        .ring_base_address = made.memory.address + RING_AT,
        .write_pointer_address = made.memory.address + offsetof(amd_queue_t, write_dispatch_id),
        .read_pointer_address = made.memory.address + offsetof(amd_queue_t, read_dispatch_id),
        .ring_size = 64 * RING,
        .queue_type = MODEL_QUEUE_AQL};
    made.queue = functions->register_queue(gpus[gpu].model, &info);
    assert_non_null(made.queue);
    return made;
}

static void end_queue(const struct queue *queue)
{
    functions->destroy_queue(gpus[queue->gpu].model, queue->queue);
    release(&queue->memory);
}

static void submit(const struct queue *queue, const void *packet)
{
    uint32_t words[16];
    const uint64_t index = __atomic_fetch_add(&queue->amd->write_dispatch_id, 1, __ATOMIC_SEQ_CST);
    while (index - __atomic_load_n(&queue->amd->read_dispatch_id, __ATOMIC_SEQ_CST) >= RING)
        ;
    uint32_t *slot = (uint32_t *)&queue->ring[index % RING];
    memcpy(words, packet, sizeof words);
    for (int i = 1; i < 16;
         i++) /* TSan does not see that the model orders producers, through another address */
        __atomic_store_n(&slot[i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(slot, words[0], __ATOMIC_RELEASE);
}

static int64_t await(const struct queue *queue, unsigned number, int64_t not_this)
{
    const amd_signal_t *signal = signal_of(queue, number);
    int64_t value;
    while ((value = __atomic_load_n(&signal->value, __ATOMIC_SEQ_CST)) == not_this)
        usleep(100);
    return value;
}

/* Until the packet processor has begun with all packets so far. */
static void await_taken(const struct queue *queue)
{
    const uint64_t last = __atomic_load_n(&queue->amd->write_dispatch_id, __ATOMIC_SEQ_CST) - 1;
    const uint16_t *header = (const uint16_t *)&queue->ring[last % RING];
    while ((__atomic_load_n(header, __ATOMIC_ACQUIRE) & 0xff) != HSA_PACKET_TYPE_INVALID)
        usleep(100);
}

static void await_word(const struct memory *memory, uint32_t value)
{
    while (__atomic_load_n((const uint32_t *)memory->host, __ATOMIC_SEQ_CST) != value)
        usleep(100);
}

static void await_event(unsigned event, unsigned count)
{
    while (__atomic_load_n(&events[event], __ATOMIC_SEQ_CST) != count)
        usleep(100);
}

/* A code object in guest memory: its segments as they are, as it has no relocations. */
struct code {
    struct memory memory;
    char bytes[1 << 15];
};

static struct code load(unsigned gpu, const char *target)
{
    struct code made;
    char path[PATH];
    snprintf(path, sizeof path, "%s/model-%s.co", objects, target);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(made.bytes, 1, sizeof made.bytes, file) > sizeof(Elf64_Ehdr));
    fclose(file);
    const Elf64_Ehdr *header = (const void *)made.bytes;
    const Elf64_Phdr *segments = (const void *)(made.bytes + header->e_phoff);
    made.memory = allocate_mapped(gpu, 4 * PAGE + 0x4000);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD) {
            assert_true(segments[i].p_vaddr + segments[i].p_memsz <= made.memory.size);
            memcpy((char *)made.memory.host + segments[i].p_vaddr, made.bytes + segments[i].p_offset,
                   segments[i].p_filesz);
        }
    return made;
}

static uint64_t find(const struct code *code, const char *name)
{
    const Elf64_Ehdr *header = (const void *)code->bytes;
    const Elf64_Shdr *sections = (const void *)(code->bytes + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        const Elf64_Sym *symbols = (const void *)(code->bytes + sections[i].sh_offset);
        const char *names = code->bytes + sections[sections[i].sh_link].sh_offset;
        if (sections[i].sh_type == SHT_DYNSYM)
            for (uint64_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
                if (!strcmp(names + symbols[k].st_name, name))
                    return code->memory.address + symbols[k].st_value;
    }
    fail();
    return 0;
}

/* Launches a kernel of 64-lane workgroups; signal 1 completes. */
static void launch(const struct queue *queue, uint64_t kernel, uint64_t in, uint64_t out, uint32_t number,
                   uint32_t grid)
{
    const uint64_t arguments[3] = {in, out, number};
    memcpy((char *)queue->memory.host + ARGUMENTS_AT, arguments, sizeof arguments);
    signal_of(queue, 1)->value = 1;
    signal_of(queue, 1)->event_id = 3;
    const hsa_kernel_dispatch_packet_t packet = {
        .header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = grid,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = kernel,
        .kernarg_address = (void *)(uintptr_t)(queue->memory.address + ARGUMENTS_AT),
        .completion_signal = handle_of(queue, 1)};
    submit(queue, &packet);
}

/* ---- tests ---- */

static void write_file(unsigned node, const char *name, const char *format, unsigned value)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/nodes/%u", topology, node);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/nodes/%u/%s", topology, node, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, format, value);
    fclose(file);
}

/* Node 0 is the CPU. */
static int set_up(void **state)
{
    char path[PATH];
    (void)state;
    backing = memfd_create("memory", MFD_CLOEXEC);
    strcpy(topology, "/tmp/wavemem-topology-XXXXXX");
    if (backing < 0 || !mkdtemp(topology))
        return 1;
    snprintf(path, sizeof path, "%s/nodes", topology);
    mkdir(path, 0700);
    write_file(0, "gpu_id", "%u\n", 0);
    for (unsigned i = 0; i < GPUS; i++) {
        write_file(i + 1, "gpu_id", "%u\n", i + 2);
        write_file(i + 1, "properties", "cpu_cores_count 0\nsimd_count 256\ngfx_target_version %u\n",
                   kinds[i].version);
    }
    return 0;
}

static int clean_up(void **state)
{
    char command[PATH];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", topology);
    return system(command);
}

/* Each is refused with a message, and the next attempt is free. */
static void test_wrong_topologies(void **state)
{
    (void)state;
    assert_int_equal(functions->version_major, 0);
    assert_int_equal(functions->version_minor, 4);
    unsetenv("HSA_MODEL_TOPOLOGY");
    assert_null(functions->create());
    setenv("HSA_MODEL_TOPOLOGY", "/tmp/there-is-no-such-folder", 1);
    assert_null(functions->create());
    setenv("HSA_MODEL_TOPOLOGY", topology, 1);
    static const char *const wrong[] = {"",
                                        "gfx_target_version\n",
                                        "gfx_target_version x\n",
                                        "gfx_target_version 0\n",
                                        "gfx_target_version 990101\n",
                                        "gfx_target_version 99999999999999999999\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file(1, "properties", wrong[i], 0);
        assert_null(functions->create());
    }
    write_file(1, "properties", "gfx_target_version %u\n", kinds[0].version);
    setenv("WAVEMEM_GPU", "voodoo2", 1);
    assert_null(functions->create());
    setenv("WAVEMEM_GPU", "rx6800,mi210,rx6800", 1); /* the topology says gfx900 first */
    assert_null(functions->create());
    unsetenv("WAVEMEM_GPU");
}

static void test_create(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GPUS; i++) {
        gpus[i].model = functions->create();
        assert_non_null(gpus[i].model);
        gpus[i].aperture =
            mmap(NULL, APERTURE, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(gpus[i].aperture, MAP_FAILED);
        functions->set_global_aperture(gpus[i].model, gpus[i].aperture, APERTURE);
        functions->set_set_event(gpus[i].model, set_event, events);
    }
    assert_null(functions->create()); /* the topology has no more */
}

static void check_scale(const struct queue *queue, const struct code *code, uint32_t number)
{
    enum { N = 1000 };
    const struct memory in = allocate_mapped(queue->gpu, 4 * N), out = allocate_mapped(queue->gpu, 4 * N);
    uint32_t *from = in.host;
    const uint32_t *to = out.host;
    for (uint32_t i = 0; i < N; i++)
        from[i] = i * 2654435761u;
    launch(queue, find(code, "scale.kd"), in.address, out.address, number, N);
    assert_int_equal(await(queue, 1, 1), 0);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(to[i], (i * 2654435761u * number) ^ i);
    release(&in);
    release(&out);
}

/* Kernels of three targets in one process; queues at the same time. */
static void test_kernels(void **state)
{
    (void)state;
    struct queue queues[GPUS];
    for (unsigned i = 0; i < GPUS; i++)
        queues[i] = new_queue(i);
    for (unsigned i = 0; i < GPUS; i++) {
        const unsigned before = __atomic_load_n(&events[3], __ATOMIC_SEQ_CST);
        const struct code code = load(i, kinds[i].object);
        for (uint32_t number = 1; number < 4; number++)
            check_scale(&queues[i], &code, number);
        await_event(3, before + 3);
        const amd_signal_t *done = signal_of(&queues[i], 1);
        assert_true(done->start_ts && done->start_ts < done->end_ts);
        const struct memory out = allocate_mapped(i, 256);
        launch(&queues[i], find(&code, "aperture.kd"), 0, out.address, 0, 64);
        assert_int_equal(await(&queues[i], 1, 1), 0);
        assert_int_equal(*(uint32_t *)out.host, 0x40000000);
        await_event(3, before + 4); /* it comes behind the signal's value; the next GPU counts from there */
        release(&out);
        release(&code.memory);
    }
    for (unsigned i = 0; i < GPUS; i++)
        end_queue(&queues[i]);
}

/* Code may change where it is: another code object at the same address. */
static void test_code_again(void **state)
{
    (void)state;
    const struct queue queue = new_queue(0);
    const struct code code = load(0, "gfx900");
    const struct memory out = allocate_mapped(0, 256);
    const uint64_t kernel = find(&code, "scale.kd");
    check_scale(&queue, &code, 5);
    int64_t entry[2]; /* from the descriptor to the code */
    memcpy(&entry[0], (char *)code.memory.host + (kernel - code.memory.address) + 16, 8);
    const uint64_t other = find(&code, "aperture.kd");
    memcpy(&entry[1], (char *)code.memory.host + (other - code.memory.address) + 16, 8);
    memcpy((char *)code.memory.host + (kernel + (uint64_t)entry[0] - code.memory.address),
           (char *)code.memory.host + (other + (uint64_t)entry[1] - code.memory.address), 64);
    launch(&queue, kernel, 0, out.address, 0, 64);
    assert_int_equal(await(&queue, 1, 1), 0);
    assert_int_equal(*(uint32_t *)out.host, 0x40000000);
    release(&out);
    release(&code.memory);
    end_queue(&queue);
}

/* A kernel that waits for the host; a barrier behind it; one of another queue that waits for both. */
static void test_waiting(void **state)
{
    (void)state;
    const struct queue first = new_queue(0), second = new_queue(0);
    const struct code code = load(0, "gfx900");
    const struct memory in = allocate_mapped(0, 256), out = allocate_mapped(0, 256);
    launch(&first, find(&code, "poll.kd"), in.address, out.address, 1, 64);
    signal_of(&first, 2)->value = 1;
    signal_of(&second, 2)->value = 1;
    const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                              .completion_signal = handle_of(&first, 2)},
                                   other = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                            .dep_signal = {handle_of(&first, 1), handle_of(&first, 2)},
                                            .completion_signal = handle_of(&second, 2)};
    submit(&first, &barrier);
    submit(&second, &other);
    await_word(&out, 1);
    await_taken(&second);
    assert_int_equal(signal_of(&first, 1)->value, 1);
    assert_int_equal(signal_of(&second, 2)->value, 1);
    __atomic_store_n((uint32_t *)in.host, 9, __ATOMIC_SEQ_CST);
    assert_int_equal(await(&second, 2, 1), 0);
    assert_int_equal(signal_of(&first, 1)->value, 0);
    assert_int_equal(*(uint32_t *)out.host, 9);
    /* one that never ends is stopped with its queue */
    *(uint32_t *)in.host = 0;
    launch(&first, find(&code, "poll.kd"), in.address, out.address, 2, 64);
    await_word(&out, 2);
    end_queue(&first);
    end_queue(&second);
    release(&in);
    release(&out);
    release(&code.memory);
}

enum { PRODUCERS = 3, PACKETS = 300 };

static void *produce(void *argument)
{
    const struct queue *queue = argument;
    const hsa_barrier_and_packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND,
                                              .completion_signal = handle_of(queue, 1)};
    for (int i = 0; i < PACKETS; i++)
        submit(queue, &barrier);
    return NULL;
}

/* More packets than the ring has, from several threads. */
static void test_producers(void **state)
{
    (void)state;
    struct queue queue = new_queue(1);
    pthread_t threads[PRODUCERS];
    signal_of(&queue, 1)->value = PRODUCERS * PACKETS;
    for (int i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, &queue), 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    while (__atomic_load_n(&signal_of(&queue, 1)->value, __ATOMIC_SEQ_CST))
        usleep(100);
    end_queue(&queue);
}

/* Runs a kernel that must fail: the queue's signal says how, as a runtime expects it, then the packet's. */
static void expect_fault(unsigned gpu, uint64_t in, uint64_t out, int64_t bits)
{
    const struct queue queue = new_queue(gpu);
    const struct code code = load(gpu, kinds[gpu].object);
    const unsigned before = __atomic_load_n(&events[7], __ATOMIC_SEQ_CST);
    launch(&queue, find(&code, "scale.kd"), in, out, 1, 64);
    assert_int_equal(await(&queue, 0, 0), bits);
    assert_int_equal(signal_of(&queue, 1)->value, 1);
    while (__atomic_load_n(&events[7], __ATOMIC_SEQ_CST) == before)
        usleep(100);
    __atomic_store_n(&signal_of(&queue, 0)->value, -1, __ATOMIC_SEQ_CST); /* "the program was told" */
    assert_int_equal(await(&queue, 1, 1), -1);
    end_queue(&queue);
    release(&code.memory);
}

/* A GPU sees what is mapped to it, as long as it is. */
static void test_mappings(void **state)
{
    (void)state;
    enum { VIOLATION = 0x20000000 };
    const struct memory in = allocate_mapped(0, 256), out = allocate_mapped(0, 256);
    const struct memory constant = allocate(0, 256, MODEL_MEMORY_VRAM);
    const struct queue queue = new_queue(1);
    const struct code code = load(1, kinds[1].object);
    *(uint32_t *)in.host = 6;
    expect_fault(1, in.address, out.address, VIOLATION);
    map(&in, 1, true);
    map(&out, 1, true);
    launch(&queue, find(&code, "scale.kd"), in.address, out.address, 7, 64);
    assert_int_equal(await(&queue, 1, 1), 0);
    assert_int_equal(*(uint32_t *)out.host, 42);
    unmap(&out, 1);
    expect_fault(1, in.address, out.address, VIOLATION);
    unmap(&in, 1);
    map(&constant, 0, false);
    expect_fault(0, in.address, constant.address, VIOLATION);
    expect_fault(0, in.address, APERTURE - PAGE, VIOLATION);
    expect_fault(0, in.address, UINT64_C(1) << 50, VIOLATION);
    release(&in);
    release(&out);
    release(&constant);
    end_queue(&queue);
    release(&code.memory);
}

/* What is wrong with the packet is told, too. */
static void test_wrong_packets(void **state)
{
    (void)state;
    const hsa_barrier_and_packet_t wrong[] = {
        {.header = 77},
        {.header = HSA_PACKET_TYPE_BARRIER_AND, .dep_signal = {{0x1001}}},
        {.header = HSA_PACKET_TYPE_BARRIER_OR, .dep_signal = {{0}, {UINT64_MAX - 63}}},
        {.header = HSA_PACKET_TYPE_KERNEL_DISPATCH}, /* 0 dimensions */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct queue queue = new_queue(2);
        submit(&queue, &wrong[i]);
        assert_int_equal(await(&queue, 0, 0), 32);
        __atomic_store_n(&signal_of(&queue, 0)->value, -1, __ATOMIC_SEQ_CST);
        end_queue(&queue);
    }
}

/* Ends the process: the interface has no errors. */
static void expect_abort(void (*act)(void))
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGABRT, SIG_DFL);
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void register_sdma(void)
{
    functions->register_queue(gpus[0].model,
                              &(struct hsakmt_model_queue_info){.queue_type = MODEL_QUEUE_SDMA});
}

static void register_nowhere(void)
{
    functions->register_queue(
        gpus[0].model, &(struct hsakmt_model_queue_info){
                           .ring_base_address = 0x10, .ring_size = 64 * RING, .queue_type = MODEL_QUEUE_AQL});
}

static void register_odd(void)
{
    functions->register_queue(
        gpus[0].model, &(struct hsakmt_model_queue_info){.ring_size = 3 * 64, .queue_type = MODEL_QUEUE_AQL});
}

static void test_refused(void **state)
{
    (void)state;
    expect_abort(register_sdma);
    expect_abort(register_nowhere);
    expect_abort(register_odd);
    functions->freed_memory(gpus[0].model, (void *)0x123000, PAGE); /* a message */
}

/* model LIBRARY FOLDER */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_topologies), cmocka_unit_test(test_create),
        cmocka_unit_test(test_kernels),          cmocka_unit_test(test_code_again),
        cmocka_unit_test(test_waiting),          cmocka_unit_test(test_producers),
        cmocka_unit_test(test_mappings),         cmocka_unit_test(test_wrong_packets),
        cmocka_unit_test(test_refused),
    };
    const struct hsakmt_model_functions *(*get)(void);
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: model LIBRARY FOLDER");
        return 2;
    }
    *(void **)&get = dlsym(library, "get_hsakmt_model_functions");
    functions = get ? get() : NULL;
    objects = argv[2];
    return functions ? cmocka_run_group_tests(tests, set_up, clean_up) : 2;
}
