// Attention with one warp per query row and keys in shared memory, in CUDA C++ and HIP C++: the baseline.
// operators/attention/kernels/cuda/plain.cpp fills the holes.
//
// axes: Sq Skv Hq Hkv
// definitions: HEAD_DIM VALUE_DIM LANES

// --- section: kernel
${preamble}
${lanes}
${warp_definitions}
#define ROWS ${rows}
#define STEP 32
#define COLUMNS ((VALUE_DIM + LANES - 1) / LANES)

${helpers}
${score_mod}
${mask_mod}
// O[b, h, q, :] for ROWS query rows of a head, one per warp. LANES keys at a time, one per lane: their scores, their
// probabilities under the largest score so far, and then the weighted sum of their values, of which a lane holds every
// LANES-th column. STEP columns of the queries and the keys come through shared memory at a time, for all warps.
// Asked for 3 blocks alone, NVIDIA's compiler keeps everything in registers; else it makes room for more, and spills.
extern "C" __global__ __launch_bounds__(LANES * ROWS, 3)
${signature} {
  __shared__ float queries[ROWS][STEP];
  __shared__ float keys[LANES][STEP + 1];  // lanes read a column: one more, so that they read different banks
  __shared__ float probabilities[ROWS][LANES];
  const int lane = threadIdx.x, row = threadIdx.y, h = blockIdx.y, b = blockIdx.z;
  // Warps behind the last row go along with it, for all threads meet at the barriers, and store nothing.
  const int q_idx = min((int)blockIdx.x * ROWS + row, Sq - 1);
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const ${element}* query = Q + query_row * HEAD_DIM;
  float out[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) out[j] = 0.0f;
  float largest = -INFINITY, total = 0.0f;
  for (int first_key = 0; first_key < Skv; first_key += LANES) {
    const int kv_idx = min(first_key + lane, Skv - 1);
    float dot_product = 0.0f;
    for (int first = 0; first < HEAD_DIM; first += STEP) {
      __syncthreads();
      for (int d = lane; d < STEP; d += LANES)
        queries[row][d] = first + d < HEAD_DIM ? ${query} : 0.0f;
      for (int i = row * LANES + lane; i < LANES * STEP; i += ROWS * LANES) {
        const int k = i / STEP, d = i % STEP;
        const ${element}* key = K + (key_head * Skv + min(first_key + k, Skv - 1)) * HEAD_DIM;
        keys[k][d] = first + d < HEAD_DIM ? ${key} : 0.0f;
      }
      __syncthreads();
      for (int d = 0; d < STEP; ++d) dot_product += queries[row][d] * keys[lane][d];
    }
    float score = dot_product * (${scale});
    ${apply_score_mod}
    ${apply_mask_mod}
    if (first_key + lane >= Skv) score = -INFINITY;

    float next = score;
    for (int step = LANES / 2; step > 0; step /= 2) next = fmaxf(next, ${shuffle_xor}(${mask}next, step));
    next = fmaxf(next, largest);
    // With no key allowed so far the maximum is -inf, and -inf - -inf would be NaN.
    if (next == -INFINITY) continue;
    const float shrink = expf(largest - next);
    largest = next;
    probabilities[row][lane] = expf(score - next);
    ${sync_lanes};
    total *= shrink;
    for (int j = 0; j < COLUMNS; ++j) out[j] *= shrink;
    for (int k = 0; k < min(LANES, Skv - first_key); ++k) {
      const float probability = probabilities[row][k];
      total += probability;
      const ${element}* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += probability * ${value};
    }
    ${sync_lanes};
  }
  if ((int)blockIdx.x * ROWS + row >= Sq) return;
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      ${store}
  ${store_lse}
}
