// SPDX-License-Identifier: MIT
// Kernels with one thing wrong, NAME_bad, and the same without it, NAME_good; kernels that need no advice. The
// table in advice.py says what wavemem prof should find.
#define ID ((int)get_global_id(0))
#define LANE ((int)get_local_id(0))
#define GROUP ((int)get_group_id(0))
#define ITEMS ((int)get_global_size(0))
#define APART    __asm__ volatile("" ::: "memory") // what is before and behind it stays two instructions
#define GROUP_OF(n) __attribute__((reqd_work_group_size(n, 1, 1)))

// ---- LDS ----

// 32 reads on 32 lines, of columns of a tile with rows of 64 dwords, and of 65. 256 work-items read each
// element of their row of 16 dwords twice.
#define TILE(name, ROW)                                                                                      \
    kernel GROUP_OF(64) void name(const global float *a, global float *b)                                   \
    {                                                                                                        \
        volatile local float t[64 * ROW];                                                                    \
        float s = 0;                                                                                         \
        t[LANE] = a[ID];                                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        const volatile local float *p = t + LANE * ROW;
#define END_TILE                                                                                             \
        b[ID] = s;                                                                                           \
    }
TILE(conflicts_bad, 64)
    s += p[0];
    s += p[1];
    s += p[2];
    s += p[3];
    s += p[4];
    s += p[5];
    s += p[6];
    s += p[7];
    s += p[8];
    s += p[9];
    s += p[10];
    s += p[11];
    s += p[12];
    s += p[13];
    s += p[14];
    s += p[15];
    s += p[16];
    s += p[17];
    s += p[18];
    s += p[19];
    s += p[20];
    s += p[21];
    s += p[22];
    s += p[23];
    s += p[24];
    s += p[25];
    s += p[26];
    s += p[27];
    s += p[28];
    s += p[29];
    s += p[30];
    s += p[31];
END_TILE
TILE(conflicts_good, 65)
    s += p[0];
    s += p[1];
    s += p[2];
    s += p[3];
    s += p[4];
    s += p[5];
    s += p[6];
    s += p[7];
    s += p[8];
    s += p[9];
    s += p[10];
    s += p[11];
    s += p[12];
    s += p[13];
    s += p[14];
    s += p[15];
    s += p[16];
    s += p[17];
    s += p[18];
    s += p[19];
    s += p[20];
    s += p[21];
    s += p[22];
    s += p[23];
    s += p[24];
    s += p[25];
    s += p[26];
    s += p[27];
    s += p[28];
    s += p[29];
    s += p[30];
    s += p[31];
END_TILE

// Every second bank.
#define EVERY(name, STRIDE)                                                                                  \
    kernel GROUP_OF(64) void name(const global float *a, global float *b)                                   \
    {                                                                                                        \
        volatile local float t[64 * 2 + 64];                                                                 \
        float s = 0;                                                                                         \
        t[LANE] = a[ID];                                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        for (int i = 0; i < 64; i++)                                                                         \
            s += t[LANE * STRIDE + i];                                                                       \
        b[ID] = s;                                                                                           \
    }
EVERY(two_way_bad, 2)
EVERY(two_way_good, 1)

// All lanes read the same dword of a table, from LDS and through the scalar cache.
kernel GROUP_OF(64) void uniform_lds_bad(const global float *a, global float *b, const global float *table)
{
    volatile local float t[64];
    float s = a[ID];
    t[LANE] = table[LANE];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 64; i++)
        s = s * 0.5f + t[i];
    b[ID] = s;
}
kernel GROUP_OF(64) void uniform_lds_good(const global float *restrict a, global float *restrict b, constant float *table)
{
    float s = a[ID];
    for (int i = 0; i < 64; i++)
        s = s * 0.5f + table[i];
    b[ID] = s;
}

