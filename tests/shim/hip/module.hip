// SPDX-License-Identifier: MIT
// A kernel compiled at run time, loaded as a module, started by name, unloaded; twice.
#include "check.h"
#include <hip/hiprtc.h>
#include <string>
#include <vector>

static void load_and_run(const std::vector<char> &code)
{
    hipModule_t module;
    hipFunction_t function;
    float *p, values[64];
    for (int i = 0; i < 64; i++)
        values[i] = i;
    HIP(hipModuleLoadData(&module, code.data()));
    HIP(hipModuleGetFunction(&function, module, "square"));
    CHECK(hipModuleGetFunction(&function, module, "cube") == hipErrorNotFound);
    HIP(hipModuleGetFunction(&function, module, "square"));
    HIP(hipMalloc(&p, sizeof values));
    HIP(hipMemcpy(p, values, sizeof values, hipMemcpyHostToDevice));
    void *arguments[] = {&p};
    HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, arguments, 0));
    HIP(hipMemcpy(values, p, sizeof values, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        CHECK(values[i] == i * i);
    HIP(hipFree(p));
    HIP(hipModuleUnload(module));
}

int main()
{
    const char *source = "extern \"C\" __global__ void square(float *p) { p[threadIdx.x] *= p[threadIdx.x]; }";
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    const std::string target = std::string("--offload-arch=") + properties.gcnArchName;
    const char *options[] = {target.c_str()};
    hiprtcProgram program;
    size_t size = 0;
    CHECK(hiprtcCreateProgram(&program, source, "square.cu", 0, nullptr, nullptr) == HIPRTC_SUCCESS);
    CHECK(hiprtcCompileProgram(program, 1, options) == HIPRTC_SUCCESS);
    CHECK(hiprtcGetCodeSize(program, &size) == HIPRTC_SUCCESS);
    std::vector<char> code(size);
    CHECK(hiprtcGetCode(program, code.data()) == HIPRTC_SUCCESS);
    load_and_run(code);
    load_and_run(code);
    return 0;
}
