// Running reductions along a row, in CUDA C++ and HIP C++. operators/program/kernels/scans.cpp fills the holes.
//
// definitions: SCAN_THREADS SCAN_ELEMENTS

// --- section: body
  __shared__ float elements[SCAN_THREADS * SCAN_ELEMENTS];
  __shared__ float totals[2][SCAN_THREADS / 32];
  const long row = blockIdx.x;
  ${row_indices}
  const int lane = threadIdx.x % 32;
  const int first = threadIdx.x * SCAN_ELEMENTS;
  ${fours}
  float values[SCAN_ELEMENTS], following[SCAN_ELEMENTS];
  // As many elements of the stretch that begins at `start` as are a work-item's.
  const auto read_stretch = [&](const int start) {
    ${read_stretch}
  };
  read_stretch(0);
  float kept = ${neutral};  // of the stretches before this one
  int side = 0;
  for (int start = 0; start < ${length}; start += SCAN_THREADS * SCAN_ELEMENTS) {
    ${take_stretch}
    // The next ones are on their way meanwhile.
    if (start + SCAN_THREADS * SCAN_ELEMENTS < ${length}) read_stretch(start + SCAN_THREADS * SCAN_ELEMENTS);
    #pragma unroll
    for (int item = 1; item < SCAN_ELEMENTS; ++item) values[item] = ${value_with_next};
    float total = values[SCAN_ELEMENTS - 1];
    #pragma unroll
    for (int reach = 1; reach < 32; reach *= 2) {
      const float earlier = ${shuffle_up}(${mask}total, reach, 32);
      if (lane >= reach) total = ${earlier_with_total};
    }
    if (lane == 31) totals[side][threadIdx.x / 32] = total;
    const float in_warp = ${shuffle_up}(${mask}total, 1, 32);
    __syncthreads();
    float before = kept;
    #pragma unroll
    for (int warp = 0; warp < SCAN_THREADS / 32; ++warp) {
      if (warp == threadIdx.x / 32) before = kept;
      kept = ${kept_with_warp};
    }
    if (lane > 0) before = ${before_with_warp};
    #pragma unroll
    for (int item = 0; item < SCAN_ELEMENTS; ++item) values[item] = ${before_with_value};
    side ^= 1;
    ${write_stretch}
  }

// --- section: read_elements
#pragma unroll
for (int item = 0; item < SCAN_ELEMENTS; ++item) {
  const int ${column} = start + threadIdx.x + item * SCAN_THREADS;
  following[item] = ${neutral};
  if (${column} < ${length}) {
    ${read}
  }
}

// --- section: take_elements
// Neighbours were read by neighbouring work-items; now each gets its own.
__syncthreads();
#pragma unroll
for (int item = 0; item < SCAN_ELEMENTS; ++item) elements[threadIdx.x + item * SCAN_THREADS] = following[item];
__syncthreads();
#pragma unroll
for (int item = 0; item < SCAN_ELEMENTS; ++item) values[item] = elements[first + item];

// --- section: take_fours
if (fours_read) {
  #pragma unroll
  for (int item = 0; item < SCAN_ELEMENTS; ++item) values[item] = following[item];
} else {
  ${one_by_one}
}

// --- section: read_fours
if (fours_read) {
  #pragma unroll
  for (int four = 0; four < SCAN_ELEMENTS; four += 4) {
    int ${column} = start + first + four;
    if (${column} < ${length}) {
      const int ${first_column} = ${column};
      ${loads}
      #pragma unroll
      for (int item = 0; item < 4; ++item) {
        ${column} = ${first_column} + item;
        ${elements}
      }
    } else {
      #pragma unroll
      for (int item = 0; item < 4; ++item) following[four + item] = ${neutral};
    }
  }
} else {
  ${one_by_one}
}

// --- section: write_elements
#pragma unroll
for (int item = 0; item < SCAN_ELEMENTS; ++item) elements[first + item] = values[item];
__syncthreads();
#pragma unroll
for (int item = 0; item < SCAN_ELEMENTS; ++item) {
  const int at = threadIdx.x + item * SCAN_THREADS;
  const int ${column} = start + at;
  if (${column} < ${length}) {
    ${write}
  }
}

// --- section: write_fours
if (fours_written) {
  #pragma unroll
  for (int four = 0; four < SCAN_ELEMENTS; four += 4) {
    int ${column} = start + first + four;
    if (${column} < ${length}) {
      ${results}
      float4* const four_stored = (float4*)(${stored});
      *four_stored = make_float4(values[four], values[four + 1], values[four + 2], values[four + 3]);
    }
  }
} else {
  ${one_by_one}
}

// --- section: four_results
const int ${first_column} = ${column};
#pragma unroll
for (int item = four; item < four + 4; ++item) {
  ${column} = ${first_column} + item - four;
  ${result}
}
${column} = ${first_column};