// Pairs of dwords at multiples of 4 bytes, and of 8.
#define PAIRS(name, OFFSET)                                                                                  \
    kernel GROUP_OF(64) void name(const global float *a, global float *b)                                   \
    {                                                                                                        \
        local float t[64 * 4] __attribute__((aligned(16)));                                                  \
        float s = 0;                                                                                         \
        t[LANE] = t[64 + LANE] = t[128 + LANE] = t[192 + LANE] = a[ID];                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        for (int i = 0; i < 32; i++) {                                                                       \
            float2 x;                                                                                        \
            __asm__ volatile("ds_read_b64 %0, %1 offset:" OFFSET "\n s_waitcnt lgkmcnt(0)"                   \
                             : "=v"(x)                                                                       \
                             : "v"((unsigned)(LANE * 8) + (unsigned)(__UINTPTR_TYPE__)(local char *)t)       \
                             : "memory");                                                                    \
            s += x.x + x.y;                                                                                  \
        }                                                                                                    \
        b[ID] = s;                                                                                           \
    }
PAIRS(pairs_bad, "4")
PAIRS(pairs_good, "8")

// A histogram in LDS whose lanes all hit one bin; with a copy for each lane.
#define BINS(name, BIN)                                                                                      \
    kernel GROUP_OF(64) void name(const global int *a, global int *b)                                       \
    {                                                                                                        \
        local int t[64];                                                                                     \
        t[LANE] = 0;                                                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        for (int i = 0; i < 16; i++)                                                                         \
            atomic_max(&t[BIN], a[ID] + LANE * i);                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        b[ID] = t[LANE];                                                                                     \
    }
BINS(bins_bad, (a[ID] & 1))
BINS(bins_good, LANE ^ i)

// ---- the form of accesses ----

// One member of a structure of 16 bytes.
kernel GROUP_OF(256) void structure_bad(const global float *a, global float *b)
{
    b[ID] = a[4 * ID];
}
kernel GROUP_OF(256) void structure_good(const global float *a, global float *b)
{
    b[ID] = a[ID];
}

// All members of a structure, far from one another in time: no line is wasted in memory.
kernel GROUP_OF(256) void members(const global float *a, global float *b)
{
    for (int i = 0; i < 4; i++) {
        b[ID] = a[4 * ID + i];
        APART;
    }
}

// A column of a matrix with rows of 4 KiB, and a row of its transpose.
kernel GROUP_OF(64) void column_bad(const global float *restrict a, global float *restrict b)
{
    float s = 0;
    for (int i = 0; i < 64; i++)
        s += a[ID * 1024 + i];
    b[ID] = s;
}
kernel GROUP_OF(64) void column_good(const global float *restrict a, global float *restrict b)
{
    float s = 0;
    for (int i = 0; i < 64; i++)
        s += a[i * ITEMS + ID];
    b[ID] = s;
}

// Stores down a column: rows of 1024 elements.
kernel GROUP_OF(64) void stores_bad(const global float *restrict a, global float *restrict b)
{
    const int x = ID & 1023, y = ID >> 10;
    b[x * (ITEMS >> 10) + y] = a[ID];
}
kernel GROUP_OF(64) void stores_good(const global float *restrict a, global float *restrict b)
{
    b[ID] = a[ID];
}

// A dword behind the start of a line.
kernel GROUP_OF(256) void off_line_bad(const global float *restrict a, global float *restrict b)
{
    float s = 0;
    for (int i = 0; i < 16; i++)
        s += a[LANE + 1 + i * 256];
    b[ID] = s;
}
kernel GROUP_OF(256) void off_line_good(const global float *restrict a, global float *restrict b)
{
    float s = 0;
    for (int i = 0; i < 16; i++)
        s += a[LANE + i * 256];
    b[ID] = s;
}

// A permutation that leaves no two lanes on a line.
kernel GROUP_OF(256) void scattered_bad(const global float *restrict a, global float *restrict b)
{
    b[ID] = a[(ID * 40503) & (ITEMS - 1)];
}
kernel GROUP_OF(256) void scattered_good(const global float *restrict a, global float *restrict b)
{
    b[ID] = a[ID];
}

