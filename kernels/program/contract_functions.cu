// Functions that the kernels of contract.cu and patches.cu call: how the products of a tile are added to a thread's
// sums, by threads, by warps and by warpgroups, and where in the tile these sums are.
//
// definitions: TILE_M TILE_N TILE_K THREAD_M THREAD_N SPLIT_K

// --- section: block_tile
#define THREADS_M (TILE_M / THREAD_M)
#define THREADS_N (TILE_N / THREAD_N)
#define TILE_THREADS (THREADS_M * THREADS_N)
// How many rows of tiles blocks go through side by side.
#define BAND 8
// Of how many rows and columns a thread loads elements: it loads several steps of each.
#define ROW_PLACES (TILE_M > TILE_THREADS ? TILE_M / TILE_THREADS : 1)
#define COLUMN_PLACES (TILE_N > TILE_THREADS ? TILE_N / TILE_THREADS : 1)
// How many elements that is; runs of four rows by four steps take more registers.
#define ROW_LOADS (TILE_M * TILE_K / TILE_THREADS)
#define COLUMN_LOADS (TILE_N * TILE_K / TILE_THREADS)
#define AT_LEAST_A_RUN(loads) ((loads) < 16 ? 16 : (loads))
// Of a line of finished sums in shared memory.
#define LINE_STRIDE (TILE_N + 4)

// --- section: factors_split
${split}

// --- section: factors_rounded
${rounded}

// --- section: multiply_tile
// Four more: the steps of a column begin in different banks, and at multiples of 16 bytes.
#define ROW_STRIDE (TILE_M + 4)
#define COLUMN_STRIDE (TILE_N + 4)
#define RESIDENT_BLOCKS 1

// A thread has runs of four rows and of four columns. The place of its i-th one among `threads`.
__device__ __forceinline__ int place_of(const int thread, const int threads, const int i) {
  return 4 * (thread + i / 4 * threads) + i % 4;
}

// Where in the tile a thread's sums are. Of the rows of its i-th sums the block has THREADS_M, in the order of `line`.
__device__ __forceinline__ int line_of(const int thread) { return thread / THREADS_N; }
__device__ __forceinline__ int row_place(const int line, const int i) { return place_of(line, THREADS_M, i); }
__device__ __forceinline__ int column_place(const int thread, const int j) {
  return place_of(thread % THREADS_N, THREADS_N, j);
}

// Adds the products of a tile of TILE_K steps to a thread's sums.
__device__ __forceinline__ void multiply_tile(const float* rows, const float* columns, const int thread,
                                              float (&sum)[THREAD_M][THREAD_N]) {
  #pragma unroll
  for (int step = 0; step < TILE_K; ++step) {
    float4 row[THREAD_M / 4], column[THREAD_N / 4];
    #pragma unroll
    for (int i = 0; i < THREAD_M / 4; ++i)
      row[i] = *(const float4*)(rows + step * ROW_STRIDE + row_place(line_of(thread), 4 * i));
    #pragma unroll
    for (int j = 0; j < THREAD_N / 4; ++j)
      column[j] = *(const float4*)(columns + step * COLUMN_STRIDE + column_place(thread, 4 * j));
    #pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
      const float4 four = row[i / 4];
      const float element = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
      #pragma unroll
      for (int j = 0; j < THREAD_N / 4; ++j) {
        sum[i][4 * j] = fmaf(element, column[j].x, sum[i][4 * j]);
        sum[i][4 * j + 1] = fmaf(element, column[j].y, sum[i][4 * j + 1]);
        sum[i][4 * j + 2] = fmaf(element, column[j].z, sum[i][4 * j + 2]);
        sum[i][4 * j + 3] = fmaf(element, column[j].w, sum[i][4 * j + 3]);
      }
    }
  }
}

// --- section: lane_tile
// Eight more: what the lanes of a warp read at once is in different banks.
#define ROW_STRIDE (TILE_M + 8)
#define COLUMN_STRIDE (TILE_N + 8)
// Threads with few sums are to be so many that they hide each other's waiting; those with 64 take what there is.
#define UNIT_THREADS (THREAD_M * THREAD_N > 32 ? 256 : 512)
#define RESIDENT_BLOCKS (TILE_THREADS < UNIT_THREADS ? UNIT_THREADS / TILE_THREADS : 1)
// Of short sums the outputs take the time: while one block stores, another one multiplies.
#define RESIDENT_SHORT_BLOCKS (RESIDENT_BLOCKS < 2 && TILE_THREADS <= 256 ? 2 : RESIDENT_BLOCKS)

