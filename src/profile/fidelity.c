/* SPDX-License-Identifier: MIT */
/* Which instructions were executed, how often, and how exact each is. */
#include "profile/fidelity.h"

#include "lower/lower.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct wm_fidelity {
    struct wmi_observer observer;
    bool busy;
    pthread_mutex_t lock; /* for adding what a worker counted */
    uint64_t *executed;   /* wmi_execution_counters() of them */
    struct wm_fidelity_row *rows;
};

static void *begin_thread(void *self)
{
    (void)self;
    return calloc(wmi_execution_counters(), sizeof(uint64_t));
}

static void end_thread(void *self, void *local)
{
    struct wm_fidelity *fidelity = self;
    const uint64_t *executed = local;
    pthread_mutex_lock(&fidelity->lock);
    for (size_t i = 0; i < wmi_execution_counters(); i++)
        fidelity->executed[i] += executed[i];
    pthread_mutex_unlock(&fidelity->lock);
    free(local);
}

static uint64_t *counters(void *local)
{
    return local;
}

struct wm_fidelity *wmi_fidelity_create(void)
{
    struct wm_fidelity *fidelity = calloc(1, sizeof *fidelity);
    if (!fidelity)
        return NULL;
    fidelity->observer = (struct wmi_observer){.self = fidelity,
                                               .thread_begin = begin_thread,
                                               .thread_end = end_thread,
                                               .execution_counters = counters};
    pthread_mutex_init(&fidelity->lock, NULL);
    fidelity->executed = calloc(wmi_execution_counters(), sizeof *fidelity->executed);
    fidelity->rows = calloc(wmi_execution_counters(), sizeof *fidelity->rows);
    if (fidelity->executed && fidelity->rows)
        return fidelity;
    wmi_fidelity_destroy(fidelity);
    return NULL;
}

void wmi_fidelity_destroy(struct wm_fidelity *fidelity)
{
    if (!fidelity)
        return;
    pthread_mutex_destroy(&fidelity->lock);
    free(fidelity->executed);
    free(fidelity->rows);
    free(fidelity);
}

bool *wmi_fidelity_busy(struct wm_fidelity *fidelity)
{
    return &fidelity->busy;
}

const struct wmi_observer *wmi_fidelity_observer(const struct wm_fidelity *fidelity)
{
    return &fidelity->observer;
}

static int worst_and_commonest_first(const void *a, const void *b)
{
    const struct wm_fidelity_row *x = a, *y = b;
    if (x->grade != y->grade)
        return x->grade < y->grade ? 1 : -1;
    if (x->executions != y->executions)
        return x->executions < y->executions ? 1 : -1;
    const int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->remark, y->remark);
}

const struct wm_fidelity_row *wmi_fidelity_rows(struct wm_fidelity *fidelity, size_t *count)
{
    static const enum wm_grade grades[] = {
        [WMI_GRADE_EXACT] = WM_GRADE_EXACT,
        [WMI_GRADE_APPROX] = WM_GRADE_APPROX,
        [WMI_GRADE_UNVERIFIED] = WM_GRADE_UNVERIFIED,
    };
    const size_t counters = wmi_execution_counters();
    *count = 0;
    for (size_t i = 0; i < counters; i++) {
        static const struct wmi_fidelity exact = {.remark = ""};
        const struct wmi_fidelity *f = i < WMI_INSN_COUNT ? &exact : &wmi_fidelities[i - WMI_INSN_COUNT];
        if (fidelity->executed[i])
            fidelity->rows[(*count)++] =
                (struct wm_fidelity_row){.name = wmi_rows[i < WMI_INSN_COUNT ? i : f->id].name,
                                         .grade = grades[f->grade],
                                         .remark = f->remark,
                                         .executions = fidelity->executed[i]};
    }
    qsort(fidelity->rows, *count, sizeof *fidelity->rows, worst_and_commonest_first);
    return fidelity->rows;
}
