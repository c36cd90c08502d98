/* SPDX-License-Identifier: MIT */
/* Block VGPR loads and stores, and transposing matrix loads, also of LDS.
 *
 * Sources: RDNA 4 ISA, "Block VGPR Load & Store": bit n of M0 enables VGPR n of the block and dword n of
 * memory; "WMMA Load-Transpose Instructions", with the layouts of "Matrix Element Storage in VGPRs"; AMD's
 * ROCm documentation of global_load_tr_b128. */
#include "exec/control/steps.h"
#include "exec/memory/careful.h"
#include "exec/memory/vmem.h"

static unsigned wave_size(const char *frame)
{
    return ((const struct wmi_frame *)frame)->wave_size;
}

/* ---- blocks ---- */

enum { BLOCK = 32 }; /* dwords */

/* One dword of a block, as a separate instruction. */
struct dword {
    struct wmi_op op;
    struct wmi_memory_op memory;
};

/* The dwords that M0 enables; loads to unallocated registers are dropped. */
static uint32_t chosen(const char *frame, const struct wmi_memory_op *whole)
{
    const uint32_t m0 = ((const struct wmi_frame *)frame)->s[WMI_S_M0];
    const bool drops = whole->kind == WMI_ACCESS_LOAD && whole->parameter < BLOCK;
    return drops ? m0 & ((1u << whole->parameter) - 1) : m0;
}

static struct dword dword_of(const char *frame, const struct wmi_op *op, unsigned n)
{
    const struct wmi_memory_op *whole = op->data;
    const uint32_t row = 4 * wave_size(frame);
    struct dword dword = {.op = *op, .memory = *whole};
    dword.memory.elements = 1;
    dword.memory.bytes = 4;
    dword.memory.offset += 4 * n;
    dword.op.d += n * row;
    dword.op.c = n < whole->parameter ? op->c + n * row : op->y >> 1; /* v0 replaces missing registers */
    dword.op.a = op->e;
    return dword;
}

/* Copies the address rows from a to e, because a block load may overwrite them. */
const struct wmi_op *wmi_step_vmem_keep_addresses(char *restrict frame, const struct wmi_op *op)
{
    const unsigned rows = wmi_vmem_address_rows((enum wmi_vmem_form)op->x);
    memcpy(frame + op->e, frame + op->a, (size_t)rows * 4 * wave_size(frame));
    return op + 1;
}

const struct wmi_op *wmi_step_vmem_block(char *restrict frame, const struct wmi_op *op)
{
    for (uint32_t left = chosen(frame, op->data); left; left &= left - 1) {
        struct dword dword = dword_of(frame, op, (unsigned)__builtin_ctz(left));
        dword.op.data = &dword.memory;
        dword.op.y &= 1;
        if (!wmi_step_vmem_careful(frame, &dword.op))
            return NULL;
    }
    return op + 1;
}

/* Each dword is a place. If they exceed the places of an access, further accesses are reported. */
const struct wmi_op *wmi_step_vmem_block_watch(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_memory_op *m = op->data;
    const struct wmi_wave *wave = wmi_wave_of(frame);
    struct wmi_vmem_plan plan[WMI_ACCESS_ELEMENTS];
    struct wmi_access access;
    wmi_access_begin(&access, m, wave, ((const struct wmi_frame *)frame)->exec.bits);
    access.bytes = 4;
    for (uint32_t left = chosen(frame, m); left; left &= left - 1) {
        const unsigned n = (unsigned)__builtin_ctz(left);
        struct dword dword = dword_of(frame, op, n);
        if (access.elements == WMI_ACCESS_ELEMENTS) {
            wmi_show_access(wave, m, &access);
            access.elements = 0;
        }
        struct wmi_vmem_plan *p = &plan[access.elements];
        dword.op.data = &dword.memory;
        dword.op.y &= 1;
        wmi_vmem_make_plan(frame, &dword.op, p);
        access.element[access.elements++] = (struct wmi_element){
            .space = WMI_SPACE_GLOBAL,
            .mask = p->global | p->scratch,
            .bad_range = p->outside | p->dropped,
            .bad_align = p->misaligned | p->odd,
            .bad_aperture = p->aperture,
            .address = p->address,
            .private_offset = p->scratch ? p->private_offset : NULL,
            .reg = (uint8_t)n,
        };
    }
    wmi_show_access(wave, m, &access);
    return op + 1;
}

