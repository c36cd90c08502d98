/* SPDX-License-Identifier: MIT */
/* Uninitialised values: short code with and without the error, with the rules that it must break, for six
 * targets, with one and with two levels; and what the host does to memory. */
#include "wavemem/wavemem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { BYTES = 4096 };

static const char *const targets[] = {"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"};
enum { TARGETS = sizeof targets / sizeof *targets };

/* What the host does to the memory at s[2:3]; that at s[4:5] is never written by it. */
enum host { NOTHING, WRITES, WRITES_HALF, HAS_POINTER, WAS_THERE };

/* Code with s[2:3]: memory, s[4:5]: other memory, v0: lane, v1: 4 * lane, v2: 8 * lane, one wave of 32 in a
 * workgroup with 1 KiB of LDS. wave32 (gfx10 and later) and wave64 differ in lane masks: $vcc, $exec, $s0 and
 * $s8 are replaced by pairs or single registers, $b by b32 or b64, $wait by a wait for everything. */
struct code {
    const char *name;
    enum host host;
    const char *first, *second; /* rules without and with WM_CHECK_ORIGINS; "": none */
    const char *text;
};

#define WRITE_LDS   "v_mov_b32 v9, 7\nds_write_b32 v1, v9\n$wait\n"
#define STORE(data) "global_store_dword v1, " data ", s[4:5]\n"
#define LOAD        "global_load_dword v5, v1, s[2:3]\n$wait\n"
#define LOAD_LDS    "ds_read_b32 v5, v1\n$wait\n"
#define BRANCH      "s_cbranch_vccz L%=\ns_nop 0\nL%=:\n"

