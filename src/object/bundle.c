/* SPDX-License-Identifier: MIT */
/* Reads offload bundles: plain ones, compressed ones, and those in the .hip_fatbin section of host programs.
 *
 * Sources: LLVM 19, "ClangOffloadBundler" (layout, entry ids, target ids); clang/Driver/OffloadBundler.h
 * (headers of compressed bundles, versions 1 to 3). The hash in those headers is not checked; LLVM checks it
 * only in verbose mode. */
#include "object/input.h"

#include "base/diag.h"
#include "base/zstd.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_ZLIB "this wavemem was built without zlib (-Dzlib=disabled)"
#ifndef WMI_WITHOUT_ZLIB
#include <zlib.h>
enum { HAS_ZLIB = 1 };
#else
enum { HAS_ZLIB = 0 };
#endif

typedef unsigned long long ull;

static const char plain_magic[] = "__CLANG_OFFLOAD_BUNDLE__", packed_magic[] = "CCOB";
enum { PLAIN_MAGIC = sizeof(plain_magic) - 1, PACKED_MAGIC = sizeof(packed_magic) - 1 };
enum { METHOD_ZLIB = 0, METHOD_ZSTD = 1 };   /* llvm::compression::Format */
#define MAX_DECOMPRESSED (UINT64_C(1) << 30) /* our limit, in bytes, for all bundles of an input together */

/* A part of the input that contains bundles, one after the other, with zero padding. */
struct region {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t offset;   /* in the input, for messages */
    const char *where; /* "", or " section .hip_fatbin" */
};

static uint64_t number(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = size; i--;)
        value = value << 8 | bytes[i];
    return value;
}

