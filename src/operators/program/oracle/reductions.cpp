// Sums, means, moments and norms over some axes.

#include <array>
#include <cmath>
#include <limits>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/partial_folds.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

/// The elements that one element of the result is made from.
class ReducedElements {
 public:
  explicit ReducedElements(const OracleCall& call)
      : input_(call.converted_input()), space_(split_space(input_.extents(), call.axes("dim", input_.rank()))) {}

  [[nodiscard]] std::int64_t count() const { return space_.walked.count(); }
  /// An element of the result is made from its own.
  [[nodiscard]] OperandGroups groups() const {
    return {space_, [](std::int64_t result) { return result; }};
  }

  /// total = step(total, element) over elements first to end - 1 of them.
  template <typename Step>
  [[nodiscard]] double fold(std::int64_t result, std::int64_t first, std::int64_t end, double total, Step step) const {
    const auto start = space_.kept(result);
    for (auto i = first; i < end; ++i) total = step(total, input_[start + space_.walked(i)]);
    return total;
  }
  template <typename Step>
  [[nodiscard]] double fold(std::int64_t result, double total, Step step) const {
    return fold(result, 0, count(), total, step);
  }
  [[nodiscard]] double mean(std::int64_t result) const {
    return fold(result, 0.0, [](double sum, double x) { return sum + x; }) / static_cast<double>(count());
  }

 private:
  Operand input_;
  SplitSpace space_;
};

/// finish(total), where total = step(total, element) from `initial` on, and join(total, total) of two parts.
template <typename Step, typename Join, typename Finish>
Answer folded(const OracleCall& call, double initial, Step step, Join join, Finish finish) {
  const ReducedElements elements(call);
  return by_groups(folded_in_parts(
                       volume_of(call.output_extents()), elements.count(),
                       [elements, initial, step](std::int64_t result, std::int64_t first, std::int64_t end) {
                         return GroupStatistics::Pair{elements.fold(result, first, end, initial, step), 0.0};
                       },
                       [join](const GroupStatistics::Pair& a, const GroupStatistics::Pair& b) {
                         return GroupStatistics::Pair{join(a.first, b.first), 0.0};
                       },
                       [finish](const GroupStatistics::Pair& total) { return finish(total.first); }),
                   elements.groups());
}

constexpr auto sum_of = [](double a, double b) { return a + b; };
constexpr auto unchanged = [](double x) { return x; };

/// Whose parts are joined as elements are.
template <typename Step>
Answer folded(const OracleCall& call, double initial, Step step) {
  return folded(call, initial, step, step, unchanged);
}

Result<Answer> sum(const OracleCall& call) {
  return folded(call, 0.0, sum_of);
}
Result<Answer> nansum(const OracleCall& call) {
  return folded(
      call, 0.0, [](double total, double x) { return std::isnan(x) ? total : total + x; }, sum_of, unchanged);
}
Result<Answer> prod(const OracleCall& call) {
  return folded(call, 1.0, [](double total, double x) { return total * x; });
}
Result<Answer> amax(const OracleCall& call) {
  return folded(call, -std::numeric_limits<double>::infinity(), larger_of);
}
Result<Answer> amin(const OracleCall& call) {
  return folded(call, std::numeric_limits<double>::infinity(), smaller_of);
}
Result<Answer> any(const OracleCall& call) {
  return folded(call, 0.0, [](double total, double x) { return x != 0.0 ? 1.0 : total; });
}
Result<Answer> all(const OracleCall& call) {
  return folded(call, 1.0, [](double total, double x) { return x == 0.0 ? 0.0 : total; });
}

Result<Answer> mean(const OracleCall& call) {
  const auto count = static_cast<double>(ReducedElements(call).count());
  return folded(call, 0.0, sum_of, sum_of, [count](double total) { return total / count; });
}

/// The largest one is taken out, so that nothing overflows.
Result<Answer> logsumexp(const OracleCall& call) {
  const ReducedElements elements(call);
  return by_groups(
      each_element([elements](std::int64_t i) {
        const double largest = elements.fold(i, -std::numeric_limits<double>::infinity(), larger_of);
        const double shift = std::isinf(largest) ? 0.0 : largest;
        return shift + std::log(elements.fold(i, 0.0, [=](double sum, double x) { return sum + std::exp(x - shift); }));
      }),
      elements.groups());
}

/// By the mean first, then the squares around it. A correction that leaves nothing divides by 0.
Result<Answer> moments(const OracleCall& call, bool root, bool with_mean) {
  const double correction = call.number_or("correction", call.truth("unbiased") ? 1.0 : 0.0);
  const ReducedElements elements(call);
  return by_groups(ByElement{[elements, correction, root, with_mean](std::size_t output, std::int64_t i) {
                     const double middle = elements.mean(i);
                     if (with_mean && output == 1) return middle;
                     const double squares =
                         elements.fold(i, 0.0, [=](double sum, double x) { return sum + (x - middle) * (x - middle); });
                     const double variance =
                         squares / std::fmax(0.0, static_cast<double>(elements.count()) - correction);
                     return root ? std::sqrt(variance) : variance;
                   }},
                   elements.groups());
}

Answer norm_of_order(const OracleCall& call, double order) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  if (order == k_infinity)
    return folded(call, 0.0, [](double most, double x) { return larger_of(most, std::fabs(x)); });
  if (order == -k_infinity)
    return folded(call, k_infinity, [](double least, double x) { return smaller_of(least, std::fabs(x)); });
  if (order == 0.0) {
    return folded(
        call, 0.0, [](double count, double x) { return count + (x != 0.0 ? 1.0 : 0.0); }, sum_of, unchanged);
  }
  if (order == 1.0) return folded(call, 0.0, [](double sum, double x) { return sum + std::fabs(x); });
  if (order == 2.0) {
    return folded(
        call, 0.0, [](double sum, double x) { return sum + x * x; }, sum_of, [](double sum) { return std::sqrt(sum); });
  }
  return folded(
      call, 0.0, [order](double sum, double x) { return sum + std::pow(std::fabs(x), order); }, sum_of,
      [order](double sum) { return std::pow(sum, 1.0 / order); });
}

Result<Answer> norm(const OracleCall& call) {
  const char* name = call.has("p") ? "p" : "ord";
  double order = 2.0;
  if (call.given(name)) {
    if (!call.is_text(name)) {
      order = call.number(name);
    } else if (call.text(name) != "fro") {
      return call.refuse(fmt::format("{} of order '{}' has no answer", call.op(), call.text(name)),
                         "use 'fro' or a number");
    }
  }
  return norm_of_order(call, order);
}

constexpr std::array k_reduction_answers = {
    OracleRow{"sum", sum},
    OracleRow{"nansum", nansum},
    OracleRow{"prod", prod},
    OracleRow{"mean", mean},
    OracleRow{"amax", amax},
    OracleRow{"amin", amin},
    OracleRow{"any", any},
    OracleRow{"all", all},
    OracleRow{"logsumexp", logsumexp},
    OracleRow{"norm", norm},
    OracleRow{"vector_norm", norm},
    OracleRow{"var", [](const OracleCall& call) { return moments(call, false, false); }},
    OracleRow{"std", [](const OracleCall& call) { return moments(call, true, false); }},
    OracleRow{"var_mean", [](const OracleCall& call) { return moments(call, false, true); }},
    OracleRow{"std_mean", [](const OracleCall& call) { return moments(call, true, true); }},
};

}  // namespace

std::span<const OracleRow> reduction_answers() {
  return k_reduction_answers;
}

}  // namespace kw::program_oracle
