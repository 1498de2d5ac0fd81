// Products of a small matrix and one whose columns are neighbours in memory, such as convolutions of one tap, for the
// tensor cores of sm_80 and later. A block keeps its rows in shared memory and goes through many strips of columns; the
// output takes the time, and is written from registers, in whole lines. operators/program/kernels/contract_strips.cpp
// fills the holes.
//
// definitions: TILE_M PASS_M TILE_K STRIP_WARPS STRIP_STAGES

// --- section: lane_strip
${copies}

${multiply_add}

#define TILE_THREADS (32 * STRIP_WARPS)
// Of the columns that a warp multiplies at a time.
#define STRIP_FLOATS (32 * TILE_K)
// Blocks that a unit is to hold: sums, products of four times eight rows on their way, and what places take.
#define STRIP_BLOCKS_OF(registers) ((registers) * TILE_THREADS < 65536 ? 65536 / ((registers) * TILE_THREADS) : 1)

// Where the four columns from 4 * four on of a step are in a strip: exchanged by step, so that what the lanes of a warp
// read at once, two fours of four steps, is in different banks.
__device__ __forceinline__ int strip_place(const int step, const int four) {
  return 32 * step + (four ^ (step & 3) * 2) * 4;
}

// A lane has four neighbouring columns of each row. An instruction takes two of them as its rows; what we call rows are
// its columns.
#define STRIP_SUMS float (&sum)[PASS_M / 8][2][4]

// --- section: multiply_strip
#define RESIDENT_STRIP_BLOCKS STRIP_BLOCKS_OF(PASS_M * 3 / 2 + 76)

// Adds the products of `steps` steps to a warp's sums. Tensor cores cut off what does not fit an accumulator; so the
// products of eight steps are summed from zero, the small ones first, and added in f32. Each lane finds both parts of its
// numbers of eight rows side by side.
__device__ __forceinline__ void multiply_strip(const float* rows, const float* strip, const int steps, const int lane,
                                               STRIP_SUMS) {
  #pragma unroll 1
  for (int step = 0; step < steps; step += 8) {
    const float4 near = *(const float4*)(strip + strip_place(step + lane % 4, lane / 4));
    const float4 far = *(const float4*)(strip + strip_place(step + 4 + lane % 4, lane / 4));
    const Split parts[2][4] = {{split(near.x), split(near.y), split(far.x), split(far.y)},
                               {split(near.z), split(near.w), split(far.z), split(far.w)}};
    unsigned high[2][4], low[2][4];
    #pragma unroll
    for (int half = 0; half < 2; ++half)
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        high[half][i] = parts[half][i].high;
        low[half][i] = parts[half][i].low;
      }
    const uint4* const of_lane = (const uint4*)rows + step / 8 * (PASS_M / 8 * 32) + lane;
    #pragma unroll
    for (int j = 0; j < PASS_M / 8; j += 2) {
      unsigned row_high[2][2], row_low[2][2];
      float part[2][2][4];
      #pragma unroll
      for (int k = 0; k < 2; ++k) {
        const uint4 four = of_lane[(j + k) * 32];
        row_high[k][0] = four.x;
        row_high[k][1] = four.y;
        row_low[k][0] = four.z;
        row_low[k][1] = four.w;
        #pragma unroll
        for (int half = 0; half < 2; ++half)
          part[k][half][0] = part[k][half][1] = part[k][half][2] = part[k][half][3] = 0.0f;
      }
      // Four products are under way at a time: each waits for the one before it of the same part.
      #pragma unroll
      for (int k = 0; k < 2; ++k)
        #pragma unroll
        for (int half = 0; half < 2; ++half) multiply_add(part[k][half], low[half], row_high[k]);
      #pragma unroll
      for (int k = 0; k < 2; ++k)
        #pragma unroll
        for (int half = 0; half < 2; ++half) multiply_add(part[k][half], high[half], row_low[k]);
      #pragma unroll
      for (int k = 0; k < 2; ++k)
        #pragma unroll
        for (int half = 0; half < 2; ++half) multiply_add(part[k][half], high[half], row_high[k]);
      #pragma unroll
      for (int k = 0; k < 2; ++k)
        #pragma unroll
        for (int half = 0; half < 2; ++half)
          #pragma unroll
          for (int i = 0; i < 4; ++i) sum[j + k][half][i] += part[k][half][i];
    }
  }
}