// Bytes, and words of two bytes, each lane one; then as vectors.
#define NARROW(name, TYPE, WIDE, PER)                                                                        \
    kernel GROUP_OF(256) void name##_bad(const global TYPE *a, global int *b)                               \
    {                                                                                                        \
        int s = 0;                                                                                           \
        for (int i = 0; i < 16 * PER; i++) {                                                                 \
            s += a[i * 256 + LANE];                                                                          \
            APART;                                                                                           \
        }                                                                                                    \
        b[ID] = s;                                                                                           \
    }                                                                                                        \
    kernel GROUP_OF(256) void name##_good(const global int *a, global int *b)                               \
    {                                                                                                        \
        int s = 0;                                                                                           \
        for (int i = 0; i < 16; i++) {                                                                       \
            const WIDE w = __builtin_astype(a[i * 256 + LANE], WIDE);                                        \
            for (int k = 0; k < PER; k++)                                                                    \
                s += w[k];                                                                                   \
            APART;                                                                                           \
        }                                                                                                    \
        b[ID] = s;                                                                                           \
    }
NARROW(bytes, uchar, uchar4, 4)
NARROW(words, ushort, ushort2, 2)

// Four consecutive dwords of each lane with four loads, between which the compiler must not move, and with one.
kernel GROUP_OF(256) void one_by_one_bad(const global float *a, global float *b)
{
    float s = 0;
    for (int i = 0; i < 8; i++) {
        const global float *p = a + 4 * ((ID & 255) + (i << 8));
        s += p[0];
        APART;
        s += p[1];
        APART;
        s += p[2];
        APART;
        s += p[3];
        APART;
    }
    b[ID] = s;
}
kernel GROUP_OF(256) void one_by_one_good(const global float4 *a, global float *b)
{
    float s = 0;
    for (int i = 0; i < 8; i++) {
        const float4 p = a[(ID & 255) + (i << 8)];
        s += p.x + p.y + p.z + p.w;
    }
    b[ID] = s;
}

// Three of three.
kernel GROUP_OF(256) void triples_bad(const global float *a, global float *b)
{
    float s = 0;
    for (int i = 0; i < 8; i++) {
        const global float *p = a + 3 * ((ID & 255) + (i << 8));
        s += p[0];
        APART;
        s += p[1];
        APART;
        s += p[2];
        APART;
    }
    b[ID] = s;
}
kernel GROUP_OF(256) void triples_good(const global float *restrict a, global float *restrict b)
{
    float s = 0;
    for (int i = 0; i < 8; i++) {
        const float3 p = vload3((ID & 255) + (i << 8), a);
        s += p.x + p.y + p.z;
    }
    b[ID] = s;
}

// A value that is the same for all lanes, through the vector cache because it may change, and the scalar cache.
kernel GROUP_OF(256) void uniform_bad(const global float *a, global float *b, const global float *c)
{
    float s = 0;
    for (int i = 0; i < 32; i++) {
        s = s * c[LANE + i * 256] + a[i * 16];
        APART;
    }
    b[ID] = s;
}
kernel GROUP_OF(256) void uniform_good(constant float *a, global float *b, const global float *c)
{
    float s = 0;
    for (int i = 0; i < 32; i++) {
        s = s * c[LANE + i * 256] + a[i * 16];
        APART;
    }
    b[ID] = s;
}

// Each lane walks along its row. Rows of 1024 bytes share sets of a cache, rows with a line more do not.
#define ROWS(name, ROW)                                                                                      \
    kernel GROUP_OF(64) void name(const global float *a, global float *b)                                   \
    {                                                                                                        \
        float s = 0;                                                                                         \
        for (int i = 0; i < 256; i++) {                                                                      \
            s += a[ID * (ROW / 4) + i];                                                                      \
            APART;                                                                                           \
        }                                                                                                    \
        b[ID] = s;                                                                                           \
    }
