/* SPDX-License-Identifier: MIT */
/* Guest memory: placement of allocations, gaps between them, and lookup by address. */
#include "memory/space.h"
#include "exec/memory/apertures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t allocate(struct wmi_space *space, uint64_t size, const char *name)
{
    uint64_t address = 0;
    struct wm_diag diag;
    assert_int_equal(wmi_space_allocate(space, size, 0, name, &address, &diag), WM_OK);
    return address;
}

static void addresses_depend_on_earlier_calls_only(void **state)
{
    (void)state;
    struct wmi_space *a = wmi_space_create(), *b = wmi_space_create();
    const uint64_t sizes[] = {1, 64, 65536, 65537, 12345678, 4096};
    uint64_t end = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint64_t low = allocate(a, sizes[i], "a");
        assert_int_equal(low, allocate(b, sizes[i], "b"));
        assert_int_equal(low % WMI_SPACE_GAP, 0);
        assert_true(low >= end + (i ? 65536 : 0));
        end = low + sizes[i];
    }
    assert_int_equal(wmi_space_find(a, WMI_SPACE_LOW)->low, 0x10000000000);
    wmi_space_destroy(a);
    wmi_space_destroy(b);
}

static void memory_is_zeroed_aligned_and_padded(void **state)
{
    (void)state;
    struct wmi_space *space = wmi_space_create();
    for (uint64_t size = 1; size < 9000000; size = size * 3 + 1) {
        const uint64_t low = allocate(space, size, "zero");
        const unsigned char *host = wmi_space_host(space, low, size);
        assert_non_null(host);
        assert_int_equal((uintptr_t)host % 4096, 0);
        for (uint64_t i = 0; i < size + 64; i++)
            assert_int_equal(host[i], 0);
    }
    wmi_space_destroy(space);
}

static void find_knows_first_and_last_byte(void **state)
{
    (void)state;
    struct wmi_space *space = wmi_space_create();
    assert_null(wmi_space_find(space, WMI_SPACE_LOW));
    assert_null(wmi_space_nearest(space, 0));
    const uint64_t a = allocate(space, 100, "a"), b = allocate(space, 100000, "b");
    const uint64_t c = allocate(space, 1, "c");
    assert_string_equal(wmi_space_find(space, a)->name, "a");
    assert_string_equal(wmi_space_find(space, a + 99)->name, "a");
    assert_null(wmi_space_find(space, a + 100));
    assert_null(wmi_space_find(space, b - 1));
    assert_string_equal(wmi_space_find(space, b + 99999)->name, "b");
    assert_string_equal(wmi_space_find(space, c)->name, "c");
    assert_null(wmi_space_find(space, c + 1));
    assert_null(wmi_space_find(space, 0));
    assert_null(wmi_space_find(space, UINT64_MAX));

    assert_string_equal(wmi_space_nearest(space, 0)->name, "a");
    assert_string_equal(wmi_space_nearest(space, a + 50)->name, "a");
    assert_string_equal(wmi_space_nearest(space, a + 101)->name, "a");
    assert_string_equal(wmi_space_nearest(space, b - 1)->name, "b");
    assert_string_equal(wmi_space_nearest(space, UINT64_MAX)->name, "c");
    wmi_space_destroy(space);
}

static void host_refuses_what_leaves_the_allocation(void **state)
{
    (void)state;
    struct wmi_space *space = wmi_space_create();
    const uint64_t a = allocate(space, 100, "a");
    allocate(space, 100, "b");
    assert_non_null(wmi_space_host(space, a, 100));
    assert_ptr_equal(wmi_space_host(space, a + 40, 60), wmi_space_host(space, a, 100) + 40);
    assert_null(wmi_space_host(space, a, 101));
    assert_null(wmi_space_host(space, a + 99, 2));
    assert_null(wmi_space_host(space, a, 2 * WMI_SPACE_GAP));
    assert_null(wmi_space_host(space, a + 1, UINT64_MAX)); /* the sum wraps around to a */
    assert_null(wmi_space_host(space, UINT64_MAX, 2));
    assert_null(wmi_space_host(space, a - 1, 2));
    wmi_space_destroy(space);
}

static void free_takes_exactly_one(void **state)
{
    (void)state;
    struct wmi_space *space = wmi_space_create();
    struct wm_diag diag;
    const uint64_t a = allocate(space, 100, "a"), b = allocate(space, 100, "b");
    const uint64_t c = allocate(space, 100, "c");
    assert_int_equal(wmi_space_free(space, b + 1, false, &diag), WM_NOT_FOUND);
    assert_non_null(strstr(diag.message, "no allocation starts there"));
    assert_int_equal(wmi_space_free(space, 7, false, NULL), WM_NOT_FOUND);
    assert_int_equal(wmi_space_free(space, b, false, &diag), WM_OK);
    assert_int_equal(wmi_space_free(space, b, false, &diag), WM_NOT_FOUND);
    assert_null(wmi_space_find(space, b));
    assert_string_equal(wmi_space_find(space, a)->name, "a");
    assert_string_equal(wmi_space_find(space, c)->name, "c");
    assert_true(allocate(space, 100, "d") > c); /* a stale pointer stays invalid */
    wmi_space_destroy(space);
}

