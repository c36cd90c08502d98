/* SPDX-License-Identifier: MIT */
/* Uninitialised values: rules, and texts of findings. */
#include "check/uninit/uninit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 256 };

/* Indices of the details of findings. */
enum { USE, OTHER_PC, SOURCE, PARTIAL };

static const char *const source_names[] = {
    [WMI_UNINIT_GLOBAL] = "global memory", [WMI_UNINIT_LDS] = "LDS", [WMI_UNINIT_SCRATCH] = "private memory"};

static void other_text(const struct wmi_words *words, const struct wmi_found *found, char *text, size_t size)
{
    struct wm_profile_row row = {.pc = found->detail[OTHER_PC]};
    words->describe(words->user, 0, &row);
    if (row.file && row.line)
        snprintf(text, size, "'%s' in line %u", row.text ? row.text : "?", row.line);
    else
        snprintf(text, size, "'%s' at %s+0x%" PRIx64, row.text ? row.text : "?", row.kernel ? row.kernel : "",
                 row.offset);
}

static void word_load(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    static const char *const uses[] = {
        [WMI_UNINIT_BRANCH] = "the branch %s depends on them",
        [WMI_UNINIT_EXEC] = "the active lanes after %s depend on them",
        [WMI_UNINIT_ADDRESS] = "the address of %s depends on them",
        [WMI_UNINIT_STORE] = "%s stores a value that depends on them",
        [WMI_UNINIT_MESSAGE] = "the message of %s depends on them",
    };
    const enum wmi_uninit_use use = (enum wmi_uninit_use)found->detail[USE];
    char other[TEXT], tail[2 * TEXT];
    const int length =
        snprintf(message, size, "reads %" PRIu64 " byte%s of %s that nobody wrote", found->bytes,
                 found->bytes == 1 ? "" : "s", source_names[found->detail[SOURCE]]);
    if (use == WMI_UNINIT_ATOMIC || length < 0 || (size_t)length >= size)
        return;
    other_text(words, found, other, sizeof other);
    const char *at = strstr(uses[use], "%s");
    snprintf(tail, sizeof tail, "%.*s%s%s", (int)(at - uses[use]), uses[use], other, at + 2);
    snprintf(message + length, size - (size_t)length, ", and %s", tail);
}

static void word_use(const struct wmi_words *words, const struct wmi_found *found, char *message, size_t size)
{
    static const char *const uses[] = {
        [WMI_UNINIT_BRANCH] = "the condition of the branch depends",
        [WMI_UNINIT_EXEC] = "which lanes are active from here on depends",
        [WMI_UNINIT_ADDRESS] = "the address depends",
        [WMI_UNINIT_STORE] = "the stored value depends",
        [WMI_UNINIT_MESSAGE] = "the message depends",
        [WMI_UNINIT_ATOMIC] = "the result depends",
    };
    char other[TEXT];
    if (found->detail[SOURCE] == WMI_UNINIT_REGISTER) {
        const struct wmi_uninit *check = words->checker;
        wmi_shadow_place_name((unsigned)found->detail[OTHER_PC], check->vgprs, other, sizeof other);
        snprintf(message, size, "%s on %s, which nobody set", uses[found->detail[USE]], other);
        return;
    }
    other_text(words, found, other, sizeof other);
    snprintf(message, size, "%s on %" PRIu64 " byte%s of %s that nobody wrote%s%s", uses[found->detail[USE]],
             found->bytes, found->bytes == 1 ? "" : "s", source_names[found->detail[SOURCE]],
             found->detail[USE] == WMI_UNINIT_ATOMIC ? "" : ", loaded by ",
             found->detail[USE] == WMI_UNINIT_ATOMIC ? "" : other);
}

#define REMEDY "write the bytes before they are read; LDS, private memory and new allocations have no values"

static const struct wmi_check_rule load_rules[WMI_UNINIT_SOURCES] = {
    [WMI_UNINIT_GLOBAL] = {.name = "uninit-global",
                           .class = WM_CHECK_UNINIT,
                           .by_allocation = true,
                           .remedy = REMEDY,
                           .word = word_load},
    [WMI_UNINIT_LDS] = {.name = "uninit-lds", .class = WM_CHECK_UNINIT, .remedy = REMEDY, .word = word_load},
    [WMI_UNINIT_SCRATCH] = {.name = "uninit-scratch",
                            .class = WM_CHECK_UNINIT,
                            .remedy = REMEDY,
                            .word = word_load},
};

/* Rules for values from memory, and from registers. */
static const struct wmi_check_rule use_rules[2][WMI_UNINIT_USES] = {
#define RULE(use, text, memory)                                                                              \
    [use] = {.name = text,                                                                                   \
             .class = WM_CHECK_UNINIT,                                                                       \
             .remedy = REMEDY,                                                                               \
             .has_first = memory,                                                                            \
             .by_allocation = memory,                                                                        \
             .word = word_use}
#define RULES(memory)                                                                                         \
    {                                                                                                         \
        RULE(WMI_UNINIT_BRANCH, "uninit-branch", memory),   RULE(WMI_UNINIT_EXEC, "uninit-exec", memory),     \
        RULE(WMI_UNINIT_ADDRESS, "uninit-address", memory), RULE(WMI_UNINIT_STORE, "uninit-store", memory),   \
        RULE(WMI_UNINIT_MESSAGE, "uninit-message", memory), RULE(WMI_UNINIT_ATOMIC, "uninit-atomic", memory), \
    }
    RULES(true),
    RULES(false),
#undef RULES
#undef RULE
};

