/* SPDX-License-Identifier: MIT */
/* libFuzzer: arbitrary words as a gfx900 kernel, through the public API, with a budget.
 *
 * No input may do anything but end, fault or run out of budget. Each runs twice, unwatched and watched by a
 * profile or a check: both must end the same way with the same memory, or a fast path differs from its
 * careful twin. The first byte chooses the sizes of the dispatch; the rest are instructions behind a prologue
 * that puts the addresses of two allocations into registers, without which hardly any access would hit
 * something: s[8:9] and v[4:5] hold the buffer, s[10:11] and v[6:7] read-only memory, v3 = 4 * v0. */
#include "wavemem/wavemem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 16384, LARGEST = 4096 };

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_exec: %s\n", what);
        abort();
    }
}

/* s_mov_b32 s[reg], literal; v_mov_b32 v[reg], s[from] */
static size_t put_scalar(uint32_t *words, unsigned reg, uint32_t value)
{
    words[0] = 0xbe8000ff | reg << 16;
    words[1] = value;
    return 2;
}

static size_t put_vector(uint32_t *words, unsigned reg, unsigned from)
{
    words[0] = 0x7e000200 | reg << 17 | from;
    return 1;
}

static size_t put_prologue(uint32_t *words, const uint64_t address[2])
{
    size_t count = 0;
    for (unsigned i = 0; i < 4; i++)
        count += put_scalar(words + count, 8 + i, (uint32_t)(address[i / 2] >> i % 2 * 32));
    for (unsigned i = 0; i < 4; i++)
        count += put_vector(words + count, 4 + i, 8 + i);
    words[count++] = 0x24060082; /* v_lshlrev_b32 v3, 2, v0 */
    return count;
}

struct outcome {
    struct wm_fault fault;
    unsigned char memory[BUFFER];
};

/* Frees nothing on failure: a failure is the end. */
static void run(const uint8_t *bytes, size_t size, bool watched, struct outcome *outcome)
{
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_object *object;
    struct wm_profile *profile = NULL;
    struct wm_check *check = NULL;
    const struct wm_kernel *kernel;
    uint64_t address[2];
    static unsigned char data[BUFFER];
    require(wm_machine_create("gfx900", &machine, &diag) == WM_OK, "no machine");
    require(wm_allocate(machine, BUFFER, 0, "buffer", &address[0], &diag) == WM_OK, "no buffer");
    require(wm_allocate(machine, BUFFER, WM_READ_ONLY, "constant", &address[1], &diag) == WM_OK, "no buffer");
    for (unsigned i = 0; i < BUFFER; i++)
        data[i] = (unsigned char)(i * 7 + i / 256);
    require(wm_write(machine, address[0], data, BUFFER, &diag) == WM_OK, "no write");

    uint32_t words[64 + LARGEST / 4];
    size_t count = put_prologue(words, address);
    memcpy(words + count, bytes + 1, (size - 1) / 4 * 4);
    count += (size - 1) / 4;
    words[count++] = 0xbf810000; /* s_endpgm */
    require(wm_object_open(words, 4 * count, "fuzz", "gfx900", &object, &diag) == WM_OK, diag.message);
    require(wm_object_find_kernel(object, NULL, &kernel, &diag) == WM_OK, diag.message);
    require(wm_load(machine, object, &diag) == WM_OK, diag.message);
    if (watched && bytes[0] & 32)
        require(wm_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS, &check, &diag) == WM_OK, diag.message);
    else if (watched)
        require(wm_profile_create(&profile, &diag) == WM_OK, diag.message);

    static const uint32_t workgroups[4] = {64, 1, 100, 256};
    const uint32_t workgroup = workgroups[bytes[0] & 3];
    const struct wm_dispatch dispatch = {
        .struct_size = sizeof dispatch,
        .grid = {bytes[0] & 4 ? 5 * workgroup / 2 + 1 : workgroup, bytes[0] & 8 ? 2 : 1, 1},
        .workgroup = {workgroup, 1, 1},
        .dynamic_lds = bytes[0] & 16 ? 1000 : 0,
        .threads = 1,
        .max_instructions = 3000,
        .profile = profile,
        .check = check,
    };
    struct wm_result result = {.struct_size = sizeof result};
    const enum wm_status status = wm_dispatch(machine, object, kernel, &dispatch, &result, &diag);
    require(status == WM_OK, diag.message);
    outcome->fault = result.fault;
    require(wm_read(machine, address[0], outcome->memory, BUFFER, &diag) == WM_OK, "no read");
    size_t rows;
    if (profile)
        wm_profile_rows(profile, &rows);
    if (check)
        wm_check_findings(check, &rows);
    wm_profile_destroy(profile);
    wm_check_destroy(check);
    wm_machine_destroy(machine);
    wm_object_close(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 5 || size > LARGEST)
        return 0;
    static struct outcome plain, watched;
    run(bytes, size, false, &plain);
    run(bytes, size, true, &watched);
    require(plain.fault.kind == watched.fault.kind, "watched, it ends differently");
    require(plain.fault.pc == watched.fault.pc && plain.fault.lanes == watched.fault.lanes,
            "watched, it faults elsewhere");
    require(memcmp(plain.memory, watched.memory, BUFFER) == 0, "watched, it leaves other memory");
    return 0;
}
