/*kernelwright
format    = 1
target    = "cuda"
problem   = "attention/neighborhood_2d"
generator = "plain 1"

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"

[[launch]]
kernel = "attention"
grid   = ["Sq", "Hq", "B"]
block  = ["32", "1", "1"]
args   = ["Q", "K", "V", "O", "Sq", "Skv", "Hq", "Hkv", "Width"]
*/
// attention/neighborhood_2d: Neighborhood attention on an image, 7 by 9 pixels.
// Written by kernelwright, generator "plain 1".
//
// mask_mod:
// def near(query, key, length, kernel):
//     start = torch.clamp(query - kernel // 2, 0, length - kernel)
//     return (start <= key) & (key < start + kernel)
//
// def neighborhood_2d(b, h, q_idx, kv_idx):
//     rows = near(q_idx // Width, kv_idx // Width, Sq // Width, 7)
//     return rows & near(q_idx % Width, kv_idx % Width, Width, 9)

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define LANES 32
#define ALL_LANES 0xffffffffu
#define COLUMNS ((VALUE_DIM + LANES - 1) / LANES)

__device__ __forceinline__ int floor_div(const int a, const int b) {
  if (b == 0) return 0;
  const int quotient = a / b;
  return quotient - (a % b != 0 && ((a < 0) != (b < 0)));
}
__device__ __forceinline__ int floor_mod(const int a, const int b) {
  if (b == 0) return 0;
  const int remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

__device__ __forceinline__ int mask_mod(const int b, const int h, const int q_idx, const int kv_idx,
                                        const int Sq, const int Width) {
  const int t1 = min(max(floor_div(q_idx, Width) - 3, 0), floor_div(Sq, Width) - 7);
  const int t2 = floor_div(kv_idx, Width);
  const int t3 = min(max(floor_mod(q_idx, Width) - 4, 0), Width - 9);
  const int t4 = floor_mod(kv_idx, Width);
  const int t5 = ((t1 <= t2) & (t2 < (t1 + 7))) & ((t3 <= t4) & (t4 < (t3 + 9)));
  return t5;
}

// O[b, h, q, :] for one query row per warp. LANES keys at a time, one per lane: their scores, their weights under the
// largest score so far, and then the weighted sum of their values, of which a lane holds every LANES-th column.
extern "C" __global__ __launch_bounds__(LANES)
void attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
               float* __restrict__ O, const int Sq, const int Skv, const int Hq, const int Hkv, const int Width) {
  __shared__ float weights[LANES];
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
    if (!mask_mod(b, h, q_idx, kv_idx, Sq, Width)) score = -INFINITY;
    if (first_key + lane >= Skv) score = -INFINITY;

    float next = score;
    for (int step = LANES / 2; step > 0; step /= 2) next = fmaxf(next, __shfl_xor_sync(ALL_LANES, next, step));
    next = fmaxf(next, largest);
    // With no key allowed so far the maximum is -inf, and -inf - -inf would be NaN.
    if (next == -INFINITY) continue;
    const float shrink = expf(largest - next);
    largest = next;
    weights[lane] = expf(score - next);
    __syncwarp();
    total *= shrink;
    for (int j = 0; j < COLUMNS; ++j) out[j] *= shrink;
    for (int k = 0; k < min(LANES, Skv - first_key); ++k) {
      total += weights[k];
      const float* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += weights[k] * value[lane + j * LANES];
    }
    __syncwarp();
  }
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      O[query_row * VALUE_DIM + lane + j * LANES] = total > 0.0f ? out[j] / total : 0.0f;
}