static bool begins(const uint8_t *bytes, uint64_t size, const char *magic)
{
    const size_t length = strlen(magic);
    return size >= length && memcmp(bytes, magic, length) == 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static enum wm_status no_memory(const struct wm_bundle *input, struct wm_diag *diag)
{
    return wmi_fail(diag, WM_NO_MEMORY, "%s: no memory for its bundles", input->name);
}

/* ---- plain bundles ---- */

/* The target id in an entry's id, KIND-TRIPLE-TARGET: starts after the last "-" that precedes "gfx", features
 * aside. Splitting at "-" would fail: triples have three or four parts, and features end in "-", too. */
static const char *target_in(const char *id)
{
    const char *found = "", *end = id + strcspn(id, ":");
    for (const char *at = id; (at = strstr(at, "-gfx")) && at < end; at++)
        found = at + 1;
    return found;
}

static enum wm_status add_entry(struct wm_bundle *input, const struct wm_bundle_entry *entry,
                                const uint8_t *id, uint64_t length, const uint8_t *bytes,
                                struct wm_diag *diag)
{
    if (input->entry_count == input->entry_room) {
        const size_t room = input->entry_room ? 2 * input->entry_room : 8;
        struct wmi_bundle_entry *grown = realloc(input->entries, room * sizeof(*grown));
        if (!grown)
            return no_memory(input, diag);
        input->entries = grown;
        input->entry_room = room;
    }
    const char *text = wmi_arena_text(&input->arena, (const char *)id, length);
    if (!text)
        return no_memory(input, diag);
    struct wmi_bundle_entry *added = &input->entries[input->entry_count++];
    *added = (struct wmi_bundle_entry){.public = *entry, .bytes = bytes};
    added->public.id = text;
    added->public.target = target_in(text);
    return WM_OK;
}

/* Reads the table of the bundle at `bytes`, which has `size` bytes; sets *used to the bundle's end.
 * `where` is the prefix of messages. */
static enum wm_status read_plain(struct wm_bundle *input, const uint8_t *bytes, uint64_t size,
                                 bool compressed, const char *where, uint64_t *used, struct wm_diag *diag)
{
    enum { FIXED = 24 }; /* offset, size, length of the id */
    uint64_t at = PLAIN_MAGIC + 8;
    enum wm_status status = wmi_input_need(input, bytes, less(at, size), diag);
    if (status)
        return status;
    if (size < at)
        return wmi_fail(diag, WM_BAD_FILE, "%s: 0x%llx bytes; a header has 0x20", where, (ull)size);
    const uint64_t count = number(bytes + PLAIN_MAGIC, 8);
    if (count > (size - at) / FIXED)
        return wmi_fail(diag, WM_BAD_FILE, "%s: %llu entries; its 0x%llx bytes have room for at most %llu",
                        where, (ull)count, (ull)size, (ull)((size - at) / FIXED));
    *used = at;
    for (uint64_t i = 0; i < count; i++) {
        if (size - at < FIXED)
            return wmi_fail(diag, WM_BAD_FILE,
                            "%s: entry %llu: at 0x%llx of 0x%llx bytes; it has 24 at least", where, (ull)i,
                            (ull)at, (ull)size);
        status = wmi_input_need(input, bytes + at, FIXED, diag);
        if (status)
            return status;
        const uint64_t offset = number(bytes + at, 8), length = number(bytes + at + 8, 8),
                       id = number(bytes + at + 16, 8);
        at += FIXED;
        if (id > size - at)
            return wmi_fail(diag, WM_BAD_FILE, "%s: entry %llu: an id of 0x%llx bytes at 0x%llx of 0x%llx",
                            where, (ull)i, (ull)id, (ull)at, (ull)size);
        if (offset > size || length > size - offset)
            return wmi_fail(diag, WM_BAD_FILE, "%s: entry %llu: bytes 0x%llx + 0x%llx; there are 0x%llx",
                            where, (ull)i, (ull)offset, (ull)length, (ull)size);
        const struct wm_bundle_entry entry = {
            .size = length, .offset = offset, .bundle = input->bundles, .compressed = compressed};
        status = wmi_input_need(input, bytes + at, id, diag);
        status = status ? status : add_entry(input, &entry, bytes + at, id, bytes + offset, diag);
        if (status)
            return status;
        at += id;
        *used = *used < at ? at : *used;
        *used = *used < offset + length ? offset + length : *used;
    }
    input->bundles++;
    return WM_OK;
}

/* ---- compressed bundles ---- */

struct packed {
    unsigned version, method;
    const uint8_t *bytes;
    uint64_t size; /* compressed; in version 1 an upper limit */
    uint64_t decompressed;
    uint64_t used; /* header and contents; set by decompress() in version 1 */
};

static enum wm_status read_packed_header(const uint8_t *bytes, uint64_t size, const char *where,
                                         struct packed *packed, struct wm_diag *diag)
{
    /* bytes of the fields: file size (from version 2), decompressed size; followed by 8 bytes of hash */
    static const uint8_t widths[][2] = {[1] = {0, 4}, [2] = {4, 4}, [3] = {8, 8}};
    enum { FIXED = PACKED_MAGIC + 4, HASH = 8, VERSIONS = sizeof(widths) / sizeof(widths[0]) };
    if (size < FIXED)
        return wmi_fail(diag, WM_BAD_FILE, "%s: 0x%llx bytes; a compressed bundle's header has at least 20",
                        where, (ull)size);
    packed->version = (unsigned)number(bytes + PACKED_MAGIC, 2);
    packed->method = (unsigned)number(bytes + PACKED_MAGIC + 2, 2);
    if (!packed->version || packed->version >= VERSIONS)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: compressed bundle of version %u; 1 to 3 are supported",
                        where, packed->version);
    if (packed->method > METHOD_ZSTD)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: compression method %u; 0 (zlib) and 1 (zstd) are supported", where,
                        packed->method);
    if (packed->method == METHOD_ZSTD && !WMI_HAS_ZSTD)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: compressed with zstd; " WMI_NO_ZSTD, where);
    if (packed->method == METHOD_ZLIB && !HAS_ZLIB)
        return wmi_fail(diag, WM_UNSUPPORTED, "%s: compressed with zlib; " NO_ZLIB, where);
    const unsigned all = widths[packed->version][0], plain = widths[packed->version][1];
    const unsigned header = FIXED + all + plain + HASH;
    const uint64_t total = all && size >= header ? number(bytes + FIXED, all) : size;
    if (size < header || total < header || total > size)
        return wmi_fail(diag, WM_BAD_FILE,
                        "%s: a compressed bundle of 0x%llx bytes, of which 0x%llx are there; its "
                        "header alone has %u",
                        where, (ull)total, (ull)size, header);
    packed->decompressed = number(bytes + FIXED + all, plain);
    packed->bytes = bytes + header;
    packed->size = total - header;
    packed->used = total;
    return WM_OK;
}

