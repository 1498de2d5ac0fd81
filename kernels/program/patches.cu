// Convolutions as products, for warpgroups of sm_90a: the part of an image that a tile of outputs needs, a patch, is
// loaded and converted once for all taps. Shared memory holds it by groups of channels, four tf32 numbers or eight of f16
// and so 16 bytes a pixel, so that a tap is the same patch from another place on. operators/program/kernels/
// contract_patch_text.cpp fills the holes; patch_filters.cu packs the filters and contract.cu has the rest of the kernel.
//
// definitions: TILE_M TILE_N THREAD_M THREAD_N PATCH_K PATCH_STEPS PATCH_WIDE

// --- section: patch_tile
${places}

${multiplies_of_places}

${copies}

// What a tile needs of an image: LINED tiles are 8 columns wide for each warpgroup, and WIDE ones a line for each of
// them; others are one line. Along lines and from line to line, output pixels are STEP apart in the image, and the taps
// of one span SPAN more pixels. PARTS numbers make an element.
template <bool LINED, bool WIDE, int LINE_STEP, int LINE_SPAN, int STEP, int SPAN, int TAPS, int PARTS, int UNIT>
struct Patch {
  // Channels are multiplied by units of 16 bytes, two of them a step; of a single unit, two taps are a step.
  static constexpr int unit = UNIT;
  static constexpr int groups = PATCH_K / UNIT;
  static constexpr int tile_lines = !LINED ? 1 : WIDE ? TILE_N / GROUP_COLUMNS : GROUP_COLUMNS / 8;
  static constexpr int tile_width = TILE_N / tile_lines;
  // Every STEP-th pixel of a line is a plane's, whose pixels are neighbours in shared memory.
  static constexpr int plane_places = ((tile_width - 1) * STEP + SPAN) / STEP + 1;
  static constexpr int line_places = STEP * plane_places;
  static constexpr int group_places = ((tile_lines - 1) * LINE_STEP + LINE_SPAN + 1) * line_places;
  static constexpr int part_floats = groups * group_places * 4;
  static constexpr int floats = PARTS * part_floats;
  static constexpr int loads = (groups * group_places + TILE_THREADS - 1) / TILE_THREADS;
  // Of what a thread loads at a time, and of exponents.
  static constexpr int load_registers = (UNIT + 1) * loads + (UNIT > 4 ? 11 : 0);
  // From 8 pixels of a warpgroup's to the next 8, in bytes.
  static constexpr int stride_bytes = LINED && !WIDE ? LINE_STEP * line_places * 16 : 128;
  // From a warpgroup's pixels to those of the next one.
  static constexpr int group_apart = !LINED ? GROUP_COLUMNS : WIDE ? LINE_STEP * line_places : 8;
  // Of the filter: a slice has PATCH_STEPS steps, and those behind the last one are zeros.
  static constexpr int slices = ((TAPS * groups + 1) / 2 + PATCH_STEPS - 1) / PATCH_STEPS;
  static constexpr int step_floats = PARTS * 2 * TILE_M * 4;
  static constexpr int slice_floats = PATCH_STEPS * step_floats;
};

// Blocks that a unit is to hold: `copies` of the sums are in registers, elements on their way, and what places take.
// Registers come in eights.
#define PATCH_REGISTERS(copies, loads) ((2 * (copies) * THREAD_N + (loads) + 32) / 8 * 8)
#define PATCH_BLOCKS(copies, loads)                                      \
  (PATCH_REGISTERS(copies, loads) * TILE_THREADS < 65536                 \
       ? 65536 / (PATCH_REGISTERS(copies, loads) * TILE_THREADS)         \
       : 1)

// Of the sums that threads keep in shared memory at a time, a warp stores so many lines.
#define LINES_OF_WARP (32 / THREADS_N)

// A finished tile's column in shared memory, of the pixel `place` of a tile that is read line by line: lines of those
// that are 8 columns wide for each warpgroup are narrower than its columns.
template <int LINES, int WIDTH>
__device__ __forceinline__ int column_of_place(const unsigned place) {
  return LINES == 1 || WIDTH == GROUP_COLUMNS ? place : place % WIDTH / 8 * GROUP_COLUMNS + place / WIDTH * 8 + place % 8;
}

