/* SPDX-License-Identifier: MIT */
/* What global memory and LDS have in common: an element per lane, at a distance from one place of the host.
 */
#ifndef WMI_LANE_ACCESS_H
#define WMI_LANE_ACCESS_H

#include "jit/stretch.h"

enum { WMI_LANE_ROWS = 4 }; /* of an element, at most */

/* What a lane loads or stores: 1, 2, 4, 8 or 16 bytes, of so many rows. */
struct wmi_lane_shape {
    uint8_t bytes, rows;
    bool is_signed;
};

/* What the code for accesses reads. Compiled code has its address in R9 where it says so. */
struct wmi_lane_tables {
    uint32_t offset[5][WMI_STRIPS * WMI_STRIP_LANES];                 /* lane << number */
    uint32_t halves[2 * WMI_STRIP_LANES];                             /* see load_halves() */
    uint32_t reversed[WMI_STRIP_LANES];                               /* of one register */
    uint32_t even[WMI_STRIP_LANES], odd[WMI_STRIP_LANES];             /* of two registers */
    uint32_t low_pairs[WMI_STRIP_LANES], high_pairs[WMI_STRIP_LANES]; /* of words of two registers in turn */
    uint32_t zeros[WMI_STRIP_LANES];
};
extern const struct wmi_lane_tables wmi_lane_tables;

/* Where the distances of lanes are, whose elements of so many bytes follow one another. */
static inline int32_t wmi_lane_offsets(unsigned bytes, unsigned strip)
{
    return (int32_t)(offsetof(struct wmi_lane_tables, offset) +
                     (size_t)__builtin_ctz(bytes) * WMI_STRIPS * WMI_STRIP_BYTES + strip * WMI_STRIP_BYTES);
}

/* Where the distances of a strip's lanes are between the instructions of an access. */
static inline struct wmi_host_operand wmi_lane_places(unsigned strip)
{
    return wmi_at(WMI_FRAME,
                  (int32_t)(offsetof(struct wmi_frame, compiled.lane_place) + strip * WMI_STRIP_BYTES));
}

/* The mask of a strip's active lanes; none for a version in which all are active. */
static inline unsigned wmi_access_mask(const struct wmi_stretch *s, unsigned strip)
{
    return s->partial ? WMI_K_EXEC + strip : WMI_NO_MASK;
}

/* A jump taken if the strip has no active lane, for wmi_land_if(); 0: all are. */
size_t wmi_access_unless_active(struct wmi_stretch *s, unsigned mask);

/* A loop over the active lanes in their order: the lane's word of a row is at R10 + the row's displacement
 * from WMI_ROWS. R8 = the lanes that are left; the end changes RAX. */
struct wmi_lane_loop {
    size_t none, next;
};
struct wmi_lane_loop wmi_access_each_lane(struct wmi_stretch *s);
void wmi_access_next_lane(struct wmi_stretch *s, const struct wmi_lane_loop *loop);

/* highest = the highest words of it and of the register in lanes of the mask; is_first: 0 is what it has. */
void wmi_access_highest(struct wmi_stretch *s, unsigned highest, unsigned reg, unsigned mask, bool is_first);
/* differs |= the bits in which the rows differ from `first`, to which the offsets of each strip are added if
 * they are in memory; is_new: 0 is what it has. Changes `expected`, a register that is not needed without
 * offsets. */
void wmi_access_find_differences(struct wmi_stretch *s, unsigned differs, bool is_new, unsigned first,
                                 const struct wmi_rows *rows, struct wmi_host_operand offsets,
                                 unsigned expected);
/* The words with even and with odd numbers of {b, a}. Needs R9. */
void wmi_access_split_pairs(struct wmi_stretch *s, unsigned even, unsigned odd, unsigned a,
                            struct wmi_host_operand b);
/* {second, first} = the words of two registers in turn. Needs R9. */
void wmi_access_join_pairs(struct wmi_stretch *s, unsigned first, unsigned second, unsigned low,
                           unsigned high);
