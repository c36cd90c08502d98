/* SPDX-License-Identifier: MIT */
/* Image atomics, all operations and both sizes, and loads and stores without conversion, against simple
 * references. */
#include "atomic_operations.h"
#include "run_image.h"

static uint64_t float_bits(double value, unsigned bits)
{
    const float narrow = (float)value;
    uint64_t wide = 0;
    memcpy(&wide, bits == 32 ? (const void *)&narrow : (const void *)&value, bits / 8);
    return wide;
}

static double value_of(uint64_t x, unsigned bits)
{
    float narrow;
    double value;
    memcpy(&narrow, &x, 4);
    memcpy(&value, &x, 8);
    return bits == 32 ? narrow : value;
}

static int64_t signed_of(uint64_t x, unsigned bits)
{
    return bits == 32 ? (int32_t)x : (int64_t)x;
}

/* 16-bit floats of integers below 2^11 and back; `brain`: bf16, below 2^8. */
static uint32_t half_of(uint32_t whole, bool brain)
{
    unsigned exponent = 0;
    if (!whole)
        return 0;
    while (whole >> (exponent + 1))
        exponent++;
    return brain ? (127 + exponent) << 7 | ((whole << 7 >> exponent) & 0x7f)
                 : (15 + exponent) << 10 | ((whole << 10 >> exponent) & 0x3ff);
}

static uint32_t whole_of(uint32_t half, bool brain)
{
    uint32_t whole = 0;
    while (half_of(whole, brain) != half)
        whole++;
    return whole;
}

static uint64_t add_halves(uint64_t m, uint64_t d, bool brain)
{
    uint32_t sum = 0;
    for (unsigned shift = 0; shift < 32; shift += 16)
        sum |= half_of(whole_of(m >> shift & 0xffff, brain) + whole_of(d >> shift & 0xffff, brain), brain)
               << shift;
    return sum;
}

/* New value from memory, data and comparand. Source: Vega ISA, "Image instructions"; Southern Islands ISA,
 * IMAGE_ATOMIC_RSUB; RDNA 4 ISA, "Float atomics". */
OPERATION(rsub, d - m)
OPERATION(smin, signed_of(m, bits) < signed_of(d, bits) ? m : d)
OPERATION(smax, signed_of(m, bits) > signed_of(d, bits) ? m : d)
OPERATION(fcmpswap, value_of(m, bits) == value_of(c, bits) ? d : m)
OPERATION(min_floats, value_of(m, bits) < value_of(d, bits) ? m : d)
OPERATION(max_floats, value_of(m, bits) > value_of(d, bits) ? m : d)
OPERATION(add_floats, float_bits(value_of(m, bits) + value_of(d, bits), bits))
OPERATION(pk_add_f16, add_halves(m, d, false))
OPERATION(pk_add_bf16, add_halves(m, d, true))

enum numbers { INTEGERS, FLOATS, HALVES, BRAIN_HALVES };

