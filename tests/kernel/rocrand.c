/* SPDX-License-Identifier: MIT */
/* Runs the kernels of AMD's rocRAND, as Debian ships them in librocrand1, and compares their sequences with
 * generators.c: all six generators with all uniform distributions, bit by bit, and the four pseudo-random
 * ones with the normal distributions of floats and doubles, within a tolerance. Targets: the list in main().
 *
 * usage: rocrand LIBRARY; exit code 77 if it is not installed.
 *
 * Written for version 5.3.3 of the library. Launch arguments and the distribution of work to engines are
 * internal to the library: rocRAND's library/src/rng/NAME.hpp, /usr/include/rocrand/rocrand_NAME.h of
 * librocrand-dev. */
#include "distributions.h"
#include "engines.h"
#include "generators.h"
#include <wavemem/wavemem.h>

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIP = 77, BLOCK = 256, BLOCKS = 4, ENGINES = BLOCK * BLOCKS };

static const char *library;

/* ---- a GPU with the library loaded ---- */

struct gpu {
    struct wm_object *object;
    struct wm_machine *machine;
    struct { /* rocrand_discrete_distribution_st */
        uint32_t size, offset;
        uint64_t alias, probability, cdf;
    } table;
};

static uint64_t allocate(const struct gpu *gpu, uint64_t size, const void *bytes, const char *name)
{
    struct wm_diag diag;
    uint64_t address;
    if (wm_allocate(gpu->machine, size, 0, name, &address, &diag) ||
        (bytes && wm_write(gpu->machine, address, bytes, size, &diag)))
        fail_msg("%s", diag.message);
    return address;
}

static int set_up(void **state)
{
    const char *target = *state;
    struct gpu *gpu = calloc(1, sizeof(*gpu));
    struct wm_diag diag = {0};
    if (!gpu || wm_object_open_file(library, target, &gpu->object, &diag) ||
        wm_machine_create(wm_object_target(gpu->object), &gpu->machine, &diag) ||
        wm_load(gpu->machine, gpu->object, &diag)) {
        fprintf(stderr, "%s\n", diag.message);
        return 1;
    }
    struct distribution_table table;
    distribution_make_table(&table);
    gpu->table.size = TABLE_SIZE;
    gpu->table.offset = TABLE_OFFSET;
    gpu->table.alias = allocate(gpu, sizeof(table.alias), table.alias, "alias");
    gpu->table.probability = allocate(gpu, sizeof(table.probability), table.probability, "probability");
    gpu->table.cdf = allocate(gpu, sizeof(table.cdf), table.cdf, "cdf");
    *state = gpu;
    return 0;
}

static int tear_down(void **state)
{
    struct gpu *gpu = *state;
    wm_machine_destroy(gpu->machine);
    wm_object_close(gpu->object);
    free(gpu);
    return 0;
}

/* The kernel whose symbol contains both strings. */
static const struct wm_kernel *find(const struct gpu *gpu, const char *one, const char *two)
{
    const struct wm_kernel *found = NULL;
    for (size_t i = 0; i < wm_object_kernel_count(gpu->object); i++) {
        const struct wm_kernel *kernel = wm_object_kernel(gpu->object, i);
        if (!strstr(kernel->name, one) || !strstr(kernel->name, two))
            continue;
        if (found)
            fail_msg("two kernels with %s and %s", one, two);
        found = kernel;
    }
    if (!found)
        fail_msg("no kernel with %s and %s", one, two);
    return found;
}

static void release(const struct gpu *gpu, uint64_t address)
{
    assert_int_equal(wm_free(gpu->machine, address, NULL), WM_OK);
}

/* Writes the distribution argument of `size` bytes. */
static void write_parameters(const struct gpu *gpu, const struct distribution *d, uint32_t size, uint8_t *to)
{
    const struct distribution_values *v = &distribution_values;
    const _Float16 twice[4] = {v->halves[0], v->halves[0], v->halves[1], v->halves[1]};
    const struct {
        const void *bytes;
        size_t size;
    } parameters[] = {[FLOATS] = {v->floats, sizeof(v->floats)},
                      [DOUBLES] = {v->doubles, sizeof(v->doubles)},
                      [HALVES] = {d->make ? twice : v->halves, d->make ? sizeof(twice) : sizeof(v->halves)},
                      [TABLE] = {&gpu->table, sizeof(gpu->table)}};
    if (d->parameters == NO_PARAMETERS)
        return;
    assert_int_equal(size, parameters[d->parameters].size);
    memcpy(to, parameters[d->parameters].bytes, size);
}