static const struct code codes[] = {
    /* copies and sums that are stored */
    {"copy", NOTHING, "uninit-global", "uninit-store", LOAD STORE("v5")},
    {"copy of written", WRITES, "", "", LOAD STORE("v5")},
    {"copy of half-written", WRITES_HALF, "uninit-global", "uninit-store", LOAD STORE("v5")},
    {"host pointer", HAS_POINTER, "", "", LOAD STORE("v5")},
    {"memory from before the check", WAS_THERE, "", "", LOAD STORE("v5")},
    {"sum", NOTHING, "uninit-global", "uninit-store", LOAD "v_add_u32 v6, v5, v0\n" STORE("v6")},
    {"add to itself", NOTHING, "uninit-global", "uninit-store",
     "global_load_dword v5, v1, s[4:5]\n$wait\nv_add_f32 v5, 1.0, v5\n" STORE("v5")},
    {"add to itself after a store", NOTHING, "", "",
     STORE("v0") "$wait\nglobal_load_dword v5, v1, s[4:5]\n$wait\nv_add_f32 v5, 1.0, v5\n" STORE("v5")},
    {"stored sum of LDS", NOTHING, "uninit-lds", "uninit-store",
     LOAD_LDS "v_add_f32 v6, 1.0, v5\n" STORE("v6")},
    {"stored sum of written LDS", NOTHING, "", "", WRITE_LDS LOAD_LDS "v_add_f32 v6, 1.0, v5\n" STORE("v6")},
    {"through LDS", NOTHING, "uninit-global", "uninit-store",
     LOAD "ds_write_b32 v1, v5\n$wait\nds_read_b32 v6, v1\n$wait\n" STORE("v6")},
    {"through LDS, of written", WRITES, "", "",
     LOAD "ds_write_b32 v1, v5\n$wait\nds_read_b32 v6, v1\n$wait\n" STORE("v6")},
    {"neighbour in LDS", NOTHING, "uninit-lds", "uninit-store",
     WRITE_LDS "ds_read_b32 v5, v1 offset:4\n$wait\n" STORE("v5")},
    {"two places", NOTHING, "uninit-lds", "uninit-store",
     WRITE_LDS "ds_read2_b32 v[6:7], v1 offset1:1\n$wait\n" STORE("v7")},
    {"first of two places", NOTHING, "", "",
     WRITE_LDS "ds_read2_b32 v[6:7], v1 offset1:1\n$wait\n" STORE("v6")},
    {"byte", NOTHING, "uninit-global", "uninit-store",
     "global_load_ubyte v5, v0, s[2:3]\n$wait\n" STORE("v5")},
    {"byte of written", WRITES, "", "", "global_load_ubyte v5, v0, s[2:3]\n$wait\n" STORE("v5")},
    /* what is not used */
    {"not used", NOTHING, "", "", LOAD STORE("v0")},
    {"masked", NOTHING, "", "", LOAD "v_and_b32 v5, 0, v5\n" STORE("v5")},
    {"shifted out", NOTHING, "", "",
     "global_load_ushort v5, v1, s[2:3]\n$wait\nv_lshrrev_b32 v5, 16, v5\n" STORE("v5")},
    {"not selected", NOTHING, "", "",
     LOAD "v_cmp_ne_u32 $vcc, v0, v0\nv_cndmask_b32 v5, v0, v5, $vcc\n" STORE("v5")},
    {"selected", NOTHING, "uninit-global", "uninit-store",
     LOAD "v_cmp_eq_u32 $vcc, v0, v0\nv_cndmask_b32 v5, v0, v5, $vcc\n" STORE("v5")},
    {"selected in other lanes", NOTHING, "", "",
     WRITE_LDS "ds_read_b32 v5, v1 offset:64\n$wait\nv_cmp_gt_u32 $vcc, 16, v0\n"
               "v_cndmask_b32 v5, v0, v5, $vcc\n" STORE("v5")},
    /* padding and bit fields */
    {"padding is copied", NOTHING, "", "",
     "global_store_dword v2, v0, s[2:3]\n$wait\nglobal_load_dwordx2 v[6:7], v2, s[2:3]\n$wait\n"
     "global_store_dwordx2 v2, v[6:7], s[4:5]\n"},
    {"a whole struct is copied", NOTHING, "uninit-global", "uninit-store",
     "global_load_dwordx2 v[6:7], v2, s[2:3]\n$wait\nglobal_store_dwordx2 v2, v[6:7], s[4:5]\n"},
    {"padding decides", NOTHING, "uninit-global", "uninit-branch",
     "global_store_dword v2, v0, s[2:3]\n$wait\nglobal_load_dwordx2 v[6:7], v2, s[2:3]\n$wait\n"
     "v_cmp_ne_u32 $vcc, 0, v7\n" BRANCH},
    {"bit field", NOTHING, "", "",
     "global_load_dword v5, v1, s[4:5]\n$wait\nv_and_b32 v5, -16, v5\nv_or_b32 v5, 5, v5\n" STORE(
         "v5") "$wait\nglobal_load_dword v5, v1, s[4:5]\n$wait\nv_and_b32 v5, 15, v5\nv_cmp_eq_u32 $vcc, 5, "
               "v5\n" BRANCH},
    {"wrong bit field", NOTHING, "uninit-global", "uninit-branch",
     "global_load_dword v5, v1, s[4:5]\n$wait\nv_and_b32 v5, -16, v5\nv_or_b32 v5, 5, v5\n" STORE(
         "v5") "$wait\nglobal_load_dword v5, v1, s[4:5]\n$wait\nv_lshrrev_b32 v5, 4, v5\nv_cmp_eq_u32 $vcc, "
               "0, v5\n" BRANCH},
    /* branches, EXEC, addresses, messages */
    {"scalar branch", NOTHING, "uninit-global", "uninit-branch",
     "s_load_dword s20, s[2:3], 0x0\n$wait\ns_cmp_eq_u32 s20, 0\ns_cbranch_scc1 L%=\ns_nop 0\nL%=:\n"},
    {"scalar branch on written", WRITES, "", "",
     "s_load_dword s20, s[2:3], 0x0\n$wait\ns_cmp_eq_u32 s20, 0\ns_cbranch_scc1 L%=\ns_nop 0\nL%=:\n"},
    {"vector branch", NOTHING, "uninit-lds", "uninit-branch", LOAD_LDS "v_cmp_ne_u32 $vcc, 0, v5\n" BRANCH},
    {"vector branch on written", NOTHING, "", "", WRITE_LDS LOAD_LDS "v_cmp_ne_u32 $vcc, 0, v5\n" BRANCH},
    {"lanes", NOTHING, "uninit-lds", "uninit-exec",
     LOAD_LDS "v_cmp_ne_u32 $vcc, 0, v5\ns_and_saveexec_$b $s20, $vcc\ns_mov_$b $exec, $s20\n"},
    {"lanes of written", NOTHING, "", "",
     WRITE_LDS LOAD_LDS "v_cmp_ne_u32 $vcc, 0, v5\ns_and_saveexec_$b $s20, $vcc\ns_mov_$b $exec, $s20\n"},
    {"lanes of which no other bit counts", NOTHING, "", "",
     LOAD_LDS "v_cmp_ne_u32 $vcc, 0, v5\ns_mov_$b $s24, 0\ns_and_$b $vcc, $vcc, $s24\n"
              "s_or_$b $exec, $exec, $vcc\n"},
    {"address", NOTHING, "uninit-lds", "uninit-address",
     LOAD_LDS "v_and_b32 v5, 0x1fc, v5\nds_write_b32 v5, v0\n"},
    {"address of written", NOTHING, "", "",
     WRITE_LDS LOAD_LDS "v_and_b32 v5, 0x1fc, v5\nds_write_b32 v5, v0\n"},
    {"another lane's", NOTHING, "uninit-lds", "uninit-store",
     LOAD_LDS "v_readlane_b32 s20, v5, 3\nv_mov_b32 v6, s20\n" STORE("v6")},
    {"exchanged", NOTHING, "uninit-lds", "uninit-store",
     LOAD_LDS "ds_swizzle_b32 v6, v5 offset:0x041f\n$wait\n" STORE("v6")},
    {"exchanged, of written", NOTHING, "", "",
     WRITE_LDS LOAD_LDS "ds_swizzle_b32 v6, v5 offset:0x041f\n$wait\n" STORE("v6")},
    {"moved by DPP", NOTHING, "uninit-lds", "uninit-store",
     LOAD_LDS "v_mov_b32_dpp v6, v5 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n" STORE("v6")},
    {"message", NOTHING, "uninit-global", "uninit-message",
     "s_load_dword s20, s[2:3], 0x0\n$wait\ns_mov_b32 m0, s20\ns_nop 0\ns_sendmsg sendmsg(MSG_INTERRUPT)\n"},
    {"message of written", WRITES, "", "",
     "s_load_dword s20, s[2:3], 0x0\n$wait\ns_mov_b32 m0, s20\ns_nop 0\ns_sendmsg sendmsg(MSG_INTERRUPT)\n"},
    /* atomics */
    {"counter in LDS", NOTHING, "uninit-lds", "uninit-atomic",
     "v_mov_b32 v6, 0\nv_mov_b32 v7, 1\nds_add_u32 v6, v7\n$wait\n"},
    {"counter in LDS that is set", NOTHING, "", "",
     "v_mov_b32 v6, 0\nv_mov_b32 v7, 1\nds_write_b32 v6, v6\n$wait\nds_add_u32 v6, v7\n$wait\n"},
    {"counter in memory", NOTHING, "uninit-global", "uninit-atomic", "global_atomic_add v1, v0, s[2:3]\n"},
    {"counter in memory that is set", WRITES, "", "", "global_atomic_add v1, v0, s[2:3]\n"},
    {"exchange", NOTHING, "", "",
     "global_atomic_swap v1, v0, s[2:3]\n$wait\nglobal_load_dword v5, v1, s[2:3]\n$wait\n" STORE("v5")},
    /* registers */
    {"register that decides", NOTHING, "", "uninit-branch", "v_cmp_eq_u32 $vcc, 0, v12\n" BRANCH},
    {"register that is set", NOTHING, "", "", "v_mov_b32 v12, 0\nv_cmp_eq_u32 $vcc, 0, v12\n" BRANCH},
    {"scalar register that decides", NOTHING, "", "uninit-branch",
     "s_cmp_eq_u32 s40, 0\ns_cbranch_scc1 L%=\ns_nop 0\nL%=:\n"},
    {"scalar register that is set", NOTHING, "", "",
     "s_mov_b32 s40, 0\ns_cmp_eq_u32 s40, 0\ns_cbranch_scc1 L%=\ns_nop 0\nL%=:\n"},
    {"register as an address", NOTHING, "", "uninit-address",
     "v_and_b32 v12, 0x1fc, v12\nds_write_b32 v12, v0\n"},
    {"register that is stored", NOTHING, "", "uninit-store", STORE("v12")},
    {"part of a tuple is stored", NOTHING, "", "",
     "v_mov_b32 v12, 0\nglobal_store_dwordx2 v2, v[12:13], s[4:5]\n"},
    {"register that does not count", NOTHING, "", "",
     "v_mul_u32_u24 v12, 0, v12\nv_cmp_eq_u32 $vcc, 0, v12\n" BRANCH},
    {"register that is set in some lanes", NOTHING, "", "uninit-store",
     "v_cmp_gt_u32 $vcc, 16, v0\ns_and_saveexec_$b $s20, $vcc\nv_mov_b32 v12, 0\ns_mov_$b $exec, "
     "$s20\n" STORE("v12")},
    {"what the launch sets", NOTHING, "", "", "v_cmp_eq_u32 $vcc, 1, v0\n" BRANCH},
    /* inactive lanes */
    {"written by some lanes", NOTHING, "uninit-lds", "uninit-store",
     "v_cmp_gt_u32 $vcc, 16, v0\ns_and_saveexec_$b $s20, $vcc\n" WRITE_LDS
     "s_mov_$b $exec, $s20\n" LOAD_LDS STORE("v5")},
    {"written and read by some lanes", NOTHING, "", "",
     "v_cmp_gt_u32 $vcc, 16, v0\ns_and_saveexec_$b $s20, $vcc\n" WRITE_LDS LOAD_LDS STORE("v5")},
};

