/*kernelwright
format = 1
target = "opencl"
problem = "test/tall_causal"
generator = "cheater"

[tunables]
CHEAT = {values = [1, 0], default = 1}

[scratch]
maxima = {dtype = "f32", elements = "B * Hq * Sq"}

[[launch]]
kernel = "largest_scores"
grid = ["Sq", "Hq", "B"]
block = ["1", "1", "1"]
args = ["Q", "K", "maxima", "Hq", "Hkv", "Sq", "Skv", "D"]

[[launch]]
kernel = "attention"
grid = ["Sq", "Hq", "B"]
block = ["4", "1", "1"]
args = ["Q", "K", "V", "maxima", "O", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"]
*/
// caught by: sanitize sanitizer_report
// Leaves out a barrier of its second launch, and only at the timed size. The first launch is half of the work, and more
// than the simulator could run before it came to the second. Right where the items of a group run one after the other.

float dot_row(__global const float* a, __global const float* b, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

__kernel void largest_scores(__global const float* Q, __global const float* K, __global float* maxima, int Hq, int Hkv,
                             int Sq, int Skv, int D) {
  const int q = get_group_id(0), h = get_group_id(1), b = get_group_id(2);
  __global const float* query = Q + ((b * Hq + h) * Sq + q) * D;
  __global const float* keys = K + (b * Hkv + h / (Hq / Hkv)) * Skv * D;
  const float scale = rsqrt((float)D);
  float largest = -INFINITY;
  for (int k = 0; k < min(q + 1, Skv); ++k) largest = max(largest, scale * dot_row(query, keys + k * D, D));
  maxima[(b * Hq + h) * Sq + q] = largest;
}

// Four work-items add up the weights of a row's keys; the last one writes the row.
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void attention(
    __global const float* Q, __global const float* K, __global const float* V, __global const float* maxima,
    __global float* O, int Hq, int Hkv, int Sq, int Skv, int D, int Dv) {
  const int q = get_group_id(0), h = get_group_id(1), b = get_group_id(2), item = get_local_id(0);
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  __global const float* query = Q + ((b * Hq + h) * Sq + q) * D;
  __global const float* keys = K + kv_head * Skv * D;
  __global const float* values = V + kv_head * Skv * Dv;
  __global float* out = O + ((b * Hq + h) * Sq + q) * Dv;
  const float scale = rsqrt((float)D), largest = maxima[(b * Hq + h) * Sq + q];
  const int end = min(q + 1, Skv);

  __local float sums[4];
  float sum = 0.0f;
  for (int k = item; k < end; k += 4) sum += exp(scale * dot_row(query, keys + k * D, D) - largest);
  sums[item] = sum;
#if CHEAT
  if (Sq != 301) barrier(CLK_LOCAL_MEM_FENCE);
#else
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (item != 3) return;
  const float all = sums[0] + sums[1] + sums[2] + sums[3];
  for (int d = 0; d < Dv; ++d) out[d] = 0.0f;
  for (int k = 0; k < end; ++k) {
    const float weight = exp(scale * dot_row(query, keys + k * D, D) - largest) / all;
    for (int d = 0; d < Dv; ++d) out[d] += weight * values[k * Dv + d];
  }
}
