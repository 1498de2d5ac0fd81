#include "verify/checking/case_answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "problem/operator.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/storage.hpp"

namespace kw {
namespace {

/// What stores of the type do not turn into infinity.
double largest_of(DType dtype) {
  if (dtype == DType::f16) return half_value(0x7bff);
  return dtype == DType::bf16 ? bfloat_value(0x7f7f) : std::numeric_limits<float>::max();
}

/// Nothing can be compared with +infinity or NaN, nor with what the output's type cannot hold. Minus infinity is an
/// answer: the logarithm of an empty sum.
Result<void> require_answer(const Problem& problem, const Workload& workload, std::size_t output,
                            const std::vector<double>& values) {
  const TensorSpec& tensor = problem.outputs[output];
  const double most = largest_of(tensor.dtype);
  const auto none = std::find_if(values.begin(), values.end(), [most](double value) {
    return std::isnan(value) || value > most || (value < -most && !std::isinf(value));
  });
  if (none == values.end()) return {};
  const std::string what = std::isnan(*none)   ? "not a number"
                           : std::isinf(*none) ? "infinite"
                                               : fmt::format("{:.3g}, beyond {},", *none, to_string(tensor.dtype));
  return fail(Error{errc::unscorable,
                    fmt::format("{} cannot be scored: the right answer itself is {} in output {} of workload {}",
                                problem.name, what, tensor.name, workload.name),
                    operator_of(problem).checks.how_to_be_finite()});
}

/// Of large inputs at least what is read, or all where that is not known; the captured tensors are kept of them.
Result<std::shared_ptr<const InputValues>> inputs_for(const Problem& problem, const OperandReads* reads,
                                                      CheckCase& one) {
  if (!one.draw) return inputs_of(one);
  KW_TRY(const auto drawn, one.draw(reads));
  one.random = drawn->random;
  for (auto& input : one.random) {
    if (input) input->all_drawn = true;  // when somebody asks for all
  }
  one.inputs.assign(problem.operand_count(), {});
  one.inputs.insert(one.inputs.end(), drawn->values.begin() + std::ssize(one.inputs), drawn->values.end());
  return std::shared_ptr<const InputValues>(drawn, &drawn->values);
}

}  // namespace

/// Some 4e6 elements take two cores half a second where an element has little arithmetic, as of a softmax.
bool is_answered_whole(const AnswerWork& whole, const SuiteLimits& limits) {
  constexpr double k_most_whole_elements = 4e6;
  if (std::isinf(limits.whole_flops)) return true;
  return whole.flops <= limits.whole_flops && whole.elements <= k_most_whole_elements;
}

Result<void> answer_whole(const Problem& problem, const ParallelFor& parallel, CheckCase& one) {
  const auto& workload = problem.workloads[one.workload];
  KW_TRY(OutputValues answers, evaluate_oracle(problem, workload, *inputs_of(one), parallel));
  for (std::size_t output = 0; output < answers.size(); ++output) {
    KW_TRY_VOID(require_answer(problem, workload, output, answers[output]));
    one.expected.emplace_back(std::move(answers[output]));
    one.scales.push_back(
        output_scales(one.expected[output], output_form(problem, problem.outputs[output], workload.axes), parallel));
  }
  return {};
}

Result<std::int64_t> answer_rows(const Problem& problem, const AnswerWork& whole, Rng& rng, const ParallelFor& parallel,
                                 CheckCase& one) {
  // A tenth of a second on two cores: of products the oracle has some 8e9 FLOPs a second on one, and of elements 1e7.
  // Of what is hardly too large for all of them an eighth says enough.
  const AnswerWork affordable{std::min(1e9, whole.flops / 8), 1 << 20};
  const auto& workload = problem.workloads[one.workload];
  const OracleSampling& sampling = operator_of(problem).sampling;
  const auto rows = sampled_rows(sampling.rows(problem, workload.axes, whole), affordable, rng);
  const auto reads = one.draw ? sampling.reads(problem, workload.axes, rows) : std::nullopt;
  KW_TRY(const auto drawn, inputs_for(problem, reads ? &*reads : nullptr, one));
  one.sampled = sampling.answer(problem, workload.axes, *drawn, rows, parallel);
  for (std::size_t output = 0; output < one.sampled.size(); ++output) {
    KW_TRY_VOID(require_answer(problem, workload, output, one.sampled[output].values));
  }
  return std::ssize(rows);
}

}  // namespace kw
