/* SPDX-License-Identifier: MIT */
/* Distribution of workgroups: each is taken once, a worker's own share first, none from the stop on. */
#include "exec/run/deal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 3000 };

/* Workers take workgroups in turn until none below `stop` is left; each of those must be taken exactly
 * once. */
static void check(uint64_t first, uint64_t workgroups, unsigned workers, uint64_t stop)
{
    unsigned char taken[MOST] = {0};
    struct wmi_deal deal;
    uint64_t from = 0, to = 0;
    bool any = true;
    assert_true(wmi_deal_create(&deal, first, workgroups, workers));
    while (any) {
        any = false;
        for (unsigned i = 0; i < workers; i++) {
            if (!wmi_deal_take(&deal, i, first + stop, &from, &to))
                continue;
            any = true;
            assert_true(from >= first && from < to && to <= first + workgroups && from < first + stop);
            for (; from < to; from++)
                taken[from - first]++;
        }
    }
    for (uint64_t i = 0; i < workgroups; i++)
        assert_true(taken[i] == 1 || (taken[i] == 0 && i >= stop));
    wmi_deal_destroy(&deal);
}

static void each_is_taken_once(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 7; workers++)
        for (uint64_t workgroups = 1; workgroups <= MOST; workgroups = workgroups * 3 / 2 + 1)
            for (uint64_t stop = 0; stop <= workgroups; stop += workgroups / 3 + 1) {
                check(0, workgroups, workers, stop);
                check(0, workgroups, workers, workgroups);
                check(UINT32_MAX, workgroups, workers, stop);
            }
}

static void a_worker_has_neighbours_first(void **state)
{
    (void)state;
    struct wmi_deal deal;
    uint64_t from, to, next = 50;
    assert_true(wmi_deal_create(&deal, 0, 100, 2));
    while (next < 100) {
        assert_true(wmi_deal_take(&deal, 1, 100, &from, &to));
        assert_int_equal(from, next);
        next = to;
    }
    assert_true(wmi_deal_take(&deal, 1, 100, &from, &to)); /* then another worker's */
    assert_int_equal(from, 0);
    wmi_deal_destroy(&deal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_taken_once),
        cmocka_unit_test(a_worker_has_neighbours_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
