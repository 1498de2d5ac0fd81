/*kernelwright
format    = 1
target    = "cuda"
problem   = "attention/alibi_lse"
generator = "plain 4"

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"

[[launch]]
kernel = "attention"
grid   = ["ceil_div(Sq, 8)", "Hq", "B"]
block  = ["32", "8", "1"]
args   = ["Q", "K", "V", "O", "LSE", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/alibi_lse: Attention with a linear bias by head, and the log-sum-exp of each row.
// Written by kernelwright, generator "plain 4".
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
#define ROWS 8
#define STEP 32
#define COLUMNS ((VALUE_DIM + LANES - 1) / LANES)

__device__ __forceinline__ float score_mod(const float score, const int b, const int h, const int q_idx,
                                           const int kv_idx, const int Hq) {
  const float t1 = exp2f(-(((float)(h + 1) * 8.0f) / (float)(Hq))) * (float)(kv_idx - q_idx);
  return score + t1;
}

// O[b, h, q, :] for ROWS query rows of a head, one per warp. LANES keys at a time, one per lane: their scores, their
// probabilities under the largest score so far, and then the weighted sum of their values, of which a lane holds every
// LANES-th column. STEP columns of the queries and the keys come through shared memory at a time, for all warps.
// Asked for 3 blocks alone, NVIDIA's compiler keeps everything in registers; else it makes room for more, and spills.
extern "C" __global__ __launch_bounds__(LANES * ROWS, 3)
void attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
               float* __restrict__ O, float* __restrict__ LSE, const int Sq, const int Skv, const int Hq,
               const int Hkv) {
  __shared__ float queries[ROWS][STEP];
  __shared__ float keys[LANES][STEP + 1];  // lanes read a column: one more, so that they read different banks
  __shared__ float probabilities[ROWS][LANES];
  const int lane = threadIdx.x, row = threadIdx.y, h = blockIdx.y, b = blockIdx.z;
  // Warps behind the last row go along with it, for all threads meet at the barriers, and store nothing.
  const int q_idx = min((int)blockIdx.x * ROWS + row, Sq - 1);
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const float* query = Q + query_row * HEAD_DIM;
  float out[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) out[j] = 0.0f;
  float largest = -INFINITY, total = 0.0f;
  for (int first_key = 0; first_key < Skv; first_key += LANES) {
    const int kv_idx = min(first_key + lane, Skv - 1);
    float dot_product = 0.0f;
    for (int first = 0; first < HEAD_DIM; first += STEP) {
      __syncthreads();
      for (int d = lane; d < STEP; d += LANES)
        queries[row][d] = first + d < HEAD_DIM ? query[first + d] : 0.0f;
      for (int i = row * LANES + lane; i < LANES * STEP; i += ROWS * LANES) {
        const int k = i / STEP, d = i % STEP;
        const float* key = K + (key_head * Skv + min(first_key + k, Skv - 1)) * HEAD_DIM;
        keys[k][d] = first + d < HEAD_DIM ? key[first + d] : 0.0f;
      }
      __syncthreads();
      for (int d = 0; d < STEP; ++d) dot_product += queries[row][d] * keys[lane][d];
    }
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
    probabilities[row][lane] = expf(score - next);
    __syncwarp();
    total *= shrink;
    for (int j = 0; j < COLUMNS; ++j) out[j] *= shrink;
    for (int k = 0; k < min(LANES, Skv - first_key); ++k) {
      const float probability = probabilities[row][k];
      total += probability;
      const float* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += probability * value[lane + j * LANES];
    }
    __syncwarp();
  }
  if ((int)blockIdx.x * ROWS + row >= Sq) return;
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      O[query_row * VALUE_DIM + lane + j * LANES] = total > 0.0f ? out[j] / total : 0.0f;
  if (lane == 0) LSE[query_row] = total > 0.0f ? largest + logf(total) : -INFINITY;
}