#ifndef WMI_WITHOUT_ZLIB
static const char *decompress_zlib(struct packed *packed, uint8_t *to)
{
    uLongf got = packed->decompressed;
    uLong taken = packed->size;
    const int error = uncompress2(to, &got, packed->bytes, &taken);
    packed->used -= packed->version == 1 ? packed->size - taken : 0; /* which does not say where it ends */
    return error != Z_OK ? zError(error) : got != packed->decompressed ? "less than it says" : NULL;
}
#else
static const char *decompress_zlib(struct packed *packed, uint8_t *to)
{
    (void)packed, (void)to;
    return NO_ZLIB;
}
#endif

/* Decompresses into `to`, packed->decompressed bytes; returns the error, or NULL. */
static const char *decompress(struct packed *packed, uint8_t *to)
{
    if (packed->method == METHOD_ZSTD) {
        const size_t frame =
            packed->version == 1 ? ZSTD_findFrameCompressedSize(packed->bytes, packed->size) : packed->size;
        if (ZSTD_isError(frame))
            return ZSTD_getErrorName(frame);
        const size_t got = ZSTD_decompress(to, packed->decompressed, packed->bytes, frame);
        packed->used -= packed->size - frame;
        return ZSTD_isError(got)             ? ZSTD_getErrorName(got)
               : got != packed->decompressed ? "less than it says"
                                             : NULL;
    }
    return decompress_zlib(packed, to);
}

static enum wm_status read_packed(struct wm_bundle *input, const uint8_t *bytes, uint64_t size,
                                  const char *where, uint64_t *used, struct wm_diag *diag)
{
    enum { LONGEST_HEADER = 32 };
    struct packed packed = {0};
    enum wm_status status = wmi_input_need(input, bytes, less(LONGEST_HEADER, size), diag);
    status = status ? status : read_packed_header(bytes, size, where, &packed, diag);
    status = status ? status : wmi_input_need(input, packed.bytes, packed.size, diag);
    if (status)
        return status;
    if (packed.decompressed > MAX_DECOMPRESSED - input->blob_bytes)
        return wmi_fail(diag, WM_UNSUPPORTED,
                        "%s: decompresses to 0x%llx bytes; at most 0x%llx are possible in one file", where,
                        (ull)packed.decompressed, (ull)MAX_DECOMPRESSED);
    struct wmi_blob *blob = malloc(sizeof(*blob) + packed.decompressed + 1);
    if (!blob)
        return no_memory(input, diag);
    blob->next = input->blobs;
    input->blobs = blob;
    input->blob_bytes += packed.decompressed;
    errno = 0;
    const char *error = decompress(&packed, blob->bytes);
    if (error && errno == ENOMEM)
        return no_memory(input, diag);
    if (error)
        return wmi_fail(diag, WM_BAD_FILE, "%s: its compressed bytes do not give the 0x%llx that it says: %s",
                        where, (ull)packed.decompressed, error);
    *used = packed.used;
    if (!begins(blob->bytes, packed.decompressed, plain_magic))
        return wmi_fail(diag, WM_BAD_FILE, "%s: what it decompresses to does not begin with %s", where,
                        plain_magic);
    uint64_t inner;
    return read_plain(input, blob->bytes, packed.decompressed, true, where, &inner, diag);
}

/* ---- location ---- */

