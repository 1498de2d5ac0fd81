// What the wgmma style has of its own in the text of tensor_cores.cu: the layout of tiles in shared memory, the two
// products of a warpgroup, and their order. operators/attention/kernels/cuda/wgmma.cpp fills the holes.
//
// definitions: WARPGROUPS PINGPONG RESIDENT

// --- section: products
${asynchronous_products}

// Tiles lie as the tensor cores' descriptors want them: panels of 64 columns one behind the other, rows of 128 bytes,
// 16-byte chunks exchanged by row. Where 16 bytes of a tile of `rows` rows begin.
__device__ __forceinline__ int chunk_offset(const int row, const int chunk, const int rows) {
  return (chunk / 8 * rows + row) * 64 + (chunk % 8 ^ (row & 7)) * 8;
}

// A barrier for all warps, wherever each of them calls it from. __syncthreads() promises that all of them arrive at the
// same place in the text (PTX ISA, "barrier": bar.sync is barrier.sync.aligned); warpgroups half a panel apart do not.
__device__ __forceinline__ void block_barrier() {
#if PINGPONG && !defined(KW_SIM)
  asm volatile("barrier.sync 0;" ::: "memory");
#else
  __syncthreads();
#endif
}

${multiplies}
__device__ __forceinline__ unsigned pack_halves(const float low, const float high) {
  const ${pair} pair = ${pair_from_floats}(low, high);
  unsigned bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}

// Begins the products of a warpgroup's 64 queries with all keys of a tile. The queries are read anew for each tile:
// ptxas 13.0 gave the registers of queries that were held there to probabilities as well.
__device__ __forceinline__ void dot_products(const ${element}* queries, const ${element}* keys, const int warp,
                                             float (&scores)[SCORE_TILES][4]) {
  const ${element}* rows = queries + warp / 4 * 64 * 64;
  #pragma unroll
  for (int k = 0; k < (HEAD_DIM + 15) / 16; ++k)
    multiply(scores, rows + k / 4 * BM * 64 + k % 4 * 16, keys + k / 4 * BN * 64 + k % 4 * 16, k > 0);
  commit_products();
}

// Begins out += probabilities * values.
__device__ __forceinline__ void add_values(const unsigned (&probabilities)[BN / 16][4], const ${element}* values,
                                           float (&out)[VALUE_TILES][4]) {
  #pragma unroll
  for (int k = 0; k < BN / 16; ++k) multiply_columns(out, probabilities[k], values + 16 * k * 64, 128 * BN);
  commit_products();
}

// Ends it. The probabilities' registers are not free before.
__device__ __forceinline__ void end_values(const unsigned (&probabilities)[BN / 16][4], float (&out)[VALUE_TILES][4]) {
  wait_products<0>(out);
#ifndef KW_SIM
  #pragma unroll
  for (int k = 0; k < BN / 16; ++k)
    #pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" ::"r"(probabilities[k][i]));
#endif
}

// Rounded to ${type}; the accumulators of the scores are laid out as the left operand of the next product has to be.
__device__ __forceinline__ void pack_probabilities(const float (&scores)[SCORE_TILES][4],
                                                   unsigned (&probabilities)[BN / 16][4]) {
  #pragma unroll
  for (int k = 0; k < BN / 16; ++k)
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      probabilities[k][i] = pack_halves(scores[2 * k + i / 2][i % 2 * 2], scores[2 * k + i / 2][i % 2 * 2 + 1]);
}

// --- section: loop
// Keys are multiplied one panel ahead of values, so a panel's keys are copied together with the values of the panel
// before it.
int slot = 0, behind = ${end_panel};
const auto copy_next = [&]() {
  const int free_slot = slot > 0 ? slot - 1 : STAGES - 1;
  if (behind < ${end_panel}) load_values(behind, free_slot > 0 ? free_slot - 1 : STAGES - 1);
  behind = ahead;
  if (ahead < ${end_panel}) {
    load_keys(ahead, free_slot);
    ahead = ${next_ahead};
  }
  cp_async_commit();
};
#pragma unroll
for (slot = 1; slot < STAGES; ++slot) copy_next();
slot = 0;
const auto await_copies = [&]() {
  cp_async_wait<STAGES - 2>();
  proxy_fence();
  block_barrier();
};
float scores[SCORE_TILES][4], highest[2], shrink[2];
unsigned probabilities[BN / 16][4];
const auto multiply_keys = [&]() { dot_products(queries, keys + slot * BN * HEAD_STRIDE, warp, scores); };
const auto softmax_panel = [&]() {
  const int first_key = panel * BN;
  ${finish}
  ${online_softmax}
  panel = ${next_needed};
};
const auto multiply_last_values = [&]() {
  begin_products();
  add_values(probabilities, values + slot * BN * VALUE_STRIDE, out);
  end_values(probabilities, out);
};
if (panel < ${end_panel}) {
#if PINGPONG
  // The second warpgroup is half a panel behind: while one multiplies, the other one does its softmax.
  const auto end_step = [&]() {
    copy_next();
    wait_products<0>(scores);
    end_values(probabilities, out);
    await_copies();
  };
  const bool second = warp / 4 % 2 == 1;
  await_copies();
  if (second) block_barrier();
  begin_products();
  multiply_keys();
  end_step();
  softmax_panel();
  pack_probabilities(scores, probabilities);
  block_barrier();
  #pragma unroll 1
  while (panel < ${end_panel}) {
    const ${element}* last_values = values + slot * BN * VALUE_STRIDE;
    slot = slot + 1 < STAGES ? slot + 1 : 0;
    begin_products();
    multiply_keys();
    add_values(probabilities, last_values, out);
    end_step();
    softmax_panel();
    shrink_sums(shrink, out);
    pack_probabilities(scores, probabilities);
    block_barrier();
  }
  multiply_last_values();
  if (!second) block_barrier();
#else
  // The next panel's scores are begun before the last one's values are waited for.
  const auto begin_panel = [&]() {
    await_copies();
    copy_next();
    begin_products();
  };
  begin_panel();
  multiply_keys();
  wait_products<0>(scores);
  softmax_panel();
  pack_probabilities(scores, probabilities);
  #pragma unroll 1
  while (panel < ${end_panel}) {
    const ${element}* last_values = values + slot * BN * VALUE_STRIDE;
    slot = slot + 1 < STAGES ? slot + 1 : 0;
    begin_panel();
    multiply_keys();
    add_values(probabilities, last_values, out);
    wait_products<1>(scores);
    softmax_panel();
    end_values(probabilities, out);
    shrink_sums(shrink, out);
    pack_probabilities(scores, probabilities);
  }
  await_copies();
  multiply_last_values();
#endif
}
