/*kernelwright
format    = 1
target    = "opencl"
problem   = "attention/neighborhood_2d"
generator = "plain 1"

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"

[scratch]
S = {dtype = "f32", elements = "B * Hq * Sq * Skv"}

[[launch]]
kernel = "scores"
grid   = ["ceil_div(Skv, 64)", "Sq", "B * Hq"]
block  = ["64", "1", "1"]
args   = ["Q", "K", "S", "Sq", "Skv", "Hq", "Hkv", "Width"]

[[launch]]
kernel = "softmax"
grid   = ["Sq", "B * Hq", "1"]
block  = ["1", "1", "1"]
args   = ["S", "Sq", "Skv"]

[[launch]]
kernel = "weighted_sum"
grid   = ["ceil_div(Dv, 64)", "Sq", "B * Hq"]
block  = ["64", "1", "1"]
args   = ["S", "V", "O", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/neighborhood_2d: Neighborhood attention on an image, 7 by 9 pixels.
// Written by kernelwright, generator "plain 1".
//
// mask_mod:
// def near(query, key, length, kernel):
//     start = torch.clamp(query - kernel // 2, 0, length - kernel)
//     return (start <= key) & (key < start + kernel)
//
// def neighborhood_2d(b, h, q_idx, kv_idx):
//     rows = near(q_idx // Width, kv_idx // Width, Sq // Width, 7)
//     return rows & near(q_idx % Width, kv_idx % Width, Width, 9)

static inline int floor_div(const int a, const int b) {
  if (b == 0) return 0;
  const int quotient = a / b;
  return quotient - (a % b != 0 && ((a < 0) != (b < 0)));
}
static inline int floor_mod(const int a, const int b) {
  if (b == 0) return 0;
  const int remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

static inline int mask_mod(const int b, const int h, const int q_idx, const int kv_idx, const int Sq,
                           const int Width) {
  const int t1 = min(max(floor_div(q_idx, Width) - 3, 0), floor_div(Sq, Width) - 7);
  const int t2 = floor_div(kv_idx, Width);
  const int t3 = min(max(floor_mod(q_idx, Width) - 4, 0), Width - 9);
  const int t4 = floor_mod(kv_idx, Width);
  const int t5 = ((t1 <= t2) & (t2 < (t1 + 7))) & ((t3 <= t4) & (t4 < (t3 + 9)));
  return t5;
}

// S[b, h, q, k]: the scores of one query row per work-group row, one key per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scores(__global const float* restrict Q, __global const float* restrict K, __global float* restrict S,
            const int Sq, const int Skv, const int Hq, const int Hkv, const int Width) {
  const int kv_idx = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (kv_idx >= Skv) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* query = Q + query_row * HEAD_DIM;
  __global const float* key = K + (((long)b * Hkv + h / (Hq / Hkv)) * Skv + kv_idx) * HEAD_DIM;
  float dot_product = 0.0f;
  for (int d = 0; d < HEAD_DIM; ++d) dot_product += query[d] * key[d];
  float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
  if (!mask_mod(b, h, q_idx, kv_idx, Sq, Width)) score = -INFINITY;
  S[query_row * Skv + kv_idx] = score;
}

// Each row of S to weights that add up to 1; a row whose keys are all masked to zeros. One row per work-item.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void softmax(__global float* restrict S, const int Sq, const int Skv) {
  __global float* row = S + ((long)get_global_id(1) * Sq + get_global_id(0)) * Skv;
  float largest = -INFINITY;
  for (int k = 0; k < Skv; ++k) largest = max(largest, row[k]);
  // With no key allowed the maximum is -inf, and -inf - -inf would be NaN.
  if (largest == -INFINITY) largest = 0.0f;
  float total = 0.0f;
  for (int k = 0; k < Skv; ++k) {
    row[k] = exp(row[k] - largest);
    total += row[k];
  }
  for (int k = 0; k < Skv; ++k) row[k] = total > 0.0f ? row[k] / total : 0.0f;
}

// O[b, h, q, d]: the weighted sum of the values, one output element per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void weighted_sum(__global const float* restrict S, __global const float* restrict V, __global float* restrict O,
                  const int Sq, const int Skv, const int Hq, const int Hkv) {
  const int d = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (d >= VALUE_DIM) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* weights = S + query_row * Skv;
  __global const float* value = V + ((long)b * Hkv + h / (Hq / Hkv)) * Skv * VALUE_DIM + d;
  float sum = 0.0f;
  for (int k = 0; k < Skv; ++k) sum += weights[k] * value[(long)k * VALUE_DIM];
  O[query_row * VALUE_DIM + d] = sum;
}
