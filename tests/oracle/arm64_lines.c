/* SPDX-License-Identifier: MIT */
/* Prints each instruction of jit/arm64/encode.h with several registers: its word, a tab, and its text. */
#include "jit/arm64/encode.h"

#include <inttypes.h>
#include <stdio.h>

static void line(uint32_t word, const char *format, unsigned a, unsigned b, unsigned c)
{
    printf("%08" PRIx32 "\t", word);
    printf(format, a, b, c);
    putchar('\n');
}

static const struct {
    uint32_t op;
    const char *text;
} threes[] = {
#define LANES(op, text) {WMI_ARM64_##op##_V, text " v%u.4s, v%u.4s, v%u.4s"}
#define BYTES(op, text) {WMI_ARM64_##op##_V, text " v%u.16b, v%u.16b, v%u.16b"}
#define SCALARS(op, text)                                                                                    \
    {WMI_ARM64_##op, text " w%u, w%u, w%u"}, {WMI_ARM64_##op | (uint32_t)WMI_ARM64_64, text " x%u, x%u, "    \
                                                                                            "x%u"}
    LANES(ADD, "add"),
    LANES(SUB, "sub"),
    LANES(MUL, "mul"),
    BYTES(AND, "and"),
    BYTES(ORR, "orr"),
    BYTES(EOR, "eor"),
    BYTES(BSL, "bsl"),
    BYTES(BIT, "bit"),
    LANES(USHL, "ushl"),
    LANES(SSHL, "sshl"),
    LANES(SMIN, "smin"),
    LANES(SMAX, "smax"),
    LANES(UMIN, "umin"),
    LANES(UMAX, "umax"),
    LANES(CMEQ, "cmeq"),
    LANES(CMGT, "cmgt"),
    LANES(CMHI, "cmhi"),
    LANES(CMTST, "cmtst"),
    {WMI_ARM64_UMULL_V, "umull v%u.2d, v%u.2s, v%u.2s"},
    {WMI_ARM64_UMULL2_V, "umull2 v%u.2d, v%u.4s, v%u.4s"},
    {WMI_ARM64_SMULL_V, "smull v%u.2d, v%u.2s, v%u.2s"},
    {WMI_ARM64_SMULL2_V, "smull2 v%u.2d, v%u.4s, v%u.4s"},
    LANES(UZP2, "uzp2"),
    LANES(FADD, "fadd"),
    LANES(FSUB, "fsub"),
    LANES(FMUL, "fmul"),
    LANES(FMLA, "fmla"),
    LANES(FDIV, "fdiv"),
    LANES(FMIN, "fmin"),
    LANES(FMAX, "fmax"),
    LANES(FCMEQ, "fcmeq"),
    LANES(FCMGE, "fcmge"),
    LANES(FCMGT, "fcmgt"),
    SCALARS(ADD, "add"),
    SCALARS(SUB, "sub"),
    SCALARS(SUBS, "subs"),
    SCALARS(AND, "and"),
    SCALARS(ORR, "orr"),
    SCALARS(ORN, "orn"),
    SCALARS(EOR, "eor"),
    SCALARS(MUL, "mul"),
    SCALARS(LSL, "lsl"),
    SCALARS(LSR, "lsr"),
    SCALARS(ASR, "asr"),
    {WMI_ARM64_UMULL, "umull x%u, w%u, w%u"},
    {WMI_ARM64_SMULL, "smull x%u, w%u, w%u"},
    {WMI_ARM64_UMULH, "umulh x%u, x%u, x%u"},
    {WMI_ARM64_SMULH, "smulh x%u, x%u, x%u"},
    {WMI_ARM64_ORR_HIGH, "orr x%u, x%u, x%u, lsl #32"},
};

