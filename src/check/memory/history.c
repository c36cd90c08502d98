/* SPDX-License-Identifier: MIT */
/* What has become of a machine's allocations. */
#include "check/memory/history.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FREED = 1 << 16 /* freed allocations that are remembered */ };

void wmi_history_init(struct wmi_history *history)
{
    *history = (struct wmi_history){0};
    pthread_mutex_init(&history->lock, NULL);
}

static void free_list(struct wmi_past_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entry[i].name);
    free(list->entry);
}

static void free_unused(struct wmi_history *history)
{
    for (struct wmi_past_name *name = history->unused, *next; name; name = next) {
        next = name->next;
        free(name);
    }
    history->unused = NULL;
}

void wmi_history_destroy(struct wmi_history *history)
{
    free_list(&history->live);
    free_list(&history->freed);
    free_unused(history);
    pthread_mutex_destroy(&history->lock);
}

void wmi_history_begin_use(struct wmi_history *history)
{
    pthread_mutex_lock(&history->lock);
    history->in_use = true;
    pthread_mutex_unlock(&history->lock);
}

void wmi_history_end_use(struct wmi_history *history)
{
    pthread_mutex_lock(&history->lock);
    history->in_use = false;
    free_unused(history);
    pthread_mutex_unlock(&history->lock);
}

/* ---- lists ---- */

/* Index of the first entry that ends above `address`. */
static size_t upper(const struct wmi_past_list *list, uint64_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->entry[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void release_name(struct wmi_history *history, struct wmi_past_name *name)
{
    if (history->in_use) {
        name->next = history->unused;
        history->unused = name;
    } else {
        free(name);
    }
}

static void remove_entries(struct wmi_history *history, struct wmi_past_list *list, size_t at, size_t count)
{
    if (!count)
        return;
    for (size_t i = at; i < at + count; i++)
        release_name(history, list->entry[i].name);
    memmove(&list->entry[at], &list->entry[at + count], (list->count - at - count) * sizeof *list->entry);
    list->count -= count;
}

static void remove_overlaps(struct wmi_history *history, struct wmi_past_list *list, uint64_t low,
                            uint64_t high)
{
    const size_t first = upper(list, low);
    size_t last = first;
    while (last < list->count && list->entry[last].low < high)
        last++;
    remove_entries(history, list, first, last - first);
}

/* False: no memory. */
static bool insert(struct wmi_past_list *list, struct wmi_past_allocation entry)
{
    if (!wmi_grow(&list->entry, &list->capacity, list->count, sizeof entry))
        return false;
    const size_t at = upper(list, entry.low);
    memmove(&list->entry[at + 1], &list->entry[at], (list->count - at) * sizeof entry);
    list->entry[at] = entry;
    list->count++;
    return true;
}

/* ---- events ---- */

/* An entry with a name of its own, which is NULL if there is no memory. */
static struct wmi_past_allocation entry_of(const struct wm_memory *memory)
{
    const char *text = memory->name ? memory->name : "";
    const size_t size = strlen(text) + 1;
    struct wmi_past_name *name = malloc(sizeof *name + size);
    if (name)
        memcpy(name->text, text, size);
    return (struct wmi_past_allocation){memory->address, memory->address + memory->size, name};
}

/* Takes the entry. */
static void add(struct wmi_history *history, struct wmi_past_list *list, struct wmi_past_allocation entry)
{
    remove_overlaps(history, list, entry.low, entry.high);
    if (!entry.name || !insert(list, entry)) {
        history->missed = true;
        free(entry.name);
    }
}

static void allocate(struct wmi_history *history, const struct wm_memory *memory)
{
    const struct wmi_past_allocation entry = entry_of(memory);
    remove_overlaps(history, &history->freed, entry.low, entry.high);
    add(history, &history->live, entry);
}

static void release(struct wmi_history *history, const struct wm_memory *memory)
{
    const struct wmi_past_allocation entry = entry_of(memory);
    remove_overlaps(history, &history->live, entry.low, entry.high);
    if (history->freed.count == FREED) /* addresses ascend, so the lowest are the oldest */
        remove_entries(history, &history->freed, 0, FREED / 2);
    add(history, &history->freed, entry);
}

void wmi_history_see(struct wmi_history *history, const struct wm_event *event)
{
    if (event->memory.is_own)
        return;
    pthread_mutex_lock(&history->lock);
    if (event->kind == WM_EVENT_FREE)
        release(history, &event->memory);
    else if (event->kind == WM_EVENT_ALLOCATE || event->kind == WM_EVENT_MAP)
        allocate(history, &event->memory);
    pthread_mutex_unlock(&history->lock);
}

bool wmi_history_freed(struct wmi_history *history, uint64_t address, struct wmi_past_allocation *found)
{
    pthread_mutex_lock(&history->lock);
    const size_t at = upper(&history->freed, address);
    const bool is_freed = at < history->freed.count && history->freed.entry[at].low <= address;
    if (is_freed)
        *found = history->freed.entry[at];
    pthread_mutex_unlock(&history->lock);
    return is_freed;
}

void wmi_history_visit(struct wmi_history *history,
                       void (*visit)(void *user, const struct wmi_past_allocation *allocation), void *user)
{
    pthread_mutex_lock(&history->lock);
    for (size_t i = 0; i < history->live.count; i++)
        visit(user, &history->live.entry[i]);
    pthread_mutex_unlock(&history->lock);
}