// Adds the products that were begun to a thread's sums, in f32.
__device__ __forceinline__ void add_products(float (&part)[THREAD_N / 2][4], float (&sum)[THREAD_M][THREAD_N]) {
  #pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
    #pragma unroll
    for (int j = 0; j < THREAD_N; ++j) sum[i][j] += part[j / 2][2 * i + j % 2];
}

// The products that were begun are a thread's sums.
__device__ __forceinline__ void take_products(const float (&part)[THREAD_N / 2][4], float (&sum)[THREAD_M][THREAD_N]) {
  #pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
    #pragma unroll
    for (int j = 0; j < THREAD_N; ++j) sum[i][j] = part[j / 2][2 * i + j % 2];
}

// --- section: patch_tile_of_phases
// A number that the compiler does not follow from turn to turn of a loop: each of the addresses that it computes from
// one would take two registers all the time.
__device__ __forceinline__ int not_followed(int number) {
#ifndef KW_SIM
  asm volatile("" : "+r"(number));
#endif
  return number;
}

// --- section: patch_split
// Four channels of a pixel, as both parts of each number.
__device__ __forceinline__ void keep_pixel(float* place, const int part_floats, const float (&four)[4]) {
  const Split parts[4] = {split(four[0]), split(four[1]), split(four[2]), split(four[3])};
  *(uint4*)place = make_uint4(parts[0].high, parts[1].high, parts[2].high, parts[3].high);
  *(uint4*)(place + part_floats) = make_uint4(parts[0].low, parts[1].low, parts[2].low, parts[3].low);
}

// --- section: patch_rounded
// Four channels of a pixel, rounded to tf32 numbers.
__device__ __forceinline__ void keep_rounded_pixel(float* place, const float (&four)[4]) {
  *(uint4*)place =
      make_uint4(rounded_bits(four[0]), rounded_bits(four[1]), rounded_bits(four[2]), rounded_bits(four[3]));
}

// --- section: patch_tile_of_halves
${multiplies_of_half_places}

// An address that the compiler computes here: those of several pixels at once would take two registers each.
__device__ __forceinline__ const float* computed_here(const float* address) {
#ifndef KW_SIM
  asm volatile("" : "+l"(address));
#endif
  return address;
}

// Eight channels of a pixel, as a large and a small part of each number.
__device__ __forceinline__ void keep_scaled_pixel(float* place, const int part_floats, const float (&eight)[8],
                                                  const float scale) {
  store_parts(place, place + part_floats, eight, scale);
}

// The same, rounded to the large parts.
__device__ __forceinline__ void keep_rounded_halves(float* place, const float (&eight)[8], const float scale) {
  __align__(16) __half2 large[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) large[i] = __floats2half2_rn(eight[2 * i] * scale, eight[2 * i + 1] * scale);
  *(uint4*)place = *(const uint4*)large;
}

// --- section: tile_place
const int tiles_down = (${row_count} + TILE_M - 1) / TILE_M;
const int tiles_wide = (${width} + Places::tile_width - 1) / Places::tile_width;
const int tiles_high = (${height} + Places::tile_lines - 1) / Places::tile_lines;
// Phases of the same pixels write to the same sectors of memory: their blocks follow one another.
${batch}
const int first_row = ${block} % tiles_down * TILE_M;
const int tile = ${block} / tiles_down;
const int first_place = tile % tiles_wide * Places::tile_width;
const int first_line = tile / tiles_wide % tiles_high * Places::tile_lines;
const int outer = tile / (tiles_wide * tiles_high);

// --- section: tiles
extern __shared__ __align__(128) unsigned char shared_memory[];
float* const tiles = (float*)shared_memory;
using Places = ${patch};

