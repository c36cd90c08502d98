/* SPDX-License-Identifier: MIT */
/* Memory instructions with random bits, descriptors and registers, on all targets. Nothing may do anything
 * but end, fault, violate or run out of budget; sanitizers see what reaches host memory that is not the
 * guest's. Each program runs unwatched and watched: both must end the same way with the same memory, or a
 * fast path differs from its careful twin. */
#include "run_text.h"

#include "base/random.h"

enum {
    ROUNDS = 60,
    INSTRUCTIONS = 12, /* of a program */
    REGISTERS = 4,     /* v[4:7], from the first words of memory */

};

static const uint64_t seed = 77;
static uint64_t drawn;

static uint32_t word(void)
{
    return (uint32_t)wmi_random_bits(seed, drawn++);
}

static uint32_t below(uint32_t limit)
{
    return word() % limit;
}

/* s[16:23] are a V# or T#, s24 is small, v[14:15] an address in memory. What a target has not got is left
 * out.
 */
static const char *const texts[] = {
    "buffer_load_dword v20, v[4:5], s[16:19], s12 idxen offen offset:16",
    "buffer_load_dwordx4 v[20:23], v4, s[16:19], s12 idxen",
    "buffer_load_ubyte v20, v4, s[16:19], s24 offen",
    "buffer_load_format_xyzw v[20:23], v4, s[16:19], s12 idxen",
    "buffer_load_format_x v20, v4, s[16:19], s24 offen",
    "buffer_load_format_d16_xyz v[20:22], v4, s[16:19], s12 idxen",
    "buffer_load_format_d16_xyzw v[20:21], v4, s[16:19], s12 idxen",
    "buffer_load_dword v4, s[16:19], s12 offen lds",
    "buffer_load_dword v20, v[4:5], s[16:19], s12 addr64",
    "buffer_store_lds_dword s[16:19], s12 lds",
    "buffer_store_format_xyzw v[4:7], v4, s[16:19], s12 idxen",
    "buffer_store_dwordx2 v[4:5], v4, s[16:19], s12 offen",
    "buffer_store_short v5, v4, s[16:19], s12 idxen",
    "buffer_atomic_add v5, v4, s[16:19], s12 idxen",
    "buffer_atomic_cmpswap_x2 v[4:7], v6, s[16:19], s24 offen",
    "tbuffer_load_format_xyzw v[20:23], v4, s[16:19], s12 dfmt:10, nfmt:0, idxen",
    "tbuffer_store_format_xy v[4:5], v4, s[16:19], s12 dfmt:5, nfmt:7, offen",
    "tbuffer_load_format_xyzw v[20:23], v4, s[16:19], s12 format:56 idxen",
    "tbuffer_store_format_xy v[4:5], v4, s[16:19], s12 format:29 offen",
    "s_buffer_load_dwordx4 s[28:31], s[16:19], 0x10",
    "s_buffer_load_dword s28, s[16:19], s24",
    "s_buffer_store_dword s28, s[16:19], 0x10",
    "s_load_dwordx2 s[28:29], s[2:3], 0x8",
    "s_atomic_add s24, s[2:3], 0x8",
    "image_load v[20:23], v[4:6], s[16:23] dmask:0xf unorm",
    "image_store v[4:7], v[4:6], s[16:23] dmask:0xf unorm",
    "image_load_mip v[20:23], v[4:7], s[16:23] dmask:0xf unorm",
    "image_load_pck v[20:23], v[4:6], s[16:23] dmask:0xf unorm",
    "image_atomic_umax v5, v[4:6], s[16:23] dmask:0x1 unorm",
    "image_load v[20:23], v[4:5], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D unorm",
    "image_store v[4:7], v[4:5], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D unorm",
    "image_load_mip v[20:23], v[4:6], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D unorm",
    "image_load v[20:23], [v4, v5], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D",
    "image_store v[4:7], [v4, v5, v6], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_3D",
    "image_atomic_add_uint v5, [v4, v5], s[16:23] dmask:0x1 dim:SQ_RSRC_IMG_2D",
    "image_get_resinfo v[20:23], v4, s[16:23] dmask:0xf",
    "flat_load_dwordx2 v[20:21], v[14:15]",
    "flat_store_dword v[14:15], v5",
    "flat_atomic_add v[14:15], v5",
    "global_load_dword v20, v[14:15], off",
    "global_store_dwordx2 v[14:15], v[4:5], off",
    "scratch_load_dword v20, v4, off",
    "ds_read_b64 v[20:21], v4",
    "ds_write2_b32 v4, v5, v6 offset1:3",
    "ds_add_rtn_u32 v20, v4, v5",
};
enum { TEXTS = sizeof texts / sizeof *texts };

struct words {
    uint32_t word[5];
    unsigned count;
};

struct program {
    const char *target;
    struct words instruction[INSTRUCTIONS];
    uint32_t resource[8];
    bool image, near; /* the resource's base is the memory, and what it may not be is not random */
    uint32_t small, m0;
};

/* The words of what the target has of `texts`; how many. */
static unsigned assemble_all(const char *target, struct words *all)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TEXTS; i++) {
        uint8_t *code = NULL;
        size_t bytes = 0;
        char *messages = NULL;
        if (!wm_assemble(texts[i], strlen(texts[i]), "text", target, WM_ASSEMBLE_RAW, &code, &bytes,
                         &messages, NULL) &&
            bytes <= sizeof all->word) {
            memcpy(all[count].word, code, bytes);
            all[count++].count = (unsigned)bytes / 4;
        }
        free(code);
        free(messages);
    }
    return count;
}

