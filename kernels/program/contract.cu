// Products of matrices for any GPU, in CUDA C++ and HIP C++. operators/program/kernels/contract_cuda.cpp fills the
// holes. Both factors are computed where they are read, tile by tile, so that convolutions need no copy of their input.
//
// definitions: TILE_M TILE_N TILE_K THREAD_M THREAD_N SPLIT_K

// --- section: tiles
__shared__ __align__(16) float tiles[2 * TILE_K * (ROW_STRIDE + COLUMN_STRIDE)];
float (&row_tiles)[2][TILE_K * ROW_STRIDE] = *(float (*)[2][TILE_K * ROW_STRIDE])tiles;
float (&column_tiles)[2][TILE_K * COLUMN_STRIDE] =
    *(float (*)[2][TILE_K * COLUMN_STRIDE])(tiles + 2 * TILE_K * ROW_STRIDE);

// --- section: tiles_wgmma
extern __shared__ unsigned char shared_memory[];
// Descriptors count from multiples of 1024 bytes.
float* const tiles = (float*)(shared_memory + (-(long)__cvta_generic_to_shared(shared_memory) & 1023));
float (&row_tiles)[2][ROW_FLOATS] = *(float (*)[2][ROW_FLOATS])tiles;
float (&column_tiles)[2][COLUMN_FLOATS] = *(float (*)[2][COLUMN_FLOATS])(tiles + 2 * ROW_FLOATS);

// --- section: tiles_wgmma_rounded
extern __shared__ unsigned char shared_memory[];
// Descriptors count from multiples of 1024 bytes.
float* const tiles = (float*)(shared_memory + (-(long)__cvta_generic_to_shared(shared_memory) & 1023));
float (&row_tiles)[3][TILE_M * TILE_K] = *(float (*)[3][TILE_M * TILE_K])tiles;
float (&column_tiles)[3][TILE_N * TILE_K] = *(float (*)[3][TILE_N * TILE_K])(tiles + 3 * TILE_M * TILE_K);

// --- section: loop
// While a tile is multiplied, the next one is on its way into registers.
for (int next = begin; next < end + TILE_K; next += TILE_K) {
  if (next < end) {
    ${load_rows}
    ${load_columns}
  }
  if (next > begin) ${multiply_tile}(row_tiles[stage], column_tiles[stage], thread, sum);
  if (next < end) {
    ${keep_rows}
    ${keep_columns}
  }
  ${next_steps}
  __syncthreads();
  stage ^= 1;
}

// --- section: loop_wgmma
// While a tile is multiplied, the next one passes from registers to shared memory, and the one
// after that is on its way into registers.
int next = begin, loaded = 0;
const auto load_tile = [&]() {
  if (next < end) {
    ${load_rows}
    ${load_columns}
  }
  ${next_steps}
  next += TILE_K;
  loaded ^= 1;
};
const auto keep_tile = [&]() {
  ${keep_rows}
  ${keep_columns}
  proxy_fence();
};
float part_sum[THREAD_N / 2][4];
load_tile();
keep_tile();
__syncthreads();
load_tile();
__syncthreads();
for (int step = begin; step < end; step += TILE_K) {
  stage ^= 1;
  begin_tile(row_tiles[stage], column_tiles[stage], thread, part_sum);
  if (step + TILE_K < end) keep_tile();
  load_tile();
  end_tile(part_sum, sum);
  __syncthreads();
}

// --- section: loop_wgmma_rounded
// Of three tiles in shared memory the tensor cores multiply one and may not be done with the last one.
// Meanwhile the next one passes there from registers, and the one after it is on its way.
int next = begin, loaded = 0, filled = 0;
const auto load_tile = [&]() {
  if (next < end) {
    ${load_rows}
    ${load_columns}
  }
  ${next_steps}
  next += TILE_K;
  loaded ^= 1;
};
const auto keep_tile = [&]() {
  ${keep_rows}
  ${keep_columns}
  proxy_fence();
};
float part_sum[THREAD_N / 2][4];
#pragma unroll
for (int j = 0; j < THREAD_N / 2; ++j) part_sum[j][0] = part_sum[j][1] = part_sum[j][2] = part_sum[j][3] = 0.0f;
load_tile();
keep_tile();
__syncthreads();
load_tile();
__syncthreads();
// Where there may be no tile at all, ptxas would let no product begin before the last one has ended.
if (begin < end) {
  int step = begin;
  do {
    begin_rounded_tile(row_tiles[stage], column_tiles[stage], thread, part_sum);
    stage = filled = stage == 2 ? 0 : stage + 1;
    wait_for_tiles();
    if (step + TILE_K < end) keep_tile();
    load_tile();
    ${gather}
    __syncthreads();
    step += TILE_K;
  } while (step < end);
  end_tiles(part_sum, sum);
}