/* Sets *bundle to the first nonzero byte from `at` on, or to the region's end. */
static enum wm_status skip_zeros(const struct wm_bundle *input, const struct region *region, uint64_t at,
                                 uint64_t *bundle, struct wm_diag *diag)
{
    enum { AT_ONCE = 1 << 12 };
    for (uint64_t end; at < region->size; at = end) {
        end = less(at + AT_ONCE, region->size);
        const enum wm_status status = wmi_input_need(input, region->bytes + at, end - at, diag);
        if (status)
            return status;
        while (at < end && !region->bytes[at])
            at++;
        if (at < end)
            break;
    }
    *bundle = at;
    return WM_OK;
}

static enum wm_status read_region(struct wm_bundle *input, const struct region *region, struct wm_diag *diag)
{
    for (uint64_t at = 0; at < region->size;) {
        char where[400];
        uint64_t used = 0;
        enum wm_status status = skip_zeros(input, region, at, &at, diag);
        const uint8_t *bytes = region->bytes + at;
        const uint64_t left = region->size - at;
        if (!status)
            status = wmi_input_need(input, bytes, less(PLAIN_MAGIC, left), diag);
        if (status)
            return status;
        if (!left)
            break;
        snprintf(where, sizeof(where), "%.200s:%s bundle %zu at 0x%llx", input->name, region->where,
                 input->bundles, (ull)(region->offset + at));
        if (begins(bytes, left, plain_magic))
            status = read_plain(input, bytes, left, false, where, &used, diag);
        else if (begins(bytes, left, packed_magic))
            status = read_packed(input, bytes, left, where, &used, diag);
        else
            status = wmi_fail(diag, WM_BAD_FILE, "%s: begins with neither %s nor %s", where, plain_magic,
                              packed_magic);
        if (status)
            return status;
        at += used;
    }
    if (!input->bundles)
        return wmi_fail(diag, WM_BAD_FILE, "%s:%s: holds no bundle", input->name, region->where);
    return WM_OK;
}

