#include "oracle/oracle.hpp"

#include <array>

#include "oracle/attention_oracle.hpp"

namespace kw {
namespace {

struct Oracle {
  std::string_view op;
  OutputValues (*evaluate)(const Problem& problem, const Axes& axes, const InputValues& inputs,
                           const ParallelFor& parallel);
};
constexpr std::array<Oracle, 1> k_oracles = {{{"attention", attention_oracle}}};

}  // namespace

Result<OutputValues> evaluate_oracle(const Problem& problem, const Workload& workload, const InputValues& inputs,
                                     const ParallelFor& parallel) {
  KW_CHECK(inputs.size() == problem.inputs.size(), "{} inputs", inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    KW_TRY(const auto count, element_count(problem.inputs[i], workload.axes));
    KW_CHECK(static_cast<std::int64_t>(inputs[i].size()) == count, "input {} has {} elements", problem.inputs[i].name,
             inputs[i].size());
  }
  for (const auto& oracle : k_oracles) {
    if (oracle.op == problem.op) return oracle.evaluate(problem, workload.axes, inputs, parallel);
  }
  return fail(errc::oracle_missing, "there is no reference for operator '{}'", problem.op);
}

}  // namespace kw
