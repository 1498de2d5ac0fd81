// Running reductions along a row, in CUDA C++ and HIP C++. operators/program/kernels/scans.cpp fills the holes.
//
// definitions: SCAN_THREADS SCAN_ELEMENTS

// --- section: body
  __shared__ float elements[SCAN_THREADS * SCAN_ELEMENTS];
  __shared__ float totals[SCAN_THREADS];
  const long row = blockIdx.x;
  ${row_indices}
  float kept = ${neutral};  // of the stretches before this one
  for (int start = 0; start < ${length}; start += SCAN_THREADS * SCAN_ELEMENTS) {
    for (int at = threadIdx.x; at < SCAN_THREADS * SCAN_ELEMENTS; at += SCAN_THREADS) {
      const int ${column} = start + at;
      elements[at] = ${neutral};
      if (${column} < ${length}) {
        ${read}
      }
    }
    __syncthreads();
    const int first = threadIdx.x * SCAN_ELEMENTS;
    float total = ${neutral};
    for (int item = 0; item < SCAN_ELEMENTS; ++item) total = ${total_with_element};
    totals[threadIdx.x] = total;
    __syncthreads();
    for (int reach = 1; reach < SCAN_THREADS; reach *= 2) {
      const float earlier = threadIdx.x >= reach ? totals[threadIdx.x - reach] : ${neutral};
      __syncthreads();
      total = ${earlier_with_total};
      totals[threadIdx.x] = total;
      __syncthreads();
    }
    const float before = threadIdx.x > 0 ? totals[threadIdx.x - 1] : ${neutral};
    float running = ${kept_with_before};
    for (int item = 0; item < SCAN_ELEMENTS; ++item) {
      running = ${running_with_element};
      elements[first + item] = running;
    }
    const float all = totals[SCAN_THREADS - 1];
    kept = ${kept_with_all};
    __syncthreads();
    for (int at = threadIdx.x; at < SCAN_THREADS * SCAN_ELEMENTS; at += SCAN_THREADS) {
      const int ${column} = start + at;
      if (${column} < ${length}) {
        ${write}
      }
    }
    __syncthreads();
  }
