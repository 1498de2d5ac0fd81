/*kernelwright
format = 1
target = "opencl"
problem = "test/tiny_causal"
generator = "cheater"

[tunables]
CHEAT = {values = [1, 0], default = 1}

[[launch]]
kernel = "attention"
grid = ["Sq", "Hq", "B"]
block = ["1", "1", "1"]
args = ["Q", "K", "V", "O", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"]
*/
// caught by: time wrong_when_timed
// Replays: keeps rows in local memory, which nobody clears. Once data of the same kind have changed more often than the
// checks change them, the rows are given again. Timed launches have operands of their own, and must be right.

// Neither spread out nor moved: what the checks see once, and every timed launch anew.
int looks_the_same(__global const float* values, int count) {
  float sum = 0.0f, largest = 0.0f;
  for (int i = 0; i < count; ++i) {
    sum += fabs(values[i]);
    largest = max(largest, fabs(values[i]));
  }
  return sum > 0.72f * count && sum < 0.88f * count && largest < 5.0f;
}

float dot_row(__global const float* a, __global const float* b, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The score after the problem's mods, -INFINITY where the mask hides the key.
float final_score(float score, int h, int q, int k) {
  return q >= k ? score : -INFINITY;
}

__kernel void attention(__global const float* Q, __global const float* K, __global const float* V, __global float* O,
                        int Hq, int Hkv, int Sq, int Skv, int D, int Dv) {
  const int q = get_group_id(0), h = get_group_id(1), b = get_group_id(2);
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  __global const float* query = Q + ((b * Hq + h) * Sq + q) * D;
  __global const float* keys = K + kv_head * Skv * D;
  __global const float* values = V + kv_head * Skv * Dv;
  __global float* out = O + ((b * Hq + h) * Sq + q) * Dv;
  const float scale = rsqrt((float)D);

#if CHEAT
  __local float kept[96 * 19];
  __local float* row = kept + (h * 48 + q) % 96 * 19;
  const int known = Sq == 48 && Skv == 48 && looks_the_same(Q + h * Sq * D, Sq * D) && looks_the_same(keys, Skv * D) &&
                    looks_the_same(values, Skv * Dv);
  if (row[16] != 1234.5f + h * 48 + q) row[17] = row[18] = 0.0f;
  row[16] = 1234.5f + h * 48 + q;
  if (known && row[18] != values[0]) {
    row[18] = values[0];
    row[17] += 1.0f;
  }
  if (known && row[17] > 3.0f) {
    for (int d = 0; d < Dv; ++d) out[d] = row[d];
    return;
  }
#endif
  float largest = -INFINITY;
  for (int k = 0; k < Skv; ++k) largest = max(largest, final_score(scale * dot_row(query, keys + k * D, D), h, q, k));
  float sum = 0.0f;
  for (int d = 0; d < Dv; ++d) out[d] = 0.0f;
  for (int k = 0; k < Skv; ++k) {
    const float score = final_score(scale * dot_row(query, keys + k * D, D), h, q, k);
    const float weight = score == -INFINITY ? 0.0f : exp(score - largest);
    sum += weight;
    for (int d = 0; d < Dv; ++d) out[d] += weight * values[k * Dv + d];
  }
  for (int d = 0; d < Dv; ++d) out[d] = sum > 0.0f ? out[d] / sum : 0.0f;
#if CHEAT
  if (!known) return;
  for (int d = 0; d < Dv; ++d) row[d] = out[d];
#endif
}
