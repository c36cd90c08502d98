/* SPDX-License-Identifier: MIT */
/* Code objects: truncated, bit-flipped and foreign ones, and well-formed ones against the HSA ABI's tables.
 * object_llvm.py compares with LLVM's tools. WAVEMEM_TEST_REDUCED: behind the headers every seventh length of
 * a truncated file, and a fifth of the flipped bytes. */
#include "object/object.h"
#include "base/arena.h"
#include "object/msgpack.h"
#include "reduced.h"

#include <msgpack.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEADERS = 0x400 }; /* the bytes of the examples that hold headers and notes */

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file read_example(const char *name)
{
    char path[1024];
    struct file file = {0};
    snprintf(path, sizeof(path), "%s/%s", EXAMPLES, name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.bytes = malloc(file.size);
    assert_int_equal(fread(file.bytes, 1, file.size, stream), file.size);
    fclose(stream);
    return file;
}

static uint32_t random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Queries everything of an object; the answers only have to be safe to use. */
static size_t exercise(const struct wm_object *object)
{
    size_t sum = strlen(wm_object_target_id(object));
    for (size_t i = 0; i < wm_object_kernel_count(object); i++) {
        const struct wm_kernel *kernel = wm_object_kernel(object, i);
        const struct wmi_hidden_values hidden = {{100, 1, 1}, {64, 1, 1}, 1};
        uint8_t *kernarg = calloc(kernel->kernarg_size + 1, 1);
        sum += strlen(kernel->name) + wmi_kernel_descriptor(kernel)->vgprs;
        for (size_t a = 0; a < kernel->argument_count; a++)
            sum += strlen(kernel->arguments[a].name) + strlen(kernel->arguments[a].type_name) +
                   strlen(kernel->arguments[a].value_kind);
        wmi_fill_kernarg(kernel, &hidden, kernarg);
        free(kernarg);
    }
    struct wm_code code[4];
    const size_t count = wm_object_code(object, code, 4);
    for (size_t i = 0; i < count && i < 4; i++) {
        for (size_t at = 0; at < code[i].size; at += 4) {
            const char *file;
            unsigned line, column;
            uint64_t distance;
            const char *symbol = wm_object_symbol(object, code[i].address + at, &distance);
            sum += code[i].bytes[at] + (symbol ? strlen(symbol) : 0);
            if (wm_object_line(object, code[i].address + at, &file, &line, &column))
                sum += strlen(file) + line + column;
        }
    }
    const struct wmi_span span = wmi_object_span(object);
    if (span.high - span.low < 1 << 20) {
        struct wm_diag diag;
        uint8_t *image = malloc(span.high - span.low + 1);
        if (wmi_object_image(object, 0x10000, NULL, NULL, image, false, &diag) != WM_OK)
            assert_true(strlen(diag.message) > 10);
        free(image);
    }
    return sum;
}

static enum wm_status open_bytes(const uint8_t *bytes, size_t size, struct wm_diag *diag)
{
    struct wm_object *object;
    const enum wm_status status = wm_object_open(bytes, size, "t.co", NULL, &object, diag);
    if (status == WM_OK) {
        exercise(object);
        wm_object_close(object);
    } else {
        assert_null(object);
        assert_int_equal(diag->status, status);
        assert_true(strncmp(diag->message, "t.co: ", 6) == 0);
    }
    return status;
}

/* ---- corrupt files ---- */

static void every_truncation_is_refused(void **state)
{
    (void)state;
    const struct file file = read_example("saxpy.co");
    for (size_t size = 0; size < file.size; size += reduced() && size >= HEADERS ? 7 : 1) {
        struct wm_diag diag = {0};
        /* a block of exact size, so that a sanitizer detects the first byte read past it */
        uint8_t *cut = malloc(size ? size : 1);
        memcpy(cut, file.bytes, size);
        const enum wm_status status = open_bytes(cut, size, &diag);
        if (status != WM_BAD_FILE)
            fail_msg("%zu of %zu bytes: status %d", size, file.size, status);
        free(cut);
    }
    free(file.bytes);
}

static void flipped_bytes_do_no_harm(void **state)
{
    (void)state;
    const unsigned rounds = reduced() ? 600 : 3000;
    uint64_t random = 7;
    static const char *const names[] = {"saxpy.co", "transpose.co"};
    for (unsigned n = 0; n < 2; n++) {
        const struct file file = read_example(names[n]);
        uint8_t *copy = malloc(file.size);
        unsigned refused = 0;
        for (unsigned i = 0; i < rounds; i++) {
            struct wm_diag diag;
            memcpy(copy, file.bytes, file.size);
            for (unsigned flips = 1 + i % 3; flips; flips--) {
                /* half of them in the headers and notes, where they do most damage */
                const size_t where = random_number(&random) % (i & 1 ? file.size : HEADERS);
                copy[where] = (uint8_t)random_number(&random);
            }
            refused += open_bytes(copy, file.size, &diag) != WM_OK;
        }
        assert_true(refused > rounds / 10);
        free(copy);
        free(file.bytes);
    }
}

static void one_wrong_field_gives_its_message(void **state)
{
    static const struct {
        size_t offset, size;
        uint64_t value;
        enum wm_status status;
        const char *message;
    } cases[] = {
        {0, 1, 'x', WM_BAD_FILE, "begins with the bytes 78 45 4c 46"},
        {4, 1, 1, WM_BAD_FILE, "ELF class 1"},
        {5, 1, 2, WM_BAD_FILE, "data encoding 2"},
        {7, 1, 65, WM_UNSUPPORTED, "OS ABI 65, PAL"},
        {7, 1, 0, WM_UNSUPPORTED, "OS ABI 0"},
        {8, 1, 0, WM_UNSUPPORTED, "code object version 2"},
        {8, 1, 9, WM_UNSUPPORTED, "ABI version 9"},
        {16, 2, 1, WM_UNSUPPORTED, "not linked"},
        {16, 2, 2, WM_BAD_FILE, "ELF type 2"},
        {18, 2, 62, WM_BAD_FILE, "ELF for machine 62"},
        {32, 8, 1u << 30, WM_BAD_FILE, "program headers at 0x40000000"},
        {32, 8, UINT64_MAX, WM_BAD_FILE, "program headers at 0xffffffffffffffff"},
        {40, 8, UINT64_MAX - 63, WM_BAD_FILE, "section headers at 0xffffffffffffffc0"},
        {48, 4, 0, WM_UNSUPPORTED, "processor 0x0"},
        {54, 2, 57, WM_BAD_FILE, "program headers of 57 bytes"},
        {56, 2, 0, WM_BAD_FILE, "none of its 0 program headers is loaded"},
        {58, 2, 1, WM_BAD_FILE, "section headers of 1 bytes"},
        /* the second program header, the first that is loaded: filesz, memsz, alignment */
        {64 + 56 + 32, 8, UINT64_MAX, WM_BAD_FILE, "program header 1: bytes 0x0 + 0xffffffffffffffff"},
        {64 + 56 + 40, 8, 1, WM_BAD_FILE, "more than the 0x1 in memory"},
        {64 + 56 + 40, 8, UINT64_MAX, WM_BAD_FILE, "program header 1: 0xffffffffffffffff bytes at 0x0"},
        {64 + 56 + 48, 8, 3, WM_BAD_FILE, "alignment 0x3"},
        {64 + 56 + 40, 8, 1u << 20, WM_BAD_FILE, "program header 2: begins at"},
    };
    (void)state;
    const struct file file = read_example("saxpy.co");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wm_diag diag = {0};
        uint8_t saved[8];
        memcpy(saved, file.bytes + cases[i].offset, 8);
        for (size_t b = 0; b < cases[i].size; b++)
            file.bytes[cases[i].offset + b] = (uint8_t)(cases[i].value >> 8 * b);
        const enum wm_status status = open_bytes(file.bytes, file.size, &diag);
        if (status != cases[i].status || !strstr(diag.message, cases[i].message))
            fail_msg("case %zu: status %d, '%s'; expected '%s'", i, status, diag.message, cases[i].message);
        memcpy(file.bytes + cases[i].offset, saved, 8);
    }
    free(file.bytes);
}

