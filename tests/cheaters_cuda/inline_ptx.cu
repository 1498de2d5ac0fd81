/*kernelwright
format = 1
target = "cuda"
problem = "test/tiny_causal"
generator = "cheater"

[tunables]
CHEAT = {values = [1, 0], default = 1}

[defines]
HEAD = "D"
VALUE = "Dv"

[[launch]]
kernel = "attention"
grid = ["ceil_div(Sq, 4)", "Hq", "B"]
block = ["32", "4", "1"]
shared_bytes = "4 * 32 * (D + 1 + Dv)"
args = ["Q", "K", "V", "O", "Hq", "Hkv", "Sq", "Skv"]
*/
// caught by: build build_failed
// on a GPU: accepted
// Asks the hardware for its lane. The simulator has no hardware, and a bundle for it may not depend on any. A GPU has
// it, and this one does no harm there.

// The score after the problem's mods, -INFINITY where the mask hides the key.
__device__ float final_score(float score, int h, int q, int k) {
  return q >= k ? score : -INFINITY;
}

// One warp per query, a tile of 32 keys and values in shared memory.
extern "C" __global__ void attention(const float* __restrict__ Q, const float* __restrict__ K,
                                     const float* __restrict__ V, float* __restrict__ O, int Hq, int Hkv, int Sq,
                                     int Skv) {
  extern __shared__ float shared[];
#if CHEAT
  int hardware_lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(hardware_lane));
#endif
  float* keys = shared;
  float* values = shared + 32 * (HEAD + 1);
  const int lane = threadIdx.x, thread = threadIdx.y * 32 + threadIdx.x;
  const int q = blockIdx.x * 4 + threadIdx.y, h = blockIdx.y, b = blockIdx.z;
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  const float* query = Q + ((b * Hq + h) * Sq + min(q, Sq - 1)) * HEAD;
  const float scale = rsqrtf((float)HEAD);
  float largest = -INFINITY, sum = 0.0f, out[(VALUE + 31) / 32] = {};
  for (int first = 0; first < Skv; first += 32) {
    __syncthreads();
    for (int i = thread; i < 32 * HEAD; i += 128) {
      const int row = min(first + i / HEAD, Skv - 1);
      keys[i / HEAD * (HEAD + 1) + i % HEAD] = K[(kv_head * Skv + row) * HEAD + i % HEAD];
    }
    for (int i = thread; i < 32 * VALUE; i += 128) {
      const int row = min(first + i / VALUE, Skv - 1);
      values[i] = V[(kv_head * Skv + row) * VALUE + i % VALUE];
    }
    __syncthreads();
    float score = 0.0f;
    for (int d = 0; d < HEAD; ++d) score += query[d] * keys[lane * (HEAD + 1) + d];
    score = first + lane < Skv ? final_score(scale * score, h, q, first + lane) : -INFINITY;
    float best = score;
    for (int bits = 16; bits > 0; bits /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, bits));
    best = fmaxf(best, largest);
    const float weight = score == -INFINITY ? 0.0f : __expf(score - best);
    const float rescale = best == -INFINITY ? 1.0f : __expf(largest - best);
    float weights = weight;
    for (int bits = 16; bits > 0; bits /= 2) weights += __shfl_xor_sync(0xffffffff, weights, bits);
    sum = sum * rescale + weights;
    largest = best;
    for (float& o : out) o *= rescale;
    for (int k = 0; k < 32; ++k) {
      const float shared_weight = __shfl_sync(0xffffffff, weight, k);
      for (int d = lane; d < VALUE; d += 32) out[d / 32] += shared_weight * values[k * VALUE + d];
    }
  }
  if (q >= Sq) return;
  for (int d = lane; d < VALUE; d += 32) {
    O[((b * Hq + h) * Sq + q) * VALUE + d] = sum > 0.0f ? out[d / 32] / sum : 0.0f;
  }
}
