// How finished sums of a tile of patches come from shared memory into the output: a warp stores one line of sums after
// another. operators/program/kernels/contract_stores.cpp and contract_joined_phases.cpp fill the holes; patches.cu has
// the tile.
//
// definitions: TILE_N THREAD_M THREAD_N

// --- section: stored_pixels
bool inside_of_stored[COLUMN_PLACES];
${declarations}
#pragma unroll
for (int i = 0; i < COLUMN_PLACES; ++i) {
  const int place = (thread + i * TILE_THREADS) % TILE_N;
  const int line = first_line + place / Places::tile_width, across = first_place + place % Places::tile_width;
  inside_of_stored[i] = line < ${height} && across < ${width};
  ${axes}
  ${values}
}

// --- section: held_of_rows
// What the elements of a row share: a lane has it of one of the rows that its warp stores.
${declarations}
{
  const int of_warp = thread % 32 % LINES_OF_WARP, of_thread = thread % 32 / LINES_OF_WARP % THREAD_M;
  const int m = first_row + row_place(thread / 32 + of_warp * (TILE_THREADS / 32), of_thread);
  if (m < ${row_count}) {
    ${row_axes}
    ${values}
  }
}

// --- section: stored_lines
// Which pixels of a line of sums a lane stores: ${pixels}, then as many of the next 32 lanes' ones.
constexpr int stored_places = TILE_N / (32 * ${at_once});
int column_of_stored[stored_places], pixels_of_stored[stored_places];
${declarations}
#pragma unroll
for (int i = 0; i < stored_places; ++i) {
  const unsigned place = (thread % 32 + i * 32) * ${at_once};
  const int line = first_line + place / Places::tile_width, across = first_place + place % Places::tile_width;
  pixels_of_stored[i] = line < ${height} ? max(min(${width} - across, ${at_once}), 0) : 0;
  column_of_stored[i] = column_of_place<Places::tile_lines, Places::tile_width>(place);
  ${axes}
  ${values}
}

// --- section: store_lines
// A warp stores one line of sums after another: what the elements of a row share is computed once.
${by_twos}
#pragma unroll 1
for (int of_warp = 0; of_warp < LINES_OF_WARP; ++of_warp) {
  const int sums_line = thread / 32 + of_warp * (TILE_THREADS / 32), m = first_row + row_place(sums_line, i);
  const int of_lane = of_warp + i * LINES_OF_WARP;
  ${taken_of_rows}
  if (m >= ${row_count}) continue;
  ${stored_row_axes}
  // All are read before the first one is stored.
  float* const kept_line = tiles + sums_line * LINE_STRIDE;
  ${type} totals[stored_places];
  #pragma unroll
  for (int j = 0; j < stored_places; ++j) totals[j] = *(const ${type}*)(kept_line + column_of_stored[j]);
  #pragma unroll
  for (int j = 0; j < stored_places; ++j) {
    if (pixels_of_stored[j] == 0) continue;
    ${store_place}
  }
}

// --- section: store_pixel
const float total = totals[j];
${stored_column_axes}
${stored_guard}
${values}
${store}

// --- section: store_two_pixels
float results[2] = {0.0f, 0.0f};
#pragma unroll
for (int item = 0; item < 2; ++item) {
  if (item >= pixels_of_stored[j]) continue;
  const float total = item == 0 ? totals[j].x : totals[j].y;
  ${stored_column_axes}
  ${values}
  results[item] = ${value};
}
${store}

// --- section: keep_two
*(float2*)(kept_line + column_of_stored[j]) = make_float2(results[0], results[1]);

// --- section: write_two
float* const to = ${out} + ${place};
if (by_twos) {
  *(float2*)to = make_float2(results[0], results[1]);
} else {
  to[0] = results[0];
  if (pixels_of_stored[j] > 1) to[1] = results[1];
}

// --- section: joined_line
const int sums_line = thread / 32 + of_lane * (TILE_THREADS / 32);
const int m = first_row + row_place(sums_line % THREADS_M, sums_line / THREADS_M);
${taken_of_rows}
if (m >= ${row_count}) continue;