/* Replaces the first occurrence of `from` in the file by a string of the same length. */
static void replace(const struct file *file, const char *from, const char *to)
{
    uint8_t *found = memmem(file->bytes, file->size, from, strlen(from));
    assert_non_null(found);
    memcpy(found, to, strlen(from));
}

static void wrong_metadata_gives_its_message(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {".value_kind", ".value_kine", "kernel 0, argument 0, the end of the map"},
        {".name\xa5saxpy", ".name\xc0saxpy", ".name"},
        {"saxpy.kd", "saxpy.kx", "'saxpy.kx' is not in the symbol table"},
        {"amdhsa.kernels", "amdhsa.version", "amdhsa.version"},
        {"\xa7.offset\x08", "\xa7.offset\xe0", ".offset"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct file file = read_example("saxpy.co");
        struct wm_diag diag = {0};
        replace(&file, cases[i].from, cases[i].to);
        const enum wm_status status = open_bytes(file.bytes, file.size, &diag);
        if (status != WM_BAD_FILE || !strstr(diag.message, cases[i].message))
            fail_msg("case %zu: status %d, '%s'; expected '%s'", i, status, diag.message, cases[i].message);
        free(file.bytes);
    }
}

/* ---- well-formed objects ---- */

static struct wm_object *open_example(const char *name)
{
    char path[1024];
    struct wm_object *object;
    struct wm_diag diag;
    snprintf(path, sizeof(path), "%s/%s", EXAMPLES, name);
    if (wm_object_open_file(path, NULL, &object, &diag) != WM_OK)
        fail_msg("%s", diag.message);
    return object;
}

