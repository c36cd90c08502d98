/* SPDX-License-Identifier: MIT */
/* What an instruction makes of values that are not finite: its sources before it, and its results after it.
 */
#include "check/float/float.h"

#include "exec/run/dispatch.h"

#include <math.h>
#include <string.h>

/* ---- registers ---- */

/* The words of a register in the wave's frame, one per lane or one; NULL: the frame lacks it. */
static const uint32_t *words_of(const char *frame, unsigned reg)
{
    const struct wmi_frame_layout *layout = &wmi_wave_of(frame)->worker->layout;
    const struct wmi_frame *wave = (const struct wmi_frame *)frame;
    const size_t row = 4 * (size_t)wave->wave_size;
    const bool agpr = reg >= WMI_REGISTER_AGPR;
    if (reg < WMI_REGISTER_VGPR)
        return &wave->s[reg];
    const size_t offset = agpr ? layout->agprs + (reg - WMI_REGISTER_AGPR) * row
                               : layout->vgprs + (reg - WMI_REGISTER_VGPR) * row;
    if (reg >= WMI_REGISTER_FLAT_SCRATCH || offset + row > (agpr ? layout->bytes : layout->agprs))
        return NULL;
    return (const uint32_t *)(const void *)(frame + offset);
}

static uint64_t all_lanes(const char *frame)
{
    return UINT64_MAX >> (64 - ((const struct wmi_frame *)frame)->wave_size);
}

/* The lanes of the result. */
static uint64_t lanes_of(const struct wmi_float_wave *wave, const struct wmi_float_operation *operation,
                         unsigned reg, const char *frame)
{
    return reg < WMI_REGISTER_VGPR ? 1 : operation->ignores_exec ? all_lanes(frame) : wave->exec;
}

/* Copies the sources of an operation, which may overwrite them. */
static void save_sources(struct wmi_float_wave *wave, unsigned index, const char *frame)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    const unsigned lanes = ((const struct wmi_frame *)frame)->wave_size;
    for (unsigned i = 0; i < WMI_FLOAT_SOURCES; i++) {
        const struct wmi_float_source *source = &operation->source[i];
        for (unsigned dword = 0; source->format && dword < source->dwords; dword++) {
            uint32_t *to = wave->saved[index][i][dword];
            const unsigned reg = source->reg == WMI_REGISTER_COUNT ? source->reg : source->reg + dword;
            const uint32_t *from =
                reg == WMI_REGISTER_COUNT ? &source->constant[dword] : words_of(frame, reg);
            if (from && reg >= WMI_REGISTER_VGPR && reg < WMI_REGISTER_COUNT)
                memcpy(to, from, 4 * lanes);
            else
                for (unsigned lane = 0; lane < lanes; lane++)
                    to[lane] = from ? *from : 0;
        }
    }
}

static uint64_t element_of(const uint32_t low, const uint32_t high, enum wmi_float_format format,
                           unsigned shift)
{
    return format == WMI_FLOAT_F64   ? low | (uint64_t)high << 32
           : format == WMI_FLOAT_F32 ? low
                                     : low >> shift & 0xffff;
}

/* The bits of an element of a saved source. */
static uint64_t saved_element(const struct wmi_float_wave *wave, unsigned index, unsigned i, unsigned element,
                              unsigned lane)
{
    const struct wmi_float_source *source = &wave->last->operation[index].source[i];
    const struct wmi_float_place place = source->place[element];
    return element_of(wave->saved[index][i][place.dword][lane],
                      source->format == WMI_FLOAT_F64 ? wave->saved[index][i][1][lane] : 0,
                      (enum wmi_float_format)source->format, place.shift);
}

/* The same with its modifiers, for a text. */
static uint64_t modified_element(const struct wmi_float_wave *wave, unsigned index, unsigned i,
                                 unsigned element, unsigned lane)
{
    const struct wmi_float_source *source = &wave->last->operation[index].source[i];
    const uint64_t sign = source->format == WMI_FLOAT_F64   ? UINT64_C(1) << 63
                          : source->format == WMI_FLOAT_F32 ? UINT64_C(1) << 31
                                                            : UINT64_C(1) << 15;
    uint64_t bits = saved_element(wave, index, i, element, lane);
    bits &= source->abs >> element & 1 ? ~sign : UINT64_MAX;
    return bits ^ (source->neg >> element & 1 ? sign : 0);
}

