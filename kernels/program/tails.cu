// Reductions of a contraction's sums in its own kernel, for the holes of contract.cu and patches.cu.
// operators/program/kernels/contract_stores.cpp fills the holes.
//
// definitions: TILE_M TILE_N THREAD_M THREAD_N

// --- section: gathered
// Of the rows of a tile's column one number is left.
float gathered[COLUMN_PLACES];
#pragma unroll
for (int j = 0; j < COLUMN_PLACES; ++j) gathered[j] = ${neutral};

// --- section: gather_rows
#pragma unroll
for (int j = 0; j < COLUMN_PLACES; ++j) {
  const int at = thread + j * TILE_THREADS${column};
  if (at >= TILE_N || ${outside}) continue;
  ${stored_column_axes}
  ${stored_guard}
  #pragma unroll ${gathered_at_a_time}
  for (int sums_line = 0; sums_line < THREADS_M; ++sums_line) {
    const int m = first_row + row_place(sums_line, i);
    if (m >= ${row_count}) continue;
    const float total = tiles[sums_line * LINE_STRIDE + ${stored_column}];
    ${gathered_row_axes}
    ${values}
    gathered[j] = ${gathered};
  }
  if (i == THREAD_M - 1) parts[first_row / TILE_M * (${count}) + ${place}] = gathered[j];
}

// --- section: join_rows
// Joins what tiles of rows have left of each column for ${name}, in the same order every time.
${qualifier}
${signature} {
  const long id = ${global_index};
  if (id >= ${count}) return;
  float gathered = ${neutral};
  for (int part = 0; part < ${part_count}; ++part) {
    gathered = ${gathered};
  }
  ${axes}
  ${result_values}
  ${store}
}

// --- section: gather_pixels
// Neighbouring threads have pixels of the same line of sums, and join what they have of it.
{
  const int sums_line = thread / THREADS_N, m = first_row + row_place(sums_line, i);
  ${stored_row_axes}
  float gathered = ${neutral};
  #pragma unroll ${gathered_at_a_time}
  for (int j = 0; j < THREAD_N; ++j) {
    const unsigned pixel = (unsigned)thread % THREADS_N + j * THREADS_N;
    const int line = first_line + pixel / Places::tile_width, across = first_place + pixel % Places::tile_width;
    if (m >= ${row_count} || line >= ${height} || across >= ${width}) continue;
    const int sums_column = column_of_place<Places::tile_lines, Places::tile_width>(pixel);
    const float total = tiles[sums_line * LINE_STRIDE + sums_column];
    ${pixel_axes}
    ${values}
    gathered = ${gathered};
  }
  #pragma unroll
  for (int reach = THREADS_N / 2; reach > 0; reach /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, gathered, reach);
    gathered = ${gathered_other};
  }
  const int part = ${part};
  if (m < ${row_count} && thread % THREADS_N == 0) parts[(${place}) * ${part_count} + part] = gathered;
}

// --- section: join_pixels
// Joins what tiles have left of all pixels for ${name}, in the same order every time: a warp for each number.
${qualifier}
${signature} {
  const long id = (${global_index}) / 32;
  if (id >= ${count}) return;
  const int lane = threadIdx.x % 32;
  const int part_count = ${part_count};
  float gathered = ${neutral};
  for (int part = lane; part < part_count; part += 32) {
    const float other = parts[id * part_count + part];
    gathered = ${gathered};
  }
  #pragma unroll
  for (int reach = 16; reach > 0; reach /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, gathered, reach);
    gathered = ${gathered};
  }
  if (lane != 0) return;
  ${axes}
  ${result_values}
  ${store}
}

// --- section: store_windows
// Of each window the tile has all pixels. Neighbouring threads have the windows of eight columns, then
// every second line of sums: what they read at once is in different banks.
constexpr int windows_of_eight = 8 / ${window_columns}, eights = Places::tile_width / 8;
constexpr int windows = Places::tile_lines / ${window_lines} * Places::tile_width / ${window_columns};
#pragma unroll 1
for (unsigned at = thread; at < THREADS_M * windows; at += TILE_THREADS) {
  const int sums_line =
      at / windows_of_eight % (THREADS_M / 2) * 2 + at / (windows_of_eight * (THREADS_M / 2)) % 2;
  const unsigned eight = at / (windows_of_eight * THREADS_M);
  const int window_top = eight / eights * ${window_lines};
  const int window_left = eight % eights * 8 + at % windows_of_eight * ${window_columns};
  const int m = first_row + row_place(sums_line, i);
  const int ${window_line} = (first_line + window_top) / ${window_lines};
  const int ${window_column} = (first_place + window_left) / ${window_columns};
  if (m >= ${row_count} || ${window_line} >= ${windows_high} || ${window_column} >= ${windows_across}) continue;
  ${stored_row_axes}
  float gathered = ${neutral};
  #pragma unroll
  for (int item = 0; item < ${window_items}; item += ${chunk}) {
    const int of_line = window_top + item / ${window_columns}, of_column = window_left + item % ${window_columns};
    const int pixel = of_line * Places::tile_width + of_column;
    const int sums_column = column_of_place<Places::tile_lines, Places::tile_width>(pixel);
    const ${chunk_type} totals = *(const ${chunk_type}*)&tiles[sums_line * LINE_STRIDE + sums_column];
    #pragma unroll
    for (int part = 0; part < ${chunk}; ++part) {
      const float total = ${total};
      ${pixel_axes}
      ${values}
      gathered = ${gathered};
    }
  }
  ${result_values}
  ${store}
}