/* Details of copies. */
enum { COPY_SIZE, COPY_MISSING };

static void word_copy(const struct wmi_words *words, const struct wmi_found *found, char *message,
                      size_t size)
{
    const uint64_t bytes = found->detail[COPY_SIZE], missing = found->detail[COPY_MISSING];
    (void)words;
    if (missing == bytes)
        snprintf(message, size, "%" PRIu64 " byte%s that nobody wrote %s copied to the host", bytes,
                 bytes == 1 ? "" : "s", bytes == 1 ? "is" : "are");
    else
        snprintf(message, size, "%" PRIu64 " bytes are copied to the host, of which nobody wrote %" PRIu64,
                 bytes, missing);
}

/* Of bytes of which nobody has written any, and of others: a program may copy more than it uses. */
static const struct wmi_check_rule copy_rules[2] = {
#define RULE(how)                                                                                            \
    {.name = "uninit-copy",                                                                                  \
     .class = WM_CHECK_UNINIT,                                                                               \
     .severity = how,                                                                                        \
     .by_allocation = true,                                                                                  \
     .remedy = REMEDY,                                                                                       \
     .word = word_copy}
    RULE(WM_SEVERITY_ERROR),
    RULE(WM_SEVERITY_NOTE),
#undef RULE
};

struct wmi_found wmi_uninit_copy_found(const struct wmi_uninit_copy *copy)
{
    return (struct wmi_found){
        .rule = &copy_rules[copy->missing < copy->size],
        .first_pc = copy->low, /* tells findings apart, which have no instruction */
        .count = 1,
        .space = WMI_SPACE_GLOBAL,
        .address = copy->first,
        .bytes = copy->missing,
        .detail = {[COPY_SIZE] = copy->size, [COPY_MISSING] = copy->missing},
        .allocation = copy->name,
        .allocation_address = copy->low,
        .allocation_bytes = copy->high - copy->low,
    };
}

uint32_t wmi_uninit_add_origin(struct wmi_uninit_shard *shard, const struct wmi_uninit_origin *origin)
{
    struct wmi_uninit *check = shard->check;
    for (uint32_t i = check->origin_count; i; i--)
        if (check->origin[i].pc == origin->pc && check->origin[i].partial == origin->partial &&
            check->origin[i].places == origin->places && check->origin[i].source == origin->source)
            return i;
    if (check->origin_count + 1 >= WMI_UNINIT_ORIGINS) {
        check->missed = "too many loads of undefined values";
        return 0;
    }
    if (!check->origin && !(check->origin = malloc(WMI_UNINIT_ORIGINS * sizeof *check->origin))) {
        shard->missed = true;
        return 0;
    }
    check->origin[++check->origin_count] = *origin;
    return check->origin_count;
}

struct wmi_uninit_origin wmi_uninit_origin_of(const struct wmi_uninit *check, uint32_t number)
{
    if (number < WMI_UNINIT_ORIGINS)
        return number ? check->origin[number] : (struct wmi_uninit_origin){0};
    return (struct wmi_uninit_origin){
        .source = WMI_UNINIT_REGISTER, .address = number - WMI_UNINIT_ORIGINS, .partial = true, .places = 15};
}

/* Adds where the value lies in the private memory of its lane. The memory of a wave is interleaved by dwords.
 * Source: LLVM AMDGPUUsage, "Private Segment". */
static void tell_private(const struct wmi_check_dispatch *dispatch, struct wmi_found *found)
{
    enum { DWORD = 4 };
    const uint64_t at = (found->address - dispatch->scratch) % dispatch->scratch_stride;
    found->address = at / (DWORD * dispatch->wave_lanes) * DWORD + at % DWORD;
    found->allocation = WMI_PRIVATE_MEMORY;
    found->allocation_bytes = dispatch->lane_scratch;
}

void wmi_uninit_use(struct wmi_uninit_shard *shard, uint32_t number, enum wmi_uninit_use use, uint64_t pc,
                    uint32_t wave, uint64_t lanes)
{
    const struct wmi_uninit *check = shard->check;
    const struct wmi_uninit_origin from = wmi_uninit_origin_of(check, number), *origin = &from;
    struct wmi_found found = {
        .count = 1,
        .launch = check->dispatch.launch,
        .has_wave = true,
        .wave = wave,
        .group = shard->group->number,
        .lanes = lanes,
        .space = origin->source == WMI_UNINIT_LDS ? WMI_SPACE_LDS : WMI_SPACE_GLOBAL,
        .address = origin->address,
        .bytes = origin->bytes,
        .detail = {[USE] = use, [SOURCE] = origin->source, [PARTIAL] = origin->partial},
    };
    if (!number)
        return;
    if (origin->source == WMI_UNINIT_SCRATCH && check->dispatch.scratch_stride)
        tell_private(&check->dispatch, &found);
    if (check->origins) {
        found.rule = &use_rules[origin->source == WMI_UNINIT_REGISTER][use];
        found.pc = pc;
        found.first_pc = origin->pc;
        found.detail[OTHER_PC] = origin->source == WMI_UNINIT_REGISTER ? origin->address : origin->pc;
    } else {
        found.rule = &load_rules[origin->source];
        found.pc = origin->pc;
        found.detail[OTHER_PC] = pc;
    }
    shard->missed |= !wmi_found_add(&shard->check->findings, &found);
}
