/* SPDX-License-Identifier: MIT */
/* What a dispatch lacks: a message that lists all of it, or with --guess values made up from the metadata. */
#include "tool/arguments/formals.h"
#include "tool/arguments/job.h"
#include "tool/text.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is missing ---- */

static bool is_given(const struct tool_dispatch *d, size_t formal)
{
    for (size_t i = 0; i < d->arguments.count; i++)
        if (tool_find_argument(d, d->arguments.pairs[i].key) == formal)
            return true;
    return false;
}

/* Whether the kernel's metadata tells which buffers are only read. */
static bool knows_const(const struct tool_dispatch *d)
{
    bool any = false;
    for (size_t i = 0; i < d->formals; i++)
        any |= d->formal[i].is_const;
    return any;
}

/* The recipe for a buffer's elements. */
static const char *recipe_for(const struct tool_dispatch *d, const struct wm_argument *formal,
                              const struct tool_type *element)
{
    if (!formal->is_const && knows_const(d))
        return "zero";
    return element->kind == 'f' ? "rand" : "iota"; /* integers may be indices of other buffers */
}

/* The form of a value for --arg, "zero:f32:N". */
static void value_form(const struct tool_dispatch *d, const struct wm_argument *formal, char text[80])
{
    const struct tool_source_type type = tool_source_type(formal->type_name);
    switch (formal->kind) {
    case WM_ARGUMENT_GLOBAL_BUFFER:
        if (type.element)
            snprintf(text, 80, "%s:%s:N", recipe_for(d, formal, type.element), type.element->name);
        else
            snprintf(text, 80, "zeros:BYTES");
        break;
    case WM_ARGUMENT_DYNAMIC_LDS:
        snprintf(text, 80, "lds:BYTES");
        break;
    case WM_ARGUMENT_IMAGE:
        snprintf(text, 80, "image2d:f32x4:W,H:@FILE.npy");
        break;
    case WM_ARGUMENT_SAMPLER:
        snprintf(text, 80, "sampler:linear,edge,normalized");
        break;
    default:
        snprintf(text, 80, "VALUE");
    }
}

static void print_missing(const char *option, const char *what)
{
    tool_print(stderr, "  %-32s  %s\n", option, what);
}

static int list_missing(const struct tool_dispatch *d, size_t arguments)
{
    const bool grid = !d->has_grid, workgroup = !d->has_workgroup && !d->kernel->required_workgroup[0];
    const size_t count = arguments + grid + workgroup;
    tool_fail("%s%s needs %s; --guess makes %s up:", d->where, d->kernel->source_name,
              count == 1 ? "one more option" : "more options", count == 1 ? "it" : "them");
    if (grid)
        print_missing("-g X[,Y[,Z]]", "work-items of the whole grid; or --blocks: workgroups");
    if (workgroup)
        print_missing("-b X[,Y[,Z]]", "work-items of a workgroup");
    for (size_t i = 0; i < d->formals && arguments; i++) {
        const struct wm_argument *formal = &d->formal[i];
        char option[200], key[81], form[80], title[120], type[80];
        if (is_given(d, i))
            continue;
        value_form(d, formal, form);
        tool_argument_title(d, i, title, sizeof title);
        tool_describe_type(formal, type, sizeof type);
        tool_argument_key(d, i, key, sizeof key);
        snprintf(option, sizeof option, "--arg %s=%s", key, form);
        char what[240];
        snprintf(what, sizeof what, "%s: %s", title, type);
        print_missing(option, what);
    }
    return TOOL_WRONG;
}

/* ---- guesses ---- */

/* Sizes that suit most kernels: items of a workgroup, and of the grid. A kernel in one dimension with several
 * integers is likely to have a matrix, of as many columns as the grid has items. */
static const uint32_t usual_workgroup[3][3] = {{256, 1, 1}, {16, 16, 1}, {8, 8, 4}};
static const uint32_t usual_grid[3][3] = {{4096, 1, 1}, {64, 64, 1}, {16, 16, 16}}, matrix_grid = 256;

