// Long rows that are reduced and then mapped, such as a softmax of a row that no block has room for, in CUDA C++. Blocks
// take parts of the rows in turn; a block reduces its part, and maps the part that was reduced some turns ago, which the
// second cache still has. So memory is read once. operators/program/kernels/cached_rows.cpp fills the holes.
//
// definitions: PART_THREADS PART_ELEMENTS PART_BLOCKS PARTS_AHEAD

// --- section: words
#define PART_SIZE (PART_THREADS * PART_ELEMENTS)
#define PART_WARPS (PART_THREADS / 32)
// What is in memory where a part has left nothing yet.
#define NO_WORD 0xffffffffffffffffull

// A constant that a function may be called with.
template <bool VALUE>
struct Choice {
  static constexpr bool value = VALUE;
};

// What a part, or a row, leaves is one word, so that who waits for it needs no fence: it is all there or not at all.
__device__ __forceinline__ void leave_word(unsigned long long* place, const float first, const float second) {
  const unsigned long long word = (unsigned long long)__float_as_uint(first) << 32 | __float_as_uint(second);
  // A number that is not one may have any bits.
  atomicExch(place, word == NO_WORD ? NO_WORD - 1 : word);
}

__device__ __forceinline__ unsigned long long wait_for_word(unsigned long long* place) {
  unsigned long long word;
  do {
#ifdef KW_SIM
    word = atomicOr(place, 0ull);
#else
    word = *(volatile unsigned long long*)place;
#endif
  } while (word == NO_WORD);
  return word;
}

// --- section: body
  __shared__ int shared_ticket;
  __shared__ unsigned long long shared_word;
  ${shared}
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row_length = ${row_length};
  const int parts = (row_length + PART_SIZE - 1) / PART_SIZE;
  // Blocks that began earlier have the lower numbers. So what a block waits for is under way already.
  const int rows = (int)(${rows});
  unsigned long long* const next_ticket = (unsigned long long*)${words};
  unsigned long long* const arrived = next_ticket + 1;  // parts of each row
  unsigned long long* const of_rows = arrived + rows;
  unsigned long long* const of_parts = of_rows + rows;
  if (threadIdx.x == 0) shared_ticket = (int)atomicAdd(next_ticket, 1ull);
  __syncthreads();
  const int ticket = shared_ticket, later = ticket - parts - PARTS_AHEAD;
  const bool reduces = ticket < rows * parts, maps = later >= 0 && later < rows * parts;
  // With four neighbours at a time, or one.
  const auto turn = [&](const auto choice) {
    constexpr bool fours = decltype(choice)::value;
    const auto place_of = [&](const int start, const int part) {
      return fours ? start + (part / 4 * PART_THREADS + (int)threadIdx.x) * 4 + part % 4
                   : start + part * PART_THREADS + (int)threadIdx.x;
    };
    const auto counts = [&](const int start, const int part) {
      return place_of(start, fours ? part / 4 * 4 : part) < row_length;
    };
    ${arrays}
    if (reduces) {
      const int row = ticket / parts, start = ticket % parts * PART_SIZE;
      ${row_axes}
      #pragma unroll
      for (int four = 0; four < PART_ELEMENTS; four += 4) {
        ${reduced_loads}
      }
    }
    if (maps) {
      const int row = later / parts, start = later % parts * PART_SIZE;
      ${row_axes}
      #pragma unroll
      for (int four = 0; four < PART_ELEMENTS; four += 4) {
        ${mapped_loads}
      }
    }
    if (reduces) {
      const int row = ticket / parts, start = ticket % parts * PART_SIZE;
      ${row_axes}
      float values[PART_ELEMENTS];
      #pragma unroll
      for (int part = 0; part < PART_ELEMENTS; ++part) {
        ${reduced_value}
      }
      const int batch = PART_ELEMENTS;
      ${state}
      ${before}
      #pragma unroll
      for (int part = 0; part < batch; ++part) {
        if (counts(start, part)) {
          ${uses}
        }
      }
      ${after}
      ${join_lanes}
      if (lane == 0) {
        ${keep_warp}
      }
    }
    if (maps && threadIdx.x == PART_THREADS - 1) shared_word = wait_for_word(of_rows + later / parts);
    __syncthreads();
    if (reduces && warp == 0) {
      const int row = ticket / parts;
      ${state}
      if (lane < PART_WARPS) {
        ${take_warp}
      }
      ${join_warps}
      int before = 0;
      if (lane == 0) {
        leave_word(of_parts + ticket, ${left});
        before = (int)atomicAdd(arrived + row, 1ull);
      }
      if (__shfl_sync(0xffffffffu, before, 0) == parts - 1) {
        // The row's last part: what all of them have left, in the same order whoever is the last.
        ${state}
        for (int part = lane; part < parts; part += 32) {
          const unsigned long long word = wait_for_word(of_parts + (long)row * parts + part);
          const int elements = min(PART_SIZE, row_length - part * PART_SIZE);
          ${word_state}
          ${merge}
        }
        ${join_lanes}
        if (lane == 0) leave_word(of_rows + row, ${left});
      }
    }
    if (maps) {
      const int row = later / parts, start = later % parts * PART_SIZE;
      ${row_axes}
      ${take_row}
      ${results}
      #pragma unroll
      for (int four = 0; four < PART_ELEMENTS; four += 4) {
        float results[4];
        #pragma unroll
        for (int item = 0; item < 4; ++item) {
          const int part = four + item;
          ${mapped_value}
        }
        ${stores}
      }
    }
  };
  ${turn}

// --- section: load
if (fours) {
  const int at = place_of(start, four);
  if (at < row_length) {
    ${four_columns}
    const float4 neighbours = ${hint}(const float4*)(${memory} + ${four_place})${close};
    ${array}[four] = neighbours.x;
    ${array}[four + 1] = neighbours.y;
    ${array}[four + 2] = neighbours.z;
    ${array}[four + 3] = neighbours.w;
  }
} else {
  #pragma unroll
  for (int item = 0; item < 4; ++item) {
    const int at = place_of(start, four + item);
    if (at >= row_length) continue;
    ${four_columns}
    ${array}[four + item] = ${hint}(${memory} + ${four_place})${close};
  }
}

// --- section: join_lanes
#pragma unroll
for (int reach = ${lanes} / 2; reach > 0; reach /= 2) {
  ${others}
  ${merge}
}

// --- section: stores
if (fours) {
  const int at = place_of(start, four);
  if (at < row_length) {
    ${columns}
    __stcs((float4*)(${out} + ${place}), make_float4(results[0], results[1], results[2], results[3]));
  }
} else {
  #pragma unroll
  for (int item = 0; item < 4; ++item) {
    const int at = place_of(start, four + item);
    if (at >= row_length) continue;
    ${columns}
    __stcs(${out} + ${place}, results[item]);
  }
}

// --- section: clear
// Before each use: nothing has been left; the next ticket, and how many parts of each row have arrived, are 0.
${qualifier}
${signature} {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < count) ((unsigned long long*)${words})[at] = at <= rows ? 0ull : NO_WORD;
}
