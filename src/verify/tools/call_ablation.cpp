#include "verify/tools/call_ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <limits>
#include <utility>

#include "record/launch_plan.hpp"
#include "record/time_use.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/source_policy.hpp"

namespace kw {
namespace {

template <typename T>
using AblatedOrWhyNot = tl::expected<T, std::string>;

/// A stand-in of a few instructions: some per cent off, of the size that is expected, and never a denormal number,
/// which would cost more than any call. {n} is the width of the type as names of conversions have it.
struct StandIn {
  std::string_view name;
  std::string_view value;  ///< of x, and of y where there are two
  bool two = false;
};

constexpr auto k_stand_ins = std::to_array<StandIn>(
    {{"cos", "clamp(x, -1.0f, 1.0f)"},
     {"erf", "clamp(x, -1.0f, 1.0f)"},
     {"exp", "as_float{n}(convert_int{n}(clamp(x, -87.0f, 88.0f) * 12102203.0f) + 1064866805)"},
     {"exp10", "as_float{n}(convert_int{n}(clamp(x, -37.0f, 38.0f) * 27866352.0f) + 1064866805)"},
     {"exp2", "as_float{n}(convert_int{n}(clamp(x, -125.0f, 127.0f) * 8388608.0f) + 1064866805)"},
     {"expm1", "as_float{n}(convert_int{n}(clamp(x, -87.0f, 88.0f) * 12102203.0f) + 1064866805) - 1.0f"},
     {"log", "convert_float{n}(as_int{n}(x) - 1064866805) * 8.262958e-8f"},
     {"log10", "convert_float{n}(as_int{n}(x) - 1064866805) * 3.588557e-8f"},
     {"log1p", "convert_float{n}(as_int{n}(x + 1.0f) - 1064866805) * 8.262958e-8f"},
     {"log2", "convert_float{n}(as_int{n}(x) - 1064866805) * 1.1920929e-7f"},
     {"pow", "x * y", true},
     {"powr", "x * y", true},
     {"recip", "as_float{n}(2129859011 - as_int{n}(x))"},
     {"rsqrt", "as_float{n}(1597463007 - (as_int{n}(x) >> 1))"},
     {"sin", "clamp(x, -1.0f, 1.0f)"},
     {"sqrt", "as_float{n}((as_int{n}(x) >> 1) + 532369100)"},
     {"tanh", "clamp(x, -1.0f, 1.0f)"}});

/// OpenCL has some of them in three accuracies.
constexpr auto k_accuracies = std::to_array<std::string_view>({"", "half_", "native_"});

bool is_letter_of_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_called(std::string_view source, std::string_view name) {
  for (std::size_t at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1)) {
    if (at > 0 && is_letter_of_name(source[at - 1])) continue;
    const std::size_t next = source.find_first_not_of(" \t\n", at + name.size());
    if (next != std::string_view::npos && source[next] == '(') return true;
  }
  return false;
}

/// Of the primary workload's plan alone: nothing else is launched.
AblatedOrWhyNot<LoadedCandidate> built_without(const RunFacts& facts, const LoadedCandidate& loaded,
                                               const std::vector<std::string>& functions, const StepClock& clock) {
  const auto compiling = clock.doing(time_activity::compiling);
  const Bundle& bundle = loaded.candidate.bundle;
  const auto definitions = build_definitions(loaded.candidate, facts.problem.primary().axes, facts.device());
  if (!definitions) return tl::unexpected(definitions.error().message);
  const LaunchPlan& plan = loaded.built.plans.front().plan;
  const std::string guarded = guarded_source(bundle.source, bundle.target, *definitions);
  BuildRequest request{facts.device().id, stand_ins_for(functions) + guarded, {}, plan.launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  auto built = facts.backend.build(request, clock.timeout(facts.options.deadlines.build).time, loaded.candidate.origin);
  if (const auto* lost = std::get_if<LostWorker>(&built)) return tl::unexpected(lost->detail);
  auto& reply = std::get<BuildReply>(built);
  if (reply.status != BuildStatus::ok)
    return tl::unexpected(std::string("it does not compile with stand-ins for them"));
  LoadedCandidate ablated{loaded.candidate, {}, nullptr};
  ablated.built.binaries.push_back(std::move(reply.binary));
  ablated.built.plans.push_back({plan, 0});
  ablated.built.inspection = loaded.built.inspection;
  return ablated;
}

/// The kernel as it is, in a process of its own.
LoadedCandidate alone(const LoadedCandidate& loaded) {
  const BuiltPlan& primary = loaded.built.plans.front();
  LoadedCandidate copy{loaded.candidate, {}, nullptr};
  copy.built.binaries.push_back(loaded.built.binaries.at(primary.binary));
  copy.built.plans.push_back({primary.plan, 0});
  copy.built.inspection = loaded.built.inspection;
  return copy;
}

AblatedOrWhyNot<double> launch_ns(const RunFacts& facts, LoadedCandidate& candidate, const StoredInputs& inputs,
                                  Duration deadline, StepClock& clock) {
  const StepTimeout timeout = clock.timeout(deadline);
  const CaseMode mode{false, k_nan_poison, timeout.time, timeout.ends_budget};
  const auto run = run_plan(facts.problem, candidate, 0, inputs, mode, clock, facts.options.parallel);
  if (!run) return tl::unexpected(run.error().sentence);
  return static_cast<double>(run->time.observed_ns);
}

}  // namespace

std::vector<std::string> replaceable_calls(std::string_view source) {
  std::vector<std::string> called;
  for (const StandIn& one : k_stand_ins) {
    for (const std::string_view accuracy : k_accuracies) {
      std::string name = std::string(accuracy) + std::string(one.name);
      if (is_called(source, name)) called.push_back(std::move(name));
    }
  }
  return called;
}

std::string stand_ins_for(const std::vector<std::string>& functions) {
  std::string definitions;
  std::string macros;
  for (const std::string& name : functions) {
    const auto* const found = std::ranges::find_if(k_stand_ins, [&](const StandIn& one) {
      return name == one.name || name.ends_with("_" + std::string(one.name));
    });
    KW_CHECK(found != k_stand_ins.end(), "there is no stand-in for {}", name);
    for (const char* const width : {"", "2", "3", "4", "8", "16"}) {
      const std::string type = fmt::format("float{}", width);
      definitions +=
          fmt::format("static inline {0} __attribute__((overloadable)) kw_rough_{1}({0} x{2}) {{ return {3}; }}\n",
                      type, name, found->two ? fmt::format(", {} y", type) : "",
                      fmt::format(fmt::runtime(std::string(found->value)), fmt::arg("n", width)));
    }
    // PoCL's own headers make macros of some of these names.
    macros += fmt::format("#undef {0}\n#define {0}({1}) kw_rough_{0}({1})\n", name, found->two ? "x, y" : "x");
  }
  return definitions + macros;
}

tl::expected<std::optional<CallAblation>, std::string> ablate_calls(const RunFacts& facts,
                                                                    const LoadedCandidate& loaded, double request_ns,
                                                                    const AblationDeadlines& deadlines,
                                                                    StepClock& clock) {
  CallAblation found{replaceable_calls(loaded.candidate.bundle.source), std::numeric_limits<double>::infinity(),
                     std::numeric_limits<double>::infinity()};
  if (found.functions.empty()) return std::nullopt;
  auto without = built_without(facts, loaded, found.functions, clock);
  if (!without) return tl::unexpected(without.error());
  LoadedCandidate with = alone(loaded);
  for (LoadedCandidate* one : {&with, &*without}) {
    if (auto failure = start_candidate(facts.backend, *one, clock.timeout(deadlines.start).time)) {
      return tl::unexpected(failure->sentence);
    }
  }
  const StoredInputs inputs(facts.problem, case_of(facts.suite, 0));
  for (int i = 0; i < k_ablation_launches / 2; ++i) {
    for (auto [one, least] : {std::pair(&with, &found.with_ns), std::pair(&*without, &found.without_ns)}) {
      const auto ns = launch_ns(facts, *one, inputs, deadlines.launch, clock);
      if (!ns) return tl::unexpected(ns.error());
      *least = std::min(*least, std::max(1.0, *ns - request_ns));
    }
  }
  return found;
}

std::string ablation_text(const CallAblation& found) {
  constexpr double k_little = 0.03;
  constexpr double k_ms = 1e6;
  const std::string text =
      fmt::format("with rough stand-ins of a few instructions for its calls of {}", fmt::join(found.functions, ", "));
  if (1 - found.without_ns / found.with_ns < k_little) return text + ", a launch takes as long as before, within 3 %";
  return fmt::format("{}, a launch takes {:.3g} ms, and {:.3g} ms as it is: so much could be saved by writing them out",
                     text, found.without_ns / k_ms, found.with_ns / k_ms);
}

}  // namespace kw