/* ---- origins of results ---- */

/* The results of an instruction, until those of all its operations are known. */
struct results {
    struct result {
        uint16_t reg;
        uint64_t lanes;
        uint32_t origin[WMI_FLOAT_LANES];
    } one[8];
    unsigned count;
};

static struct result *add_result(struct results *results, unsigned reg, uint64_t lanes)
{
    struct result *result = &results->one[results->count++];
    result->reg = (uint16_t)reg;
    result->lanes = lanes;
    memset(result->origin, 0, sizeof result->origin);
    return result;
}

/* The origin of a register in a lane or, if the operation reads others, in any lane. */
static uint32_t origin_of(const struct wmi_float_wave *wave, unsigned reg, unsigned lane, bool other_lanes)
{
    if (reg >= WMI_REGISTER_COUNT || !wave->row[reg] || !wave->row[reg]->lanes)
        return 0;
    const uint32_t origin = wmi_float_origin(wave, reg, lane);
    return origin || !other_lanes
               ? origin
               : wmi_float_origin(wave, reg, (unsigned)__builtin_ctzll(wave->row[reg]->lanes));
}

static uint32_t origin_of_all(const struct wmi_float_wave *wave, const struct wmi_float_registers *read,
                              unsigned count, unsigned lane, bool other_lanes)
{
    uint32_t origin = 0;
    for (unsigned i = 0; i < count && !origin; i++)
        for (unsigned reg = read[i].first; reg < read[i].first + read[i].count && !origin; reg++)
            origin = origin_of(wave, reg, lane, other_lanes);
    return origin;
}

static uint32_t origin_of_source(const struct wmi_float_wave *wave, const struct wmi_float_source *source,
                                 unsigned lane)
{
    uint32_t origin = 0;
    for (unsigned dword = 0; source->format && dword < source->dwords && !origin; dword++)
        if (source->reg < WMI_REGISTER_COUNT)
            origin = origin_of(wave, source->reg + dword, lane, source->other_lanes);
    return origin;
}

/* Whether the bits of a register may still be of a value that is not finite, in any format. */
static bool looks_special(uint32_t word)
{
    return (word & 0x7c000000) == 0x7c000000 || (word & 0x7c00) == 0x7c00;
}

/* ---- operations ---- */

/* Which sources of an operation enter the element of its result. */
static bool enters(const struct wmi_float_operation *operation, unsigned i, unsigned element, unsigned of)
{
    const struct wmi_float_source *source = &operation->source[i];
    if (!source->format || operation->dot || operation->elements == 1)
        return source->format;
    return source->elements == 2 ? of == element : i == element || i == 2; /* v_cvt_pk: A, B */
}

struct sources {
    bool nan, infinite;
    uint32_t origin;
};

/* What the sources of an element have besides finite numbers. */
static struct sources look_at_sources(const struct wmi_float_wave *wave, unsigned index, unsigned element,
                                      unsigned lane, uint64_t lanes)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    struct sources found = {0};
    for (unsigned i = 0; i < WMI_FLOAT_SOURCES; i++) {
        const struct wmi_float_source *source = &operation->source[i];
        for (unsigned e = 0; e < source->elements; e++) {
            if (!enters(operation, i, element, e))
                continue;
            const uint64_t from = source->other_lanes ? lanes : UINT64_C(1) << lane;
            for (uint64_t left = from; left; left &= left - 1) {
                const uint64_t bits = saved_element(wave, index, i, e, (unsigned)__builtin_ctzll(left));
                const enum wmi_float_format format = (enum wmi_float_format)source->format;
                found.infinite |= wmi_float_is_special(format, bits);
                found.nan |= wmi_float_is_nan(format, bits);
                if (wmi_float_is_special(format, bits) && !found.origin)
                    found.origin = origin_of_source(wave, source, lane);
            }
        }
    }
    return found;
}

/* The exceptions that arose in the lanes of a register. */
struct arising {
    uint64_t lanes[WMI_FLOAT_EXCEPTIONS];
    uint64_t value[WMI_FLOAT_LANES][WMI_FLOAT_SOURCES + 1]; /* the sources and the result of these lanes */
};

