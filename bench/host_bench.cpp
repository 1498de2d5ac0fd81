// What the host spends per candidate outside build and device: these have to stay small beside the second a candidate
// takes. The oracle is once per run.

#include <benchmark/benchmark.h>

#include "base/normal.hpp"
#include "codegen/codegen.hpp"
#include "measure/measure.hpp"
#include "problem/oracle.hpp"
#include "problem/problem.hpp"
#include "propose/search/search_proposer.hpp"
#include "record/json.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/fresh_data.hpp"
#include "verify/checking/inputs.hpp"
#include "verify/checking/storage.hpp"

namespace kw {
namespace {

Problem alibi() {
  auto problem = load_problem("attention/alibi", RealFileSystem(), {"problems"});
  KW_CHECK(problem.has_value(), "run from the repository's root: {}", problem.error().to_string());
  return *std::move(problem);
}

Bundle vector_bundle(const Problem& problem) {
  return emit_bundle(problem, "opencl", "vector", host_cpu_facts()).value();
}

void read_problem(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(load_problem("attention/alibi", RealFileSystem(), {"problems"}));
}
BENCHMARK(read_problem)->Unit(benchmark::kMicrosecond);

void emit(benchmark::State& state) {
  const Problem problem = alibi();
  for (auto _ : state) benchmark::DoNotOptimize(vector_bundle(problem));
}
BENCHMARK(emit)->Unit(benchmark::kMicrosecond);

void read_bundle(benchmark::State& state) {
  const std::string text = vector_bundle(alibi()).to_text();
  for (auto _ : state) benchmark::DoNotOptimize(parse_bundle(text, "bench"));
}
BENCHMARK(read_bundle)->Unit(benchmark::kMicrosecond);

void propose(benchmark::State& state) {
  const Problem problem = alibi();
  SearchOptions options;
  options.problem = &problem;
  options.device = host_cpu_facts();
  options.device.target = "opencl";
  options.target = "opencl";
  options.style = "vector";
  auto proposer = make_search_proposer(options).value();
  for (auto _ : state) {
    const auto proposal = proposer->next();
    Attempt attempt;
    attempt.candidate = proposal->candidate;
    proposer->observe(attempt);
  }
}
BENCHMARK(propose)->Unit(benchmark::kMicrosecond)->Iterations(200);

void compare_24_pairs(benchmark::State& state) {
  for (auto _ : state) {
    PairedComparison comparison(search_rule(), 1);
    for (int i = 0; !comparison.decided(); ++i) comparison.add({100, 101.5 + i % 4, false});
    benchmark::DoNotOptimize(comparison.result());
  }
}
BENCHMARK(compare_24_pairs)->Unit(benchmark::kMicrosecond);

void judge_primary_output(benchmark::State& state) {
  const Problem problem = alibi();
  const auto elements = static_cast<std::size_t>(element_count(problem.outputs[0], problem.primary().axes).value());
  const std::vector<float> values(elements, 0.5F);
  const std::vector<double> reference(elements, 0.5);
  const OutputForm form = output_form(problem, problem.outputs[0], problem.primary().axes);
  for (auto _ : state) {
    benchmark::DoNotOptimize(measure_error(std::as_bytes(std::span(values)), 0xffffffffU, reference, form, 1.0));
  }
}
BENCHMARK(judge_primary_output)->Unit(benchmark::kMicrosecond);

/// A large output with the plain kernel's, which differs from it by roundings.
void judge_stored_output(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  Problem problem = alibi();
  problem.outputs[0].dtype = dtype;
  constexpr std::size_t k_elements = std::size_t{1} << 22;
  std::vector<float> values(k_elements);
  fill_normal(values, 1);
  round_to(dtype, values);
  const Answer reference(dtype, stored(dtype, values));
  for (std::size_t i = 0; i < k_elements; i += 3) values[i] *= 1.01F;
  round_to(dtype, values);
  const auto bytes = stored(dtype, values);
  const OutputForm form = output_form(problem, problem.outputs[0], problem.primary().axes);
  const OutputScales scales = output_scales(reference, form);
  for (auto _ : state) {
    benchmark::DoNotOptimize(measure_error(bytes, 0xffffffffU, reference, scales, form, 1.0));
  }
  state.SetLabel(std::string(to_string(dtype)));
  state.counters["per_element"] =
      benchmark::Counter(k_elements, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(judge_stored_output)
    ->Arg(static_cast<int>(DType::f32))
    ->Arg(static_cast<int>(DType::f16))
    ->Arg(static_cast<int>(DType::bf16))
    ->Unit(benchmark::kMillisecond);

/// The output of a timed launch by the rows that the oracle has answered, on one thread.
void judge_timed_output(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  Problem problem = with_axes(alibi(), {"B=1", "Hq=8", "Hkv=8", "Sq=1024", "Skv=1024", "D=64", "Dv=64"}).value();
  problem.outputs[0].dtype = dtype;
  CheckCase like;
  like.inputs = make_inputs(problem, problem.primary(), Distribution::normal, 1).value().values;
  Rng rng(1);
  const FreshCase fresh = draw_fresh(problem, like, WorkloadCosts(problem), rng);
  const AnswerSample& sample = fresh.answers[0];
  const OutputForm form = output_form(problem, problem.outputs[0], problem.primary().axes);
  std::vector<float> values(
      static_cast<std::size_t>(element_count(problem.outputs[0], problem.primary().axes).value()));
  fill_normal(values, 1);
  round_to(dtype, values);
  const auto bytes = stored(dtype, values);
  const OutputScales scales = output_scales(Answer(dtype, stored(dtype, values)), form);
  for (auto _ : state) {
    benchmark::DoNotOptimize(measure_sample(bytes, 0xffffffffU, sample, scales, form, 1.0, serial_for, std::nullopt));
  }
  state.SetLabel(
      fmt::format("{}, {} of {} elements answered", to_string(dtype), sample.elements.size(), values.size()));
}
BENCHMARK(judge_timed_output)
    ->Arg(static_cast<int>(DType::f32))
    ->Arg(static_cast<int>(DType::f16))
    ->Arg(static_cast<int>(DType::bf16))
    ->Unit(benchmark::kMicrosecond);

void oracle_primary_one_thread(benchmark::State& state) {
  const Problem problem = alibi();
  const auto inputs = make_inputs(problem, problem.primary(), Distribution::normal, 1).value().values;
  for (auto _ : state) benchmark::DoNotOptimize(evaluate_oracle(problem, problem.primary(), inputs));
}
BENCHMARK(oracle_primary_one_thread)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kw
