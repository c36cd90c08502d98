/* SPDX-License-Identifier: MIT */
/* Offload bundles: valid ones in every layout, generated here from the format's description; selection of an
 * entry; truncated, bit-flipped and lying ones. bundle_llvm.py compares with LLVM's tools. */
#include "object/input.h"
#include "object/object.h"
#include "object/parts.h"
#include "reduced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

/* A growing byte array. */
struct bytes {
    uint8_t *at;
    size_t size;
};

static void append(struct bytes *to, const void *bytes, size_t size)
{
    to->at = realloc(to->at, to->size + size + 1);
    assert_non_null(to->at);
    if (size)
        memcpy(to->at + to->size, bytes, size);
    to->size += size;
}

static void append_number(struct bytes *to, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        append(to, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

static void pad(struct bytes *to, size_t alignment)
{
    while (to->size % alignment)
        append_number(to, 0, 1);
}

static struct bytes read_example(const char *name)
{
    char path[1024];
    struct bytes file = {0};
    snprintf(path, sizeof(path), "%s/%s", EXAMPLES, name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    uint8_t block[4096];
    for (size_t got; (got = fread(block, 1, sizeof(block), stream)) != 0;)
        append(&file, block, got);
    fclose(stream);
    return file;
}

/* ---- making bundles ---- */

struct part {
    const char *id;
    const struct bytes *contents;
};

static struct bytes plain_bundle(const struct part *parts, size_t count)
{
    struct bytes bundle = {0};
    size_t offset = 32;
    append(&bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    append_number(&bundle, count, 8);
    for (size_t i = 0; i < count; i++)
        offset += 24 + strlen(parts[i].id);
    for (size_t i = 0; i < count; i++) {
        offset = (offset + 15) & ~(size_t)15;
        append_number(&bundle, offset, 8);
        append_number(&bundle, parts[i].contents->size, 8);
        append_number(&bundle, strlen(parts[i].id), 8);
        append(&bundle, parts[i].id, strlen(parts[i].id));
        offset += parts[i].contents->size;
    }
    for (size_t i = 0; i < count; i++) {
        pad(&bundle, 16);
        append(&bundle, parts[i].contents->at, parts[i].contents->size);
    }
    return bundle;
}

enum { ZLIB, ZSTD };

static struct bytes packed_bundle(const struct bytes *plain, unsigned version, unsigned method)
{
    struct bytes packed = {0};
    const size_t room = ZSTD_compressBound(plain->size) + compressBound(plain->size);
    const unsigned width = version == 3 ? 8 : 4;
    uint8_t *contents = malloc(room);
    uLongf size = room;
    assert_non_null(contents);
    if (method == ZLIB)
        assert_int_equal(compress(contents, &size, plain->at, plain->size), Z_OK);
    else
        size = ZSTD_compress(contents, room, plain->at, plain->size, 3);
    append(&packed, "CCOB", 4);
    append_number(&packed, version, 2);
    append_number(&packed, method, 2);
    if (version > 1)
        append_number(&packed, 8 + 2 * width + 8 + size, width);
    append_number(&packed, plain->size, width);
    append_number(&packed, 0x0123456789abcdef, 8);
    append(&packed, contents, size);
    free(contents);
    return packed;
}

/* An ELF file for x86-64 with the sections "", .text, .hip_fatbin and .shstrtab. */
static struct bytes host_file(const struct bytes *fatbin)
{
    static const char names[] = "\0.text\0.hip_fatbin\0.shstrtab";
    struct bytes file = {0};
    Elf64_Ehdr header = {.e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = 1,
                         .e_ehsize = 64,
                         .e_shentsize = 64,
                         .e_shnum = 4,
                         .e_shstrndx = 3};
    memcpy(header.e_ident, ELFMAG "\2\1\1", 7);
    const Elf64_Shdr sections[4] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = 64, .sh_size = 16},
        {.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_offset = 128, .sh_size = fatbin->size},
        {.sh_name = 19, .sh_type = SHT_STRTAB, .sh_offset = 128 + fatbin->size, .sh_size = sizeof(names)},
    };
    header.e_shoff = 128 + fatbin->size + sizeof(names);
    append(&file, &header, sizeof(header));
    pad(&file, 128);
    append(&file, fatbin->at, fatbin->size);
    append(&file, names, sizeof(names));
    append(&file, sections, sizeof(sections));
    return file;
}

/* The bundle used by most tests: the host's empty entry and two code objects. */
struct fixture {
    struct bytes saxpy, vecadd, plain;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    static const struct bytes nothing;
    fixture.saxpy = read_example("saxpy.co");
    fixture.vecadd = read_example("vecadd.co");
    fixture.plain =
        plain_bundle((const struct part[]){{"host-x86_64-unknown-linux--", &nothing},
                                           {"hipv4-amdgcn-amd-amdhsa--gfx900", &fixture.saxpy},
                                           {"hip-amdgcn-amd-amdhsa-gfx90a:xnack-", &fixture.vecadd}},
                     3);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    free(fixture->saxpy.at);
    free(fixture->vecadd.at);
    free(fixture->plain.at);
    return 0;
}

/* ---- reading bundles ---- */

static void check_entry(const struct wm_bundle *bundle, size_t index, const char *id, const char *target,
                        const struct bytes *contents)
{
    const struct wm_bundle_entry *entry = wm_bundle_entry(bundle, index);
    assert_non_null(entry);
    assert_string_equal(entry->id, id);
    assert_string_equal(entry->target, target);
    if (contents) {
        const uint8_t *bytes;
        assert_int_equal(wm_bundle_bytes(bundle, index, &bytes, NULL), WM_OK);
        assert_int_equal(entry->size, contents->size);
        assert_memory_equal(bytes, contents->at, contents->size);
    } else {
        assert_int_equal(entry->size, 0);
    }
}

/* `file` contains the fixture's bundle `copies` times. */
static void check_fixture(const struct fixture *fixture, const struct bytes *file, size_t copies)
{
    struct wm_bundle *bundle;
    struct wm_diag diag;
    if (wm_bundle_open(file->at, file->size, "t", &bundle, &diag) != WM_OK)
        fail_msg("%s", diag.message);
    assert_int_equal(wm_bundle_entry_count(bundle), 3 * copies);
    for (size_t i = 0; i < copies; i++) {
        check_entry(bundle, 3 * i, "host-x86_64-unknown-linux--", "", NULL);
        check_entry(bundle, 3 * i + 1, "hipv4-amdgcn-amd-amdhsa--gfx900", "gfx900", &fixture->saxpy);
        check_entry(bundle, 3 * i + 2, "hip-amdgcn-amd-amdhsa-gfx90a:xnack-", "gfx90a:xnack-",
                    &fixture->vecadd);
        assert_int_equal(wm_bundle_entry(bundle, 3 * i + 2)->bundle, i);
    }
    assert_null(wm_bundle_entry(bundle, 3 * copies));
    const uint8_t *bytes;
    assert_int_equal(wm_bundle_bytes(bundle, 3 * copies, &bytes, &diag), WM_NOT_FOUND);
    wm_bundle_close(bundle);
}

static void every_layout_is_read(void **state)
{
    const struct fixture *fixture = *state;
    check_fixture(fixture, &fixture->plain, 1);
    struct bytes all = {0};
    append(&all, fixture->plain.at, fixture->plain.size);
    size_t copies = 1;
    for (unsigned version = 1; version <= 3; version++)
        for (unsigned method = ZLIB; method <= ZSTD; method++) {
            struct bytes packed = packed_bundle(&fixture->plain, version, method);
            check_fixture(fixture, &packed, 1);
            pad(&all, 4096 >> version); /* linkers align the bundle of each compilation unit */
            append(&all, packed.at, packed.size);
            copies++;
            free(packed.at);
        }
    check_fixture(fixture, &all, copies);
    pad(&all, 64);
    struct bytes host = host_file(&all);
    check_fixture(fixture, &host, copies);
    free(host.at);
    free(all.at);
}

static void what_is_no_bundle_is_not_found(void **state)
{
    const struct fixture *fixture = *state;
    struct wm_bundle *bundle;
    struct wm_diag diag;
    assert_int_equal(wm_bundle_open(fixture->saxpy.at, fixture->saxpy.size, "t", &bundle, &diag),
                     WM_NOT_FOUND);
    assert_null(bundle);
    assert_int_equal(wm_bundle_open("", 0, NULL, &bundle, &diag), WM_NOT_FOUND);
}

/* ---- large files ---- */

/* A program with the fixture's bundle, one with an entry of 1 MiB, and the fixture's again, written to a
 * file. */
static void write_large_file(const struct fixture *fixture, char *path)
{
    struct bytes all = {0}, contents = {calloc(1, 1 << 20), 1 << 20};
    assert_non_null(contents.at);
    struct bytes large = plain_bundle((const struct part[]){{"host-x86_64-unknown-linux--", &contents}}, 1);
    append(&all, fixture->plain.at, fixture->plain.size);
    append(&all, large.at, large.size);
    append(&all, fixture->plain.at, fixture->plain.size);
    free(contents.at);
    free(large.at);
    struct bytes host = host_file(&all);
    const int file = mkstemp(strcpy(path, "/tmp/wavemem-bundle-XXXXXX"));
    assert_true(file >= 0);
    assert_int_equal(write(file, host.at, host.size), host.size);
    close(file);
    free(host.at);
    free(all.at);
}

static void a_large_file_is_read_as_far_as_it_is_needed(void **state)
{
    const struct fixture *fixture = *state;
    struct wm_bundle *bundle;
    struct wm_diag diag;
    const uint8_t *bytes;
    char path[64];
    write_large_file(fixture, path);
    assert_int_equal(wm_bundle_open_file(path, &bundle, &diag), WM_OK);
    assert_int_equal(wm_bundle_entry_count(bundle), 7);
    check_entry(bundle, 1, "hipv4-amdgcn-amd-amdhsa--gfx900", "gfx900", &fixture->saxpy);
    check_entry(bundle, 6, "hip-amdgcn-amd-amdhsa-gfx90a:xnack-", "gfx90a:xnack-", &fixture->vecadd);
    wm_bundle_close(bundle);

    /* Truncated in the meantime: data already read stays, the rest is an I/O error. */
    assert_int_equal(wm_bundle_open_file(path, &bundle, &diag), WM_OK);
    assert_int_equal(truncate(path, 4096), 0);
    check_entry(bundle, 1, "hipv4-amdgcn-amd-amdhsa--gfx900", "gfx900", &fixture->saxpy);
    assert_int_equal(wm_bundle_bytes(bundle, 3, &bytes, &diag), WM_IO);
    assert_non_null(strstr(diag.message, "was shortened while it was read"));
    wm_bundle_close(bundle);
    assert_int_equal(unlink(path), 0);
}

/* An open object does not need its file any more. */
static void a_file_that_is_shortened_does_no_harm(void **state)
{
    const struct fixture *fixture = *state;
    struct wm_object *object, *alone;
    struct wm_machine *machine;
    struct wm_code code, expected;
    struct wm_diag diag;
    uint64_t address, size;
    char path[64];
    write_large_file(fixture, path);
    assert_int_equal(wm_object_open(fixture->saxpy.at, fixture->saxpy.size, "t", NULL, &alone, &diag), WM_OK);
    assert_int_equal(wm_object_open_file(path, "5", &object, &diag), WM_OK);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(wm_object_code(object, &code, 1), wm_object_code(alone, &expected, 1));
    assert_int_equal(code.size, expected.size);
    assert_memory_equal(code.bytes, expected.bytes, code.size);
    assert_int_equal(wm_machine_create(wm_object_target(object), &machine, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    assert_int_equal(wm_symbol(machine, object, "saxpy", &address, &size, &diag), WM_OK);
    assert_memory_equal(wm_host_pointer(machine, address, size), expected.bytes, size);
    wm_machine_destroy(machine);
    wm_object_close(object);
    wm_object_close(alone);
    assert_int_equal(unlink(path), 0);
}

/* ---- selection ---- */

/* Index of the entry that `target` selects among entries of these targets; otherwise the message. */
static void check_choice(const char *const *targets, const char *target, long expected, const char *message)
{
    static const struct bytes nothing;
    struct part parts[8];
    char ids[8][64];
    size_t count = 0;
    for (; targets[count]; count++) {
        snprintf(ids[count], sizeof(ids[count]), "hipv4-amdgcn-amd-amdhsa--%s", targets[count]);
        parts[count] =
            (struct part){*targets[count] ? ids[count] : "host-x86_64-unknown-linux-gnu-", &nothing};
    }
    struct bytes file = plain_bundle(parts, count);
    struct wm_bundle *bundle;
    struct wm_diag diag = {0};
    const struct wmi_bundle_entry *entry;
    assert_int_equal(wm_bundle_open(file.at, file.size, "t", &bundle, &diag), WM_OK);
    const enum wm_status status = wmi_bundle_choose(bundle, target, &entry, &diag);
    if (expected >= 0) {
        if (status || &entry->public != wm_bundle_entry(bundle, (size_t)expected))
            fail_msg("%s: entry %td, %s; expected %ld", target ? target : "none",
                     entry ? entry - bundle->entries : -1, diag.message, expected);
    } else if (!status || entry || !strstr(diag.message, message)) {
        fail_msg("%s: %d, '%s'; expected '%s'", target ? target : "none", status, diag.message, message);
    }
    wm_bundle_close(bundle);
    free(file.at);
}

static void entries_are_chosen_by_target(void **state)
{
    static const char *const one[] = {"", "gfx900", NULL}, *const none[] = {"", NULL},
                             *const several[] = {"",
                                                 "gfx900",
                                                 "gfx90a",
                                                 "gfx90a:xnack+",
                                                 "gfx90a:sramecc+:xnack-",
                                                 "gfx906:xnack-",
                                                 "gfx9-generic",
                                                 NULL},
                             *const twice[] = {"gfx900", "gfx906", "gfx900", NULL};
    (void)state;
    check_choice(one, NULL, 1, NULL);
    check_choice(one, "gfx900", 1, NULL);
    check_choice(one, "gfx900:xnack+", 1, NULL);
    check_choice(one, "gfx90", -1, "no entry for 'gfx90'; it has 1 gfx900");
    check_choice(one, "gfx9000", -1, "no entry for");
    check_choice(one, "0", 0, NULL);
    check_choice(one, "2", -1, "no entry 2; they are numbered 0 to 1");
    check_choice(one, "99999999999999999999999", -1, "no entry");
    check_choice(one, "", -1, "no entry for ''");
    check_choice(none, NULL, -1, "none of its 1 entries is for a GPU");
    check_choice(several, NULL, -1, "6 code objects; say which, by target or number: 1 gfx900, 2 gfx90a, 3");
    check_choice(several, "gfx90a", 2, NULL);
    check_choice(several, "gfx90a:xnack+", 3, NULL);
    check_choice(several, "gfx90a:xnack-:sramecc+", 4, NULL);
    check_choice(several, "gfx90a:sramecc-", 2 - 3,
                 "2 entries fit 'gfx90a:sramecc-'; say which, by its number: "
                 "2 gfx90a, 3 gfx90a:xnack+");
    check_choice(several, "gfx906", 5, NULL);
    check_choice(several, "gfx906:sramecc+", 5, NULL);
    check_choice(several, "gfx906:xnack+", -1, "no entry for 'gfx906:xnack+'; it has 1 gfx900, 2 gfx90a, 3");
    check_choice(several, "gfx9-generic", 6, NULL);
    check_choice(twice, "gfx900", -1, "2 entries fit 'gfx900'; say which, by its number: 0 gfx900, 2 gfx900");
    check_choice(twice, "gfx906", 1, NULL);
}

static void objects_are_opened_from_bundles(void **state)
{
    const struct fixture *fixture = *state;
    struct bytes packed = packed_bundle(&fixture->plain, 2, ZSTD), host = host_file(&fixture->plain);
    const struct bytes *files[] = {&fixture->plain, &packed, &host};
    for (unsigned i = 0; i < 3; i++) {
        struct wm_object *object;
        struct wm_diag diag;
        const struct wm_kernel *kernel;
        if (wm_object_open(files[i]->at, files[i]->size, "t.hipfb", "gfx900", &object, &diag) != WM_OK)
            fail_msg("%s", diag.message);
        assert_string_equal(wm_object_target(object), "gfx900");
        assert_int_equal(wm_object_find_kernel(object, "saxpy", &kernel, &diag), WM_OK);
        assert_int_equal(wm_object_find_kernel(object, "vecadd", &kernel, &diag), WM_NOT_FOUND);
        assert_non_null(strstr(diag.message, "t.hipfb (1 gfx900): no kernel 'vecadd'; it has 'saxpy'"));
        wm_object_close(object);
    }
    free(packed.at);
    free(host.at);
}

static void a_code_object_must_be_for_the_target_that_is_asked_for(void **state)
{
    const struct fixture *fixture = *state;
    struct wm_object *object;
    struct wm_diag diag;
    assert_int_equal(wm_object_open(fixture->saxpy.at, fixture->saxpy.size, "t", "gfx900", &object, &diag),
                     WM_OK);
    wm_object_close(object);
    assert_int_equal(wm_object_open(fixture->saxpy.at, fixture->saxpy.size, "t", "gfx906", &object, &diag),
                     WM_NOT_FOUND);
    assert_non_null(strstr(diag.message, "t: is for gfx900, not for 'gfx906'"));
}

/* ---- corrupt files ---- */

static uint32_t random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Opens everything; all outcomes must be safe, and refusals must give a message. */
static enum wm_status open_all(const uint8_t *bytes, size_t size)
{
    struct wm_bundle *bundle;
    struct wm_object *object;
    struct wm_diag diag = {0};
    const enum wm_status status = wm_bundle_open(bytes, size, "t", &bundle, &diag);
    if (status) {
        assert_null(bundle);
        assert_int_equal(diag.status, status);
        assert_true(strlen(diag.message) > 10);
        return status;
    }
    for (size_t i = 0; i < wm_bundle_entry_count(bundle); i++) {
        const struct wm_bundle_entry *entry = wm_bundle_entry(bundle, i);
        volatile size_t sum = strlen(entry->id) + strlen(entry->target);
        const uint8_t *contents;
        assert_int_equal(wm_bundle_bytes(bundle, i, &contents, &diag), WM_OK);
        for (size_t b = 0; b < entry->size; b += 256)
            sum += contents[b];
        if (*entry->target && wm_object_open(bytes, size, "t", entry->target, &object, &diag) == WM_OK)
            wm_object_close(object);
    }
    wm_bundle_close(bundle);
    return WM_OK;
}

/* The start of the fixture is cut after every byte, the rest after some. */
static void every_truncation_is_refused(void **state)
{
    const struct fixture *fixture = *state;
    struct bytes files[5] = {fixture->plain, packed_bundle(&fixture->plain, 2, ZSTD),
                             packed_bundle(&fixture->plain, 3, ZLIB), packed_bundle(&fixture->plain, 1, ZSTD),
                             host_file(&fixture->plain)};
    for (unsigned i = 0; i < 5; i++) {
        for (size_t size = i == 4 ? 64 : 24; size < files[i].size; size += size < 400 ? 1 : 97) {
            uint8_t *cut = malloc(size);
            memcpy(cut, files[i].at, size);
            const enum wm_status status = open_all(cut, size);
            if (status != WM_BAD_FILE)
                fail_msg("file %u, %zu of %zu bytes: status %d", i, size, files[i].size, status);
            free(cut);
        }
        if (i)
            free(files[i].at);
    }
}

static void flipped_bytes_do_no_harm(void **state)
{
    const struct fixture *fixture = *state;
    const unsigned rounds = reduced() ? 300 : 2000;
    struct bytes small = {0}; /* small, so that flips hit something */
    append(&small,
           "\x7f"
           "ELF and so on",
           14);
    struct bytes tiny = plain_bundle((const struct part[]){{"hipv4-amdgcn-amd-amdhsa--gfx900", &small},
                                                           {"host-x86_64-unknown-linux-", &small}},
                                     2);
    struct bytes files[6] = {fixture->plain,
                             packed_bundle(&fixture->plain, 2, ZSTD),
                             packed_bundle(&tiny, 1, ZSTD),
                             packed_bundle(&tiny, 3, ZLIB),
                             tiny,
                             host_file(&tiny)};
    uint64_t random = 11;
    for (unsigned f = 0; f < 6; f++) {
        uint8_t *copy = malloc(files[f].size);
        unsigned refused = 0;
        for (unsigned i = 0; i < rounds; i++) {
            memcpy(copy, files[f].at, files[f].size);
            for (unsigned flips = 1 + i % 3; flips; flips--) {
                const size_t most = i & 1 || files[f].size < 200 ? files[f].size : 200;
                copy[random_number(&random) % most] = (uint8_t)random_number(&random);
            }
            refused += open_all(copy, files[f].size) != WM_OK;
        }
        assert_true(refused > rounds / 20);
        free(copy);
        if (f)
            free(files[f].at);
    }
    free(small.at);
}

static void one_wrong_field_gives_its_message(void **state)
{
    const struct fixture *fixture = *state;
    struct bytes packed[4] = {{0}};
    for (unsigned version = 1; version <= 3; version++)
        packed[version] = packed_bundle(&fixture->plain, version, ZSTD);
    struct bytes host = host_file(&fixture->plain);
    const size_t section = host.size - 2 * 64; /* the header of .hip_fatbin */
    const struct {
        const struct bytes *file;
        size_t offset, size;
        uint64_t value;
        enum wm_status status;
        const char *message;
    } cases[] = {
        {&fixture->plain, 24, 8, 0, WM_BAD_FILE, "bundle 1 at 0x20: begins with neither"},
        {&fixture->plain, 24, 8, UINT64_MAX, WM_BAD_FILE, "18446744073709551615 entries; its"},
        {&fixture->plain, 24, 8, 1u << 20, WM_BAD_FILE, "1048576 entries"},
        {&fixture->plain, 32, 8, UINT64_MAX, WM_BAD_FILE,
         "entry 0: bytes 0xffffffffffffffff + 0x0; there are"},
        {&fixture->plain, 40, 8, UINT64_MAX, WM_BAD_FILE, "entry 0: bytes 0xd0 + 0xffffffffffffffff"},
        {&fixture->plain, 48, 8, UINT64_MAX - 30, WM_BAD_FILE,
         "entry 0: an id of 0xffffffffffffffe1 bytes at 0x38"},
        {&packed[2], 4, 2, 0, WM_UNSUPPORTED, "compressed bundle of version 0; 1 to 3"},
        {&packed[2], 4, 2, 4, WM_UNSUPPORTED, "compressed bundle of version 4; 1 to 3"},
        {&packed[2], 6, 2, 2, WM_UNSUPPORTED, "compression method 2; 0 (zlib) and 1 (zstd)"},
        {&packed[2], 6, 2, 0, WM_BAD_FILE, "do not give the"}, /* zstd data read by zlib */
        {&packed[2], 8, 4, 23, WM_BAD_FILE, "a compressed bundle of 0x17 bytes"},
        {&packed[2], 8, 4, 0xffffffff, WM_BAD_FILE, "a compressed bundle of 0xffffffff bytes"},
        {&packed[2], 12, 4, 0xffffffff, WM_UNSUPPORTED,
         "decompresses to 0xffffffff bytes; at most 0x40000000"},
        {&packed[2], 12, 4, fixture->plain.size + 1, WM_BAD_FILE, "less than it says"},
        {&packed[2], 12, 4, fixture->plain.size - 1, WM_BAD_FILE, "do not give the"},
        {&packed[3], 8, 8, UINT64_MAX, WM_BAD_FILE, "a compressed bundle of 0xffffffffffffffff bytes"},
        {&packed[3], 16, 8, UINT64_MAX, WM_UNSUPPORTED, "decompresses to 0xffffffffffffffff bytes"},
        {&packed[1], 8, 4, 0, WM_BAD_FILE, "do not give the 0x0"},
        {&packed[1], 20, 4, 0, WM_BAD_FILE, "do not give the"}, /* not a zstd frame */
        {&host, 18, 2, 183, WM_OK, ""},                         /* any machine type */
        {&host, section, 4, 8, WM_BAD_FILE, "ELF for machine 62 without a section .hip_fatbin"},
        {&host, section, 4, 0xffffffff, WM_BAD_FILE, "without a section .hip_fatbin"},
        {&host, section + 24, 8, UINT64_MAX, WM_BAD_FILE, "section .hip_fatbin: bytes 0xffffffffffffffff + "},
        {&host, section + 24, 8, 129, WM_BAD_FILE,
         "section .hip_fatbin: bundle 0 at 0x81: begins with neither"},
        {&host, section + 24, 8, 96, WM_BAD_FILE, "section .hip_fatbin: bundle 0 at 0x80: entry 2"},
        {&host, section + 32, 8, 0, WM_BAD_FILE, "holds no bundle"},
        {&host, 40, 8, 0, WM_BAD_FILE, "without a section"},
        {&host, 40, 8, UINT64_MAX, WM_BAD_FILE, "without a section"},
        {&host, 58, 2, 63, WM_BAD_FILE, "without a section"},
        {&host, 62, 2, 0xffff, WM_BAD_FILE, "without a section"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wm_diag diag = {0};
        struct wm_bundle *bundle;
        uint8_t saved[8], *at = cases[i].file->at + cases[i].offset;
        memcpy(saved, at, 8);
        for (size_t b = 0; b < cases[i].size; b++)
            at[b] = (uint8_t)(cases[i].value >> 8 * b);
        const enum wm_status status =
            wm_bundle_open(cases[i].file->at, cases[i].file->size, "t", &bundle, &diag);
        if (status != cases[i].status || !strstr(diag.message, cases[i].message))
            fail_msg("case %zu: status %d, '%s'; expected '%s'", i, status, diag.message, cases[i].message);
        wm_bundle_close(bundle);
        memcpy(at, saved, 8);
    }
    for (unsigned version = 1; version <= 3; version++)
        free(packed[version].at);
    free(host.at);
}

/* ---- names ---- */

/* Expected: the output of c++filt without parameters; bundle_llvm.py compares the whole list with LLVM. */
static void mangled_names_are_read(void **state)
{
    static const struct {
        const char *mangled, *source;
    } cases[] = {
        {"saxpy", "saxpy"},
        {"_Z5saxpyPKfPff", "saxpy"},
        {"_Z5scaleIfLi4EEvPT_S0_", "scale<float, 4>"},
        {"_ZN4math5scaleIfLi4EEEvPT_", "math::scale<float, 4>"},
        {"_ZN12_GLOBAL__N_15scaleEv", "(anonymous namespace)::scale"},
        {"_ZL5localv", "local"},
        {"_ZN1aIiE1bILb1ELin3ELj7EEEvv", "a<int>::b<true, -3, 7u>"},
        {"_Z1fIPKN2ns1tEEvT_", "f<ns::t const*>"},
        {"_Z1fI3vecIfEDF16_EvT_", "f<vec<float>, _Float16>"},
        /* unsupported: the part before it is kept */
        {"_ZN2ns1fINS_1tEEEvT_", "ns::f"},
        {"_Z1fIXplLi1ELi2EEEvv", "f"},
        {"_ZSt4sortv", "_ZSt4sortv"},
        /* invalid */
        {"_Z", "_Z"},
        {"_Z99999999999999999999999f", "_Z99999999999999999999999f"},
        {"_Z9f", "_Z9f"},
        {"_ZN", "_ZN"},
        {"_ZN1a", "a"},
        {"_ZNE", "_ZNE"},
        {"_Z1fI", "f"},
        {"_Z1fIL", "f"},
        {"_Z1fILi", "f"},
        {"_Z1fIPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP", "f"},
    };
    (void)state;
    struct wmi_arena arena = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[600];
        assert_string_equal(wmi_source_name(&arena, cases[i].mangled), cases[i].source);
        assert_string_equal(wm_source_name(cases[i].mangled, text, sizeof text), cases[i].source);
    }
    char room[4];
    assert_string_equal(wm_source_name("_Z5scalePf", room, sizeof room), "sca");
    char *deep = malloc(100001); /* nesting is limited */
    memset(deep, 'I', 100000);
    memcpy(deep, "_Z1f", 4);
    for (size_t i = 4; i + 3 < 100000; i += 3)
        memcpy(deep + i, "I1f", 3);
    deep[100000] = '\0';
    assert_string_equal(wmi_source_name(&arena, deep), "f");
    free(deep);
    wmi_arena_free(&arena);

    assert_true(wmi_source_name_is("math::scale<float, 4>", "math::scale<float, 4>"));
    assert_true(wmi_source_name_is("math::scale<float, 4>", "math::scale<float,4>"));
    assert_true(wmi_source_name_is("math::scale<vec<int>>", "math::scale"));
    assert_true(wmi_source_name_is("a<int>::b<true>", "a<int>::b"));
    assert_false(wmi_source_name_is("a<int>::b<true>", "a"));
    assert_false(wmi_source_name_is("math::scale<float, 4>", "scale"));
    assert_false(wmi_source_name_is("math::scale<float, 4>", "math::scale<float"));
    assert_false(wmi_source_name_is("", "a"));
    assert_false(wmi_source_name_is(">", ">>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_is_read),
        cmocka_unit_test(what_is_no_bundle_is_not_found),
        cmocka_unit_test(a_large_file_is_read_as_far_as_it_is_needed),
        cmocka_unit_test(a_file_that_is_shortened_does_no_harm),
        cmocka_unit_test(entries_are_chosen_by_target),
        cmocka_unit_test(objects_are_opened_from_bundles),
        cmocka_unit_test(a_code_object_must_be_for_the_target_that_is_asked_for),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(flipped_bytes_do_no_harm),
        cmocka_unit_test(one_wrong_field_gives_its_message),
        cmocka_unit_test(mangled_names_are_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
