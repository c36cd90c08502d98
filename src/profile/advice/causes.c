/* SPDX-License-Identifier: MIT */
/* The causes in instructions. Of those that concern the same sums, an instruction has the first that fits. */
#include "profile/advice/causes.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

enum { DWORD = 4, LINE = 128 };

static double less(double a, double b)
{
    return a < b ? a : b;
}

static uint64_t scaled(uint64_t count, double by)
{
    return (uint64_t)((double)count * less(by, 1));
}

static uint64_t at_most(uint64_t count, double most)
{
    return (double)count > most ? (uint64_t)most : count;
}

/* ---- what may change ---- */

/* The least share of the bytes that the family moves at a level of the caches: each requested byte
 * moves at most as often as it is requested, and lines whose dwords are all used cannot be fewer. */
static double needed(const struct wmi_family *family, double requested, double moved)
{
    const uint32_t low = family->used & UINT16_MAX, high = family->used >> 16;
    const unsigned touched = family->block < LINE ? (low > 0) + (high > 0) : 2; /* halves */
    const double used =
        (double)__builtin_popcount(family->used) * DWORD * 2 / (LINE * (touched ? touched : 1));
    return less(moved > 0 ? less(requested / moved, used) : used, 1);
}

/* Neighbouring lanes access neighbouring addresses, from the start of a line on. */
static void make_contiguous(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wmi_family *family = s->family;
    const double full = s->room > 0 ? (double)s->row->lanes / s->room : 1;
    const double tags = (double)s->active * s->contiguous.tags * less(full, 1);
    const double data = (double)s->active * s->contiguous.data * less(full, 1);
    const double memory = needed(family, family->requested, family->memory);
    after->lines = s->row->ideal_lines;
    after->address_clocks = at_most(s->row->address_clocks, (double)s->active * s->contiguous.clocks);
    after->tag_clocks = at_most(s->row->tag_clocks, tags);
    after->data_clocks = at_most(s->row->data_clocks, data);
    if (s->kind == WMI_ACCESS_LOAD)
        after->cache[WM_CACHE_L2].bytes =
            scaled(s->row->cache[WM_CACHE_L2].bytes, needed(family, family->loaded, family->l2_loaded));
    else
        after->cache[WM_CACHE_L2].bytes =
            at_most(s->row->cache[WM_CACHE_L2].bytes, (double)s->row->distinct_bytes);
    after->memory_read = scaled(after->memory_read, memory);
    after->memory_written = scaled(after->memory_written, memory);
    after->cache[WM_CACHE_LAST].requests =
        scaled(after->cache[WM_CACHE_LAST].requests, needed(family, family->requested, family->last));
}

/* Data clocks if each moves as many bytes as it can. */
static uint64_t full_data(const struct wmi_suspect *s)
{
    return at_most(s->row->data_clocks, (double)s->row->bytes_asked / s->data_bytes);
}

/* Instructions of fewer waves do the same work. */
static void make_fewer(const struct wmi_suspect *s, struct wm_profile_row *after, double share)
{
    after->executions = scaled(s->row->executions, share);
    after->address_clocks = scaled(after->address_clocks, share);
    after->tag_clocks = scaled(after->tag_clocks, share);
    after->data_clocks = full_data(s);
    after->lds_passes = scaled(after->lds_passes, share);
}

static bool is_uniform(const struct wmi_suspect *s)
{
    const struct wm_profile_row *row = s->row;
    return row->lanes > row->executions && row->distinct_bytes == s->active * row->bytes;
}

/* ---- LDS ---- */

static bool uniform_lds(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_profile_row *row = s->row;
    if (!row->has_lds || strcmp(row->path, "DS") || s->kind != WMI_ACCESS_LOAD || row->lds_conflicts ||
        row->lanes < 2 * row->executions || row->distinct_bytes > row->executions * row->bytes ||
        !row->distinct_bytes)
        return false;
    after->lds_passes = 0;
    after->path = wm_path_name(WM_PATH_SMEM);
    return true;
}

