/* SPDX-License-Identifier: MIT */
/* The table of bodies, bound to rows by name: a row without `todo` and without a body does not link. */
#include "sem/table.h"

/* What a row, or an additional body, contributes by class and todo flag: SCALAR or VECTOR, defined below, or
 * nothing. `id`: the number of the body. */
#define ROW_SALU_0(id, body) SCALAR(id, body)
#define ROW_VALU_0(id, body) VECTOR(id, body)
#define ROW_SALU_1(id, body)
#define ROW_VALU_1(id, body)
#define ROW_CONTROL_0(id, body)
#define ROW_CONTROL_1(id, body)
#define ROW_SMEM_0(id, body)
#define ROW_SMEM_1(id, body)
#define ROW_BUFFER_0(id, body)
#define ROW_BUFFER_1(id, body)
#define ROW_TBUFFER_0(id, body)
#define ROW_TBUFFER_1(id, body)
#define ROW_IMAGE_0(id, body)
#define ROW_IMAGE_1(id, body)
#define ROW_FLAT_0(id, body)
#define ROW_FLAT_1(id, body)
#define ROW_GLOBAL_0(id, body)
#define ROW_GLOBAL_1(id, body)
#define ROW_SCRATCH_0(id, body)
#define ROW_SCRATCH_1(id, body)
#define ROW_DS_0(id, body)
#define ROW_DS_1(id, body)
#define ROW_EXPORT_0(id, body)
#define ROW_EXPORT_1(id, body)

#define SYMBOL_(name, suffix) wmi_sem_##name##suffix
#define SYMBOL(name, suffix)  SYMBOL_(name, suffix)

/* Prototypes. */
#define PROTOTYPE(name, suffix)                                                                              \
    const struct wmi_op *SYMBOL(name, suffix)(char *restrict frame, const struct wmi_op *op);
#define VECTOR_PROTOTYPE(name, level, lanes, suffix) PROTOTYPE(name, suffix)
#define SCALAR(id, body)                             PROTOTYPE(body, )
#define VECTOR(id, body)                             WMI_LANE_BUILDS(VECTOR_PROTOTYPE, body)
#define INSN(id, class, body, todo)                  ROW_##class##_##todo(id, body)
#define BODY(id, class, body, todo, row)             ROW_##class##_##todo(id, body)
#include "insn.def"
#undef SCALAR
#undef VECTOR

/* The table, by body number, level and whether the wave has 64 lanes. */
#define SCALAR_ENTRY(name, level, lanes, suffix) [level][lanes / 64] = SYMBOL(name, ),
#define VECTOR_ENTRY(name, level, lanes, suffix) [level][lanes / 64] = SYMBOL(name, suffix),
#define SCALAR(id, body)                         [id] = {WMI_LANE_BUILDS(SCALAR_ENTRY, body)},
#define VECTOR(id, body)                         [id] = {WMI_LANE_BUILDS(VECTOR_ENTRY, body)},
#define INSN(id, class, body, todo)              ROW_##class##_##todo(WMI_INSN_##id, body)
#define BODY(id, class, body, todo, row)         ROW_##class##_##todo(WMI_BODY_##id, body)
static const wmi_body bodies[WMI_BODY_COUNT][WMI_CPU_LEVELS][2] = {
#include "insn.def"
};

static const uint16_t rows_of_further[] = {
    0,
#define INSN(...)
#define BODY(id, class, body, todo, row) WMI_INSN_##row,
#include "insn.def"
};

enum wmi_insn_id wmi_row_of_body(unsigned number)
{
    return (enum wmi_insn_id)(number < WMI_INSN_COUNT ? number
                                                      : rows_of_further[number - WMI_BODY_LAST_OF_ROWS]);
}

wmi_body wmi_sem_body(enum wmi_cpu_level level, unsigned lanes, unsigned number)
{
    return bodies[number][level][lanes / 64];
}
