#pragma once
// Functions of PyTorch that the standard library lacks, in double precision.

namespace kw::program_oracle {

/// The derivative of log(gamma(x)); NaN at the negative integers, minus infinity at 0, as PyTorch has it.
[[nodiscard]] double digamma(double x);
/// The number whose error function is y; infinite at -1 and 1, NaN beyond.
[[nodiscard]] double erf_inverse(double y);
/// log(1 + exp(x)) without overflow.
[[nodiscard]] double log_one_plus_exp(double x);
/// x * log(y), and 0 for x = 0 whatever y is unless it is NaN.
[[nodiscard]] double x_log_y(double x, double y);
/// Python's floor division and remainder of floats, which PyTorch has for its tensors. Dividing by 0 gives what floats
/// give, also for integers, where PyTorch raises an error.
[[nodiscard]] double floor_quotient(double a, double b);
[[nodiscard]] double floor_remainder(double a, double b);
/// The larger and the smaller one; NaN where one is NaN.
[[nodiscard]] double larger_of(double a, double b);
[[nodiscard]] double smaller_of(double a, double b);

}  // namespace kw::program_oracle
