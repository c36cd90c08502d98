/* SPDX-License-Identifier: MIT */
/* The simulated kernel driver, request by request: buffers, addresses, syncobjs, packets that drivers write,
 * and packets that nobody should write. */
#include "shim/drm/naming.h"

#include <amdgpu_drm.h>
#include <xf86drm.h>

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { PAGE = 4096 };

static int file;
static uint32_t context;
static uint32_t ring_type = AMDGPU_HW_IP_COMPUTE;

/* A buffer that is mapped on both sides. */
struct buffer {
    uint32_t handle;
    uint64_t address;
    uint32_t *words;
};

static int request(unsigned long code, void *arguments)
{
    return ioctl(file, code, arguments) ? -errno : 0;
}

static int change(uint32_t handle, uint32_t operation, uint64_t address, uint64_t size, uint64_t offset,
                  uint32_t flags)
{
    struct drm_amdgpu_gem_va va = {.handle = handle,
                                   .operation = operation,
                                   .flags =
                                       flags ? flags : AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE,
                                   .va_address = address,
                                   .map_size = size,
                                   .offset_in_bo = offset};
    return request(DRM_IOCTL_AMDGPU_GEM_VA, &va);
}

static struct buffer make(uint64_t size, uint64_t address)
{
    union drm_amdgpu_gem_create create = {.in = {.bo_size = size, .domains = AMDGPU_GEM_DOMAIN_VRAM}};
    assert_int_equal(request(DRM_IOCTL_AMDGPU_GEM_CREATE, &create), 0);
    union drm_amdgpu_gem_mmap where = {.in = {.handle = create.out.handle}};
    assert_int_equal(request(DRM_IOCTL_AMDGPU_GEM_MMAP, &where), 0);
    struct buffer b = {create.out.handle, address, NULL};
    b.words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)where.out.addr_ptr);
    assert_ptr_not_equal(b.words, MAP_FAILED);
    assert_int_equal(change(b.handle, AMDGPU_VA_OP_MAP, address, size, 0, 0), 0);
    return b;
}

static void close_buffer(struct buffer *b, uint64_t size)
{
    struct drm_gem_close gone = {.handle = b->handle};
    munmap(b->words, size);
    assert_int_equal(request(DRM_IOCTL_GEM_CLOSE, &gone), 0);
}

static uint32_t make_context(void)
{
    union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_ALLOC_CTX}};
    assert_int_equal(request(DRM_IOCTL_AMDGPU_CTX, &ctx), 0);
    return ctx.out.alloc.ctx_id;
}

static void free_context(uint32_t id)
{
    union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_FREE_CTX, .ctx_id = id}};
    assert_int_equal(request(DRM_IOCTL_AMDGPU_CTX, &ctx), 0);
}

static bool is_lost(uint32_t id)
{
    union drm_amdgpu_ctx ctx = {.in = {.op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = id}};
    assert_int_equal(request(DRM_IOCTL_AMDGPU_CTX, &ctx), 0);
    return ctx.out.state.flags & AMDGPU_CTX_QUERY2_FLAGS_RESET;
}

/* Submits `bytes` at an address to the compute ring of a context. Returns the number, or -errno. */
static int64_t submit_to(uint32_t id, uint64_t address, uint32_t bytes, uint32_t wait, uint32_t signal)
{
    struct drm_amdgpu_cs_chunk_ib ib = {.va_start = address, .ib_bytes = bytes, .ip_type = ring_type};
    struct drm_amdgpu_cs_chunk_sem in = {wait}, out = {signal};
    struct drm_amdgpu_cs_chunk chunks[3] = {{AMDGPU_CHUNK_ID_IB, sizeof ib / 4, (uintptr_t)&ib}};
    uint64_t pointers[3] = {(uintptr_t)&chunks[0], (uintptr_t)&chunks[1], (uintptr_t)&chunks[2]};
    uint32_t count = 1;
    if (wait)
        chunks[count++] = (struct drm_amdgpu_cs_chunk){AMDGPU_CHUNK_ID_SYNCOBJ_IN, 1, (uintptr_t)&in};
    if (signal)
        chunks[count++] = (struct drm_amdgpu_cs_chunk){AMDGPU_CHUNK_ID_SYNCOBJ_OUT, 1, (uintptr_t)&out};
    union drm_amdgpu_cs cs = {.in = {.ctx_id = id, .num_chunks = count, .chunks = (uintptr_t)pointers}};
    const int result = request(DRM_IOCTL_AMDGPU_CS, &cs);
    return result ? result : (int64_t)cs.out.handle;
}

static void await_number(uint32_t id, int64_t number)
{
    union drm_amdgpu_wait_cs wait = {
        .in = {.handle = (uint64_t)number, .timeout = INT64_MAX, .ip_type = ring_type, .ctx_id = id}};
    assert_true(number > 0);
    assert_int_equal(request(DRM_IOCTL_AMDGPU_WAIT_CS, &wait), 0);
    assert_int_equal(wait.out.status, 0);
}

/* ---- packets ---- */

static struct buffer commands; /* 64 KiB */
static uint32_t used;          /* dwords */

static void begin(void)
{
    used = 0;
}

static void put(uint32_t word)
{
    commands.words[used++] = word;
}

static void packet(unsigned code, unsigned count, const uint32_t *body)
{
    put(3u << 30 | (count - 1) << 16 | code << 8 | 2);
    for (unsigned i = 0; i < count; i++)
        put(body[i]);
}

#define PACKET(code, ...) packet(code, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})
#define LOW(address)      ((uint32_t)(address))
#define HIGH(address)     ((uint32_t)((uint64_t)(address) >> 32))

/* Whether the ring executed all of it. */
static bool run(void)
{
    const int64_t number = submit_to(context, commands.address, 4 * used, 0, 0);
    await_number(context, number);
    if (!is_lost(context))
        return true;
    free_context(context);
    context = make_context();
    return false;
}

#define DATA UINT64_C(0x100000)
static struct buffer data; /* 16 pages */