static bool takes_integer(const struct wm_argument *formal)
{
    const struct tool_source_type type = tool_source_type(formal->type_name);
    const bool known = type.element && !type.pointer;
    return formal->kind == WM_ARGUMENT_BY_VALUE && formal->size >= 4 && formal->size <= 8 &&
           (!known || (type.element->kind != 'f' && type.lanes == 1));
}

static bool likely_matrix(const struct tool_dispatch *d)
{
    unsigned integers = 0;
    for (size_t i = 0; i < d->formals; i++)
        integers += takes_integer(&d->formal[i]);
    return d->dimensions == 1 && integers > 1;
}

void tool_extent_text(const uint32_t extent[3], unsigned dimensions, char text[40])
{
    int used = snprintf(text, 40, "%u", extent[0]);
    for (unsigned i = 1; i < dimensions; i++)
        used += snprintf(text + used, 40 - (size_t)used, ",%u", extent[i]);
}

static void guess_sizes(struct tool_dispatch *d, struct tool_list *words)
{
    const struct wm_kernel *k = d->kernel;
    const unsigned dimensions = d->has_grid ? d->dimensions : k->dimensions;
    const bool has_grid = d->has_grid, has_workgroup = d->has_workgroup;
    char text[40];
    if (!has_workgroup) {
        memcpy(d->workgroup, usual_workgroup[dimensions - 1], sizeof d->workgroup);
        if (k->required_workgroup[0])
            memcpy(d->workgroup, k->required_workgroup, sizeof d->workgroup);
        for (unsigned i = 0;
             k->max_workgroup && d->workgroup[0] * d->workgroup[1] * d->workgroup[2] > k->max_workgroup;
             i = (i + 1) % 3)
            d->workgroup[i] -= d->workgroup[i] / 2;
    }
    d->dimensions = dimensions;
    for (unsigned i = 0; i < 3 && !has_grid; i++) {
        const uint32_t wanted = i == 0 && likely_matrix(d) ? matrix_grid : usual_grid[dimensions - 1][i],
                       size = d->workgroup[i];
        d->grid[i] = (wanted + size - 1) / size * size;
    }
    d->has_grid = d->has_workgroup = true;
    if (!has_grid) {
        tool_extent_text(d->grid, dimensions, text);
        tool_list_add(words, "-g");
        tool_list_add(words, "%s", text);
    }
    if (!has_workgroup) {
        tool_extent_text(d->workgroup, 3,
                         text); /* that of a fixed size may have more dimensions than the grid */
        while (strlen(text) > 2 && !strcmp(text + strlen(text) - 2, ",1"))
            text[strlen(text) - 2] = 0;
        tool_list_add(words, "-b");
        tool_list_add(words, "%s", text);
    }
}

/* Numbers of items, and of those along x: in the grid. */
struct sizes {
    uint64_t items, x, group;
};

static void guess_value(const struct wm_argument *formal, const struct sizes *sizes, FILE *out)
{
    const struct tool_source_type type = tool_source_type(formal->type_name);
    const bool known = type.element && !type.pointer && type.element->size * type.stride == formal->size;
    const unsigned lanes = known ? type.lanes : 1;
    if (!known && formal->size != 4 && formal->size != 8 && formal->size > 2) {
        fputs("bytes:", out);
        for (uint32_t i = 0; i < formal->size; i++)
            fputs("00", out);
        return;
    }
    const bool small = formal->size / (known ? type.stride : 1) <= 2; /* the grid might not fit */
    for (unsigned i = 0; i < lanes; i++) {
        fputs(i ? "," : "", out);
        if (known && type.element->kind == 'f')
            fputs("2", out);
        else
            fprintf(out, "%llu", small ? 1ull : (unsigned long long)sizes->x);
    }
}