static void say_uniform_lds(const struct wmi_affected *p, struct wmi_texts *t)
{
    wmi_format(t->verdict, sizeof t->verdict, "LDS is read at one address by all lanes");
    wmi_format(t->numbers, sizeof t->numbers,
               "%" PRIu64 " reads take %" PRIu64 " LDS passes for %.4g distinct bytes each",
               p->now.executions, p->now.lds_passes,
               (double)p->now.distinct_bytes / (double)p->now.executions);
    wmi_format(t->change, sizeof t->change,
               "load the value into scalar registers: a uniform index into constant or global memory becomes "
               "s_load");
}

static bool misaligned_lds(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_profile_row *row = s->row;
    if (!row->lds_serial)
        return false;
    /* Aligned, each lane's dwords are in different banks: 32 dwords to a pass (cost_rules.c). */
    const uint64_t dwords = row->lds_serial * ((row->bytes + DWORD - 1) / DWORD), passes = (dwords + 31) / 32;
    after->lds_passes = row->lds_passes - row->lds_serial - row->lds_conflicts;
    after->lds_passes += passes < row->lds_serial ? passes : row->lds_serial;
    return true;
}

static void say_misaligned_lds(const struct wmi_affected *p, struct wmi_texts *t)
{
    const uint32_t bytes = p->lead->row->bytes;
    wmi_format(t->verdict, sizeof t->verdict, "misaligned LDS accesses are served lane by lane");
    wmi_format(t->numbers, sizeof t->numbers,
               "%" PRIu64 " lanes were serialized, in %" PRIu64 " of %" PRIu64 " passes", p->now.lds_serial,
               p->now.lds_serial, p->now.lds_passes);
    wmi_format(t->change, sizeof t->change, "align them to %u bytes", bytes > 8 ? 16u : bytes > 4 ? 8u : 4u);
}

static bool bank_conflicts(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    if (!s->row->lds_conflicts)
        return false;
    after->lds_passes -= s->row->lds_conflicts;
    return true;
}

static void say_bank_conflicts(const struct wmi_affected *p, struct wmi_texts *t)
{
    const struct wm_profile_row *row = p->lead->row;
    const uint64_t stride = row->wave && row->wave->in_lds && p->lead->shape.even ? p->lead->shape.stride : 0;
    char lanes[64] = "";
    if (stride)
        wmi_format(lanes, sizeof lanes, "lanes are %" PRIu64 " B apart, and ", stride);
    wmi_format(t->verdict, sizeof t->verdict, "LDS bank conflicts");
    wmi_format(
        t->numbers, sizeof t->numbers,
        "%" PRIu64 " of %" PRIu64 " LDS passes, %.4g of %.4g per instruction; %sup to %u distinct dwords "
        "fall into one bank",
        p->now.lds_conflicts, p->now.lds_passes, (double)p->now.lds_conflicts / (double)p->now.executions,
        (double)p->now.lds_passes / (double)p->now.executions, lanes, row->lds_depth);
    if (p->lead->kind == WMI_ACCESS_ATOMIC)
        wmi_format(
            t->change, sizeof t->change,
            "give each part of the workgroup its own copy of the counters, or combine equal ones within "
            "the wave first");
    else if (stride && stride % 32 == 0)
        wmi_format(t->change, sizeof t->change, "pad each row by one dword");
    else
        wmi_format(t->change, sizeof t->change,
                   "pad rows or permute indices so that the lanes of a pass access different banks");
}

/* ---- memory ---- */

static bool scratch(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    if (!s->in_scratch)
        return false;
    after->executions = after->address_clocks = after->tag_clocks = after->data_clocks = 0;
    after->cache[WM_CACHE_L2].bytes = after->cache[WM_CACHE_LAST].requests = 0;
    after->memory_read = after->memory_written = 0;
    return true;
}

