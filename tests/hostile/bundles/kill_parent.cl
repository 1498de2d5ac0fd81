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
// Kills the process that started it: refused, and the host is alive to say so.

long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global const float* Q, __global const float* K,
                                                                       __global const float* V, __global float* O) {
  const long parent = system_call(110, 0, 0, 0);
  system_call(62, parent, 9, 0);
  system_call(62, -1, 9, 0);
  __builtin_trap();
}
