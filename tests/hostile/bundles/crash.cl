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
// Writes through a null pointer: the process dies, the run goes on.

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void attention(__global const float* Q, __global const float* K,
                                                                       __global const float* V, __global float* O) {
  *(volatile __global int*)8 = 1;
}
