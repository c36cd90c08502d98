/* SPDX-License-Identifier: MIT */
/* Results that depend on the order of workgroups and waves: how they are worded, and who stored them. */
#include "check/sync/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- rules ---- */

static void word_result(const struct wmi_words *words, const struct wmi_found *found, char *message,
                        size_t size)
{
    const struct wm_finding *row = words->finding;
    const uint64_t values = found->detail[WMI_ORDER_VALUES], group = found->detail[WMI_ORDER_GROUP];
    const int digits = 2 * (int)found->bytes;
    char other[80] = "";
    if (group != UINT64_MAX)
        snprintf(other, sizeof other, " (by wave %" PRIu64 " of workgroup %" PRIu64 ")",
                 found->detail[WMI_ORDER_WAVE], group);
    snprintf(message, size,
             "byte %" PRIu64 " of '%s': 0x%0*" PRIx32 " with workgroups and waves in order, 0x%0*" PRIx32
             "%s in the order of seed %" PRIu64 "; %" PRIu64 " byte%s differ%s",
             found->address - row->allocation_address, row->allocation ? row->allocation : "", digits,
             (uint32_t)values, digits, (uint32_t)(values >> 32), other, found->detail[WMI_ORDER_SEED],
             found->detail[WMI_ORDER_BYTES], found->detail[WMI_ORDER_BYTES] == 1 ? "" : "s",
             found->detail[WMI_ORDER_BYTES] == 1 ? "s" : "");
}

static void word_sum(const struct wmi_words *words, const struct wmi_found *found, char *message, size_t size)
{
    word_result(words, found, message, size);
    const size_t used = strlen(message);
    snprintf(message + used, size - used,
             "; atomics add floats there, whose sum is rounded after each addition");
}

static void word_fault(const struct wmi_words *words, const struct wmi_found *found, char *message,
                       size_t size)
{
    (void)words;
    snprintf(message, size,
             "the kernel ends with workgroups and waves in order, and faults or waits forever in the order "
             "of seed %" PRIu64,
             found->detail[WMI_ORDER_SEED]);
}

const struct wmi_check_rule wmi_order_rules[WMI_ORDER_RULES] = {
    [WMI_ORDER_RESULT] = {.name = "order-dependent",
                          .source = "OpenCL, \"Execution Model\": workgroups execute in any order",
                          .remedy = "let what is stored depend on the work-item alone; sums of floats and "
                                    "results of atomics in a fixed order",
                          .class = WM_CHECK_PORTABILITY,
                          .severity = WM_SEVERITY_NOTE,
                          .has_first = true,
                          .word = word_result},
    [WMI_ORDER_SUM] = {.name = "order-dependent-sum",
                       .source = "IEEE 754-2019, 10.4: sums of floats are not associative",
                       .remedy =
                           "add integers or fixed-point numbers, or the partial sums of workgroups in a "
                           "fixed order",
                       .class = WM_CHECK_PORTABILITY,
                       .severity = WM_SEVERITY_NOTE,
                       .has_first = true,
                       .word = word_sum},
    [WMI_ORDER_FAULT] = {.name = "order-fault",
                         .source = "OpenCL, \"Execution Model\": workgroups execute in any order",
                         .remedy =
                             "take work by a ticket (atomic_inc) instead of the number of the workgroup "
                             "if it waits for lower ones",
                         .class = WM_CHECK_PORTABILITY,
                         .severity = WM_SEVERITY_NOTE,
                         .word = word_fault},
};

/* ---- who stored it ---- */

static void *begin_thread(void *self)
{
    return self;
}

static void end_thread(void *self, void *local)
{
    (void)self, (void)local;
}

static void see_access(void *local, const struct wmi_access *access, uint32_t slot)
{
    struct wmi_last_store *last = local;
    (void)slot;
    if (access->kind == WMI_ACCESS_LOAD || access->path == WMI_PATH_CONTROL)
        return;
    uint64_t stored = 0;
    for (unsigned i = 0; i < access->elements; i++) {
        const struct wmi_element *element = &access->element[i];
        const uint64_t bad = element->bad_range | element->bad_align | element->bad_aperture;
        for (uint64_t left = element->space == WMI_SPACE_GLOBAL ? element->mask & ~bad : 0; left;
             left &= left - 1) {
            const uint64_t at = element->address[__builtin_ctzll(left)];
            if (at < last->address + last->size && at + access->bytes > last->address)
                stored |= left & -left;
        }
    }
    if (!stored)
        return;
    last->adds_floats |= access->facts->operation == WM_ATOMIC_FLOAT_ADD ||
                         access->facts->operation == WM_ATOMIC_PACKED_ADD_F16 ||
                         access->facts->operation == WM_ATOMIC_PACKED_ADD_BF16;
    last->pc = access->pc;
    last->lanes = stored;
    last->wave = access->wave;
    last->group = wmi_grid_number(last->groups, last->cluster, access->workgroup);
}

void wmi_last_store_init(struct wmi_last_store *last, uint64_t address, unsigned size,
                         const uint32_t groups[3], const uint32_t cluster[3])
{
    *last = (struct wmi_last_store){.address = address, .size = size};
    memcpy(last->groups, groups, sizeof last->groups);
    memcpy(last->cluster, cluster, sizeof last->cluster);
    last->observer = (struct wmi_observer){
        .self = last, .thread_begin = begin_thread, .thread_end = end_thread, .access = see_access};
}