#if defined(__gfx900__) || defined(__gfx90a__)
#define LINE 64
#else
#define LINE 128
#endif
ROWS(sets_bad, 1024)
ROWS(sets_good, (1024 + LINE))

// ---- atomics ----

kernel GROUP_OF(256) void counter_bad(const global int *a, global int *b)
{
    for (int i = 0; i < 16; i++) // for an address that the compiler knows to be one, it would combine them
        atomic_max(b + (a[ID] >> 31), a[ID] + i);
}
kernel GROUP_OF(256) void counter_good(const global int *a, global int *b)
{
    local int t[256];
    t[LANE] = a[ID];
    for (int step = WAVE / 2; step; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((LANE & (WAVE - 1)) < step)
            t[LANE] = max(t[LANE], t[LANE + step]);
    }
    if ((LANE & (WAVE - 1)) == 0)
        for (int i = 0; i < 16; i++)
            atomic_max(b + (a[ID] >> 31), t[LANE] + i);
}

// One counter, which each wave updates once.
kernel GROUP_OF(256) void waves_bad(const global int *a, global int *b)
{
    local int t[256];
    t[LANE] = a[ID];
    barrier(CLK_LOCAL_MEM_FENCE);
    if ((LANE & (WAVE - 1)) == 0)
        atomic_max(b + (a[ID] >> 31), max(t[LANE], t[LANE + 31]));
}
kernel GROUP_OF(256) void waves_good(const global int *a, global int *b)
{
    local int t[256];
    t[LANE] = a[ID];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LANE == 0)
        atomic_max(b + (a[ID] >> 31), max(max(t[0], t[64]), max(t[128], t[192])));
}

// Sixteen counters.
kernel GROUP_OF(256) void counters_bad(const global int *a, global int *b)
{
    for (int i = 0; i < 16; i++)
        atomic_add(b + (a[ID] + i & 15), 1);
}
kernel GROUP_OF(256) void counters_good(const global int *a, global int *b)
{
    local int t[16];
    if (LANE < 16)
        t[LANE] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++)
        atomic_add(t + (a[ID] + i & 15), 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (LANE < 16)
        atomic_add(b + LANE, t[LANE]);
}

// ---- branches ----

#define CASE(n, STEP)                                                                                        \
    case n:                                                                                                  \
        for (int i = 0; i < 16; i++) {                                                                       \
            const float x = a[(ID & 4095) + (16 * n + i) * 64];                                              \
            STEP;                                                                                            \
            APART;                                                                                           \
        }                                                                                                    \
        break;
#define CASES(name, KIND)                                                                                    \
    kernel GROUP_OF(256) void name(const global float *a, global float *b)                                  \
    {                                                                                                        \
        float s = 0;                                                                                         \
        switch ((KIND) & 7) {                                                                                \
            CASE(0, s += x)                                                                                  \
            CASE(1, s -= x)                                                                                  \
            CASE(2, s *= x)                                                                                  \
            CASE(3, s = fmax(s, x))                                                                          \
            CASE(4, s = fmin(s, x))                                                                          \
            CASE(5, s = s * 2 + x)                                                                           \
            CASE(6, s = s * 3 - x)                                                                           \
            CASE(7, s = x - s)                                                                               \
        }                                                                                                    \
        b[ID] = s;                                                                                           \
    }
CASES(cases_bad, ID)
CASES(cases_good, ID >> 6)

// Every second lane works.
#define WORK                                                                                                 \
    for (int i = 0; i < 64; i++) {                                                                           \
        s += a[(at & 4095) + i * 64];                                                                        \
        APART;                                                                                               \
    }                                                                                                        \
    b[at] = s;
kernel GROUP_OF(256) void half_bad(const global float *a, global float *b)
{
    const int at = ID >> 1;
    float s = 0;
    if (ID & 1) {
        WORK
    }
}
kernel GROUP_OF(256) void half_good(const global float *a, global float *b)
{
    const int at = (ID >> 7) * 64 + (ID & 63);
    float s = 0;
    if (!(ID & 64)) {
        WORK
    }
}

