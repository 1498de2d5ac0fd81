// Functions that the plain kernels of tensor programs call. operators/program/kernels/plain.cpp picks those in use.

// --- section: larger
// The larger number; NaN where one is.
static inline float larger(const float a, const float b) { return a > b || a != a ? a : b; }

// --- section: smaller
// The smaller number; NaN where one is.
static inline float smaller(const float a, const float b) { return a < b || a != a ? a : b; }