/* The register = the word in RAX in all lanes. */
void wmi_access_splat(struct wmi_stretch *s, unsigned reg);
/* Adds to k5 the active lanes of the strip for which `instruction` holds; `is_first`: k5 is those alone.
 * Changes k6. */
void wmi_access_collect(struct wmi_stretch *s, uint32_t instruction, unsigned a, unsigned b, unsigned mask,
                        int predicate, bool is_first);

/* A row that the access reads. If it moves several rows, few registers are left for rows in runs. */
struct wmi_rows wmi_access_use(struct wmi_stretch *s, struct wmi_lane_shape shape, uint32_t row);
/* Registers for the rows of a load. */
void wmi_access_results(struct wmi_stretch *s, struct wmi_lane_shape shape, bool uniform, struct wmi_rows *d);
/* Writes them to rows from `row` on. */
void wmi_access_write(struct wmi_stretch *s, struct wmi_lane_shape shape, uint32_t row, struct wmi_rows *d);
/* The rows that a store reads. */
void wmi_access_data(struct wmi_stretch *s, struct wmi_lane_shape shape, uint32_t row, struct wmi_rows *data);

/* Registers that an access needs in between, taken before the code branches. */
enum { WMI_ACCESS_SCRATCH = 5 };
struct wmi_access_scratch {
    uint8_t reg[WMI_ACCESS_SCRATCH];
};
struct wmi_access_scratch wmi_access_scratch(struct wmi_stretch *s, struct wmi_lane_shape shape);

/* Moves a strip of elements that follow one another at RAX + displacement, of the lanes of `mask`, which is
 * WMI_NO_MASK for elements of several rows. These need R9. */
void wmi_access_load_run(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *d,
                         unsigned strip, int32_t displacement, unsigned mask,
                         const struct wmi_access_scratch *scratch);
/* The same of elements of one row in the opposite order, all lanes. `order`: a register with the table
 * `reversed`. */
void wmi_access_load_reversed(struct wmi_stretch *s, struct wmi_lane_shape shape, unsigned d, unsigned order,
                              int32_t displacement);
void wmi_access_store_run(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *data,
                          unsigned strip, int32_t displacement, unsigned mask,
                          const struct wmi_access_scratch *scratch);
/* Stores the element of the last active lane at RAX + displacement, which is what is left if all store there.
 * Elements of one row. Changes R9. */
void wmi_access_store_same(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *data,
                           unsigned strip, int32_t displacement, const struct wmi_access_scratch *scratch);
/* All lanes of a strip, or a uniform result, = the element at RAX + displacement, where a dword can be read.
 */
void wmi_access_load_same(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *d,
                          unsigned strip, int32_t displacement);

/* Loads or stores the elements of the active lanes at RCX + distance, in the order of lanes: of those that
 * write the same place, the highest one wins. All distances are in range and below 2^31, and 4 bytes can be
 * read there. Each strip finds out whether its places follow one another, are the same (for loads), or
 * neither. `ahead`: how many bytes behind a run to prefetch, or 0. Need R9; change RAX, k5. has_hit: R8 is
 * the hit of the instruction, which counts the loads that had to gather, so that most of the others need not
 * find out.
 *
 * Stores of elements that are smaller than a dword, whose places do not follow one another in each strip,
 * leave before anything is stored.
 *
 * distance->in_memory: the strips share one register, and their distances have been kept with
 * wmi_access_keep_distance(). Only of elements of four rows. */
void wmi_access_load(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                     const struct wmi_rows *d, const struct wmi_access_scratch *scratch, unsigned ahead,
                     bool has_hit);
void wmi_access_keep_distance(struct wmi_stretch *s, const struct wmi_rows *distance, unsigned strip);
void wmi_access_store(struct wmi_stretch *s, struct wmi_lane_shape shape, const struct wmi_rows *distance,
                      const struct wmi_rows *data, const struct wmi_access_scratch *scratch, unsigned ahead);

#endif