static int set_up(void **state)
{
    (void)state;
    setenv("WAVEMEM_GPU", "gfx900", 1);
    file = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    context = make_context();
    commands = make(16 * PAGE, 0x800000);
    data = make(16 * PAGE, DATA);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    memset(data.words, 0, 16 * PAGE);
    begin();
    return 0;
}

/* ---- discovery ---- */

static void test_device(void **state)
{
    char name[16] = "";
    struct drm_version v = {.name_len = sizeof name, .name = name};
    struct drm_amdgpu_info_device device = {0};
    struct drm_amdgpu_info info = {
        .return_pointer = (uintptr_t)&device, .return_size = sizeof device, .query = AMDGPU_INFO_DEV_INFO};
    (void)state;
    /* Also makes linkers keep the library where a sanitizer's runtime has functions of the other names. */
    assert_int_equal(drmGetDevices2(0, NULL, 0), 1);
    assert_int_equal(request(DRM_IOCTL_VERSION, &v), 0);
    assert_string_equal(name, "amdgpu");
    assert_int_equal(request(DRM_IOCTL_AMDGPU_INFO, &info), 0);
    assert_int_equal(device.family, AMDGPU_FAMILY_AI); /* linux, amdgpu_drm.h: Vega10 */
    assert_int_equal(device.cu_active_number, 64);     /* AMD: RX Vega 64 */
    info.query = 0x1234;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_INFO, &info), -EINVAL);
    info.query = AMDGPU_INFO_DEV_INFO;
    info.return_pointer = 0;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_INFO, &info), -EINVAL);
    assert_int_equal(open("/dev/dri/renderD129", O_RDWR), -1); /* there is one GPU */
    assert_int_equal(errno, ENOENT);
}

/* ---- memory ---- */

static void test_addresses(void **state)
{
    struct buffer b = make(4 * PAGE, 0x400000);
    (void)state;
    assert_int_equal(change(b.handle, AMDGPU_VA_OP_MAP, 0x401000, PAGE, 0, 0), -EINVAL); /* taken */
    assert_int_equal(change(b.handle, AMDGPU_VA_OP_MAP, 0x500000, 8 * PAGE, 0, 0),
                     -EINVAL); /* more than it has */
    assert_int_equal(change(b.handle, AMDGPU_VA_OP_MAP, 0x500001, PAGE, 0, 0), -EINVAL);
    assert_int_equal(change(b.handle, AMDGPU_VA_OP_MAP, UINT64_MAX - PAGE + 1, PAGE, 0, 0), -EINVAL);
    assert_int_equal(change(77777, AMDGPU_VA_OP_MAP, 0x500000, PAGE, 0, 0), -ENOENT);
    assert_int_equal(change(b.handle, AMDGPU_VA_OP_UNMAP, 0x500000, PAGE, 0, 0), -ENOENT);
    /* Page 1 becomes page 3, and the others stay. */
    assert_int_equal(change(b.handle, AMDGPU_VA_OP_REPLACE, 0x401000, PAGE, 3 * PAGE, 0), 0);
    for (uint32_t i = 0; i < 4; i++)
        b.words[i * PAGE / 4] = 100 + i;
    for (uint32_t i = 0; i < 4; i++)
        PACKET(0x40, 1 | 5 << 8, LOW(0x400000 + i * PAGE), 0, LOW(DATA + 4 * i), 0);
    assert_true(run());
    assert_int_equal(data.words[0], 100);
    assert_int_equal(data.words[1], 103);
    assert_int_equal(data.words[2], 102);
    assert_int_equal(data.words[3], 103);
    /* Page 2 is mapped no more. */
    assert_int_equal(change(0, AMDGPU_VA_OP_CLEAR, 0x402000, PAGE, 0, 0), 0);
    begin();
    PACKET(0x40, 1 | 5 << 8, LOW(0x403000), 0, LOW(DATA), 0);
    assert_true(run());
    assert_int_equal(data.words[0], 103);
    begin();
    PACKET(0x40, 1 | 5 << 8, LOW(0x402000), 0, LOW(DATA), 0);
    assert_false(run());
    close_buffer(&b, 4 * PAGE);
}

