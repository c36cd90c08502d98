/* SPDX-License-Identifier: MIT */
/* Events that observers receive, against hand-written lists for small kernels of several targets. */
#include "wavemem/wavemem.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

enum { LOG = 1 << 16, WORDS = 256 };

/* ---- an observer that logs events as text ---- */

struct log {
    char text[LOG];
    size_t length;
    uint64_t code, buffer; /* guest addresses, printed as +0x10 and @0x10 */
    unsigned calls;
};

static void add(struct log *log, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(log->text + log->length, sizeof log->text - log->length, format, list);
    va_end(list);
    log->length += (size_t)length;
    assert_true(log->length < sizeof log->text);
}

static void add_registers(struct log *log, const char *what, const struct wm_registers *r)
{
    static const char files[] = " svao";
    if (!r->count)
        return;
    add(log, " %s", what);
    if (r->file != WM_REGISTER_NONE)
        add(log, " %c%u", files[r->file], r->first);
    if (r->count > 1)
        add(log, ":%u", r->first + r->count - 1);
    for (uint32_t i = 0; r->values && i < r->count; i++)
        add(log, "%s%x,%x", i ? " " : " = ", r->values[i * r->stride],
            r->stride > 1 ? r->values[i * r->stride + 1] : 0);
}

/* Lanes, and the addresses and values of lanes 0 and 1. */
static void add_access(struct log *log, const struct wm_access *a)
{
    add(log, " %s %s%s%s", wm_path_name(a->path), wm_access_kind_name(a->kind), a->atomic ? " " : "",
        wm_atomic_name(a->atomic));
    if (a->policy)
        add(log, " policy %x", a->policy);
    if (a->scope)
        add(log, " %s", wm_scope_name(a->scope));
    for (uint32_t i = 0; i < a->places; i++) {
        const struct wm_access_place *p = &a->place[i];
        const bool global = p->space == WM_SPACE_GLOBAL && p->address[0] - log->buffer < 4 * WORDS;
        add(log, " [%s %" PRIx64, wm_space_name(p->space), p->lanes);
        if (p->out_of_range)
            add(log, " out %" PRIx64, p->out_of_range);
        add(log, global ? " @%" PRIx64 : " %" PRIx64, p->address[0] - (global ? log->buffer : 0));
        if (p->lanes & 2)
            add(log, global ? ",@%" PRIx64 : ",%" PRIx64, p->address[1] - (global ? log->buffer : 0));
        add(log, " x%u", a->bytes);
        if (p->first_register)
            add(log, " r%u", p->first_register);
        add(log, "]");
    }
    add_registers(log, "data", &a->data[0]);
    add_registers(log, "data2", &a->data[1]);
    add_registers(log, "result", &a->result);
}

/* The values are those of the last active lane. */
static void add_export(struct log *log, const struct wm_event *event)
{
    const struct wm_export *e = &event->exported;
    const unsigned lane = 63 - (unsigned)__builtin_clzll(event->lanes);
    assert_int_equal(e->wave_size == 64, event->lanes > UINT32_MAX);
    add(log, " %u %s %x%s%s%s%s", e->target, e->name, e->components, e->compressed ? " compr" : "",
        e->done ? " done" : "", e->valid_mask ? " vm" : "", e->row ? " row" : "");
    for (unsigned i = 0; i < 4; i++)
        if (e->values[i])
            add(log, " %u:%x", i, e->values[i][lane]);
    add(log, " m0 %x", e->m0);
}

