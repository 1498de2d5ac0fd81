// The launch before a convolution by patches: it packs the filter in the order in which patches.cu reads it, 16 bytes for
// each of a tile's rows at a time. operators/program/kernels/contract_patch_filters.cpp fills the holes.
//
// definitions: TILE_M PATCH_K PATCH_STEPS

// --- section: store_split
const Split parts = split(element);
const long at = id + id / (4 * TILE_M) * (4 * TILE_M);
filters[at] = __uint_as_float(parts.high);
filters[at + 4 * TILE_M] = __uint_as_float(parts.low);

// --- section: store_rounded
filters[id] = __uint_as_float(rounded_bits(element));

// --- section: pack_filters
// Copies the filter of ${name}
// in the order in which the loop over patches reads it, with zeros where it has no more.
${qualifier}
${signature} {
  using Places = ${patch};
  const long id = ${global_index};
  const int tiles_down = (${row_count} + TILE_M - 1) / TILE_M;
  const int patches = ${patches};
  constexpr int units = 2 * PATCH_STEPS * Places::slices;
  if (id >= (long)${filter_count} * tiles_down * patches * units * (4 * TILE_M)) return;
  long rest = id / (4 * TILE_M);
  const int unit = (int)(rest % units);
  rest /= units;
  const int patch = (int)(rest % patches);
  rest /= patches;
  const int m = (int)(rest % tiles_down) * TILE_M + (int)(id / 4 % TILE_M);
  ${batch}
  const int tap = unit / Places::groups;
  const int depth_at = ${chunk} * PATCH_K + unit % Places::groups * 4 + (int)(id % 4);
  ${axes}
  float element = 0.0f;
  if (m < ${row_count} && depth_at < ${depth} && tap < ${taps}${guard}) element = ${element};
  ${store}
}

// --- section: pack_half_filters
// Copies the filter of ${name}
// in the order in which the loop over patches reads it, with zeros where it has no more: a row per block, scaled.
${qualifier}
${signature} {
  using Places = ${patch};
  const int thread = threadIdx.x;
  const int tiles_down = (${row_count} + TILE_M - 1) / TILE_M;
  const int patches = ${patches};
  constexpr int units = 2 * PATCH_STEPS * Places::slices;
  const int m = (int)blockIdx.x % (tiles_down * TILE_M);
  ${batch}
  const auto element_at = [&](const int at) {
    const int unit = at / Places::unit % units, patch = at / Places::unit / units;
    const int tap = unit / Places::groups;
    const int depth_at = ${chunk} * PATCH_K + unit % Places::groups * Places::unit + at % Places::unit;
    ${axes}
    float element = 0.0f;
    if (m < ${row_count} && depth_at < ${depth} && tap < ${taps}${guard}) element = ${element};
    return element;
  };
  float largest = 0.0f;
  for (int at = thread; at < patches * units * Places::unit; at += 128) {
    const float number = fabsf(element_at(at));
    largest = fmaxf(largest, number < INFINITY ? number : 0.0f);
  }
  __shared__ float of_warp[4];
  #pragma unroll
  for (int apart = 16; apart > 0; apart /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
  if (thread % 32 == 0) of_warp[thread / 32] = largest;
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 4; ++i) largest = fmaxf(largest, of_warp[i]);
  const int exponent = exponent_of(largest);
  if (thread == 0) exponents[blockIdx.x] = exponent;
  const float scale = power_of_two(-exponent);
  // Of all rows' tiles, patches and units, the large parts of a tile's rows and then their small ones.
  const long first = (long)((int)blockIdx.x / TILE_M) * patches * units;
  for (int at = thread; at < patches * units * Places::unit; at += 128) {
    const float number = element_at(at) * scale;
    const long place = (first + at / Places::unit) * ${parts} * TILE_M + m % TILE_M;
    __half* const to = filters + place * Places::unit + at % Places::unit;
    const __half large = __float2half_rn(number);
    *to = large;
    ${store_small}
  }
}