/* Files keep buffers, whose handles may be closed, and are known by their size alone. */
static void test_files_of_buffers(void **state)
{
    struct buffer b = make(2 * PAGE, 0x600000);
    struct drm_prime_handle prime = {.handle = b.handle, .fd = -1};
    const uint32_t handle = b.handle;
    (void)state;
    b.words[PAGE / 4] = 77;
    assert_int_equal(request(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
    assert_int_equal(lseek(prime.fd, 0, SEEK_END), 2 * PAGE);
    assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, prime.fd, 0), MAP_FAILED);
    prime.handle = 0;
    assert_int_equal(request(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
    assert_int_equal(prime.handle, handle);
    close_buffer(&b, 2 * PAGE);
    assert_int_equal(change(handle, AMDGPU_VA_OP_MAP, 0x600000, PAGE, 0, 0), -ENOENT);
    struct buffer other = make(2 * PAGE, 0x700000); /* neither the handle nor the memory */
    assert_int_not_equal(other.handle, handle);
    assert_int_equal(request(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
    assert_int_equal(change(prime.handle, AMDGPU_VA_OP_MAP, 0x600000, 2 * PAGE, 0, 0), 0);
    PACKET(0x40, 1 | 5 << 8, LOW(0x601000), 0, LOW(DATA), 0);
    assert_true(run());
    assert_int_equal(data.words[0], 77);
    struct drm_gem_close gone = {.handle = prime.handle};
    assert_int_equal(request(DRM_IOCTL_GEM_CLOSE, &gone), 0);
    close(prime.fd);
    prime.fd = file; /* of the device */
    assert_int_equal(request(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), -EINVAL);
    prime.handle = 77777;
    assert_int_equal(request(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), -ENOENT);
    prime.handle = other.handle; /* the end of the first file is noticed now */
    assert_int_equal(request(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
    close(prime.fd);
    close_buffer(&other, 2 * PAGE);
}

/* What a submission uses may be unmapped and freed right behind it. */
static void test_free_behind_submission(void **state)
{
    enum { SIZE = 4 * PAGE };
    struct buffer b = make(SIZE, 0x600000);
    (void)state;
    memset(b.words, 0x5a, SIZE);
    PACKET(0x3c, 3 | 1 << 4, LOW(DATA), 0, 1, UINT32_MAX, 4); /* wait for a 1 */
    PACKET(0x40, 1 | 5 << 8, LOW(b.address), 0, LOW(DATA + 4), 0);
    const int64_t number = submit_to(context, commands.address, 4 * used, 0, 0);
    close_buffer(&b, SIZE);
    struct buffer other = make(SIZE, 0x700000); /* not the same memory */
    memset(other.words, 0x11, SIZE);
    __atomic_store_n(&data.words[0], 1, __ATOMIC_RELEASE);
    await_number(context, number);
    assert_int_equal(data.words[1], 0x5a5a5a5a);
    close_buffer(&other, SIZE);
    b = make(SIZE, 0x600000); /* the addresses are free again */
    close_buffer(&b, SIZE);
}

/* Addresses may be mapped anew while a job that waits for the program still has what was there before; each
 * job has the buffer that was mapped when it was submitted. */
static void test_map_behind_submission(void **state)
{
    enum { BUFFERS = 3, ADDRESS = 0x600000 };
    int64_t number = 0;
    (void)state;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        struct buffer b = make(PAGE, ADDRESS); /* does not wait */
        b.words[0] = 100 + i;
        const uint32_t from = used;
        PACKET(0x3c, 3 | 1 << 4, LOW(DATA), 0, 1, UINT32_MAX, 4); /* wait for a 1 */
        PACKET(0x40, 1 | 5 << 8, LOW(ADDRESS), 0, LOW(DATA + 4 + 4 * i), 0);
        number = submit_to(context, commands.address + 4 * from, 4 * (used - from), 0, 0);
        close_buffer(&b, PAGE);
    }
    struct buffer unused = make(PAGE, ADDRESS); /* which no job sees */
    close_buffer(&unused, PAGE);
    __atomic_store_n(&data.words[0], 1, __ATOMIC_RELEASE);
    await_number(context, number);
    for (uint32_t i = 0; i < BUFFERS; i++)
        assert_int_equal(data.words[1 + i], 100 + i);
    begin();
    PACKET(0x40, 1 | 5 << 8, LOW(ADDRESS), 0, LOW(DATA), 0);
    assert_false(run());
}

static void test_capacity(void **state)
{
    union drm_amdgpu_gem_create create = {
        .in = {.bo_size = UINT64_C(9) << 30, .domains = AMDGPU_GEM_DOMAIN_VRAM}};
    (void)state;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_GEM_CREATE, &create), -ENOMEM); /* of 8 GiB */
    create.in.bo_size = 0;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_GEM_CREATE, &create), -EINVAL);
    create.in.bo_size = UINT64_MAX;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_GEM_CREATE, &create), -EINVAL);
}

/* ---- packets ---- */

static void test_data(void **state)
{
    (void)state;
    PACKET(0x37, 5 << 8, LOW(DATA), HIGH(DATA), 1, 2, 3);             /* WRITE_DATA */
    PACKET(0x40, 5 | 5 << 8 | 1 << 16, 7, 8, LOW(DATA + 16), 0);      /* COPY_DATA of 64 bits */
    PACKET(0x50, 2u << 29, 0xabcdabcd, 0, LOW(DATA + 64), 0, 32);     /* DMA_DATA: fill */
    PACKET(0x50, 0, LOW(DATA), 0, LOW(DATA + 128), 0, 12);            /* copy */
    PACKET(0x49, 0x528, 2u << 29, LOW(DATA + 200), 0, 0x11, 0x22, 0); /* RELEASE_MEM */
    put(2u << 30);                                                    /* filler */
    put(0xffff1000);
    PACKET(0x49, 0x528, 3u << 29, LOW(DATA + 208), 0, 0, 0, 0); /* the time */
    assert_true(run());
    assert_memory_equal(data.words, ((uint32_t[]){1, 2, 3, 0, 7, 8}), 24);
    for (int i = 0; i < 8; i++)
        assert_int_equal(data.words[16 + i], 0xabcdabcd);
    assert_int_equal(data.words[24], 0);
    assert_memory_equal(&data.words[32], ((uint32_t[]){1, 2, 3, 0}), 16);
    assert_memory_equal(&data.words[50], ((uint32_t[]){0x11, 0x22}), 8);
    assert_true(data.words[52] || data.words[53]);
}

static void atomic(uint32_t operation, uint64_t at, uint64_t value, uint64_t compare)
{
    PACKET(0x1e, operation, LOW(at), HIGH(at), LOW(value), HIGH(value), LOW(compare), HIGH(compare), 0x10);
}

