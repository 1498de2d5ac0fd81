// Attention with one warp per query row, in CUDA C++ and HIP C++: the baseline.
// operators/attention/kernels/cuda/plain.cpp fills the holes.
//
// axes: Sq Skv Hq Hkv
// definitions: HEAD_DIM VALUE_DIM LANES

// --- section: kernel
${preamble}
${lanes}
${warp_definitions}
#define COLUMNS ((VALUE_DIM + LANES - 1) / LANES)

${helpers}
${score_mod}
${mask_mod}
// O[b, h, q, :] for one query row per warp. LANES keys at a time, one per lane: their scores, their probabilities under
// the largest score so far, and then the weighted sum of their values, of which a lane holds every LANES-th column.
extern "C" __global__ __launch_bounds__(LANES)
${signature} {
  __shared__ float probabilities[LANES];
  const int lane = threadIdx.x, q_idx = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const ${element}* query = Q + query_row * HEAD_DIM;
  float out[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) out[j] = 0.0f;
  float largest = -INFINITY, total = 0.0f;
  for (int first_key = 0; first_key < Skv; first_key += LANES) {
    const int kv_idx = min(first_key + lane, Skv - 1);
    const ${element}* key = K + (key_head * Skv + kv_idx) * HEAD_DIM;
    float dot_product = 0.0f;
    #pragma unroll 16
    for (int d = 0; d < HEAD_DIM; ++d) dot_product += ${query} * ${key};
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
    probabilities[lane] = expf(score - next);
    ${sync_lanes};
    total *= shrink;
    for (int j = 0; j < COLUMNS; ++j) out[j] *= shrink;
    for (int k = 0; k < min(LANES, Skv - first_key); ++k) {
      total += probabilities[k];
      const ${element}* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += probabilities[k] * ${value};
    }
    ${sync_lanes};
  }
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      ${store}
  ${store_lse}
}
