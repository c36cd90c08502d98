// SPDX-License-Identifier: MIT
// The OpenCL math library of every width: one kernel per function, NAME_TYPE, for tests/kernel/math.c.

#define OF_ONE(NAME, T) \
    kernel void NAME##_##T(global const T *a, global const T *b, global T *out) \
    { \
        out[get_global_id(0)] = NAME(a[get_global_id(0)]); \
    }
#define OF_TWO(NAME, T) \
    kernel void NAME##_##T(global const T *a, global const T *b, global T *out) \
    { \
        out[get_global_id(0)] = NAME(a[get_global_id(0)], b[get_global_id(0)]); \
    }
#define OF_INTEGER(NAME, T) \
    kernel void NAME##_##T(global const T *a, global const int *b, global T *out) \
    { \
        out[get_global_id(0)] = NAME(a[get_global_id(0)], b[get_global_id(0)]); \
    }
// The second result, returned through a pointer, follows the first.
#define OF_ONE_TWICE(NAME, T) \
    kernel void NAME##_##T(global const T *a, global const T *b, global T *out) \
    { \
        T second; \
        out[get_global_id(0)] = NAME(a[get_global_id(0)], &second); \
        out[get_global_id(0) + get_global_size(0)] = second; \
    }
#define OF_ONE_AND_INTEGER(NAME, T) \
    kernel void NAME##_##T(global const T *a, global const T *b, global T *out) \
    { \
        int second; \
        out[get_global_id(0)] = NAME(a[get_global_id(0)], &second); \
        out[get_global_id(0) + get_global_size(0)] = (T)second; \
    }
#define TO_INTEGER(NAME, T) \
    kernel void NAME##_##T(global const T *a, global const T *b, global T *out) \
    { \
        out[get_global_id(0)] = (T)NAME(a[get_global_id(0)]); \
    }

#define EACH(T) \
    OF_ONE(acos, T) OF_ONE(acosh, T) OF_ONE(acospi, T) OF_ONE(asin, T) OF_ONE(asinh, T) OF_ONE(asinpi, T) OF_ONE(atan, T) \
    OF_ONE(atanh, T) OF_ONE(atanpi, T) OF_TWO(atan2, T) OF_TWO(atan2pi, T) OF_ONE(cbrt, T) OF_ONE(ceil, T) OF_ONE(cos, T) \
    OF_ONE(cosh, T) OF_ONE(cospi, T) OF_ONE(erf, T) OF_ONE(erfc, T) OF_ONE(exp, T) OF_ONE(exp2, T) OF_ONE(exp10, T) \
    OF_ONE(expm1, T) OF_TWO(fdim, T) OF_ONE(floor, T) OF_TWO(fmax, T) OF_TWO(fmin, T) OF_TWO(fmod, T) OF_ONE_TWICE(fract, T) \
    OF_ONE_AND_INTEGER(frexp, T) OF_TWO(hypot, T) TO_INTEGER(ilogb, T) OF_INTEGER(ldexp, T) OF_ONE(lgamma, T) OF_ONE(log, T) \
    OF_ONE(log2, T) OF_ONE(log10, T) OF_ONE(log1p, T) OF_ONE(logb, T) OF_TWO(maxmag, T) OF_TWO(minmag, T) \
    OF_ONE_TWICE(modf, T) OF_TWO(nextafter, T) OF_TWO(pow, T) OF_INTEGER(pown, T) OF_TWO(powr, T) OF_TWO(remainder, T) \
    OF_ONE(rint, T) OF_INTEGER(rootn, T) OF_ONE(round, T) OF_ONE(rsqrt, T) OF_ONE(sin, T) OF_ONE_TWICE(sincos, T) \
    OF_ONE(sinh, T) OF_ONE(sinpi, T) OF_ONE(sqrt, T) OF_ONE(tan, T) OF_ONE(tanh, T) OF_ONE(tanpi, T) OF_ONE(tgamma, T) \
    OF_ONE(trunc, T)
#if defined(HALVES)
EACH(half)
#elif defined(DOUBLES)
EACH(double)
#else
EACH(float)
OF_ONE(native_cos, float)
OF_TWO(native_divide, float)
OF_ONE(native_exp, float)
OF_ONE(native_exp2, float)
OF_ONE(native_exp10, float)
OF_ONE(native_log, float)
OF_ONE(native_log2, float)
OF_ONE(native_log10, float)
OF_TWO(native_powr, float)
OF_ONE(native_recip, float)
OF_ONE(native_rsqrt, float)
OF_ONE(native_sin, float)
OF_ONE(native_sqrt, float)
OF_ONE(half_cos, float)
OF_TWO(half_divide, float)
OF_ONE(half_exp, float)
OF_ONE(half_exp2, float)
OF_ONE(half_exp10, float)
OF_ONE(half_log, float)
OF_ONE(half_log2, float)
OF_ONE(half_log10, float)
OF_TWO(half_powr, float)
OF_ONE(half_recip, float)
OF_ONE(half_rsqrt, float)
OF_ONE(half_sin, float)
OF_ONE(half_sqrt, float)
OF_ONE(half_tan, float)
#endif
