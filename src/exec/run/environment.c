/* SPDX-License-Identifier: MIT */
/* Reads the variables of the environment. An empty one counts as not set. */
#include "exec/run/environment.h"

#include "base/diag.h"
#include "sem/cpu.h"

#include <stdlib.h>
#include <string.h>

static const char compile_variable[] = "WAVEMEM_COMPILE", delay_variable[] = "WAVEMEM_DELAYS";

static const char *setting_of(const char *variable)
{
    const char *setting = getenv(variable);
    return setting && *setting ? setting : NULL;
}

/* False: unknown setting. */
static bool read_compiling(const char *setting, enum wmi_compiling *compiling)
{
    static const char *const names[] = {
        [WMI_COMPILE_OFF] = "off", [WMI_COMPILE_AUTO] = "auto", [WMI_COMPILE_ALWAYS] = "always"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(setting, names[i])) {
            *compiling = (enum wmi_compiling)i;
            return true;
        }
    return false;
}

enum wmi_compiling wmi_compile_setting(void)
{
    const char *setting = setting_of(compile_variable);
    enum wmi_compiling compiling = WMI_COMPILE_AUTO;
    if (setting)
        read_compiling(setting, &compiling);
    return compiling;
}

uint64_t wmi_delay_setting(void)
{
    const char *setting = setting_of(delay_variable);
    return setting ? strtoull(setting, NULL, 10) : 0;
}

static bool is_compiling(const char *setting)
{
    enum wmi_compiling compiling;
    return read_compiling(setting, &compiling);
}

static bool is_number(const char *setting)
{
    return setting[strspn(setting, "0123456789")] == 0;
}

enum wm_status wmi_environment_check(struct wm_diag *diag)
{
    static const struct {
        const char *variable;
        bool (*exists)(const char *setting);
        const char *expected;
    } variables[] = {
        {WMI_CPU_VARIABLE, wmi_has_cpu_level, "baseline, avx2 or avx512, and no more than this CPU has"},
        {compile_variable, is_compiling, "off, auto or always"},
        {delay_variable, is_number, "a number, 0 for none"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *setting = setting_of(variables[i].variable);
        if (setting && !variables[i].exists(setting))
            return wmi_fail(diag, WM_BAD_ARGUMENT, "%s=%s in the environment: expected %s",
                            variables[i].variable, setting, variables[i].expected);
    }
    return WM_OK;
}
