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
// Never returns: killed at the deadline.

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global const float* Q, __global const float* K,
                                                                       __global const float* V, __global float* O) {
  volatile int spinning = 1;
  while (spinning) {
  }
  O[0] = 0.0f;
}