/* `arguments` are all but the last one, which is the distribution's unless that is NULL. */
static void launch(const struct gpu *gpu, const struct wm_kernel *kernel, const void *arguments, size_t size,
                   const struct distribution *distribution, uint32_t blocks_x, uint32_t blocks_y)
{
    uint8_t all[128] = {0};
    size_t last = 0;
    while (last + 1 < kernel->argument_count && kernel->arguments[last + 1].kind != WM_ARGUMENT_HIDDEN)
        last++;
    const uint32_t offset = kernel->arguments[last].offset, end = offset + kernel->arguments[last].size;
    assert_true(size <= sizeof(all) && end <= sizeof(all));
    memcpy(all, arguments, size);
    if (distribution)
        write_parameters(gpu, distribution, end - offset, all + offset);
    const struct wm_dispatch dispatch = {.struct_size = sizeof(dispatch),
                                         .grid = {blocks_x * BLOCK, blocks_y, 1},
                                         .workgroup = {BLOCK, 1, 1},
                                         .arguments = all,
                                         .arguments_size = size < end ? end : size,
                                         .threads = 1,
                                         .timeout = 120};
    struct wm_result result = {.struct_size = sizeof(result)};
    struct wm_diag diag;
    if (wm_dispatch(gpu->machine, gpu->object, kernel, &dispatch, &result, &diag))
        fail_msg("%s", diag.message);
    if (result.fault.kind != WM_FAULT_NONE)
        fail_msg("%s", result.fault.text);
}

static void compare(const struct gpu *gpu, const struct distribution *d, uint64_t address,
                    const uint8_t *expected, size_t count)
{
    const unsigned size = d->size;
    uint8_t *got = malloc(count * size);
    assert_int_equal(wm_read(gpu->machine, address, got, count * size, NULL), WM_OK);
    for (size_t i = 0; i < count; i++)
        if (!distribution_same(d, got + i * size, expected + i * size)) {
            uint64_t a = 0, b = 0;
            memcpy(&a, got + i * size, size < 8 ? size : 8);
            memcpy(&b, expected + i * size, size < 8 ? size : 8);
            fail_msg("%s: element %zu of %zu is 0x%llx, expected 0x%llx", d->type, i, count,
                     (unsigned long long)a, (unsigned long long)b);
        }
    free(got);
}

/* ---- XORWOW and MRG32k3a: an engine per lane, in memory ---- */

static void compare_engines(const struct gpu *gpu, uint64_t address, const uint8_t *expected)
{
    static const struct distribution engine = {.type = "engines", .size = ENGINE_BYTES};
    compare(gpu, &engine, address, expected, ENGINES);
}

static void check_engines(const struct gpu *gpu, const struct engine_family *family, uint64_t seed,
                          uint64_t offset)
{
    struct {
        uint64_t engines;
        uint32_t start, pad;
        uint64_t seed, offset;
    } init = {0, (uint32_t)(offset % ENGINES), 0, seed, offset / ENGINES};
    uint8_t *engines = malloc(ENGINES * ENGINE_BYTES);
    family->seed(engines, seed, ENGINES);
    for (uint32_t i = 0; i < ENGINES; i++)
        for (uint64_t k = offset / ENGINES + (i < init.start); k--;)
            family->next(engines + i * ENGINE_BYTES);
    init.engines = allocate(gpu, ENGINES * ENGINE_BYTES, NULL, "engines");
    launch(gpu, find(gpu, "19init_engines_kernel", family->symbol), &init, sizeof(init), NULL, BLOCKS, 1);
    compare_engines(gpu, init.engines, engines);

    /* the distributions in order, each continuing with the engine states of the previous one */
    uint32_t start = init.start;
    for (unsigned i = 0; i < DISTRIBUTIONS; i++) {
        const struct distribution *d = &family->distributions[i];
        const size_t n = 9 * ENGINES / 2 + 37;
        const unsigned skew = i % d->out;
        struct {
            uint64_t engines;
            uint32_t start, pad;
            uint64_t data, n;
        } arguments = {init.engines, start, 0, 0, n};
        uint8_t *expected = calloc(n, d->size);
        const uint64_t data = allocate(gpu, (n + skew) * d->size, NULL, "data");
        arguments.data = data + skew * d->size;
        engines_expect(family, d, engines, ENGINES, start, expected, n, skew);
        launch(gpu, find(gpu, d->type, family->symbol), &arguments, sizeof(arguments), d, BLOCKS, 1);
        compare(gpu, d, arguments.data, expected, n);
        compare_engines(gpu, init.engines, engines);
        start = (uint32_t)((start + (n + d->out - 1) / d->out) % ENGINES);
        release(gpu, data);
        free(expected);
    }
    release(gpu, init.engines);
    free(engines);
}