static unsigned wrong; /* cases */

/* Appends the text with its $words for the target. */
static void expand(const char *text, const char *target, char *to, size_t size)
{
    const bool wide = target[3] == '9', gfx12 = !strcmp(target, "gfx1200");
    const struct {
        const char *word, *text;
    } words[] = {
        {"$vcc", wide ? "vcc" : "vcc_lo"},
        {"$exec", wide ? "exec" : "exec_lo"},
        {"$s20", wide ? "s[20:21]" : "s20"},
        {"$s24", wide ? "s[24:25]" : "s24"},
        {"$b", wide ? "b64" : "b32"},
        {"$wait", gfx12 ? "s_wait_loadcnt 0x0\ns_wait_dscnt 0x0\ns_wait_kmcnt 0x0\ns_wait_storecnt 0x0"
                        : "s_waitcnt vmcnt(0) lgkmcnt(0)"},
        {"v_add_u32", wide ? "v_add_u32" : "v_add_nc_u32"},
        {"%=", ""},
    };
    size_t length = strlen(to);
    while (*text && length + 128 < size) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && strncmp(text, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (i == sizeof words / sizeof *words) {
            to[length++] = *text++;
            to[length] = 0;
            continue;
        }
        length += (size_t)snprintf(to + length, size - length, "%s", words[i].text);
        text += strlen(words[i].word);
    }
}

