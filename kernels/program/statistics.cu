// Parts of the statistics of what a contraction computes, and the launches that join them, in CUDA C++.
// operators/program/kernels/contract_statistics_text.cpp fills the holes.
//
// definitions: DIRECT_PIXELS DIRECT_CHANNELS DIRECT_THREADS TILE_M TILE_N THREAD_M THREAD_N

// --- section: sum_over_warp
// Of each of a lane's numbers the sum over the warp. In each step a lane gives half of its numbers away, so that
// lane l is left with number l * DIRECT_CHANNELS / 32, as the first.
__device__ __forceinline__ void sum_over_warp(float (&numbers)[DIRECT_CHANNELS], const int lane) {
  #pragma unroll
  for (int reach = 16; reach > 0; reach /= 2) {
    const int left = DIRECT_CHANNELS * reach / 32;
    if (left == 0) numbers[0] += __shfl_xor_sync(0xffffffffu, numbers[0], reach);
    #pragma unroll
    for (int c = 0; c < DIRECT_CHANNELS / 2; ++c) {
      if (c >= left) break;
      const bool upper = (lane & reach) != 0;
      const float given = upper ? numbers[c] : numbers[c + left];
      numbers[c] = (upper ? numbers[c + left] : numbers[c]) + __shfl_xor_sync(0xffffffffu, given, reach);
    }
  }
}

// --- section: sum_over_block
// The sum of all threads' numbers, the same in each of them; `of_warps` is another one in each use.
__device__ __forceinline__ float sum_over_block(float number, float* of_warps) {
  #pragma unroll
  for (int reach = 16; reach > 0; reach /= 2) number += __shfl_xor_sync(0xffffffffu, number, reach);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = number;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < (int)blockDim.x / 32; ++warp) sum += of_warps[warp];
  return sum;
}

// --- section: leave_direct
// What the block leaves of each channel's values: how many they are, their mean, and the sum of the squares
// of their differences from it.
{
  __shared__ float of_warps[DIRECT_THREADS / 32][DIRECT_CHANNELS], means[DIRECT_CHANNELS];
  __shared__ int counts[DIRECT_THREADS / 32];
  const int lane = thread % 32, warp = thread / 32;
  int count = __popc(present);
  #pragma unroll
  for (int reach = 16; reach > 0; reach /= 2) count += __shfl_xor_sync(0xffffffffu, count, reach);
  if (lane == 0) counts[warp] = count;
  const auto sum_in_warps = [&](const auto& term_of) {
    float totals[DIRECT_CHANNELS];
    #pragma unroll
    for (int c = 0; c < DIRECT_CHANNELS; ++c) totals[c] = 0.0f;
    #pragma unroll
    for (int p = 0; p < ${phases}; ++p)
      #pragma unroll
      for (int i = 0; i < DIRECT_PIXELS; ++i)
        if ((present >> (p * DIRECT_PIXELS + i) & 1u) != 0)
          #pragma unroll
          for (int c = 0; c < DIRECT_CHANNELS; ++c) totals[c] += term_of(sums[p][i][c], c);
    sum_over_warp(totals, lane);
    if (lane % (32 / DIRECT_CHANNELS) == 0) of_warps[warp][lane * DIRECT_CHANNELS / 32] = totals[0];
    __syncthreads();
  };
  sum_in_warps([](const float value, int) { return value; });
  float mean = 0.0f, squares = 0.0f;
  count = 0;
  if (thread < DIRECT_CHANNELS) {
    for (int other = 0; other < DIRECT_THREADS / 32; ++other) {
      count += counts[other];
      mean += of_warps[other][thread];
    }
    if (count > 0) mean /= (float)count;
    means[thread] = mean;
  }
  __syncthreads();
  sum_in_warps([&](const float value, const int c) {
    const float apart = value - means[c];
    return apart * apart;
  });
  if (thread < DIRECT_CHANNELS && first_row + thread < ${row_count}) {
    for (int other = 0; other < DIRECT_THREADS / 32; ++other) squares += of_warps[other][thread];
    float* const left = parts + (((long)${batch} * ${row_count} + first_row + thread) * ${tile_count} + ${tile}) * 3;
    left[0] = (float)count;
    left[1] = mean;
    left[2] = squares;
  }
}

// --- section: leave_tile
// Neighbouring threads have pixels of the same line of values, and leave how many these are, their mean, and
// the sum of the squares of their differences from it.
__syncthreads();
{
  const unsigned follower = not_followed(thread);
  const int sums_line = follower / THREADS_N;
  const auto for_each_value = [&](const auto& visit) {
    #pragma unroll 4
    for (int j = 0; j < THREAD_N; ++j) {
      const unsigned pixel = follower % THREADS_N + j * THREADS_N;
      const int line = first_line + pixel / Places::tile_width, across = first_place + pixel % Places::tile_width;
      if (line >= ${height} || across >= ${width}) continue;
      ${pixel_axes}
      ${stored_guard}
      visit(tiles[sums_line * LINE_STRIDE + column_of_place<Places::tile_lines, Places::tile_width>(pixel)]);
    }
  };
  const auto sum_over_threads = [](float number) {
    #pragma unroll
    for (int reach = THREADS_N / 2; reach > 0; reach /= 2)
      number += __shfl_xor_sync(0xffffffffu, number, reach);
    return number;
  };
  float count = 0.0f, mean = 0.0f, squares = 0.0f;
  for_each_value([&](const float value) {
    count += 1.0f;
    mean += value;
  });
  count = sum_over_threads(count);
  mean = sum_over_threads(mean);
  if (count > 0.0f) mean /= count;
  for_each_value([&](const float value) {
    const float apart = value - mean;
    squares += apart * apart;
  });
  squares = sum_over_threads(squares);
  // What is computed again here takes no registers before.
  const int block = not_followed(blockIdx.x), m = ${block} % tiles_down * TILE_M + row_place(sums_line, i);
  if (m < ${row_count} && follower % THREADS_N == 0) {
    const int tile_count = tiles_wide * tiles_high, of_tile = ${block} / tiles_down;
    float* const left =
        parts + (((long)${batch} * ${row_count} + m) * tile_count + of_tile % tile_count) * 3;
    left[0] = count;
    left[1] = mean;
    left[2] = squares;
  }
}

// --- section: join
// Joins what blocks have left, in the same order every time. A block for each number of
// ${name}.
${qualifier}
${signature} {
  __shared__ float of_warps[${threads} / 32];
  ${more_warps}
  const long id = blockIdx.x;
  ${axes}
  const int tile_count = ${tile_count};
  float sum = 0.0f;
  #pragma unroll 4
  for (int part = threadIdx.x; part < ${joined_count} * tile_count; part += ${threads}) {
    ${part}
    sum += left[0] * left[1];
  }
  sum = sum_over_block(sum, of_warps);
  ${sum_values}
  ${squares}
  if (threadIdx.x != 0) return;
  ${stores}
}

// --- section: part
const int joined = part / tile_count;
${joined_axes}
const float* const left = parts + (${place} * tile_count + part % tile_count) * 3;

// --- section: join_squares
float squares = 0.0f;
#pragma unroll 4
for (int part = threadIdx.x; part < ${joined_count} * tile_count; part += ${threads}) {
  ${part}
  const float apart = left[1] - ${centre};
  squares += left[2] + left[0] * (apart * apart);
}
squares = sum_over_block(squares, of_warps_too);
${squares_values}