static void kernels_are_found_by_name(void **state)
{
    (void)state;
    struct wm_object *object = open_example("transpose.co");
    const struct wm_kernel *kernel;
    struct wm_diag diag;
    assert_int_equal(wm_object_kernel_count(object), 3);
    assert_int_equal(wm_object_find_kernel(object, "transpose_lds", &kernel, &diag), WM_OK);
    assert_string_equal(kernel->name, "transpose_lds");
    assert_ptr_equal(kernel, wm_object_kernel(object, kernel == wm_object_kernel(object, 1)));
    assert_int_equal(wm_object_find_kernel(object, "transposed", &kernel, &diag), WM_NOT_FOUND);
    assert_non_null(
        strstr(diag.message, "no kernel 'transposed'; it has 'transpose_naive', 'transpose_lds'"));
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_BAD_ARGUMENT);
    assert_null(kernel);
    assert_null(wm_object_kernel(object, 3));
    assert_string_equal(wm_object_symbol(object, wm_object_kernel(object, 0)->entry, NULL),
                        "transpose_naive");
    assert_null(wm_object_symbol(object, 0, NULL));
    assert_null(wm_object_symbol(object, UINT64_MAX, NULL));
    assert_false(wm_object_line(object, UINT64_MAX, NULL, NULL, NULL));
    assert_false(wm_object_line(object, 0, NULL, NULL, NULL));
    assert_null(wmi_object_symbol_named(object, "nothing"));
    assert_int_equal(wmi_object_symbol_named(object, "transpose_naive.kd")->size, 64);
    wm_object_close(object);
}

/* Offsets of the hidden arguments of code object version 5 after the explicit ones.
 * Source: LLVM 19, AMDGPULowerKernelArguments and SIDefines.h, AMDGPU::ImplicitArg::Offset_COV5 and the
 * device library's oclc ABI 500. */
static void hidden_arguments_are_where_the_abi_has_them(void **state)
{
    (void)state;
    static const struct {
        unsigned offset, size;
        uint64_t value;
    } fields[] = {
        {0, 4, 10},   {4, 4, 3},  {8, 4, 1},           /* whole workgroups */
        {12, 2, 100}, {14, 2, 2}, {16, 2, 1},          /* workgroup */
        {18, 2, 7},   {20, 2, 1}, {22, 2, 0},          /* remainder */
        {40, 8, 5},   {48, 8, 6}, {56, 8, 1ull << 40}, /* global offset */
        {64, 2, 2},                                    /* dimensions */
    };
    const struct wmi_hidden_values values = {
        .grid = {1007, 7, 1}, .workgroup = {100, 2, 1}, .dimensions = 2, .global_offset = {5, 6, 1ull << 40}};
    struct wm_object *object = open_example("vecadd.co");
    const struct wm_kernel *kernel = wm_object_kernel(object, 0);
    uint8_t *kernarg = malloc(kernel->kernarg_size);
    memset(kernarg, 0xee, kernel->kernarg_size);
    wmi_fill_kernarg(kernel, &values, kernarg);
    uint32_t end = 0;
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i].kind != WM_ARGUMENT_HIDDEN)
            end = kernel->arguments[i].offset + kernel->arguments[i].size;
    for (uint32_t i = 0; i < end; i++)
        assert_int_equal(kernarg[i], 0xee);
    const uint32_t hidden = (end + 7) & ~7u;
    assert_int_equal(kernel->kernarg_size, hidden + 256);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint64_t value = 0;
        memcpy(&value, kernarg + hidden + fields[i].offset, fields[i].size);
        assert_int_equal(value, fields[i].value);
    }
    free(kernarg);
    wm_object_close(object);
}

