/* SPDX-License-Identifier: MIT */
/* Operations on rows of lanes against loops over single lanes. Compiled for each CPU level and wave size, and
 * for the plain C equivalents; exits with 77 (skipped) if the host does not support the level. */
#include "base/lanes.h"
#include "frame.h"

#include <stdio.h>

static int failures;

static void check(int ok, const char *what, unsigned lane)
{
    if (!ok && failures++ < 10)
        fprintf(stderr, "%s: lane %u of %u is wrong\n", what, lane, WMI_LANES);
}

/* Random bits, sometimes empty or full sets. */
static uint64_t pick_bits(unsigned round, uint64_t *state)
{
    const uint64_t random = test_random(state);

    return WMI_ALL_LANES & (round % 8 == 0 ? 0 : round % 8 == 1 ? UINT64_MAX : random);
}

static void check_masks(uint64_t bits)
{
    struct wmi_lanes set;

    wmi_lanes_set(&set, bits | (WMI_LANES < 64 ? UINT64_MAX << (WMI_LANES % 64) : 0));
    check(set.bits == bits && !set.full == (bits != WMI_ALL_LANES), "wmi_lanes_set", 0);
    for (unsigned i = 0; i < WMI_LANES; i++)
        check(set.row[i] == (bits >> i & 1 ? UINT32_MAX : 0), "wmi_lanes_expand", i);
}

/* CDNA 3 ISA, V_PERM_B32, BYTE_PERMUTE. */
static uint8_t permuted(uint32_t a, uint32_t b, unsigned select)
{
    const uint64_t data = (uint64_t)a << 32 | b;

    if (select >= 12)
        return select == 12 ? 0 : 0xff;
    if (select >= 8)
        return data >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    return (uint8_t)(data >> 8 * select);
}

static void check_bytes(uint64_t *state)
{
    wmi_word a[WMI_LANES], b[WMI_LANES], select[WMI_LANES], d[WMI_LANES];

    for (unsigned i = 0; i < WMI_LANES; i++) {
        a[i] = (uint32_t)test_random(state);
        b[i] = (uint32_t)test_random(state);
        select[i] = (uint32_t)test_random(state) & (i % 4 ? 0x0f0f0f0f : 0xff8f0fff);
    }
    wmi_lanes_permute_bytes(d, a, b, select);
    for (unsigned i = 0; i < WMI_LANES; i++)
        for (unsigned n = 0; n < 32; n += 8)
            check((d[i] >> n & 0xff) == permuted(a[i], b[i], select[i] >> n & 0xff),
                  "wmi_lanes_permute_bytes", i);
}

static void check_rows(uint64_t bits, uint64_t *state)
{
    wmi_word a[WMI_LANES], b[WMI_LANES], d[WMI_LANES], e[WMI_LANES];
    wmi_word64 pairs[WMI_LANES];
    uint64_t signs = 0;

    for (unsigned i = 0; i < WMI_LANES; i++) {
        a[i] = (uint32_t)test_random(state);
        b[i] = (uint32_t)test_random(state);
        signs |= (uint64_t)(a[i] >> 31) << i;
    }
    check(wmi_lanes_pack(a) == signs, "wmi_lanes_pack", 0);
    wmi_lanes_permute(d, a, b);
    for (unsigned i = 0; i < WMI_LANES; i++)
        check(d[i] == a[b[i] % WMI_LANES], "wmi_lanes_permute", i);
    memcpy(e, a, sizeof e);
    wmi_lanes_permute(e, e, b);
    check(!memcmp(e, d, sizeof e), "wmi_lanes_permute in place", 0);

    wmi_lanes_join(pairs, a, b);
    for (unsigned i = 0; i < WMI_LANES; i++)
        check(pairs[i] == ((uint64_t)b[i] << 32 | a[i]), "wmi_lanes_join", i);
    wmi_lanes_split(d, e, pairs);
    check(!memcmp(d, a, sizeof d) && !memcmp(e, b, sizeof e), "wmi_lanes_split", 0);

    char memory[512], copy[512];
    for (unsigned i = 0; i < sizeof memory; i++)
        memory[i] = copy[i] = (char)test_random(state);
    for (unsigned i = 0; i < WMI_LANES; i++) { /* many of them overlap */
        b[i] = (uint32_t)(test_random(state) % (sizeof memory - 3));
        d[i] = e[i] = (uint32_t)test_random(state);
    }
    wmi_lanes_gather(d, memory, b, bits);
    for (unsigned i = 0; i < WMI_LANES; i++) {
        if (bits >> i & 1)
            memcpy(&e[i], memory + b[i], 4);
        check(d[i] == e[i], "wmi_lanes_gather", i);
    }
    wmi_lanes_scatter(memory, b, a, bits);
    for (unsigned i = 0; i < WMI_LANES; i++)
        if (bits >> i & 1)
            memcpy(copy + b[i], &a[i], 4);
    check(!memcmp(memory, copy, sizeof memory), "wmi_lanes_scatter", 0);
}

int main(void)
{
    uint64_t state = 5;

    if (wmi_cpu_level() < LEVEL)
        return 77;
    for (unsigned round = 0; round < 2000; round++) {
        const uint64_t bits = pick_bits(round, &state);
        check_masks(bits);
        check_rows(bits, &state);
        check_bytes(&state);
    }
    return failures != 0;
}