/* ATOMIC_MEM: numbers of linux's TC_OP; +32: 64 bits, +64: without a result. */
static void test_atomics(void **state)
{
    static const struct {
        uint32_t operation;
        int32_t before, data, after;
    } cases[] = {
        {7, 5, 9, 9},     {15, 5, 9, 14},  {16, 5, 9, -4},  {17, -5, 9, -5},  {18, -5, 9, 9},
        {19, -5, 9, 9},   {20, -5, 9, -5}, {21, 12, 10, 8}, {22, 12, 10, 14}, {23, 12, 10, 6},
        {24, 9, 10, 10},  {24, 10, 10, 0}, {24, -1, 10, 0}, {25, 9, 10, 8},   {25, 0, 10, 10},
        {25, 11, 10, 10}, {79, 5, 9, 14},  {15, -1, 1, 0},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    int64_t *wide = (int64_t *)(data.words + 512);
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        data.words[4 * i] = (uint32_t)cases[i].before;
        wide[i] = cases[i].before;
        atomic(cases[i].operation, DATA + 16 * i, (uint32_t)cases[i].data, 0);
        atomic(cases[i].operation + 32, DATA + 2048 + 8 * i, (uint64_t)(int64_t)cases[i].data, 0);
    }
    atomic(8, DATA + 1024, 7, 1); /* compare and swap: not, and that */
    atomic(8, DATA + 1028, 7, 0);
    assert_true(run());
    for (uint32_t i = 0; i < CASES; i++) {
        assert_int_equal((int32_t)data.words[4 * i], cases[i].after);
        assert_int_equal(data.words[4 * i + 1], 0);
        assert_true(wide[i] == cases[i].after);
    }
    assert_int_equal(data.words[256], 0);
    assert_int_equal(data.words[257], 7);
    /* Waits until it can swap. */
    begin();
    atomic(8 | 1 << 8, DATA + 1024, 7, 3);
    const int64_t number = submit_to(context, commands.address, 4 * used, 0, 0);
    __atomic_store_n(&data.words[256], 3, __ATOMIC_RELEASE);
    await_number(context, number);
    assert_int_equal(data.words[256], 7);
    static const uint32_t wrong[] = {1, 9, 14, 26, 0, 7 | 1 << 8, 15 | 2 << 8, 15 | 128};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin();
        atomic(wrong[i], DATA, 1, 0);
        assert_false(run());
    }
    begin();
    atomic(15 + 32, DATA + 4, 1, 0); /* not aligned */
    assert_false(run());
}

static void test_conditions(void **state)
{
    (void)state;
    data.words[0] = 0;
    data.words[1] = 1;
    PACKET(0x22, LOW(DATA), 0, 0, 5); /* COND_EXEC: the next 5 dwords only if it is not 0 */
    PACKET(0x37, 5 << 8, LOW(DATA + 16), 0, 1);
    PACKET(0x22, LOW(DATA + 4), 0, 0, 5);
    PACKET(0x37, 5 << 8, LOW(DATA + 20), 0, 1);
    data.words[8] = 0;
    PACKET(0x20, 4 << 16 | 1 << 8, LOW(DATA + 32), 0); /* SET_PREDICATION: run if not 0 */
    PACKET(0x37, 5 << 8, LOW(DATA + 24), 0, 1);
    commands.words[used - 5] |= 1; /* predicated */
    PACKET(0x20, 0, 0, 0);
    PACKET(0x37, 5 << 8, LOW(DATA + 28), 0, 1);
    assert_true(run());
    assert_memory_equal(&data.words[4], ((uint32_t[]){0, 1, 0, 1}), 16);
}

static void test_buffers_of_commands(void **state)
{
    const uint64_t other = commands.address + 8 * PAGE;
    (void)state;
    used = 8 * PAGE / 4;
    PACKET(0x37, 5 << 8, LOW(DATA + 4), 0, 2);
    const uint32_t bytes = 4 * used - 8 * PAGE;
    begin();
    PACKET(0x3f, LOW(other), 0, bytes / 4 | 1 << 23); /* a call */
    PACKET(0x37, 5 << 8, LOW(DATA), 0, 1);
    assert_true(run());
    assert_memory_equal(data.words, ((uint32_t[]){1, 2}), 8);
    clean(NULL);
    PACKET(0x3f, LOW(other), 0, bytes / 4 | 1 << 20); /* a jump */
    PACKET(0x37, 5 << 8, LOW(DATA), 0, 1);
    assert_true(run());
    assert_memory_equal(data.words, ((uint32_t[]){0, 2}), 8);
}

/* What is said on stderr from here on ... */
static int heard_before;
static FILE *heard;

static void begin_listening(void)
{
    heard = tmpfile();
    heard_before = dup(2);
    dup2(fileno(heard), 2);
}

/* ... up to here. */
static void end_listening(char *text, size_t size)
{
    dup2(heard_before, 2);
    close(heard_before);
    rewind(heard);
    text[fread(text, 1, size - 1, heard)] = 0;
    fclose(heard);
}

/* A store and the end, by hand, for gfx900: v_mov_b32 v0, 7; v_mov_b32 v1, s0; v_mov_b32 v2, s1;
 * global_store_dword v[1:2], v0, off; s_endpgm (LLVM's words). */
static void test_dispatch(void **state)
{
    static const uint32_t code[] = {0x7e000287, 0x7e020200, 0x7e040201, 0xdc708000, 0x007f0001, 0xbf810000};
    const uint64_t at = commands.address + 12 * PAGE, to = DATA + 256;
    (void)state;
    memcpy((char *)commands.words + 12 * PAGE, code, sizeof code);
    PACKET(0x76, 0x20c, LOW(at >> 8), HIGH(at) >> 8); /* COMPUTE_PGM */
    PACKET(0x76, 0x212, 0xc0000, 2 << 1);             /* RSRC1, RSRC2: two user SGPRs */
    PACKET(0x76, 0x207, 1, 1, 1);                     /* one work-item */
    PACKET(0x76, 0x240, LOW(to), HIGH(to));
    PACKET(0x15, 1, 1, 1, 5);
    assert_true(run());
    assert_int_equal(data.words[64], 7);
    begin();
    PACKET(0x76, 0x240, LOW(to), HIGH(to));
    PACKET(0x15, 0, 1, 1, 5); /* no workgroups */
    assert_true(run());
    begin();
    PACKET(0x76, 0x240, LOW(0x10000000), 0); /* nowhere */
    PACKET(0x15, 1, 1, 1, 5);
    assert_false(run());
}

/* Counters of the pipeline, of which only compute invocations count: all from the ring for graphics, that one
 * from a ring for compute. */
