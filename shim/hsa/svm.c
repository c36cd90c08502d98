/* SPDX-License-Identifier: MIT */
/* Shared virtual memory: memory of the host that kernels reach at its own address, as managed memory does.
 * Attributes are hints except for access. Nothing tells the runtime when such memory is unmapped, so munmap()
 * is defined here, in place of the driver's MMU notifier. Sources: ROCR 5.2, Runtime::SetSvmAttrib,
 * GetSvmAttrib and SvmPrefetch; Linux, kfd_svm.c, svm_range_set_default_attributes and svm_range_get_attr. */
#include "shim.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, DEFAULT_GRANULARITY = 9 };
enum access { NONE, MIGRATES, IN_PLACE };

/* A range that GPUs have access to. Areas do not overlap. */
struct area {
    struct area *next;
    uint64_t low, high;
    uint32_t gpus; /* mask of GPUs */
    struct shim_site site;
};

/* The attributes of a range of whole pages. Pieces do not overlap. */
struct piece {
    struct piece *next;
    uint64_t low, high;
    uint64_t flags[HSA_AMD_SVM_ATTRIB_HIVE_LOCAL + 1]; /* by attribute */
    bool read_mostly;
    uint64_t granularity, preferred, prefetched; /* agents; 0: none */
    enum access access[1 + SHIM_GPUS];           /* [0]: of the host */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct area *areas;
static struct piece *pieces;
static uint64_t lowest = UINT64_MAX, highest; /* bounds of all areas so far; atomic */
static _Thread_local bool inside;             /* this thread holds the lock */

static void enter(void)
{
    pthread_mutex_lock(&lock);
    inside = true;
}

static void leave(void)
{
    inside = false;
    pthread_mutex_unlock(&lock);
}

static uint64_t page_below(uint64_t address)
{
    return address / PAGE * PAGE;
}

static uint64_t page_above(uint64_t address)
{
    return page_below(address + PAGE - 1);
}

/* ---- areas ---- */

static void hide(struct area *area)
{
    for (unsigned i = 0; i < shim_device()->gpu_count; i++)
        if (area->gpus >> i & 1)
            wm_free(shim_device()->gpus[i].machine, area->low, NULL);
    area->gpus = 0;
}

static hsa_status_t show(struct area *area, uint32_t gpus, bool writable)
{
    struct wm_diag diag = {0};
    if (!area->gpus)
        shim_lose_locks(area->low, area->high - area->low);
    for (unsigned i = 0; i < shim_device()->gpu_count; i++)
        if ((gpus & ~area->gpus) >> i & 1) {
            if (wm_map_host(shim_device()->gpus[i].machine, (void *)(uintptr_t)area->low,
                            area->high - area->low, 0, writable ? 0 : WM_READ_ONLY, "managed memory", &diag))
                return HSA_STATUS_ERROR; /* other memory of the runtime */
            area->gpus |= UINT32_C(1) << i;
        }
    return HSA_STATUS_SUCCESS;
}

static struct area *add_area(uint64_t low, uint64_t high)
{
    struct area *area = calloc(1, sizeof *area);
    if (!area)
        return NULL;
    area->next = areas;
    area->low = low;
    area->high = high;
    areas = area;
    if (low < lowest)
        __atomic_store_n(&lowest, low, __ATOMIC_RELEASE);
    if (high > highest)
        __atomic_store_n(&highest, high, __ATOMIC_RELEASE);
    return area;
}

static bool overlaps(uint64_t low, uint64_t high, uint64_t from, uint64_t to)
{
    return low < to && high > from;
}

/* Removes the range from all areas, whose remaining parts stay. */
static void cut_areas(uint64_t from, uint64_t to)
{
    for (struct area **at = &areas; *at;) {
        struct area *area = *at;
        if (!overlaps(area->low, area->high, from, to)) {
            at = &area->next;
            continue;
        }
        const struct area old = *area;
        hide(area);
        *at = area->next;
        free(area);
        const uint64_t rest[2][2] = {{old.low, from}, {to, old.high}};
        for (unsigned i = 0; i < SHIM_COUNT(rest); i++) {
            struct area *left = rest[i][0] < rest[i][1] ? add_area(rest[i][0], rest[i][1]) : NULL;
            if (left) {
                left->site = old.site;
                show(left, old.gpus, true);
            }
        }
        at = &areas; /* the list has changed */
    }
}

static struct area *find_area(uint64_t low, uint64_t high)
{
    struct area *at = areas;
    while (at && (low < at->low || high > page_above(at->high)))
        at = at->next;
    return at;
}

/* Gives the GPUs access. Memory of the program without access so far becomes an area of exactly these
 * bytes. */
static hsa_status_t give_access(uint64_t low, uint64_t size, uint32_t gpus, bool writable)
{
    struct area *area = find_area(low, low + size);
    if (!area) {
        uint64_t from = low, to = low + size;
        for (const struct area *at = areas; at; at = at->next)
            if (overlaps(at->low, at->high, low, low + size)) {
                gpus |= at->gpus;
                from = at->low < from ? at->low : from;
                to = at->high > to ? at->high : to;
            }
        cut_areas(from, to);
        area = add_area(from, to);
        if (!area)
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        shim_note_site(&area->site);
    }
    const hsa_status_t status = show(area, gpus, writable);
    if (status && !area->gpus)
        cut_areas(area->low, area->high);
    return status;
}

bool shim_svm_nearest(const struct shim_gpu *gpu, uint64_t address, uint64_t *distance,
                      struct shim_allocation *near)
{
    bool found = false;
    if (inside)
        return false;
    enter();
    for (const struct area *at = areas; at; at = at->next) {
        const uint64_t away = address < at->low     ? at->low - address
                              : address >= at->high ? address - at->high + 1
                                                    : 0;
        if (away >= *distance)
            continue;
        found = true;
        *distance = away;
        *near = (struct shim_allocation){.low = at->low,
                                         .size = at->high - at->low,
                                         .kind = "managed memory",
                                         .site = at->site,
                                         .is_hidden = gpu && !(at->gpus >> gpu->number & 1)};
    }
    leave();
    return found;
}

/* ---- pieces ---- */

static struct piece *add_piece(const struct piece *like, uint64_t low, uint64_t high)
{
    struct piece *piece = malloc(sizeof *piece);
    if (!piece)
        return NULL;
    *piece = *like;
    piece->low = low;
    piece->high = high;
    piece->next = pieces;
    pieces = piece;
    return piece;
}

static const struct piece by_default = {.flags = {HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED},
                                        .granularity = DEFAULT_GRANULARITY,
                                        .access = {MIGRATES}};

/* Splits and adds pieces so that they cover exactly these pages. False: no memory. */
static bool split(uint64_t low, uint64_t high)
{
    uint64_t covered = 0;
    for (struct piece *at = pieces; at; at = at->next) {
        if (!overlaps(at->low, at->high, low, high))
            continue;
        if (at->high > high) {
            if (!add_piece(at, high, at->high))
                return false;
            at->high = high;
        }
        if (at->low < low) {
            if (!add_piece(at, at->low, low))
                return false;
            at->low = low;
        }
        covered += at->high - at->low;
    }
    for (uint64_t from = low; covered < high - low;) { /* fills the gaps */
        uint64_t to = high, behind = 0;
        for (const struct piece *at = pieces; at; at = at->next)
            if (at->low <= from && at->high > from)
                behind = at->high;
            else if (at->low > from && at->low < to)
                to = at->low;
        if (!behind && !add_piece(&by_default, from, to))
            return false;
        covered += behind ? 0 : to - from;
        from = behind ? behind : to;
    }
    return true;
}

static void drop_pieces(uint64_t low, uint64_t high)
{
    if (!split(low, high))
        return;
    for (struct piece **at = &pieces; *at;) {
        struct piece *piece = *at;
        if (overlaps(piece->low, piece->high, low, high)) {
            *at = piece->next;
            free(piece);
        } else {
            at = &piece->next;
        }
    }
}

/* ---- attributes ---- */

static bool is_access(uint64_t attribute)
{
    return attribute >= HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE &&
           attribute <= HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
}

static hsa_status_t check_pair(const hsa_amd_svm_attribute_pair_t *pair)
{
    const hsa_agent_t agent = {pair->value};
    switch (pair->attribute) {
    case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
        return pair->value <= HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED ? HSA_STATUS_SUCCESS
                                                                     : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    case HSA_AMD_SVM_ATTRIB_READ_ONLY:
    case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
    case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
    case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
        return !pair->value || shim_is_agent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
    default:
        if (!is_access(pair->attribute))
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        return shim_is_agent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
    }
}

/* Whether an attribute occurs twice. */
static bool is_twice(const hsa_amd_svm_attribute_pair_t *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (is_access(pairs[i].attribute)
                    ? is_access(pairs[k].attribute) && pairs[i].value == pairs[k].value
                    : pairs[i].attribute == pairs[k].attribute)
                return true;
    return false;
}

static void set(struct piece *piece, const hsa_amd_svm_attribute_pair_t *pair)
{
    switch (pair->attribute) {
    case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
    case HSA_AMD_SVM_ATTRIB_READ_ONLY:
    case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
        piece->flags[pair->attribute] = pair->attribute ? !!pair->value : pair->value;
        break;
    case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY: {
        enum { MOST = 18 }; /* 1 GiB */
        piece->granularity = pair->value < MOST ? pair->value : MOST;
        break;
    }
    case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
        piece->read_mostly = pair->value;
        break;
    case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
        piece->preferred = pair->value;
        break;
    default:
        piece->access[1 + shim_gpu((hsa_agent_t){pair->value})] =
            pair->attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE            ? MIGRATES
            : pair->attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE ? IN_PLACE
                                                                              : NONE;
    }
}

/* A GPU loses access only to whole areas. */
static hsa_status_t set_all(uint64_t low, uint64_t size, const hsa_amd_svm_attribute_pair_t *pairs,
                            size_t count, bool writable)
{
    uint32_t gives = 0, takes = 0;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    const uint64_t from = page_below(low), to = page_above(low + size);
    for (size_t i = 0; i < count; i++) {
        const int gpu = is_access(pairs[i].attribute) ? shim_gpu((hsa_agent_t){pairs[i].value}) : -1;
        if (gpu >= 0)
            *(pairs[i].attribute == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS ? &takes : &gives) |= UINT32_C(1)
                                                                                             << gpu;
    }
    if (gives)
        status = give_access(low, size, gives, writable);
    else if (!find_area(low, low + size) && shim_gpu_at(low)) /* other memory of the runtime */
        status = HSA_STATUS_ERROR;
    for (struct area *at = areas; at && takes && !status; at = at->next)
        if (at->low >= from && at->high <= to) {
            const uint32_t left = at->gpus & ~takes;
            hide(at);
            status = show(at, left, writable);
        }
    if (!status && !split(from, to))
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (struct piece *at = pieces; at && !status; at = at->next)
        for (size_t i = 0; i < count && overlaps(at->low, at->high, from, to); i++)
            set(at, &pairs[i]);
    return status;
}

SHIM_API hsa_status_t hsa_amd_svm_attributes_set(void *pointer, size_t size,
                                                 hsa_amd_svm_attribute_pair_t *pairs, size_t count)
{
    const uint64_t low = (uintptr_t)pointer;
    bool writable;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pointer || !size || (count && !pairs) || size > UINT64_MAX - PAGE - low)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        const hsa_status_t status = check_pair(&pairs[i]);
        if (status)
            return status;
    }
    if (is_twice(pairs, count))
        return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    if (!shim_is_mapped(low, size, &writable))
        return HSA_STATUS_ERROR;
    enter();
    const hsa_status_t status = set_all(low, size, pairs, count, writable);
    leave();
    return status;
}

