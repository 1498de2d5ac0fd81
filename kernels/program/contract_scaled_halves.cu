// Products of f32 on tensor cores that multiply f16 numbers, with the error of f32. Each row of the first factor and each
// column of the second is scaled by a power of two, and each of its numbers is kept as the sum of two f16 numbers, the
// small one 2048 times as large as it counts; three of the four products of such sums are added up (H. Ootomo, R.
// Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
// performance", 2022; the scaling is ours). Where factors may be rounded, the large parts alone are multiplied, which have
// as many bits as tf32 numbers. operators/program/kernels/contract_scaled_halves.cpp fills the holes.
//
// definitions: TILE_M TILE_N TILE_K THREAD_M THREAD_N TILE_STAGES SPLIT_K

// --- section: numbers
#define SMALL_SCALE 2048.0f

__device__ __forceinline__ float power_of_two(const int exponent) { return __int_as_float((exponent + 127) << 23); }

// What the numbers of a row are divided by, as an exponent of two: the largest one becomes at least 2^14 and less than
// 2^15; f16 ends at 65504. Of rows below 2^-112 it is smaller, so that the power and its inverse are normal floats.
__device__ __forceinline__ int exponent_of(const float largest) {
  return max((__float_as_int(largest) >> 23) - 127, -112) - 14;
}

// number * 2^exponent, where the power alone may be too large or too small for a float.
__device__ __forceinline__ float times_power(const float number, const int exponent) {
  const int half = exponent >> 1;
  return number * power_of_two(half) * power_of_two(exponent - half);
}

// The largest of eight numbers, their signs aside, and of what was found; infinite where one is, NaN aside.
__device__ __forceinline__ float largest_magnitude(const float (&numbers)[8], float largest) {
  #pragma unroll
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, fabsf(numbers[i]));
  return largest;
}

// The largest of eight numbers, their signs aside, and of what was found; without those that are not finite.
__device__ __forceinline__ float largest_of(const float (&numbers)[8], float largest) {
  #pragma unroll
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, fabsf(numbers[i]) < INFINITY ? fabsf(numbers[i]) : 0.0f);
  return largest;
}

// Stores eight numbers as large parts and as small ones, 16 bytes each.
__device__ __forceinline__ void store_parts(void* const large_parts, void* const small_parts,
                                            const float (&numbers)[8], const float scale) {
  __align__(16) __half2 large[4];
  __align__(16) __half2 small[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float first = numbers[2 * i] * scale, second = numbers[2 * i + 1] * scale;
    large[i] = __floats2half2_rn(first, second);
    const float2 kept = __half22float2(large[i]);
    small[i] = __floats2half2_rn((first - kept.x) * SMALL_SCALE, (second - kept.y) * SMALL_SCALE);
  }
  *(uint4*)large_parts = *(const uint4*)large;
  *(uint4*)small_parts = *(const uint4*)small;
}

// --- section: parts_both
// How many steps lie together: first their large parts, then their small ones, 128 bytes in all.
#define SCALED_STEPS 32

__device__ __forceinline__ void store_eight(__half* const to, const float (&numbers)[8], const float scale) {
  store_parts(to, to + SCALED_STEPS, numbers, scale);
}

// --- section: parts_rounded
// How many steps lie together, 128 bytes.
#define SCALED_STEPS 64

__device__ __forceinline__ void store_eight(__half* const to, const float (&numbers)[8], const float scale) {
  __align__(16) __half2 large[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) large[i] = __floats2half2_rn(numbers[2 * i] * scale, numbers[2 * i + 1] * scale);
  *(uint4*)to = *(const uint4*)large;
}

// --- section: splitting
// Halves that lie together.
#define SCALED_HALVES 64
#define SPLIT_THREADS 256
// Blocks for the same lines whose steps are no neighbours in memory.
#define SPLIT_PARTS 16
// Runs of eight steps that a thread keeps from the search for the largest number on; those behind them are read again.
#define KEPT_RUNS 4
// Steps that a warp splits at a time where neighbours in memory are of one step.
#define SPLIT_STEPS 32

// Of eight steps from `step` on; zeros behind the last one. Where the row is `whole`, it begins at a multiple of 16
// bytes and has a multiple of eight steps.
__device__ __forceinline__ void load_eight(float (&numbers)[8], const float* const row, const int step, const int steps,
                                           const bool whole) {
  if (whole && step < steps) {
    *(float4*)numbers = *(const float4*)(row + step);
    *(float4*)(numbers + 4) = *(const float4*)(row + step + 4);
  } else {
    #pragma unroll
    for (int i = 0; i < 8; ++i) numbers[i] = step + i < steps ? row[step + i] : 0.0f;
  }
}

