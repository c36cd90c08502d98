// SPDX-License-Identifier: MIT
// hipRTC: errors of the compiler, names of templates, options, variables of modules, both ways to pass arguments.
#include "array.h"
#include <cstring>
#include <hip/hiprtc.h>
#include <string>

static const char source[] = R"(
__device__ int bias = 3;
template <typename T> __global__ void fill(T *p, T value) { p[threadIdx.x] = value * FACTOR + T(bias); }
)";

int main()
{
    hipDeviceProp_t properties;
    hiprtcProgram program;
    size_t size = 0;
    HIP(hipGetDeviceProperties(&properties, 0));
    const std::string target = std::string("--offload-arch=") + properties.gcnArchName;
    const char *options[] = {target.c_str(), "-DFACTOR=2"};

    CHECK(hiprtcCreateProgram(&program, "__global__ void k() { nonsense; }", "bad.cu", 0, nullptr, nullptr) == HIPRTC_SUCCESS);
    CHECK(hiprtcCompileProgram(program, 1, options) == HIPRTC_ERROR_COMPILATION);
    CHECK(hiprtcGetProgramLogSize(program, &size) == HIPRTC_SUCCESS && size > 1);
    std::vector<char> log(size);
    CHECK(hiprtcGetProgramLog(program, log.data()) == HIPRTC_SUCCESS);
    CHECK(std::strstr(log.data(), "nonsense"));
    CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);

    const char *lowered;
    hipModule_t module;
    hipFunction_t function;
    CHECK(hiprtcCreateProgram(&program, source, "fill.cu", 0, nullptr, nullptr) == HIPRTC_SUCCESS);
    CHECK(hiprtcAddNameExpression(program, "fill<float>") == HIPRTC_SUCCESS);
    CHECK(hiprtcCompileProgram(program, 2, options) == HIPRTC_SUCCESS);
    CHECK(hiprtcGetLoweredName(program, "fill<float>", &lowered) == HIPRTC_SUCCESS);
    CHECK(hiprtcGetCodeSize(program, &size) == HIPRTC_SUCCESS);
    std::vector<char> code(size);
    CHECK(hiprtcGetCode(program, code.data()) == HIPRTC_SUCCESS);
    HIP(hipModuleLoadData(&module, code.data()));
    HIP(hipModuleGetFunction(&function, module, lowered));

    const device_array<float> p(64);
    struct {
        float *p;
        float value;
    } packed = {p, 1.5f};
    size_t bytes = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
    HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
    CHECK(p.get() == std::vector<float>(64, 6));
    void *bias;
    int ten = 10;
    HIP(hipModuleGetGlobal(&bias, &size, module, "bias"));
    CHECK(size == sizeof(int));
    HIP(hipMemcpy(bias, &ten, sizeof ten, hipMemcpyHostToDevice));
    float *pointer = p, value = 0.5f;
    void *arguments[] = {&pointer, &value};
    HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(p.get() == std::vector<float>(64, 11));
    CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);
    HIP(hipModuleUnload(module));
    return 0;
}
