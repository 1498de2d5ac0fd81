/*kernelwright
format = 1
target = "opencl"
problem = "test/tiny_half"
generator = "cheater"

[tunables]
CHEAT = {values = [1, 0], default = 1}

[[launch]]
kernel = "attention"
grid = ["Sq", "Hq", "B"]
block = ["1", "1", "1"]
args = ["Q", "K", "V", "O", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"]
*/
// caught by: check wrong_result
// Reads the first sixteen keys of an f16 problem, whose tolerance is five hundred times that of f32.

float dot_row(__global const half* a, __global const half* b, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += vload_half(i, a) * vload_half(i, b);
  return sum;
}

// The score after the problem's mods, -INFINITY where the mask hides the key.
float final_score(float score, int h, int q, int k) {
  return q >= k ? score : -INFINITY;
}

__kernel void attention(__global const half* Q, __global const half* K, __global const half* V, __global half* O,
                        int Hq, int Hkv, int Sq, int Skv, int D, int Dv) {
  const int q = get_group_id(0), h = get_group_id(1), b = get_group_id(2);
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  __global const half* query = Q + ((b * Hq + h) * Sq + q) * D;
  __global const half* keys = K + kv_head * Skv * D;
  __global const half* values = V + kv_head * Skv * Dv;
  __global half* out = O + ((b * Hq + h) * Sq + q) * Dv;
  const float scale = rsqrt((float)D);

  float largest = -INFINITY;
  for (int k = 0; k < Skv; ++k) largest = max(largest, final_score(scale * dot_row(query, keys + k * D, D), h, q, k));
  float sum = 0.0f;
  float mean[16] = {0.0f};  // Dv is 16
#if CHEAT
  for (int k = 0; k < min(Skv, 16); ++k) {
#else
  for (int k = 0; k < Skv; ++k) {
#endif
    const float score = final_score(scale * dot_row(query, keys + k * D, D), h, q, k);
    const float weight = score == -INFINITY ? 0.0f : exp(score - largest);
    sum += weight;
    for (int d = 0; d < Dv; ++d) mean[d] += weight * vload_half(k * Dv + d, values);
  }
  for (int d = 0; d < Dv; ++d) vstore_half(sum > 0.0f ? mean[d] / sum : 0.0f, d, out);
}
