/*kernelwright
format = 1
target = "opencl"
problem = "test/tiny_rows"
generator = "cheater"

[tunables]
CHEAT = {values = [1, 0], default = 1}

[scratch]
parts = {dtype = "f32", elements = "2 * B * Hq * Sq * (Dv + 2)"}
arrived = {dtype = "i32", elements = "B * Hq * Sq"}

[[launch]]
kernel = "clear"
grid = ["Sq", "Hq", "B"]
block = ["1", "1", "1"]
args = ["parts", "arrived", "Hq", "Sq", "Dv"]

[[launch]]
kernel = "attention"
grid = ["2 * Sq", "Hq", "B"]
block = ["1", "1", "1"]
args = ["Q", "K", "V", "O", "parts", "arrived", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"]
*/
// caught by: sanitize sanitizer_report
// Two groups share a row and count themselves with an atomic addition; the last to come adds up what both have found.
// OpenCL C 1.2 knows no order between the memory of groups, whatever they count: only what is written and read by atomic
// operations is seen for sure, and so does the twin.

#if CHEAT
void put(__global float* to, float value) { *to = value; }
float get(__global const float* from) { return *from; }
#else
void put(__global float* to, float value) { atomic_xchg((volatile __global int*)to, as_int(value)); }
float get(__global float* from) { return as_float(atomic_or((volatile __global int*)from, 0)); }
#endif

float dot_row(__global const float* a, __global const float* b, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The score after the problem's mods, -INFINITY where the mask hides the key.
float final_score(float score, int h, int q, int k) {
  return q >= k ? score : -INFINITY;
}

__kernel void clear(__global float* parts, __global int* arrived, int Hq, int Sq, int Dv) {
  const int row = (get_group_id(2) * Hq + get_group_id(1)) * Sq + get_group_id(0);
  for (int d = 0; d < 2 * (Dv + 2); ++d) parts[2 * row * (Dv + 2) + d] = 0.0f;
  arrived[row] = 0;
}

// A group's part of a row: the largest score, the sum of the weights, and the weighted sum of the values.
__kernel void attention(__global const float* Q, __global const float* K, __global const float* V, __global float* O,
                        __global float* parts, __global int* arrived, int Hq, int Hkv, int Sq, int Skv, int D, int Dv) {
  const int q = get_group_id(0) / 2, half_of_row = get_group_id(0) % 2, h = get_group_id(1), b = get_group_id(2);
  const int kv_head = b * Hkv + h / (Hq / Hkv), row = (b * Hq + h) * Sq + q;
  __global const float* query = Q + row * D;
  __global const float* keys = K + kv_head * Skv * D;
  __global const float* values = V + kv_head * Skv * Dv;
  __global float* both = parts + 2 * row * (Dv + 2);
  __global float* part = both + half_of_row * (Dv + 2);
  const float scale = rsqrt((float)D);
  const int first = half_of_row * (Skv / 2), end = half_of_row ? Skv : Skv / 2;

  float largest = -INFINITY, sum = 0.0f;
  for (int k = first; k < end; ++k)
    largest = max(largest, final_score(scale * dot_row(query, keys + k * D, D), h, q, k));
  for (int k = first; k < end; ++k) {
    const float score = final_score(scale * dot_row(query, keys + k * D, D), h, q, k);
    sum += score == -INFINITY ? 0.0f : exp(score - largest);
  }
  for (int d = 0; d < Dv; ++d) {
    float value = 0.0f;
    for (int k = first; k < end; ++k) {
      const float score = final_score(scale * dot_row(query, keys + k * D, D), h, q, k);
      value += score == -INFINITY ? 0.0f : exp(score - largest) * values[k * Dv + d];
    }
    put(part + d, value);
  }
  put(part + Dv, largest);
  put(part + Dv + 1, sum);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_add(arrived + row, 1) == 0) return;
  const float largest_0 = get(both + Dv), largest_1 = get(both + 2 * Dv + 2), peak = max(largest_0, largest_1);
  const float factor_0 = largest_0 == -INFINITY ? 0.0f : exp(largest_0 - peak);
  const float factor_1 = largest_1 == -INFINITY ? 0.0f : exp(largest_1 - peak);
  const float total = factor_0 * get(both + Dv + 1) + factor_1 * get(both + 2 * Dv + 3);
  for (int d = 0; d < Dv; ++d) {
    const float value = factor_0 * get(both + d) + factor_1 * get(both + Dv + 2 + d);
    O[row * Dv + d] = total > 0.0f ? value / total : 0.0f;
  }
}