// --- section: joined_inside
const auto is_inside = [&](const int ${step}, const int ${phase}) { return ${step} < ${width} && (${inside}); };

// --- section: joined_results
const auto result_of = [&](const float total, const int ${step}, const int ${phase}) {
  ${values}
  return ${value};
};

// --- section: store_two_phases
// Lanes store four neighbours each.
#pragma unroll 1
for (int of_lane = 0; of_lane < THREAD_M * LINES_OF_WARP; ++of_lane) {
  ${joined_line}
  #pragma unroll ${fours_at_once}
  for (int j = 0; j < TILE_N / 64; ++j) {
    const unsigned pixel = (thread % 32 + j * 32) * 2;
    const int line = first_line + pixel / Places::tile_width, across = first_place + pixel % Places::tile_width;
    if (line >= ${height} || across >= ${width}) continue;
    const int sums_place =
        sums_line * LINE_STRIDE + column_of_place<Places::tile_lines, Places::tile_width>(pixel);
    ${stored_axes}
    const long place = ${place} + (long)across * 2;
    ${joined_inside}
    ${joined_results}
    const float2 even = ${even};
    const float2 odd = ${odd};
    // Of lines that fours divide all four are inside, or none is.
    if (!is_inside(across + 1, 1)) continue;
    *(float4*)(${out} + place) = make_float4(result_of(even.x, across, 0), result_of(odd.x, across, 1),
                                             result_of(even.y, across + 1, 0), result_of(odd.y, across + 1, 1));
  }
}

// --- section: store_phases
// Lanes store neighbours: the phases of some pixels, in turns. Where these are is found out once
// for all lines.
constexpr int pixels_at_once = TILE_N < ${most_pixels} ? TILE_N : ${most_pixels};
constexpr int stored_places = pixels_at_once * ${phases} / 32;
#pragma unroll 1
for (int first_pixel = 0; first_pixel < TILE_N; first_pixel += pixels_at_once) {
  int sums_of_stored[stored_places], line_of_stored[stored_places];
  int across_of_stored[stored_places], phase_of_stored[stored_places];
  long place_of_stored[stored_places];
  #pragma unroll
  for (int j = 0; j < stored_places; ++j) {
    const unsigned at = thread % 32 + j * 32, pixel = first_pixel + at / ${phases};
    const int line = first_line + pixel / Places::tile_width, across = first_place + pixel % Places::tile_width;
    const int item = at % ${phases};
    ${line_axis}
    ${joined_inside}
    const bool inside = line < ${height} && is_inside(across, item);
    // -1 outside of the output, and for the sums of a phase without taps.
    place_of_stored[j] = inside ? ${pixel_place} + (long)across * ${phases} + item : -1;
    const int of_phase = ${sums_of_phase};
    sums_of_stored[j] =
        of_phase < 0 ? -1 : of_phase + (int)column_of_place<Places::tile_lines, Places::tile_width>(pixel);
    line_of_stored[j] = line, across_of_stored[j] = across, phase_of_stored[j] = item;
  }
  #pragma unroll 1
  for (int of_lane = 0; of_lane < THREAD_M * LINES_OF_WARP; ++of_lane) {
    ${joined_line}
    // All are read before the first one is stored.
    float totals[stored_places];
    #pragma unroll
    for (int j = 0; j < stored_places; ++j) {
      totals[j] = 0.0f;
      if (sums_of_stored[j] >= 0) totals[j] = tiles[sums_line * LINE_STRIDE + sums_of_stored[j]];
    }
    #pragma unroll
    for (int j = 0; j < stored_places; ++j) {
      if (place_of_stored[j] < 0) continue;
      const int line = line_of_stored[j];
      ${stored_axes}
      ${joined_results}
      const float result = result_of(totals[j], across_of_stored[j], phase_of_stored[j]);
      const long place = ${row_place} + place_of_stored[j];
      ${store}
    }
  }
}

// --- section: store_joined
// A warp stores one line of sums after another.
${held_of_rows}
${store_lines}

// --- section: store_either
if (${by_fours}) {
  ${store_two_phases}
} else {
  ${store_phases}
}