// --- section: patch_places
// Where a thread's pixels of the patch are in the image, from its unit's first channel on; -1 outside.
${top}
const int left = ${first_across};
int place_from[Places::loads];
#pragma unroll
for (int i = 0; i < Places::loads; ++i) {
  const int at = thread + i * TILE_THREADS;
  ${line_statement}
  const int ${across_index} = left + at % Places::line_places;
  const bool inside = at < Places::groups * Places::group_places && ${inside};
  place_from[i] = inside ? (int)(${place}) + at / Places::group_places * Places::unit * ${depth_stride} : -1;
}

// --- section: loop_patches
// While the products of a slice of the filter are under way, its next slice comes to shared memory,
// the next patch passes there from registers, and the one after that is on its way into registers.
const int patches = ${patches};
float next_pixels[Places::loads][Places::unit];
${exponents}
const auto load_patch = [&](const int patch) {
  ${patch_axes}
  const int first_depth = ${chunk} * PATCH_K;
  ${patch_inside}
  const float* const from = ${memory} + (${start});
  #pragma unroll
  for (int i = 0; i < Places::loads; ++i) {
    ${depth_line}
    const float* pixel = ${first_pixel};
    ${pixel_here}
    #pragma unroll
    for (int j = 0; j < Places::unit; ++j) {
      next_pixels[i][j] = 0.0f;
      if (${loaded}) next_pixels[i][j] = *pixel;
      pixel = ${next_pixel};
    }
  }
};
const auto keep_patch = [&](const int patch) {
  ${find_exponent}
  float* const places = tiles + ${kept_turn} * Places::floats;
  #pragma unroll
  for (int i = 0; i < Places::loads; ++i) {
    const int at = thread + i * TILE_THREADS;
    if (at >= Places::groups * Places::group_places) continue;
    ${kept_place}
    ${keep_pixel}
  }
};
// The filter lies in global memory as the loop reads it.
float* const slices = tiles + 2 * Places::floats;
const SharedPlace tiles_place = shared_place(tiles), slices_place = shared_place(slices);
const float* const slices_from =
    ${filters} + ((long)${filter_batch} * tiles_down + first_row / TILE_M) * ${filter_patches} * (Places::slices * Places::slice_floats);
${turns}

// --- section: own_taps
// How many taps the phase has, four bits for each in a table of all.
const int own_lines = ${lines}, own_across = ${across};
${others}

// --- section: turns_of_phase
// A phase goes through its own taps: their steps are as many as there are, the last slice has what is left.
const int own_steps = not_followed(own_lines * own_across * (Places::groups / 2));
const int own_slices = (own_steps + PATCH_STEPS - 1) / PATCH_STEPS;
const int across_part = 65535 / max(own_across, 1) + 1;
const auto copy_slice = [&](const int patch, const int slice, const int turn) {
  if (patch < patches) {
    ${filter_patch}
    const float* const from =
        slices_from + (filter_patch * Places::slices + slice) * (long)Places::slice_floats;
    float* const to = slices + not_followed(turn % 2) * Places::slice_floats;
    const int floats = min(PATCH_STEPS, own_steps - slice * PATCH_STEPS) * Places::step_floats;
    #pragma unroll 1
    for (int i = 4 * thread; i < floats; i += 4 * TILE_THREADS) cp_async_16(to + i, from + i, 16);
  }
  cp_async_commit();
};
// The place of a step in the patch: of the first of its two fours of channels.
const auto place_of_step = [&](const int step) {
  const int tap = step / (Places::groups / 2), line = tap * across_part >> 16;
  const int across = ${first_across}tap - line * own_across;
  return step % (Places::groups / 2) * 2 * Places::group_places + (${first_line}line) * (${line_dilation} * Places::line_places) +
         ${tap_place};
};
constexpr unsigned leading = Places::group_places * 16;
float part_sum[THREAD_N / 2][4];
${zero_parts}
if (own_steps > 0 && patches > 0) {
  load_patch(0);
  copy_slice(0, 0, 0);
  keep_patch(0);
  if (patches > 1) load_patch(1);
}
int turn = 0;
for (int patch = 0; patch < (own_steps > 0 ? patches : 0); ++patch) {
  ${take_exponent}
  for (int slice = 0; slice < own_slices; ++slice, ++turn) {
    cp_async_wait<0>();
    proxy_fence();
    __syncthreads();
    const SharedPlace filter = further(
        slices_place, turn % 2 * (Places::slice_floats / 4) + thread / 128 / (TILE_N / GROUP_COLUMNS) * 64);
    const SharedPlace pixels = further(
        tiles_place,
        patch % 2 * (Places::floats / 4) + thread / 128 % (TILE_N / GROUP_COLUMNS) * Places::group_apart);
    const int first_step = slice * PATCH_STEPS, steps = min(PATCH_STEPS, own_steps - first_step);
    begin_products();
    ${products}
    commit_products();
    const bool last = slice + 1 == own_slices;
    copy_slice(last ? patch + 1 : patch, last ? 0 : slice + 1, turn + 1);
    if (slice == 0) {
      if (patch + 1 < patches) keep_patch(patch + 1);
      if (patch + 2 < patches) load_patch(patch + 2);
    }
    wait_products<0>(part_sum);
    ${add_products}
  }
}
${last_products}
${end_exponents}