static void write_down(void *local, const struct wm_event *event)
{
    struct log *log = local;
    log->calls++;
    if (event->pc)
        add(log, "+%" PRIx64 " ", event->pc - log->code);
    if (event->kind < WM_EVENT_DISPATCH_BEGIN || event->kind == WM_EVENT_EXPORT)
        add(log, "%u.%u ", event->workgroup[0], event->wave);
    add(log, "%s", wm_event_name(event->kind));
    switch (event->kind) {
    case WM_EVENT_ACCESS:
        add_access(log, &event->access);
        break;
    case WM_EVENT_BLOCK:
        add(log, " to +%" PRIx64, event->block_end - log->code);
        break;
    case WM_EVENT_BARRIER_ARRIVE:
        add(log, " %d%s", event->barrier.number, event->barrier.waits ? " waits" : "");
        break;
    case WM_EVENT_CACHE:
        add(log, " operations %x caches %x scope %s%s", event->cache.operations, event->cache.caches,
            wm_scope_name(event->cache.scope), event->cache.volatile_only ? " volatile" : "");
        break;
    case WM_EVENT_MESSAGE:
        add(log, " %x m0 %x %s %s", event->message.id, event->message.m0, event->message.name,
            event->message.operation);
        break;
    case WM_EVENT_EXPORT:
        add_export(log, event);
        break;
    case WM_EVENT_WAVE_BEGIN:
        add(log, " lanes %" PRIx64, event->lanes);
        break;
    case WM_EVENT_WAVE_END:
    case WM_EVENT_WORKGROUP_END:
    case WM_EVENT_DISPATCH_END:
        add(log, " %s", event->extent.completed ? "completed" : "stopped");
        break;
    case WM_EVENT_DISPATCH_BEGIN:
        add(log, " grid %u of %u", event->extent.grid[0], event->extent.workgroup_size[0]);
        break;
    case WM_EVENT_ALLOCATE:
    case WM_EVENT_FREE:
        add(log, " '%s' %" PRIu64, event->memory.name, event->memory.size);
        break;
    case WM_EVENT_HOST_WRITE:
    case WM_EVENT_HOST_READ:
    case WM_EVENT_HOST_POINTER:
        add(log, " %" PRIu64, event->memory.size);
        if (event->memory.bytes && event->memory.size == 4 * WORDS)
            add(log, " %02x", *(const unsigned char *)event->memory.bytes);
        break;
    default:
        break;
    }
    add(log, "\n");
}

static struct wm_observer observer_of(struct log *log, uint64_t events)
{
    return (struct wm_observer){
        .struct_size = sizeof(struct wm_observer), .events = events, .user = log, .event = write_down};
}

/* ---- running text ---- */

struct machine {
    struct wm_machine *machine;
    struct wm_object *object;
    const struct wm_kernel *kernel;
    uint64_t code, buffer;
    uint32_t words[WORDS];
};

/* The text is assembled after 16 bytes of code that put the buffer's address in s[2:3]. */
static struct machine machine_of(const char *target, const char *text)
{
    struct machine m = {0};
    struct wm_diag diag;
    char all[4096], *messages;
    uint8_t *bytes;
    size_t size;
    uint64_t ignored;
    assert_int_equal(wm_machine_create(target, &m.machine, &diag), WM_OK);
    assert_int_equal(wm_allocate(m.machine, sizeof m.words, 0, "buffer", &m.buffer, &diag), WM_OK);
    for (unsigned i = 0; i < WORDS; i++)
        m.words[i] = 0x1000 + i;
    assert_int_equal(wm_write(m.machine, m.buffer, m.words, sizeof m.words, &diag), WM_OK);
    snprintf(all, sizeof all, "s_mov_b32 s2, 0x%x\ns_mov_b32 s3, 0x%x\ns_nop 0\n%s", (unsigned)m.buffer,
             (unsigned)(m.buffer >> 32), text);
    if (wm_assemble(all, strlen(all), "text", target, WM_ASSEMBLE_RAW, &bytes, &size, &messages, &diag))
        fail_msg("%s", messages);
    assert_int_equal(wm_object_open(bytes, size, "test", target, &m.object, &diag), WM_OK);
    assert_int_equal(wm_object_find_kernel(m.object, NULL, &m.kernel, &diag), WM_OK);
    assert_int_equal(wm_load(m.machine, m.object, &diag), WM_OK);
    assert_int_equal(wm_symbol(m.machine, m.object, m.kernel->name, &m.code, &ignored, &diag), WM_OK);
    free(messages);
    free(bytes);
    return m;
}

static void destroy(struct machine *m)
{
    wm_machine_destroy(m->machine);
    wm_object_close(m->object);
}

static struct wm_result dispatch(struct machine *m, struct wm_dispatch request)
{
    struct wm_result result = {.struct_size = sizeof result};
    struct wm_diag diag;
    request.struct_size = sizeof request;
    if (wm_dispatch(m->machine, m->object, m->kernel, &request, &result, &diag))
        fail_msg("%s", diag.message);
    assert_string_equal(result.incomplete, "");
    return result;
}

static void same(const struct log *log, const char *expected)
{
    if (strcmp(log->text, expected))
        fail_msg("seen:\n%s\nexpected:\n%s", log->text, expected);
}

/* Runs one workgroup of `items` work-items, and compares the events that an observer of `events` receives. */
static void check(const char *target, unsigned items, uint64_t events, const char *text, const char *expected)
{
    struct machine m = machine_of(target, text);
    struct log log = {.code = m.code, .buffer = m.buffer};
    const struct wm_observer observer = observer_of(&log, events);
    const struct wm_observer *const observers[] = {&observer};
    dispatch(&m, (struct wm_dispatch){.grid = {items},
                                      .workgroup = {items},
                                      .dynamic_lds = 1024,
                                      .observers = observers,
                                      .observer_count = 1});
    same(&log, expected);
    destroy(&m);
}

