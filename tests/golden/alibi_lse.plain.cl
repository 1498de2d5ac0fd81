/*kernelwright
format    = 1
target    = "opencl"
problem   = "attention/alibi_lse"
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
args   = ["Q", "K", "S", "Sq", "Skv", "Hq", "Hkv"]

[[launch]]
kernel = "softmax"
grid   = ["Sq", "B * Hq", "1"]
block  = ["1", "1", "1"]
args   = ["S", "LSE", "Sq", "Skv"]

[[launch]]
kernel = "weighted_sum"
grid   = ["ceil_div(Dv, 64)", "Sq", "B * Hq"]
block  = ["64", "1", "1"]
args   = ["S", "V", "O", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/alibi_lse: Attention with a linear bias by head, and the log-sum-exp of each row.
// Written by kernelwright, generator "plain 2".
//
// score_mod:
// def alibi(score, b, h, q_idx, kv_idx):
//     return score + torch.exp2(-((h + 1) * 8.0 / Hq)) * (kv_idx - q_idx)

static inline float score_mod(const float score, const int b, const int h, const int q_idx, const int kv_idx,
                              const int Hq) {
  const float t1 = exp2(-(((float)(h + 1) * 8.0f) / (float)(Hq))) * (float)(kv_idx - q_idx);
  return score + t1;
}

// S[b, h, q, k]: the scores of one query row per work-group row, one key per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void scores(__global const float* restrict Q, __global const float* restrict K, __global float* restrict S,
            const int Sq, const int Skv, const int Hq, const int Hkv) {
  const int kv_idx = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (kv_idx >= Skv) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* query = Q + query_row * HEAD_DIM;
  __global const float* key = K + (((long)b * Hkv + h / (Hq / Hkv)) * Skv + kv_idx) * HEAD_DIM;
  float dot_product = 0.0f;
  for (int d = 0; d < HEAD_DIM; ++d) dot_product += query[d] * key[d];
  float score = dot_product * (1.0f / sqrt((float)HEAD_DIM));
  score = score_mod(score, b, h, q_idx, kv_idx, Hq);
  S[query_row * Skv + kv_idx] = score;
}

// Each row of S to probabilities that add up to 1; a row whose keys are all masked to zeros. One row per work-item.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void softmax(__global float* restrict S, __global float* restrict LSE, const int Sq, const int Skv) {
  const long query_row = (long)get_global_id(1) * Sq + get_global_id(0);
  __global float* row = S + query_row * Skv;
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
  LSE[query_row] = total > 0.0f ? largest + log(total) : -INFINITY;
}

// O[b, h, q, d]: the weighted sum of the values, one output element per work-item.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void weighted_sum(__global const float* restrict S, __global const float* restrict V, __global float* restrict O,
                  const int Sq, const int Skv, const int Hq, const int Hkv) {
  const int d = get_global_id(0), q_idx = get_global_id(1);
  const int b = get_global_id(2) / Hq, h = get_global_id(2) % Hq;
  if (d >= VALUE_DIM) return;
  const long query_row = ((long)b * Hq + h) * Sq + q_idx;
  __global const float* probabilities = S + query_row * Skv;
  __global const float* value = V + ((long)b * Hkv + h / (Hq / Hkv)) * Skv * VALUE_DIM + d;
  float sum = 0.0f;
  for (int k = 0; k < Skv; ++k) sum += probabilities[k] * value[(long)k * VALUE_DIM];
  O[query_row * VALUE_DIM + d] = sum;
}