static void get(const struct piece *piece, bool first, hsa_amd_svm_attribute_pair_t *pair)
{
    static const uint64_t attributes[] = {[NONE] = HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS,
                                          [MIGRATES] = HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE,
                                          [IN_PLACE] = HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE};
    uint64_t value;
    switch (pair->attribute) {
    case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG:
        value = piece->flags[0];
        pair->value = first || pair->value == value ? value : (uint64_t)HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE;
        break;
    case HSA_AMD_SVM_ATTRIB_READ_ONLY:
    case HSA_AMD_SVM_ATTRIB_HIVE_LOCAL:
        pair->value = piece->flags[pair->attribute] && (first || pair->value);
        break;
    case HSA_AMD_SVM_ATTRIB_READ_MOSTLY:
        pair->value = piece->read_mostly && (first || pair->value);
        break;
    case HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY:
        value = piece->granularity;
        pair->value = first || value < pair->value ? value : pair->value;
        break;
    case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
    case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION:
        value =
            pair->attribute == HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION ? piece->preferred : piece->prefetched;
        pair->value = first || pair->value == value ? value : 0;
        break;
    default: /* a query of access, or the combined result of it for the previous pieces */
        value = attributes[piece->access[1 + shim_gpu((hsa_agent_t){pair->value})]];
        pair->attribute = first || pair->attribute == value ? value : HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
    }
}

