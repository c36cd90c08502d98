/* SPDX-License-Identifier: MIT */
/* Settings from the environment, where `wavemem exec` puts them; the clock; messages. */
#include "shim/common/common.h"

#include "base/quote.h"
#include "tool/progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct shim_settings settings;

/* A number in the environment; 0 if absent. */
static double option(const char *name)
{
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : 0;
}

void shim_settings_begin(void)
{
    const char *on_fault = getenv("WAVEMEM_ON_FAULT");
    settings = (struct shim_settings){.threads = (uint32_t)option("WAVEMEM_THREADS"),
                                      .timeout = option("WAVEMEM_TIMEOUT"),
                                      .goes_on = on_fault && !strcmp(on_fault, "continue")};
    if (!settings.threads) /* read once, because that takes as long as a small kernel */
        settings.threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

const struct shim_settings *shim_settings(void)
{
    return &settings;
}

unsigned shim_find_products(const struct wm_gpu *products[SHIM_GPUS])
{
    struct wm_diag diag = {0};
    const char *names = getenv("WAVEMEM_GPU");
    unsigned count = 0;
    for (const char *at = names && *names ? names : "gfx900"; *at;) {
        char name[SHIM_NAME];
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == ',');
        if (count == SHIM_GPUS) {
            shim_complain("WAVEMEM_GPU: more than %d GPUs", SHIM_GPUS);
            return 0;
        }
        if (wm_gpu_find(name, &products[count++], &diag)) {
            shim_complain("WAVEMEM_GPU: %s", diag.message);
            return 0;
        }
    }
    return count;
}

void shim_choose_target(const struct wm_gpu *product, unsigned number, char target[SHIM_TARGET])
{
    const char *wanted = getenv("WAVEMEM_TARGET"), *first = product->targets;
    for (unsigned i = 0; wanted && i < number; i++) {
        wanted = strchr(wanted, ',');
        wanted += wanted != NULL;
    }
    const size_t length = wanted ? strcspn(wanted, ",") : 0;
    for (const char *at = first; length && *at; at += strspn(at, " ,")) {
        const size_t own = strcspn(at, " ,");
        if (own == length && !strncmp(at, wanted, own))
            first = at;
        at += own;
    }
    snprintf(target, SHIM_TARGET, "%.*s", (int)strcspn(first, " ,"), first);
}

uint64_t shim_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void shim_report(const char *text)
{
    tool_progress_clear();
    fprintf(stderr, "wavemem: error: %s\n", text);
}

void shim_complain(const char *format, ...)
{
    enum { MOST = 20 };
    static unsigned said;
    const unsigned number = __atomic_add_fetch(&said, 1, __ATOMIC_RELAXED);
    char text[600];
    va_list arguments;
    if (number > MOST)
        return;
    va_start(arguments, format);
    wmi_quote_list(text, sizeof text, WMI_QUOTE_MOST, format, arguments);
    va_end(arguments);
    tool_progress_clear();
    fprintf(stderr, "wavemem: %s\n%s", text,
            number == MOST ? "wavemem: further messages of this kind are not shown\n" : "");
}
