// Tiles of factors of 16-bit numbers that the copy engine of sm_90 brings to shared memory: a box of rows of each, by
// maps that every block writes for itself. operators/program/kernels/contract_boxes.cpp fills the holes;
// contract_halves.cu has the loop around.
//
// definitions: TILE_M TILE_N TILE_K TILE_STAGES

// --- section: boxes
${boxes}

// Of both factors' tiles, whose rows have 128 bytes each.
#define BOX_BYTES (128 * (TILE_M + TILE_N))

// --- section: arrivals
// What the copy engine is told about both factors, by two warps, and barriers at which their boxes arrive.
__shared__ __align__(128) unsigned words[2][32];
__shared__ unsigned long long arrivals[TILE_STAGES];
int* const map = maps + 64L * blockIdx.x;
int parity = 0;
if (${describes_rows}) {
  ${describe_rows}
} else if (${describes_columns}) {
  ${describe_columns}
}
if (thread == TILE_THREADS - 1) {
  for (int i = 0; i < TILE_STAGES; ++i) make_arrivals(arrivals + i);
}
__syncthreads();
if (${acquires}) {
  acquire_map(map);
  acquire_map(map + 32);
}

// --- section: describe
const int ${line}_extents[3] = {${extents}}, ${line}_box[2] = {${rows}, 1};
const long ${line}_strides[2] = {${strides}};
describe_tensor(${map}, words[${index}], ${memory}, ${line}_extents, ${line}_strides, ${line}_box);

// --- section: copy
if (thread == 0 && next < end) {
  expect_bytes(&arrivals[filled], BOX_BYTES);
  ${copy_rows}
  ${copy_columns}
}

// --- section: copy_along_steps
copy_box(${tiles}[filled], ${map}, ${step}, ${line}, ${outer}, &arrivals[filled]);

// --- section: copy_panels
#pragma unroll
for (int panel = 0; panel < TILE_N / 64; ++panel)
  copy_box(${tiles}[filled] + panel * 64 * TILE_K, ${map}, ${line} + panel * 64, ${step}, ${outer}, &arrivals[filled]);