static const struct {
    uint32_t op;
    const char *text;
} twos[] = {
    {WMI_ARM64_NOT_V, "mvn v%u.16b, v%u.16b"},       {WMI_ARM64_NEG_V, "neg v%u.4s, v%u.4s"},
    {WMI_ARM64_CLZ_V, "clz v%u.4s, v%u.4s"},         {WMI_ARM64_CNT_V, "cnt v%u.16b, v%u.16b"},
    {WMI_ARM64_UADDLP_B, "uaddlp v%u.8h, v%u.16b"},  {WMI_ARM64_UADDLP_H, "uaddlp v%u.4s, v%u.8h"},
    {WMI_ARM64_RBIT_V, "rbit v%u.16b, v%u.16b"},     {WMI_ARM64_REV32_V, "rev32 v%u.16b, v%u.16b"},
    {WMI_ARM64_FSQRT_V, "fsqrt v%u.4s, v%u.4s"},     {WMI_ARM64_FRINTN_V, "frintn v%u.4s, v%u.4s"},
    {WMI_ARM64_FRINTM_V, "frintm v%u.4s, v%u.4s"},   {WMI_ARM64_FRINTP_V, "frintp v%u.4s, v%u.4s"},
    {WMI_ARM64_FRINTZ_V, "frintz v%u.4s, v%u.4s"},   {WMI_ARM64_SCVTF_V, "scvtf v%u.4s, v%u.4s"},
    {WMI_ARM64_UCVTF_V, "ucvtf v%u.4s, v%u.4s"},     {WMI_ARM64_FCVTZS_V, "fcvtzs v%u.4s, v%u.4s"},
    {WMI_ARM64_FCVTZU_V, "fcvtzu v%u.4s, v%u.4s"},   {WMI_ARM64_DUP_V, "dup v%u.4s, w%u"},
    {WMI_ARM64_UMOV, "umov w%u, v%u.s[0]"},          {WMI_ARM64_ADDV, "addv s%u, v%u.4s"},
    {WMI_ARM64_UMAXV, "umaxv s%u, v%u.4s"},          {(uint32_t)WMI_ARM64_LSR_32, "lsr x%u, x%u, #32"},
    {(uint32_t)WMI_ARM64_FMOV_D_X, "fmov d%u, x%u"}, {WMI_ARM64_INS_D1_X, "ins v%u.d[1], x%u"},
};

static void lines_of_registers(unsigned d, unsigned n, unsigned m)
{
    for (unsigned i = 0; i < sizeof threes / sizeof *threes; i++)
        line(wmi_arm64_three(threes[i].op, d, n, m), threes[i].text, d, n, m);
    for (unsigned i = 0; i < sizeof twos / sizeof *twos; i++)
        line(wmi_arm64_two(twos[i].op, d, n), twos[i].text, d, n, 0);
    line(wmi_arm64_two((uint32_t)WMI_ARM64_BR, 0, n), "br x%u", n, 0, 0);
    line(wmi_arm64_two((uint32_t)WMI_ARM64_BLR, 0, n), "blr x%u", n, 0, 0);
    for (unsigned count = 0; count < 32; count++)
        line(wmi_arm64_vector_shift(WMI_ARM64_SHL_V, d, n, 32 + count), "shl v%u.4s, v%u.4s, #%u", d, n,
             count);
    for (unsigned count = 1; count <= 32; count++) {
        line(wmi_arm64_vector_shift(WMI_ARM64_USHR_V, d, n, 64 - count), "ushr v%u.4s, v%u.4s, #%u", d, n,
             count);
        line(wmi_arm64_vector_shift(WMI_ARM64_SSHR_V, d, n, 64 - count), "sshr v%u.4s, v%u.4s, #%u", d, n,
             count);
    }
    for (unsigned i = 0; i < 4; i++) {
        line(wmi_arm64_move_immediate(d, 0x1234 + m, i, 0), "movz x%u, #%u, lsl #%u", d, 0x1234 + m, 16 * i);
        line(wmi_arm64_move_immediate(d, 0xfedc - m, i, 1), "movk x%u, #%u, lsl #%u", d, 0xfedc - m, 16 * i);
    }
}

