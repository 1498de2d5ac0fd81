#pragma once
// Pure functions from (problem, device facts, structural choices) to a Bundle: same input, same bytes. Each
// operator lists its styles (problem/operator.hpp).

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode codegen_style{"codegen.style"};  ///< no such style for this target and operator
inline constexpr ErrorCode codegen_unsupported{
    "codegen.unsupported"};  ///< the style cannot express this problem; says why
}  // namespace errc

/// A way of writing one operator for one target.
struct Style {
  std::string op;       ///< "attention"
  std::string target;   ///< "opencl"
  std::string name;     ///< "vector"; the baseline a careful programmer writes first is called "plain"
  std::string summary;  ///< one line for --help
  /// Structural choices that change the source rather than a tunable, each with its allowed values; the first is the
  /// default. Empty where tunables say everything.
  std::vector<Tunable> structure;
  /// Deterministic. `structure` assigns the choices above; missing ones take their default.
  std::function<Result<Bundle>(const Problem& problem, const DeviceFacts& device, const IntBindings& structure)> emit;
  /// Assignments worth trying first on this device (tunables and structure together), best guess first.
  std::function<std::vector<IntBindings>(const Problem& problem, const DeviceFacts& device)> seeds;
  /// What the primary workload is estimated to take with an assignment on this device: in clocks, of which a model of
  /// time learns how far they are off, or 1 where nothing is known. A search goes by their order alone.
  std::function<double(const Problem& problem, const DeviceFacts& device, const IntBindings& assignment)> estimate;
  /// The estimate of assignments with one structure, which outlives its arguments; empty where `estimate` is as cheap.
  std::function<std::function<double(const IntBindings& assignment)>(const Problem& problem, const DeviceFacts& device,
                                                                     const IntBindings& structure)>
      estimator = nullptr;
  /// Of what it emits: `own` where the text is written from the problem alone.
  SourceOrigin origin = SourceOrigin::foreign;
};

/// The styles of an operator, whose text is this program's own.
[[nodiscard]] std::vector<Style> with_own_text(std::vector<Style> styles);

/// An operator's, none for one that is not known; of each target from the plainest to the fastest.
[[nodiscard]] const std::vector<Style>& styles_of(std::string_view op);
/// The fastest style that writes `problem` for `device`; empty where no style does.
[[nodiscard]] std::string fastest_style(const Problem& problem, std::string_view target, const DeviceFacts& device);
[[nodiscard]] Result<const Style*> find_style(std::string_view op, std::string_view target, std::string_view name);
/// emit() through the registry.
[[nodiscard]] Result<Bundle> emit_bundle(const Problem& problem, std::string_view target, std::string_view style,
                                         const DeviceFacts& device, const IntBindings& structure = {});

}  // namespace kw