static void say_scratch(const struct wmi_affected *p, struct wmi_texts *t)
{
    wmi_format(t->verdict, sizeof t->verdict, "%s in scratch memory",
               p->lead->variable_index ? "a private array with a variable index is"
                                       : "private variables are");
    wmi_format(t->numbers, sizeof t->numbers,
               "%zu instruction%s, executed %" PRIu64 " times, %" PRIu64 " address clocks, %" PRIu64
               " B between L2 and L1",
               p->rows, p->rows == 1 ? "" : "s", p->now.executions, p->now.address_clocks,
               p->now.cache[WM_CACHE_L2].bytes);
    if (p->lead->variable_index)
        wmi_format(
            t->change, sizeof t->change,
            "unroll the loops that index it, so that each index is constant and it fits into registers; "
            "or keep it in LDS");
    else
        wmi_format(t->change, sizeof t->change,
                   "use fewer registers at once, or allow more per wave (launch bounds, smaller workgroups)");
}

static bool uniform_load(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_profile_row *row = s->row;
    if (!s->family || s->in_scratch || s->kind != WMI_ACCESS_LOAD || !is_uniform(s))
        return false;
    after->address_clocks = after->tag_clocks = after->data_clocks = 0;
    after->cache[WM_CACHE_L2].bytes = at_most(row->cache[WM_CACHE_L2].bytes, (double)row->memory_read);
    return true;
}

static void say_uniform_load(const struct wmi_affected *p, struct wmi_texts *t)
{
    wmi_format(t->verdict, sizeof t->verdict, "all lanes load from one address");
    wmi_format(t->numbers, sizeof t->numbers,
               "%" PRIu64 " vector loads take %" PRIu64 " address clocks for %.4g distinct bytes each",
               p->now.executions, p->now.address_clocks,
               (double)p->now.distinct_bytes / (double)p->now.executions);
    wmi_format(t->change, sizeof t->change,
               "let the compiler see that the address is uniform and the data constant (const restrict, "
               "__constant), so that it uses s_load");
}

/* The bytes that the example wave's lanes span. */
static uint64_t span_of(const struct wm_profile_wave *wave)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint64_t left = wave->lanes; left; left &= left - 1) {
        const uint64_t at = wave->address[__builtin_ctzll(left)];
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    return high - low;
}

static bool shared_atomics(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_profile_row *row = s->row;
    if (!s->family || s->kind != WMI_ACCESS_ATOMIC || !row->bytes || !row->atomic_requests)
        return false;
    if (2 * row->distinct_bytes > row->lanes * row->bytes)
        return false;
    if (is_uniform(s)) { /* one lane updates the value for its wave */
        after->atomic_requests = at_most(row->atomic_requests, (double)row->lines);
        after->cache[WM_CACHE_L2].bytes = scaled(
            row->cache[WM_CACHE_L2].bytes, (double)after->atomic_requests / (double)row->atomic_requests);
        after->data_clocks = at_most(row->data_clocks, (double)s->active);
        return true;
    }
    if (span_of(row->wave) > s->gpu->lds_bytes)
        return false;
    /* In LDS as many passes as the example wave's addresses take; what remains for each workgroup is not
     * counted. */
    after->address_clocks = after->tag_clocks = after->data_clocks = 0;
    after->cache[WM_CACHE_VECTOR] = after->cache[WM_CACHE_L2] = after->cache[WM_CACHE_LAST] =
        (struct wm_cache_use){0};
    after->memory_read = after->memory_written = after->atomic_requests = 0;
    after->lds_passes = row->lds_passes + (uint64_t)((double)s->active * s->lds_passes);
    return true;
}

static void say_shared_atomics(const struct wmi_affected *p, struct wmi_texts *t)
{
    const double runs = (double)p->now.executions;
    wmi_format(t->verdict, sizeof t->verdict, "many lanes update the same %s",
               p->now.distinct_bytes <= p->now.executions * p->lead->row->bytes ? "address" : "addresses");
    wmi_format(
        t->numbers, sizeof t->numbers,
        "%.4g lanes make %.4g atomic requests to %.4g different values per instruction, one after another",
        (double)p->now.lanes / runs, (double)p->now.atomic_requests / runs,
        (double)p->now.distinct_bytes / p->lead->row->bytes / runs);
    wmi_format(t->change, sizeof t->change,
               is_uniform(p->lead) ? "combine them within the wave, so that one lane updates the value"
                                   : "combine them in LDS, and update memory once per workgroup");
}

