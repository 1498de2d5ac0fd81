// Functions that kernels of tensor programs call. operators/program/kernels picks those in use.
// The definitions are those of the loops that it writes around them for GPUs.
//
// definitions: SHORT_ROW_THREADS WARP_ROW_THREADS ROW_THREADS LONG_ROW_THREADS LONGEST_ROW_THREADS SHORT_LANE_THREADS LANE_THREADS WIDE_LANE_THREADS ROW_ELEMENTS LANE_ELEMENTS MAP_THREADS MAP_ELEMENTS WINDOW_THREADS WINDOW_LINES POOL_LINES

// --- section: larger
// The larger number; NaN where one is.
static inline float larger(const float a, const float b) { return a > b || a != a ? a : b; }

// --- section: rounded_to_tf32
// The nearest number with 10 bits behind the point, ties away from zero; infinities and NaN stay.
static inline float rounded_to_tf32(const float x) {
  union {
    float number;
    unsigned bits;
  } rounded;
  rounded.number = x;
  if ((rounded.bits & 0x7fffffffu) < 0x7f800000u) rounded.bits = (rounded.bits + 0x1000u) & 0xffffe000u;
  return rounded.number;
}

// --- section: smaller
// The smaller number; NaN where one is.
static inline float smaller(const float a, const float b) { return a < b || a != a ? a : b; }