${multiply_add}

// Where in the tile a thread's sums are. Of the rows of its i-th sums the block has THREADS_M, in the order of `line`.
// Warps have 8 * THREAD_M rows and 32 columns, side by side. In an instruction a lane has two rows and two columns;
// over four instructions in each direction they are neighbours, which it reads and writes together.
__device__ __forceinline__ int line_of(const int thread) {
  return thread / 32 / (TILE_N / 32) * 8 + thread % 32 / 4;
}
__device__ __forceinline__ int row_place(const int line, const int i) {
  return line / 8 * (8 * THREAD_M) + i / 4 * 32 + line % 8 * 4 + i % 4;
}
__device__ __forceinline__ int column_place(const int thread, const int j) {
  return thread / 32 % (TILE_N / 32) * 32 + thread % 4 * 8 + j;
}

// --- section: multiply_tile_tf32
// An operand of four steps: each element as two tf32 numbers.
__device__ __forceinline__ void split_four(const float4 four, unsigned (&high)[4], unsigned (&low)[4]) {
  const float elements[4] = {four.x, four.y, four.z, four.w};
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    const Split parts = split(elements[i]);
    high[i] = parts.high;
    low[i] = parts.low;
  }
}

// Adds the products of a tile of TILE_K steps to a thread's sums. Tensor cores cut off what does not fit an
// accumulator; so the products of eight steps are summed from zero, the small ones first, and added in f32.
__device__ __forceinline__ void multiply_tile(const float* rows, const float* columns, const int thread,
                                              float (&sum)[THREAD_M][THREAD_N]) {
  const int lane = thread % 32;
  const float* row = rows + lane % 4 * ROW_STRIDE + row_place(line_of(thread), 0);
  const float* column = columns + lane % 4 * COLUMN_STRIDE + column_place(thread - lane, 0) + lane / 4 * 4;
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 8) {
    // By step of four and column; instructions take these columns of four lanes' groups as their own.
    unsigned column_high[2][4], column_low[2][4];
    #pragma unroll
    for (int k = 0; k < 2; ++k)
      split_four(*(const float4*)(column + (step + 4 * k) * COLUMN_STRIDE), column_high[k], column_low[k]);
    #pragma unroll
    for (int i = 0; i < THREAD_M; i += 4) {
      unsigned row_high[2][4], row_low[2][4];
      #pragma unroll
      for (int k = 0; k < 2; ++k)
        split_four(*(const float4*)(row + (step + 4 * k) * ROW_STRIDE + i * 8), row_high[k], row_low[k]);
      #pragma unroll
      for (int half = 0; half < 4; half += 2) {
        const unsigned a_high[4] = {row_high[0][half], row_high[0][half + 1], row_high[1][half], row_high[1][half + 1]};
        const unsigned a_low[4] = {row_low[0][half], row_low[0][half + 1], row_low[1][half], row_low[1][half + 1]};
        // Four products are under way at a time: each waits for the one before it of the same part.
        float part[4][4];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const unsigned b_high[2] = {column_high[0][j], column_high[1][j]};
          part[j][0] = part[j][1] = part[j][2] = part[j][3] = 0.0f;
          multiply_add(part[j], a_low, b_high);
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const unsigned b_low[2] = {column_low[0][j], column_low[1][j]};
          multiply_add(part[j], a_high, b_low);
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          const unsigned b_high[2] = {column_high[0][j], column_high[1][j]};
          multiply_add(part[j], a_high, b_high);
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          sum[i + half][j] += part[j][0];
          sum[i + half][j + 4] += part[j][1];
          sum[i + half + 1][j] += part[j][2];
          sum[i + half + 1][j + 4] += part[j][3];
        }
      }
    }
  }
}

