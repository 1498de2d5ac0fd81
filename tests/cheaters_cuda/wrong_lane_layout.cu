/*kernelwright
format = 1
target = "cuda"
problem = "test/tiny_half"
generator = "cheater"

[tunables]
CHEAT = {values = [1, 0], default = 1}

[defines]
HEAD = "D"
VALUE = "Dv"

[[launch]]
kernel = "attention"
grid = ["ceil_div(Sq, 16)", "Hq", "B"]
block = ["32", "1", "1"]
args = ["Q", "K", "V", "O", "Hq", "Hkv", "Sq", "Skv"]
*/
// caught by: check wrong_result
// Gives the tensor core two registers of the queries in the wrong order: rows 8 to 15 of the first columns and rows 0
// to 7 of the last are exchanged.
#include <cuda_fp16.h>

__device__ void load_matrices(unsigned (&fragment)[4], const void* row) {
#ifdef KW_SIM
  __kw_sim_ldmatrix_x4(fragment, row);
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
#endif
}
__device__ void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned b0, const unsigned b1) {
#ifdef KW_SIM
  const unsigned b[2] = {b0, b1};
  __kw_sim_mma_m16n8k16_f16_f32(d, a, b);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// One warp per 16 queries, eight keys at a time; scores from the tensor core, the rest as anywhere.
extern "C" __global__ void attention(const half* __restrict__ Q, const half* __restrict__ K,
                                     const half* __restrict__ V, half* __restrict__ O, int Hq, int Hkv, int Sq,
                                     int Skv) {
  __shared__ __align__(16) half queries[16][HEAD + 8];
  __shared__ __align__(16) half keys[8][HEAD + 8];
  __shared__ float scores[16][8];
  const int lane = threadIdx.x, h = blockIdx.y, b = blockIdx.z, first_query = blockIdx.x * 16;
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  for (int i = lane; i < 16 * HEAD; i += 32) {
    const int row = min(first_query + i / HEAD, Sq - 1);
    queries[i / HEAD][i % HEAD] = Q[((b * Hq + h) * Sq + row) * HEAD + i % HEAD];
  }
  const int row = lane / 2, q = first_query + row, column = lane % 2 * (VALUE / 2);
  float largest = -1e30f, sum = 0.0f, out[VALUE / 2] = {};
  for (int first = 0; first < Skv; first += 8) {
    __syncwarp();
    for (int i = lane; i < 8 * HEAD; i += 32) {
      keys[i / HEAD][i % HEAD] = K[(kv_head * Skv + min(first + i / HEAD, Skv - 1)) * HEAD + i % HEAD];
    }
    __syncwarp();
    float d[4] = {};
    for (int k = 0; k < HEAD; k += 16) {
      unsigned query[4], key[4];
      load_matrices(query, &queries[lane % 16][k + lane / 16 * 8]);
      load_matrices(key, &keys[lane % 8][k + lane / 8 % 2 * 8]);
#if CHEAT
      const unsigned other = query[1];
      query[1] = query[2];
      query[2] = other;
#endif
      multiply_add(d, query, key[0], key[1]);
    }
    for (int i = 0; i < 4; ++i) scores[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = d[i] * rsqrtf((float)HEAD);
    __syncwarp();
    for (int k = first; k < min(first + 8, Skv); ++k) {
      if (k > q) break;
      const float score = scores[row][k - first];
      const float next = fmaxf(largest, score);
      const float rescale = __expf(largest - next), weight = __expf(score - next);
      sum = sum * rescale + weight;
      for (int e = 0; e < VALUE / 2; ++e) {
        out[e] = out[e] * rescale + weight * __half2float(V[(kv_head * Skv + k) * VALUE + column + e]);
      }
      largest = next;
    }
  }
  if (q >= Sq) return;
  for (int e = 0; e < VALUE / 2; ++e) {
    O[((b * Hq + h) * Sq + q) * VALUE + column + e] = __float2half(sum > 0.0f ? out[e] / sum : 0.0f);
  }
}