static bool inside(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

/* Reads a section header of a host's file; false if it does not exist or cannot be read. */
static bool read_section(const struct wm_bundle *input, const Elf64_Ehdr *header, uint64_t index,
                         Elf64_Shdr *section)
{
    if (header->e_shentsize != sizeof(*section) || header->e_shoff > input->size ||
        index >= (input->size - header->e_shoff) / sizeof(*section))
        return false;
    const uint8_t *bytes = input->bytes + header->e_shoff + index * sizeof(*section);
    if (wmi_input_need(input, bytes, sizeof(*section), NULL))
        return false;
    memcpy(section, bytes, sizeof(*section));
    return true;
}

/* Whether the section's name, in the string table `names`, is `name`; `size` includes its NUL. */
static bool is_called(const struct wm_bundle *input, const Elf64_Shdr *names, const Elf64_Shdr *section,
                      const char *name, size_t size)
{
    const uint8_t *bytes = input->bytes + names->sh_offset + section->sh_name;
    return inside(section->sh_name, size, names->sh_size) && !wmi_input_need(input, bytes, size, NULL) &&
           memcmp(bytes, name, size) == 0;
}

/* Reads the bundles of a program, shared library or object file of the host. Each translation unit
 * contributes a bundle; before linking there may be several sections of this name. */
static enum wm_status read_host(struct wm_bundle *input, const Elf64_Ehdr *header, struct wm_diag *diag)
{
    static const char name[] = ".hip_fatbin";
    Elf64_Shdr first, names, section;
    const bool has = header->e_shoff && read_section(input, header, 0, &first);
    const uint64_t count = has && !header->e_shnum ? first.sh_size : header->e_shnum;
    const uint64_t index = has && header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    bool found = false;
    if (has && read_section(input, header, index, &names) &&
        inside(names.sh_offset, names.sh_size, input->size)) {
        for (uint64_t i = 1; i < count && read_section(input, header, i, &section); i++) {
            if (!is_called(input, &names, &section, name, sizeof(name)) || section.sh_type == SHT_NOBITS)
                continue;
            if (!inside(section.sh_offset, section.sh_size, input->size))
                return wmi_fail(diag, WM_BAD_FILE,
                                "%s: section %s: bytes 0x%llx + 0x%llx; the file has 0x%zx", input->name,
                                name, (ull)section.sh_offset, (ull)section.sh_size, input->size);
            const struct region region = {input->bytes + section.sh_offset, section.sh_size,
                                          section.sh_offset, " section .hip_fatbin:"};
            const enum wm_status status = read_region(input, &region, diag);
            if (status)
                return status;
            found = true;
        }
    }
    if (!found)
        return wmi_fail(
            diag, WM_BAD_FILE,
            "%s: ELF for machine %u without a section %s; expected a code object (machine 224, AMDGPU) "
            "or a HIP program",
            input->name, header->e_machine, name);
    return WM_OK;
}

enum wm_status wmi_bundle_read(struct wm_bundle *input, struct wm_diag *diag)
{
    static_assert(sizeof(Elf64_Ehdr) == 64 && sizeof(Elf64_Shdr) == 64, "ELF64");
    const enum wm_status status =
        wmi_input_need(input, input->bytes, less(sizeof(Elf64_Ehdr), input->size), diag);
    if (status)
        return status;
    if (begins(input->bytes, input->size, plain_magic) || begins(input->bytes, input->size, packed_magic))
        return read_region(input, &(struct region){input->bytes, input->size, 0, ""}, diag);
    Elf64_Ehdr header;
    if (input->size < sizeof(header) || !begins(input->bytes, input->size, ELFMAG))
        return WM_OK;
    memcpy(&header, input->bytes, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine == EM_AMDGPU)
        return WM_OK;
    return read_host(input, &header, diag);
}

/* ---- selection ---- */

/* The sign of the feature `name`, of `length` bytes, in a target id; 0 if absent. */
static char feature(const char *id, const char *name, size_t length)
{
    for (const char *at = strchr(id, ':'); at; at = strchr(at + 1, ':'))
        if (strncmp(at + 1, name, length) == 0 && (at[1 + length] == '+' || at[1 + length] == '-'))
            return at[1 + length];
    return 0;
}

/* Whether all features of `a` have the same sign in `b`; for features that `b` lacks the result is `absent`.
 */
static bool agree(const char *a, const char *b, bool absent)
{
    for (const char *at = strchr(a, ':'); at; at = strchr(at + 1, ':')) {
        const size_t length = strcspn(at + 1, "+-:");
        const char other = feature(b, at + 1, length);
        if (other ? other != at[1 + length] : !absent)
            return false;
    }
    return true;
}

bool wmi_target_id_fits(const char *wanted, const char *has, bool exact)
{
    const size_t length = strcspn(wanted, ":");
    return strcspn(has, ":") == length && memcmp(wanted, has, length) == 0 && agree(wanted, has, !exact) &&
           (!exact || agree(has, wanted, false));
}

/* Up to 300 characters of "3 gfx900, 4 gfx906" and the number of further entries: all that have a target, or
 * if `target` is set those that fit it. */
static void list_entries(const struct wm_bundle *input, const char *target, bool exact, char *text,
                         size_t size)
{
    enum { LONGEST = 40 };
    size_t used = 0, more = 0;
    text[0] = '\0';
    for (size_t i = 0; i < input->entry_count; i++) {
        const char *has = input->entries[i].public.target;
        if (!*has || (target && !wmi_target_id_fits(target, has, exact)))
            continue;
        if (used + LONGEST + 30 > size)
            more++;
        else
            used += (size_t)snprintf(text + used, size - used, "%s%zu %.*s", used ? ", " : "", i,
                                     LONGEST - 12, has);
    }
    if (more)
        snprintf(text + used, size - used, " and %zu more", more);
}

static size_t count_fitting(const struct wm_bundle *input, const char *target, bool exact,
                            const struct wmi_bundle_entry **last)
{
    size_t count = 0;
    for (size_t i = 0; i < input->entry_count; i++) {
        const struct wmi_bundle_entry *entry = &input->entries[i];
        const char *has = entry->public.target;
        if (!*has || (target && !wmi_target_id_fits(target, has, exact)))
            continue;
        *last = entry;
        count++;
    }
    return count;
}

enum wm_status wmi_bundle_choose(const struct wm_bundle *input, const char *target,
                                 const struct wmi_bundle_entry **entry, struct wm_diag *diag)
{
    char list[260];
    *entry = NULL;
    if (target && *target && !target[strspn(target, "0123456789")]) { /* an entry's number */
        const unsigned long long index = strtoull(target, NULL, 10);
        if (index < input->entry_count) {
            *entry = &input->entries[index];
            return WM_OK;
        }
        return wmi_fail(diag, WM_NOT_FOUND, "%s: no entry %.20s; they are numbered 0 to %zu", input->name,
                        target, input->entry_count ? input->entry_count - 1 : 0);
    }
    const struct wmi_bundle_entry *found = NULL;
    bool exact = target != NULL;
    size_t count = count_fitting(input, target, exact, &found);
    if (!count && exact) {
        exact = false;
        count = count_fitting(input, target, exact, &found);
    }
    if (count == 1) {
        *entry = found;
        return WM_OK;
    }
    list_entries(input, count ? target : NULL, exact, list, sizeof(list));
    if (!*list)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: none of its %zu entries is for a GPU target (gfx...)",
                        input->name, input->entry_count);
    if (!count)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: no entry for '%.40s'; it has %s", input->name, target, list);
    if (!target)
        return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: %zu code objects; say which, by target or number: %s",
                        input->name, count, list);
    return wmi_fail(diag, WM_BAD_ARGUMENT, "%s: %zu entries fit '%.40s'; say which, by its number: %s",
                    input->name, count, target, list);
}