// --- section: multiply_tile_tf32_rounded
// Adds the products of a tile of TILE_K steps of tf32 numbers to a thread's sums. Tensor cores cut off what does not fit
// an accumulator; of a long sum, each part of eight steps is summed from zero, and added in f32.
template <bool IS_LONG>
__device__ __forceinline__ void multiply_rounded_tile(const float* rows, const float* columns, const int thread,
                                                      float (&sum)[THREAD_M][THREAD_N]) {
  const int lane = thread % 32;
  const float* row = rows + lane % 4 * ROW_STRIDE + row_place(line_of(thread), 0);
  const float* column = columns + lane % 4 * COLUMN_STRIDE + column_place(thread - lane, 0) + lane / 4 * 4;
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 8) {
    uint4 column_steps[2];
    #pragma unroll
    for (int k = 0; k < 2; ++k) column_steps[k] = *(const uint4*)(column + (step + 4 * k) * COLUMN_STRIDE);
    const unsigned b[4][2] = {{column_steps[0].x, column_steps[1].x},
                              {column_steps[0].y, column_steps[1].y},
                              {column_steps[0].z, column_steps[1].z},
                              {column_steps[0].w, column_steps[1].w}};
    #pragma unroll
    for (int i = 0; i < THREAD_M; i += 4) {
      uint4 row_steps[2];
      #pragma unroll
      for (int k = 0; k < 2; ++k) row_steps[k] = *(const uint4*)(row + (step + 4 * k) * ROW_STRIDE + i * 8);
      const unsigned a[2][4] = {{row_steps[0].x, row_steps[0].y, row_steps[1].x, row_steps[1].y},
                                {row_steps[0].z, row_steps[0].w, row_steps[1].z, row_steps[1].w}};
      #pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* const first = sum[i + 2 * half];
        float* const second = sum[i + 2 * half + 1];
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
          if (!IS_LONG) {
            part[0] = first[j];
            part[1] = first[j + 4];
            part[2] = second[j];
            part[3] = second[j + 4];
          }
          multiply_add(part, a[half], b[j]);
          first[j] = IS_LONG ? first[j] + part[0] : part[0];
          first[j + 4] = IS_LONG ? first[j + 4] + part[1] : part[1];
          second[j] = IS_LONG ? second[j] + part[2] : part[2];
          second[j + 4] = IS_LONG ? second[j + 4] + part[3] : part[3];
        }
      }
    }
  }
}

// --- section: group_tile
// A warpgroup has 64 rows.
#define GROUP_COLUMNS (4 * THREAD_N)

${wgmma_groups}

// Where in the tile a thread's sums are. Of the rows of its i-th sums the block has THREADS_M, in the order of `line`.
// A warp has 16 rows of its warpgroup's, a lane two of these.
__device__ __forceinline__ int line_of(const int thread) {
  return thread / 128 / (TILE_N / GROUP_COLUMNS) * 32 + thread % 128 / 4;
}
__device__ __forceinline__ int row_place(const int line, const int i) { return line / 8 * 16 + line % 8 + 8 * i; }

// A thread's sums of a row, among those of `line`: two of each eight columns.
__device__ __forceinline__ void keep_sums(float* line, const int thread, const float (&sums)[THREAD_N]) {
  float* columns = line + thread / 128 % (TILE_N / GROUP_COLUMNS) * GROUP_COLUMNS + thread % 4 * 2;
  #pragma unroll
  for (int j = 0; j < THREAD_N; j += 2) *(float2*)(columns + 4 * j) = make_float2(sums[j], sums[j + 1]);
}

// --- section: group_tile_tf32
${wgmma_multiplies}

// --- section: multiply_tile_wgmma
// Threads with few sums are to be so many that they hide each other's waiting; those with 64 take what there is.
#define UNIT_THREADS (THREAD_N > 16 ? 256 : 512)
#define RESIDENT_BLOCKS (TILE_THREADS < UNIT_THREADS ? UNIT_THREADS / TILE_THREADS : 1)
// Of a factor's tile: the high parts of all elements, and the low ones.
#define ROW_FLOATS (2 * TILE_M * TILE_K)
#define COLUMN_FLOATS (2 * TILE_N * TILE_K)

// Four steps, from 4 * chunk on, of row or column `place` of a tile of that many `places`. Tiles lie as the tensor
// cores' descriptors want them: 128 bytes of steps per place, 16-byte chunks exchanged by place.
__device__ __forceinline__ void keep_four(float* tile, const int places, const int place, const int chunk,
                                          const float a, const float b, const float c, const float d) {
  const Split parts[4] = {split(a), split(b), split(c), split(d)};
  uint4* four = (uint4*)(tile + place * TILE_K + (chunk ^ (place & 7)) * 4);
  four[0] = make_uint4(parts[0].high, parts[1].high, parts[2].high, parts[3].high);
  four[places * TILE_K / 4] = make_uint4(parts[0].low, parts[1].low, parts[2].low, parts[3].low);
}