// --- section: products_of_phase
// Tensor cores cut off what does not fit an accumulator; so the products of a slice are summed from
// zero, the small ones first.
#pragma unroll 1
for (int step = 0; step < steps; ++step) {
  const SharedPlace a = further(filter, step * (Places::step_floats / 4));
  const SharedPlace b = further(pixels, place_of_step(first_step + step));
  multiply_places(part_sum, further(a, TILE_M), 2 * TILE_M * 16, b, leading, Places::stride_bytes, step > 0);
  multiply_places(part_sum, a, 2 * TILE_M * 16, further(b, Places::part_floats / 4), leading,
                  Places::stride_bytes, true);
}
#pragma unroll 1
for (int step = 0; step < steps; ++step) {
  const SharedPlace a = further(filter, step * (Places::step_floats / 4));
  const SharedPlace b = further(pixels, place_of_step(first_step + step));
  multiply_places(part_sum, a, 2 * TILE_M * 16, b, leading, Places::stride_bytes, true);
}

// --- section: rounded_products_of_phase
#pragma unroll 1
for (int step = 0; step < steps; ++step) {
  const SharedPlace a = further(filter, step * (Places::step_floats / 4));
  const SharedPlace b = further(pixels, place_of_step(first_step + step));
  ${multiply}(part_sum, a, TILE_M * 16, b, leading, Places::stride_bytes, true);
}

// --- section: turns
const auto copy_slice = [&](const int turn) {
  if (turn < patches * Places::slices) {
    const float* const from = slices_from + (long)turn * Places::slice_floats;
    float* const to = slices + turn % 2 * Places::slice_floats;
    #pragma unroll
    for (int i = 4 * thread; i < Places::slice_floats; i += 4 * TILE_THREADS) cp_async_16(to + i, from + i, 16);
  }
  cp_async_commit();
};
// A four of channels of a tap, counted as the filter has them: its place in the patch.
const auto place_of_unit = [&](const int unit) {
  const int tap = min(unit / Places::groups, ${taps} - 1);
  const int across = tap % ${taps_across};
  return unit % Places::groups * Places::group_places + tap / ${taps_across} * (${line_dilation} * Places::line_places) +
         ${tap_place};
};
float part_sum[THREAD_N / 2][4];
${zero_parts}
load_patch(0);
copy_slice(0);
keep_patch(0);
if (patches > 1) load_patch(1);
int turn = 0;
for (int patch = 0; patch < patches; ++patch) {
  ${take_exponent}
  for (int slice = 0; slice < Places::slices; ++slice, ++turn) {
    cp_async_wait<0>();
    proxy_fence();
    __syncthreads();
    const SharedPlace filter = further(
        slices_place, turn % 2 * (Places::slice_floats / 4) + thread / 128 / (TILE_N / GROUP_COLUMNS) * 64);
    const SharedPlace pixels = further(
        tiles_place,
        patch % 2 * (Places::floats / 4) + thread / 128 % (TILE_N / GROUP_COLUMNS) * Places::group_apart);
    begin_products();
    ${products}
    commit_products();
    copy_slice(turn + 1);
    if (slice == 0) {
      if (patch + 1 < patches) keep_patch(patch + 1);
      if (patch + 2 < patches) load_patch(patch + 2);
    }
    wait_products<0>(part_sum);
    ${add_products}
  }
}
${last_products}
${end_exponents}