static bool has_arisen(const struct arising *arising, unsigned lane)
{
    uint64_t lanes = 0;
    for (unsigned kind = 0; kind < WMI_FLOAT_EXCEPTIONS; kind++)
        lanes |= arising->lanes[kind];
    return lanes >> lane & 1;
}

/* Adds an event for each kind of exception, and makes it the origin of the result. sticky: WMI_FLOAT_STICKY
 * or 0. */
static void add_events(bool *missed, struct wmi_float_wave *wave, unsigned index,
                       const struct arising *arising, uint32_t sticky, struct result *result)
{
    for (unsigned kind = 0; kind < WMI_FLOAT_EXCEPTIONS; kind++) {
        const uint64_t lanes = arising->lanes[kind];
        if (!lanes)
            continue;
        const uint32_t number =
            wmi_float_add_event(wave, &(struct wmi_float_event){.insn = wave->last,
                                                                .exception = (enum wmi_float_exception)kind,
                                                                .operation = index,
                                                                .sequence = wave->sequence,
                                                                .lanes = lanes});
        *missed |= !number;
        unsigned place = 0;
        for (uint64_t left = number ? lanes : 0; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(left);
            memcpy(wave->event[number]->value[place++], arising->value[lane], sizeof arising->value[lane]);
            result->origin[lane] = number | sticky;
        }
    }
}

static enum wmi_float_exception exception_of(const struct wmi_float_wave *wave, unsigned index, unsigned lane,
                                             uint64_t bits)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    if (wmi_float_is_nan((enum wmi_float_format)operation->format, bits))
        return WMI_FLOAT_INVALID;
    if (operation->pole) {
        const struct wmi_float_source *source = &operation->source[operation->pole - 1];
        const uint64_t zero = saved_element(wave, index, operation->pole - 1u, 0, lane);
        if (wmi_float_value((enum wmi_float_format)source->format, zero) == 0)
            return WMI_FLOAT_DIVISION;
    }
    return operation->narrows ? WMI_FLOAT_CONVERSION : WMI_FLOAT_OVERFLOW;
}

/* The origin of a source that is a saturated integer or was computed from one; such a result is wrong
 * although it is finite. */
static uint32_t sticky_origin(const struct wmi_float_wave *wave, const struct wmi_float_operation *operation,
                              unsigned lane)
{
    const uint32_t origin = origin_of_all(wave, operation->read, operation->reads, lane, false);
    return origin & (uint32_t)WMI_FLOAT_STICKY ? origin : 0;
}

/* Whether a lane, active or not, has a result that is not finite. Quick, for that is what nearly all results
 * are. */
static bool has_special(const struct wmi_float_operation *operation, const uint32_t *low,
                        const uint32_t *high, unsigned lanes)
{
    static const uint32_t exponents[] = {[WMI_FLOAT_F16] = 0x7c00,
                                         [WMI_FLOAT_BF16] = 0x7f80,
                                         [WMI_FLOAT_F32] = 0x7f800000,
                                         [WMI_FLOAT_F64] = 0x7ff00000};
    const bool wide = operation->format >= WMI_FLOAT_F32;
    const uint32_t exponent = exponents[operation->format], upper = wide ? exponent : exponent << 16;
    uint32_t found = 0;
    for (unsigned word = 0; word < 2; word++) {
        const uint32_t *words = word ? high : low;
        for (unsigned lane = 0; words && lane < lanes; lane++)
            found |=
                (uint32_t)((words[lane] & exponent) == exponent) | (uint32_t)((words[lane] & upper) == upper);
    }
    return found;
}

static bool has_origins(const struct wmi_float_wave *wave, const struct wmi_float_registers *registers,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned reg = registers[i].first; reg < registers[i].first + registers[i].count; reg++)
            if (reg < WMI_REGISTER_COUNT && wave->row[reg] && wave->row[reg]->lanes)
                return true;
    return false;
}

/* Returns the origin of an element of a result that is not finite. 0: it has none, or it is an exception,
 * which is added to `arising`, unless another element of the register has one. */