static void lines_of_accesses(unsigned t, unsigned base)
{
    static const struct {
        uint32_t op;
        const char *text;
    } accesses[] = {
        {(uint32_t)WMI_ARM64_LDR_W, "ldr w%u, [x%u, #%u]"},
        {(uint32_t)WMI_ARM64_STR_W, "str w%u, [x%u, #%u]"},
        {(uint32_t)WMI_ARM64_LDR_X, "ldr x%u, [x%u, #%u]"},
        {(uint32_t)WMI_ARM64_STR_X, "str x%u, [x%u, #%u]"},
        {WMI_ARM64_LDR_Q, "ldr q%u, [x%u, #%u]"},
        {WMI_ARM64_STR_Q, "str q%u, [x%u, #%u]"},
    };
    static const unsigned numbers[] = {0, 1, 5, 255, 2048, 4095};
    for (unsigned i = 0; i < sizeof accesses / sizeof *accesses; i++)
        for (unsigned k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            const uint32_t offset = numbers[k] << wmi_arm64_access_shift(accesses[i].op);
            line(wmi_arm64_access(accesses[i].op, t, base, offset), accesses[i].text, t, base, offset);
        }
    for (unsigned k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        line(wmi_arm64_add_immediate(t, base, numbers[k]), "add x%u, x%u, #%u", t, base, numbers[k]);
        line(wmi_arm64_subtract_immediate(t, base, numbers[k]), "sub x%u, x%u, #%u", t, base, numbers[k]);
        if (numbers[k])
            line(wmi_arm64_add_immediate(t, base, numbers[k] << 12), "add x%u, x%u, #%u, lsl #12", t, base,
                 numbers[k]);
        line(wmi_arm64_compare_immediate(t, numbers[k]), "cmp x%u, #%u", t, numbers[k], 0);
    }
}

static void lines_of_branches(void)
{
    static const int distances[] = {-4, -1, 2, 100, 5000};
    static const struct {
        unsigned number;
        const char *name;
    } conditions[] = {{WMI_ARM64_EQ, "eq"}, {WMI_ARM64_NE, "ne"}, {WMI_ARM64_HS, "hs"}, {WMI_ARM64_LO, "lo"},
                      {WMI_ARM64_HI, "hi"}, {WMI_ARM64_LS, "ls"}, {WMI_ARM64_GE, "ge"}, {WMI_ARM64_LT, "lt"}};
    for (unsigned i = 0; i < sizeof distances / sizeof *distances; i++) {
        const int far = distances[i];
        printf("%08" PRIx32 "\tb #%d\n", wmi_arm64_branch(far), 4 * far);
        printf("%08" PRIx32 "\tbl #%d\n", wmi_arm64_call(far), 4 * far);
        printf("%08" PRIx32 "\tcbz x7, #%d\n", wmi_arm64_branch_zero(7, true, far), 4 * far);
        printf("%08" PRIx32 "\tcbnz x30, #%d\n", wmi_arm64_branch_zero(30, false, far), 4 * far);
        printf("%08" PRIx32 "\tadr x17, #%d\n", wmi_arm64_address_near(17, 4 * far + 3), 4 * far + 3);
        for (unsigned k = 0; k < sizeof conditions / sizeof *conditions; k++)
            printf("%08" PRIx32 "\tb.%s #%d\n", wmi_arm64_branch_if(conditions[k].number, far),
                   conditions[k].name, 4 * far);
    }
    for (unsigned k = 0; k < sizeof conditions / sizeof *conditions; k++) {
        printf("%08" PRIx32 "\tcset w9, %s\n", wmi_arm64_set(9, conditions[k].number), conditions[k].name);
        printf("%08" PRIx32 "\tcsel w1, w2, w3, %s\n", wmi_arm64_select(0, 1, 2, 3, conditions[k].number),
               conditions[k].name);
        printf("%08" PRIx32 "\tcsel x1, x2, x3, %s\n",
               wmi_arm64_select((uint32_t)WMI_ARM64_64, 1, 2, 3, conditions[k].number), conditions[k].name);
    }
    printf("%08" PRIx32 "\tret\n", (uint32_t)WMI_ARM64_RET);
}

int main(void)
{
    lines_of_registers(0, 1, 2);
    lines_of_registers(30, 21, 11);
    lines_of_accesses(3, 4);
    lines_of_accesses(29, 16);
    lines_of_branches();
}
