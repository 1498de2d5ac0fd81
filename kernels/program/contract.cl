// Products of matrices for CPUs with wide vectors, in OpenCL C. operators/program/kernels/contract_opencl.cpp fills the
// holes. The second factor lies in panels: a row of COLUMNS floats per step of the sum.
//
// definitions: TILE_ROWS TILE_VECTORS ROW_TILES BLOCK_K

// --- section: multiply_add
// Columns of a tile of sums.
#define COLUMNS (16 * TILE_VECTORS)

// One step of the sum: an element of each row times a row of the panel. The sums live in registers, which is why these
// loops must unroll completely.
static inline void multiply_add(__global const float* const* row, const long step, __global const float* panel,
                                float16 (*sum)[TILE_VECTORS]) {
  float16 column[TILE_VECTORS];
  #pragma unroll
  for (int j = 0; j < TILE_VECTORS; ++j) column[j] = vload16(j, panel);
  #pragma unroll
  for (int i = 0; i < TILE_ROWS; ++i) {
    const float16 element = row[i][step];
    #pragma unroll
    for (int j = 0; j < TILE_VECTORS; ++j) sum[i][j] = fma(element, column[j], sum[i][j]);
  }
}

// --- section: copy
// Rows' factor of ${name} as floats${around}.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${signature} {
  const long first_line = (long)get_group_id(0) * ${lines};
  for (long line = first_line; line < min(first_line + ${lines}, (long)${line_count}); ++line) {
    ${line_axes}
    __global float* to = copied + line * ${width};
    int begin = 0, end = ${width};
    ${line_guard}
    ${ends}
    for (int i = 0; i < begin; ++i) to[i] = 0.0f;
    for (int ${last} = begin; ${last} < end; ++${last}) to[${last}] = ${element};
    for (int i = end; i < ${width}; ++i) to[i] = 0.0f;
  }
}

// --- section: copy_ends
// --- Conditions on the last index are bounds of it.
for (int ${last} = begin; begin < end; ${last} = ++begin)
  if (${guard}) break;
for (int ${last} = end - 1; begin < end; ${last} = --end - 1)
  if (${guard}) break;

// --- section: pack
// Columns' factor of ${name} in panels, with zeros behind the last column.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${signature} {
  const int first_panel = get_group_id(0) * ${panels};
  const int first_column = first_panel * COLUMNS;
  const int panel_count = (${column_count} + COLUMNS - 1) / COLUMNS;
  const int block = ${block};
  const int begin = get_group_id(1) * block, end = min(begin + block, ${longest});
  ${batch_axes}
  const long panel_floats = (long)${longest} * ${step_floats};
  __global float* to = panels + ((long)get_group_id(2) * panel_count + first_panel) * panel_floats +
                       (long)begin * ${step_floats};
  ${loops}
}

// --- section: pack_by_steps
// A row of several panels at a time: it is one run of memory.
const int panels_here = min(${panels}, panel_count - first_panel);
${open_loops} {
  for (int p = 0; p < panels_here; ++p) {
    const int start = first_column + p * COLUMNS;
    const int columns = min(COLUMNS, ${column_count} - start);
    __global float* step = to + p * panel_floats;
    int l = 0;
    // A loop of a fixed length becomes vectors, one of `columns` the call of a copy.
    for (; l + 16 <= columns; l += 16)
      for (int i = l; i < l + 16; ++i) {
        const int n = start + i;
        ${column_axes}
        step[i] = ${element};
      }
    for (; l < columns; ++l) {
      const int n = start + l;
      ${column_axes}
      step[l] = ${element};
    }
    for (; l < COLUMNS; ++l) step[l] = 0.0f;
  }
  to += COLUMNS;
}

// --- section: pack_by_columns
// Sixteen columns at a time, which share the lines of the cache that they write to.
const int columns = min(COLUMNS, ${column_count} - first_column);
for (int group = 0; group < columns; group += 16) {
  const int lanes = min(16, columns - group);
  long at = group;
  ${open_loops} {
    for (int l = 0; l < lanes; ++l) {
      const int n = first_column + group + l;
      ${column_axes}
      to[at + l] = ${element};
    }
    at += COLUMNS;
  }
}
for (long at = 0; at < (long)(end - begin) * ${step_floats}; at += COLUMNS)
  for (int l = columns; l < COLUMNS; ++l) to[at + l] = 0.0f;