// --- section: gather
// Tensor cores cut off what does not fit an accumulator; so parts of a long sum are added in f32.
if ((step - begin) % 2048 == 2048 - TILE_K) end_tiles(part_sum, sum);

// --- section: comment
// A tile of TILE_M rows and TILE_N columns per block, TILE_K steps at a time${parts}.

// --- section: tile_place
const int tiles_across = (${column_count} + TILE_N - 1) / TILE_N;
const int tiles_down = (${row_count} + TILE_M - 1) / TILE_M;
// Blocks beside each other share what they read: BAND rows of tiles, column by column, then the next ones.
const int tile = (int)blockIdx.x % (tiles_across * tiles_down);
const int band = tile / (BAND * tiles_across) * BAND, band_rows = min(BAND, tiles_down - band);
const int first_row = (band + (tile - band * tiles_across) % band_rows) * TILE_M;
const int first_column = (tile - band * tiles_across) / band_rows * TILE_N;

// --- section: registers
float next_rows[AT_LEAST_A_RUN(ROW_LOADS)], next_columns[AT_LEAST_A_RUN(COLUMN_LOADS)];
int stage = 0;

// --- section: products
${comment}
${qualifier}
${signature} {
  ${tiles}
  ${step_tables}
  const int thread = threadIdx.x;
  ${tile_place}
  ${batch}
  ${steps}
  ${batch_axes}
  ${row_places}
  ${column_places}
  float sum[THREAD_M][THREAD_N];
  #pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
    #pragma unroll
    for (int j = 0; j < THREAD_N; ++j) sum[i][j] = 0.0f;
  ${first_steps}
  ${loop}
  ${stored_places}
  // A line of each thread at a time passes through shared memory, so that neighbouring threads store
  // neighbours, and a thread's elements are in few columns.
  #pragma unroll
  for (int i = 0; i < THREAD_M; ++i) {
    __syncthreads();
    keep_sums(tiles + line_of(thread) * LINE_STRIDE, thread, sum[i]);
    __syncthreads();
    ${stores}
  }
}

// --- section: store_ones
#pragma unroll${at_a_time}
for (int j = 0; j < THREAD_N; ++j) {
  const int at = thread + j * TILE_THREADS;
  const int m = first_row + row_place(at / TILE_N, i)${column};
  if (m >= ${row_count} || ${outside}) continue;
  const float total = tiles[at / TILE_N * LINE_STRIDE + ${stored_column}];
  ${stored_row_axes}
  ${stored_column_axes}
  ${stored_guard}
  ${values}
  ${store}
}

// --- section: store_fours
if (${column_count} % 4 == 0 && (unsigned long)${out} % 16 == 0) {
  #pragma unroll${fours_at_a_time}
  for (int j = 0; j < THREAD_N; j += 4) {
    const int at = 4 * thread + j * TILE_THREADS;
    const int m = first_row + row_place(at / TILE_N, i), first_n = first_column + at % TILE_N;
    if (m >= ${row_count} || first_n >= ${column_count}) continue;
    const float4 totals = *(const float4*)&tiles[at / TILE_N * LINE_STRIDE + at % TILE_N];
    ${four} results[4];
    ${stored_row_axes}
    #pragma unroll
    for (int item = 0; item < 4; ++item) {
      const int n = first_n + item;
      const float total = item == 0 ? totals.x : item == 1 ? totals.y : item == 2 ? totals.z : totals.w;
      ${stored_column_axes}
      ${values}
      ${store_item}
    }
    const int n = first_n;
    ${place_column_axes}
    ${store_four}
  }
} else {
  ${store_ones}
}

// --- section: store_four_floats
*(float4*)(${out} + ${place}) = make_float4(results[0], results[1], results[2], results[3]);

// --- section: store_four_halves
*(uint2*)(${out} + ${place}) = *(const uint2*)results;

// --- section: pack_rows
// Copies the rows of ${name}'s first factor, so that their steps lie behind one another.
${qualifier}
${signature} {
  const long id = ${global_index};
  if (id >= ${count}) return;
  ${axes}
  copied[id] = ${element};
}

// --- section: sum_parts
// Adds the parts of each sum of ${name}, in the same order every time.
${qualifier}
${signature} {
  const long id = ${global_index};
  if (id >= ${count}) return;
  const int n = (int)(id % ${column_count});
  const int m = (int)(id / ${column_count} % ${row_count});
  ${batch}
  ${axes}
  float sum = 0.0f;
  for (int part = 0; part < SPLIT_K; ++part) sum += parts[part * ${count} + id];
  ${stored_guard}
  ${values}
  ${store}
}
