// How the threads of a block load the tiles of both factors, for the holes of contract.cu.
// operators/program/kernels/contract_tile_loads.cpp fills the holes.
//
// definitions: TILE_M TILE_N TILE_K THREAD_M THREAD_N SPLIT_K

// --- section: places
${declarations}
#pragma unroll
for (int i = 0; i < ${places}; ++i) {
  const int ${index} = ${first} + (thread + i * TILE_THREADS) % ${tile};
  ${axes}
  ${values}
}

// --- section: taps
for (int ${axis} = 0; ${axis} < ${count}; ++${axis}) {
  if (${guard}) ${taps}[i] |= ${bit};
}

// --- section: steps
// What the places of elements owe to the step is computed once for all threads.
if (thread < TILE_K) {
  const int k = ${first} + thread;
  ${axes}
  ${values}
}

// --- section: load
#pragma unroll
for (int i = 0; i < ${loads}; ++i) {
  const int at = ${at};
  ${indices}
  ${reads}
  float element = 0.0f;
  if (${inside}) {
    ${axes}
    ${element}
  }
  ${registers}[i] = element;
}

// --- section: keep
#pragma unroll
for (int i = 0; i < ${loads}; ++i) {
  const int at = thread + i * TILE_THREADS;
  ${tiles}[stage ^ 1][(${step}) * ${stride} + ${place}] = ${kept_0};
}

// --- section: load_four
#pragma unroll
for (int i = 0; i < ${loads}; i += 4) {
  const int at = ${at};
  ${valid}
  const int ${index} = ${first} + ${place}, k = next + ${step};
  ${axes}
  const ${pointer} from = ${memory} + (${address});
  if (${aligned} && ${index} + ${further_index} < ${count} && k + ${further_step} < end) {
    const float4 four = *(const float4*)from;
    ${registers}[i] = four.x;
    ${registers}[i + 1] = four.y;
    ${registers}[i + 2] = four.z;
    ${registers}[i + 3] = four.w;
  } else {
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      ${registers}[i + j] = ${index} + ${one_index} < ${count} && k + ${one_step} < end ? from[j] : 0.0f;
  }
}

// --- section: keep_four_steps
#pragma unroll
for (int i = 0; i < ${loads}; ++i) {
  const int at = 4 * thread + i / 4 * (4 * TILE_THREADS);
  ${tiles}[stage ^ 1][(at % TILE_K + i % 4) * ${stride} + at / TILE_K] = ${kept_0};
}

// --- section: keep_four_rows
#pragma unroll
for (int i = 0; i < ${loads}; i += 4) {
  const int at = 4 * thread + i * TILE_THREADS;
  *(float4*)&${tiles}[stage ^ 1][at / ${tile} * ${stride} + at % ${tile}] =
      make_float4(${kept_0}, ${kept_1}, ${kept_2}, ${kept_3});
}

// --- section: keep_split
#pragma unroll
for (int i = 0; i < ${loads}; i += 4) {
  const int at = ${at};
  keep_four(${tiles}[stage ^ 1], ${tile}, ${place}, ${chunk}, ${registers}[i],
            ${registers}[i + 1], ${registers}[i + 2], ${registers}[i + 3]);
}

// --- section: keep_split_rows
#pragma unroll
for (int i = 0; i < ${loads}; i += 16) {
  const int at = ${at};
  ${valid}
  #pragma unroll
  for (int j = 0; j < 4; ++j)
    keep_four(${tiles}[stage ^ 1], ${tile}, ${place} + j, ${chunk}, ${registers}[i + j],
              ${registers}[i + 4 + j], ${registers}[i + 8 + j], ${registers}[i + 12 + j]);
}

// --- section: keep_rounded
#pragma unroll
for (int i = 0; i < ${loads}; i += 4) {
  const int at = computed_again(thread) + i / 4 * TILE_THREADS;
  keep_rounded_four(${tiles}[filled], ${place}, ${chunk}, ${registers}[i], ${registers}[i + 1],
                    ${registers}[i + 2], ${registers}[i + 3]);
}

// --- section: keep_rounded_rows
#pragma unroll
for (int i = 0; i < ${loads}; i += 16) {
  const int at = computed_again(thread) + i / 16 * TILE_THREADS;
  ${valid}
  #pragma unroll
  for (int j = 0; j < 4; ++j)
    keep_rounded_four(${tiles}[filled], ${place} + j, ${chunk}, ${registers}[i + j], ${registers}[i + 4 + j],
                      ${registers}[i + 8 + j], ${registers}[i + 12 + j]);
}