// --- section: multiply_strip_rounded
#define RESIDENT_STRIP_BLOCKS STRIP_BLOCKS_OF(PASS_M + 72)

// Adds the products of `steps` steps of tf32 numbers to a warp's sums. Tensor cores cut off what does not fit an
// accumulator; of a long sum, each part of eight steps is summed from zero, and added in f32. Each lane finds its numbers
// of eight rows side by side.
template <bool IS_LONG>
__device__ __forceinline__ void multiply_rounded_strip(const float* rows, const float* strip, const int steps,
                                                       const int lane, STRIP_SUMS) {
  #pragma unroll 1
  for (int step = 0; step < steps; step += 8) {
    const float4 near = *(const float4*)(strip + strip_place(step + lane % 4, lane / 4));
    const float4 far = *(const float4*)(strip + strip_place(step + 4 + lane % 4, lane / 4));
    const unsigned columns[2][4] = {
        {rounded_bits(near.x), rounded_bits(near.y), rounded_bits(far.x), rounded_bits(far.y)},
        {rounded_bits(near.z), rounded_bits(near.w), rounded_bits(far.z), rounded_bits(far.w)}};
    const uint2* const of_lane = (const uint2*)rows + step / 8 * (PASS_M / 8 * 32) + lane;
    #pragma unroll
    for (int j = 0; j < PASS_M / 8; ++j) {
      const uint2 two = of_lane[j * 32];
      const unsigned row[2] = {two.x, two.y};
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (IS_LONG) {
          float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
          multiply_add(part, columns[half], row);
          #pragma unroll
          for (int i = 0; i < 4; ++i) sum[j][half][i] += part[i];
        } else {
          multiply_add(sum[j][half], columns[half], row);
        }
      }
    }
  }
}

// --- section: keep_row
const Split parts = split(element);
row_tile[at / 2 * 4 + at % 2] = __uint_as_float(parts.high);
row_tile[at / 2 * 4 + at % 2 + 2] = __uint_as_float(parts.low);

// --- section: keep_rounded_row
row_tile[at] = __uint_as_float(rounded_bits(element));