enum { VALUES = WM_EVENT_ACCESS | WM_EVENT_VALUES };

/* ---- accesses ---- */

/* Loads that overwrite their addresses, stores, and scalar memory. */
static void global_memory(void **state)
{
    (void)state;
    check("gfx900", 64, VALUES,
          "v_lshlrev_b32 v0, 2, v0\n"
          "global_load_dword v0, v0, s[2:3]\n"
          "s_waitcnt vmcnt(0)\n"
          "v_and_b32 v4, 0xff, v0\n"
          "v_lshlrev_b32 v4, 2, v4\n"
          "v_mov_b32 v1, 7\n"
          "global_store_dwordx2 v4, v[0:1], s[2:3] offset:256 glc\n"
          "global_load_ushort v5, v4, s[2:3] offset:2\n"
          "s_load_dwordx2 s[4:5], s[2:3], 0x8\n"
          "s_waitcnt lgkmcnt(0)\n"
          "s_endpgm\n",
          "+14 0.0 access GLOBAL load [global ffffffffffffffff @0,@4 x4] result v0 = 1000,1001\n"
          "+30 0.0 access GLOBAL store policy 1 [global ffffffffffffffff @100,@104 x8] "
          "data v0:1 = 1000,1001 7,7\n"
          "+38 0.0 access GLOBAL load [global ffffffffffffffff @2,@6 x2] result v5 = 0,0\n"
          "+40 0.0 access SMEM load [global 1 @8 x8] result s4:5 = 1002,0 1003,0\n");
    check("gfx1200", 32, VALUES,
          "v_lshlrev_b32 v0, 2, v0\n"
          "v_mov_b32 v1, 5\n"
          "global_atomic_add_u32 v1, v0, v1, s[2:3] th:TH_ATOMIC_RETURN scope:SCOPE_SYS\n"
          "s_wait_loadcnt 0x0\n"
          "global_atomic_add_u32 v0, v1, s[2:3] offset:128 scope:SCOPE_DEV\n"
          "s_endpgm\n",
          "+18 0.0 access GLOBAL atomic add policy 1 system [global ffffffff @0,@4 x4] data v1 = 5,5 "
          "result v1 = 1000,1001\n"
          "+28 0.0 access GLOBAL atomic add policy 1 device [global ffffffff @80,@84 x4] data v1 = "
          "1000,1001\n");
    /* Without values, registers are only named, and accesses are reported before they execute. */
    check("gfx1030", 32, WM_EVENT_ACCESS,
          "v_lshlrev_b32 v0, 3, v0\n"
          "global_load_dwordx2 v[0:1], v0, s[2:3] offset:8 dlc\n"
          "s_endpgm\n",
          "+14 0.0 access GLOBAL load policy 4 [global ffffffff @8,@10 x8] result v0:1\n");
}

static void lds(void **state)
{
    (void)state;
    check("gfx1100", 32, VALUES,
          "v_lshlrev_b32 v1, 3, v0\n"
          "v_mov_b32 v2, v0\n"
          "v_mov_b32 v3, 9\n"
          "ds_store_2addr_b32 v1, v2, v3 offset0:0 offset1:1\n"
          "ds_load_2addr_b32 v[4:5], v1 offset0:1 offset1:0\n"
          "ds_cmpstore_rtn_b32 v6, v1, v3, v2\n"
          "ds_max_u32 v1, v3 offset:4\n"
          "v_add_nc_u32 v1, 0x3fc, v1\n"
          "ds_store_b8 v1, v3\n"
          "s_endpgm\n",
          "+1c 0.0 access DS store [LDS ffffffff 0,8 x4] [LDS ffffffff 4,c x4 r1] data v2 = 0,1 data2 v3 = "
          "9,9\n"
          "+24 0.0 access DS load [LDS ffffffff 4,c x4] [LDS ffffffff 0,8 x4 r1] result v4:5 = 9,9 0,1\n"
          "+2c 0.0 access DS atomic compare and swap [LDS ffffffff 0,8 x4] data v3 = 9,9 data2 v2 = 0,1 "
          "result v6 = 0,1\n"
          "+34 0.0 access DS atomic unsigned maximum [LDS ffffffff 4,c x4] data v3 = 9,9\n"
          "+44 0.0 access DS store [LDS ffffffff out fffffffe 3fc,404 x1] data v3 = 9,9\n");
}

