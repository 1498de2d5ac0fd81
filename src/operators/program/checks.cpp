#include <fmt/format.h>

#include <algorithm>

#include "operators/program/conditioning.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

/// As for attention (docs/measuring.md): honest kernels order their sums differently.
constexpr double k_error_factor = 4.0;
/// Where factors are rounded to tf32, the plain kernel rounds them too, and its error is that of these roundings, which
/// all honest kernels have in common. What is left are other roundings of the same size, as of a filter that took in a
/// scale first, and what tensor cores cut off of long sums. A factor of 8 bits errs by 5.7 times as much.
constexpr double k_rounded_error_factor = 2.0;
/// Units in the last place: of f32, and of types of 16 bits, whose results are rounded once.
constexpr double k_least_f32_units = 32.0;
constexpr double k_least_16_bit_units = 3.0;
/// A plain kernel further off is wrong; but for one whose factors are rounded, which conditioning.cpp lets move the
/// answer by 25 times as much.
constexpr double k_worst_plain_error = 0.01;
constexpr double k_worst_rounded_error = 0.25;
/// An index or a truth is right or wrong: a difference of 1 counts, in rows of any size.
constexpr double k_exact = 1e-9;

/// A tenth, but 1 / (4 n^2) for rows of one element: what was rectified or cancelled leaves rows near zero in any
/// output, and they err by what they were made of. With a thousandth, as for attention, honest kernels of 5 of 95
/// modules were refused in timed launches (H200, 2026-11-23).
double near_zero_row_share(std::int64_t row_length) {
  const auto length = static_cast<double>(row_length);
  return std::max(0.1, 0.25 / (length * length));
}

Tolerance program_tolerance(const Problem& problem, DType dtype, std::int64_t row_length) {
  const bool exact = dtype == DType::i32 || dtype == DType::boolean;
  if (exact) return {.error_factor = 1.0, .least_error = k_exact, .tensor_share = 1.0, .worst_plain_error = k_exact};
  const double units = is_16_bit_float(dtype) ? k_least_16_bit_units : k_least_f32_units;
  const bool rounded = rounds_factors(problem);
  return {.error_factor = rounded ? k_rounded_error_factor : k_error_factor,
          .least_error = units * unit_roundoff(dtype),
          .tensor_share = near_zero_row_share(row_length),
          .worst_plain_error = rounded ? k_worst_rounded_error : k_worst_plain_error};
}

std::optional<DrawRule> rule_of_fixed(const Problem& problem, const Workload& workload, std::size_t operand) {
  return is_free_operand(problem, operand) ? std::nullopt : given_rule(problem, workload, operand);
}

/// Parameters may be idle: a batch norm takes away the bias of the convolution before it.
bool may_be_idle(const Problem& problem, std::size_t operand) {
  const ProgramDetail& detail = program_detail(problem);
  return !is_forward_input(detail.program, detail.inputs[operand]);
}

}  // namespace

OperatorChecks program_checks() {
  return {.rule = rule_of_fixed,
          .settle =
              [](const Problem& problem, const Workload& workload, InputValues& operands, Rng& rng,
                 const ParallelFor& parallel) {
                settle_operands(problem, workload, Settled::without_rule, operands, rng, parallel);
              },
          .settles =
              [](const Problem& problem, const Workload& workload, std::size_t operand) {
                return !is_free_operand(problem, operand) && !given_rule(problem, workload, operand);
              },
          .may_be_idle = may_be_idle,
          .conditioning = conditioning_of,
          .distributions = program_distributions,
          .tolerance = program_tolerance,
          .probes = [](const Problem&) { return std::vector<OwnProbe>(); },
          .how_to_depend =
              [](std::string_view operand) {
                return fmt::format("let forward() use {} so that its result changes with it", operand);
              },
          .how_to_be_finite =
              [] {
                return std::string(
                    "let get_inputs() draw only what forward() takes, and write inputs = \"given\" in [program]");
              }};
}

}  // namespace kw