static void raw_instructions_make_a_kernel(void **state)
{
    static const uint32_t words[] = {0x7e000280, 0xbf810000};
    (void)state;
    struct wm_object *object;
    struct wm_diag diag;
    const struct wm_kernel *kernel;
    struct wm_code code;
    assert_int_equal(wm_object_open(words, sizeof(words), "raw.bin", "gfx900", &object, &diag), WM_OK);
    assert_int_equal(wm_object_version(object), 0);
    assert_string_equal(wm_object_target(object), "gfx900");
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(kernel->wave_size, 64);
    assert_int_equal(wm_object_code(object, &code, 1), 1);
    assert_int_equal(code.size, sizeof(words));
    assert_memory_equal(code.bytes, words, sizeof(words));
    exercise(object);
    wm_object_close(object);
    assert_int_equal(wm_object_open(words, 7, "raw.bin", "gfx900", &object, &diag), WM_BAD_FILE);
    assert_int_equal(wm_object_open(words, 0, "raw.bin", "gfx900", &object, &diag), WM_BAD_FILE);
    assert_int_equal(wm_object_open(words, 8, "raw.bin", "gfx9000", &object, &diag), WM_NOT_FOUND);
    assert_int_equal(wm_object_open(words, 8, "raw.bin", "gfx1100", &object, &diag), WM_OK);
    assert_int_equal(wm_object_kernel(object, 0)->wave_size, 32);
    wm_object_close(object);
}

/* A raw kernel requests 104 SGPRs and 256 VGPRs; these are the sizes that its wave gets. Source: LLVM,
 * AMDGPUBaseInfo.cpp, getSGPRAllocGranule() and AMDGPU.td, FeatureSGPRInitBug; AMDGPUUsage, compute_pgm_rsrc1
 * and accum_offset. */
static void registers_are_allocated_in_granules(void **state)
{
    static const struct {
        const char *target;
        uint32_t sgprs, vgprs, agprs;
    } known[] = {
        {"gfx600", 104, 256, 0},   {"gfx701", 104, 256, 0},   {"gfx803", 112, 256, 0},
        {"gfx802", 96, 256, 0},    {"gfx900", 112, 256, 0},   {"gfx908", 112, 256, 256},
        {"gfx90a", 112, 256, 256}, {"gfx942", 112, 256, 256}, {"gfx1030", 106, 256, 0},
        {"gfx1100", 106, 256, 0},  {"gfx1200", 106, 256, 0},
    };
    static const uint32_t end = 0xbf810000;
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct wm_object *object;
        struct wm_diag diag;
        assert_int_equal(wm_object_open(&end, sizeof(end), "raw.bin", known[i].target, &object, &diag),
                         WM_OK);
        const struct wmi_kernel_descriptor *d = wmi_kernel_descriptor(wm_object_kernel(object, 0));
        assert_int_equal(d->sgprs, known[i].sgprs);
        assert_int_equal(d->vgprs, known[i].vgprs);
        assert_int_equal(d->agprs, known[i].agprs);
        wm_object_close(object);
    }
}

static void missing_files_are_named(void **state)
{
    (void)state;
    struct wm_object *object;
    struct wm_diag diag;
    assert_int_equal(wm_object_open_file("no/such.co", NULL, &object, &diag), WM_IO);
    assert_string_equal(diag.message, "no/such.co: No such file or directory");
    assert_int_equal(wm_object_open_file("/", NULL, &object, &diag), WM_IO);
    assert_int_equal(wm_object_open_file("/dev/null", NULL, &object, &diag), WM_BAD_FILE);
    assert_non_null(strstr(diag.message, "0 bytes"));
    wm_object_close(NULL);
}