static const struct operation {
    const char *name, *later; /* on gfx12 */
    uint64_t (*make)(uint64_t m, uint64_t d, uint64_t c, unsigned bits);
    enum numbers numbers;
    bool compares, narrow; /* narrow: 32 bits only */
    uint64_t generations;  /* 1 << generation() */
} operations[] = {
    {"swap", "swap", swap, INTEGERS, false, false, ~0u},
    {"cmpswap", "cmpswap", cmpswap, INTEGERS, true, false, ~0u},
    {"add", "add_uint", add, INTEGERS, false, false, ~0u},
    {"sub", "sub_uint", sub, INTEGERS, false, false, ~0u},
    {"rsub", NULL, rsub, INTEGERS, false, false, 1 << 6 | 1 << 7},
    {"smin", "min_int", smin, INTEGERS, false, false, ~0u},
    {"umin", "min_uint", umin, INTEGERS, false, false, ~0u},
    {"smax", "max_int", smax, INTEGERS, false, false, ~0u},
    {"umax", "max_uint", umax, INTEGERS, false, false, ~0u},
    {"and", "and", and, INTEGERS, false, false, ~0u},
    {"or", "or", or, INTEGERS, false, false, ~0u},
    {"xor", "xor", xor, INTEGERS, false, false, ~0u},
    {"inc", "inc_uint", inc, INTEGERS, false, false, ~0u},
    {"dec", "dec_uint", dec, INTEGERS, false, false, ~0u},
    {"fcmpswap", NULL, fcmpswap, FLOATS, true, false, 1 << 6 | 1 << 7 | 1 << 16},
    {"fmin", "min_flt", min_floats, FLOATS, false, false, 1 << 6 | 1 << 7 | 1 << 16 | 1 << 18},
    {"fmax", "max_flt", max_floats, FLOATS, false, false, 1 << 6 | 1 << 7 | 1 << 16 | 1 << 18},
    {NULL, "add_flt", add_floats, FLOATS, false, true, 1 << 18},
    {NULL, "pk_add_f16", pk_add_f16, HALVES, false, true, 1 << 18},
    {NULL, "pk_add_bf16", pk_add_bf16, BRAIN_HALVES, false, true, 1 << 18},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static uint64_t draw_number(const struct operation *o, unsigned bits)
{
    const bool brain = o->numbers == BRAIN_HALVES;
    uint64_t number = wmi_random_bits(seed, drawn++);
    if (o->numbers >= HALVES)
        number = half_of(below(4), brain) | half_of(below(4), brain) << 16;
    else if (o->numbers == FLOATS)
        number = float_bits((double)below(9) - 4.5, bits);
    else if (below(2))
        number = below(9);
    return bits == 32 ? (uint32_t)number : number;
}

/* One operation on texels of `bits`, all lanes; lanes act in lane order. */
static void try_atomic(const char *target, const struct operation *o, unsigned bits)
{
    static unsigned char before[IMAGE_BYTES];
    uint32_t c[LANES][4];
    uint64_t data[LANES], compare[LANES];
    char text[240], name[40];
    const unsigned bytes = bits / 8, words = bits / 32 * (o->compares ? 2 : 1);
    struct image i = make_image(target, m.image);
    change_format(&i, &formats[bits == 32 ? 0 : FORMATS - 1]);
    draw_coordinates(&i, c);
    for (unsigned at = 0; at < IMAGE_BYTES; at += bytes) {
        const uint64_t number = draw_number(o, bits);
        memcpy(m.bytes + at, &number, bytes);
    }
    memcpy(before, m.bytes, IMAGE_BYTES);
    for (unsigned lane = 0; lane < LANES; lane++) {
        data[lane] = draw_number(o, bits);
        compare[lane] = draw_number(o, bits);
        const uint64_t both[2] = {data[lane], compare[lane]};
        for (unsigned k = 0; k < words; k++)
            memcpy(&m.in[256 + 64 * k + lane], (const char *)&both[k * 4 / bytes] + k * 4 % bytes, 4);
    }
    snprintf(name, sizeof name, "image_atomic_%s", generation(target) == 18 ? o->later : o->name);
    write_instruction(text, &i, name, 20, words, (1u << words) - 1, false,
                      generation(target) == 18 ? " th:TH_ATOMIC_RETURN" : " glc");
    strcat(text, "\nv_mov_b32 v10, v20\nv_mov_b32 v11, v21");
    const struct wm_fault fault = run(target, i.words, text);
    if (fault.kind)
        fail_msg("%s: %s: %s", target, text, fault.text);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint64_t offset, expected = 0;
        if (find_texel(&i, c[lane], false, &offset)) {
            memcpy(&expected, before + offset, bytes);
            const uint64_t after = o->make(expected, data[lane], compare[lane], bits);
            memcpy(before + offset, &after, bytes);
        }
        const uint64_t is = m.out[lane] | (uint64_t)m.out[64 + lane] << 32;
        if (bits == 32 ? (uint32_t)is != expected : is != expected)
            fail_msg("%s: %s: lane %u (%u %u %u): 0x%llx, expected 0x%llx", target, text, lane, c[lane][0],
                     c[lane][1], c[lane][2], (unsigned long long)is, (unsigned long long)expected);
    }
    if (memcmp(before, m.bytes, IMAGE_BYTES) != 0)
        fail_msg("%s: %s: memory differs", target, text);
}

static void test_atomic(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        for (unsigned o = 0; o < OPERATIONS; o++) {
            if (!(operations[o].generations >> generation(targets[t]) & 1))
                continue;
            try_atomic(targets[t], &operations[o], 32);
            if (!operations[o].narrow)
                try_atomic(targets[t], &operations[o], 64);
        }
        end_machine();
    }
}

/* ---- without conversion ---- */

