/*kernelwright
format    = 1
target    = "opencl"
problem   = "attention/causal_bf16"
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
args   = ["Q", "K", "S", "Sq", "Skv", "Hq", "Hkv"]

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
// attention/causal_bf16: Attention where a query sees itself and the keys before it, stored in bf16.
// Written by kernelwright, generator "plain 1".
//
// mask_mod:
// def causal(b, h, q_idx, kv_idx):
//     return q_idx >= kv_idx

// The upper half of the nearest float whose lower half is zero, ties to even. A NaN is made quiet instead: rounding
// could carry it past the exponent.
static inline ushort to_bf16(const float x) {
  const uint bits = as_uint(x);
  const uint nearest = bits + 0x7fffu + (bits >> 16 & 1u);
  return ((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : nearest) >> 16;
}

static inline int mask_mod(const int b, const int h, const int q_idx, const int kv_idx) {
  return q_idx >= kv_idx;
}

// S[b, h, q, k]: the scores of one query row per work-group row, one key per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scores(__global const ushort* restrict Q, __global const ushort* restrict K, __global float* restrict S,
            const int Sq, const int Skv, const int Hq, const int Hkv) {
  const int kv_idx = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (kv_idx >= Skv) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const ushort* query = Q + query_row * HEAD_DIM;
  __global const ushort* key = K + (((long)b * Hkv + h / (Hq / Hkv)) * Skv + kv_idx) * HEAD_DIM;
  float dot_product = 0.0f;
  for (int d = 0; d < HEAD_DIM; ++d) dot_product += as_float((uint)query[d] << 16) * as_float((uint)key[d] << 16);
  float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
  if (!mask_mod(b, h, q_idx, kv_idx)) score = -INFINITY;
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
void weighted_sum(__global const float* restrict S, __global const ushort* restrict V, __global ushort* restrict O,
                  const int Sq, const int Skv, const int Hq, const int Hkv) {
  const int d = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (d >= VALUE_DIM) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* weights = S + query_row * Skv;
  __global const ushort* value = V + ((long)b * Hkv + h / (Hq / Hkv)) * Skv * VALUE_DIM + d;
  float sum = 0.0f;
  for (int k = 0; k < Skv; ++k) sum += weights[k] * as_float((uint)value[(long)k * VALUE_DIM] << 16);
  O[query_row * VALUE_DIM + d] = to_bf16(sum);
}