// Loops that lanes leave one after the other, or waves.
#define STEP_4 s = fma(s, c, 1.f), s = fma(s, c, 2.f), s = fma(s, c, 3.f), s = fma(s, c, 4.f)
#define LOOPS(name, turns)                                                                                   \
    kernel GROUP_OF(256) void name(global float *b, float c)                                                 \
    {                                                                                                        \
        const int n = (turns) & 63;                                                                          \
        float s = ID;                                                                                        \
        _Pragma("nounroll") for (int i = 0; i < n; i++) STEP_4, STEP_4, STEP_4, STEP_4;                      \
        b[ID] = s;                                                                                           \
    }
LOOPS(loops_bad, ID)
LOOPS(loops_good, ID >> 6)

// ---- scratch memory ----

kernel GROUP_OF(256) void private_bad(const global int *restrict a, global int *restrict b)
{
    int p[64], s = 0;
    for (int i = 0; i < 64; i++)
        p[i] = a[i] * LANE;
    for (int i = 0; i < 64; i++)
        s += p[(a[i] + ID + s) & 63];
    b[ID] = s;
}
kernel GROUP_OF(64) void private_good(const global int *restrict a, global int *restrict b)
{
    local int p[64 * 64];
    int s = 0;
    for (int i = 0; i < 64; i++)
        p[i * 64 + LANE] = a[i] * LANE;
    for (int i = 0; i < 64; i++)
        s += p[((a[i] + ID + s) & 63) * 64 + LANE];
    b[ID] = s;
}

// More values than registers: 32 of them for 48 values that are all loaded first.
#define SPILLS(name, LIMIT)                                                                                  \
    kernel GROUP_OF(64) LIMIT void name(const global float *a, global float *b)                             \
    {                                                                                                        \
        float v[48], s = 0;                                                                                  \
        for (int i = 0; i < 48; i++)                                                                         \
            v[i] = a[i * 64 + LANE];                                                                         \
        APART;                                                                                               \
        for (int r = 0; r < 4; r++)                                                                          \
            for (int i = 0; i < 48; i++)                                                                     \
                v[i] = v[i] * v[(i * 5 + 1) % 48] + v[(i * 7 + 3) % 48];                                     \
        for (int i = 0; i < 48; i++)                                                                         \
            s += v[i];                                                                                       \
        b[ID] = s;                                                                                           \
    }
SPILLS(spills_bad, __attribute__((amdgpu_num_vgpr(32))))
SPILLS(spills_good, )

// ---- how a kernel is started ----

kernel void start(const global float *a, global float *b)
{
    const int at = ID;
    float s = 0;
    WORK
}

// 12 KiB that do not change are loaded as if they might.
#define CHANGES(name, HOW)                                                                                   \
    kernel GROUP_OF(256) void name(const HOW global float *a, global float *b)                              \
    {                                                                                                        \
        float s = 0;                                                                                         \
        for (int i = 0; i < 64; i++) {                                                                       \
            s += a[(ID & 1023) + i * 32];                                                                    \
            APART;                                                                                           \
        }                                                                                                    \
        b[ID] = s;                                                                                           \
    }
CHANGES(volatile_bad, volatile)
CHANGES(volatile_good, )

kernel GROUP_OF(64) void much_lds(const global float *restrict a, global float *restrict b)
{
    volatile local float t[8000];
    t[LANE] = a[ID];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[ID] = t[LANE ^ 1];
}