static void guess_argument(const struct tool_dispatch *d, size_t index, const struct sizes *sizes, FILE *out)
{
    const struct wm_argument *formal = &d->formal[index];
    const struct tool_source_type type = tool_source_type(formal->type_name);
    switch (formal->kind) {
    case WM_ARGUMENT_GLOBAL_BUFFER:
        if (!type.element || !type.pointer) {
            fprintf(out, "zeros:%llu", (unsigned long long)sizes->items * 16);
            break;
        }
        const char *recipe = recipe_for(d, formal, type.element);
        fprintf(out, "%s:%s:%llu", recipe, type.element->name,
                (unsigned long long)sizes->items * type.stride);
        if (!strcmp(recipe, "rand"))
            fprintf(out, ":%zu", index + 1);
        break;
    case WM_ARGUMENT_DYNAMIC_LDS:
        fprintf(out, "lds:%llu", (unsigned long long)sizes->group * 16);
        break;
    case WM_ARGUMENT_IMAGE:
        fputs(strncmp(formal->type_name, "image1d", 7) == 0   ? "image1d:f32x4:64"
              : strncmp(formal->type_name, "image3d", 7) == 0 ? "image3d:f32x4:16,16,16"
                                                              : "image2d:f32x4:64,64",
              out);
        break;
    case WM_ARGUMENT_SAMPLER:
        fputs("sampler:nearest,edge,unnormalized", out);
        break;
    default:
        guess_value(formal, sizes, out);
    }
}

static void guess_arguments(struct tool_dispatch *d, struct tool_list *words)
{
    struct sizes sizes = {1, d->grid[0], 1};
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t items = d->counts_blocks ? (uint64_t)d->grid[i] * d->workgroup[i] : d->grid[i];
        sizes.x = i == 0 ? items : sizes.x;
        sizes.items *= items;
        sizes.group *= d->workgroup[i];
    }
    if (likely_matrix(d) && sizes.items <= 4096)
        sizes.items *= sizes.items;
    for (size_t i = 0; i < d->formals; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = is_given(d, i) ? NULL : open_memstream(&text, &size);
        if (!out)
            continue;
        char key[256];
        tool_argument_key(d, i, key, sizeof key);
        fprintf(out, "%s=", key);
        guess_argument(d, i, &sizes, out);
        fclose(out);
        tool_list_add(words, "--arg");
        tool_list_add(words, "%s", text);
        tool_add_argument(d, text, d->where);
        free(text);
    }
}

/* Prints the command with the guessed words in place of --guess. */
static void print_command(const struct tool_job *job, const struct tool_list *guessed)
{
    fprintf(stderr, "guessed: wavemem %s", job->verb);
    for (int i = 0; i < job->word_count; i++) {
        if (!strcmp(job->words[i], "--guess"))
            continue;
        fputc(' ', stderr);
        tool_print_word(stderr, job->words[i]);
    }
    for (size_t i = 0; i < guessed->count; i++) {
        fputc(' ', stderr);
        tool_print_word(stderr, guessed->words[i]);
    }
    fputc('\n', stderr);
}

int tool_complete_dispatch(struct tool_job *job, size_t index)
{
    struct tool_dispatch *d = &job->dispatches[index];
    const bool inherits = index && d[-1].kernel == d->kernel;
    size_t missing = 0;
    for (size_t i = 0; i < d->formals && !inherits; i++)
        missing += !is_given(d, i);
    const bool sizes = !d->has_grid || (!d->has_workgroup && !d->kernel->required_workgroup[0]);
    if (!missing && !sizes)
        return TOOL_CLEAN;
    if (!job->guess)
        return list_missing(d, missing);
    if (job->count > 1)
        return tool_fail("%s--guess completes one dispatch, and there are %zu: try each alone, and take the "
                         "options that it prints",
                         d->where, job->count);
    struct tool_list words = {0};
    guess_sizes(d, &words);
    guess_arguments(d, &words);
    print_command(job, &words);
    tool_list_free(&words);
    return TOOL_CLEAN;
}
