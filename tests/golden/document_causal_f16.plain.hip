/*kernelwright
format    = 1
target    = "hip"
problem   = "attention/document_causal_f16"
generator = "plain 4"

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"
LANES     = "warp_size"

[[launch]]
kernel = "attention"
grid   = ["ceil_div(Sq, 8)", "Hq", "B"]
block  = ["warp_size", "8", "1"]
args   = ["Q", "K", "V", "document_id", "offsets", "O", "Sq", "Skv", "Hq", "Hkv", "Offsets"]
*/
// attention/document_causal_f16: Causal attention within packed documents, stored in f16.
// Written by kernelwright, generator "plain 4".
//
// mask_mod:
// def document_causal(b, h, q_idx, kv_idx):
//     same_document = document_id[q_idx] == document_id[kv_idx]
//     q_logical = q_idx - offsets[document_id[q_idx]]
//     kv_logical = kv_idx - offsets[document_id[kv_idx]]
//     return same_document & (q_logical >= kv_logical)

#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

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

__device__ __forceinline__ int mask_mod(const int b, const int h, const int q_idx, const int kv_idx,
                                        const int* __restrict__ document_id, const int* __restrict__ offsets,
                                        const int Offsets, const int Skv) {
  const int t1 = document_id[min(q_idx, Skv - 1)];
  const int t2 = document_id[kv_idx];
  const int t3 = (q_idx - offsets[min(t1, Offsets - 1)]) >= (kv_idx - offsets[min(t2, Offsets - 1)]);
  return (t1 == t2) & t3;
}

// O[b, h, q, :] for ROWS query rows of a head, one per warp. LANES keys at a time, one per lane: their scores, their
// probabilities under the largest score so far, and then the weighted sum of their values, of which a lane holds every
// LANES-th column. STEP columns of the queries and the keys come through shared memory at a time, for all warps.
// Asked for 3 blocks alone, NVIDIA's compiler keeps everything in registers; else it makes room for more, and spills.
extern "C" __global__ __launch_bounds__(LANES * ROWS, 3)
void attention(const __half* __restrict__ Q, const __half* __restrict__ K, const __half* __restrict__ V,
               const int* __restrict__ document_id, const int* __restrict__ offsets, __half* __restrict__ O,
               const int Sq, const int Skv, const int Hq, const int Hkv, const int Offsets) {
  __shared__ float queries[ROWS][STEP];
  __shared__ float keys[LANES][STEP + 1];  // lanes read a column: one more, so that they read different banks
  __shared__ float probabilities[ROWS][LANES];
  const int lane = threadIdx.x, row = threadIdx.y, h = blockIdx.y, b = blockIdx.z;
  // Warps behind the last row go along with it, for all threads meet at the barriers, and store nothing.
  const int q_idx = min((int)blockIdx.x * ROWS + row, Sq - 1);
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const __half* query = Q + query_row * HEAD_DIM;
  float out[COLUMNS];
  for (int j = 0; j < COLUMNS; ++j) out[j] = 0.0f;
  float largest = -INFINITY, total = 0.0f;
  for (int first_key = 0; first_key < Skv; first_key += LANES) {
    const int kv_idx = min(first_key + lane, Skv - 1);
    float dot_product = 0.0f;
    for (int first = 0; first < HEAD_DIM; first += STEP) {
      __syncthreads();
      for (int d = lane; d < STEP; d += LANES)
        queries[row][d] = first + d < HEAD_DIM ? __half2float(query[first + d]) : 0.0f;
      for (int i = row * LANES + lane; i < LANES * STEP; i += ROWS * LANES) {
        const int k = i / STEP, d = i % STEP;
        const __half* key = K + (key_head * Skv + min(first_key + k, Skv - 1)) * HEAD_DIM;
        keys[k][d] = first + d < HEAD_DIM ? __half2float(key[first + d]) : 0.0f;
      }
      __syncthreads();
      for (int d = 0; d < STEP; ++d) dot_product += queries[row][d] * keys[lane][d];
    }
    float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
    if (!mask_mod(b, h, q_idx, kv_idx, document_id, offsets, Offsets, Skv)) score = -INFINITY;
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
      const __half* value = V + (key_head * Skv + first_key + k) * VALUE_DIM;
      for (int j = 0; j < COLUMNS; ++j)
        if (lane + j * LANES < VALUE_DIM) out[j] += probability * __half2float(value[lane + j * LANES]);
    }
    sync_lanes();
  }
  if ((int)blockIdx.x * ROWS + row >= Sq) return;
  for (int j = 0; j < COLUMNS; ++j)
    if (lane + j * LANES < VALUE_DIM)
      O[query_row * VALUE_DIM + lane + j * LANES] = __float2half(total > 0.0f ? out[j] / total : 0.0f);
}
