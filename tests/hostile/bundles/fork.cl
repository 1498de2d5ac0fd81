/*kernelwright
format = 1
target = "opencl"
problem = "test/tiny_causal"
generator = "hostile"

[[launch]]
kernel = "attention"
grid = ["1"]
block = ["1"]
args = ["Q", "K", "V", "O"]
*/
// Forks without end: refused, so that it only spins and is killed at the deadline.

long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global const float* Q, __global const float* K,
                                                                       __global const float* V, __global float* O) {
  for (;;) system_call(57, 0, 0, 0);
}