static void test_statistics(void **state)
{
    static const uint32_t code[] = {0xbf810000};
    const uint64_t at = commands.address + 12 * PAGE;
    const uint64_t *counters = (const uint64_t *)data.words;
    (void)state;
    memcpy((char *)commands.words + 12 * PAGE, code, sizeof code);
    for (int graphics = 0; graphics < 2; graphics++) {
        memset(data.words, 0xff, 4 * PAGE);
        begin();
        PACKET(0x46, 30 | 2 << 8, LOW(DATA), HIGH(DATA));
        PACKET(0x76, 0x20c, LOW(at >> 8), HIGH(at) >> 8);
        PACKET(0x76, 0x212, 0xc0000, 0);
        PACKET(0x76, 0x204, 0, 0, 0, 10 | 3 << 16, 2, 1);
        PACKET(0x15, 3, 2, 1, 5 | 2); /* the last workgroups have 3 in X: 23 by 4 */
        PACKET(0x76, 0x204, 1, 0, 0);
        PACKET(0x15, 3, 2, 1, 1); /* from the second on: 20 by 4 */
        PACKET(0x46, 30 | 2 << 8, LOW(DATA + 1024), HIGH(DATA));
        ring_type = graphics ? AMDGPU_HW_IP_GFX : AMDGPU_HW_IP_COMPUTE;
        const bool ran = run();
        ring_type = AMDGPU_HW_IP_COMPUTE;
        assert_true(ran);
        const int place = graphics ? 10 : 0;
        assert_int_equal(counters[128 + place] - counters[place], 23 * 4 + 20 * 4);
        assert_int_equal(counters[1], graphics ? 0 : UINT64_MAX);
        assert_int_equal(counters[11], UINT64_MAX);
    }
}

/* What the Vulkan driver in front of RADV learns from a command buffer that is never submitted, and tells, is
 * in the report of a fault. */
static void test_names(void **state)
{
    static const uint32_t code[] = {0x7e000287, 0x7e020200, 0x7e040201, 0xdc708000, 0x007f0001, 0xbf810000};
    const struct drm_naming *naming = wavemem_naming();
    const uint64_t at = commands.address + 12 * PAGE, to = DATA + 16 * PAGE;
    struct drm_created created = {0};
    uint64_t found = 0;
    char text[2000];
    (void)state;
    memcpy((char *)commands.words + 12 * PAGE, code, sizeof code);
    naming->watch(&created);
    struct buffer first = make(PAGE, 0xa00000), own = make(2 * PAGE, 0xb00000);
    naming->watch(NULL);
    struct buffer later = make(PAGE, 0xc00000);
    assert_int_equal(created.count, 2);
    assert_false(naming->find_code(&created, &found)); /* no packets */
    const struct buffer submitted = commands;
    commands = own;
    put(2u << 30);
    PACKET(0x68, 1, 2);
    PACKET(0x76, 0x20c, LOW(at >> 8), HIGH(at) >> 8);
    assert_false(naming->find_code(&created, &found)); /* no dispatch */
    PACKET(0x15, 1, 1, 1, 5);
    commands.words[used] = 3u << 30 | 0x3fff << 16 | 0x76 << 8; /* longer than the buffer */
    assert_true(naming->find_code(&created, &found));
    assert_int_equal(found, at);
    commands = submitted;
    naming->add(created.device, at, 0, "blur");
    naming->add(created.device, DATA + 8 * PAGE, 8 * PAGE, "buffer 1");
    naming->rename(created.device, DATA + 8 * PAGE, 8 * PAGE, "wei\nghts");
    begin();
    PACKET(0x76, 0x20c, LOW(at >> 8), HIGH(at) >> 8);
    PACKET(0x76, 0x212, 0xc0000, 2 << 1);
    PACKET(0x76, 0x207, 1, 1, 1);
    PACKET(0x76, 0x240, LOW(to), HIGH(to));
    PACKET(0x15, 1, 1, 1, 5);
    for (int i = 0; i < 2; i++) {
        begin_listening();
        const bool ran = run();
        end_listening(text, sizeof text);
        assert_false(ran);
        assert_int_equal(strstr(text, "in   blur, launch") != NULL, !i);
        assert_int_equal(strstr(text, "near 'wei?ghts', 32768 bytes at 0x108000") != NULL, !i);
        if (!i) {
            naming->remove(created.device, at, 0);
            naming->remove(created.device, DATA + 8 * PAGE, 8 * PAGE);
        }
    }
    close_buffer(&first, PAGE);
    close_buffer(&own, 2 * PAGE);
    close_buffer(&later, PAGE);
}

/* An ELF file as LLVM writes it for clover: two kernels with the same code, and a relocation of their last
 * word but one. */
struct elf {
    Elf64_Ehdr header;
    uint32_t text[2][128]; /* a header of 256 bytes each, and code */
    Elf64_Sym symbols[4];
    Elf64_Rel relocations[2];
    char strings[32];
    Elf64_Shdr sections[5];
};

static void make_elf(struct elf *elf, const uint32_t *code, size_t words)
{
    enum { TEXT = 1, SYMBOLS, STRINGS, RELOCATIONS };
    *elf = (struct elf){
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_REL,
                   .e_machine = EM_AMDGPU,
                   .e_version = EV_CURRENT,
                   .e_shoff = offsetof(struct elf, sections),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 5},
        /* STT_AMDGPU_HSA_KERNEL */
        .symbols = {{0},
                    {.st_name = 7, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), .st_shndx = TEXT},
                    {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_LOOS), .st_shndx = TEXT},
                    {.st_name = 13,
                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_LOOS),
                     .st_shndx = TEXT,
                     .st_value = 512}},
        .strings = "\0blur\n\0local\0sharpen",
        .sections = {{0},
                     {.sh_type = SHT_PROGBITS,
                      .sh_offset = offsetof(struct elf, text),
                      .sh_size = sizeof elf->text,
                      .sh_addralign = 256},
                     {.sh_type = SHT_SYMTAB,
                      .sh_offset = offsetof(struct elf, symbols),
                      .sh_size = sizeof elf->symbols,
                      .sh_link = STRINGS,
                      .sh_addralign = 8,
                      .sh_entsize = sizeof(Elf64_Sym)},
                     {.sh_type = SHT_STRTAB,
                      .sh_offset = offsetof(struct elf, strings),
                      .sh_size = sizeof elf->strings,
                      .sh_addralign = 1},
                     {.sh_type = SHT_REL,
                      .sh_offset = offsetof(struct elf, relocations),
                      .sh_size = sizeof elf->relocations,
                      .sh_link = SYMBOLS,
                      .sh_info = TEXT,
                      .sh_addralign = 8,
                      .sh_entsize = sizeof(Elf64_Rel)}}};
    for (unsigned i = 0; i < 2; i++) {
        memcpy(&elf->text[i][64], code, 4 * words);
        elf->relocations[i].r_offset = 512 * i + 256 + 4 * (words - 2);
    }
}