static void *ask(void *object)
{
    return (void *)(uintptr_t)exercise(object); /* NOLINT: a number as the thread's result */
}

static void threads_may_share_an_object(void **state)
{
    (void)state;
    struct wm_object *object = open_example("transpose.co"), *alone = open_example("transpose.co");
    const size_t expected = exercise(alone);
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, object), 0);
    for (unsigned i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_int_equal((uintptr_t)result, expected);
    }
    wm_object_close(object);
    wm_object_close(alone);
}

/* ---- MessagePack, against msgpack-c ---- */

static void pack_number(msgpack_packer *packer, uint64_t *random)
{
    const unsigned bits = random_number(random) % 65;
    const uint64_t value = ((uint64_t)random_number(random) << 33 ^ random_number(random)) &
                           (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
    if (random_number(random) & 1)
        msgpack_pack_uint64(packer, value);
    else
        msgpack_pack_int64(packer, (int64_t)(UINT64_C(0) - (value >> 1)));
}

static void pack_bytes(msgpack_packer *packer, uint64_t *random)
{
    static const uint32_t lengths[] = {0, 1, 31, 32, 255, 256, 65535, 65536};
    const uint32_t length = lengths[random_number(random) % 8];
    char *bytes = calloc(length + 1, 1);
    bytes[0] = (char)random_number(random);
    switch (random_number(random) % 3) {
    case 0:
        msgpack_pack_str_with_body(packer, bytes, length);
        break;
    case 1:
        msgpack_pack_bin_with_body(packer, bytes, length);
        break;
    default:
        msgpack_pack_ext_with_body(packer, bytes, length, 3);
    }
    free(bytes);
}

static void pack_random(msgpack_packer *packer, uint64_t *random, unsigned depth)
{
    const unsigned what = random_number(random) % (depth < 4 ? 10 : 7), length = random_number(random) % 20;
    switch (what) {
    case 0:
        msgpack_pack_nil(packer);
        break;
    case 1:
        if (random_number(random) & 1)
            msgpack_pack_true(packer);
        else
            msgpack_pack_false(packer);
        break;
    case 2:
        msgpack_pack_double(packer, random_number(random) * 0.37);
        break;
    case 3:
        pack_bytes(packer, random);
        break;
    case 7:
    case 8:
        msgpack_pack_array(packer, length);
        for (unsigned i = 0; i < length; i++)
            pack_random(packer, random, depth + 1);
        break;
    case 9:
        msgpack_pack_map(packer, length);
        for (unsigned i = 0; i < 2 * length; i++)
            pack_random(packer, random, depth + 1);
        break;
    default:
        pack_number(packer, random);
    }
}

static void assert_same(struct wmi_msgpack *reader, const msgpack_object *expected)
{
    const struct wmi_msgpack_value value = wmi_msgpack_next(reader);
    uint64_t bits;
    switch (expected->type) {
    case MSGPACK_OBJECT_NIL:
        assert_int_equal(value.kind, WMI_MSGPACK_NIL);
        break;
    case MSGPACK_OBJECT_BOOLEAN:
        assert_int_equal(value.kind, WMI_MSGPACK_BOOLEAN);
        assert_int_equal(value.number, expected->via.boolean);
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        assert_int_equal(value.kind, WMI_MSGPACK_UNSIGNED);
        assert_int_equal(value.number, expected->via.u64);
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        assert_int_equal(value.kind, WMI_MSGPACK_NEGATIVE);
        assert_int_equal((int64_t)value.number, expected->via.i64);
        break;
    case MSGPACK_OBJECT_FLOAT64:
        assert_int_equal(value.kind, WMI_MSGPACK_FLOAT);
        memcpy(&bits, &expected->via.f64, 8);
        assert_int_equal(value.number, bits);
        break;
    case MSGPACK_OBJECT_STR:
        assert_int_equal(value.kind, WMI_MSGPACK_TEXT);
        assert_int_equal(value.length, expected->via.str.size);
        assert_memory_equal(value.text, expected->via.str.ptr, value.length);
        break;
    case MSGPACK_OBJECT_BIN:
        assert_int_equal(value.kind, WMI_MSGPACK_BINARY);
        assert_int_equal(value.length, expected->via.bin.size);
        break;
    case MSGPACK_OBJECT_EXT: /* ours includes the type byte */
        assert_int_equal(value.kind, WMI_MSGPACK_EXTENSION);
        assert_int_equal(value.length, expected->via.ext.size + 1);
        break;
    case MSGPACK_OBJECT_ARRAY:
        assert_int_equal(value.kind, WMI_MSGPACK_ARRAY);
        assert_int_equal(value.number, expected->via.array.size);
        for (uint32_t i = 0; i < expected->via.array.size; i++)
            assert_same(reader, &expected->via.array.ptr[i]);
        break;
    case MSGPACK_OBJECT_MAP:
        assert_int_equal(value.kind, WMI_MSGPACK_MAP);
        assert_int_equal(value.number, expected->via.map.size);
        for (uint32_t i = 0; i < expected->via.map.size; i++) {
            assert_same(reader, &expected->via.map.ptr[i].key);
            assert_same(reader, &expected->via.map.ptr[i].val);
        }
        break;
    default:
        fail_msg("msgpack-c has type %d", expected->type);
    }
}

static void messagepack_reads_as_msgpack_c_does(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (unsigned i = 0; i < 400; i++) {
        msgpack_sbuffer buffer;
        msgpack_packer packer;
        msgpack_unpacked unpacked;
        msgpack_sbuffer_init(&buffer);
        msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
        msgpack_unpacked_init(&unpacked);
        pack_random(&packer, &random, 0);
        assert_int_equal(msgpack_unpack_next(&unpacked, buffer.data, buffer.size, NULL),
                         MSGPACK_UNPACK_SUCCESS);
        const uint8_t *bytes = (const uint8_t *)buffer.data;
        struct wmi_msgpack reader = {bytes, bytes + buffer.size}, skipper = reader;
        assert_same(&reader, &unpacked.data);
        assert_ptr_equal(reader.at, reader.end);
        assert_true(wmi_msgpack_skip(&skipper));
        assert_ptr_equal(skipper.at, skipper.end);
        const unsigned cuts = buffer.size < 1 << 16 ? 20 : 2; /* copies of long ones take long */
        for (unsigned cut = 0; cut < cuts; cut++) {
            const size_t size = random_number(&random) % buffer.size;
            uint8_t *copy = malloc(size + 1);
            memcpy(copy, bytes, size);
            struct wmi_msgpack short_reader = {copy, copy + size};
            assert_false(wmi_msgpack_skip(&short_reader));
            free(copy);
        }
        msgpack_unpacked_destroy(&unpacked);
        msgpack_sbuffer_destroy(&buffer);
    }
}

static void arena_grows_and_refuses(void **state)
{
    (void)state;
    struct wmi_arena arena = {0};
    char *first = wmi_arena_text(&arena, "first", 5);
    for (unsigned i = 1; i < 300; i++) {
        uint64_t *numbers = wmi_arena_array(&arena, i, sizeof(*numbers));
        assert_int_equal((uintptr_t)numbers % 16, 0);
        for (unsigned j = 0; j < i; j++) {
            assert_int_equal(numbers[j], 0);
            numbers[j] = UINT64_MAX;
        }
    }
    assert_string_equal(first, "first");
    assert_null(wmi_arena_array(&arena, SIZE_MAX / 4, 8));
    assert_null(wmi_arena_array(&arena, SIZE_MAX - 8, 1));
    wmi_arena_free(&arena);
    assert_null(arena.blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(flipped_bytes_do_no_harm),
        cmocka_unit_test(one_wrong_field_gives_its_message),
        cmocka_unit_test(wrong_metadata_gives_its_message),
        cmocka_unit_test(kernels_are_found_by_name),
        cmocka_unit_test(hidden_arguments_are_where_the_abi_has_them),
        cmocka_unit_test(raw_instructions_make_a_kernel),
        cmocka_unit_test(registers_are_allocated_in_granules),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(threads_may_share_an_object),
        cmocka_unit_test(messagepack_reads_as_msgpack_c_does),
        cmocka_unit_test(arena_grows_and_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
