// How kernels read captured tensors. An index that is negative counts from the end, and one that is still outside
// becomes the nearest: lanes past the last key ask for elements that do not exist, and must not read outside the
// buffer.
// codegen/kernel_capture_helpers.cpp fills the holes.

// --- section: nearest_index
// Negative indices count from the end; what is outside becomes the nearest.
static inline int nearest_index(const int index, const int extent) {
  return min(max(index < 0 ? index + extent : index, 0), extent - 1);
}

// --- section: nearest_index16
// --- Not clamp with scalar bounds: Oclgrind 21.10 applies those to the first lane alone and then reports reads that no
// --- device makes.
// Negative indices count from the end; what is outside becomes the nearest.
static inline int16 nearest_index16(const int16 index, const int extent) {
  return min(max(index + ((index < 0) & extent), (int16)(0)), (int16)(extent - 1));
}

// --- section: gather16
static inline ${vector} ${name}(__global const ${element}* table, const int16 i) {
${elements}${as_mask};
}

// --- section: load16
// Elements first to first + 15 of a row, or those nearest to them.
static inline ${vector} ${name}(__global const ${element}* row, const int first, const int extent) {
  if (first >= 0 && first <= extent - 16) return ${load};
  return ${gather16}(row, nearest_index16(first + LANE_INDEX, extent));
}

// --- section: load16_down
// Elements first, first - 1, ... first - 15 of a row, or those nearest to them.
static inline ${vector} ${name}(__global const ${element}* row, const int first, const int extent) {
  if (first >= 15 && first < extent) return (${load}).sfedcba9876543210;
  return ${gather16}(row, nearest_index16(first - LANE_INDEX, extent));
}

// --- section: bound
// How many elements of a sorted row are ${relation} a value.
static inline int ${name}(__global const ${element}* row, const int extent, const ${scalar} value) {
  int low = 0, high = extent;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (${middle} ${comparison} value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
