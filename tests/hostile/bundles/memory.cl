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
// Maps and touches memory without end: stopped by the sandbox's memory limit.

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global const float* Q, __global const float* K,
                                                                       __global const float* V, __global float* O) {
  for (;;) {
    // mmap(0, 1 GiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)
    long at;
    __asm__ volatile("movq $0x8022, %%r10; movq $-1, %%r8; xorq %%r9, %%r9; syscall"
                     : "=a"(at)
                     : "a"(9L), "D"(0L), "S"(1L << 30), "d"(3L)
                     : "rcx", "r8", "r9", "r10", "r11", "memory");
    if (at < 0 && at > -4096) __builtin_trap();
  }
}