/* The address spaces of FLAT, GDS, and registers other than VGPRs. */
static void other_spaces(void **state)
{
    (void)state;
    check("gfx900", 64, VALUES,
          "v_lshlrev_b32 v2, 2, v0\n"
          "s_mov_b64 s[4:5], src_shared_base\n"
          "v_mov_b32 v3, s5\n"
          "flat_store_dword v[2:3], v0 offset:8\n"
          "s_movk_i32 m0, 0xf0\n"
          "ds_write_b32 v2, v0 gds\n"
          "s_endpgm\n",
          "+1c 0.0 access FLAT store [LDS ffffffffffffffff 8,c x4] data v0 = 0,1\n"
          "+28 0.0 access GDS store [GDS ffffffffffffffff out f000000000000000 0,4 x4] data v0 = 0,1\n");
    check("gfx90a", 64, VALUES,
          "v_and_b32 v0, 63, v0\n"
          "v_lshlrev_b32 v1, 2, v0\n"
          "global_load_dword a3, v1, s[2:3]\n"
          "s_endpgm\n",
          "+18 0.0 access GLOBAL load [global ffffffffffffffff @0,@4 x4] result a3 = 1000,1001\n");
}

/* Loads to LDS and stores from LDS have two sides. */
static void moves(void **state)
{
    (void)state;
    const char *descriptor = "s_mov_b32 s4, s2\n" /* +10 */
                             "s_mov_b32 s5, s3\n"
                             "s_movk_i32 s6, 0x400\n"
                             "s_mov_b32 s7, 0x20000\n" /* +1c */
                             "s_movk_i32 m0, 0x40\n";  /* +24 */
    char text[1024];
    snprintf(text, sizeof text,
             "%sv_lshlrev_b32 v0, 2, v0\n"
             "buffer_load_dword v0, s[4:7], 0 offen offset:4 lds\n"
             "s_waitcnt vmcnt(0)\n"
             "s_endpgm\n",
             descriptor);
    check("gfx900", 64, VALUES, text,
          "+2c 0.0 access BUFFER load [global ffffffffffffffff @4,@8 x4]\n"
          "+2c 0.0 access LDS move store [LDS ffffffffffffffff 44,48 x4] result = 1001,1002\n");
    snprintf(text, sizeof text,
             "%sv_lshlrev_b32 v0, 2, v0\n"
             "global_load_lds_dword v0, s[2:3] offset:8\n"
             "s_waitcnt vmcnt(0)\n"
             "s_endpgm\n",
             descriptor);
    check("gfx942", 64, VALUES, text,
          "+2c 0.0 access GLOBAL load wave [global ffffffffffffffff @8,@c x4]\n"
          "+2c 0.0 access LDS move store wave [LDS ffffffffffffffff 48,4c x4] result = 1002,1003\n");
}

/* The faulting instruction is reported without values; events for begun items still end. */
static void faults(void **state)
{
    (void)state;
    check("gfx900", 64, VALUES | WM_EVENT_WAVE_END | WM_EVENT_WORKGROUP_END | WM_EVENT_DISPATCH_END,
          "v_lshlrev_b32 v0, 30, v0\n"
          "v_mov_b32 v1, 1\n"
          "v_mov_b32 v2, 1\n"
          "v_mov_b32 v3, 0\n"
          "global_store_dword v[2:3], v1, off\n"
          "s_endpgm\n",
          "+20 0.0 access GLOBAL store [global ffffffffffffffff out ffffffffffffffff 1,1 x4] data v1\n"
          "0.0 wave end stopped\n"
          "0.0 workgroup end stopped\n"
          "dispatch end stopped\n");
}

/* ---- the rest of a dispatch ---- */