static void run_code(const char *target, const struct code *code, unsigned what)
{
    static const char data[BYTES];
    struct wm_diag diag;
    struct wm_machine *machine;
    struct wm_check *check;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t memory, other;
    uint8_t *bytes = NULL;
    char *messages = NULL, text[8192];
    size_t size, count;
    assert_int_equal(wm_machine_create(target, &machine, &diag), WM_OK);
    assert_int_equal(wm_check_create(what, &check, &diag), WM_OK);
    if (code->host == WAS_THERE)
        assert_int_equal(wm_allocate(machine, BYTES, 0, "memory", &memory, &diag), WM_OK);
    assert_int_equal(wm_check_machine(check, machine, &diag), WM_OK);
    if (code->host != WAS_THERE)
        assert_int_equal(wm_allocate(machine, BYTES, 0, "memory", &memory, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, BYTES, 0, "other", &other, &diag), WM_OK);
    if (code->host == WRITES)
        assert_int_equal(wm_write(machine, memory, data, BYTES, &diag), WM_OK);
    if (code->host == WRITES_HALF)
        assert_int_equal(wm_write(machine, memory, data, 64, &diag), WM_OK);
    if (code->host == HAS_POINTER)
        assert_non_null(wm_host_pointer(machine, memory, BYTES));
    snprintf(text, sizeof text,
             "s_mov_b32 s2, 0x%x\ns_mov_b32 s3, 0x%x\ns_mov_b32 s4, 0x%x\ns_mov_b32 s5, 0x%x\n"
             "s_mov_b32 m0, -1\nv_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 3, v0\n",
             (uint32_t)memory, (uint32_t)(memory >> 32), (uint32_t)other, (uint32_t)(other >> 32));
    expand(code->text, target, text, sizeof text);
    strcat(text, "\ns_endpgm\n");
    if (wm_assemble(text, strlen(text), target, target, WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag))
        fail_msg("%s: %s: %s\n%s", target, code->name, diag.message, messages ? messages : "");
    struct wm_dispatch dispatch = {.struct_size = sizeof dispatch,
                                   .grid = {32, 1, 1},
                                   .workgroup = {32, 1, 1},
                                   .dynamic_lds = 1024,
                                   .check = check};
    struct wm_result result = {.struct_size = sizeof result};
    assert_int_equal(wm_object_open(bytes, size, "test", target, &object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(object, NULL, &kernel, &diag), WM_OK);
    assert_int_equal(wm_load(machine, object, &diag), WM_OK);
    if (wm_dispatch(machine, object, kernel, &dispatch, &result, &diag))
        fail_msg("%s: %s: %s", target, code->name, diag.message);
    if (result.fault.kind)
        fail_msg("%s: %s: %s", target, code->name, result.fault.text);
    if (*result.incomplete)
        fail_msg("%s: %s: %s", target, code->name, result.incomplete);
    const struct wm_finding *found = wm_check_findings(check, &count);
    const char *rule = what & WM_CHECK_ORIGINS ? code->second : code->first;
    if (count != (*rule != 0) || (count && strcmp(found->rule, rule) != 0)) {
        wrong++;
        print_error("%s: %s: %zu findings, %s: %s; expected '%s'\n", target, code->name, count,
                    count ? found->rule : "", count ? found->message : "", rule);
    }
    wm_check_destroy(check);
    wm_object_close(object);
    wm_machine_destroy(machine);
    free(bytes);
    free(messages);
}

static void codes_have_their_findings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        for (unsigned t = 0; t < TARGETS; t++) {
            run_code(targets[t], &codes[i], WM_CHECK_UNINIT);
            run_code(targets[t], &codes[i], WM_CHECK_UNINIT | WM_CHECK_ORIGINS);
        }
    assert_int_equal(wrong, 0);
}

