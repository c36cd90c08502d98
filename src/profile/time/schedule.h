/* SPDX-License-Identifier: MIT */
/* Schedules recorded waves on one compute unit: when each of their instructions issues. */
#ifndef WMI_PROFILE_SCHEDULE_H
#define WMI_PROFILE_SCHEDULE_H

#include "isa/rules/registers.h"
#include "isa/rules/wait.h"
#include "profile/time/path.h"
#include "wavemem/wavemem.h"

/* What the schedule needs of an instruction. */
struct wmi_scheduled_code {
    enum wmi_path_kind kind;
    bool vector_memory, barrier;
    double issue;    /* clocks until the next instruction of the wave */
    double busy;     /* clocks of its unit */
    double latency;  /* of an access, without `slower` */
    uint32_t result; /* clocks until its result can be used; 0: at once */
    struct wmi_wait_facts waits;
    struct wmi_span_of_registers *spans; /* span_count of them; only where waves wait for results */
    unsigned span_count;
    enum wm_timeline_unit unit;
};

struct wmi_schedule {
    const struct wmi_scheduled_code *code;
    uint32_t simds;      /* of the unit */
    uint32_t unit_simds; /* that share an address unit */
    uint32_t resident;   /* workgroups at once */
    uint32_t group_waves;
    double turnaround;             /* clocks from the end of a workgroup to the start of the next one */
    double slower;                 /* factor of the latencies of memory */
    struct wm_timeline_wave *wave; /* by workgroup; `step` can be written */
    size_t waves;
};

/* Fills in the times of all waves and steps. Returns the end of the last wave; below 0: no memory. */
double wmi_schedule_run(const struct wmi_schedule *schedule);

#endif
