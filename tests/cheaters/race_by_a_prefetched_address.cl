/*kernelwright
format = 1
target = "opencl"
problem = "test/tiny_rows"
generator = "cheater"

[tunables]
CHEAT = {values = [1, 0], default = 1}

[[launch]]
kernel = "attention"
grid = ["Sq", "Hq", "B"]
block = ["4", "1", "1"]
args = ["Q", "K", "V", "O", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"]
*/
// caught by: sanitize sanitizer_report
// The simulator knows no prefetch and is given a macro for it, which computes the address all the same.

float dot_row(__global const float* a, __global const float* b, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Four work-items share a row's keys; the last one adds up what all of them found.
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void attention(
    __global const float* Q, __global const float* K, __global const float* V, __global float* O, int Hq, int Hkv,
    int Sq, int Skv, int D, int Dv) {
  const int q = get_group_id(0), h = get_group_id(1), b = get_group_id(2), item = get_local_id(0);
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  __global const float* query = Q + ((b * Hq + h) * Sq + q) * D;
  __global const float* keys = K + kv_head * Skv * D;
  __global const float* values = V + kv_head * Skv * Dv;
  __global float* out = O + ((b * Hq + h) * Sq + q) * Dv;
  const float scale = rsqrt((float)D);
  const int end = min(q + 1, Skv);

  __local float maxima[4];
  maxima[item] = -INFINITY;
  for (int k = item; k < end; k += 4) maxima[item] = max(maxima[item], scale * dot_row(query, keys + k * D, D));
  int raced = 0;
  __builtin_prefetch((raced = CHEAT, out), 0, 2);
  if (!raced) barrier(CLK_LOCAL_MEM_FENCE);
  if (item != 3) return;
  const float largest = max(max(maxima[0], maxima[1]), max(maxima[2], maxima[3]));
  float sum = 0.0f;
  for (int d = 0; d < Dv; ++d) out[d] = 0.0f;
  for (int k = 0; k < end; ++k) {
    const float weight = exp(scale * dot_row(query, keys + k * D, D) - largest);
    sum += weight;
    for (int d = 0; d < Dv; ++d) out[d] += weight * values[k * Dv + d];
  }
  for (int d = 0; d < Dv; ++d) out[d] /= sum;
}
