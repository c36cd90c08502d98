// SPDX-License-Identifier: MIT
// A whole HIP program to profile: a small neural network recognizes which of ten patterns each of 256 noisy pictures
// shows. Its three kernels run for every layer or picture; one of them has a problem.
//
//   hipcc -g -O3 --offload-arch=gfx900 network.hip -o network
//   wavemem exec --prof --source-path . ./network
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

enum { PICTURES = 256, PIXELS = 256, HIDDEN = 256, PATTERNS = 10 };

// out[picture][neuron] = sum of weights[neuron][i] * in[picture][i]: a work-item per neuron. Neighbours read different
// rows of the weights.
__global__ void dense(const float *weights, const float *in, float *out, int inputs, int neurons)
{
    const int neuron = blockIdx.x * blockDim.x + threadIdx.x, picture = blockIdx.y;
    if (neuron >= neurons)
        return;
    float sum = 0;
    for (int i = 0; i < inputs; i++)
        sum += weights[neuron * inputs + i] * in[picture * inputs + i];
    out[picture * neurons + neuron] = sum;
}

__global__ void rectify(float *values, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = values[i] > 0 ? values[i] : 0.1f * values[i];
}

// The pattern with the largest value, one work-item per picture.
__global__ void choose(const float *values, int *answers)
{
    const int picture = blockIdx.x * blockDim.x + threadIdx.x;
    int best = 0;
    for (int i = 1; i < PATTERNS; i++)
        if (values[picture * PATTERNS + i] > values[picture * PATTERNS + best])
            best = i;
    answers[picture] = best;
}

static void check(hipError_t error, const char *what)
{
    if (error != hipSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
        std::exit(2);
    }
}
#define CHECK(call) check(call, #call)

static float *upload(const std::vector<float> &from)
{
    float *pointer;
    CHECK(hipMalloc(&pointer, from.size() * sizeof(float)));
    CHECK(hipMemcpy(pointer, from.data(), from.size() * sizeof(float), hipMemcpyHostToDevice));
    return pointer;
}

static float pixel_of(int pattern, int i) // -1 or 1
{
    return std::sin(0.7f * static_cast<float>((pattern + 1) * i)) > 0 ? 1.0f : -1.0f;
}

int main()
{
    std::vector<float> pictures(PICTURES * PIXELS), first(HIDDEN * PIXELS), second(PATTERNS * HIDDEN);
    unsigned random = 1;
    for (int p = 0; p < PICTURES; p++)
        for (int i = 0; i < PIXELS; i++) {
            random = random * 1664525 + 1013904223;
            pictures[p * PIXELS + i] = random >> 29 ? pixel_of(p % PATTERNS, i) : 0; // an eighth is lost
        }
    for (int n = 0; n < HIDDEN; n++) { // each hidden neuron knows one pattern
        for (int i = 0; i < PIXELS; i++)
            first[n * PIXELS + i] = pixel_of(n % PATTERNS, i);
        second[n % PATTERNS * HIDDEN + n] = 1.0f / PIXELS;
    }
    float *in = upload(pictures), *w1 = upload(first), *w2 = upload(second), *hidden, *out;
    int *answers;
    std::vector<int> answer(PICTURES);
    CHECK(hipMalloc(&hidden, PICTURES * HIDDEN * sizeof(float)));
    CHECK(hipMalloc(&out, PICTURES * PATTERNS * sizeof(float)));
    CHECK(hipMalloc(&answers, PICTURES * sizeof(int)));

    dense<<<dim3(HIDDEN / 64, PICTURES), 64>>>(w1, in, hidden, PIXELS, HIDDEN);
    rectify<<<PICTURES * HIDDEN / 256, 256>>>(hidden, PICTURES * HIDDEN);
    dense<<<dim3(1, PICTURES), 64>>>(w2, hidden, out, HIDDEN, PATTERNS);
    choose<<<PICTURES / 64, 64>>>(out, answers);
    CHECK(hipMemcpy(answer.data(), answers, PICTURES * sizeof(int), hipMemcpyDeviceToHost));

    int right = 0;
    for (int p = 0; p < PICTURES; p++)
        right += answer[p] == p % PATTERNS;
    std::printf("%d of %d pictures recognized\n", right, PICTURES);
    return right < PICTURES;
}
