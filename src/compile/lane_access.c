/* SPDX-License-Identifier: MIT */
/* Host code of loads and stores of a dword per lane whose distances from a place of the host are known. */
#include "compile/lane_access.h"

static const uint32_t vpcompressd = WMI_EVEX(0x8b, WMI_MAP_0F38, WMI_PREFIX_66, 0);

void wmi_access_splat(struct wmi_stretch *s, unsigned reg)
{
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_GPR, reg, 0, wmi_zmm(WMI_RAX));
}

void wmi_access_collect(struct wmi_stretch *s, uint32_t instruction, unsigned a, unsigned b, unsigned mask,
                        int predicate, bool is_first)
{
    wmi_evex(&s->host, instruction, is_first ? WMI_K : WMI_K + 1, a, wmi_zmm(b), mask, predicate);
    if (!is_first)
        wmi_mask(&s->host, WMI_KOR, WMI_K, WMI_K, WMI_K + 1);
}

/* A jump taken if the strip has no active lane; 0: all are active. */
static size_t unless_active(struct wmi_stretch *s, unsigned mask)
{
    if (!mask)
        return 0;
    wmi_kortest(&s->host, mask, mask);
    return wmi_jump_if(&s->host, WMI_IF_EQUAL);
}

/* EAX = the value of the first active lane. A jump is taken if those of other active lanes differ. */
static size_t unless_same(struct wmi_stretch *s, unsigned value, unsigned first, unsigned mask)
{
    enum { MOVSXD = 0x63 };
    if (mask) {
        wmi_evex(&s->host, vpcompressd, value, 0, wmi_zmm(first), mask | WMI_ZEROING, WMI_NO_IMMEDIATE);
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(first));
    } else {
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD, first, 0, wmi_zmm(value));
    }
    wmi_evex(&s->host, WMI_VPCMPUD, WMI_K, value, wmi_zmm(first), mask, WMI_DIFFERS);
    wmi_evex_plain(&s->host, WMI_VMOVD_GPR, first, 0, wmi_zmm(WMI_RAX));
    wmi_scalar_registers(&s->host, MOVSXD, true, WMI_RAX, WMI_RAX); /* below 0 if lane 0 is inactive */
    wmi_kortest(&s->host, WMI_K, WMI_K);
    const size_t jump = wmi_jump_if(&s->host, WMI_IF_NOT_EQUAL);
    wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
    return jump;
}

/* RAX = the place of lane 0, if those of active lanes follow one another; else a jump is taken. */
static size_t unless_in_a_run(struct wmi_stretch *s, unsigned distance, unsigned mask,
                              const uint8_t scratch[2])
{
    wmi_evex_plain(&s->host, WMI_VPSUBD, scratch[0], distance, wmi_at(WMI_R9, 0));
    return unless_same(s, scratch[0], scratch[1], mask);
}

/* k5 = the active lanes, which gathers and scatters clear. */
static void take_active(struct wmi_stretch *s, unsigned mask)
{
    if (mask)
        wmi_mask(&s->host, WMI_KAND, WMI_K, mask, mask);
    else
        wmi_mask(&s->host, WMI_KXNOR, WMI_K, WMI_K, WMI_K);
}

static void load_strip(struct wmi_stretch *s, unsigned distance, unsigned d, unsigned mask,
                       const uint8_t scratch[2], unsigned ahead)
{
    const size_t idle = unless_active(s, mask);
    const size_t not_in_a_run = unless_in_a_run(s, distance, mask, scratch);
    if (ahead)
        wmi_prefetch(&s->host, WMI_RAX, (int32_t)ahead, false);
    wmi_evex(&s->host, WMI_VMOVUPS_LOAD, d, 0, wmi_at(WMI_RAX, 0), mask ? mask | WMI_ZEROING : mask,
             WMI_NO_IMMEDIATE);
    const size_t loaded = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_a_run);
    const size_t scattered = unless_same(s, distance, scratch[1], mask);
    wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, d, 0, wmi_at(WMI_RAX, 0));
    const size_t broadcast = wmi_jump(&s->host);
    wmi_land(&s->host, scattered);
    take_active(s, mask);
    wmi_evex_indexed(&s->host, WMI_VPGATHERDD, d, WMI_RCX, distance, WMI_K);
    wmi_land(&s->host, loaded);
    wmi_land(&s->host, broadcast);
    if (mask)
        wmi_land(&s->host, idle);
}

void wmi_access_load(struct wmi_stretch *s, const struct wmi_rows *distance, const struct wmi_rows *d,
                     const uint8_t scratch[2], unsigned ahead)
{
    if (d->uniform) {
        wmi_evex_plain(&s->host, WMI_VMOVD_GPR, distance->reg[0], 0, wmi_zmm(WMI_RAX));
        wmi_scalar_registers(&s->host, WMI_ADD, true, WMI_RAX, WMI_RCX);
        wmi_evex_plain(&s->host, WMI_VPBROADCASTD_MEMORY, d->reg[0], 0, wmi_at(WMI_RAX, 0));
        return;
    }
    for (unsigned i = 0; i < s->strips; i++)
        load_strip(s, wmi_rows_register(distance, i), d->reg[i], wmi_access_mask(s, i), scratch, ahead);
}

static void store_strip(struct wmi_stretch *s, unsigned distance, unsigned data, unsigned mask,
                        const uint8_t scratch[2], unsigned ahead)
{
    const size_t idle = unless_active(s, mask);
    const size_t not_in_a_run = unless_in_a_run(s, distance, mask, scratch);
    if (ahead)
        wmi_prefetch(&s->host, WMI_RAX, (int32_t)ahead, true);
    wmi_evex(&s->host, WMI_VMOVUPS_STORE, data, 0, wmi_at(WMI_RAX, 0), mask, WMI_NO_IMMEDIATE);
    const size_t stored = wmi_jump(&s->host);
    wmi_land(&s->host, not_in_a_run);
    take_active(s, mask);
    wmi_evex_indexed(&s->host, WMI_VPSCATTERDD, data, WMI_RCX, distance, WMI_K);
    wmi_land(&s->host, stored);
    if (mask)
        wmi_land(&s->host, idle);
}

void wmi_access_store(struct wmi_stretch *s, const struct wmi_rows *distance, const struct wmi_rows *data,
                      const uint8_t scratch[2], unsigned ahead)
{
    for (unsigned i = 0; i < s->strips; i++)
        store_strip(s, wmi_rows_register(distance, i), wmi_rows_register(data, i), wmi_access_mask(s, i),
                    scratch, ahead);
}