// --- section: products
// TILE_M rows per block, PASS_M of them at a time, and strips of 32 columns: one for each warp, then more.
${qualifier}
${signature} {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const row_tile = (float*)shared_memory;
  const int thread = threadIdx.x, lane = thread % 32;
  float* const strips = row_tile + ${parts} * TILE_M * TILE_K + thread / 32 * (STRIP_STAGES * STRIP_FLOATS);
  const int tiles_down = (${row_count} + TILE_M - 1) / TILE_M;
  const int tiles = ${tiles};
  const int first_row = (int)blockIdx.x % tiles_down * TILE_M;
  ${batch}
  const int end = ${steps};
  // A turn is TILE_K steps of a strip for each warp. Where these are all, its rows pass by; else each
  // pass has turns of its own, and the rows come again.
  const int apart = (int)gridDim.x / tiles, block = (int)blockIdx.x / tiles;
  const int chunks = (end + TILE_K - 1) / TILE_K;
  const int blocks_across = (${column_count} + TILE_THREADS - 1) / TILE_THREADS;
  const int turns_each = chunks == 1 ? 1 : chunks * (TILE_M / PASS_M);
  const int turns = (blocks_across - block + apart - 1) / apart * turns_each;
  const bool columns_whole = ${columns_whole};
  const bool stores_whole = ${stores_whole};
  const auto first_column = [&](const int turn) {
    return (block + turn / turns_each * apart) * TILE_THREADS + thread / 32 * 32;
  };
  // In the order in which lanes read them: for each pass eight steps of eight rows after each other.
  const auto keep_rows = [&](const int first_step) {
    for (int at = thread; at < TILE_M * TILE_K; at += TILE_THREADS) {
      const int eight = at / 64, of_lane = at / 2 % 32;
      const int m = first_row + at / (PASS_M * TILE_K) * PASS_M + eight % (PASS_M / 8) * 8 + of_lane / 4;
      const int k = first_step + eight / (PASS_M / 8) % (TILE_K / 8) * 8 + at % 2 * 4 + of_lane % 4;
      float element = 0.0f;
      if (m < ${row_count} && k < end) {
        ${row_axes}
        element = ${row_element};
      }
      ${keep_row}
    }
  };
  const auto copy_strip = [&](const int turn) {
    if (turn < turns) {
      float* const to = strips + turn % STRIP_STAGES * STRIP_FLOATS;
      const int first_step = turn % chunks * TILE_K, first_n = first_column(turn) + lane % 8 * 4;
      const int steps = min(TILE_K, (end - first_step + 7) / 8 * 8);
      if (columns_whole) {
        const int n = first_n;
        ${column_axes}
        const float* const from = ${memory} + (${start});
        #pragma unroll 4
        for (int i = 0; i < steps; i += 4) {
          const int step = i + lane / 8, k = first_step + step;
          const bool inside = n < ${column_count} && k < end;
          cp_async_16(to + strip_place(step, lane % 8), inside ? from + (long)k * ${step_stride} : ${memory},
                      inside ? 16 : 0);
        }
      } else {
        for (int j = 0; j < 4; ++j) {
          const int n = first_n + j;
          ${column_axes}
          const float* const from = ${memory} + (${start});
          for (int i = 0; i < steps; i += 4) {
            const int step = i + lane / 8, k = first_step + step;
            to[strip_place(step, lane % 8) + j] =
                n < ${column_count} && k < end ? from[(long)k * ${step_stride}] : 0.0f;
          }
        }
      }
    }
    cp_async_commit();
  };
  float sum[PASS_M / 8][2][4];
  const auto clear_sums = [&]() {
    #pragma unroll
    for (int j = 0; j < PASS_M / 8; ++j)
      #pragma unroll
      for (int i = 0; i < 4; ++i) sum[j][0][i] = sum[j][1][i] = 0.0f;
  };
  #pragma unroll
  for (int ahead = 0; ahead < STRIP_STAGES; ++ahead) copy_strip(ahead);
  if (chunks == 1) {
    keep_rows(0);
    __syncthreads();
  }
  clear_sums();
  #pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    const int first_step = turn % chunks * TILE_K, first_n = first_column(turn) + lane / 4 * 4;
    if (chunks > 1) {
      __syncthreads();
      keep_rows(first_step);
      __syncthreads();
    }
    cp_async_wait<STRIP_STAGES - 1>();
    __syncwarp();
    const int first_pass = chunks == 1 ? 0 : turn / chunks % (TILE_M / PASS_M);
    const int last_pass = chunks == 1 ? TILE_M / PASS_M - 1 : first_pass;
    #pragma unroll 1
    for (int pass = first_pass; pass <= last_pass; ++pass) {
      ${multiply_strip}(row_tile + pass * (${parts} * PASS_M * TILE_K), strips + turn % STRIP_STAGES * STRIP_FLOATS,
                     min(TILE_K, end - first_step), lane, sum);
      if (pass == last_pass) {
        // All lanes have read the strip, and another one may come there.
        __syncwarp();
        copy_strip(turn + STRIP_STAGES);
      }
      if (first_step + TILE_K < end) continue;
      ${stores}
      clear_sums();
    }
  }
}

// --- section: stores
if (stores_whole) {
  const int n = first_n;
  ${place_axes}
  const long place_of_stored = ${stored_place};
  #pragma unroll
  for (int j = 0; j < PASS_M / 8; ++j)
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int m = first_row + pass * PASS_M + 8 * j + lane % 4 * 2 + i;
      if (n >= ${column_count} || m >= ${row_count}) continue;
      ${row_axes}
      float results[4];
      #pragma unroll
      for (int item = 0; item < 4; ++item) {
        const float total = sum[j][item / 2][item % 2 * 2 + i];
        ${value_axes}
        ${values}
        results[item] = ${value};
      }
      *(float4*)(${out} + (${place})) = make_float4(results[0], results[1], results[2], results[3]);
    }
} else {
  #pragma unroll
  for (int item = 0; item < 4; ++item) {
    const int n = first_n + item;
    ${column_axes}
    const long place_of_stored = ${stored_place};
    #pragma unroll
    for (int j = 0; j < PASS_M / 8; ++j)
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int m = first_row + pass * PASS_M + 8 * j + lane % 4 * 2 + i;
        if (n >= ${column_count} || m >= ${row_count}) continue;
        const float total = sum[j][item / 2][item % 2 * 2 + i];
        ${row_axes}
        ${values}
        ${store}
      }
  }
}
