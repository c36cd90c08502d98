// SPDX-License-Identifier: MIT
// The host interfaces of rocRAND and hipRAND: every generator with every distribution against tests/kernel/engines.c,
// generators.c and distributions.c.
//
// Written for rocRAND 5.3.3. Which element comes from which engine is internal to it: library/src/rng/NAME.hpp.
#include "../hip/check.h"

#include <hiprand/hiprand.h>
#include <rocrand/rocrand.h>
#include <rocrand/rocrand_mtgp32_11213.h>

#include <cmath>
#include <vector>

#undef MTGP_MEXP
extern "C" {
#include "../../kernel/distributions.h"
#include "../../kernel/engines.h"
#include "../../kernel/generators.h"
}

namespace {

using bytes = std::vector<uint8_t>;
constexpr unsigned long long seed = 0x123456789a;

void ok(int status, int line)
{
    if (status) {
        std::fprintf(stderr, "%s:%d: status %d\n", __FILE__, line, status);
        std::exit(1);
    }
}
#define OK(call) ok(static_cast<int>(call), __LINE__)

// The call of the host interface for each row of the table of distributions; that of Poisson has no parameters there.
struct call {
    unsigned distribution;
    rocrand_status (*make)(rocrand_generator generator, void *data, size_t n);
};
template <typename T> T *as(void *data)
{
    return static_cast<T *>(data);
}
const float *const f = distribution_values.floats;
const double *const d = distribution_values.doubles;
half half_value(unsigned i)
{
    half value;
    std::memcpy(&value, &distribution_values.halves[i], sizeof value);
    return value;
}

const call calls[] = {
    {0, [](auto g, void *p, size_t n) { return rocrand_generate(g, as<unsigned>(p), n); }},
    {1, [](auto g, void *p, size_t n) { return rocrand_generate_char(g, as<unsigned char>(p), n); }},
    {2, [](auto g, void *p, size_t n) { return rocrand_generate_short(g, as<unsigned short>(p), n); }},
    {3, [](auto g, void *p, size_t n) { return rocrand_generate_uniform(g, as<float>(p), n); }},
    {4, [](auto g, void *p, size_t n) { return rocrand_generate_uniform_double(g, as<double>(p), n); }},
    {5, [](auto g, void *p, size_t n) { return rocrand_generate_normal(g, as<float>(p), n, f[0], f[1]); }},
    {6, [](auto g, void *p, size_t n) { return rocrand_generate_normal_double(g, as<double>(p), n, d[0], d[1]); }},
    {7, [](auto g, void *p, size_t n) { return rocrand_generate_log_normal(g, as<float>(p), n, f[0], f[1]); }},
    {8, [](auto g, void *p, size_t n) { return rocrand_generate_log_normal_double(g, as<double>(p), n, d[0], d[1]); }},
    {10, [](auto g, void *p, size_t n) { return rocrand_generate_uniform_half(g, as<half>(p), n); }},
    {11,
     [](auto g, void *p, size_t n) {
         return rocrand_generate_normal_half(g, as<half>(p), n, half_value(0), half_value(1));
     }},
    {12,
     [](auto g, void *p, size_t n) {
         return rocrand_generate_log_normal_half(g, as<half>(p), n, half_value(0), half_value(1));
     }},
};

struct device_memory {
    explicit device_memory(size_t size)
    {
        HIP(hipMalloc(&pointer, size));
    }
    ~device_memory()
    {
        HIP(hipFree(pointer));
    }
    void *pointer;
};

void compare(const char *name, const distribution &kind, rocrand_generator generator, const call &make,
             const bytes &expected, size_t n)
{
    device_memory data(n * kind.size);
    bytes got(n * kind.size);
    OK(make.make(generator, data.pointer, n));
    HIP(hipMemcpy(got.data(), data.pointer, got.size(), hipMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        if (!distribution_same(&kind, &got[i * kind.size], &expected[i * kind.size])) {
            std::fprintf(stderr, "%s, %s: element %zu of %zu differs\n", name, kind.type, i, n);
            std::exit(1);
        }
}

// ---- XORWOW and MRG32k3a: an engine per lane ----

void check_engines(const char *name, rocrand_rng_type type, const engine_family &family)
{
    constexpr size_t engine_count = 512 * 256;
    rocrand_generator generator;
    OK(rocrand_create_generator(&generator, type));
    OK(rocrand_set_seed(generator, seed));
    bytes engines(engine_count * ENGINE_BYTES);
    family.seed(engines.data(), seed, engine_count);
    uint32_t start = 0;
    for (const call &make : calls) { // each goes on where the previous one ended
        const distribution &kind = family.distributions[make.distribution];
        const size_t groups = make.distribution ? 1000 : engine_count + 1000, n = groups * kind.out;
        bytes expected(n * kind.size);
        engines_expect(&family, &kind, engines.data(), engine_count, start, expected.data(), n, 0);
        compare(name, kind, generator, make, expected, n);
        start = static_cast<uint32_t>((start + groups) % engine_count);
    }
    OK(rocrand_destroy_generator(generator));
}

// ---- Philox and MTGP32: a new generator for each distribution ----

void fill_philox(const distribution &kind, bytes &expected, size_t n)
{
    const uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
    size_t word = 0;
    for (size_t e = 0; e < n; e += kind.out) {
        uint32_t in[MOST_IN];
        for (unsigned w = 0; w < kind.in; w++, word++) {
            const uint32_t counter[4] = {static_cast<uint32_t>(word / 4), 0, 0, 0};
            uint32_t four[4];
            philox4x32_10(counter, key, four);
            in[w] = four[word % 4];
        }
        kind.make(in, &expected[e * kind.size]);
    }
}

void fill_mtgp32(const distribution &kind, bytes &expected, size_t n)
{
    constexpr size_t block = 256, blocks = 512;
    static_assert(sizeof(mtgp32_parameters) == sizeof(mtgp32_params_fast_t), "the same");
    const auto *parameters = reinterpret_cast<const mtgp32_parameters *>(mtgp32dc_params_fast_11213);
    for (size_t b = 0; b < blocks; b++) {
        mtgp32 reference;
        mtgp32_seed(&reference, &parameters[b], static_cast<uint32_t>((seed ^ seed >> 32) + b + 1));
        for (size_t first = b * block; first < n / kind.out; first += blocks * block) {
            uint32_t words[MOST_IN][block];
            for (unsigned w = 0; w < kind.in; w++)
                for (uint32_t &word : words[w])
                    word = mtgp32_next(&reference);
            for (size_t t = 0; t < block && first + t < n / kind.out; t++) {
                uint32_t in[MOST_IN];
                for (unsigned w = 0; w < kind.in; w++)
                    in[w] = words[w][t];
                kind.make(in, &expected[(first + t) * kind.out * kind.size]);
            }
        }
        mtgp32_free(&reference);
    }
}

void check_new(const char *name, rocrand_rng_type type, size_t groups,
               void (*fill)(const distribution &kind, bytes &expected, size_t n))
{
    for (const call &make : calls) {
        const distribution &kind = distributions[make.distribution];
        const size_t n = groups * kind.out;
        bytes expected(n * kind.size);
        rocrand_generator generator;
        OK(rocrand_create_generator(&generator, type));
        OK(rocrand_set_seed(generator, seed));
        fill(kind, expected, n);
        compare(name, kind, generator, make, expected, n);
        OK(rocrand_destroy_generator(generator));
    }
}

// ---- Sobol ----

void check_sobol(const char *name, rocrand_rng_type type, unsigned bits, unsigned offset)
{
    std::vector<std::vector<uint64_t>> directions(SOBOL_DIMENSIONS, std::vector<uint64_t>(64));
    for (unsigned i = 0; i < SOBOL_DIMENSIONS; i++)
        sobol_directions(i, bits, directions[i].data());
    for (const call &make : calls) {
        const distribution &kind = sobol_distributions[make.distribution];
        const size_t n = 1000 * kind.out;
        bytes expected(n * SOBOL_DIMENSIONS * kind.size);
        for (unsigned i = 0; i < SOBOL_DIMENSIONS; i++)
            for (size_t k = 0; k < n; k++)
                kind.make_one(sobol_number(directions[i].data(), bits, offset + k), bits, &expected[(i * n + k) * kind.size]);
        rocrand_generator generator;
        OK(rocrand_create_generator(&generator, type));
        OK(rocrand_set_quasi_random_generator_dimensions(generator, SOBOL_DIMENSIONS));
        OK(rocrand_set_offset(generator, offset));
        compare(name, kind, generator, make, expected, n * SOBOL_DIMENSIONS);
        OK(rocrand_destroy_generator(generator));
    }
}

// ---- Poisson: its first moments; both are lambda ----

void check_poisson(rocrand_rng_type type)
{
    constexpr size_t n = 20000;
    for (double lambda : {4.5, 300.0, 5000.0}) { // three methods
        std::vector<unsigned> numbers(n);
        device_memory data(n * sizeof(unsigned));
        rocrand_generator generator;
        OK(rocrand_create_generator(&generator, type));
        OK(rocrand_generate_poisson(generator, as<unsigned>(data.pointer), n, lambda));
        HIP(hipMemcpy(numbers.data(), data.pointer, n * sizeof(unsigned), hipMemcpyDeviceToHost));
        double sum = 0, squares = 0;
        for (unsigned number : numbers) {
            sum += number;
            squares += (number - lambda) * (number - lambda);
        }
        // six standard deviations of the estimates
        CHECK(std::fabs(sum / n - lambda) < 6 * std::sqrt(lambda / n));
        CHECK(std::fabs(squares / n - lambda) < 6 * std::sqrt((lambda + 2 * lambda * lambda) / n));
        OK(rocrand_destroy_generator(generator));
    }
}

// ---- hipRAND: the same numbers under other names ----

void check_hiprand(hiprandRngType_t type, rocrand_rng_type same)
{
    constexpr size_t n = 1000;
    std::vector<float> got(n), expected(n);
    device_memory data(n * sizeof(float));
    hiprandGenerator_t generator;
    rocrand_generator reference;
    OK(hiprandCreateGenerator(&generator, type));
    OK(rocrand_create_generator(&reference, same));
    if (type < HIPRAND_RNG_QUASI_DEFAULT) {
        OK(hiprandSetPseudoRandomGeneratorSeed(generator, seed));
        OK(rocrand_set_seed(reference, seed));
    }
    OK(hiprandGenerateUniform(generator, as<float>(data.pointer), n));
    HIP(hipMemcpy(got.data(), data.pointer, n * sizeof(float), hipMemcpyDeviceToHost));
    OK(rocrand_generate_uniform(reference, as<float>(data.pointer), n));
    HIP(hipMemcpy(expected.data(), data.pointer, n * sizeof(float), hipMemcpyDeviceToHost));
    CHECK(got == expected);
    OK(hiprandDestroyGenerator(generator));
    OK(rocrand_destroy_generator(reference));
}

} // namespace

int main()
{
    check_engines("XORWOW", ROCRAND_RNG_PSEUDO_XORWOW, xorwow_family);
    check_engines("MRG32k3a", ROCRAND_RNG_PSEUDO_MRG32K3A, mrg32k3a_family);
    check_new("Philox", ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 10000, fill_philox);
    check_new("MTGP32", ROCRAND_RNG_PSEUDO_MTGP32, 512 * 256 + 300, fill_mtgp32);
    check_sobol("Sobol 32", ROCRAND_RNG_QUASI_SOBOL32, 32, 1000003);
    check_sobol("Sobol 64", ROCRAND_RNG_QUASI_SOBOL64, 64, 77);
    check_poisson(ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
    check_poisson(ROCRAND_RNG_PSEUDO_MTGP32);
    check_poisson(ROCRAND_RNG_QUASI_SOBOL32);
    check_hiprand(HIPRAND_RNG_PSEUDO_MRG32K3A, ROCRAND_RNG_PSEUDO_MRG32K3A);
    check_hiprand(HIPRAND_RNG_PSEUDO_MTGP32, ROCRAND_RNG_PSEUDO_MTGP32);
    check_hiprand(HIPRAND_RNG_PSEUDO_PHILOX4_32_10, ROCRAND_RNG_PSEUDO_PHILOX4_32_10);
    check_hiprand(HIPRAND_RNG_QUASI_SOBOL32, ROCRAND_RNG_QUASI_SOBOL32);
    hiprandGenerator_t none;
    CHECK(hiprandCreateGenerator(&none, HIPRAND_RNG_PSEUDO_MT19937) == HIPRAND_STATUS_NOT_IMPLEMENTED);
    return 0;
}
