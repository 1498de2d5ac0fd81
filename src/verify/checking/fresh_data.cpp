#include "verify/checking/fresh_data.hpp"

#include <algorithm>
#include <limits>

#include "problem/operator.hpp"
#include "record/time_use.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/error_location.hpp"
#include "verify/checking/plain_answers.hpp"
#include "verify/checking/storage.hpp"

namespace kw {
namespace {

std::string worst_element(const TensorSpec& tensor, const Axes& axes, const AnswerSample& sample,
                          const OutputError& error, std::span<const std::byte> bytes) {
  const auto at = std::find(sample.elements.begin(), sample.elements.end(), error.worst);
  if (at == sample.elements.end()) return "";
  const double expected = sample.values[static_cast<std::size_t>(at - sample.elements.begin())];
  return fmt::format("new data: {} of {} sampled elements are over the limit; {}: expected {:.6g}, got {:.6g}",
                     error.over, sample.elements.size(), coordinates(tensor, axes, error.worst), expected,
                     stored_element(tensor.dtype, bytes, static_cast<std::size_t>(error.worst)));
}

/// Normal operands, and the captured tensors of `like`.
DrawnInputs draw_like(const Problem& problem, const CheckCase& like, Rng& rng, const ParallelFor& parallel,
                      InputValues used, const OperandReads* reads) {
  const Workload& workload = problem.workloads[like.workload];
  DrawnInputs drawn = draw_operands(problem, workload, Distribution::normal, rng, parallel, std::move(used), reads);
  drawn.values.insert(drawn.values.end(), like.inputs.begin() + static_cast<std::ptrdiff_t>(problem.operand_count()),
                      like.inputs.end());
  drawn.random.resize(drawn.values.size());
  return drawn;
}

/// How much more roundings do to these data than to those that an error was learnt on: parameters are drawn anew too,
/// and they decide it.
double harder(const CheckCase& known, const FreshCase& fresh) {
  return known.conditioning <= 0 ? 1 : std::max(1.0, fresh.one.conditioning / known.conditioning);
}

/// Takes the place of those that `fresh` has, in their memory.
void take_operands(const Problem& problem, const CheckCase& like, FreshCase& fresh, Rng& rng,
                   const ParallelFor& parallel, const OperandReads* reads) {
  DrawnInputs drawn = draw_like(problem, like, rng, parallel, std::move(fresh.one.inputs), reads);
  fresh.one.inputs = std::move(drawn.values);
  fresh.one.random = std::move(drawn.random);
}

/// With the elements that are looked at, and no values: those the plain kernel computes from what a device draws.
FreshCase draw_for_plain(const Problem& problem, const CheckCase& like, Rng& rng, const ParallelFor& parallel,
                         bool on_device, FreshCase fresh) {
  fresh.answerer = Answerer::plain;
  fresh.answers = places_to_compare(problem, problem.workloads[like.workload].axes, rng);
  fresh.drawn_from = rng;
  const OperandReads nothing(problem.operand_count());
  take_operands(problem, like, fresh, rng, parallel, on_device ? &nothing : nullptr);
  return fresh;
}

}  // namespace

// The largest error of many elements is much chance: of two draws that are alike one may have a tenth of the other's.
// The more of them were seen, the rarer is a right kernel beyond all of them. What roundings do to these data is
// allowed however lucky the others were.
double fresh_limit(std::span<const CheckCase> alike, const FreshCase& fresh, Answerer answerer, std::size_t output) {
  double limit = allowed_of_roundings(fresh.one, fresh.one.conditioning);
  double plain = 0;
  for (const auto& known : alike) {
    if (known.allowed.empty()) return std::numeric_limits<double>::infinity();
    limit = std::max(limit, known.allowed[output] * harder(known, fresh));
    plain = std::max(plain, known.plain_error[output] * harder(known, fresh));
  }
  return answerer == Answerer::plain ? limit + plain : limit;
}

OutputForm fresh_form(const Problem& problem, const FreshCase& fresh, std::size_t output) {
  OutputForm form = output_form(problem, problem.outputs[output], problem.workloads[fresh.one.workload].axes);
  if (fresh.answerer == Answerer::plain) form.roundings = 2;
  return form;
}

FreshCase draw_fresh(const Problem& problem, const CheckCase& like, const WorkloadCosts& costs, Rng& rng,
                     const ParallelFor& parallel, TimeLedger* ledger, const FreshNeed& need, InputValues used) {
  const Workload& workload = problem.workloads[like.workload];
  FreshCase fresh;
  fresh.one.workload = like.workload;
  fresh.one.inputs = std::move(used);
  const auto drawing = TimeLedger::activity(ledger, time_activity::inputs);
  if (need.answerer == Answerer::plain) {
    return draw_for_plain(problem, like, rng, parallel, need.on_device, std::move(fresh));
  }
  const OracleSampling& sampling = operator_of(problem).sampling;
  const AnswerWork whole = whole_answer_work(problem, workload, costs.of(like.workload).steps);
  const auto rows = sampled_rows(sampling.rows(problem, workload.axes, whole), k_work_of_launch, rng, need.least_rows);
  const auto reads = need.on_device ? sampling.reads(problem, workload.axes, rows) : std::nullopt;
  fresh.drawn_from = rng;
  take_operands(problem, like, fresh, rng, parallel, reads ? &*reads : nullptr);
  const auto answering = TimeLedger::activity(ledger, time_activity::oracle);
  fresh.answers = sampling.answer(problem, workload.axes, fresh.one.inputs, rows, parallel);
  return fresh;
}

void draw_again(const Problem& problem, const CheckCase& like, FreshCase& fresh, const ParallelFor& parallel) {
  if (!fresh.drawn_from) return;
  take_operands(problem, like, fresh, *fresh.drawn_from, parallel, nullptr);
  fresh.drawn_from.reset();
}

void ask_conditioning(const Problem& problem, FreshCase& fresh) {
  const Workload& workload = problem.workloads[fresh.one.workload];
  const auto found = operator_of(problem).checks.conditioning(problem, workload, fresh.one.inputs, k_most_steps_asked);
  fresh.is_asked = true;
  fresh.one.tells = found.has_value();
  fresh.one.conditioning = found.value_or(0);
}

std::optional<CaseFailure> judge_fresh(const Problem& problem, std::span<const CheckCase> alike, const FreshCase& fresh,
                                       const CaseRun& run, const Poison& poison, const ParallelFor& parallel) {
  const CheckCase& like = alike.front();
  const Axes& axes = problem.workloads[like.workload].axes;
  std::optional<CaseFailure> wrong;
  for (std::size_t output = 0; output < run.outputs.size(); ++output) {
    const TensorSpec& tensor = problem.outputs[output];
    const AnswerSample& sample = fresh.answers[output];
    const OutputForm form = fresh_form(problem, fresh, output);
    const OutputError error = measure_sample(run.outputs[output], poison.outputs, sample, like.scales[output], form,
                                             fresh_limit(alike, fresh, fresh.answerer, output), parallel,
                                             output < run.counted.size() ? run.counted[output] : std::nullopt);
    if (error.unwritten > 0) {
      return CaseFailure{Reason::output_unwritten, fmt::format("{} has elements that were never written", tensor.name),
                         fmt::format("{} elements unwritten", error.unwritten)};
    }
    if (error.not_finite > 0) {
      return CaseFailure{Reason::not_finite, fmt::format("{} has NaN or infinite elements", tensor.name),
                         fmt::format("{} such elements", error.not_finite)};
    }
    // Who answered may be wrong about this; about the others nobody is.
    if (error.over > 0 && !wrong) {
      wrong = CaseFailure{Reason::wrong_result, fmt::format("{} is wrong", tensor.name),
                          worst_element(tensor, axes, sample, error, run.outputs[output])};
    }
  }
  return wrong;
}

}  // namespace kw