// --- section: split_rows_of_steps
// Splits the ${lines} of ${name}, each one by ${line_threads} threads: neighbouring steps are neighbours in memory.
${qualifier}
${signature} {
  constexpr int line_threads = ${line_threads};
  const int thread = (int)threadIdx.x % line_threads;
  const long line = (long)blockIdx.x * (SPLIT_THREADS / line_threads) + (int)threadIdx.x / line_threads;
  ${rest}
  ${axes}
  const float* const from = ${memory} + (${start});
  const int steps = ${steps}, runs = (steps + SCALED_STEPS - 1) / SCALED_STEPS * (SCALED_STEPS / 8);
  const bool whole = ${whole};
  __align__(16) float kept[KEPT_RUNS][8];
  float largest = 0.0f;
  #pragma unroll
  for (int i = 0; i < KEPT_RUNS; ++i) {
    load_eight(kept[i], from, 8 * (thread + i * line_threads), steps, whole);
    largest = largest_of(kept[i], largest);
  }
  for (int run = thread + KEPT_RUNS * line_threads; run < runs; run += line_threads) {
    __align__(16) float numbers[8];
    load_eight(numbers, from, 8 * run, steps, whole);
    largest = largest_of(numbers, largest);
  }
  #pragma unroll
  for (int apart = 16; apart > 0; apart /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
  ${largest_of_block}
  const int exponent = exponent_of(largest);
  if (thread == 0) exponents[line] = exponent;
  const float scale = power_of_two(-exponent);
  __half* const to = halves + line * (runs / (SCALED_STEPS / 8)) * SCALED_HALVES;
  const auto place = [&](const int run) {
    return to + run / (SCALED_STEPS / 8) * SCALED_HALVES + run % (SCALED_STEPS / 8) * 8;
  };
  #pragma unroll
  for (int i = 0; i < KEPT_RUNS; ++i) {
    const int run = thread + i * line_threads;
    if (run < runs) store_eight(place(run), kept[i], scale);
  }
  for (int run = thread + KEPT_RUNS * line_threads; run < runs; run += line_threads) {
    __align__(16) float numbers[8];
    load_eight(numbers, from, 8 * run, steps, whole);
    store_eight(place(run), numbers, scale);
  }
}

// --- section: largest_of_block
__shared__ float of_warp[SPLIT_THREADS / 32];
if (thread % 32 == 0) of_warp[thread / 32] = largest;
__syncthreads();
#pragma unroll
for (int i = 0; i < SPLIT_THREADS / 32; ++i) largest = fmaxf(largest, of_warp[i]);

// --- section: lines_of_steps
// A lane has one of 32 lines, a block one of SPLIT_PARTS parts of the steps, a warp SPLIT_STEPS steps at a time.
const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
const int lines = ${line_count}, steps = ${steps};
constexpr int together = SCALED_STEPS / SPLIT_STEPS;
const int chunks = (steps + SCALED_STEPS - 1) / SCALED_STEPS * together;
const int part_chunks = (chunks + SPLIT_PARTS - 1) / SPLIT_PARTS;
const int first_chunk = block % SPLIT_PARTS * part_chunks;
const int end_chunk = min(first_chunk + part_chunks, chunks);
const int tiles = (lines + 31) / 32, tile = block / SPLIT_PARTS;
${batch}
// Lanes without a line read the last one.
const int first = tile % tiles * 32, line = min(first + lane, lines - 1);
${axes}
const long place = ${flat_line};
const float* const from = ${memory} + (${start});
const auto load_steps = [&](float (&numbers)[SPLIT_STEPS / 8][8], const int next) {
  #pragma unroll
  for (int i = 0; i < SPLIT_STEPS; ++i) {
    const int k = next + i;
    ${step_axes}
    numbers[i / 8][i % 8] = k < steps ? from[${step}] : 0.0f;
  }
};

// --- section: largest_of_lines
// Finds the largest numbers of the ${lines} of ${name}: neighbours in memory are of one step.
${qualifier}
${signature} {
  const int block = (int)blockIdx.x;
  ${lines_of_steps}
  float most = 0.0f;
  for (int chunk = first_chunk + warp; chunk < end_chunk; chunk += SPLIT_THREADS / 32) {
    float numbers[SPLIT_STEPS / 8][8];
    load_steps(numbers, chunk * SPLIT_STEPS);
    #pragma unroll
    for (int i = 0; i < SPLIT_STEPS / 8; ++i) most = largest_of(numbers[i], most);
  }
  __shared__ float of_warp[SPLIT_THREADS / 32][32];
  of_warp[warp][lane] = most;
  __syncthreads();
  if (warp != 0 || first + lane >= lines) return;
  #pragma unroll
  for (int i = 1; i < SPLIT_THREADS / 32; ++i) most = fmaxf(most, of_warp[i][lane]);
  largest[block % SPLIT_PARTS * (long)${all_lines} + place] = most;
}

// --- section: split_lines
// Splits them: the numbers of a warp's steps pass through shared memory, so that lanes store neighbours.
${qualifier}
${signature} {
  // The other way round: what the search has read last is in the cache still.
  const int block = (int)(gridDim.x - 1 - blockIdx.x);
  ${lines_of_steps}
  float most = 0.0f;
  #pragma unroll
  for (int i = 0; i < SPLIT_PARTS; ++i) most = fmaxf(most, largest[i * (long)${all_lines} + place]);
  const int exponent = exponent_of(most);
  if (first_chunk == 0 && warp == 0 && first + lane < lines) exponents[place] = exponent;
  const float scale = power_of_two(-exponent);
  __shared__ float numbers_of_warp[SPLIT_THREADS / 32][32][33];
  float (&kept)[32][33] = numbers_of_warp[warp];
  for (int chunk = first_chunk + warp; chunk < end_chunk; chunk += SPLIT_THREADS / 32) {
    float numbers[SPLIT_STEPS / 8][8];
    load_steps(numbers, chunk * SPLIT_STEPS);
    __syncwarp();
    #pragma unroll
    for (int i = 0; i < SPLIT_STEPS; ++i) kept[lane][i] = numbers[i / 8][i % 8] * scale;
    __syncwarp();
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int of_tile = i * 8 + lane / 4, run = lane % 4 * 8;
      if (first + of_tile >= lines) continue;
      float eight[8];
      #pragma unroll
      for (int j = 0; j < 8; ++j) eight[j] = kept[of_tile][run + j];
      // Lines of a tile are one behind the other.
      const long at = (place - line + first + of_tile) * (chunks / together) + chunk / together;
      store_eight(halves + at * SCALED_HALVES + chunk % together * SPLIT_STEPS + run, eight, 1.0f);
    }
  }
}