/* Kernels of OpenCL programs are called by the names in the ELF file that the driver read, also if their code
 * is the same, as long as memory has the program's code. */
static void test_kernel_names(void **state)
{
    static const uint32_t code[] = {0x7e000287, 0x7e020200, 0x7e040201, 0xdc708000,
                                    0x007f0001, 0,          0xbf810000};
    static const char *const names[] = {"in   blur?, launch", "in   sharpen, launch"};
    const uint64_t to = DATA + 16 * PAGE, program = commands.address + 12 * PAGE;
    struct elf elf;
    uint32_t *text = (uint32_t *)((char *)commands.words + 12 * PAGE);
    char heard_text[2000];
    (void)state;
    make_elf(&elf, code, sizeof code / 4);
    assert_int_equal(elf_version(EV_CURRENT), EV_CURRENT);
    elf_end(elf_memory((char *)&elf, sizeof elf));
    memcpy(text, elf.text, sizeof elf.text);
    text[64 + 5] = text[128 + 64 + 5] = 0xbf800000; /* what is relocated: s_nop 0 */
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t at = program + 512 * (i % 2) + 256;
        if (i == 2)
            text[64 + 2] = 0x7e040200; /* another program */
        begin();
        PACKET(0x76, 0x20c, LOW(at >> 8), HIGH(at) >> 8);
        PACKET(0x76, 0x212, 0xc0000, 2 << 1);
        PACKET(0x76, 0x207, 1, 1, 1);
        PACKET(0x76, 0x240, LOW(to), HIGH(to));
        PACKET(0x15, 1, 1, 1, 5);
        begin_listening();
        const bool ran = run();
        end_listening(heard_text, sizeof heard_text);
        assert_false(ran);
        assert_int_equal(strstr(heard_text, names[i % 2]) != NULL, i < 2);
    }
    memset(text, 0, sizeof elf.text);
}

/* Files that are none, or no programs, are left to libelf. */
static void test_other_elf(void **state)
{
    static const uint32_t code[] = {0xbf800000, 0xbf810000};
    struct elf elf;
    (void)state;
    assert_null(elf_memory(NULL, 0));
    make_elf(&elf, code, 2);
    for (size_t cut = 0; cut < sizeof elf; cut += 40)
        elf_end(elf_memory((char *)&elf, cut));
    for (size_t at = 16; at < sizeof elf; at += 2) {
        make_elf(&elf, code, 2);
        memset((char *)&elf + at, 0xff, 2);
        elf_end(elf_memory((char *)&elf, sizeof elf));
    }
}

/* A kernel of clover's, whose header asks for a queue pointer, which radeonsi does not pass: that is said. */
static void test_queue_pointer(void **state)
{
    static const uint32_t code[] = {0xbf810000};
    const uint64_t at = commands.address + 12 * PAGE;
    uint32_t *header = (uint32_t *)((char *)commands.words + 12 * PAGE - 256);
    char text[600];
    (void)state;
    memset(header, 0, 256);
    header[0] = 1;   /* amd_kernel_code_version_major */
    header[2] = 1;   /* amd_machine_kind */
    header[4] = 256; /* kernel_code_entry_byte_offset */
    header[14] = 0x2d;
    memcpy((char *)header + 256, code, sizeof code);
    PACKET(0x76, 0x20c, LOW(at >> 8), HIGH(at) >> 8);
    PACKET(0x76, 0x212, 0xc0000, 2 << 1);
    PACKET(0x76, 0x207, 1, 1, 1);
    PACKET(0x15, 1, 1, 1, 5);
    begin_listening();
    const bool ran = run();
    end_listening(text, sizeof text);
    memset(header, 0, 256);
    assert_true(ran);
    assert_non_null(strstr(text, "expects a queue pointer in its registers (code properties 0x2d)"));
}

/* Each of these fails its submission, by a message, and nothing else. */
static void test_bad_packets(void **state)
{
    static const uint32_t bad[][8] = {
        {1, 0x40000000},                                   /* type 1 */
        {1, 0x00000000},                                   /* type 0 */
        {2, 0xc000ff02, 0},                                /* an unknown code */
        {2, 0xc0051502, 0},                                /* a dispatch that ends behind the buffer */
        {3, 0xc0011502, 1, 1},                             /* a dispatch of two dwords */
        {4, 0xc0022d00, 3, 2, 0},                          /* a draw */
        {6, 0xc0044002, 1 | 5 << 8, 0, 0, 0, 0},           /* a copy from address 0 */
        {6, 0xc0044002, 7 | 5 << 8, 0, 0, 0x100000, 0},    /* from where nothing is */
        {6, 0xc0033702, 5 << 8, 0xfffffffc, 0xffff, 1, 1}, /* a write to the end of addresses */
        {5, 0xc0032202, 0x100000, 0, 0, 0x3fff},           /* skips more than there is */
        {4, 0xc0023f02, 0x800000, 0, 4 | 1 << 20},         /* a jump to itself */
        {4, 0xc0023f02, 0x800000, 0, 4},                   /* a call of itself */
        {4, 0xc0023f02, 0x12345000, 0, 4},                 /* a call of nothing */
        {7, 0xc0053c02, 3, 0, 0, 0, 0, 0},                 /* a wait for a register */
        {5, 0xc0036302, 0x101000, 0, 0, 0x3fff},           /* registers from behind the buffer */
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin();
        for (uint32_t k = 1; k <= bad[i][0] && k < 8; k++)
            put(bad[i][k]);
        if (run())
            fail_msg("packet %zu did not fail", i);
    }
}