static uint32_t look_at_element(const struct wmi_float_wave *wave, unsigned index, unsigned element,
                                unsigned lane, uint64_t bits, uint64_t lanes, struct arising *arising)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    const struct sources sources = look_at_sources(wave, index, element, lane, lanes);
    const bool nan = wmi_float_is_nan((enum wmi_float_format)operation->format, bits);
    if (sources.nan || sources.origin || (sources.infinite && !nan) || has_arisen(arising, lane))
        return sources.origin;
    arising->lanes[exception_of(wave, index, lane, bits)] |= UINT64_C(1) << lane;
    for (unsigned i = 0; i < WMI_FLOAT_SOURCES; i++) {
        const struct wmi_float_source *source = &operation->source[i];
        arising->value[lane][i] =
            source->format ? modified_element(wave, index, i, source->elements == 2 ? element : 0, lane) : 0;
    }
    arising->value[lane][WMI_FLOAT_SOURCES] = bits;
    return 0;
}

/* The origin of a value that stays in the other half of the result's register; 0: none. */
static uint32_t other_half(const struct wmi_float_wave *wave, const struct wmi_float_operation *operation,
                           unsigned reg, uint32_t word, unsigned lane)
{
    const uint32_t half = word >> (16 - operation->place[0].shift) & 0xffff;
    return operation->half && looks_special(half) ? wmi_float_origin(wave, reg, lane) : 0;
}

/* Floats from floats. */
static void compute(bool *missed, struct wmi_float_wave *wave, unsigned index, const char *frame,
                    struct results *results)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    const enum wmi_float_format format = (enum wmi_float_format)operation->format;
    const struct wmi_float_registers *d = &operation->written[0];
    const uint64_t lanes = lanes_of(wave, operation, d->first, frame);
    const unsigned row = d->first < WMI_REGISTER_VGPR ? 1 : ((const struct wmi_frame *)frame)->wave_size;
    const uint32_t *words[2] = {words_of(frame, d->first),
                                d->count == 2 ? words_of(frame, d->first + 1u) : NULL};
    struct arising arising[2];
    struct result *result[2] = {NULL};
    if (!words[0] || (d->count == 2 && !words[1]))
        return;
    if (!has_special(operation, words[0], words[1], row) &&
        !(wave->live && (has_origins(wave, operation->read, operation->reads) ||
                         has_origins(wave, operation->written, operation->writes))))
        return;
    for (unsigned i = 0; i < d->count && i < 2; i++) {
        result[i] = add_result(results, d->first + i, lanes);
        memset(arising[i].lanes, 0, sizeof arising[i].lanes);
    }
    for (uint64_t left = lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned e = 0; e < operation->elements; e++) {
            const unsigned dword = operation->place[e].dword;
            const uint64_t bits = element_of(words[dword][lane], words[1] ? words[1][lane] : 0, format,
                                             operation->place[e].shift);
            if (!result[dword] || !wmi_float_is_special(format, bits))
                continue;
            const uint32_t origin =
                look_at_element(wave, index, e, lane, bits, all_lanes(frame), &arising[dword]);
            if (origin)
                result[dword]->origin[lane] = origin;
        }
        for (unsigned i = 0; i < 2 && wave->live; i++)
            if (result[i] && !result[i]->origin[lane])
                result[i]->origin[lane] = sticky_origin(wave, operation, lane);
        if (!result[0]->origin[lane])
            result[0]->origin[lane] = other_half(wave, operation, d->first, words[0][lane], lane);
    }
    for (unsigned i = 0; i < 2; i++)
        if (result[i])
            add_events(missed, wave, index, &arising[i], 0, result[i]);
    if (format == WMI_FLOAT_F64 && result[1])
        memcpy(result[1]->origin, result[0]->origin, sizeof result[0]->origin);
}

/* Whether the number fits an integer of the type, once its fraction is gone. */
static bool fits(double value, const struct wmi_float_operation *operation)
{
    static const struct {
        double below, above;
    } limits[WMI_TYPE_COUNT] = {
        [WMI_TYPE_i32] = {-2147483649.0, 2147483648.0}, [WMI_TYPE_u32] = {-1.0, 4294967296.0},
        [WMI_TYPE_i16] = {-32769.0, 32768.0},           [WMI_TYPE_u16] = {-1.0, 65536.0},
        [WMI_TYPE_v2i16] = {-32769.0, 32768.0},         [WMI_TYPE_v2u16] = {-1.0, 65536.0},
    };
    if (operation->id == WMI_INSN_v_cvt_flr_i32_f32)
        value = floor(value);
    if (operation->id == WMI_INSN_v_cvt_rpi_i32_f32)
        value = floor(value + 0.5);
    return value > limits[operation->type].below && value < limits[operation->type].above;
}

