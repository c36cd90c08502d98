/* SPDX-License-Identifier: MIT */
/* Chooses how this host compiles. */
#include "jit/cut.h"
#include "jit/expand/expand.h"
#include "jit/parts.h"

/* ThreadSanitizer does not see that code is published by one atomic store. */
#if defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif

bool wmi_can_compile(enum wmi_cpu_level level)
{
#if !defined(__linux__) || defined(UNDER_THREAD_SANITIZER)
    (void)level;
    return false;
#elif defined(__aarch64__)
    (void)level;
    return true;
#else
    return wmi_can_compile_stretches(level);
#endif
}

uint32_t wmi_lanes_from(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("amd") ? WMI_PAST_CACHES : 0;
#else
    return 0;
#endif
}

bool wmi_compile(const struct wmi_block *block, struct wmi_host_memory **memory,
                 struct wmi_launch_entries *launch, bool *refused)
{
#if defined(__aarch64__)
    (void)launch;
    return wmi_compile_parts(block, &wmi_ir_arm64, memory, refused);
#else
    return wmi_compile_stretches(block, memory, launch, refused);
#endif
}

bool wmi_compiles_step(const struct wmi_step *step)
{
    if (wmi_is_branch(step))
        return true;
#if defined(__aarch64__)
    return wmi_has_expansion((enum wmi_step_id)step->id);
#else
    return step->id == WMI_STEP_stage_EXEC || wmi_step_emitter(step);
#endif
}