static void limits_are_kept_and_said(void **state)
{
    (void)state;
    struct wmi_space *space = wmi_space_create();
    struct wm_diag diag;
    uint64_t address;
    assert_int_equal(wmi_space_allocate(space, 0, 0, "none", &address, &diag), WM_BAD_ARGUMENT);
    assert_non_null(strstr(diag.message, "'none'"));
    assert_int_equal(wmi_space_allocate(space, UINT64_MAX, 0, "all", &address, &diag), WM_NO_MEMORY);
    assert_int_equal(wmi_space_allocate(space, WMI_SPACE_LIMIT + 1, 0, "all", &address, &diag), WM_NO_MEMORY);
    assert_non_null(strstr(diag.message, "549755813888"));
    allocate(space, 1, "one");
    assert_int_equal(wmi_space_allocate(space, WMI_SPACE_LIMIT, 0, NULL, &address, NULL), WM_NO_MEMORY);
    wmi_space_destroy(space);
}

/* Small ones, whose mappings are otherwise used again, and one with a huge page. */
static void shared_memory_is_in_a_file(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {100, 5000, (3 << 20) + 7};
    struct wmi_space *space = wmi_space_create();
    for (size_t i = 0; i < 3; i++) {
        const int file = memfd_create("test", 0);
        const uint64_t low = allocate(space, sizes[i], "shared");
        unsigned char *host = wmi_space_host(space, low, sizes[i]), byte = 0;
        host[0] = 1;
        host[sizes[i] - 1] = 2;
        assert_int_equal(wmi_space_share(space, low + 1, file, NULL), WM_NOT_FOUND);
        assert_int_equal(wmi_space_share(space, low, file, NULL), WM_OK);
        assert_int_equal(wmi_space_share(space, low, file, NULL), WM_NOT_FOUND);
        assert_ptr_equal(wmi_space_host(space, low, sizes[i]), host);
        assert_true(host[0] == 1 && !host[50] && host[sizes[i] - 1] == 2);
        assert_int_equal(pread(file, &byte, 1, (off_t)sizes[i] - 1), 1);
        assert_int_equal(byte, 2);
        host[60] = 3;
        assert_int_equal(pread(file, &byte, 1, 60), 1);
        assert_int_equal(byte, 3);
        assert_int_equal(pwrite(file, "\5", 1, 70), 1);
        assert_int_equal(host[70], 5);
        assert_int_equal(wmi_space_free(space, low, false, NULL), WM_OK);
        assert_int_equal(wmi_space_host(space, allocate(space, sizes[i], "next"), sizes[i])[70], 0);
        assert_int_equal(pread(file, &byte, 1, 70), 1);
        assert_int_equal(byte, 5);
        close(file);
    }
    wmi_space_destroy(space);
}

static void addresses_come_back_when_the_top_is_reached(void **state)
{
    (void)state;
    struct wmi_space *space = wmi_space_create();
    const uint64_t first = allocate(space, 100, "first");
    uint64_t before = first;
    for (unsigned i = 0;; i++) { /* 32 GiB are reserved but never touched */
        assert_true(i < 5000);
        const uint64_t low = allocate(space, 32ULL << 30, "large");
        if (low < before)
            break;
        before = low;
        assert_int_equal(wmi_space_free(space, low, false, NULL), WM_OK);
    }
    assert_true(before + (64ULL << 30) > WMI_SPACE_HIGH);
    assert_string_equal(wmi_space_find(space, first)->name, "first");
    assert_non_null(wmi_space_host(space, first + 0x20000, 32ULL << 30)); /* after it and its gap */
    wmi_space_destroy(space);
}

static void allocations_stay_clear_of_the_apertures(void **state)
{
    (void)state;
    const struct wmi_apertures apertures = wmi_apertures_of(wmi_target_find("gfx900"));
    assert_true(apertures.shared_base > WMI_SPACE_HIGH + WMI_SPACE_LIMIT);
    assert_true(apertures.private_base > apertures.shared_limit);
    assert_int_equal(apertures.shared_limit - apertures.shared_base, 0xffffffff);
    assert_int_equal(apertures.private_limit - apertures.private_base, 0xffffffff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_depend_on_earlier_calls_only),
        cmocka_unit_test(memory_is_zeroed_aligned_and_padded),
        cmocka_unit_test(find_knows_first_and_last_byte),
        cmocka_unit_test(host_refuses_what_leaves_the_allocation),
        cmocka_unit_test(free_takes_exactly_one),
        cmocka_unit_test(limits_are_kept_and_said),
        cmocka_unit_test(shared_memory_is_in_a_file),
        cmocka_unit_test(addresses_come_back_when_the_top_is_reached),
        cmocka_unit_test(allocations_stay_clear_of_the_apertures),
    };
    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
