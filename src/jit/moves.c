/* SPDX-License-Identifier: MIT */
#include "jit/moves.h"

static void move_register(struct wmi_host *host, unsigned to, unsigned from)
{
    wmi_evex_plain(host, WMI_VMOVDQA32, to, 0, wmi_zmm(from));
}

void wmi_move_registers(struct wmi_host *host, uint8_t from[WMI_ZMM_REGISTERS])
{
    unsigned readers[WMI_ZMM_REGISTERS + 1] = {0}, left = 0; /* others that still have to get it */
    for (unsigned r = 0; r < WMI_ZMM_REGISTERS; r++)
        if (from[r] != r) {
            readers[from[r]]++;
            left++;
        }
    while (left) {
        unsigned moved = 0, last = 0;
        for (unsigned r = 0; r < WMI_ZMM_REGISTERS; r++) {
            if (from[r] == r)
                continue;
            last = r;
            if (readers[r])
                continue;
            move_register(host, r, from[r]);
            readers[from[r]]--;
            from[r] = (uint8_t)r;
            moved++;
        }
        left -= moved;
        if (moved)
            continue;
        move_register(host, WMI_SCRATCH, last); /* breaks a circle */
        for (unsigned r = 0; r < WMI_ZMM_REGISTERS; r++)
            if (from[r] == last && r != last)
                from[r] = WMI_SCRATCH;
        readers[WMI_SCRATCH] = readers[last];
        readers[last] = 0;
    }
}
