// Recurrent layers, in CUDA C++ and HIP C++. operators/program/kernels/recurrence_steps.cpp fills the holes of `step`,
// one step in a launch, and recurrence_block.cpp those of `block`, all of them.
//
// definitions: STEP_WARPS STEP_FEATURES STEP_SEQUENCES BLOCK_SEQUENCES

// --- section: step
  // A warp has a few features and sequences: its lanes share the sums of all gates, then each has a sequence.
  const int lane = threadIdx.x % 32;
  const int first_feature = (blockIdx.x * STEP_WARPS + threadIdx.x / 32) * STEP_FEATURES;
  if (first_feature >= ${features}) return;
  const int first = blockIdx.y * STEP_SEQUENCES;
  const int own = first + lane % STEP_SEQUENCES;
  // What waits for no sum is on its way meanwhile.
  ${declared}
  #pragma unroll
  for (int part = 0; part < STEP_FEATURES; ++part) {
    const int ${feature} = min(first_feature + part, ${features} - 1);
    const int ${sequence} = min(own, ${sequences} - 1);
    ${known}
  }
  float sums[STEP_FEATURES][${gates}][STEP_SEQUENCES];
  #pragma unroll
  for (int part = 0; part < STEP_FEATURES; ++part) {
    #pragma unroll
    for (int gate = 0; gate < ${gates}; ++gate) {
      #pragma unroll
      for (int item = 0; item < STEP_SEQUENCES; ++item) sums[part][gate][item] = 0.0f;
    }
  }
  #pragma unroll 2
  for (int ${k} = lane; ${k} < ${length}; ${k} += 32) {
    #pragma unroll
    for (int part = 0; part < STEP_FEATURES; ++part) {
      const int ${feature} = min(first_feature + part, ${features} - 1);
      #pragma unroll
      for (int item = 0; item < STEP_SEQUENCES; ++item) {
        const int ${sequence} = min(first + item, ${sequences} - 1);
        ${products}
      }
    }
  }
  // Each exchange of lanes halves the sequences that a lane has parts of, and ends with its own.
  #pragma unroll
  for (int part = 0; part < STEP_FEATURES; ++part) {
    #pragma unroll
    for (int gate = 0; gate < ${gates}; ++gate) {
      float (&parts)[STEP_SEQUENCES] = sums[part][gate];
      #pragma unroll
      for (int round = 1; round <= 5; ++round) {
        const int reach = STEP_SEQUENCES >> round;
        #pragma unroll
        for (int item = 0; item < STEP_SEQUENCES / 2; ++item) {
          if (item < reach) {
            // A choice between elements instead of their values would need them in memory.
            const float low = parts[item], high = parts[item + reach];
            const float given = lane & reach ? low : high;
            parts[item] = (lane & reach ? high : low) + ${shuffle_xor}(${mask}given, reach, 32);
          }
        }
      }
      #pragma unroll
      for (int reach = STEP_SEQUENCES; reach < 32; reach *= 2) parts[0] += ${shuffle_xor}(${mask}parts[0], reach, 32);
    }
  }
  if (lane >= STEP_SEQUENCES || own >= ${sequences}) return;
  #pragma unroll
  for (int part = 0; part < STEP_FEATURES; ++part) {
    const int ${feature} = first_feature + part;
    const int ${sequence} = own;
    if (${feature} < ${features}) {
      ${states}
    }
  }

// --- section: block
  // A work-item keeps a row of the weights; the states of a few sequences go round in shared memory.
  constexpr int c_length = ${length}, c_rows = ${gates} * c_length;
  constexpr int c_threads = ${threads};
  constexpr int c_states = BLOCK_SEQUENCES * c_length;
  constexpr int c_parts = (c_states + c_threads - 1) / c_threads;
  __shared__ __align__(16) float states[BLOCK_SEQUENCES][c_length];
  __shared__ float sums[${gates}][BLOCK_SEQUENCES][c_length];
  const int first = blockIdx.x * BLOCK_SEQUENCES;
  float weights[c_length];
  if (threadIdx.x < c_rows) {
    const int ${feature} = threadIdx.x % c_length;
    ${row}
    #pragma unroll
    for (int ${k} = 0; ${k} < c_length; ++${k}) weights[${k}] = ${weight};
  }
  for (int place = threadIdx.x; place < c_states; place += c_threads) {
    const int ${k} = place % c_length;
    const int ${sequence} = min(first + place / c_length, ${sequences} - 1);
    states[place / c_length][${k}] = ${given};
  }
  __syncthreads();
  #pragma unroll 1
  ${steps}
    // What waits for no sum is on its way meanwhile.
    ${declared}
    #pragma unroll
    for (int part = 0; part < c_parts; ++part) {
      const int place = min(threadIdx.x + part * c_threads, c_states - 1);
      const int ${feature} = place % c_length;
      const int ${sequence} = min(first + place / c_length, ${sequences} - 1);
      ${known}
    }
    if (threadIdx.x < c_rows) {
      #pragma unroll
      for (int item = 0; item < BLOCK_SEQUENCES; ++item) {
        // Of one sum after the other each would wait for the last.
        float parts[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int ${k} = 0; ${k} < c_length; ++${k}) parts[${k} % 4] += states[item][${k}] * weights[${k}];
        sums[threadIdx.x / c_length][item][threadIdx.x % c_length] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
      }
    }
    __syncthreads();
    #pragma unroll
    for (int part = 0; part < c_parts; ++part) {
      const int place = threadIdx.x + part * c_threads;
      const int ${feature} = place % c_length;
      const int item = place / c_length;
      const int ${sequence} = first + item;
      if (place < c_states && ${sequence} < ${sequences}) {
        ${states}
        states[item][${feature}] = state;
      }
    }
    __syncthreads();
  }
