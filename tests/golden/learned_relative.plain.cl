/*kernelwright
format    = 1
target    = "opencl"
problem   = "attention/learned_relative"
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
args   = ["Q", "K", "table", "S", "Sq", "Skv", "Hq", "Hkv", "Distances"]

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
// attention/learned_relative: Attention with a learned bias by head and clamped distance.
// Written by kernelwright, generator "plain 1".
//
// score_mod:
// def learned_relative(score, b, h, q_idx, kv_idx):
//     reach = (Distances - 1) // 2
//     distance = torch.clamp(q_idx - kv_idx, -reach, reach)
//     return score + table[h, distance + reach]

static inline int floor_div(const int a, const int b) {
  if (b == 0) return 0;
  const int quotient = a / b;
  return quotient - (a % b != 0 && ((a < 0) != (b < 0)));
}
// Negative indices count from the end; what is outside becomes the nearest.
static inline int nearest_index(const int index, const int extent) {
  return min(max(index < 0 ? index + extent : index, 0), extent - 1);
}

static inline float score_mod(const float score, const int b, const int h, const int q_idx, const int kv_idx,
                              __global const float* restrict table, const int Distances) {
  const int t1 = floor_div(Distances - 1, 2);
  const float t2 = table[(long)h * Distances + nearest_index(min(max(q_idx - kv_idx, -t1), t1) + t1,
    Distances)];
  return score + t2;
}

// S[b, h, q, k]: the scores of one query row per work-group row, one key per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scores(__global const float* restrict Q, __global const float* restrict K, __global const float* restrict table,
            __global float* restrict S, const int Sq, const int Skv, const int Hq, const int Hkv, const int Distances) {
  const int kv_idx = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (kv_idx >= Skv) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* query = Q + query_row * HEAD_DIM;
  __global const float* key = K + (((long)b * Hkv + h / (Hq / Hkv)) * Skv + kv_idx) * HEAD_DIM;
  float dot_product = 0.0f;
  for (int d = 0; d < HEAD_DIM; ++d) dot_product += query[d] * key[d];
  float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
  score = score_mod(score, b, h, q_idx, kv_idx, table, Distances);
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