/* An integer result, as a text shows it. */
static uint64_t integer_of(uint32_t word, enum wmi_type type)
{
    switch (type) {
    case WMI_TYPE_i32:
        return (uint64_t)(int64_t)(int32_t)word;
    case WMI_TYPE_i16:
    case WMI_TYPE_v2i16:
        return (uint64_t)(int64_t)(int16_t)word;
    case WMI_TYPE_u16:
    case WMI_TYPE_v2u16:
        return word & 0xffff;
    default:
        return word;
    }
}

/* Whether a conversion of the number loses it: to an integer, or to a float of 8 bits, whose bits the result
 * has. Those that saturate are meant to. */
static bool is_lost(const struct wmi_float_operation *operation, double value, uint32_t result)
{
    return operation->format ? wmi_float_is_special((enum wmi_float_format)operation->format, result & 0xff)
                             : !fits(value, operation);
}

/* Floats to integers, or to floats of 8 bits. */
static void convert(bool *missed, struct wmi_float_wave *wave, unsigned index, const char *frame,
                    struct results *results)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    const unsigned reg = operation->written[0].first;
    const uint32_t *words = words_of(frame, reg);
    const uint64_t lanes = lanes_of(wave, operation, reg, frame);
    struct result *result = add_result(results, reg, lanes);
    struct arising arising;
    memset(arising.lanes, 0, sizeof arising.lanes);
    for (uint64_t left = words ? lanes : 0; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        result->origin[lane] = sticky_origin(wave, operation, lane);
        for (unsigned e = 0; e < operation->elements && !result->origin[lane]; e++) {
            const struct wmi_float_source *source = &operation->source[e];
            const uint64_t bits = modified_element(wave, index, e, 0, lane);
            const uint32_t converted = words[lane] >> operation->place[e].shift;
            if (source->other_lanes ||
                !is_lost(operation, wmi_float_value((enum wmi_float_format)source->format, bits), converted))
                continue;
            const uint32_t origin = origin_of_source(wave, source, lane);
            if (origin) {
                result->origin[lane] = origin | (uint32_t)WMI_FLOAT_STICKY;
                continue;
            }
            /* A NaN or an infinity stays one with 8 bits. */
            const bool propagates =
                operation->format && wmi_float_is_special((enum wmi_float_format)source->format, bits);
            if (has_arisen(&arising, lane) || propagates)
                continue;
            uint64_t *value = arising.value[lane];
            arising.lanes[WMI_FLOAT_CONVERSION] |= UINT64_C(1) << lane;
            memset(value, 0, sizeof arising.value[lane]);
            for (unsigned i = 0; i < operation->elements; i++)
                value[i] = modified_element(wave, index, i, 0, lane);
            value[WMI_FLOAT_SOURCES] =
                operation->format ? converted & 0xff : integer_of(converted, (enum wmi_type)operation->type);
        }
    }
    add_events(missed, wave, index, &arising, (uint32_t)WMI_FLOAT_STICKY, result);
}

/* Bits: they keep their origin as long as they may be those of an infinity or a NaN. */
static void move(const struct wmi_float_wave *wave, unsigned index, const char *frame,
                 struct results *results)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    for (unsigned i = 0; i < operation->moved; i++) {
        for (unsigned d = 0; d < operation->written[i].count && results->count < 8; d++) {
            const unsigned reg = operation->written[i].first + d;
            const uint64_t lanes = reg < WMI_REGISTER_COUNT ? lanes_of(wave, operation, reg, frame) : 0;
            const uint32_t *words = words_of(frame, reg);
            struct result *result = add_result(results, reg, lanes);
            for (uint64_t left = words ? lanes : 0; left; left &= left - 1) {
                const unsigned lane = (unsigned)__builtin_ctzll(left);
                const uint32_t origin = origin_of_all(wave, operation->read, operation->reads, lane,
                                                      operation->other_lanes || reg < WMI_REGISTER_VGPR);
                if (origin & (uint32_t)WMI_FLOAT_STICKY || looks_special(words[lane]))
                    result->origin[lane] = origin;
            }
        }
    }
}