static void barriers(void **state)
{
    (void)state;
    const uint64_t events = WM_EVENT_BARRIER_ARRIVE | WM_EVENT_BARRIER_LEAVE | WM_EVENT_WAVE_BEGIN |
                            WM_EVENT_WAVE_END | WM_EVENT_WORKGROUP_BEGIN | WM_EVENT_WORKGROUP_END |
                            WM_EVENT_DISPATCH_BEGIN | WM_EVENT_DISPATCH_END;
    check("gfx900", 96, events,
          "s_barrier\n"
          "s_endpgm\n",
          "dispatch begin grid 96 of 96\n"
          "0.0 workgroup begin\n"
          "0.0 wave begin lanes ffffffffffffffff\n"
          "0.1 wave begin lanes ffffffff\n"
          "+10 0.0 barrier arrive -1 waits\n"
          "+10 0.1 barrier arrive -1 waits\n"
          "+10 0.0 barrier leave\n"
          "0.0 wave end completed\n"
          "+10 0.1 barrier leave\n"
          "0.1 wave end completed\n"
          "0.0 workgroup end completed\n"
          "dispatch end completed\n");
    check("gfx1200", 64, WM_EVENT_BARRIER_ARRIVE | WM_EVENT_BARRIER_LEAVE,
          "s_barrier_signal -1\n"
          "v_mov_b32 v1, 0\n"
          "s_barrier_wait -1\n"
          "s_endpgm\n",
          "+10 0.0 barrier arrive -1\n"
          "+10 0.1 barrier arrive -1\n"
          "+18 0.1 barrier leave\n"
          "+18 0.0 barrier leave\n");
    check("gfx1200", 64, WM_EVENT_BARRIER_ARRIVE | WM_EVENT_BARRIER_LEAVE,
          "s_mov_b32 m0, 0x20003\n" /* two members of barrier 3 */
          "s_barrier_join 3\n"
          "s_barrier_signal m0\n"
          "s_barrier_signal 0\n"
          "s_barrier_wait 3\n"
          "s_barrier_wait -2\n"
          "s_endpgm\n",
          "+1c 0.0 barrier arrive 3\n"
          "+1c 0.1 barrier arrive 3\n"
          "+24 0.1 barrier leave\n"
          "+24 0.0 barrier leave\n");
}

/* Targets and fields as LLVM assembles them; a compressed export has two components in each register. */
static void exports(void **state)
{
    (void)state;
    const uint64_t events = WM_EVENT_EXPORT | WM_EVENT_MESSAGE;
    check("gfx900", 64, events,
          "s_movk_i32 m0, 0x55\n"
          "v_mov_b32 v1, 7\n"
          "exp mrt0 v1, off, v0, off vm\n"
          "exp pos2 v0, v0, v1, v1 compr\n"
          "exp param31 off, off, off, v0\n"
          "exp null off, off, off, off done vm\n"
          "s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)\n"
          "s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)\n"
          "s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)\n"
          "s_endpgm\n",
          "+18 0.0 export 0 mrt0 5 vm 0:7 2:3f m0 55\n"
          "+20 0.0 export 14 pos2 f compr 0:3f 1:7 m0 55\n"
          "+28 0.0 export 63 param31 8 3:3f m0 55\n"
          "+30 0.0 export 9 null 0 done vm m0 55\n"
          "+38 0.0 message 122 m0 55 MSG_GS GS_OP_EMIT\n"
          "+3c 0.0 message 3 m0 55 MSG_GS_DONE GS_OP_NOP\n"
          "+40 0.0 message 9 m0 55 MSG_GS_ALLOC_REQ \n");
    check("gfx1100", 32, events,
          "s_movk_i32 m0, 3\n"
          "exp prim v0, off, off, off done\n"
          "exp mrtz v0, off, off, off row_en\n"
          "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n"
          "s_endpgm\n",
          "+14 0.0 export 20 prim 1 done 0:1f m0 3\n"
          "+1c 0.0 export 8 mrtz 1 row 0:1f m0 3\n"
          "+24 0.0 message 3 m0 3 MSG_DEALLOC_VGPRS \n");
}

static void caches_and_messages(void **state)
{
    (void)state;
    const uint64_t events = WM_EVENT_CACHE | WM_EVENT_MESSAGE;
    check("gfx900", 64, events,
          "s_dcache_wb\n"
          "buffer_wbinvl1_vol\n"
          "s_dcache_inv\n"
          "s_icache_inv\n"
          "s_movk_i32 m0, 0x55\n"
          "s_sendmsg sendmsg(MSG_INTERRUPT)\n"
          "s_endpgm\n",
          "+10 0.0 cache operations 1 caches 4 scope \n"
          "+18 0.0 cache operations 3 caches 1 scope  volatile\n"
          "+20 0.0 cache operations 2 caches 4 scope \n"
          "+28 0.0 cache operations 2 caches 8 scope \n"
          "+30 0.0 message 1 m0 55 MSG_INTERRUPT \n");
    check("gfx942", 64, events,
          "buffer_wbl2 sc0 sc1\n"
          "buffer_inv sc1\n"
          "buffer_inv sc0 sc1\n"
          "buffer_inv sc0\n"
          "s_endpgm\n",
          "+10 0.0 cache operations 1 caches 10 scope system\n"
          "+18 0.0 cache operations 2 caches 1 scope device\n"
          "+20 0.0 cache operations 2 caches 11 scope system\n"
          "+28 0.0 cache operations 2 caches 0 scope workgroup\n");
    check("gfx1030", 32, events,
          "buffer_gl0_inv\n"
          "buffer_gl1_inv\n"
          "s_gl1_inv\n"
          "s_endpgm\n",
          "+10 0.0 cache operations 2 caches 1 scope \n"
          "+18 0.0 cache operations 2 caches 2 scope \n"
          "+20 0.0 cache operations 2 caches 2 scope \n");
    check("gfx1200", 32, events,
          "global_wb scope:SCOPE_DEV\n"
          "global_inv scope:SCOPE_SE\n"
          "global_inv\n"
          "s_endpgm\n",
          "+10 0.0 cache operations 1 caches 0 scope device\n"
          "+1c 0.0 cache operations 2 caches 1 scope engine\n"
          "+28 0.0 cache operations 2 caches 0 scope CU\n");
}