/* What nobody has written stays so in copies, and is reported when it gets to the host. */
static void copies_to_the_host_are_findings(void **state)
{
    static const unsigned char data[64] = {1};
    struct wm_diag diag = {0};
    struct wm_machine *machine;
    struct wm_check *check;
    uint64_t memory, other, unwritten;
    size_t count;
    (void)state;
    assert_int_equal(wm_machine_create("gfx900", &machine, &diag), WM_OK);
    assert_int_equal(wm_check_create(WM_CHECK_UNINIT, &check, &diag), WM_OK);
    assert_int_equal(wm_check_copied(check, 0, 4096, 1, NULL, &diag), WM_BAD_ARGUMENT);
    assert_int_equal(wm_check_machine(check, machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, BYTES, 0, "memory", &memory, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, BYTES, 0, "other", &other, &diag), WM_OK);
    assert_int_equal(wm_write(machine, memory, data, sizeof data, &diag), WM_OK);
    /* bytes [0, 64) of `memory` are written; [100, 160) of `other` become copies of its [60, 120) */
    assert_int_equal(wm_write(machine, other, data, sizeof data, &diag), WM_OK);
    assert_int_equal(wm_write(machine, other + 64, data, sizeof data, &diag), WM_OK);
    assert_int_equal(wm_write(machine, other + 128, data, 32, &diag), WM_OK);
    assert_int_equal(wm_check_copied(check, other + 100, memory + 60, 60, &unwritten, &diag), WM_OK);
    assert_int_equal(unwritten, 56);
    assert_int_equal(wm_check_copied(check, 0, memory, 64, &unwritten, &diag), WM_OK);
    assert_int_equal(unwritten, 0);
    wm_check_findings(check, &count);
    assert_int_equal(count, 0);
    assert_int_equal(wm_check_copied(check, 0, other, 160, &unwritten, &diag), WM_OK);
    assert_int_equal(unwritten, 56);
    assert_int_equal(wm_check_copied(check, 0, memory + 64, 32, NULL, &diag), WM_OK);
    assert_int_equal(wm_check_copied(check, 0, memory + 96, 32, NULL, &diag), WM_OK);
    assert_int_equal(wm_check_copied(check, 0, memory, BYTES + 1, NULL, &diag), WM_OUT_OF_RANGE);
    assert_int_equal(wm_free(machine, memory, &diag), WM_OK); /* the name stays */
    const struct wm_finding *found = wm_check_findings(check, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        const bool whole = found[i].allocation_address == memory;
        assert_string_equal(found[i].rule, "uninit-copy");
        assert_string_equal(found[i].allocation, whole ? "memory" : "other");
        assert_int_equal(found[i].severity, whole ? WM_SEVERITY_ERROR : WM_SEVERITY_NOTE);
        assert_int_equal(found[i].count, whole ? 2 : 1);
        assert_int_equal(found[i].address, whole ? memory + 64 : other + 104);
        assert_string_equal(found[i].message,
                            whole ? "32 bytes that nobody wrote are copied to the host"
                                  : "160 bytes are copied to the host, of which nobody wrote 56");
    }
    wm_check_destroy(check);
    wm_machine_destroy(machine);
}