/* Consecutive elements of each lane, loaded or stored one by one. */
static bool one_by_one(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_profile_row *row = s->row;
    if (!s->members || s->in_scratch)
        return false;
    const double share = 1.0 / s->members, full = less((double)row->lanes / s->room, 1);
    after->executions = scaled(row->executions, share);
    after->address_clocks = at_most(row->address_clocks, (double)s->active * s->wide.clocks * share);
    after->tag_clocks = at_most(row->tag_clocks, (double)s->active * s->wide.tags * full * share);
    after->data_clocks = at_most(row->data_clocks, (double)s->active * s->wide.data * full * share);
    after->cache[WM_CACHE_L2].bytes = scaled(
        row->cache[WM_CACHE_L2].bytes,
        s->kind == WMI_ACCESS_STORE ? share : needed(s->family, s->family->loaded, s->family->l2_loaded));
    return after->address_clocks < row->address_clocks || after->tag_clocks < row->tag_clocks ||
           after->data_clocks < row->data_clocks;
}

static void say_one_by_one(const struct wmi_affected *p, struct wmi_texts *t)
{
    const struct wmi_suspect *s = p->lead;
    const char *verb = s->kind == WMI_ACCESS_LOAD ? "load" : "store";
    wmi_format(t->verdict, sizeof t->verdict, "consecutive elements of each lane are %s one by one",
               s->kind == WMI_ACCESS_LOAD ? "loaded" : "stored");
    wmi_format(t->numbers, sizeof t->numbers,
               "lanes are %" PRIu64 " B apart; %u instructions of %u B each take %.4g address clocks",
               s->shape.stride, s->members, s->row->bytes,
               (double)p->now.address_clocks / (double)p->now.executions);
    wmi_format(t->change, sizeof t->change, "%s the %u B of each lane with one instruction, as a vector type",
               verb, s->members * s->row->bytes);
}

/* Whether some lines would be unnecessary if the data were contiguous. */
static bool wastes_lines(const struct wmi_suspect *s)
{
    return s->family && !s->in_scratch && s->row->lines > s->row->ideal_lines && !is_uniform(s);
}

static bool lanes_apart(const struct wmi_suspect *s)
{
    return s->shape.has && s->shape.run >= 4 && s->shape.stride > s->row->bytes;
}

static bool is_off_line(const struct wmi_suspect *s)
{
    return s->shape.even && s->shape.stride == s->row->bytes;
}

/* Whether one instruction for all members of each lane costs no more than one for each member of all lanes.
 */
static bool is_better_wide(const struct wmi_suspect *s)
{
    return s->members && s->members * s->row->bytes == s->shape.stride &&
           s->wide.clocks <= s->members * s->contiguous.clocks &&
           s->wide.tags <= s->members * s->contiguous.tags && s->wide.data <= s->members * s->contiguous.data;
}

static bool structure(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    if (is_better_wide(s) || !wastes_lines(s) || s->kind == WMI_ACCESS_ATOMIC || !lanes_apart(s) ||
        s->shape.stride >= s->row->line_bytes)
        return false;
    make_contiguous(s, after);
    return true;
}

static bool uncoalesced(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    if (!wastes_lines(s) || s->kind == WMI_ACCESS_ATOMIC || !lanes_apart(s) ||
        s->shape.stride < s->row->line_bytes)
        return false;
    make_contiguous(s, after);
    return true;
}

static bool off_line(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    if (!wastes_lines(s) || s->kind == WMI_ACCESS_ATOMIC || !is_off_line(s))
        return false;
    make_contiguous(s, after);
    return true;
}

