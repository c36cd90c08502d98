/* SPDX-License-Identifier: MIT */
/* The rules of the memory checker, and how their findings are worded. */
#include "check/memory/memory_rules.h"

#include "memory/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHORT = 160 };

/* "atomic add of 4 bytes" */
static void access_text(const struct wmi_found *found, char *text, size_t size)
{
    const uint64_t access = found->detail[WMI_DETAIL_ACCESS];
    const enum wm_access_kind kind = (enum wm_access_kind)(access & 0xff);
    const enum wm_atomic atomic = (enum wm_atomic)(access >> 8 & 0xff);
    snprintf(text, size, "%s%s%s of %" PRIu64 " byte%s", wm_access_kind_name(kind),
             kind == WM_ACCESS_ATOMIC && atomic ? " " : "",
             kind == WM_ACCESS_ATOMIC && atomic ? wm_atomic_name(atomic) : "", found->bytes,
             found->bytes == 1 ? "" : "s");
}

static enum wmi_path path_of(const struct wmi_found *found)
{
    return (enum wmi_path)(found->detail[WMI_DETAIL_ACCESS] >> 16 & 0xff);
}

/* "'a' of 1024 bytes" */
static void allocation_text(const struct wm_finding *finding, char *text, size_t size)
{
    const bool named = finding->allocation && *finding->allocation;
    snprintf(text, size, "%s%s%s of %" PRIu64 " byte%s", named ? "'" : "an allocation",
             named ? finding->allocation : "", named ? "'" : "", finding->allocation_bytes,
             finding->allocation_bytes == 1 ? "" : "s");
}

struct texts {
    char access[SHORT], allocation[2 * SHORT];
};