static void instructions_and_blocks(void **state)
{
    (void)state;
    check("gfx900", 64, WM_EVENT_INSTRUCTION | WM_EVENT_BLOCK,
          "s_movk_i32 s4, 0x1\n"
          "loop:\n"
          "s_sub_i32 s4, s4, 1\n"
          "s_cmp_ge_i32 s4, 0\n"
          "s_cbranch_scc1 loop\n"
          "s_endpgm\n",
          "+0 0.0 block to +14\n+0 0.0 instruction\n+4 0.0 instruction\n+c 0.0 instruction\n"
          "+10 0.0 instruction\n"
          "+14 0.0 block to +20\n+14 0.0 instruction\n+18 0.0 instruction\n+1c 0.0 instruction\n"
          "+14 0.0 block to +20\n+14 0.0 instruction\n+18 0.0 instruction\n+1c 0.0 instruction\n"
          "+20 0.0 block to +24\n+20 0.0 instruction\n");
}

/* ---- machines ---- */

static void host(void **state)
{
    (void)state;
    struct wm_machine *machine;
    struct wm_diag diag;
    struct log log = {0}, other = {0};
    const struct wm_observer observer = observer_of(&log, WM_EVENT_ALL),
                             second = observer_of(&other, WM_EVENT_FREE);
    uint64_t address;
    unsigned char bytes[4 * WORDS] = {0x77};
    assert_int_equal(wm_machine_create("gfx900", &machine, &diag), WM_OK);
    assert_int_equal(wm_machine_observe(machine, &observer, &diag), WM_OK);
    assert_int_equal(wm_machine_observe(machine, &observer, &diag), WM_BAD_ARGUMENT);
    assert_int_equal(wm_machine_observe(machine, &second, &diag), WM_OK);
    assert_int_equal(wm_allocate(machine, sizeof bytes, 0, "data", &address, &diag), WM_OK);
    assert_int_equal(wm_write(machine, address, bytes, sizeof bytes, &diag), WM_OK);
    assert_int_equal(wm_read(machine, address, bytes, 8, &diag), WM_OK);
    assert_non_null(wm_host_pointer(machine, address, 16));
    assert_int_equal(wm_write(machine, address, bytes, 2 * sizeof bytes, &diag), WM_OUT_OF_RANGE);
    assert_int_equal(wm_free(machine, address, &diag), WM_OK);
    assert_int_equal(wm_machine_unobserve(machine, &observer, &diag), WM_OK);
    assert_int_equal(wm_machine_unobserve(machine, &observer, &diag), WM_NOT_FOUND);
    assert_int_equal(wm_allocate(machine, 8, 0, "unseen", &address, &diag), WM_OK);
    same(&log, "allocate 'data' 1024\nhost write 1024 77\nhost read 8\nhost pointer 16\nfree 'data' 1024\n");
    same(&other, "free 'data' 1024\n");
    wm_machine_destroy(machine);
}

/* ---- many observers ---- */

static const char *const two_waves = "v_lshlrev_b32 v1, 2, v0\n"
                                     "ds_write_b32 v1, v0\n"
                                     "s_waitcnt lgkmcnt(0)\n"
                                     "s_barrier\n"
                                     "ds_read_b32 v2, v1\n"
                                     "s_waitcnt lgkmcnt(0)\n"
                                     "global_store_dword v1, v2, s[2:3]\n"
                                     "s_endpgm\n";

