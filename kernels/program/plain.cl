// Functions that kernels of tensor programs call. operators/program/kernels picks those in use.
// The definitions are those of the loops that it writes around them for GPUs.
//
// definitions: SHORT_ROW_THREADS WARP_ROW_THREADS ROW_THREADS LONG_ROW_THREADS ROW_ELEMENTS MAP_THREADS MAP_ELEMENTS WINDOW_THREADS WINDOW_LINES

// --- section: larger
// The larger number; NaN where one is.
static inline float larger(const float a, const float b) { return a > b || a != a ? a : b; }

// --- section: smaller
// The smaller number; NaN where one is.
static inline float smaller(const float a, const float b) { return a < b || a != a ? a : b; }