static struct texts texts_of(const struct wmi_words *words, const struct wmi_found *found)
{
    struct texts t;
    access_text(found, t.access, sizeof t.access);
    allocation_text(words->finding, t.allocation, sizeof t.allocation);
    return t;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void word_out_of_bounds(const struct wmi_words *words, const struct wmi_found *found, char *message,
                               size_t size)
{
    const struct texts t = texts_of(words, found);
    const struct wm_finding *finding = words->finding;
    const uint64_t low = finding->allocation_address, high = low + finding->allocation_bytes;
    const uint64_t at = found->address, end = at + found->bytes;
    if (!finding->allocation)
        snprintf(message, size, "%s at 0x%" PRIx64 ", where nothing is allocated", t.access, at);
    else if (at >= high)
        snprintf(message, size, "%s %" PRIu64 " byte%s behind %s", t.access, at - high, plural(at - high),
                 t.allocation);
    else if (end <= low && end >= at)
        snprintf(message, size, "%s %" PRIu64 " byte%s before %s", t.access, low - at, plural(low - at),
                 t.allocation);
    else if (at >= low)
        snprintf(message, size, "%s at byte %" PRIu64 " of %s: the last %" PRIu64 " lie%s behind it",
                 t.access, at - low, t.allocation, end - high, end - high == 1 ? "s" : "");
    else
        snprintf(message, size, "%s that begins %" PRIu64 " byte%s before %s", t.access, low - at,
                 plural(low - at), t.allocation);
}

static void word_freed(const struct wmi_words *words, const struct wmi_found *found, char *message,
                       size_t size)
{
    const struct texts t = texts_of(words, found);
    snprintf(message, size, "%s at byte %" PRIu64 " of %s, which has been freed", t.access,
             found->address - words->finding->allocation_address, t.allocation);
}

static void word_null(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    const struct texts t = texts_of(words, found);
    snprintf(message, size, "%s at 0x%" PRIx64 ", a null pointer%s", t.access, found->address,
             found->address ? " plus an offset" : "");
}

static void word_other(const struct wmi_words *words, const struct wmi_found *found, char *message,
                       size_t size)
{
    const struct texts t = texts_of(words, found);
    const struct wm_finding *finding = words->finding;
    const uint64_t low = finding->allocation_address, high = low + finding->allocation_bytes;
    const uint64_t at = found->address;
    snprintf(message, size,
             "%s %" PRIu64 " bytes %s %s, which its base address 0x%" PRIx64
             " lies in: it reaches another allocation",
             t.access, at >= high ? at - high : low - at, at >= high ? "behind" : "before", t.allocation,
             found->detail[WMI_DETAIL_LIMIT]);
}

/* "store of 4 bytes to byte 8 of " and what `what` says */
static void word_forbidden(const struct wmi_words *words, const struct wmi_found *found, const char *what,
                           char *message, size_t size)
{
    const struct texts t = texts_of(words, found);
    snprintf(message, size, "%s to byte %" PRIu64 " of %s%s", t.access,
             found->address - words->finding->allocation_address, t.allocation, what);
}

static void word_read_only(const struct wmi_words *words, const struct wmi_found *found, char *message,
                           size_t size)
{
    word_forbidden(words, found, ", which is read-only", message, size);
}

static void word_code(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    word_forbidden(words, found, ": the kernel's instructions", message, size);
}

static void word_kernarg(const struct wmi_words *words, const struct wmi_found *found, char *message,
                         size_t size)
{
    word_forbidden(words, found, ": the arguments of the kernel", message, size);
}

static void word_const(const struct wmi_words *words, const struct wmi_found *found, char *message,
                       size_t size)
{
    word_forbidden(words, found, ", which only arguments declared as read-only point to", message, size);
}

static void word_misaligned(const struct wmi_words *words, const struct wmi_found *found, char *message,
                            size_t size)
{
    const struct texts t = texts_of(words, found);
    snprintf(message, size, "%s at %s 0x%" PRIx64 ", which is not aligned as the instruction requires",
             t.access, found->space == WMI_SPACE_GLOBAL ? "address" : "offset", found->address);
}

static void word_aperture(const struct wmi_words *words, const struct wmi_found *found, char *message,
                          size_t size)
{
    const struct texts t = texts_of(words, found);
    snprintf(message, size,
             "%s at 0x%" PRIx64 ", which is no address of global memory: it is not canonical, or lies in the "
             "aperture of LDS or private memory",
             t.access, found->address);
}

static void word_private_atomic(const struct wmi_words *words, const struct wmi_found *found, char *message,
                                size_t size)
{
    const struct texts t = texts_of(words, found);
    snprintf(message, size, "%s on private memory, which has atomics of 4 bytes only", t.access);
}

/* Beyond memory that begins at 0. */
static void word_beyond(const struct wmi_found *found, const char *what, const char *of, char *message,
                        size_t size)
{
    char access[SHORT];
    const uint64_t limit = found->detail[WMI_DETAIL_LIMIT];
    const uint64_t at = found->address;
    access_text(found, access, sizeof access);
    if (at >= limit)
        snprintf(message, size,
                 "%s at byte %" PRIu64 " of %s, %" PRIu64 " byte%s behind the %" PRIu64 " of %s", access, at,
                 what, at - limit, plural(at - limit), limit, of);
    else
        snprintf(message, size,
                 "%s at byte %" PRIu64 " of %s: the last %" PRIu64 " lie behind the %" PRIu64 " of %s",
                 access, at, what, at + found->bytes - limit, limit, of);
}

static void word_lds(const struct wmi_words *words, const struct wmi_found *found, char *message, size_t size)
{
    (void)words;
    if (found->address + found->bytes <= found->detail[WMI_DETAIL_LIMIT])
        word_beyond(found, "LDS, behind the limit in M0", "the workgroup", message, size);
    else
        word_beyond(found, path_of(found) == WMI_PATH_FLAT ? "LDS by a flat address" : "LDS", "the workgroup",
                    message, size);
}

static void word_gds(const struct wmi_words *words, const struct wmi_found *found, char *message, size_t size)
{
    (void)words;
    word_beyond(found, "GDS", "the region in M0", message, size);
}

static void word_private(const struct wmi_words *words, const struct wmi_found *found, char *message,
                         size_t size)
{
    const uint64_t limit = found->detail[WMI_DETAIL_LIMIT];
    const struct texts t = texts_of(words, found);
    if (found->address + found->bytes <= limit)
        snprintf(message, size,
                 "%s at byte %" PRIu64 " of private memory: FLAT_SCRATCH is not the address of the wave's",
                 t.access, found->address);
    else
        word_beyond(found, "private memory", "the lane", message, size);
}

/* What a V# says about its size, and what the place is compared with. */
static void word_buffer(const struct wmi_words *words, const struct wmi_found *found, char *message,
                        size_t size)
{
    const uint64_t low = found->detail[WMI_DETAIL_BUFFER], high = found->detail[WMI_DETAIL_RECORDS];
    const uint64_t place = found->detail[WMI_DETAIL_PLACE], last = found->detail[WMI_DETAIL_SOFFSET];
    const uint32_t v[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
    const bool idxen = last >> 63;
    const struct wmi_buffer_rules *rules = wmi_memory_buffer_rules(words->checker);
    const bool wide = rules && rules->wide;
    char access[SHORT], which[SHORT] = "";
    access_text(found, access, sizeof access);
    if (path_of(found) == WMI_PATH_SMEM || !rules) {
        snprintf(which, sizeof which, "offset below NUM_RECORDS * max(STRIDE, 1)");
    } else {
        static const char *const checks[] = {
            [WMI_BUFFER_STRUCTURED] = "index below NUM_RECORDS and offset below STRIDE",
            [WMI_BUFFER_INDEX_ONLY] = "index below NUM_RECORDS",
            [WMI_BUFFER_EMPTY_ONLY] = "NUM_RECORDS is not 0",
            [WMI_BUFFER_RAW] = "offset + SOFFSET below NUM_RECORDS",
        };
        const struct wmi_buffer buffer = wmi_buffer_decode(rules, v, true, idxen);
        const bool records =
            buffer.strided && (rules->check == WMI_BUFFER_CHECK_RECORDS ||
                               (rules->check == WMI_BUFFER_CHECK_SWIZZLE && buffer.swizzle) ||
                               (rules->check == WMI_BUFFER_CHECK_IDXEN && idxen));
        if (rules->check == WMI_BUFFER_CHECK_SELECT)
            snprintf(which, sizeof which, "OOB_SELECT %u: %s", buffer.select, checks[buffer.select]);
        else if (wide && buffer.select)
            snprintf(which, sizeof which, "bytes below NUM_RECORDS, and below STRIDE within a record");
        else
            snprintf(which, sizeof which, "%s",
                     records ? "index below NUM_RECORDS, in records" : "offset below NUM_RECORDS, in bytes");
    }
    snprintf(message, size,
             "%s dropped by its V# %08x %08x %08x %08x (base 0x%" PRIx64 ", stride %u, NUM_RECORDS %" PRIu64
             "): index "
             "%u, offset %u, SOFFSET %u are out of range (%s)",
             access, v[0], v[1], v[2], v[3],
             wide ? wmi_buffer_base(rules, v) : wmi_buffer_canonical(v[0] | (uint64_t)v[1] << 32),
             (wide ? v[3] >> 12 : v[1] >> 16) & 0x3fff, wide ? wmi_buffer_wide_records(v) : v[2],
             (uint32_t)place, (uint32_t)(place >> 32), (uint32_t)last, which);
}

static void word_image(const struct wmi_words *words, const struct wmi_found *found, char *message,
                       size_t size)
{
    char access[SHORT];
    (void)words;
    access_text(found, access, sizeof access);
    snprintf(message, size, "%s dropped by its T#: the coordinates are outside of the image", access);
}

static void word_leak(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    char allocation[2 * SHORT];
    (void)found;
    allocation_text(words->finding, allocation, sizeof allocation);
    snprintf(message, size, "%s has not been freed", allocation);
}

#define C_OBJECTS     "C11, 6.5.6 and 6.2.4, on which OpenCL C and C++ agree"
#define VIOLATIONS    "CDNA 3 ISA, \"Memory Violations\""
#define RULE(id, ...) [WMI_RULE_##id] = {.class = WM_CHECK_MEMORY, __VA_ARGS__}

const struct wmi_check_rule wmi_memory_rules[WMI_MEMORY_RULES] = {
    RULE(OUT_OF_BOUNDS, .name = "out-of-bounds", .source = C_OBJECTS, .word = word_out_of_bounds,
         .by_allocation = true,
         .remedy = "compare the index with the number of elements before the access, or allocate more"),
    RULE(USE_AFTER_FREE, .name = "use-after-free", .source = C_OBJECTS, .word = word_freed,
         .by_allocation = true, .remedy = "free the memory after the last kernel that uses it has ended"),
    RULE(NULL_POINTER, .name = "null-pointer", .source = C_OBJECTS, .word = word_null, .nowhere = true,
         .remedy = "pass an allocation for this argument, or test the pointer before the access"),
    RULE(OTHER_ALLOCATION, .name = "other-allocation", .source = C_OBJECTS, .word = word_other,
         .remedy = "compare the index with the number of elements before the access"),
    RULE(READ_ONLY_STORE, .name = "read-only-store", .source = VIOLATIONS, .word = word_read_only,
         .by_allocation = true, .remedy = "store to another buffer, or allocate this one as writable"),
    RULE(CODE_STORE, .name = "code-store", .source = "ELF-64, p_flags: the segment has no PF_W",
         .word = word_code, .remedy = "check how the address is computed"),
    RULE(KERNARG_STORE, .name = "kernarg-store",
         .source = "HSA Programmer's Reference Manual 1.2, \"Kernarg segment\": kernels only read it",
         .word = word_kernarg, .remedy = "copy the argument to a variable and change that"),
    RULE(CONST_STORE, .name = "const-store", .source = "LLVM AMDGPUUsage, .is_const and .access of arguments",
         .word = word_const, .by_allocation = true,
         .remedy = "declare the argument without const, or store to another buffer"),
    RULE(MISALIGNED, .name = "misaligned", .source = "CDNA 4 ISA, \"Memory Alignment\"",
         .word = word_misaligned, .remedy = "align the data to the size of the access"),
    RULE(APERTURE, .name = "aperture", .source = "RDNA 4 ISA, \"Memory aperture\"", .word = word_aperture,
         .nowhere = true, .remedy = "do not pass addresses of LDS or private memory as global pointers"),
    RULE(PRIVATE_ATOMIC, .name = "private-atomic", .source = "RDNA 3 ISA, FLAT", .word = word_private_atomic,
         .remedy = "use plain loads and stores: no other lane can reach private memory"),
    RULE(LDS_OUT_OF_BOUNDS, .name = "lds-out-of-bounds",
         .source = "CDNA 3 ISA, \"Out-of-Range Behavior\": loads return 0, stores are dropped",
         .word = word_lds, .remedy = "enlarge the array in LDS (or the dynamic LDS of the launch)"),
    RULE(GDS_OUT_OF_BOUNDS, .name = "gds-out-of-bounds",
         .source = "CDNA 3 ISA, \"Out-of-Range Behavior\": loads return 0, stores are dropped",
         .word = word_gds, .remedy = "set the base and size of the region in M0"),
    RULE(PRIVATE_OUT_OF_BOUNDS, .name = "private-out-of-bounds", .source = C_OBJECTS, .word = word_private,
         .remedy = "compare the index with the number of elements of the private array"),
    RULE(BUFFER_DROPPED, .name = "buffer-dropped", .source = "RDNA 3 ISA, \"Range Checking\"",
         .severity = WM_SEVERITY_NOTE, .word = word_buffer,
         .remedy = "if the access is meant to happen, enlarge NUM_RECORDS"),
    RULE(IMAGE_DROPPED, .name = "image-dropped", .source = "RDNA 3 ISA, \"Image instructions\"",
         .severity = WM_SEVERITY_NOTE, .word = word_image,
         .remedy = "compare the coordinates with the size of the image"),
    RULE(LEAK, .name = "leak", .source = C_OBJECTS, .word = word_leak, .severity = WM_SEVERITY_NOTE,
         .pairs = true, .by_allocation = true, .remedy = "free the memory when no kernel needs it any more"),
};
