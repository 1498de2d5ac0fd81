// The kernel that merges the parts of rows whose keys were split, in CUDA C++.
// operators/attention/kernels/cuda/decode.cpp fills the holes.

// --- section: kernel
// Merges the parts of a row: sums of probabilities relative to one peak are sums relative to another one times
// ${base_number}^(peak - other). A part that saw no key has a sum of zero, and wrote no values.
extern "C" __global__ __launch_bounds__(${threads})
${signature} {
  const long row = blockIdx.x;
  const int d = (int)(blockIdx.y * blockDim.x + threadIdx.x);
  const float2* sums = (const float2*)part_sums + row * parts;
  float peak = -INFINITY;
  #pragma unroll 8
  for (int p = 0; p < parts; ++p) peak = fmaxf(peak, sums[p].x);
  const float base = peak == -INFINITY ? 0.0f : peak;
  float total = 0.0f, value = 0.0f;
  #pragma unroll 8
  for (int p = 0; p < parts; ++p) {
    const float2 sum = sums[p];
    const float probability = power_of_two(${exponent});
    total = fmaf(probability, sum.y, total);
    if (sum.y > 0.0f && d < VALUE_DIM) value = fmaf(probability, part_values[(row * parts + p) * VALUE_DIM + d], value);
  }
  if (d >= VALUE_DIM) return;
  // A row whose keys were all masked has no probabilities, and its output is zero.
  const float result = total > 0.0f ? value / total : 0.0f;
  ${store}
  ${store_lse}
}

// --- section: lse
// LSE holds what the scores left out; peak and total are in ${units}.
if (d == 0) LSE[row] = total > 0.0f ? ${log_of_sum} + LSE[row] : -INFINITY;