/* Runtimes copy in pieces: one of which nobody wrote a byte is none of its own, unless it stands alone. */
static void pieces_of_a_copy_are_one_finding(void **state)
{
    enum { PIECE = 1 << 20, PIECES = 4 };
    static const unsigned char data[64] = {1};
    struct wm_diag diag = {0};
    struct wm_machine *machine;
    struct wm_check *check;
    uint64_t memory;
    size_t count;
    (void)state;
    for (unsigned apart = 0; apart < 2; apart++) {
        assert_int_equal(wm_machine_create("gfx900", &machine, &diag), WM_OK);
        assert_int_equal(wm_check_create(WM_CHECK_UNINIT, &check, &diag), WM_OK);
        assert_int_equal(wm_check_machine(check, machine, &diag), WM_OK);
        assert_int_equal(wm_allocate(machine, PIECES * PIECE, 0, "memory", &memory, &diag), WM_OK);
        assert_int_equal(wm_write(machine, memory, data, sizeof data, &diag), WM_OK);
        for (unsigned i = 0; i < PIECES; i++) {
            const uint64_t at = memory + (apart ? PIECES - 1 - i : i) * PIECE;
            assert_int_equal(wm_check_copied(check, 0, at, PIECE, NULL, &diag), WM_OK);
        }
        const struct wm_finding *found = wm_check_findings(check, &count);
        assert_int_equal(count, 1 + apart);
        for (size_t i = 0; i < count; i++) {
            const bool whole = found[i].severity == WM_SEVERITY_ERROR;
            assert_int_equal(found[i].count, whole ? PIECES - 1 : 1);
            assert_string_equal(found[i].message,
                                whole ? "1048576 bytes that nobody wrote are copied to the host"
                                : apart
                                    ? "1048576 bytes are copied to the host, of which nobody wrote 1048512"
                                    : "4194304 bytes are copied to the host, of which nobody wrote 4194240");
        }
        assert_int_equal(
            apart ? found[0].severity != found[1].severity : found[0].severity == WM_SEVERITY_NOTE, true);
        wm_check_destroy(check);
        wm_machine_destroy(machine);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(codes_have_their_findings),
                                     cmocka_unit_test(pieces_of_a_copy_are_one_finding),
                                     cmocka_unit_test(copies_to_the_host_are_findings)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
