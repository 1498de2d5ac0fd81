// Running sums, products and extrema along an axis. Of equal elements cummax and cummin name the last one, as PyTorch
// does.

#include <array>
#include <cmath>
#include <limits>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

/// total = step(total, element), line by line.
template <typename Step>
Result<Answer> scan(const OracleCall& call, double initial, Step step) {
  const auto input = call.converted_input();
  const Lines lines(input.extents(), call.axis("dim", input.rank()));
  return ByLine{lines,
                [input, lines, initial, step](std::int64_t line, std::span<std::vector<double>> outputs) {
                  const auto start = lines.start(line);
                  double total = initial;
                  for (std::int64_t i = 0; i < lines.length; ++i) {
                    total = step(total, input[start + i * lines.stride]);
                    outputs[0][static_cast<std::size_t>(i)] = total;
                  }
                },
                true};
}

/// log(exp(a) + exp(b))
double log_sum(double a, double b) {
  const double largest = larger_of(a, b);
  return std::isfinite(largest) ? largest + std::log1p(std::exp(smaller_of(a, b) - largest)) : largest;
}

Result<Answer> running_extremum(const OracleCall& call, bool largest) {
  const auto input = call.tensor("input");
  const Lines lines(input.extents(), call.axis("dim", input.rank()));
  return ByLine{lines,
                [input, lines, largest](std::int64_t line, std::span<std::vector<double>> outputs) {
                  const auto start = lines.start(line);
                  double best = input[start];
                  std::int64_t place = 0;
                  for (std::int64_t i = 0; i < lines.length; ++i) {
                    const double x = input[start + i * lines.stride];
                    if (std::isnan(x) || (largest ? x >= best : x <= best)) {
                      best = x;
                      place = i;
                    }
                    outputs[0][static_cast<std::size_t>(i)] = best;
                    outputs[1][static_cast<std::size_t>(i)] = static_cast<double>(place);
                  }
                },
                true};
}

constexpr std::array k_scan_answers = {
    OracleRow{"cumsum",
              [](const OracleCall& call) { return scan(call, 0.0, [](double total, double x) { return total + x; }); }},
    OracleRow{"cumprod",
              [](const OracleCall& call) { return scan(call, 1.0, [](double total, double x) { return total * x; }); }},
    OracleRow{"logcumsumexp",
              [](const OracleCall& call) { return scan(call, -std::numeric_limits<double>::infinity(), log_sum); }},
    OracleRow{"cummax", [](const OracleCall& call) { return running_extremum(call, true); }},
    OracleRow{"cummin", [](const OracleCall& call) { return running_extremum(call, false); }},
};

}  // namespace

std::span<const OracleRow> scan_answers() {
  return k_scan_answers;
}

}  // namespace kw::program_oracle
