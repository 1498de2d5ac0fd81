#pragma once
// The loops that sums of products spend their time in.

#include <span>

namespace kw::program_oracle {

/// into[i] = values[i]
void read_run(std::span<double> into, const double* values);
void read_run(std::span<double> into, const float* values);
/// into[i] += factor * values[i]
void add_scaled_run(std::span<double> into, double factor, const double* values);
void add_scaled_run(std::span<double> into, double factor, const float* values);

}  // namespace kw::program_oracle