/* Each observer receives what it asked for, as if it were alone. */
static void three_at_once(void **state)
{
    (void)state;
    static const uint64_t events[] = {VALUES, WM_EVENT_ACCESS | WM_EVENT_BARRIER_LEAVE,
                                      WM_EVENT_WAVE_END | WM_EVENT_INSTRUCTION};
    static struct log alone[3], together[3];
    struct wm_observer observer[3];
    const struct wm_observer *observers[3];
    struct machine m = machine_of("gfx900", two_waves);
    struct wm_dispatch request = {
        .grid = {256}, .workgroup = {128}, .dynamic_lds = 1024, .observer_count = 1};
    for (unsigned i = 0; i < 3; i++) {
        together[i] = alone[i] = (struct log){.code = m.code, .buffer = m.buffer};
        observer[i] = observer_of(&alone[i], events[i]);
        observers[i] = &observer[i];
        request.observers = &observers[i];
        dispatch(&m, request);
        observer[i].user = &together[i];
    }
    request.observers = observers;
    request.observer_count = 3;
    dispatch(&m, request);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(alone[i].calls > 0);
        same(&together[i], alone[i].text);
    }
    /* 4 waves: one LDS store, load and global store each; the other kinds as well. */
    assert_int_equal(alone[0].calls, 4 * 3);
    assert_int_equal(alone[1].calls, 4 * 3 + 4);
    assert_int_equal(alone[2].calls, 4 * 11 + 4);
    destroy(&m);
}

/* With two threads, the events of each wave are the same and in the same order. */
enum { GROUPS = 64 };

struct threaded { /* one log per workgroup, used by one thread at a time */
    struct log log[GROUPS];
};

static void *begin_thread(void *user)
{
    return user;
}

static void end_thread(void *user, void *local)
{
    assert_ptr_equal(user, local);
}

static void write_down_by_group(void *local, const struct wm_event *event)
{
    struct threaded *threaded = local;
    write_down(&threaded->log[event->workgroup[0]], event);
}

static void threads(void **state)
{
    (void)state;
    struct machine m = machine_of("gfx900", two_waves);
    struct threaded *runs[2];
    for (unsigned i = 0; i < 2; i++) {
        runs[i] = calloc(1, sizeof *runs[i]);
        assert_non_null(runs[i]);
        for (unsigned g = 0; g < GROUPS; g++)
            runs[i]->log[g] = (struct log){.code = m.code, .buffer = m.buffer};
        const struct wm_observer observer = {.struct_size = sizeof observer,
                                             .events = VALUES | WM_EVENT_BARRIER_ARRIVE | WM_EVENT_WAVE_END,
                                             .user = runs[i],
                                             .event = write_down_by_group,
                                             .begin_thread = begin_thread,
                                             .end_thread = end_thread};
        const struct wm_observer *const observers[] = {&observer};
        dispatch(&m, (struct wm_dispatch){.grid = {128 * GROUPS},
                                          .workgroup = {128},
                                          .dynamic_lds = 1024,
                                          .threads = i + 1,
                                          .observers = observers,
                                          .observer_count = 1});
    }
    for (unsigned g = 0; g < GROUPS; g++) {
        assert_int_equal(runs[0]->log[g].calls, 2 * 5);
        same(&runs[1]->log[g], runs[0]->log[g].text);
    }
    free(runs[0]);
    free(runs[1]);
    destroy(&m);
}

static void same_profile(const struct wm_profile_row *a, const struct wm_profile_row *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].offset, b[i].offset);
        assert_int_equal(a[i].executions, b[i].executions);
        assert_int_equal(a[i].bytes_asked, b[i].bytes_asked);
        assert_int_equal(a[i].distinct_bytes, b[i].distinct_bytes);
        assert_int_equal(a[i].lines, b[i].lines);
        assert_int_equal(a[i].tag_lookups, b[i].tag_lookups);
        assert_int_equal(a[i].address_clocks, b[i].address_clocks);
        assert_string_equal(a[i].text, b[i].text);
    }
}

