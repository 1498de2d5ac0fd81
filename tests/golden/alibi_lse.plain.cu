/*kernelwright
format    = 1
target    = "cuda"
problem   = "attention/alibi_lse"
generator = "plain 2"

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"

[[launch]]
kernel = "attention"
grid   = ["Sq", "Hq", "B"]
block  = ["32", "1", "1"]
args   = ["Q", "K", "V", "O", "LSE", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/alibi_lse: Attention with a linear bias by head, and the log-sum-exp of each row.
// Written by kernelwright, generator "plain 2".
//
// score_mod:
// def alibi(score, b, h, q_idx, kv_idx):
//     return score + torch.exp2(-((h + 1) * 8.0 / Hq)) * (kv_idx - q_idx)

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define LANES 32
#define ALL_LANES 0xffffffffu
#define COLUMNS ((VALUE_DIM + LANES - 1) / LANES)

__device__ __forceinline__ float score_mod(const float score, const int b, const int h, const int q_idx,
                                           const int kv_idx, const int Hq) {
  const float t1 = exp2f(-(((float)(h + 1) * 8.0f) / (float)(Hq))) * (float)(kv_idx - q_idx);
  return score + t1;
}

// O[b, h, q, :] for one query row per warp. LANES keys at a time, one per lane: their scores, their probabilities under
// the largest score so far, and then the weighted sum of their values, of which a lane holds every LANES-th column.
extern "C" __global__ __launch_bounds__(LANES)
void attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
               float* __restrict__ O, float* __restrict__ LSE, const int Sq, const int Skv, const int Hq,
               const int Hkv) {
  __shared__ float probabilities[LANES];
  const int lane = threadIdx.x, q_idx = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const float* query = Q + query_row * HEAD_DIM;
  float out[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) out[j] = 0.0f;
  float largest = -INFINITY, total = 0.0f;
  for (int first_key = 0; first_key < Skv; first_key += LANES) {
    const int kv_idx = min(first_key + lane, Skv - 1);
    const float* key = K + (key_head * Skv + kv_idx) * HEAD_DIM;
    float dot_product = 0.0f;
    #pragma unroll 16
    for (int d = 0; d < HEAD_DIM; ++d) dot_product += query[d] * key[d];
    float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
    score = score_mod(score, b, h, q_idx, kv_idx, Hq);
    if (first_key + lane >= Skv) score = -INFINITY;

    float next = score;
    for (int step = LANES / 2; step > 0; step /= 2) next = fmaxf(next, __shfl_xor_sync(ALL_LANES, next, step));
    next = fmaxf(next, largest);
    // With no key allowed so far the maximum is -inf, and -inf - -inf would be NaN.
    if (next == -INFINITY) continue;
    const float shrink = expf(largest - next);
    largest = next;
    probabilities[lane] = expf(score - next);
    __syncwarp();
    total *= shrink;
    for (int j = 0; j < COLUMNS; ++j) out[j] *= shrink;
    for (int k = 0; k < min(LANES, Skv - first_key); ++k) {
      total += probabilities[k];
      const float* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += probabilities[k] * value[lane + j * LANES];
    }
    __syncwarp();
  }
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      O[query_row * VALUE_DIM + lane + j * LANES] = total > 0.0f ? out[j] / total : 0.0f;
  if (lane == 0) LSE[query_row] = total > 0.0f ? largest + logf(total) : -INFINITY;
}
