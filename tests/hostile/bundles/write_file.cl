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
// Writes a file where the tests can see it: refused.

long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global const float* Q, __global const float* K,
                                                                       __global const float* V, __global float* O) {
  const char path[] = "/tmp/kernelwright_escaped";
  const long file = system_call(2, (long)path, 0x41, 0644);
  if (file >= 0) system_call(1, file, (long)path, 8);
  __builtin_trap();
}