// --- section: products_of_slice
// Tensor cores cut off what does not fit an accumulator; so the products of a slice are summed from
// zero, the small ones first.
#pragma unroll
for (int step = 0; step < PATCH_STEPS; ++step) {
  const int unit = 2 * (slice * PATCH_STEPS + step);
  const int place = place_of_unit(unit), leading = (place_of_unit(unit + 1) - place) * 16;
  const SharedPlace a = further(filter, step * (Places::step_floats / 4));
  const SharedPlace b = further(pixels, place);
  multiply_places(part_sum, further(a, TILE_M), 2 * TILE_M * 16, b, leading, Places::stride_bytes, step > 0);
  multiply_places(part_sum, a, 2 * TILE_M * 16, further(b, Places::part_floats / 4), leading,
                  Places::stride_bytes, true);
}
#pragma unroll
for (int step = 0; step < PATCH_STEPS; ++step) {
  const int unit = 2 * (slice * PATCH_STEPS + step);
  const int place = place_of_unit(unit), leading = (place_of_unit(unit + 1) - place) * 16;
  multiply_places(part_sum, further(filter, step * (Places::step_floats / 4)), 2 * TILE_M * 16,
                  further(pixels, place), leading, Places::stride_bytes, true);
}

// --- section: products_of_rounded_slice
#pragma unroll
for (int step = 0; step < PATCH_STEPS; ++step) {
  const int unit = 2 * (slice * PATCH_STEPS + step);
  const int place = place_of_unit(unit), leading = (place_of_unit(unit + 1) - place) * 16;
  ${multiply}(part_sum, further(filter, step * (Places::step_floats / 4)), TILE_M * 16, further(pixels, place),
                  leading, Places::stride_bytes, true);
}

// --- section: products_of_half_slice
// As those, but the products with small parts have sums of their own: of what is cut off of them nothing
// would show.
#pragma unroll
for (int step = 0; step < PATCH_STEPS; ++step) {
  const int unit = 2 * (slice * PATCH_STEPS + step);
  const int place = place_of_unit(unit), leading = (place_of_unit(unit + 1) - place) * 16;
  const SharedPlace a = further(filter, step * (Places::step_floats / 4));
  const SharedPlace b = further(pixels, place);
  multiply_half_places(part_sum, a, 2 * TILE_M * 16, b, leading, Places::stride_bytes, step > 0);
  multiply_half_places(small_sum, further(a, TILE_M), 2 * TILE_M * 16, b, leading,
                       Places::stride_bytes, true);
  multiply_half_places(small_sum, a, 2 * TILE_M * 16, further(b, Places::part_floats / 4), leading,
                       Places::stride_bytes, true);
}

// --- section: half_products_of_phase
#pragma unroll 1
for (int step = 0; step < steps; ++step) {
  const SharedPlace a = further(filter, step * (Places::step_floats / 4));
  const SharedPlace b = further(pixels, place_of_step(first_step + step));
  multiply_half_places(part_sum, a, 2 * TILE_M * 16, b, leading, Places::stride_bytes, step > 0);
  multiply_half_places(small_sum, further(a, TILE_M), 2 * TILE_M * 16, b, leading,
                       Places::stride_bytes, true);
  multiply_half_places(small_sum, a, 2 * TILE_M * 16, further(b, Places::part_floats / 4), leading,
                       Places::stride_bytes, true);
}

// --- section: half_exponents
// What the pixels are divided by, as an exponent of two: the largest of this patch and of those before it.
__shared__ int largest_of_warp[TILE_THREADS / 32];
int exponent = -126, next_exponent = -126;