// --- section: scaled_tile
// Registers are for three sums of a product each, and for one block of two warpgroups or two of one.
#define RESIDENT_SCALED_BLOCKS (256 / TILE_THREADS > 1 ? 256 / TILE_THREADS : 1)

// Begins the products of a tile of TILE_K steps: first those of large parts, from zero, because tensor cores cut off what
// does not fit an accumulator; then those with small parts, of which nothing that is cut off would show.
__device__ __forceinline__ void begin_scaled_tile(const __half* const rows, const __half* const columns,
                                                  const int thread, float (&part)[THREAD_N / 2][4],
                                                  float (&small)[THREAD_N / 2][4]) {
  const __half* row = rows + thread / 128 / (TILE_N / GROUP_COLUMNS) * 64 * (2 * TILE_K);
  const __half* column = columns + thread / 128 % (TILE_N / GROUP_COLUMNS) * GROUP_COLUMNS * (2 * TILE_K);
  begin_products();
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 16) multiply(part, row + step, column + step, step > 0);
  commit_products();
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 16) {
    multiply(small, row + TILE_K + step, column + step, true);
    multiply(small, row + step, column + TILE_K + step, true);
  }
  commit_products();
}

// Adds the products of large parts to a thread's sums, in f32, while those with small parts go on.
__device__ __forceinline__ void add_part(float (&part)[THREAD_N / 2][4], float (&sum)[THREAD_M][THREAD_N]) {
  wait_products<1>(part);
  #pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
    #pragma unroll
    for (int j = 0; j < THREAD_N; ++j) sum[i][j] += part[j / 2][2 * i + j % 2];
}

// --- section: scaled_tiles
extern __shared__ unsigned char shared_memory[];
// Descriptors count from multiples of 1024 bytes.
float* const tiles = (float*)(shared_memory + (-(long)__cvta_generic_to_shared(shared_memory) & 1023));
__half (&row_tiles)[TILE_STAGES][TILE_M * SCALED_HALVES] =
    *(__half (*)[TILE_STAGES][TILE_M * SCALED_HALVES])tiles;
__half (&column_tiles)[TILE_STAGES][TILE_N * SCALED_HALVES] =
    *(__half (*)[TILE_STAGES][TILE_N * SCALED_HALVES])(tiles + TILE_STAGES * TILE_M * SCALED_HALVES / 2);

// --- section: scaled_sums
float part_sum[THREAD_N / 2][4], small_sum[THREAD_N / 2][4];
#pragma unroll
for (int j = 0; j < THREAD_N / 2; ++j)
  #pragma unroll
  for (int i = 0; i < 4; ++i) part_sum[j][i] = small_sum[j][i] = 0.0f;

// --- section: scaled_end
// The powers of two that rows and columns were divided by.
#pragma unroll
for (int i = 0; i < THREAD_M; ++i) {
  const int m = min(first_row + row_place(line_of(thread), i), ${row_count} - 1);
  const int row_exponent = ${row_exponents}[${row_line} + m];
  #pragma unroll
  for (int j = 0; j < THREAD_N; ++j) {
    const int of_group = thread / 128 % (TILE_N / GROUP_COLUMNS) * GROUP_COLUMNS + thread % 4 * 2;
    const int n = min(first_column + of_group + j / 2 * 8 + j % 2, ${column_count} - 1);
    const float total = ${total};
    sum[i][j] = times_power(total, row_exponent + ${column_exponents}[${column_line} + n]);
  }
}
