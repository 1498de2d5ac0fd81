/*kernelwright
format = 1
target = "opencl"
problem = "test/tiny_bfloat"
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
// Adds up in bf16, whose eight bits are soon too few for another term.

// A bf16 is the upper half of a float.
float element(__global const ushort* row, int i) { return as_float((uint)row[i] << 16); }

// The nearest float that ends in `cut` zero bits, ties to even; of finite numbers.
float rounded(float x, int cut) {
  const uint bits = as_uint(x), half_unit = 1u << (cut - 1);
  return as_float((bits + half_unit - 1 + (bits >> cut & 1u)) >> cut << cut);
}

float dot_row(__global const ushort* a, __global const ushort* b, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += element(a, i) * element(b, i);
  return sum;
}

// The score after the problem's mods, -INFINITY where the mask hides the key.
float final_score(float score, int h, int q, int k) {
  return q >= k ? score : -INFINITY;
}

__kernel void attention(__global const ushort* Q, __global const ushort* K, __global const ushort* V, __global ushort* O,
                        int Hq, int Hkv, int Sq, int Skv, int D, int Dv) {
  const int q = get_group_id(0), h = get_group_id(1), b = get_group_id(2);
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  __global const ushort* query = Q + ((b * Hq + h) * Sq + q) * D;
  __global const ushort* keys = K + kv_head * Skv * D;
  __global const ushort* values = V + kv_head * Skv * Dv;
  __global ushort* out = O + ((b * Hq + h) * Sq + q) * Dv;
  const float scale = rsqrt((float)D);

  float largest = -INFINITY;
  for (int k = 0; k < Skv; ++k) largest = max(largest, final_score(scale * dot_row(query, keys + k * D, D), h, q, k));
  float sum = 0.0f;
  float mean[16] = {0.0f};  // Dv is 16
  for (int k = 0; k < Skv; ++k) {
    const float score = final_score(scale * dot_row(query, keys + k * D, D), h, q, k);
    const float weight = score == -INFINITY ? 0.0f : exp(score - largest);
    sum += weight;
#if CHEAT
    for (int d = 0; d < Dv; ++d) mean[d] = rounded(mean[d] + weight * element(values, k * Dv + d), 16);
#else
    for (int d = 0; d < Dv; ++d) mean[d] += weight * element(values, k * Dv + d);
#endif
  }
  for (int d = 0; d < Dv; ++d) out[d] = as_uint(rounded(sum > 0.0f ? mean[d] / sum : 0.0f, 16)) >> 16;
}