/* ---- transposing loads ---- */

/* Lanes d = the lanes of EXEC that supply addresses: the first 32. */
const struct wmi_op *wmi_step_vmem_first_lanes(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_lanes *exec = &((const struct wmi_frame *)frame)->exec;
    struct wmi_lanes *lanes = (struct wmi_lanes *)(frame + op->d);
    lanes->bits = exec->bits & UINT32_MAX;
    lanes->full = wave_size(frame) == 32 ? exec->full : 0;
    for (unsigned i = 0; i < 64; i++)
        lanes->row[i] = i < 32 ? exec->row[i] : 0;
    return op + 1;
}

/* M0[15:0] are the workgroups of the cluster that receive what all of them ask for; 0: as outside of a
 * cluster. Each loads its own copy. Source: CDNA 5 ISA, "Multicast Load". */
const struct wmi_op *wmi_step_vmem_multicast_lanes(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_frame *f = (const struct wmi_frame *)frame;
    const struct wmi_workgroup *group = wmi_wave_of(frame)->group;
    const uint32_t mask = f->s[WMI_S_M0] & 0xffff;
    const bool receives = !group->cluster || !mask || mask >> group->rank & 1;
    if (receives)
        memcpy(frame + op->d, &f->exec, sizeof f->exec);
    else
        wmi_lanes_fill((struct wmi_lanes *)(frame + op->d), 0, wave_size(frame));
    return op + 1;
}

const struct wmi_op *wmi_step_vmem_all_lanes(char *restrict frame, const struct wmi_op *op)
{
    wmi_lanes_fill((struct wmi_lanes *)(frame + op->d), UINT64_MAX, wave_size(frame));
    return op + 1;
}

/* A 16x16 matrix is stored by columns, 8 elements for each of 32 lanes; a group of 8 lanes holds a block of 8
 * by 8 elements. The lane that receives row m, with k starting at a multiple of 8 (wave64: of 4), gets
 * element m % 8 of the lanes that hold these columns. In waves of 64, lane bit 5 is bit 2 of k. Source: RDNA
 * 4 ISA, "WMMA Load-Transpose Instructions" and "Matrix Element Storage in VGPRs". */
static unsigned source_lane(unsigned lane, unsigned k, unsigned size)
{
    return size == 32 ? (lane & ~7u) + k : (lane & 0x18) + 4 * (lane >> 5) + k;
}

/* Rows d = the elements of rows a, op->x bits each, eight per lane. */
const struct wmi_op *wmi_step_vmem_transpose(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_lanes *exec = &((const struct wmi_frame *)frame)->exec;
    const unsigned size = wave_size(frame), bytes = op->x / 8, in_dword = 4 / bytes;
    const uint32_t *from = (const uint32_t *)(frame + op->a), mask = bytes == 2 ? 0xffff : 0xff;
    uint32_t *to = (uint32_t *)(frame + op->d);
    for (uint64_t left = exec->bits; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left), element = lane % 8;
        for (unsigned k = 0; k < 256 / size; k++) {
            const uint32_t word = from[element / in_dword * size + source_lane(lane, k, size)];
            const uint32_t value = word >> 8 * bytes * (element % in_dword) & mask;
            const unsigned shift = 8 * bytes * (k % in_dword);
            uint32_t *word_to = &to[k / in_dword * size + lane];
            *word_to = shift ? *word_to | value << shift : value;
        }
    }
    return op + 1;
}

/* Element `number` of `bits` bits of a lane's rows. */
static uint32_t element_at(const uint32_t *rows, unsigned size, unsigned lane, unsigned bits, unsigned number)
{
    const unsigned at = number * bits, shift = at % 32;
    const uint64_t low = rows[at / 32 * size + lane];
    const uint64_t high = shift + bits > 32 ? rows[(at / 32 + 1) * size + lane] : 0;
    return (uint32_t)((low | high << 32) >> shift) & ((1u << bits) - 1);
}