/* ---- the public API ---- */

static enum wm_status finish(struct wm_bundle *input, struct wm_bundle **bundle, struct wm_diag *diag)
{
    enum wm_status status = wmi_bundle_read(input, diag);
    if (!status && !input->bundles)
        status = wmi_fail(diag, WM_NOT_FOUND, "%s: holds no offload bundle", input->name);
    if (status)
        wmi_input_close(input);
    else
        *bundle = input;
    return status;
}

enum wm_status wm_bundle_open(const void *bytes, size_t size, const char *name, struct wm_bundle **bundle,
                              struct wm_diag *diag)
{
    struct wm_bundle *input;
    if (!bundle || (!bytes && size))
        return wmi_null(diag, __func__, bundle ? "bytes" : "bundle");
    *bundle = NULL;
    const enum wm_status status = wmi_input_copy(bytes, size, name ? name : "bundle", &input, diag);
    return status ? status : finish(input, bundle, diag);
}

enum wm_status wm_bundle_open_file(const char *path, struct wm_bundle **bundle, struct wm_diag *diag)
{
    struct wm_bundle *input;
    if (!bundle || !path)
        return wmi_null(diag, __func__, bundle ? "path" : "bundle");
    *bundle = NULL;
    const enum wm_status status = wmi_input_file(path, &input, diag);
    return status ? status : finish(input, bundle, diag);
}

void wm_bundle_close(struct wm_bundle *bundle)
{
    wmi_input_close(bundle);
}

size_t wm_bundle_entry_count(const struct wm_bundle *bundle)
{
    return bundle ? bundle->entry_count : 0;
}

const struct wm_bundle_entry *wm_bundle_entry(const struct wm_bundle *bundle, size_t index)
{
    return bundle && index < bundle->entry_count ? &bundle->entries[index].public : NULL;
}

enum wm_status wm_bundle_bytes(const struct wm_bundle *bundle, size_t index, const uint8_t **bytes,
                               struct wm_diag *diag)
{
    if (!bundle || !bytes)
        return wmi_null(diag, __func__, bundle ? "bytes" : "bundle");
    *bytes = NULL;
    if (index >= bundle->entry_count)
        return wmi_fail(diag, WM_NOT_FOUND, "%s: no entry %zu; it has %zu", bundle->name, index,
                        bundle->entry_count);
    const struct wmi_bundle_entry *entry = &bundle->entries[index];
    const enum wm_status status = wmi_input_need(bundle, entry->bytes, entry->public.size, diag);
    if (!status)
        *bytes = entry->bytes;
    return status;
}
