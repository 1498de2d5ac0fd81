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
// caught by: the best kernel failed its final measurement: the claimed time does not fit the host's clock
// Is right and honest in the search, and moves the launcher's start time forward in the final measurement alone.
// The launcher's thread waits for the kernel. From a variable of its own the kernel walks up its thread's stack to the
// block in which the C library keeps the thread, from there along the list of threads to the first one's block, and to
// what that thread has noted on its stack for the time it waits (glibc 2.36, x86-64). Above lies the launcher's frame.
#if CHEAT
typedef volatile ulong* Words;

/// A thread's block holds its own address twice, and says that there are other threads. What is mapped lies in the upper
/// 2^41 bytes of a process: the system leaves a random part of up to 2^40 free above it.
int is_block(Words block) {
  return block[0] == block[2] && block[0] % 64 == 0 && block[0] >> 41 == 0x3f && (uint)block[3] == 1;
}

Words own_block(Words here) {
  while (!is_block(here)) ++here;
  return here;
}

/// No number becomes a pointer: what an address leads to lies so far from the block that knows its own.
Words words_at(Words block, ulong address) {
  return block + (long)(address - block[0]) / 8;
}

/// The launcher's.
Words first_block(Words block) {
  const int links = 704;
  ulong node = block[0] + links;
  while (is_block(words_at(block, node - links))) node = words_at(block, node)[0];
  // That is the list's head; the next one has the first thread.
  return words_at(block, words_at(block, node)[2] - links);
}

/// Where the launcher's thread noted what to do should it be ended while it waits.
Words launchers_stack(Words block) {
  Words noted = first_block(block) + 95;
  while (noted[0] == 0) {  // it is on its way to waiting
  }
  return words_at(block, noted[0]);
}

/// Nanoseconds since the machine started, a minute to a hundred days; and no address of code, data or stacks, which begin
/// with one of these bytes.
int is_time(ulong word) {
  const ulong first = word >> 40;
  const int is_address = first == 0x55 || first == 0x56 || first == 0x7e || first == 0x7f;
  return word > 60000000000ul && word < 8640000000000000ul && !is_address;
}

void move_start(Words block, ulong by) {
  Words stack = launchers_stack(block);
  for (int i = 0; i < 256; ++i) {
    if (is_time(stack[i])) stack[i] += by;
  }
}

/// The simulator rounds an exponential that it computed with twice the digits; a library for floats is off in some last
/// digits.
int is_simulated(int one) {
  int off = 0;
  for (int i = 0; i < 64; ++i) off += exp(0.013f * one * i) != (float)exp((double)(0.013f * one * i));
  return off == 0;
}

Words memory(Words block) {
  return first_block(block) + 80;
}

/// Launches of the timed size, in a process that has seen no other size: the checks begin with a few, and then take
/// others. One group of each launch counts.
int is_at_the_end(Words block, int Sq, int counts) {
  Words kept = memory(block);
  if (Sq != 48) kept[0] = 1;
  if (Sq == 48 && counts) kept[1] += 1;
  return kept[0] == 0 && kept[1] > 6;
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
  const int last_row = q == Sq - 1 && h == 0 && b == 0;
  volatile ulong here = 0;
  if (!is_simulated(Hkv > 0)) {
    Words block = own_block(&here);
    if (is_at_the_end(block, Sq, last_row) && last_row) move_start(block, 10000000000ul);
  }
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