/* A matrix whose columns are rows of 16 elements in memory becomes an operand of WMMA: the lane of row m =
 * lane % 16 gets k = 0 to count - 1 of its half. Where these elements are: {source lane, element}. Source:
 * CDNA 5 ISA, "WMMA Matrix Load Ops with Transpose". */
static void find_source(unsigned bits, unsigned lane, unsigned k, unsigned *source, unsigned *element)
{
    const unsigned m = lane % 16, half = lane / 16;
    switch (bits) {
    case 16:
        *source = 16 * half + m / 8 * 8 + k;
        *element = m % 8;
        break;
    case 8:
        *source = 16 * half + k / 4 * 8 + m / 8 * 4 + k % 4;
        *element = m % 8;
        break;
    case 6: /* the middle quarters change places */
        *source = 16 * half + (k / 4 == 1 ? k + 4 : k / 4 == 2 ? k - 4 : k);
        *element = m;
        break;
    default:
        *source = 8 * half + k % 8 + k / 8 * 16;
        *element = m;
        break;
    }
}

const struct wmi_op *wmi_step_wmma_transpose(char *restrict frame, const struct wmi_op *op)
{
    const uint64_t lanes = ((const struct wmi_lanes *)(frame + op->lanes))->bits;
    const unsigned size = wave_size(frame), bits = op->x, count = op->y;
    const uint32_t *from = (const uint32_t *)(frame + op->a);
    uint32_t *to = (uint32_t *)(frame + op->d);
    for (uint64_t left = lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t words[4] = {0};
        for (unsigned k = 0; k < count; k++) {
            const unsigned put = k * bits, shift = put % 32;
            unsigned source, element;
            find_source(bits, lane, k, &source, &element);
            const uint64_t value = (uint64_t)element_at(from, size, source, bits, element) << shift;
            words[put / 32] |= (uint32_t)value;
            if (shift + bits > 32)
                words[put / 32 + 1] |= (uint32_t)(value >> 32);
        }
        for (unsigned row = 0; row < bits * count / 32; row++)
            to[row * size + lane] = words[row];
    }
    return op + 1;
}

/* 16 lanes address a matrix of 16 columns: of n elements in a lane, each 16 / n lanes are a row. Each lane
 * gets a column. Source: kernels that address it so (HipKittens for 8 bits, Composable Kernel for 16); 4 and
 * 6 bits by the same rule (unverified). Lanes that are not active have zeros (unverified). */
const struct wmi_op *wmi_step_lds_transpose(char *restrict frame, const struct wmi_op *op)
{
    const struct wmi_lanes *exec = &((const struct wmi_frame *)frame)->exec;
    const unsigned size = wave_size(frame), bits = op->x, count = op->y, rows = bits * count / 32;
    const uint32_t *from = (const uint32_t *)(frame + op->a);
    uint32_t *to = (uint32_t *)(frame + op->d);
    for (uint64_t left = exec->bits; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left), column = lane % 16;
        uint32_t words[4] = {0};
        for (unsigned j = 0; j < count; j++) {
            const unsigned source = (lane & ~15u) + 16 / count * j + column / count,
                           at = column % count * bits;
            const uint32_t low = from[at / 32 * size + source] & exec->row[source];
            const uint32_t high =
                at % 32 + bits > 32 ? from[(at / 32 + 1) * size + source] & exec->row[source] : 0;
            const uint64_t element = ((low | (uint64_t)high << 32) >> at % 32) & ((1u << bits) - 1);
            const unsigned put = j * bits;
            words[put / 32] |= (uint32_t)(element << put % 32);
            if (put % 32 + bits > 32)
                words[put / 32 + 1] |= (uint32_t)(element >> (32 - put % 32));
        }
        for (unsigned row = 0; row < rows; row++)
            to[row * size + lane] = words[row];
    }
    return op + 1;
}