// Begins the products of a tile of TILE_K steps. Tensor cores cut off what does not fit an accumulator; so those of a
// tile are summed from zero, the small ones first.
__device__ __forceinline__ void begin_tile(const float* rows, const float* columns, const int thread,
                                           float (&part)[THREAD_N / 2][4]) {
  const float* row = rows + thread / 128 / (TILE_N / GROUP_COLUMNS) * 64 * TILE_K;
  const float* column = columns + thread / 128 % (TILE_N / GROUP_COLUMNS) * GROUP_COLUMNS * TILE_K;
  begin_products();
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 8) {
    multiply(part, row + TILE_M * TILE_K + step, column + step, step > 0);
    multiply(part, row + step, column + TILE_N * TILE_K + step, true);
  }
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 8) multiply(part, row + step, column + step, true);
  commit_products();
}

// Adds them to a thread's sums, in f32.
__device__ __forceinline__ void end_tile(float (&part)[THREAD_N / 2][4], float (&sum)[THREAD_M][THREAD_N]) {
  wait_products<0>(part);
  #pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
    #pragma unroll
    for (int j = 0; j < THREAD_N; ++j) sum[i][j] += part[j / 2][2 * i + j % 2];
}

// --- section: multiply_tile_wgmma_rounded
// As many as registers allow: sums, elements on their way, and what places of elements take.
#define BLOCKS_OF(registers) ((registers) * TILE_THREADS < 65536 ? 65536 / ((registers) * TILE_THREADS) : 1)
#define ROUNDED_REGISTERS (2 * THREAD_N + AT_LEAST_A_RUN(ROW_LOADS) + AT_LEAST_A_RUN(COLUMN_LOADS) + 32)
#define RESIDENT_ROUNDED_BLOCKS BLOCKS_OF(ROUNDED_REGISTERS)
// A long sum has its registers twice.
#define RESIDENT_LONG_BLOCKS BLOCKS_OF(ROUNDED_REGISTERS + 2 * THREAD_N)

// The same number, of which the compiler does not know that: what follows from it is computed again where it would be
// held in registers otherwise.
__device__ __forceinline__ int computed_again(int number) {
#ifndef KW_SIM
  asm volatile("" : "+r"(number));
#endif
  return number;
}

// As keep_four(), of elements that are rounded to tf32 numbers.
__device__ __forceinline__ void keep_rounded_four(float* tile, const int place, const int chunk, const float a,
                                                  const float b, const float c, const float d) {
  *(uint4*)(tile + place * TILE_K + (chunk ^ (place & 7)) * 4) =
      make_uint4(rounded_bits(a), rounded_bits(b), rounded_bits(c), rounded_bits(d));
}

// Begins to add the products of a tile of TILE_K steps.
__device__ __forceinline__ void begin_rounded_tile(const float* rows, const float* columns, const int thread,
                                                   float (&part)[THREAD_N / 2][4]) {
  const float* row = rows + thread / 128 / (TILE_N / GROUP_COLUMNS) * 64 * TILE_K;
  const float* column = columns + thread / 128 % (TILE_N / GROUP_COLUMNS) * GROUP_COLUMNS * TILE_K;
  begin_products();
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 8) multiply(part, row + step, column + step, true);
  commit_products();
}

// --- section: tiles_under_way
// Until the tensor cores have read all tiles but the last one; nobody may read `part` yet.
__device__ __forceinline__ void wait_for_tiles() {
#ifdef KW_SIM
  __kw_sim_wgmma_wait_group<1>();
#else
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#endif
}

// Adds the products of all tiles that were begun to a thread's sums.
__device__ __forceinline__ void end_tiles(float (&part)[THREAD_N / 2][4], float (&sum)[THREAD_M][THREAD_N]) {
  wait_products<0>(part);
  #pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
    #pragma unroll
    for (int j = 0; j < THREAD_N; ++j) {
      sum[i][j] += part[j / 2][2 * i + j % 2];
      part[j / 2][2 * i + j % 2] = 0.0f;
    }
}

// --- section: stored_sums
// A thread's sums of a row, among those of `line`.
__device__ __forceinline__ void keep_sums(float* line, const int thread, const float (&sums)[THREAD_N]) {
  #pragma unroll
  for (int j = 0; j < THREAD_N; j += 4)
    *(float4*)(line + column_place(thread, j)) = make_float4(sums[j], sums[j + 1], sums[j + 2], sums[j + 3]);
}