static bool scattered(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    if (!wastes_lines(s) || lanes_apart(s) || is_off_line(s))
        return false;
    make_contiguous(s, after);
    if (s->kind == WMI_ACCESS_ATOMIC) /* make_contiguous() knows no requests that are repeated */
        after->cache[WM_CACHE_L2].bytes = s->row->cache[WM_CACHE_L2].bytes;
    return true;
}

static const char *lines_text(const struct wmi_affected *p, char text[96])
{
    const double runs = (double)p->now.executions;
    wmi_format(text, 96, "%.4g lines of %u B for %.4g useful bytes per instruction, ideal %.4g",
               (double)p->now.lines / runs, p->lead->row->line_bytes, (double)p->now.distinct_bytes / runs,
               (double)p->now.ideal_lines / runs);
    return text;
}

static void say_structure(const struct wmi_affected *p, struct wmi_texts *t)
{
    const struct wmi_suspect *s = p->lead;
    const unsigned used = (unsigned)__builtin_popcount(s->family->used) * DWORD;
    char lines[96];
    wmi_format(t->verdict, sizeof t->verdict,
               "neighbouring lanes access the same member of neighbouring structures");
    wmi_format(t->numbers, sizeof t->numbers,
               "lanes are %" PRIu64 " B apart and use %u of them: %s; the kernel uses %u of %d B",
               s->shape.stride, s->row->bytes, lines_text(p, lines), used, LINE);
    wmi_format(t->change, sizeof t->change, "split the structure into one array per member");
}

static void say_uncoalesced(const struct wmi_affected *p, struct wmi_texts *t)
{
    char lines[96];
    wmi_format(t->verdict, sizeof t->verdict, "uncoalesced %ss", p->lead->row->operation);
    wmi_format(t->numbers, sizeof t->numbers, "lanes are %" PRIu64 " B apart: %s", p->lead->shape.stride,
               lines_text(p, lines));
    wmi_format(t->change, sizeof t->change,
               "let neighbouring lanes (get_global_id(0), threadIdx.x) index the fastest-varying dimension, "
               "or transpose the data in LDS");
}

static void say_off_line(const struct wmi_affected *p, struct wmi_texts *t)
{
    const struct wm_profile_wave *wave = p->lead->row->wave;
    char lines[96];
    wmi_format(t->verdict, sizeof t->verdict, "contiguous data does not begin at a cache line");
    wmi_format(t->numbers, sizeof t->numbers, "it begins %" PRIu64 " B into a line: %s",
               wave->address[__builtin_ctzll(wave->lanes)] % p->lead->row->line_bytes, lines_text(p, lines));
    wmi_format(t->change, sizeof t->change, "align it to %u bytes", p->lead->row->line_bytes);
}

static void say_scattered(const struct wmi_affected *p, struct wmi_texts *t)
{
    char lines[96];
    wmi_format(t->verdict, sizeof t->verdict, "scattered %ss", p->lead->row->operation);
    wmi_format(t->numbers, sizeof t->numbers, "%s", lines_text(p, lines));
    wmi_format(t->change, sizeof t->change,
               "order the data or the work so that neighbouring lanes access neighbouring addresses");
}

/* Elements of less than a dword, contiguous. */
static bool narrow(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_profile_row *row = s->row;
    if (!row->bytes || row->bytes >= DWORD || !s->shape.even || s->shape.stride != row->bytes ||
        s->kind == WMI_ACCESS_ATOMIC || s->in_scratch)
        return false;
    make_fewer(s, after, (double)row->bytes / DWORD);
    return true;
}

static void say_narrow(const struct wmi_affected *p, struct wmi_texts *t)
{
    const uint32_t bytes = p->lead->row->bytes;
    wmi_format(t->verdict, sizeof t->verdict, "%ss of %u byte%s per lane", p->lead->row->operation, bytes,
               bytes == 1 ? "" : "s");
    wmi_format(t->numbers, sizeof t->numbers,
               "%" PRIu64 " instructions move %.4g B each at the cost of dwords", p->now.executions,
               (double)p->now.distinct_bytes / (double)p->now.executions);
    wmi_format(t->change, sizeof t->change, "let each lane access %u neighbouring elements, as a vector type",
               DWORD / bytes);
}

