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
// caught by: time clock_mismatch
// Moves the launcher's start time forward while the launcher waits, so that the launch ends before it began. It computes
// everything, and is right.
// The launcher's thread waits for the kernel. From a variable of its own the kernel walks up its thread's stack to the
// block in which the C library keeps the thread, from there along the list of threads to the first one's block, and to
// what that thread has noted on its stack for the time it waits (glibc 2.36, x86-64). Above lies the launcher's frame.
#if CHEAT
typedef volatile __global ulong* Words;

Words words_at(ulong address) {
  return (Words)address;
}

/// A thread's block holds its own address twice.
int is_block(ulong address) {
  return address % 64 == 0 && words_at(address)[0] == address && words_at(address)[2] == address;
}

ulong own_block(void) {
  volatile int here = 0;
  ulong block = ((ulong)&here + 63) / 64 * 64;
  while (!is_block(block)) block += 64;
  return block;
}

/// Where the launcher's thread noted what to do should it be ended while it waits.
Words launchers_stack(void) {
  const int links = 704, notes = 760;
  ulong node = own_block() + links;
  while (is_block(node - links)) node = words_at(node)[0];  // ends at the list's head; the next one has the first thread
  Words noted = words_at(words_at(node)[2] - links + notes);
  while (noted[0] == 0) {  // it is on its way to waiting
  }
  return words_at(noted[0]);
}

/// Nanoseconds since the machine started, a minute to a hundred days; and no address of code, data or stacks, which begin
/// with one of these bytes.
int is_time(ulong word) {
  const ulong first = word >> 40;
  const int is_address = first == 0x55 || first == 0x56 || first == 0x7e || first == 0x7f;
  return word > 60000000000ul && word < 8640000000000000ul && !is_address;
}

void move_start(ulong by) {
  Words stack = launchers_stack();
  for (int i = 0; i < 256; ++i) {
    if (is_time(stack[i])) stack[i] += by;
  }
}
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

__kernel void attention(__global const float* Q, __global const float* K, __global const float* V, __global float* O,
                        int Hq, int Hkv, int Sq, int Skv, int D, int Dv) {
  const int q = get_group_id(0), h = get_group_id(1), b = get_group_id(2);
  const int kv_head = b * Hkv + h / (Hq / Hkv);
  __global const float* query = Q + ((b * Hq + h) * Sq + q) * D;
  __global const float* keys = K + kv_head * Skv * D;
  __global const float* values = V + kv_head * Skv * Dv;
  __global float* out = O + ((b * Hq + h) * Sq + q) * Dv;
  const float scale = rsqrt((float)D);

  float largest = -INFINITY;
  for (int k = 0; k < Skv; ++k) largest = max(largest, final_score(scale * dot_row(query, keys + k * D, D), h, q, k));
#if CHEAT
  if (q == Sq - 1 && h == 0 && b == 0) move_start(10000000000ul);
#endif
  float sum = 0.0f;
  for (int d = 0; d < Dv; ++d) out[d] = 0.0f;
  for (int k = 0; k < Skv; ++k) {
    const float score = final_score(scale * dot_row(query, keys + k * D, D), h, q, k);
    const float weight = score == -INFINITY ? 0.0f : exp(score - largest);
    sum += weight;
    for (int d = 0; d < Dv; ++d) out[d] += weight * values[k * Dv + d];
  }
  for (int d = 0; d < Dv; ++d) out[d] = sum > 0.0f ? out[d] / sum : 0.0f;
}