static struct program draw_program(const char *target, const struct words *all, unsigned count)
{
    struct program p = {.target = target, .image = below(2), .near = below(5)};
    for (unsigned i = 0; i < INSTRUCTIONS; i++) {
        p.instruction[i] = all[below(count)];
        for (unsigned flips = below(12) ? 0 : 1 + below(3); flips; flips--)
            p.instruction[i].word[below(p.instruction[i].count)] ^= 1u << below(32);
    }
    for (unsigned i = 0; i < 8; i++)
        p.resource[i] = word();
    p.small = below(64);
    p.m0 = below(2) ? UINT32_MAX : below(2000);
    return p;
}

/* One that is there, in word 1. */
static uint32_t image_format(const struct program *p)
{
    static const uint32_t numbers[] = {0, 4, 5, 7};
    const unsigned generation = generation_of(p->target);
    if (generation < 10)
        return (1 + p->resource[1] % 14) << 20 | numbers[p->resource[1] >> 8 & 3] << 26;
    return (1 + p->resource[1] % (generation == 10 ? 77 : 63)) << (generation == 12 ? 17 : 20);
}

/* A base in the memory, and for images of the rest only what a linear one has. */
static void add_descriptor(struct text *t, const struct text_run *run, const struct program *p)
{
    const uint64_t base = run->address + p->small * 4;
    uint32_t w[8];
    memcpy(w, p->resource, sizeof w);
    if (p->near && p->image) {
        w[0] = (uint32_t)(run->address >> 8);
        w[1] = (uint32_t)(run->address >> 40) | image_format(p);
        w[2] &= 0x001f003f;
        w[3] = (w[3] & 0xfff) | (8 + w[3] % 6) << 28 | (generation_of(p->target) < 9 ? 8u << 20 : 0);
        w[4] &= 0x3003f;
        w[5] &= 0x3;
    } else if (p->near) {
        w[0] = (uint32_t)base;
        w[1] = (uint32_t)(base >> 32) | (w[1] & 0xc03f0000);
        w[2] &= w[2] >> 31 ? UINT32_MAX : 0x3ff;
        w[3] &= 0x3fffffff;
    }
    for (unsigned i = 0; i < 8; i++)
        add_text(t, "s_mov_b32 s%u, 0x%x\n", 16 + i, w[i]);
}

static void write_program(struct text *t, struct text_run *run, const void *user)
{
    const struct program *p = user;
    add_text(t, "v_lshlrev_b32 v1, 2, v0\n");
    for (unsigned i = 0; i < REGISTERS; i++)
        add_text(t, "buffer_load_dword v%u, v1, s[8:11], s12 offen offset:%u\n", 4 + i, 256 * i);
    add_text(t, "v_and_b32 v14, 0x1fff, v4\nv_or_b32 v14, s2, v14\nv_mov_b32 v15, s3\n");
    add_text(t, "s_mov_b32 s24, %u\ns_mov_b32 m0, 0x%x\n", p->small, p->m0);
    add_descriptor(t, run, p);
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        for (unsigned k = 0; k < p->instruction[i].count; k++)
            add_text(t, ".long 0x%x\n", p->instruction[i].word[k]);
}

static void fill_memory(struct text_run *run)
{
    memset(run, 0, sizeof *run);
    for (unsigned i = 0; i < TEXT_WORDS; i++)
        run->memory[i] = word();
    for (unsigned i = 0; i < 64 * REGISTERS; i++)
        run->memory[i] = below(8) ? below(64) * (below(2) ? 4 : 1) : word();
}

static void random_programs(void **state)
{
    static struct text_run plain, watched;
    const unsigned rounds = getenv("WAVEMEM_TEST_REDUCED") ? ROUNDS / 4 : ROUNDS;
    unsigned ended = 0, runs = 0;
    (void)state;
    for (unsigned i = 0; i < ALL_TARGETS; i++) {
        static struct words all[TEXTS];
        const unsigned count = assemble_all(all_targets[i], all);
        assert_true(count >= 15);
        for (unsigned round = 0; round < rounds; round++) {
            const struct program p = draw_program(all_targets[i], all, count);
            struct wm_dispatch dispatch = {.dynamic_lds = 1000,
                                           .threads = 1,
                                           .max_instructions = 2000,
                                           .on_violation =
                                               below(4) ? WM_VIOLATION_GOES_ON : WM_VIOLATION_STOPS,
                                           .alignment = (enum wm_alignment)(below(2) ? 0 : below(4))};
            const unsigned lanes = lanes_of(p.target) - (below(2) ? 0 : below(20));
            fill_memory(&plain);
            watched = plain;
            run_written(p.target, lanes, &plain, write_program, &p, dispatch);
            assert_int_equal(wm_profile_create(&dispatch.profile, NULL), WM_OK);
            run_written(p.target, lanes, &watched, write_program, &p, dispatch);
            wm_profile_destroy(dispatch.profile);
            if (plain.fault.kind != watched.fault.kind || plain.fault.pc != watched.fault.pc ||
                plain.fault.lanes != watched.fault.lanes || plain.violations != watched.violations ||
                memcmp(plain.memory, watched.memory, sizeof plain.memory) != 0)
                fail_msg("%s, round %u: watched, it differs: %s | %s", p.target, round, plain.fault.text,
                         watched.fault.text);
            ended += plain.fault.kind == WM_FAULT_NONE;
            runs++;
        }
    }
    assert_in_range(ended, runs / 20, runs); /* or nothing is tried */
    print_message("%u of %u programs went to their end\n", ended, runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
