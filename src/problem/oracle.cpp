#include "problem/oracle.hpp"

#include "problem/operator.hpp"

namespace kw {

Result<OutputValues> evaluate_oracle(const Problem& problem, const Workload& workload, const InputValues& inputs,
                                     const ParallelFor& parallel) {
  KW_CHECK(inputs.size() == problem.inputs.size(), "{} inputs", inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    KW_TRY(const auto count, element_count(problem.inputs[i], workload.axes));
    KW_CHECK(static_cast<std::int64_t>(inputs[i].size()) == count, "input {} has {} elements", problem.inputs[i].name,
             inputs[i].size());
  }
  return operator_of(problem).oracle(problem, workload.axes, inputs, parallel);
}

}  // namespace kw