/* How the example wave's lines fall into the sets of a cache. */
struct sets {
    unsigned lines, used, most; /* used: sets; most: lines of one set */
};

/* padding: bytes that are added for each lane. */
static struct sets sets_of(const struct wmi_suspect *s, const struct wm_cache *cache, uint64_t padding)
{
    const uint64_t count = cache->bytes / cache->line / cache->ways;
    struct sets sets = {0};
    uint64_t line[64];
    for (uint64_t left = s->row->wave->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const uint64_t at = (s->row->wave->address[lane] + lane * padding) / cache->line;
        unsigned same = 0;
        bool seen = false;
        for (unsigned i = 0; i < sets.lines; i++) {
            seen |= line[i] == at;
            same += line[i] % count == at % count;
        }
        if (seen)
            continue;
        line[sets.lines++] = at;
        sets.used += !same;
        sets.most = same + 1 > sets.most ? same + 1 : sets.most;
    }
    return sets;
}

/* Lines of one instruction compete for a few sets of L1, and are evicted before they are used up; if rows
 * were a line longer, those of all waves would fit. */
static bool cache_sets(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_cache *cache = &s->gpu->cache[WM_CACHE_VECTOR];
    const struct wmi_family *family = s->family;
    if (!family || !cache->bytes || s->kind != WMI_ACCESS_LOAD || s->in_scratch || !(family->l2_loaded > 0))
        return false;
    const struct sets now = sets_of(s, cache, 0), then = sets_of(s, cache, cache->line);
    const double once = less(family->loaded / family->l2_loaded, 1);
    if (2 * then.most > now.most || once > 0.5 || then.most * s->waves_at_once > cache->ways)
        return false;
    after->cache[WM_CACHE_L2].bytes = scaled(s->row->cache[WM_CACHE_L2].bytes, once);
    if (family->memory > 0)
        after->memory_read = scaled(after->memory_read, family->requested / family->memory);
    if (family->last > 0)
        after->cache[WM_CACHE_LAST].requests =
            scaled(after->cache[WM_CACHE_LAST].requests, less(family->requested / family->last, 1));
    return true;
}

static void say_cache_sets(const struct wmi_affected *p, struct wmi_texts *t)
{
    const struct wm_cache *cache = &p->lead->gpu->cache[WM_CACHE_VECTOR];
    const struct sets sets = sets_of(p->lead, cache, 0);
    wmi_format(t->verdict, sizeof t->verdict, "lines evict each other from a few sets of the vector cache");
    wmi_format(t->numbers, sizeof t->numbers,
               "lanes are %" PRIu64 " B apart: %u lines fall into %u of %" PRIu64
               " sets of %u; L2 delivers %.4g bytes for each requested byte",
               p->lead->shape.stride, sets.lines, sets.used, cache->bytes / cache->line / cache->ways,
               cache->ways, (double)p->now.cache[WM_CACHE_L2].bytes / (double)p->now.distinct_bytes);
    wmi_format(t->change, sizeof t->change, "pad each row by a line of %u bytes", cache->line);
}

/* Loads that bypass L1, which is large enough for all that they load: each L1 would load it once. */
static bool uncached(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wmi_family *family = s->family;
    if (!family || !s->bypasses || s->kind != WMI_ACCESS_LOAD || !(family->memory > 0) ||
        family->memory > (double)s->gpu->cache[WM_CACHE_VECTOR].bytes)
        return false;
    const double share = less(family->memory * s->units / family->l2_loaded, 1);
    after->cache[WM_CACHE_L2].bytes = scaled(s->row->cache[WM_CACHE_L2].bytes, share);
    after->cache[WM_CACHE_VECTOR].hits = scaled(s->row->cache[WM_CACHE_VECTOR].requests, 1 - share);
    return true;
}