SHIM_API hsa_status_t hsa_amd_svm_attributes_get(void *pointer, size_t size,
                                                 hsa_amd_svm_attribute_pair_t *pairs, size_t count)
{
    const uint64_t low = page_below((uintptr_t)pointer);
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pointer || !size || (count && !pairs) || size > UINT64_MAX - PAGE - (uintptr_t)pointer)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const uint64_t high = page_above((uintptr_t)pointer + size);
    for (size_t i = 0; i < count; i++)
        if (pairs[i].attribute == HSA_AMD_SVM_ATTRIB_ACCESS_QUERY) {
            if (!shim_is_agent((hsa_agent_t){pairs[i].value}))
                return HSA_STATUS_ERROR_INVALID_AGENT;
        } else if (is_access(pairs[i].attribute) || pairs[i].attribute > HSA_AMD_SVM_ATTRIB_ACCESS_QUERY) {
            return HSA_STATUS_ERROR_INVALID_ARGUMENT;
        }
    enter();
    bool first = true;
    uint64_t covered = 0;
    for (const struct piece *at = pieces; at; at = at->next)
        if (overlaps(at->low, at->high, low, high)) {
            for (size_t i = 0; i < count; i++)
                get(at, first, &pairs[i]);
            covered += (at->high < high ? at->high : high) - (at->low > low ? at->low : low);
            first = false;
        }
    for (size_t i = 0; i < count && covered < high - low; i++)
        get(&by_default, first, &pairs[i]);
    leave();
    return HSA_STATUS_SUCCESS;
}

