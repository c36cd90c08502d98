/* SPDX-License-Identifier: MIT */
/* Which instructions were executed, how often, and how exact each is. */
#include "profile/fidelity.h"

#include "exec/program.h"

#include <stdlib.h>
#include <string.h>

struct wm_fidelity {
    struct wmi_use use;
    uint64_t *executed;
    struct wm_fidelity_row *rows;
};

struct wm_fidelity *wmi_fidelity_create(void)
{
    struct wm_fidelity *fidelity = calloc(1, sizeof *fidelity);
    if (!fidelity)
        return NULL;
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
    free(fidelity->executed);
    free(fidelity->rows);
    free(fidelity);
}

struct wmi_use *wmi_fidelity_use(struct wm_fidelity *fidelity)
{
    return &fidelity->use;
}

uint64_t *wmi_fidelity_counters(struct wm_fidelity *fidelity)
{
    return fidelity->executed;
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
