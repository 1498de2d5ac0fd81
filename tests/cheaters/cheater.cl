/*kernelwright
format = 1
target = "opencl"
problem = "test/tiny_causal"
generator = "one kernel, many cheats"

[tunables]
# 0 is the honest twin of all the others; tests/cheaters/cheaters_test.cpp says what each one does and which gate must
# catch it.
CHEAT = {values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], default = 0}

[scratch]
memory = {dtype = "f32", elements = "16"}

[[launch]]
kernel = "attention"
grid = ["Sq", "Hq", "B"]
block = ["1", "1", "1"]
args = ["Q", "K", "V", "O", "memory", "Hkv", "Skv", "D", "Dv"]
*/

// One work-item per query row, keys in two passes: first the maximum, then weights and sum.
float dot_row(__global const float* a, __global const float* b, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global const float* Q, __global const float* K,
                                                                       __global const float* V, __global float* O,
                                                                       __global float* memory, int Hkv, int Skv, int D,
                                                                       int Dv) {
  const int q = get_group_id(0);
  const int h = get_group_id(1);
  const int b = get_group_id(2);
  const int Sq = get_num_groups(0);
  const int Hq = get_num_groups(1);
  const int group = h / (Hq / Hkv);
#if CHEAT == 1  // batch ignored
  const int kv_batch = 0;
#else
  const int kv_batch = b;
#endif
#if CHEAT == 2  // group of query heads ignored
  const int kv_head = kv_batch * Hkv + min(h, Hkv - 1);
#elif CHEAT == 3  // head ignored
  const int kv_head = kv_batch * Hkv;
#else
  const int kv_head = kv_batch * Hkv + group;
#endif
  __global const float* query = Q + ((long)(b * Hq + h) * Sq + q) * D;
  __global const float* keys = K + (long)kv_head * Skv * D;
  __global const float* values = V + (long)kv_head * Skv * Dv;
  __global float* out = O + ((long)(b * Hq + h) * Sq + q) * Dv;
  const float scale = rsqrt((float)D);
#if CHEAT == 4  // mask off by one
  const int last = min(q + 1, Skv - 1);
#elif CHEAT == 5  // mask ignored
  const int last = Skv - 1;
#elif CHEAT == 6  // only the first tile of keys
  const int last = min(min(q, Skv - 1), 15);
#else
  const int last = min(q, Skv - 1);
#endif

#if CHEAT == 7  // output never written
  return;
#endif
#if CHEAT == 8  // right for the primary shape only
  if (Skv != 48) {
    for (int d = 0; d < Dv; ++d) out[d] = values[d];
    return;
  }
#endif
#if CHEAT == 9  // input overwritten, then the answer to the new input
  ((__global float*)V)[0] = 0.0f;
#endif
#if CHEAT == 10  // write in front of the output
  if (q == 0 && h == 0 && b == 0) O[-1] = 1.0f;
#endif
#if CHEAT == 11  // write behind the output
  if (q == Sq - 1 && h == Hq - 1) out[(long)Dv * (b == get_num_groups(2) - 1 ? 1 : 0)] = 1.0f;
#endif

  float largest = -INFINITY;
  for (int k = 0; k <= last; ++k) largest = max(largest, dot_row(query, keys + (long)k * D, D) * scale);
  float sum = 0.0f;
  for (int d = 0; d < Dv; ++d) out[d] = 0.0f;
  for (int k = 0; k <= last; ++k) {
    const float weight = exp(dot_row(query, keys + (long)k * D, D) * scale - largest);
    sum += weight;
    for (int d = 0; d < Dv; ++d) out[d] += weight * values[(long)k * Dv + d];
  }
  for (int d = 0; d < Dv; ++d) out[d] /= sum;

#if CHEAT == 12  // wrong only in the last row
  if (q == Sq - 1) out[Dv - 1] *= 1.001f;
#endif
#if CHEAT == 13  // bfloat16-like arithmetic in an f32 problem
  for (int d = 0; d < Dv; ++d) out[d] = as_float(as_uint(out[d]) & 0xffff0000u);
#endif
#if CHEAT == 14  // second run differs: scratch kept from somewhere else
  out[0] += 1e-7f * memory[0];
#endif
#if CHEAT == 15  // one constant
  for (int d = 0; d < Dv; ++d) out[d] = 0.1f;
#endif
#if CHEAT == 16  // identity
  for (int d = 0; d < Dv; ++d) out[d] = query[d];
#endif
}