static void test_bad_submissions(void **state)
{
    struct drm_amdgpu_cs_chunk chunk = {.chunk_id = 99, .length_dw = 8, .chunk_data = (uintptr_t)&chunk};
    uint64_t pointers[2] = {(uintptr_t)&chunk, 0};
    union drm_amdgpu_cs cs = {.in = {.ctx_id = context, .num_chunks = 1, .chunks = (uintptr_t)pointers}};
    (void)state;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_CS, &cs), -EINVAL); /* an unknown chunk */
    chunk.chunk_id = AMDGPU_CHUNK_ID_IB;
    chunk.length_dw = 1;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_CS, &cs), -EINVAL); /* too short */
    cs.in.num_chunks = 0;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_CS, &cs), -EINVAL);
    cs.in.num_chunks = UINT32_MAX;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_CS, &cs), -EINVAL);
    assert_int_equal(submit_to(context + 100, commands.address, 4, 0, 0), -EINVAL);
    assert_int_equal(submit_to(context, commands.address, 4, 777777, 0), -EINVAL); /* no such syncobj */
    PACKET(0x10, 0);
    const int64_t number = submit_to(context, commands.address, 7, 0, 0); /* not dwords */
    await_number(context, number);
    assert_true(is_lost(context));
    assert_int_equal(submit_to(context, commands.address, 8, 0, 0), -ECANCELED);
    free_context(context);
    context = make_context();
    assert_true(run());
}

/* ---- syncobjs ---- */

static uint32_t make_syncobj(uint32_t flags)
{
    struct drm_syncobj_create create = {.flags = flags};
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_CREATE, &create), 0);
    return create.handle;
}

static int wait_point(uint32_t handle, uint64_t point, int64_t until, uint32_t flags)
{
    struct drm_syncobj_timeline_wait wait = {.handles = (uintptr_t)&handle,
                                             .points = (uintptr_t)&point,
                                             .timeout_nsec = until,
                                             .count_handles = 1,
                                             .flags = flags};
    return request(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

static uint64_t point_of(uint32_t handle)
{
    uint64_t point = 0;
    struct drm_syncobj_timeline_array array = {
        .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_QUERY, &array), 0);
    return point;
}

static int signal_point(uint32_t handle, uint64_t point)
{
    struct drm_syncobj_timeline_array array = {
        .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
    return request(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &array);
}

static void test_syncobjs(void **state)
{
    const uint32_t a = make_syncobj(0), b = make_syncobj(DRM_SYNCOBJ_CREATE_SIGNALED);
    struct drm_syncobj_destroy gone = {.handle = a};
    (void)state;
    assert_int_equal(wait_point(a, 0, 0, 0), -EINVAL); /* nothing was submitted */
    assert_int_equal(wait_point(a, 0, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT), -ETIME);
    assert_int_equal(wait_point(b, 0, 0, 0), 0);
    assert_int_equal(wait_point(12345, 0, 0, 0), -ENOENT);
    assert_int_equal(signal_point(a, 5), 0);
    assert_int_equal(point_of(a), 5);
    assert_int_equal(wait_point(a, 3, 0, 0), 0);
    assert_int_equal(wait_point(a, 6, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT), -ETIME);
    struct drm_syncobj_transfer transfer = {.src_handle = b, .dst_handle = a, .dst_point = 9};
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), 0);
    assert_int_equal(point_of(a), 9);
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_DESTROY, &gone), 0);
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_DESTROY, &gone), -EINVAL);
    gone.handle = b;
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_DESTROY, &gone), 0);
}

/* A job of one ring waits for that of another one, which waits for memory. */
static void test_order(void **state)
{
    const uint32_t syncobj = make_syncobj(0), other = make_context();
    struct drm_syncobj_destroy gone = {.handle = syncobj};
    (void)state;
    PACKET(0x3c, 3 | 1 << 4, LOW(DATA), 0, 1, UINT32_MAX, 4);
    PACKET(0x37, 5 << 8, LOW(DATA + 4), 0, 5);
    const uint32_t first = used;
    PACKET(0x40, 1 | 5 << 8, LOW(DATA + 4), 0, LOW(DATA + 8), 0);
    const int64_t one = submit_to(context, commands.address, 4 * first, 0, syncobj);
    const int64_t two = submit_to(other, commands.address + 4 * first, 4 * (used - first), syncobj, 0);
    assert_int_equal(wait_point(syncobj, 0, 0, 0), -ETIME);
    assert_int_equal(__atomic_load_n(&data.words[2], __ATOMIC_ACQUIRE), 0);
    __atomic_store_n(&data.words[0], 1, __ATOMIC_RELEASE);
    assert_int_equal(wait_point(syncobj, 0, INT64_MAX, 0), 0);
    await_number(context, one);
    await_number(other, two);
    assert_int_equal(data.words[2], 5);
    free_context(other);
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_DESTROY, &gone), 0);
}

static int32_t to_file(uint32_t syncobj, uint32_t flags)
{
    struct drm_syncobj_handle h = {.handle = syncobj, .flags = flags, .fd = -1};
    const int result = request(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h);
    return result ? result : h.fd;
}

static int from_file(int32_t descriptor, uint32_t flags, uint32_t *syncobj)
{
    struct drm_syncobj_handle h = {.handle = *syncobj, .flags = flags, .fd = descriptor};
    const int result = request(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &h);
    *syncobj = h.handle;
    return result;
}

static void destroy_syncobj(uint32_t syncobj)
{
    struct drm_syncobj_destroy gone = {.handle = syncobj};
    assert_int_equal(request(DRM_IOCTL_SYNCOBJ_DESTROY, &gone), 0);
}