// A work-efficient scan of 1024 elements in LDS (GPU Gems 3, chapter 39): strides of powers of two, and with a
// dword of padding for each 32.
#define SCAN(name, AT)                                                                                       \
    kernel GROUP_OF(512) void name(const global float *a, global float *b)                                  \
    {                                                                                                        \
        local float t[1024 + 32];                                                                            \
        int apart = 1;                                                                                       \
        t[AT(LANE)] = a[GROUP * 1024 + LANE];                                                                \
        t[AT(LANE + 512)] = a[GROUP * 1024 + LANE + 512];                                                    \
        for (int pairs = 512; pairs; pairs >>= 1, apart <<= 1) {                                             \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
            if (LANE < pairs)                                                                                \
                t[AT((2 * LANE + 2) * apart - 1)] += t[AT((2 * LANE + 1) * apart - 1)];                      \
        }                                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        if (LANE == 0)                                                                                       \
            t[AT(1023)] = 0;                                                                                 \
        for (int pairs = 1; pairs < 1024; pairs <<= 1) {                                                     \
            apart >>= 1;                                                                                     \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
            if (LANE < pairs) {                                                                              \
                const int left = AT((2 * LANE + 1) * apart - 1), right = AT((2 * LANE + 2) * apart - 1);     \
                const float sum = t[left];                                                                   \
                t[left] = t[right];                                                                          \
                t[right] += sum;                                                                             \
            }                                                                                                \
        }                                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        b[GROUP * 1024 + LANE] = t[AT(LANE)];                                                                \
        b[GROUP * 1024 + LANE + 512] = t[AT(LANE + 512)];                                                    \
    }
#define AS_IT_IS(i) (i)
#define PADDED(i)   ((i) + ((i) >> 5))
SCAN(scan_bad, AS_IT_IS)
SCAN(scan_good, PADDED)

// ---- nothing to say ----

kernel GROUP_OF(256) void copy(const global float *restrict a, global float *restrict b)
{
    b[ID] = a[ID];
}
kernel GROUP_OF(256) void copy_wide(const global float4 *restrict a, global float4 *restrict b)
{
    b[ID] = a[ID];
}
kernel GROUP_OF(256) void saxpy(const global float *restrict a, global float *restrict b)
{
    if (ID < ITEMS - 100)
        b[ID] = b[ID] * 3 + a[ID];
}
// One lane of a workgroup stores.
kernel GROUP_OF(256) void sums(const global float *restrict a, global float *restrict b)
{
    local float t[256];
    float s = 0;
    for (int i = 0; i < 16; i++)
        s += a[ID + i * ITEMS];
    t[LANE] = s;
    for (int step = 128; step; step >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LANE < step)
            t[LANE] += t[LANE + step];
    }
    if (LANE == 0)
        b[GROUP] = t[0];
}
// Loads down a column, which wait for vector instructions.
kernel GROUP_OF(64) void busy(const global float *restrict a, global float *restrict b)
{
    float s = 0;
    for (int i = 0; i < 64; i++) {
        const float x = a[ID * 33 + (i & 15)];
        APART;
        for (int k = 0; k < 256; k++)
            s = s * x + k;
    }
    b[ID] = s;
}
// Each load waits for the one before, if a is 0, 1, 2, ...: only more waves, or other loads between, hide the latency. And
// the same loads at once.
kernel GROUP_OF(64) void chain(const global int *restrict a, global int *restrict b)
{
    int at = ID & 16383;
    for (int i = 0; i < 64; i++)
        at = (a[at] + 64) & 16383;
    b[ID] = at;
}
kernel GROUP_OF(64) void burst(const global int *restrict a, global int *restrict b)
{
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 64; i++)
        sum += a[(ID + i * 64) & 16383];
    b[ID] = sum;
}
// A transposition through LDS with bank conflicts, which memory hides.
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void hidden(const global float *restrict a, global float *restrict b)
{
    local float t[16][16];
    const int x = get_local_id(0), y = get_local_id(1), gx = get_group_id(0), gy = get_group_id(1), n = get_global_size(0);
    t[y][x] = a[(gy * 16 + y) * n + gx * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[(gx * 16 + y) * n + gy * 16 + x] = t[x][y];
}
