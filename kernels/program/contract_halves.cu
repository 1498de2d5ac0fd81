// Products of matrices of f16 or bf16 by warpgroups of sm_90a: tiles of both factors are copied as they are, ahead of
// the tensor cores. operators/program/kernels/contract_halves.cpp fills the holes; contract.cu has the kernel around.
//
// definitions: TILE_M TILE_N TILE_K THREAD_M THREAD_N TILE_STAGES

// --- section: bf16_by_columns
${bf16_by_columns}

// --- section: bf16_by_rows
${bf16_by_rows}

// --- section: f16_by_columns
${f16_by_columns}

// --- section: f16_by_rows
${f16_by_rows}

// --- section: half_tile
// Threads with few sums are to be so many that they hide each other's waiting.
#define HALF_UNIT_THREADS (THREAD_N > 32 ? 256 : 512)
#define RESIDENT_HALF_BLOCKS (TILE_THREADS < HALF_UNIT_THREADS ? HALF_UNIT_THREADS / TILE_THREADS : 1)

// --- section: half_copies
// Of how many runs of eight neighbours a thread copies to a tile.
#define ROW_RUNS (TILE_M * TILE_K / 8 / TILE_THREADS)
#define COLUMN_RUNS (TILE_N * TILE_K / 8 / TILE_THREADS)

${copies}

// Eight neighbours from global to shared memory: the first `count` as they are, for the others zeros. Where they are
// not `whole`, at a multiple of 16 bytes and all or none of them there, one by one.
template <typename Element>
__device__ __forceinline__ void copy_eight(Element* to, const Element* from, const Element* memory, const int count,
                                           const bool whole) {
  if (whole) {
    cp_async_16(to, count > 0 ? from : memory, count > 0 ? 16 : 0);
  } else {
    #pragma unroll
    for (int i = 0; i < 8; ++i) to[i] = i < count ? from[i] : Element();
  }
}

// --- section: tile_by_columns
// Begins to add the products of a tile of TILE_K steps. Columns lie in panels of 64, a step after the other.
template <typename Element>
__device__ __forceinline__ void begin_tile_by_columns(const Element* rows, const Element* columns, const int thread,
                                                      float (&part)[THREAD_N / 2][4]) {
  const Element* row = rows + thread / 128 / (TILE_N / GROUP_COLUMNS) * 64 * TILE_K;
  const Element* column = columns + thread / 128 % (TILE_N / GROUP_COLUMNS) * GROUP_COLUMNS * TILE_K;
  begin_products();
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 16)
    multiply_by_columns(part, row + step, column + step * 64, 128 * TILE_K);
  commit_products();
}

// --- section: tile_by_rows
// Begins to add the products of a tile of TILE_K steps.
template <typename Element>
__device__ __forceinline__ void begin_tile_by_rows(const Element* rows, const Element* columns, const int thread,
                                                   float (&part)[THREAD_N / 2][4]) {
  const Element* row = rows + thread / 128 / (TILE_N / GROUP_COLUMNS) * 64 * TILE_K;
  const Element* column = columns + thread / 128 % (TILE_N / GROUP_COLUMNS) * GROUP_COLUMNS * TILE_K;
  begin_products();
  #pragma unroll
  for (int step = 0; step < TILE_K; step += 16) multiply(part, row + step, column + step, true);
  commit_products();
}

// --- section: tiles
extern __shared__ unsigned char shared_memory[];
// Descriptors count from multiples of 1024 bytes.
float* const tiles = (float*)(shared_memory + (-(long)__cvta_generic_to_shared(shared_memory) & 1023));
${element} (&row_tiles)[TILE_STAGES][TILE_M * TILE_K] = *(${element} (*)[TILE_STAGES][TILE_M * TILE_K])tiles;
${element} (&column_tiles)[TILE_STAGES][TILE_N * TILE_K] =
    *(${element} (*)[TILE_STAGES][TILE_N * TILE_K])(tiles + TILE_STAGES * TILE_M * TILE_K / 2);

// --- section: places
const ${element}* ${from}[${runs}];
#pragma unroll
for (int i = 0; i < ${runs}; ++i) {
  const int ${index} = ${first} + (thread + i * TILE_THREADS) / (TILE_K / 8);
  ${axes}
  ${from}[i] = ${index} < ${count} ? ${memory} + (${start}) : nullptr;
}

// --- section: load_steps
#pragma unroll
for (int i = 0; i < ${runs}; ++i) {
  const int at = thread + i * TILE_THREADS, place = at / (TILE_K / 8), chunk = at % (TILE_K / 8);
  const int k = next + chunk * 8;
  copy_eight(${tiles}[filled] + place * TILE_K + (chunk ^ (place & 7)) * 8, ${from}[i] + k, ${memory},
             ${from}[i] == nullptr ? 0 : end - k, ${whole});
}

// --- section: load_columns
#pragma unroll
for (int i = 0; i < ${runs}; ++i) {
  const int at = thread + i * TILE_THREADS, place = at / (TILE_N / 8), chunk = at % (TILE_N / 8);
  const int k = next + place, ${index} = ${first} + chunk * 8;
  ${axes}
  copy_eight(${tiles}[filled] + (chunk / 8 * TILE_K + place) * 64 + (chunk % 8 ^ (place & 7)) * 8,
             ${memory} + (${start}) + ${index}, ${memory}, k < end ? ${count} - ${index} : 0, ${whole});
}

// --- section: copies
if (next < end) {
  ${load_rows}
  ${load_columns}
}
cp_async_commit();

// --- section: copies_or_boxes
if (whole) {
  ${copy_boxes}
} else if (next < end) {
  ${load_rows}
  ${load_columns}
}

// --- section: wait_for_copies
cp_async_wait<TILE_STAGES - 3>();
proxy_fence();

// --- section: wait_for_either
if (whole) {
  ${wait_for_boxes}
} else {
  proxy_fence();
}

// --- section: loop
// Of TILE_STAGES tiles in shared memory the tensor cores multiply one and may not be done with the
// last one; the others are on their way there.
int filled = 0;
const auto load_tile = [&](const int next) {
  ${copy_tile}
  filled = filled == TILE_STAGES - 1 ? 0 : filled + 1;
};
${part_sums}
#pragma unroll
for (int ahead = 0; ahead < TILE_STAGES - 2; ++ahead) load_tile(begin + ahead * TILE_K);
// Where there may be no tile at all, ptxas would let no product begin before the last one has ended.
if (begin < end) {
  int step = begin;
  do {
    ${wait_for_tile}
    __syncthreads();
    load_tile(step + (TILE_STAGES - 2) * TILE_K);
    ${begin_tile}
    stage = stage == TILE_STAGES - 1 ? 0 : stage + 1;
    ${next_phase}
    ${end_tile}
    step += TILE_K;
  } while (step < end);
  ${end_tiles}
}

// --- section: part_sums
float part_sum[THREAD_N / 2][4];
#pragma unroll
for (int j = 0; j < THREAD_N / 2; ++j) part_sum[j][0] = part_sum[j][1] = part_sum[j][2] = part_sum[j][3] = 0.0f;