// --- section: find_exponent
float largest = 0.0f;
#pragma unroll
for (int i = 0; i < Places::loads; ++i) largest = largest_magnitude(next_pixels[i], largest);
if (largest == INFINITY) {
  largest = 0.0f;
  #pragma unroll
  for (int i = 0; i < Places::loads; ++i) largest = largest_of(next_pixels[i], largest);
}
// Of numbers that are not below zero the largest one has the largest bits.
int bits = __reduce_max_sync(0xffffffffu, __float_as_int(largest));
if (thread % 32 == 0) largest_of_warp[thread / 32] = bits;
__syncthreads();
bits = __reduce_max_sync(0xffffffffu, largest_of_warp[thread % (TILE_THREADS / 32)]);
next_exponent = max(next_exponent, exponent_of(__int_as_float(bits)));
const float scale = power_of_two(-next_exponent);

// --- section: take_exponent
if (next_exponent != exponent) {
  // Before the first patch sums are zeros.
  if (patch > 0) {
    const float fewer = power_of_two(max(exponent - next_exponent, -126));
    #pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
      #pragma unroll
      for (int j = 0; j < THREAD_N; ++j) {
        ${scaled_sums}
      }
  }
  exponent = next_exponent;
}

// --- section: end_exponents
// The powers of two that rows of the filter and pixels were divided by.
#pragma unroll
for (int i = 0; i < THREAD_M; ++i) {
  const int row = first_row + row_place(line_of(thread), i);
  const int power = exponent + filter_exponents[${filter_batch} * tiles_down * TILE_M + row];
  // What a float cannot hold of the power is left for a second factor.
  const int near = max(min(power, 127), -126);
  #pragma unroll
  for (int j = 0; j < THREAD_N; ++j) sum[i][j] = ${total} * power_of_two(near);
  if (power == near) continue;
  #pragma unroll
  for (int j = 0; j < THREAD_N; ++j) sum[i][j] *= power_of_two(power - near);
}

// --- section: zero_parts
#pragma unroll
for (int j = 0; j < THREAD_N / 2; ++j) ${sums}[j][0] = ${sums}[j][1] = ${sums}[j][2] = ${sums}[j][3] = 0.0f;

// --- section: gathered
// Tensor cores cut off what does not fit an accumulator; so parts of a long sum are added in f32.
if (turn % (256 / PATCH_STEPS) == 256 / PATCH_STEPS - 1) {
  add_products(part_sum, sum);
  ${zero_parts}
}

// --- section: comment
// A tile of TILE_M rows and as many pixels as TILE_N columns per block; patches of PATCH_K channels.

// --- section: products_of_phases
// The phases of lines, one after another; of those without taps nothing is computed.
${comment}
${qualifier}
${signature} {
  ${tiles}
  int thread = threadIdx.x;
  ${tile_place}
  ${batch_axes}
  ${row_places}
  float sum[THREAD_M][THREAD_N];
  // The last one's sums are kept where the loop had its factors, those of the others wait behind it.
  // From one phase's sums to the next one's, banks are eight further.
  constexpr int loop_floats = 2 * (Places::floats + Places::slice_floats), sum_floats = TILE_M * LINE_STRIDE;
  constexpr int first_waiting = loop_floats > sum_floats ? loop_floats : sum_floats;
  constexpr int waiting_floats = sum_floats + 8;
  #pragma unroll 1
  for (int computed = 0; computed < ${computed}; ++computed) {
    const int ${phase} = ${phase_of_turn};
    const int batch = first_batch + ${phase};
    thread = not_followed(thread);
    ${column_places}
    #pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
      #pragma unroll
      for (int j = 0; j < THREAD_N; ++j) sum[i][j] = 0.0f;
    ${loop}
    __syncthreads();
    float* const kept = tiles + (computed + 1 < ${computed} ? first_waiting + computed * waiting_floats : 0);
    #pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
      keep_sums(kept + (i * THREADS_M + line_of(thread)) * LINE_STRIDE, thread, sum[i]);
    __syncthreads();
  }
  ${stores}
}
