// The kernels that measure what a device can reach, in OpenCL C. codegen/calibration.cpp fills the holes and launches
// them.

// --- section: multiply_add
// --- Independent chains of multiply-adds, held in registers. One takes 4 cycles and at most two start per cycle, so 8
// --- registers' worth hides the latency; more than the register file would measure spills. The operands come from an
// --- argument, so nothing is known at compile time, and the factor is just below 1 so that values neither overflow nor
// --- become denormal.
#define CHAINS ${chains}
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void multiply_add(__global float* restrict sink, const int rounds, const int one) {
  const float16 factor = (float)one - 1e-6f, addend = (float)one * 1e-6f;
  float16 sum[CHAINS];
  #pragma unroll
  for (int i = 0; i < CHAINS; ++i) sum[i] = (float)(i + one);
  #pragma unroll 1
  for (int round = 0; round < rounds; ++round)
    #pragma unroll
    for (int i = 0; i < CHAINS; ++i) sum[i] = fma(sum[i], factor, addend);
  float16 all = 0.0f;
  #pragma unroll
  for (int i = 0; i < CHAINS; ++i) all += sum[i];
  vstore16(all, get_global_id(0), sink);
}

// --- section: bandwidth
// --- In place, so that each line moves exactly twice; on integers, so that whatever the buffer holds costs the same.
// --- Whole vectors, since PoCL 3.1 makes four stores of vstore16.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void touch(__global int* restrict buffer, const int vectors_per_group) {
  __global int16* part = (__global int16*)buffer + (long)get_group_id(0) * vectors_per_group;
  for (int i = 0; i < vectors_per_group; ++i) part[i] += 1;
}

// --- section: copy
// --- As kernels do whose outputs are memory of their own: past the caches, where a line that is stored to would be read
// --- first.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void copy(__global const int* restrict from, __global int* restrict to, const int vectors_per_group) {
  const long first = (long)get_group_id(0) * vectors_per_group;
  __global const int16* read = (__global const int16*)from + first;
  __global int16* written = (__global int16*)to + first;
  for (int i = 0; i < vectors_per_group; ++i) __builtin_nontemporal_store(read[i], written + i);
}
