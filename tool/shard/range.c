/* SPDX-License-Identifier: MIT */
/* I/N of --shard, from the command line or from what started the process. */
#include "tool/shard/range.h"

#include "tool/shard/footprint.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Launchers of several processes, each with the number of a process, from 0 on, and how many there are. Those
 * that may run inside another come first. Sources: Open MPI, "Environment variables"; MPICH's PMI; Slurm,
 * srun(1), "OUTPUT ENVIRONMENT VARIABLES". */
static const struct {
    const char *name, *rank, *size;
} launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS"},
};

/* Sets *number; false, after a message: the variable is no number. */
static bool read_number(const char *name, uint64_t *number)
{
    const char *text = getenv(name);
    if (text && tool_parse_u64(text, number))
        return true;
    tool_fail("--shard auto: %s is %s%s%s; expected a number", name, text ? "'" : "", text ? text : "not set",
              text ? "'" : "");
    return false;
}

/* The place in a Slurm array, whose ids go from MIN to MAX in steps. */
static bool read_array(struct tool_range *range)
{
    uint64_t id, low, high, step = 1, count;
    if (!read_number("SLURM_ARRAY_TASK_ID", &id) || !read_number("SLURM_ARRAY_TASK_MIN", &low) ||
        !read_number("SLURM_ARRAY_TASK_MAX", &high) || !read_number("SLURM_ARRAY_TASK_COUNT", &count) ||
        (getenv("SLURM_ARRAY_TASK_STEP") && !read_number("SLURM_ARRAY_TASK_STEP", &step)))
        return false;
    if (!step || id < low || id > high || (id - low) % step || (high - low) / step + 1 != count) {
        tool_fail("--shard auto: task %" PRIu64 " of a Slurm array of %" PRIu64 " tasks from %" PRIu64
                  " to %" PRIu64 "; expected an array without gaps, such as 1-%" PRIu64,
                  id, count, low, high, count);
        return false;
    }
    *range = (struct tool_range){(id - low) / step, count};
    return true;
}

static bool read_environment(struct tool_range *range)
{
    struct tool_range array = {0, 1}, process = {0, 1};
    const bool is_array = getenv("SLURM_ARRAY_TASK_ID");
    bool found = is_array;
    if (is_array && !read_array(&array))
        return false;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (!getenv(launchers[i].rank))
            continue;
        if (!read_number(launchers[i].rank, &process.index) ||
            !read_number(launchers[i].size, &process.count))
            return false;
        if (process.index >= process.count) {
            tool_fail("--shard auto: %s is %" PRIu64 " of %" PRIu64, launchers[i].rank, process.index,
                      process.count);
            return false;
        }
        found = true;
        break;
    }
    if (!found) {
        tool_fail("--shard auto: neither Slurm nor Open MPI nor PMI started this process; expected "
                  "SLURM_PROCID, SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK or PMI_RANK");
        return false;
    }
    range->index = array.index * process.count + process.index;
    return !__builtin_mul_overflow(array.count, process.count, &range->count);
}

bool tool_parse_range(const char *option, const char *text, struct tool_range *range)
{
    const char *slash = strchr(text, '/');
    char index[24];
    if (!strcmp(text, "auto"))
        return read_environment(range);
    const size_t length = slash ? (size_t)(slash - text) : sizeof index;
    if (length < sizeof index) {
        memcpy(index, text, length);
        index[length] = 0;
        if (tool_parse_u64(index, &range->index) && tool_parse_u64(slash + 1, &range->count) &&
            range->index-- && range->index < range->count)
            return true;
    }
    tool_fail("%s %s: expected I/N, part I of N from 1 on, such as 1/4, or auto", option, text);
    return false;
}

void tool_range_of(const struct tool_range *range, uint64_t all, uint64_t *first, uint64_t *count)
{
    const uint64_t each = all / range->count, more = all % range->count;
    *first = each * range->index + (range->index < more ? range->index : more);
    *count = each + (range->index < more);
}

void tool_workgroups_of(const struct tool_range *range, uint64_t all, uint64_t cluster, uint64_t *first,
                        uint64_t *count)
{
    tool_range_of(range, all / cluster, first, count);
    *first *= cluster;
    *count *= cluster;
}

char *tool_range_path(const char *path, const struct tool_range *range)
{
    char *made;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    if (!out)
        return NULL;
    for (const char *at; (at = strstr(path, "%i")); path = at + 2)
        fprintf(out, "%.*s%" PRIu64, (int)(at - path), path, range->index + 1);
    fputs(path, out);
    return fclose(out) ? NULL : made;
}

void tool_shard_free(struct tool_shard *shard)
{
    for (size_t i = 0; i < shard->count; i++)
        footprint_destroy(shard->dispatches[i].footprint);
    free(shard->dispatches);
    json_decref(shard->found);
    json_decref(shard->head);
    free(shard->body);
    free(shard->path);
}