static void choose(const struct wmi_float_wave *wave, unsigned index, const char *frame,
                   struct results *results)
{
    const struct wmi_float_operation *operation = &wave->last->operation[index];
    const uint32_t *scalars = ((const struct wmi_frame *)frame)->s;
    const uint64_t mask = scalars[operation->mask] | (uint64_t)scalars[operation->mask + 1] << 32;
    struct result *result = add_result(results, operation->written[0].first, wave->exec);
    for (uint64_t left = wave->exec; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        result->origin[lane] = origin_of(wave, operation->source[mask >> lane & 1].reg, lane,
                                         operation->other_lanes && !(mask >> lane & 1));
    }
}

/* ---- matrices ---- */

static bool is_special_word(enum wmi_float_format format, const uint32_t *words, const uint32_t *next,
                            unsigned lane)
{
    if (format < WMI_FLOAT_F16)
        return wmi_float_is_special(format, words[lane] & 0xff) ||
               wmi_float_is_special(format, words[lane] >> 8 & 0xff) ||
               wmi_float_is_special(format, words[lane] >> 16 & 0xff) ||
               wmi_float_is_special(format, words[lane] >> 24);
    if (format == WMI_FLOAT_F16 || format == WMI_FLOAT_BF16)
        return wmi_float_is_special(format, words[lane] & 0xffff) ||
               wmi_float_is_special(format, words[lane] >> 16);
    return wmi_float_is_special(format, element_of(words[lane], next ? next[lane] : 0, format, 0));
}

/* Whether all elements of a matrix's sources are finite. */
static bool is_finite(const struct wmi_float_operation *operation, const char *frame)
{
    const unsigned lanes = ((const struct wmi_frame *)frame)->wave_size;
    for (unsigned i = 0; i < WMI_FLOAT_SOURCES; i++) {
        const struct wmi_float_source *source = &operation->source[i];
        const enum wmi_float_format format = (enum wmi_float_format)source->format;
        const unsigned step = format == WMI_FLOAT_F64 ? 2 : 1;
        for (unsigned dword = 0; format && dword < source->dwords; dword += step) {
            const uint32_t *words = words_of(frame, source->reg + dword);
            const uint32_t *next = step == 2 ? words_of(frame, source->reg + dword + 1) : NULL;
            for (unsigned lane = 0; words && lane < lanes; lane++)
                if (is_special_word(format, words, next, lane))
                    return false;
        }
    }
    return true;
}

static void multiply(bool *missed, struct wmi_float_wave *wave, const char *frame)
{
    const struct wmi_float_operation *operation = &wave->last->operation[0];
    const enum wmi_float_format format = (enum wmi_float_format)operation->format;
    const unsigned step = format == WMI_FLOAT_F64 ? 2 : 1;
    const struct wmi_float_registers *d = &operation->written[0];
    const uint64_t lanes = all_lanes(frame);
    const uint32_t origin = wave->live ? origin_of_all(wave, operation->read, operation->reads, 0, true) : 0;
    struct wmi_float_event event = {.insn = wave->last, .sequence = wave->sequence};
    uint32_t number[WMI_FLOAT_EXCEPTIONS] = {0};
    for (unsigned dword = 0; dword < d->count; dword += step) {
        const uint32_t *words = words_of(frame, d->first + dword);
        const uint32_t *next = step == 2 ? words_of(frame, d->first + dword + 1) : NULL;
        struct result result = {.lanes = lanes};
        for (uint64_t left = words ? lanes : 0; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(left);
            const uint64_t bits = element_of(words[lane], next ? next[lane] : 0, format, 0);
            if (!wmi_float_is_special(format, bits))
                continue;
            const enum wmi_float_exception kind =
                wmi_float_is_nan(format, bits) ? WMI_FLOAT_INVALID : WMI_FLOAT_OVERFLOW;
            if (wave->finite && !number[kind]) {
                event.exception = kind;
                event.lanes = UINT64_C(1) << lane;
                number[kind] = wmi_float_add_event(wave, &event);
                *missed |= !number[kind];
                if (number[kind])
                    wave->event[number[kind]]->value[0][WMI_FLOAT_SOURCES] = bits;
            }
            result.origin[lane] = wave->finite ? number[kind] : origin;
        }
        for (unsigned i = 0; i < step && dword + i < d->count; i++)
            *missed |= !wmi_float_put(wave, d->first + dword + i, lanes, result.origin);
    }
}