/* Unconverted texels: dwords selected by DMASK, or a smaller texel extended to a dword; and their stores. */
static void test_packed(void **state)
{
    static const struct format small[] = {{1, 8, true, 1, 0, 1, 1}, {2, 8, false, 3, 4, 18, 18}};
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        open_machine(targets[t]);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint32_t c[LANES][4];
            char text[200], name[40];
            struct image i = make_image(targets[t], m.image);
            const bool has_level = below(2), sgn = below(2);
            const bool store =
                generation(targets[t]) == 17 ? true : below(2); /* gfx11 has no such loads here */
            if (below(2))
                change_format(&i, &small[below(2)]);
            const unsigned words = (texel_bytes(&i) + 3) / 4;
            const unsigned dmask = store ? (1u << words) - 1 : 1 + below((1u << words) - 1);
            draw_coordinates(&i, c);
            for (unsigned k = 0; k < 4; k++)
                for (unsigned lane = 0; lane < LANES; lane++)
                    m.in[256 + 64 * k + lane] = (uint32_t)wmi_random_bits(seed, drawn++);
            snprintf(name, sizeof name, "image_%s%s_pck%s", store ? "store" : "load", has_level ? "_mip" : "",
                     !store && sgn ? "_sgn" : "");
            write_instruction(text, &i, name, store ? 20 : 10, (unsigned)__builtin_popcount(dmask), dmask,
                              has_level, "");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind)
                fail_msg("%s: %s: %s", targets[t], text, fault.text);
            for (unsigned lane = LANES; lane-- > 0;) {
                unsigned char texel[16] = {0};
                unsigned n = 0;
                uint64_t offset = 0;
                const bool there = find_texel(&i, c[lane], has_level, &offset);
                bool later = false; /* a later lane stored to the same texel */
                for (unsigned other = lane + 1; other < LANES && there; other++) {
                    uint64_t elsewhere;
                    later |= find_texel(&i, c[other], has_level, &elsewhere) && elsewhere == offset;
                }
                if (there)
                    memcpy(texel, m.bytes + offset, texel_bytes(&i));
                for (unsigned k = 0; k < words; k++) {
                    uint32_t word;
                    memcpy(&word, texel + 4 * k, 4);
                    if (sgn && texel_bytes(&i) < 4 && texel[texel_bytes(&i) - 1] & 0x80)
                        word |= ~0u << (8 * texel_bytes(&i));
                    if (store && there && !later &&
                        memcmp(texel + 4 * k, &m.in[256 + 64 * k + lane],
                               texel_bytes(&i) < 4 ? texel_bytes(&i) : 4))
                        fail_msg("%s: %s: lane %u stores something else", targets[t], text, lane);
                    if (!store && dmask >> k & 1 && m.out[64 * n++ + lane] != word)
                        fail_msg("%s: %s: lane %u word %u is 0x%x, expected 0x%x", targets[t], text, lane, k,
                                 m.out[64 * (n - 1) + lane], word);
                }
            }
        }
        end_machine();
    }
}

/* ---- read-only images ---- */

/* Stores to them stop the run, or do nothing; atomics then return 0 (CDNA 3 ISA, "Memory Violations"). */
static void test_read_only(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TARGETS; t++) {
        const bool later = generation(targets[t]) == 18;
        const char *const names[] = {"image_store", later ? "image_atomic_add_uint" : "image_atomic_add"};
        open_machine(targets[t]);
        struct image i = {.target = targets[t],
                          .type = T1D,
                          .format = &formats[0],
                          .base = m.constant,
                          .width = 64,
                          .height = 1,
                          .depth = 1,
                          .mips = 1,
                          .pitch = 64};
        encode(&i);
        for (unsigned lane = 0; lane < LANES; lane++) {
            m.in[lane] = lane + 34; /* the last two are out of range */
            m.in[256 + lane] = 7;
        }
        for (unsigned k = 0; k < 4; k++) {
            char text[240];
            m.on_violation = k / 2 ? WM_VIOLATION_GOES_ON : WM_VIOLATION_STOPS;
            write_instruction(text, &i, names[k % 2], 20, 1, 1, false,
                              k % 2 == 0 ? ""
                              : later    ? " th:TH_ATOMIC_RETURN"
                                         : " glc");
            strcat(text, "\nv_mov_b32 v10, v20");
            const struct wm_fault fault = run(targets[t], i.words, text);
            if (fault.kind != (k / 2 ? WM_FAULT_NONE : WM_FAULT_READ_ONLY) || m.violations != k / 2 ||
                (!(k / 2) && fault.lanes != 0x3fffffff))
                fail_msg("%s: %s: %s, %u violations", targets[t], text, fault.text, (unsigned)m.violations);
            for (unsigned lane = 0; lane < LANES && k == 3; lane++)
                assert_int_equal(m.out[lane], 0);
            const uint32_t *texels = wm_host_pointer(m.machine, m.constant, 256);
            for (unsigned x = 0; x < 64; x++)
                assert_int_equal(texels[x], 0);
        }
        m.on_violation = WM_VIOLATION_STOPS;
        end_machine();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atomic),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
