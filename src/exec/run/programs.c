/* SPDX-License-Identifier: MIT */
/* Keeps the programs of a machine between dispatches. */
#include "exec/run/programs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PROGRAMS = 256,
    MOST_STEPS = 1 << 18,       /* of all programs: 13 MB */
    MOST_HOST_CODE = 128 << 20, /* bytes of all programs */
};

struct wmi_programs {
    pthread_mutex_t lock;
    struct wmi_program *program[MOST_PROGRAMS]; /* most recently used first */
    unsigned count;
};

struct wmi_programs *wmi_programs_create(void)
{
    struct wmi_programs *programs = calloc(1, sizeof *programs);
    if (programs)
        pthread_mutex_init(&programs->lock, NULL);
    return programs;
}

void wmi_programs_destroy(struct wmi_programs *programs)
{
    if (!programs)
        return;
    for (unsigned i = 0; i < programs->count; i++)
        wmi_program_destroy(programs->program[i]);
    pthread_mutex_destroy(&programs->lock);
    free(programs);
}

static struct wmi_program *remove_at(struct wmi_programs *programs, unsigned at)
{
    struct wmi_program *program = programs->program[at];
    programs->count--;
    memmove(&programs->program[at], &programs->program[at + 1],
            (programs->count - at) * sizeof programs->program[at]);
    return program;
}

struct wmi_program *wmi_programs_take(struct wmi_programs *programs, const struct wmi_code_options *options,
                                      enum wmi_cpu_level level)
{
    struct wmi_program *found = NULL;
    pthread_mutex_lock(&programs->lock);
    for (unsigned i = 0; i < programs->count && !found; i++)
        if (wmi_program_serves(programs->program[i], options, level))
            found = remove_at(programs, i);
    pthread_mutex_unlock(&programs->lock);
    return found ? found : wmi_program_create(options, level);
}

void wmi_programs_give(struct wmi_programs *programs, struct wmi_program *program)
{
    struct wmi_program *too_many[MOST_PROGRAMS];
    unsigned count = 0;
    size_t steps = 0, host_code = 0;
    if (!program)
        return;
    if (wmi_program_code(program)->options.observers.count || wmi_program_code(program)->words.unknown) {
        wmi_program_destroy(program);
        return;
    }
    pthread_mutex_lock(&programs->lock);
    if (programs->count == MOST_PROGRAMS)
        too_many[count++] = remove_at(programs, MOST_PROGRAMS - 1);
    memmove(&programs->program[1], &programs->program[0], programs->count * sizeof programs->program[0]);
    programs->program[0] = program;
    programs->count++;
    for (unsigned i = 0; i < programs->count; i++) {
        steps += wmi_program_steps(programs->program[i]);
        host_code += wmi_program_compiled(programs->program[i]).bytes;
    }
    while (steps > MOST_STEPS || host_code > MOST_HOST_CODE) {
        struct wmi_program *last = remove_at(programs, programs->count - 1);
        steps -= wmi_program_steps(last);
        host_code -= wmi_program_compiled(last).bytes;
        too_many[count++] = last;
    }
    pthread_mutex_unlock(&programs->lock);
    while (count)
        wmi_program_destroy(too_many[--count]);
}