/* Moves nothing, because host and GPUs share one memory here. */
SHIM_API hsa_status_t hsa_amd_svm_prefetch_async(void *pointer, size_t size, hsa_agent_t agent,
                                                 uint32_t count, const hsa_signal_t *signals,
                                                 hsa_signal_t completion)
{
    const uint64_t low = (uintptr_t)pointer;
    bool writable;
    if (!shim_device())
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (!pointer || !size || size > UINT64_MAX - PAGE - low)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!shim_is_agent(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!shim_is_mapped(low, size, &writable))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    enter();
    const bool ok = split(page_below(low), page_above(low + size));
    for (struct piece *at = pieces; at && ok; at = at->next)
        if (overlaps(at->low, at->high, page_below(low), page_above(low + size)))
            at->prefetched = agent.handle;
    leave();
    return ok ? shim_complete_after(count, signals, completion) : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* ---- the end of memory ---- */

void shim_svm_unmapped(uint64_t low, uint64_t size)
{
    const uint64_t high = low + size;
    if (inside || !shim_device() || high <= low || low >= __atomic_load_n(&highest, __ATOMIC_ACQUIRE) ||
        high <= __atomic_load_n(&lowest, __ATOMIC_ACQUIRE))
        return;
    enter();
    cut_areas(low, page_above(high));
    drop_pieces(page_below(low), page_above(high));
    leave();
}

/* Replaces munmap() of libc if the runtime is preloaded, as by `wavemem exec`: kernels lose access to
 * unmapped memory. */
SHIM_API int munmap(void *address, size_t size)
{
    shim_svm_unmapped((uintptr_t)address, size);
    return (int)syscall(SYS_munmap, address, size);
}