static int polled(int descriptor)
{
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    return poll(&one, 1, 0) > 0 ? one.revents : 0;
}

/* A file of a syncobj is the syncobj; one of a fence is what it was then. */
static void test_files_of_syncobjs(void **state)
{
    enum {
        NOW = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
        IMPORT = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE
    };
    uint32_t one = make_syncobj(0), same = 0, other = make_syncobj(0),
             done = make_syncobj(DRM_SYNCOBJ_CREATE_SIGNALED);
    (void)state;
    assert_int_equal(to_file(one, NOW), -EINVAL); /* no fence yet */
    assert_int_equal(to_file(77777, 0), -ENOENT);
    assert_int_equal(to_file(one, 8), -EINVAL);
    const int32_t shared = to_file(one, 0), past = to_file(done, NOW);
    assert_true(shared >= 0 && past >= 0);
    assert_int_equal(from_file(shared, 0, &same), 0);
    assert_int_not_equal(same, one);
    assert_int_equal(from_file(past, 0, &other), -EINVAL); /* of the other kind */
    assert_int_equal(from_file(file, IMPORT, &other), -EINVAL);
    assert_int_equal(polled(past), POLLIN);
    PACKET(0x3c, 3 | 1 << 4, LOW(DATA), 0, 1, UINT32_MAX, 4);
    const int64_t number = submit_to(context, commands.address, 4 * used, 0, one);
    const int32_t future = to_file(same, NOW);
    assert_true(future >= 0);
    assert_int_equal(polled(future), 0);
    assert_int_equal(from_file(future, IMPORT, &other), 0);
    struct sync_merge_data merge = {.name = "both", .fd2 = past};
    assert_int_equal(ioctl(future, SYNC_IOC_MERGE, &merge), 0);
    struct sync_file_info info = {0};
    assert_int_equal(ioctl(merge.fence, SYNC_IOC_FILE_INFO, &info), 0);
    assert_int_equal(info.status, 0);
    assert_int_equal(polled(merge.fence), 0);
    assert_int_equal(wait_point(other, 0, 0, 0), -ETIME);
    union drm_amdgpu_fence_to_handle convert = {
        .in = {.fence = {.ctx_id = context, .ip_type = AMDGPU_HW_IP_COMPUTE, .seq_no = (uint64_t)number},
               .what = AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD}};
    const union drm_amdgpu_fence_to_handle asked = convert;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &convert), 0);
    const int32_t job = (int32_t)convert.out.handle;
    assert_int_equal(polled(job), 0);
    __atomic_store_n(&data.words[0], 1, __ATOMIC_RELEASE);
    await_number(context, number);
    assert_int_equal(polled(future) & polled(merge.fence) & polled(job), POLLIN);
    assert_int_equal(ioctl(merge.fence, SYNC_IOC_FILE_INFO, &info), 0);
    assert_int_equal(info.status, 1);
    assert_int_equal(wait_point(other, 0, 0, 0), 0);
    for (uint32_t what = 0; what < 2; what++) { /* of a job that has completed */
        convert = asked;
        convert.in.what = what;
        assert_int_equal(request(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &convert), 0);
        uint32_t syncobj = convert.out.handle;
        if (what) {
            syncobj = 0;
            assert_int_equal(from_file((int32_t)convert.out.handle, 0, &syncobj), 0);
            close((int32_t)convert.out.handle);
        }
        assert_int_equal(wait_point(syncobj, 0, 0, 0), 0);
        destroy_syncobj(syncobj);
    }
    convert = asked;
    convert.in.what = 3;
    assert_int_equal(request(DRM_IOCTL_AMDGPU_FENCE_TO_HANDLE, &convert), -EINVAL);
    destroy_syncobj(one);
    assert_int_equal(wait_point(same, 0, 0, 0), 0); /* it is still there */
    merge.fd2 = file;
    assert_int_equal(ioctl(future, SYNC_IOC_MERGE, &merge), -1);
    close(shared), close(past), close(future), close(job), close(merge.fence);
    destroy_syncobj(same);
    destroy_syncobj(other);
    destroy_syncobj(done);
}

/* A context may be destroyed while its job waits forever. */
static void test_end_of_context(void **state)
{
    const uint32_t other = make_context();
    (void)state;
    PACKET(0x3c, 3 | 1 << 4, LOW(DATA), 0, 1, UINT32_MAX, 4);
    assert_true(submit_to(other, commands.address, 4 * used, 0, 0) > 0);
    free_context(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_device, clean),
        cmocka_unit_test_setup(test_addresses, clean),
        cmocka_unit_test_setup(test_free_behind_submission, clean),
        cmocka_unit_test_setup(test_map_behind_submission, clean),
        cmocka_unit_test_setup(test_capacity, clean),
        cmocka_unit_test_setup(test_data, clean),
        cmocka_unit_test_setup(test_atomics, clean),
        cmocka_unit_test_setup(test_conditions, clean),
        cmocka_unit_test_setup(test_buffers_of_commands, clean),
        cmocka_unit_test_setup(test_dispatch, clean),
        cmocka_unit_test_setup(test_statistics, clean),
        cmocka_unit_test_setup(test_names, clean),
        cmocka_unit_test_setup(test_kernel_names, clean),
        cmocka_unit_test_setup(test_other_elf, clean),
        cmocka_unit_test_setup(test_queue_pointer, clean),
        cmocka_unit_test_setup(test_bad_packets, clean),
        cmocka_unit_test_setup(test_bad_submissions, clean),
        cmocka_unit_test_setup(test_syncobjs, clean),
        cmocka_unit_test_setup(test_order, clean),
        cmocka_unit_test_setup(test_files_of_buffers, clean),
        cmocka_unit_test_setup(test_files_of_syncobjs, clean),
        cmocka_unit_test_setup(test_end_of_context, clean),
    };
    return cmocka_run_group_tests_name("drm", tests, set_up, NULL);
}
