/* SPDX-License-Identifier: MIT */
/* Counts what units do for instructions.
 *
 * Clocks of matrix instructions. MFMA: four for each pass, which hazards know (LLVM, SISchedule.td); this
 * gives the products per clock and compute unit of ROCm's documentation, "AMD Instinct MI100" (MI250, MI300
 * series) "microarchitecture". WMMA: from AMD's peak rates: RX 7900 XTX 122.8 TFLOPS of f16 and TOPS of 8
 * bits, 245.6 TOPS of 4 bits, with 96 compute units of two SIMDs at 2.5 GHz; RX 9070 XT 195 TFLOPS of f16,
 * 389 of 8 bits, 779 TOPS of 4 bits, with 64 at 2.97 GHz; sparse products in the time of dense ones with half
 * as large a k. */
#include "isa/rules/work.h"
#include "isa/element_bits.h"

#include "isa/rules/hazards.h"

enum { PASS = 4 /* clocks */ };

/* Multiplications and additions of WMMA in a clock, by the limit wmma_rules and bits of an element: 4, 8, 16.
 */
static const uint32_t operations[][3] = {{0}, {512, 256, 256}, {2048, 1024, 512}};

static uint32_t matrix_clocks(const struct wmi_target *target, const struct wmi_instruction *insn)
{
    const uint32_t passes = wmi_matrix_facts_of(target, insn).passes;
    const struct wmi_matrix *matrix = wmi_matrix_of(insn->id);
    const unsigned rules = wmi_target_limit(target, WMI_LIMIT_wmma_rules);
    if (passes || !matrix || rules >= sizeof operations / sizeof *operations)
        return PASS * passes;
    const unsigned bits = wmi_element_bits(matrix->a), wide = bits <= 4 ? 0 : bits <= 8 ? 1 : 2;
    const uint32_t work = 2u * matrix->m * matrix->n * matrix->k * matrix->blocks / (matrix->sparse ? 2 : 1);
    return operations[rules][wide] ? work / operations[rules][wide] : 0;
}

void wmi_work_add(const struct wmi_target *target, const struct wmi_instruction *insn,
                  uint32_t counts[WMI_WORK_COUNTS])
{
    const struct wmi_row *row = &wmi_rows[insn->id];
    const unsigned work = row->work == WMI_WORK_LDS && insn->field[WMI_FIELD_gds] ? WMI_WORK_GDS : row->work;
    const unsigned dwords = (row->elements * row->bytes + 3u) / 4;
    counts[work]++;
    if (work == WMI_WORK_LDS)
        counts[WMI_WORK_LDS_DWORDS] += dwords ? dwords : 1;
    if (work == WMI_WORK_MATRIX)
        counts[WMI_WORK_MATRIX_CLOCKS] += matrix_clocks(target, insn);
}
