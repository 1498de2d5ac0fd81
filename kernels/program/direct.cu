// Direct convolutions for any GPU, in CUDA C++ and HIP C++: sums of pixels and channels in a thread's registers, the
// filter in shared memory. operators/program/kernels/contract_direct_text.cpp fills the holes.
//
// definitions: DIRECT_PIXELS DIRECT_CHANNELS DIRECT_THREADS DIRECT_UNROLL

// --- section: multiply_pixels
// Blocks that a unit is to hold: sums, and what places, guards and elements of pixels take.
#define DIRECT_REGISTERS(phases) ((phases) * DIRECT_PIXELS * (DIRECT_CHANNELS + 6) + 72)
#define DIRECT_BLOCKS(phases) \
  (DIRECT_REGISTERS(phases) * DIRECT_THREADS < 65536 ? 65536 / (DIRECT_REGISTERS(phases) * DIRECT_THREADS) : 1)

// Adds the products of an element for each pixel and the numbers of a filter's place for each channel.
__device__ __forceinline__ void multiply_pixels(const float* filter, const float (&elements)[DIRECT_PIXELS],
                                                float (&sums)[DIRECT_PIXELS][DIRECT_CHANNELS]) {
  #pragma unroll
  for (int c = 0; c < DIRECT_CHANNELS; c += 4) {
    const float4 four = *(const float4*)(filter + c);
    #pragma unroll
    for (int i = 0; i < DIRECT_PIXELS; ++i) {
      sums[i][c] = fmaf(elements[i], four.x, sums[i][c]);
      sums[i][c + 1] = fmaf(elements[i], four.y, sums[i][c + 1]);
      sums[i][c + 2] = fmaf(elements[i], four.z, sums[i][c + 2]);
      sums[i][c + 3] = fmaf(elements[i], four.w, sums[i][c + 3]);
    }
  }
}

// --- section: convolution
// DIRECT_CHANNELS channels of DIRECT_THREADS * DIRECT_PIXELS pixels per block; the pixels of a thread lie
// DIRECT_THREADS apart, so that threads side by side load and store neighbours.
${qualifier}
${signature} {
  __shared__ __align__(16) float filter[${places} * DIRECT_CHANNELS];
  const int thread = threadIdx.x;
  const int tiles_down = (${row_count} + DIRECT_CHANNELS - 1) / DIRECT_CHANNELS;
  ${of_images}
  ${batch}
  ${first_row}
  const int first_n = ${block} / (${tiles}${batches}) * (DIRECT_THREADS * DIRECT_PIXELS) + thread;
  ${batch_axes}
  ${first_pixel}
  ${sums}
  ${stores}
}

// --- section: sums
long from[DIRECT_PIXELS];
${declare_inside}
{
  ${begin_pixels}
  #pragma unroll
  for (int i = 0; i < DIRECT_PIXELS; ++i) {
    const bool within = first_n + i * DIRECT_THREADS < ${column_count};
    ${loaded_pixel}
    from[i] = ${from};
    ${inside}
    ${next_pixel}
  }
}
${declare_sums}
#pragma unroll
for (int p = 0; p < ${phases}; ++p)
  #pragma unroll
  for (int i = 0; i < DIRECT_PIXELS; ++i)
    #pragma unroll
    for (int c = 0; c < DIRECT_CHANNELS; ++c) sums[p][i][c] = 0.0f;
#pragma unroll 1
for (int first_step = 0; first_step < ${step_count}; first_step += ${chunk}) {
  if (${again}) __syncthreads();
  for (int at = thread; at < ${places} * DIRECT_CHANNELS; at += DIRECT_THREADS) {
    const int m = first_row + at % DIRECT_CHANNELS, place = at / DIRECT_CHANNELS;
    const int k = first_step * ${taps} + place / ${written};
    float element = 0.0f;
    if (m < ${row_count} && k < ${step_count} * ${taps}) {
      ${filter_axes}
      element = ${filter_element};
    }
    filter[at] = element;
  }
  __syncthreads();
  const float* of_step = filter;
  const int last_step = min(first_step + ${chunk}, ${step_count});
  ${loops}
  {
    ${step}
  }
}

// --- section: step
const float* const places = of_step;
of_step += ${written} * DIRECT_CHANNELS;
${step_guard}
const long step_from = ${step_from};
${here}
${products}

// --- section: here
unsigned here[DIRECT_PIXELS];
#pragma unroll
for (int i = 0; i < DIRECT_PIXELS; ++i) here[i] = (inside[i] & (${needed})) == (${needed}) ? inside[i] : 0u;

// --- section: load
#pragma unroll
for (int i = 0; i < DIRECT_PIXELS; ++i) elements[${load}][i] = ${element};

// --- section: windows
float gathered[${kept_phases}][DIRECT_PIXELS][DIRECT_CHANNELS];
#pragma unroll
for (int p = 0; p < ${kept_phases}; ++p)
  #pragma unroll
  for (int i = 0; i < DIRECT_PIXELS; ++i)
    #pragma unroll
    for (int c = 0; c < DIRECT_CHANNELS; ++c) gathered[p][i][c] = ${neutral};
#pragma unroll 1
for (int window = 0; window < ${window_count}; ++window) {
  ${window_axes}
  ${sums}
  ${gather}
}

// --- section: rows
float sums[${phases}][DIRECT_PIXELS][DIRECT_CHANNELS];
float reduced[${count}][${phases}][DIRECT_PIXELS];
// Rows that a thread has all of are computed once, others again for each of the reductions.
#pragma unroll 1
for (int turn = 0; turn < ${count} * tiles_down; ++turn) {
  const int first_row = turn % tiles_down * DIRECT_CHANNELS;
  if (turn == 0 || tiles_down > 1) {
    ${sums}
    ${finished}
  }
  ${reductions}
}

// --- section: reduction
if (turn / tiles_down == ${index}) {
  ${places}
  #pragma unroll
  for (int i = 0; i < DIRECT_PIXELS; ++i) {
    ${stored_pixel}
    #pragma unroll
    for (int p = 0; p < ${phases}; ++p) {
      ${phase_axis}
      ${known}
      if (${stored_guard}) {
        float gathered = first_row == 0 ? ${neutral} : reduced[${index}][p][i];
        #pragma unroll
        for (int c = 0; c < DIRECT_CHANNELS; ++c) {
          const float total = sums[p][i][c];
          if (first_row + c < ${row_count}) ${joined}
        }
        if (first_row + DIRECT_CHANNELS >= ${row_count}) {
          ${values}
          ${result}
        }
        ${keep}
      }
    }
  }
}

// --- section: places
${declare_stored}
{
  ${begin_pixels}
  #pragma unroll
  for (int i = 0; i < DIRECT_PIXELS; ++i) {
    const bool within = first_n + i * DIRECT_THREADS < ${column_count};
    ${loaded_pixel}
    ${keep_stored}
    ${next_pixel}
  }
}

// --- section: finished
{
  ${places}
  #pragma unroll
  for (int c = 0; c < DIRECT_CHANNELS; ++c) {
    const int m = first_row + c;
    if (m >= ${row_count}) break;
    ${row_axes}
    ${row_values}
    #pragma unroll
    for (int i = 0; i < DIRECT_PIXELS; ++i) {
      ${stored_pixel}
      #pragma unroll
      for (int p = 0; p < ${phases}; ++p) {
        ${phase_axis}
        if (${stored_guard}) {
          const float total = ${total};
          ${values}
          ${store}
        }
      }
    }
  }
}