static void say_uncached(const struct wmi_affected *p, struct wmi_texts *t)
{
    wmi_format(t->verdict, sizeof t->verdict, "loads bypass the vector cache");
    wmi_format(t->numbers, sizeof t->numbers,
               "%" PRIu64 " B come from L2, %" PRIu64 " B of them from memory; L1 has %" PRIu64 " B",
               p->now.cache[WM_CACHE_L2].bytes, p->now.memory_read,
               p->lead->gpu->cache[WM_CACHE_VECTOR].bytes);
    wmi_format(t->change, sizeof t->change,
               "if nobody changes the data meanwhile, load it without volatile, atomics and cache policies");
}

/* ---- EXEC ---- */

static bool idle_lanes(const struct wmi_suspect *s, struct wm_profile_row *after)
{
    const struct wm_profile_row *row = s->row;
    if ((!row->has_vector && !row->has_lds) || (double)row->lanes >= s->room || row->lanes <= row->executions)
        return false; /* a single lane is on purpose */
    const double share = (double)row->lanes / s->room;
    /* Lanes of other waves fill the gaps; unless they are on lines of their own, for which nothing changes.
     */
    const double lines = s->room / (double)row->executions * row->bytes / row->line_bytes + 1;
    const bool fills = s->family && (double)row->lines <= (double)s->active * lines;
    if (fills)
        make_contiguous(s, after);
    after->executions = scaled(row->executions, share);
    after->lds_passes = scaled(row->lds_passes, share);
    if (!s->family)
        return true;
    after->data_clocks = full_data(s);
    after->address_clocks = at_most(row->address_clocks, (double)s->active * share * s->contiguous.clocks);
    if (fills)
        after->tag_clocks = at_most(row->tag_clocks, (double)s->active * share * s->contiguous.tags);
    return true;
}

static void say_idle_lanes(const struct wmi_affected *p, struct wmi_texts *t)
{
    wmi_format(t->verdict, sizeof t->verdict, "diverging branches leave lanes idle");
    wmi_format(
        t->numbers, sizeof t->numbers,
        "%.4g lanes are active on average in %zu memory instruction%s, which cost as much as for a full wave",
        (double)p->now.lanes / (double)p->now.executions, p->rows, p->rows == 1 ? "" : "s");
    wmi_format(t->change, sizeof t->change,
               "let all lanes of a wave take the same branch: sort or bin the work by it, or select values "
               "instead of branching");
}

/* The order decides between findings of the same gain. */
const struct wmi_cause wmi_causes[] = {
    {"lds-uniform", WMI_EACH_LINE, false, false, 0, uniform_lds, say_uniform_lds},
    {"lds-misaligned", WMI_EACH_LINE, false, true, 0, misaligned_lds, say_misaligned_lds},
    {"bank-conflicts", WMI_WHOLE_KERNEL, false, true, 0, bank_conflicts, say_bank_conflicts},
    {"scratch", WMI_WHOLE_KERNEL, false, false, 0, scratch, say_scratch},
    {"uniform-load", WMI_EACH_LINE, false, false, 0, uniform_load, say_uniform_load},
    {"atomics", WMI_EACH_LINE, false, true, 0, shared_atomics, say_shared_atomics},
    {"one-by-one", WMI_EACH_FAMILY, false, false, 0, one_by_one, say_one_by_one},
    {"structure", WMI_EACH_FAMILY, false, true, 0, structure, say_structure},
    {"uncoalesced", WMI_EACH_LINE, false, true, 0, uncoalesced, say_uncoalesced},
    {"off-line", WMI_EACH_LINE, false, false, 0, off_line, say_off_line},
    {"scattered", WMI_EACH_LINE, false, true, 0, scattered, say_scattered},
    {"cache-sets", WMI_EACH_LINE, false, false, 0, cache_sets, say_cache_sets},
    {"uncached", WMI_EACH_LINE, false, false, 0, uncached, say_uncached},
    {"narrow", WMI_EACH_LINE, false, false, 1, narrow, say_narrow},
    {"divergence", WMI_WHOLE_KERNEL, true, false, 0, idle_lanes, say_idle_lanes},
};
const size_t wmi_cause_count = sizeof wmi_causes / sizeof *wmi_causes;