/* The profile and other observers do not affect each other. */
static void beside_a_profile(void **state)
{
    (void)state;
    struct machine m = machine_of("gfx900", two_waves);
    struct wm_profile *profile[2];
    struct wm_check *checker;
    struct wm_fidelity *fidelity;
    struct wm_diag diag;
    struct log alone = {.code = m.code, .buffer = m.buffer}, beside = alone;
    const struct wm_observer one = observer_of(&alone, VALUES), other = observer_of(&beside, VALUES);
    const struct wm_observer *observers[] = {&one};
    struct wm_dispatch request = {.grid = {512}, .workgroup = {128}, .dynamic_lds = 1024, .threads = 1};
    size_t count[2];
    const struct wm_profile_row *rows[2];
    assert_int_equal(wm_check_create(WM_CHECK_WAITS | WM_CHECK_HAZARDS, &checker, &diag), WM_OK);
    assert_int_equal(wm_fidelity_create(&fidelity, &diag), WM_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(wm_profile_create(&profile[i], &diag), WM_OK);
    request.profile = profile[0];
    dispatch(&m, request);
    request.profile = NULL;
    request.observers = observers;
    request.observer_count = 1;
    dispatch(&m, request);
    observers[0] = &other;
    request.profile = profile[1];
    request.check = checker;
    request.fidelity = fidelity;
    dispatch(&m, request);
    same(&beside, alone.text);
    for (unsigned i = 0; i < 2; i++)
        rows[i] = wm_profile_rows(profile[i], &count[i]);
    assert_int_equal(count[0], count[1]);
    assert_true(count[0] >= 3);
    same_profile(rows[0], rows[1], count[0]);
    wm_profile_destroy(profile[0]);
    wm_profile_destroy(profile[1]);
    wm_check_destroy(checker);
    wm_fidelity_destroy(fidelity);
    destroy(&m);
}

/* ---- errors ---- */

static const char *seen_half(void *user)
{
    (void)user;
    return "seen half of it";
}

static void *no_memory(void *user)
{
    (void)user;
    return NULL;
}

static void refused(void **state)
{
    (void)state;
    struct machine m = machine_of("gfx900", "s_endpgm\n");
    struct log log = {0};
    struct wm_diag diag;
    struct wm_observer observer = observer_of(&log, WM_EVENT_ACCESS);
    const struct wm_observer *observers[] = {&observer, NULL};
    struct wm_dispatch request = {.struct_size = sizeof request, .observers = observers, .observer_count = 1};
    struct wm_result result = {.struct_size = sizeof result};
#define TRY() wm_dispatch(m.machine, m.object, m.kernel, &request, &result, &diag)
    assert_int_equal(TRY(), WM_OK);
    assert_string_equal(result.incomplete, "");
    observer.incomplete = seen_half;
    assert_int_equal(TRY(), WM_OK);
    assert_string_equal(result.incomplete, "observer: seen half of it");
    observer.events = UINT64_C(1) << 40;
    assert_int_equal(TRY(), WM_BAD_ARGUMENT);
    observer.events = WM_EVENT_ACCESS;
    observer.struct_size = 8;
    assert_int_equal(TRY(), WM_BAD_ARGUMENT);
    observer.struct_size = sizeof observer;
    observer.begin_thread = no_memory;
    assert_int_equal(TRY(), WM_BAD_ARGUMENT); /* only one of two */
    observer.end_thread = end_thread;
    assert_int_equal(TRY(), WM_NO_MEMORY);
    observer = observer_of(&log, WM_EVENT_ACCESS);
    observer.event = NULL;
    assert_int_equal(TRY(), WM_BAD_ARGUMENT);
    request.observer_count = 2;
    observer.event = write_down;
    assert_int_equal(TRY(), WM_BAD_ARGUMENT);
    request.observers = NULL;
    assert_int_equal(TRY(), WM_BAD_ARGUMENT);
    destroy(&m);
}

static void names(void **state)
{
    (void)state;
    for (unsigned bit = 0; 1 << bit < WM_EVENT_VALUES; bit++)
        assert_string_not_equal(wm_event_name(1 << bit), "?");
    assert_string_equal(wm_event_name(WM_EVENT_VALUES), "?");
    assert_string_equal(wm_event_name(3), "?");
    for (int i = 0; i <= WM_PATH_COUNT; i++)
        assert_int_equal(!strcmp(wm_path_name(i), "?"), i == WM_PATH_COUNT);
    for (int i = 0; i <= WM_SPACE_COUNT; i++)
        assert_int_equal(!strcmp(wm_space_name(i), "?"), i == WM_SPACE_COUNT);
    for (int i = 0; i <= WM_ATOMIC_COUNT; i++)
        assert_int_equal(!strcmp(wm_atomic_name(i), "?"), i == WM_ATOMIC_COUNT);
    for (int i = 0; i <= WM_SCOPE_COUNT; i++)
        assert_int_equal(!strcmp(wm_scope_name(i), "?"), i == WM_SCOPE_COUNT);
    assert_string_equal(wm_access_kind_name(3), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(global_memory),
        cmocka_unit_test(lds),
        cmocka_unit_test(other_spaces),
        cmocka_unit_test(moves),
        cmocka_unit_test(faults),
        cmocka_unit_test(barriers),
        cmocka_unit_test(exports),
        cmocka_unit_test(caches_and_messages),
        cmocka_unit_test(instructions_and_blocks),
        cmocka_unit_test(host),
        cmocka_unit_test(three_at_once),
        cmocka_unit_test(threads),
        cmocka_unit_test(beside_a_profile),
        cmocka_unit_test(refused),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