// --- section: products
// A work-group has ROW_TILES tiles of TILE_ROWS rows and one panel, of which a block of steps stays in the nearest
// cache for all of them. Sums are gathered block by block, so that long ones keep their accuracy.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${signature} {
  const int first_row = get_group_id(0) * (TILE_ROWS * ROW_TILES);
  const int first_column = get_group_id(1) * COLUMNS;
  const int rows = min(TILE_ROWS * ROW_TILES, ${row_count} - first_row);
  const int columns = min(COLUMNS, ${column_count} - first_column);
  const int block = ${block};
  ${batch_axes}
  // Rows past the last one repeat it; they are computed and not stored.
  __global const float* row[TILE_ROWS * ROW_TILES];
  for (int r = 0; r < TILE_ROWS * ROW_TILES; ++r) {
    const int m = first_row + min(r, rows - 1);
    ${row_axes}
    row[r] = ${row_start};
  }
  float16 total[TILE_ROWS * ROW_TILES * TILE_VECTORS];
  for (int i = 0; i < TILE_ROWS * ROW_TILES * TILE_VECTORS; ++i) total[i] = 0.0f;
  __global const float* panel =
      panels + ((long)get_group_id(2) * get_num_groups(1) + get_group_id(1)) * ${longest} * ${step_floats};
  const int steps = ${steps};
  for (int begin = 0; begin < steps; begin += block) {
    const int end = min(begin + block, steps);
    #pragma unroll 1
    for (int t = 0; t < rows; t += TILE_ROWS) {
      float16 sum[TILE_ROWS][TILE_VECTORS];
      #pragma unroll
      for (int i = 0; i < TILE_ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < TILE_VECTORS; ++j) sum[i][j] = 0.0f;
      __global const float* at = panel;
      ${open_loops} {
        ${without_step}
        multiply_add(row + t, ${step}, at, sum);
        at += COLUMNS;
      }
      #pragma unroll
      for (int i = 0; i < TILE_ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < TILE_VECTORS; ++j) total[(t + i) * TILE_VECTORS + j] += sum[i][j];
    }
    panel += (long)(end - begin) * ${step_floats};
  }

  ${stores}
}

// --- section: stores_one_by_one
const float* sums = (const float*)total;
for (int r = 0; r < rows; ++r) {
  const int m = first_row + r;
  ${stored_row_axes}
  for (int l = 0; l < columns; ++l) {
    const int n = first_column + l;
    ${stored_column_axes}
    ${stored_guard}
    ${values}
    ${store}
  }
}

// --- section: stores_of_rows
// --- Columns are neighbours in the output.
const float* sums = (const float*)total;
for (int r = 0; r < rows; ++r) {
  const int m = first_row + r;
  ${stored_row_axes}
  ${stored_guard}
  ${lanes}
}

// --- section: stores_of_columns
float* sums = (float*)total;
long places[TILE_ROWS * ROW_TILES];
for (int r = 0; r < rows; ++r) {
  const int m = first_row + r;
  ${stored_row_axes}
  places[r] = ${row_place};
  ${rows_without}
  ${lanes}
}
${runs}
// Neighbours in the output are more often rows than columns.
for (int l = 0; l < columns; ++l) {
  const int n = first_column + l;
  ${column_axes}
  const long column_place = ${column_place};
  for (int r = 0; r < rows; ++r) {
    ${run}
    ${rows_without}
    const long place = places[r] + column_place;
    ${row_axes}
    ${stored_guard}
    ${values}
    ${store}
  }
}

// --- section: runs
// Whether sixteen rows, from a multiple of sixteen on, are neighbours in the output.
int runs[(TILE_ROWS * ROW_TILES + 15) / 16];
for (int r = 0; r < rows; r += 16) {
  runs[r / 16] = r + 16 <= rows;
  for (int i = 1; runs[r / 16] && i < 16; ++i) runs[r / 16] = places[r + i] - places[r] == i;
}

// --- section: run
if (r % 16 == 0 && runs[r / 16]) {
  store16(sixteen_rows(sums + r * COLUMNS + l), ${out} + (places[r] + column_place));
  r += 15;
  continue;
}

// --- section: sixteen_rows
// Sums of a column, of sixteen rows.
static inline float16 sixteen_rows(const float* sum) {
  return (float16)(sum[0], sum[COLUMNS], sum[2 * COLUMNS], sum[3 * COLUMNS], sum[4 * COLUMNS], sum[5 * COLUMNS],
                   sum[6 * COLUMNS], sum[7 * COLUMNS], sum[8 * COLUMNS], sum[9 * COLUMNS], sum[10 * COLUMNS],
                   sum[11 * COLUMNS], sum[12 * COLUMNS], sum[13 * COLUMNS], sum[14 * COLUMNS], sum[15 * COLUMNS]);
}

// --- section: finished_lanes
int l = 0;
for (; l + 16 <= columns; l += 16) {
  const int n = first_column + l;
  ${lane_axes}
  ${lane_values}
  ${lane_end}
}
for (; l < columns; ++l) {
  const int n = first_column + l;
  ${column_axes}
  ${values}
  ${end}
}
