/*kernelwright
format    = 1
target    = "opencl"
problem   = "attention/document_causal_f16"
generator = "plain 2"

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"

[scratch]
S = {dtype = "f32", elements = "B * Hq * Sq * Skv"}

[[launch]]
kernel = "scores"
grid   = ["ceil_div(Skv, 64)", "Sq", "B * Hq"]
block  = ["64", "1", "1"]
args   = ["Q", "K", "document_id", "offsets", "S", "Sq", "Skv", "Hq", "Hkv", "Offsets"]

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
// attention/document_causal_f16: Causal attention within packed documents, stored in f16.
// Written by kernelwright, generator "plain 2".
//
// mask_mod:
// def document_causal(b, h, q_idx, kv_idx):
//     same_document = document_id[q_idx] == document_id[kv_idx]
//     q_logical = q_idx - offsets[document_id[q_idx]]
//     kv_logical = kv_idx - offsets[document_id[kv_idx]]
//     return same_document & (q_logical >= kv_logical)

static inline int mask_mod(const int b, const int h, const int q_idx, const int kv_idx,
                           __global const int* restrict document_id, __global const int* restrict offsets,
                           const int Offsets, const int Skv) {
  const int t1 = document_id[min(q_idx, Skv - 1)];
  const int t2 = document_id[kv_idx];
  const int t3 = (q_idx - offsets[min(t1, Offsets - 1)]) >= (kv_idx - offsets[min(t2, Offsets - 1)]);
  return (t1 == t2) & t3;
}

// S[b, h, q, k]: the scores of one query row per work-group row, one key per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scores(__global const half* restrict Q, __global const half* restrict K,
            __global const int* restrict document_id, __global const int* restrict offsets,
            __global float* restrict S, const int Sq, const int Skv, const int Hq, const int Hkv, const int Offsets) {
  const int kv_idx = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (kv_idx >= Skv) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const half* query = Q + query_row * HEAD_DIM;
  __global const half* key = K + (((long)b * Hkv + h / (Hq / Hkv)) * Skv + kv_idx) * HEAD_DIM;
  float dot_product = 0.0f;
  for (int d = 0; d < HEAD_DIM; ++d) dot_product += vload_half(d, query) * vload_half(d, key);
  float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
  if (!mask_mod(b, h, q_idx, kv_idx, document_id, offsets, Offsets, Skv)) score = -INFINITY;
  S[query_row * Skv + kv_idx] = score;
}

// Each row of S to probabilities that add up to 1; a row whose keys are all masked to zeros. One row per work-item.
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
void weighted_sum(__global const float* restrict S, __global const half* restrict V, __global half* restrict O,
                  const int Sq, const int Skv, const int Hq, const int Hkv) {
  const int d = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (d >= VALUE_DIM) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* probabilities = S + query_row * Skv;
  __global const half* value = V + ((long)b * Hkv + h / (Hq / Hkv)) * Skv * VALUE_DIM + d;
  float sum = 0.0f;
  for (int k = 0; k < Skv; ++k) sum += probabilities[k] * vload_half((long)k * VALUE_DIM, value);
  vstore_half_rte(sum, query_row * VALUE_DIM + d, O);
}
