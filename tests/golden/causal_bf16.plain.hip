/*kernelwright
format    = 1
target    = "hip"
problem   = "attention/causal_bf16"
generator = "plain 4"

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"
LANES     = "warp_size"

[[launch]]
kernel = "attention"
grid   = ["ceil_div(Sq, 8)", "Hq", "B"]
block  = ["warp_size", "8", "1"]
args   = ["Q", "K", "V", "O", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/causal_bf16: Attention where a query sees itself and the keys before it, stored in bf16.
// Written by kernelwright, generator "plain 4".
//
// mask_mod:
// def causal(b, h, q_idx, kv_idx):
//     return q_idx >= kv_idx

#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

// Lanes of a wavefront run in step: only the compiler has to be kept from moving what they do to shared memory.
__device__ __forceinline__ void sync_lanes() {
#ifdef KW_SIM
  __syncwarp();
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}

#define ROWS 8
#define STEP 32
#define COLUMNS ((VALUE_DIM + LANES - 1) / LANES)

__device__ __forceinline__ int mask_mod(const int b, const int h, const int q_idx, const int kv_idx) {
  return q_idx >= kv_idx;
}

// O[b, h, q, :] for ROWS query rows of a head, one per warp. LANES keys at a time, one per lane: their scores, their
// probabilities under the largest score so far, and then the weighted sum of their values, of which a lane holds every
// LANES-th column. STEP columns of the queries and the keys come through shared memory at a time, for all warps.
// Asked for 3 blocks alone, NVIDIA's compiler keeps everything in registers; else it makes room for more, and spills.
extern "C" __global__ __launch_bounds__(LANES * ROWS, 3)
void attention(const __hip_bfloat16* __restrict__ Q, const __hip_bfloat16* __restrict__ K,
               const __hip_bfloat16* __restrict__ V, __hip_bfloat16* __restrict__ O, const int Sq, const int Skv,
               const int Hq, const int Hkv) {
  __shared__ float queries[ROWS][STEP];
  __shared__ float keys[LANES][STEP + 1];  // lanes read a column: one more, so that they read different banks
  __shared__ float probabilities[ROWS][LANES];
  const int lane = threadIdx.x, row = threadIdx.y, h = blockIdx.y, b = blockIdx.z;
  // Warps behind the last row go along with it, for all threads meet at the barriers, and store nothing.
  const int q_idx = min((int)blockIdx.x * ROWS + row, Sq - 1);
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const __hip_bfloat16* query = Q + query_row * HEAD_DIM;
  float out[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) out[j] = 0.0f;
  float largest = -INFINITY, total = 0.0f;
  for (int first_key = 0; first_key < Skv; first_key += LANES) {
    const int kv_idx = min(first_key + lane, Skv - 1);
    float dot_product = 0.0f;
    for (int first = 0; first < HEAD_DIM; first += STEP) {
      __syncthreads();
      for (int d = lane; d < STEP; d += LANES)
        queries[row][d] = first + d < HEAD_DIM ? __bfloat162float(query[first + d]) : 0.0f;
      for (int i = row * LANES + lane; i < LANES * STEP; i += ROWS * LANES) {
        const int k = i / STEP, d = i % STEP;
        const __hip_bfloat16* key = K + (key_head * Skv + min(first_key + k, Skv - 1)) * HEAD_DIM;
        keys[k][d] = first + d < HEAD_DIM ? __bfloat162float(key[first + d]) : 0.0f;
      }
      __syncthreads();
      for (int d = 0; d < STEP; ++d) dot_product += queries[row][d] * keys[lane][d];
    }
    float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
    if (!mask_mod(b, h, q_idx, kv_idx)) score = -INFINITY;
    if (first_key + lane >= Skv) score = -INFINITY;

    float next = score;
    for (int step = LANES / 2; step > 0; step /= 2) next = fmaxf(next, __shfl_xor(next, step));
    next = fmaxf(next, largest);
    // With no key allowed so far the maximum is -inf, and -inf - -inf would be NaN.
    if (next == -INFINITY) continue;
    const float shrink = expf(largest - next);
    largest = next;
    probabilities[row][lane] = expf(score - next);
    sync_lanes();
    total *= shrink;
    for (int j = 0; j < COLUMNS; ++j) out[j] *= shrink;
    for (int k = 0; k < min(LANES, Skv - first_key); ++k) {
      const float probability = probabilities[row][k];
      total += probability;
      const __hip_bfloat16* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += probability * __bfloat162float(value[lane + j * LANES]);
    }
    sync_lanes();
  }
  if ((int)blockIdx.x * ROWS + row >= Sq) return;
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      O[query_row * VALUE_DIM + lane + j * LANES] = __float2bfloat16(total > 0.0f ? out[j] / total : 0.0f);
}