/* ---- private memory ---- */

/* Gives the registers that were loaded the origins of their values. */
static void finish_load(bool *missed, struct wmi_float_wave *wave, const char *frame)
{
    const struct wmi_float_operation *operation = &wave->last->operation[0];
    for (uint32_t left = operation->writes ? wave->loads : 0; left; left &= left - 1) {
        const unsigned at = (unsigned)__builtin_ctz(left), reg = operation->written[0].first + at;
        const uint32_t *words = at < operation->written[0].count ? words_of(frame, reg) : NULL;
        for (uint64_t lanes = words ? wave->exec : 0; lanes; lanes &= lanes - 1) {
            uint32_t *origin = &wave->loaded[at][__builtin_ctzll(lanes)];
            if (!(*origin & (uint32_t)WMI_FLOAT_STICKY) && !looks_special(words[__builtin_ctzll(lanes)]))
                *origin = 0;
        }
        if (words)
            *missed |= !wmi_float_put(wave, reg, wave->exec, wave->loaded[at]);
    }
    wave->loads = 0;
}

/* ---- instructions ---- */

/* Registers that were written, by what does not depend on registers. */
static void forget(bool *missed, struct wmi_float_wave *wave, const struct wmi_float_operation *operation,
                   unsigned from, const char *frame)
{
    for (unsigned i = from; wave->live && i < operation->writes; i++)
        for (unsigned d = 0; d < operation->written[i].count; d++)
            *missed |=
                !wmi_float_put(wave, operation->written[i].first + d,
                               lanes_of(wave, operation, operation->written[i].first + d, frame), NULL);
}

void wmi_float_finish(struct wmi_float_wave *wave, const char *frame, bool *missed)
{
    enum { EVENTS = 4 * WMI_FLOAT_EXCEPTIONS }; /* most of an instruction: two operations, two words each */
    const struct wmi_float_instruction *insn = wave->last;
    struct results results;
    results.count = 0;
    if (!wmi_float_reserve(wave, EVENTS)) {
        *missed = true;
        return;
    }
    for (unsigned i = 0; i < insn->operations; i++) {
        const struct wmi_float_operation *operation = &insn->operation[i];
        if (!operation->writes)
            continue;
        switch ((enum wmi_float_kind)operation->kind) {
        case WMI_FLOAT_COMPUTES:
            compute(missed, wave, i, frame, &results);
            break;
        case WMI_FLOAT_CONVERTS:
            convert(missed, wave, i, frame, &results);
            break;
        case WMI_FLOAT_MOVES:
            if (wave->live)
                move(wave, i, frame, &results);
            break;
        case WMI_FLOAT_SELECTS:
            if (wave->live)
                choose(wave, i, frame, &results);
            break;
        case WMI_FLOAT_MATRIX:
            multiply(missed, wave, frame);
            break;
        case WMI_FLOAT_LOADS:
            break;
        }
        forget(missed, wave, operation, operation->kind == WMI_FLOAT_LOADS ? 0 : operation->moved, frame);
    }
    for (unsigned i = 0; i < results.count; i++) {
        const struct result *result = &results.one[i];
        if (result->reg < WMI_REGISTER_COUNT)
            *missed |= !wmi_float_put(wave, result->reg, result->lanes, result->origin);
    }
    finish_load(missed, wave, frame);
}

void wmi_float_begin(struct wmi_float_wave *wave, const struct wmi_float_instruction *insn, const char *frame)
{
    wave->last = insn;
    wave->exec = ((const struct wmi_frame *)frame)->exec.bits;
    wave->sequence++;
    for (unsigned i = 0; i < insn->operations; i++) {
        const struct wmi_float_operation *operation = &insn->operation[i];
        if (operation->kind == WMI_FLOAT_COMPUTES || operation->kind == WMI_FLOAT_CONVERTS)
            save_sources(wave, i, frame);
        else if (operation->kind == WMI_FLOAT_MATRIX)
            wave->finite = is_finite(operation, frame);
    }
}