static void xorwow_gives_its_sequence(void **state)
{
    check_engines(*state, &xorwow_family, 0, 0);
    check_engines(*state, &xorwow_family, UINT64_C(0x123456789abcdef1), 3 * ENGINES + 77);
}

static void mrg32k3a_gives_its_sequence(void **state)
{
    check_engines(*state, &mrg32k3a_family, 0, 0);
    /* from 2^39 on, products in rocRAND's seeding overflow */
    check_engines(*state, &mrg32k3a_family, UINT64_C(0x123456789a), 3 * ENGINES + 77);
}

/* ---- Philox: one engine, passed by value ---- */

static uint32_t philox_word(uint64_t seed, uint64_t index)
{
    const uint32_t counter[4] = {(uint32_t)(index / 4), (uint32_t)(index / 4 >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t result[4];
    philox4x32_10(counter, key, result);
    return result[index % 4];
}

static void check_philox(const struct gpu *gpu, uint64_t seed, uint64_t offset)
{
    for (unsigned i = 0; i < DISTRIBUTIONS; i++) {
        const struct distribution *d = &distributions[i];
        const size_t n = (9 * 4 * ENGINES + 1024) / d->in * d->out + 3 / d->in * d->out;
        const unsigned skew = d->in == 1 && d->out == 1 ? i % 4 : 0; /* other skews reorder the sequence */
        struct {
            uint32_t counter[4], result[4], key[2], substate, pad;
            uint64_t data, n;
        } arguments = {.counter = {(uint32_t)(offset / 4), (uint32_t)(offset / 4 >> 32)},
                       .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                       .substate = offset % 4,
                       .n = n};
        philox4x32_10(arguments.counter, arguments.key, arguments.result);
        uint8_t *expected = calloc(n + d->out, d->size);
        for (size_t e = 0, word = offset; e < n; e += d->out) {
            uint32_t in[MOST_IN];
            for (unsigned w = 0; w < d->in; w++)
                in[w] = philox_word(seed, word++);
            d->make(in, expected + e * d->size);
        }
        const uint64_t data = allocate(gpu, (n + skew) * d->size, NULL, "data");
        arguments.data = data + skew * d->size;
        launch(gpu, find(gpu, d->type, "27philox4x32_10_device_engine"), &arguments, sizeof(arguments), d,
               BLOCKS, 1);
        compare(gpu, d, arguments.data, expected, n);
        release(gpu, data);
        free(expected);
    }
}

static void philox_gives_its_sequence(void **state)
{
    check_philox(*state, 0, 0);
    check_philox(*state, UINT64_C(0xdeadbeefdeadbeef), 6);
    check_philox(*state, 1, UINT64_C(0x3fffffff5)); /* the counter's low word overflows */
}

/* ---- MTGP32: an engine per workgroup ---- */

/* The parameter sets in the library's read-only data, located by their exponent. */
static const struct mtgp32_parameters *find_parameters(const uint8_t *bytes, size_t size, size_t count)
{
    const int32_t mexp = MTGP_MEXP;
    for (size_t at = 0; at + count * sizeof(struct mtgp32_parameters) <= size; at += 4) {
        size_t i = 0;
        while (i < count && memcmp(bytes + at + i * sizeof(struct mtgp32_parameters), &mexp, 4) == 0)
            i++;
        if (i == count)
            return (const struct mtgp32_parameters *)(const void *)(bytes + at);
    }
    fail_msg("no table of MTGP32's parameters in %s", library);
    return NULL;
}

static uint8_t *read_library(size_t *size)
{
    FILE *file = fopen(library, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void mtgp32_gives_its_sequence(void **state)
{
    enum { RING = 1024 };
    struct engine { /* rocrand_device::mtgp32_engine */
        int32_t offset, id;
        uint32_t status[RING], pos, table[MTGP_TABLE], temper[MTGP_TABLE], sh1, sh2, float_temper[MTGP_TABLE],
            mask;
    } engines[BLOCKS];
    static_assert(sizeof(struct engine) == 4312, "as the kernel's LDS");
    static_assert(sizeof(struct mtgp32_parameters) == 236, "mtgp32_params_fast_t");
    const struct gpu *gpu = *state;
    const uint32_t seed = 20021;
    size_t size;
    uint8_t *bytes = read_library(&size);
    const struct mtgp32_parameters *parameters = find_parameters(bytes, size, 200);
    struct mtgp32 reference[BLOCKS];
    memset(engines, 0, sizeof(engines));
    for (unsigned b = 0; b < BLOCKS; b++) {
        const struct mtgp32_parameters *p = &parameters[b];
        mtgp32_seed(&reference[b], p, seed + b + 1);
        engines[b] = (struct engine){.id = (int32_t)b,
                                     .pos = (uint32_t)p->pos,
                                     .sh1 = (uint32_t)p->sh1,
                                     .sh2 = (uint32_t)p->sh2,
                                     .mask = parameters[0].mask};
        memcpy(engines[b].status, reference[b].words, MTGP_WORDS * 4);
        memcpy(engines[b].table, p->table, sizeof(p->table));
        memcpy(engines[b].temper, p->temper, sizeof(p->temper));
        memcpy(engines[b].float_temper, p->float_temper, sizeof(p->float_temper));
    }
    struct {
        uint64_t engines, data, n;
    } arguments = {.engines = allocate(gpu, sizeof(engines), engines, "engines")};
    for (unsigned i = 0; i < DISTRIBUTIONS; i++) {
        const struct distribution *d = &distributions[i];
        /* whole groups of all engines, plus part of the next: engines 0 and 1 run one more round */
        const size_t groups = 5 * ENGINES + BLOCK + 100, n = groups * d->out;
        uint8_t *expected = calloc(n, d->size);
        for (size_t round = 0; round * ENGINES < groups; round++)
            for (unsigned b = 0; b < BLOCKS && round * ENGINES + b * BLOCK < groups; b++) {
                uint32_t words[MOST_IN][BLOCK];
                for (unsigned w = 0; w < d->in; w++)
                    for (unsigned t = 0; t < BLOCK; t++)
                        words[w][t] = mtgp32_next(&reference[b]);
                for (unsigned t = 0; t < BLOCK && round * ENGINES + b * BLOCK + t < groups; t++) {
                    uint32_t in[MOST_IN];
                    for (unsigned w = 0; w < d->in; w++)
                        in[w] = words[w][t];
                    d->make(in, expected + (round * ENGINES + b * BLOCK + t) * d->out * d->size);
                }
            }
        arguments.data = allocate(gpu, n * d->size, NULL, "data");
        arguments.n = n;
        launch(gpu, find(gpu, d->type, "13mtgp32_engine"), &arguments, sizeof(arguments), d, BLOCKS, 1);
        compare(gpu, d, arguments.data, expected, n);
        release(gpu, arguments.data);
        free(expected);
    }
    release(gpu, arguments.engines);
    for (unsigned b = 0; b < BLOCKS; b++)
        mtgp32_free(&reference[b]);
    free(bytes);
}

/* ---- Sobol: direction vectors in memory, a dimension per row of workgroups ---- */

static void check_sobol(const struct gpu *gpu, unsigned bits, uint32_t offset)
{
    uint64_t directions[SOBOL_DIMENSIONS][64];
    uint8_t vectors[SOBOL_DIMENSIONS * 64 * 8];
    for (unsigned dimension = 0; dimension < SOBOL_DIMENSIONS; dimension++) {
        sobol_directions(dimension, bits, directions[dimension]);
        for (unsigned k = 0; k < bits; k++)
            memcpy(vectors + (dimension * bits + k) * bits / 8, &directions[dimension][k], bits / 8);
    }
    const size_t vector_bytes = SOBOL_DIMENSIONS * bits * bits / 8;
    size_t size;
    uint8_t *bytes = read_library(&size);
    /* rocRAND's vectors start with those of Joe and Kuo */
    assert_non_null(memmem(bytes, size, vectors, vector_bytes));
    free(bytes);

    struct {
        uint64_t data, n, directions;
        uint32_t offset, pad;
    } arguments = {.directions = allocate(gpu, vector_bytes, vectors, "directions"), .offset = offset};
    for (unsigned i = 0; i < DISTRIBUTIONS; i++) {
        const struct distribution *d = &sobol_distributions[i];
        const struct wm_kernel *kernel =
            find(gpu, bits == 32 ? "L15generate_kernelI" : "L18generate_kernel_64I", d->type);
        const size_t n = 3 * ENGINES + 123 * d->out; /* a multiple of `out`: every dimension starts aligned */
        uint8_t *expected = calloc(n * SOBOL_DIMENSIONS, d->size);
        for (unsigned dimension = 0; dimension < SOBOL_DIMENSIONS; dimension++)
            for (size_t k = 0; k < n; k++)
                d->make_one(sobol_number(directions[dimension], bits, offset + k), bits,
                            expected + (dimension * n + k) * d->size);
        arguments.data = allocate(gpu, n * SOBOL_DIMENSIONS * d->size, NULL, "data");
        arguments.n = n;
        launch(gpu, kernel, &arguments, sizeof(arguments) - 4, d, 2, SOBOL_DIMENSIONS);
        compare(gpu, d, arguments.data, expected, n * SOBOL_DIMENSIONS);
        release(gpu, arguments.data);
        free(expected);
    }
    release(gpu, arguments.directions);
}

static void sobol32_gives_its_sequence(void **state)
{
    check_sobol(*state, 32, 0);
    check_sobol(*state, 32, 1000003);
}

static void sobol64_gives_its_sequence(void **state)
{
    check_sobol(*state, 64, 0);
    check_sobol(*state, 64, 1000003);
}

/* ---- the references themselves ---- */

/* Known answers from Random123 1.09 (kat_vectors). */
static void the_reference_of_philox_is_right(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], result[4];
    } known[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint32_t result[4];
        philox4x32_10(known[i].counter, known[i].key, result);
        assert_memory_equal(result, known[i].result, sizeof(result));
    }
}

/* The first numbers of L'Ecuyer's RngStreams with its default seed, six times 12345; a jump by 2^10 equals
 * 1024 steps. */
static void the_reference_of_mrg32k3a_is_right(void **state)
{
    static const double known[] = {0.1270111220, 0.3185275653, 0.3091860155, 0.8258468629, 0.2216299157};
    struct mrg32k3a s = {{12345, 12345, 12345}, {12345, 12345, 12345}}, jumped = s;
    struct mrg32k3a_jump jump;
    (void)state;
    for (unsigned i = 0; i < 1024; i++) {
        const double u = mrg32k3a_next(&s) / 4294967088.0;
        if (i < 5)
            assert_true(fabs(u - known[i]) < 1e-9);
    }
    mrg32k3a_make_jump(&jump, 10);
    mrg32k3a_apply_jump(&jump, &jumped);
    assert_memory_equal(&s, &jumped, sizeof(s));
}

static void the_reference_of_xorwow_jumps_as_far_as_it_steps(void **state)
{
    struct xorwow s = {6615241, {123456789, 362436069, 521288629, 88675123, 5783321}}, jumped = s;
    struct xorwow_jump jump;
    (void)state;
    /* Marsaglia's first number: t = 123456789 ^ 30864197, ... computed by hand in his notation */
    const uint32_t t = 123456789u ^ 123456789u >> 2, v = (5783321u ^ 5783321u << 4) ^ (t ^ t << 1);
    assert_int_equal(xorwow_next(&s), v + 6615241u + 362437u);
    for (unsigned i = 1; i < 1024; i++)
        xorwow_next(&s);
    xorwow_make_jump(&jump, 10);
    xorwow_apply_jump(&jump, &jumped);
    assert_memory_equal(s.x, jumped.x, sizeof(s.x));
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: rocrand LIBRARY\n");
        return 2;
    }
    library = arguments[1];
    FILE *file = fopen(library, "rb");
    if (!file) {
        printf("skipped: no %s (Debian package librocrand1)\n", library);
        return SKIP;
    }
    fclose(file);
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } kernels[] = {
        {"XORWOW", xorwow_gives_its_sequence},    {"MRG32k3a", mrg32k3a_gives_its_sequence},
        {"Philox", philox_gives_its_sequence},    {"MTGP32", mtgp32_gives_its_sequence},
        {"Sobol 32", sobol32_gives_its_sequence}, {"Sobol 64", sobol64_gives_its_sequence},
    };
    static const char *const targets[] = {"gfx803", "gfx900", "gfx906", "gfx908", "gfx1030"};
    enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]), TARGETS = sizeof(targets) / sizeof(targets[0]) };
    struct CMUnitTest tests[KERNELS * TARGETS + 3] = {
        cmocka_unit_test(the_reference_of_philox_is_right),
        cmocka_unit_test(the_reference_of_mrg32k3a_is_right),
        cmocka_unit_test(the_reference_of_xorwow_jumps_as_far_as_it_steps),
    };
    static char names[KERNELS * TARGETS][40];
    for (size_t i = 0; i < KERNELS * TARGETS; i++) {
        snprintf(names[i], sizeof(names[i]), "%s on %s", kernels[i % KERNELS].name, targets[i / KERNELS]);
        tests[i + 3] = (struct CMUnitTest){.name = names[i],
                                           .test_func = kernels[i % KERNELS].function,
                                           .setup_func = set_up,
                                           .teardown_func = tear_down,
                                           .initial_state = (void *)(uintptr_t)targets[i / KERNELS]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
