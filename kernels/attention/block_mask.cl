// The kernel that classifies panels of keys for masks that are no interval of keys per row, in OpenCL C.
// operators/attention/kernels/block_mask.cpp fills the holes.

// --- section: classify
${map_comment}
#define BLOCK_PANELS (BLOCK_KV / PANEL_KEYS)
#define NO_KEY 0
#define SOME_KEYS 1
#define EVERY_KEY 2

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${signature} {
  ${indices}
  const int panels = (Skv + PANEL_KEYS - 1) / PANEL_KEYS;
  const long tile = ((long)get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
  __global int* codes = block_mask + tile * panels;
  ${group_statements}
  ${column_declarations}
  for (int block = 0; block < Skv; block += BLOCK_KV) {
    const int vectors = (min(BLOCK_KV, Skv - block) + PANEL_KEYS - 1) / PANEL_KEYS * PANELS;
    ${column_loop}
    int16 some[BLOCK_PANELS], every[BLOCK_PANELS];
    for (int p = 0; p < BLOCK_PANELS; ++p) {
      some[p] = 0;
      every[p] = -1;
    }
    ${row_loop}
      ${query_index}
      ${row_statements}
      #pragma unroll 1
      for (int c = 0; c < vectors; ++c) {
        const int key = block + c * LANES;
        const int16 kv_idx = key + LANE_INDEX;
        ${element_statements}
        const int16 allowed = ${allowed} & (kv_idx < Skv);
        some[c / PANELS] |= allowed;
        every[c / PANELS] &= allowed;
      }
    }
    for (int p = 0; p < vectors / PANELS; ++p)
      codes[block / PANEL_KEYS + p] = all(every[p]) ? EVERY_KEY : any(some[p]) ? SOME_KEYS : NO_KEY;
  }
}

// --- section: row_limits
// What a term of the score must be above for its key to count, for each row: some way below the largest of the row.
// Floats beyond 2^24 are too coarse to say that; there only -infinity is sure to lose.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${signature} {
  ${indices}
  __global float* limits =
      row_limits + ((long)get_group_id(2) * get_num_groups(1) + get_group_id(1)) * ${rows};
  ${group_statements}
  ${row_loop}
    ${query_index}
    ${row_statements}
    float16 top = -INFINITY;
    #pragma unroll 1
    for (int key = 0; key < Skv; key += LANES) {
      const int16 kv_idx = key + LANE_INDEX;
      ${element_statements}
      const float16 term = ${term};
      // What is no number is not above anything.
      top = select(top, term, (term > top) & (kv_idx < Skv));
    }
    const float lost_below = largest(top);
    limits[${row}] = fabs(lost_below) <= ${most} ? lost_below - ${distance} : -INFINITY;
  }
}
