#include "record/launch_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "record/bundle_limits.hpp"
#include "record/dispatch.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_buffer_bytes = std::int64_t{64} << 30;
constexpr std::int64_t k_max_buffer_bytes_unknown = std::int64_t{8} << 30;  ///< of a device that says no size
constexpr std::int64_t k_max_items = std::int64_t{1} << 40;

/// Evaluates, and says which part of the bundle the expression belongs to when it fails.
Result<std::int64_t> evaluate(std::string_view expression, const IntBindings& names, std::string_view what) {
  auto value = evaluate_int_expr(expression, names);
  if (value) return *value;
  return fail(Error{errc::plan_value, fmt::format("{}: {}", what, value.error().message), value.error().hint});
}

class Planner {
 public:
  Planner(const Candidate& candidate, IntBindings names, const Problem& problem, const Axes& axes,
          const DeviceFacts& device)
      : bundle_(candidate.bundle), problem_(problem), axes_(axes), device_(device), names_(std::move(names)) {}

  Result<LaunchPlan> run() {
    KW_TRY_VOID(check_names());
    KW_TRY_VOID(check_constraints());
    for (const auto& tensor : problem_.inputs) KW_TRY_VOID(add_tensor(tensor, BufferRole::input));
    for (const auto& tensor : problem_.outputs) KW_TRY_VOID(add_tensor(tensor, BufferRole::output));
    for (const auto& scratch : bundle_.scratch) KW_TRY_VOID(add_scratch(scratch));
    for (const auto& launch : bundle_.launches) KW_TRY_VOID(add_repeated(launch));
    return std::move(plan_);
  }

 private:
  [[nodiscard]] Result<void> check_names() const;
  [[nodiscard]] Result<void> check_constraints() const;
  [[nodiscard]] Result<void> add_tensor(const TensorSpec& tensor, BufferRole role);
  [[nodiscard]] Result<void> add_scratch(const ScratchBuffer& scratch);
  [[nodiscard]] Result<void> add_buffer(PlannedBuffer buffer, std::int64_t elements);
  [[nodiscard]] Result<void> add_repeated(const Launch& launch);
  [[nodiscard]] Result<void> add_launch(const Launch& launch);
  [[nodiscard]] Result<void> set_extents(const Launch& launch, const std::string& what, PlannedLaunch& planned) const;
  [[nodiscard]] Result<void> check_extents(const std::string& what, const PlannedLaunch& planned) const;
  [[nodiscard]] Result<KernelArg> argument(const std::string& text, const std::string& what,
                                           std::int64_t shared_bytes) const;
  [[nodiscard]] std::optional<std::int32_t> buffer_named(std::string_view name) const;

  const Bundle& bundle_;
  const Problem& problem_;
  const Axes& axes_;
  const DeviceFacts& device_;
  IntBindings names_;
  LaunchPlan plan_;
  std::int64_t total_bytes_ = 0;
};

/// A bundle is written before its problem is bound, so its names can collide with the problem's only here.
Result<void> Planner::check_names() const {
  const auto device_names = device_.bindings();
  const std::string repetition(bundle_format::k_repetition);
  const bool repeats = std::ranges::any_of(bundle_.launches, [](const Launch& one) { return one.repeat.has_value(); });
  const bool is_scratch = std::ranges::find(bundle_.scratch, repetition, &ScratchBuffer::name) != bundle_.scratch.end();
  if (repeats && (names_.contains(repetition) || is_scratch)) {
    return fail(errc::plan_value, "'{}' counts the repetitions of a launch and is the name of something else here",
                repetition);
  }
  const auto taken = [&](const std::string& name) -> std::string_view {
    if (axes_.contains(name)) return "an axis of the problem";
    if (device_names.contains(name)) return "a device fact";
    const auto has_name = [&](const TensorSpec& tensor) { return tensor.name == name; };
    const bool is_tensor = std::any_of(problem_.inputs.begin(), problem_.inputs.end(), has_name) ||
                           std::any_of(problem_.outputs.begin(), problem_.outputs.end(), has_name);
    return is_tensor ? "a tensor of the problem" : "";
  };
  for (const auto& tunable : bundle_.tunables) {
    if (const auto owner = taken(tunable.name); !owner.empty()) {
      return fail(errc::plan_value, "the tunable '{}' has the name of {}", tunable.name, owner);
    }
  }
  for (const auto& scratch : bundle_.scratch) {
    if (const auto owner = taken(scratch.name); !owner.empty()) {
      return fail(errc::plan_value, "the scratch buffer '{}' has the name of {}", scratch.name, owner);
    }
  }
  return {};
}

/// Those over assigned tunables held already in make_candidate; this is where axes, device facts and rows come in.
Result<void> Planner::check_constraints() const {
  for (const auto& constraint : bundle_.constraints) {
    KW_TRY(const std::int64_t value, evaluate(constraint, names_, "a constraint"));
    if (value == 0) {
      return fail(errc::candidate_constraint, "the constraint \"{}\" does not hold for this workload and device",
                  constraint);
    }
  }
  return {};
}

Result<void> Planner::add_tensor(const TensorSpec& tensor, BufferRole role) {
  KW_TRY(const std::int64_t elements, element_count(tensor, axes_));
  return add_buffer({tensor.name, role, tensor.dtype, 0}, elements);
}

Result<void> Planner::add_scratch(const ScratchBuffer& scratch) {
  KW_TRY(const std::int64_t elements,
         evaluate(scratch.elements, names_, fmt::format("'elements' of scratch buffer '{}'", scratch.name)));
  return add_buffer({scratch.name, BufferRole::scratch, scratch.dtype, 0}, elements);
}

Result<void> Planner::add_buffer(PlannedBuffer buffer, std::int64_t elements) {
  if (elements < 1) {
    return fail(errc::plan_value, "buffer '{}' would have {} elements; it needs at least 1", buffer.name, elements);
  }
  const std::int64_t limit =
      device_.memory_bytes > 0 ? std::min(k_max_buffer_bytes, device_.memory_bytes / 4) : k_max_buffer_bytes_unknown;
  const auto bytes = checked_mul(elements, bytes_per_element(buffer.dtype));
  const auto total = bytes ? checked_add(total_bytes_, *bytes) : std::nullopt;
  if (!total || *total > limit) {
    return fail(errc::plan_value, "with buffer '{}' of {} elements the buffers would take more than {} bytes",
                buffer.name, elements, limit);
  }
  buffer.bytes = *bytes;
  total_bytes_ = *total;
  plan_.buffers.push_back(std::move(buffer));
  return {};
}

Result<void> Planner::set_extents(const Launch& launch, const std::string& what, PlannedLaunch& planned) const {
  for (std::size_t i = 0; i < launch.grid.size(); ++i) {
    KW_TRY(planned.grid[i], evaluate(launch.grid[i], names_, fmt::format("grid entry {} of {}", i + 1, what)));
    KW_TRY(planned.block[i], evaluate(launch.block[i], names_, fmt::format("block entry {} of {}", i + 1, what)));
    for (const auto& [extent, name] : {std::pair(planned.grid[i], "grid"), std::pair(planned.block[i], "block")}) {
      if (extent >= 1) continue;
      return fail(errc::plan_value, "{} entry {} of {} is {}; it must be at least 1", name, i + 1, what, extent);
    }
  }
  return {};
}

Result<void> Planner::check_extents(const std::string& what, const PlannedLaunch& planned) const {
  std::optional<std::int64_t> block_items = 1;
  for (const auto extent : planned.block) block_items = block_items ? checked_mul(*block_items, extent) : std::nullopt;
  if (!block_items || *block_items > device_.max_block_items) {
    return fail(errc::plan_value, "the block of {} ({} x {} x {}) is over the device's {} work-items", what,
                planned.block[0], planned.block[1], planned.block[2], device_.max_block_items);
  }
  auto items = block_items;
  for (const auto extent : planned.grid) items = items ? checked_mul(*items, extent) : std::nullopt;
  if (!items || *items > k_max_items) {
    return fail(errc::plan_value, "{} has more than 2^40 work-items: a grid of {} x {} x {} blocks of {}", what,
                planned.grid[0], planned.grid[1], planned.grid[2], *block_items);
  }
  if (planned.shared_bytes < 0 || planned.shared_bytes > device_.shared_bytes_per_block) {
    return fail(errc::plan_value, "{} asks for {} bytes of shared memory; the device has {} per block", what,
                planned.shared_bytes, device_.shared_bytes_per_block);
  }
  return {};
}

std::optional<std::int32_t> Planner::buffer_named(std::string_view name) const {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (plan_.buffers[i].name == name) return static_cast<std::int32_t>(i);
  }
  return std::nullopt;
}

Result<KernelArg> Planner::argument(const std::string& text, const std::string& what, std::int64_t shared_bytes) const {
  if (text == bundle_format::k_shared_arg) {
    if (shared_bytes > 0) return SharedArg{};
    return fail(errc::plan_arg, "{} is \"shared\", but shared_bytes is 0", what);
  }
  if (const auto buffer = buffer_named(text)) return BufferArg{*buffer};
  const auto value = evaluate_int_expr(text, names_);
  if (!value && value.error().code == errc::expr_unknown_name) {
    std::vector<std::string> known;
    for (const auto& buffer : plan_.buffers) known.push_back(buffer.name);
    for (const auto& [name, unused] : names_) known.push_back(name);
    const auto nearest = closest_name(text, known);
    Error error{errc::plan_arg,
                fmt::format("{} (\"{}\") is not a tensor, a scratch buffer or an integer expression", what, text)};
    error.hint = !nearest ? "known names: " + join(known) : "did you mean '" + *nearest + "'?";
    return fail(std::move(error));
  }
  if (!value) return fail(errc::plan_value, "{}: {}", what, value.error().message);
  if (*value < INT32_MIN || *value > INT32_MAX) {
    return fail(errc::plan_value, "{} (\"{}\") is {}; integers are passed as 32-bit int", what, text, *value);
  }
  return IntArg{static_cast<std::int32_t>(*value)};
}

Result<void> Planner::add_repeated(const Launch& launch) {
  if (!launch.repeat) return add_launch(launch);
  const auto what = fmt::format("'repeat' of launch {} ({})", plan_.launches.size() + 1, launch.kernel);
  KW_TRY(const std::int64_t count, evaluate(*launch.repeat, names_, what));
  constexpr auto k_most = static_cast<std::int64_t>(bundle_format::k_max_planned_launches);
  if (count < 1 || count > k_most)
    return fail(errc::plan_value, "{} is {}; it must be from 1 to {}", what, count, k_most);
  const std::string name(bundle_format::k_repetition);
  for (std::int64_t i = 0; i < count; ++i) {
    names_[name] = i;
    KW_TRY_VOID(add_launch(launch));
  }
  names_.erase(name);
  return {};
}

Result<void> Planner::add_launch(const Launch& launch) {
  const auto what = fmt::format("launch {} ({})", plan_.launches.size() + 1, launch.kernel);
  if (plan_.launches.size() >= bundle_format::k_max_planned_launches) {
    return fail(errc::plan_value, "with their repetitions there are more than {} launches",
                bundle_format::k_max_planned_launches);
  }
  PlannedLaunch planned;
  planned.kernel = launch.kernel;
  KW_TRY_VOID(set_extents(launch, what, planned));
  KW_TRY(planned.shared_bytes, evaluate(launch.shared_bytes, names_, "shared_bytes of " + what));
  KW_TRY_VOID(check_extents(what, planned));
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    KW_TRY(auto arg, argument(launch.args[i], fmt::format("argument {} of {}", i + 1, what), planned.shared_bytes));
    planned.args.push_back(arg);
  }
  plan_.launches.push_back(std::move(planned));
  return {};
}

}  // namespace

bool have_same_shape(const PlannedLaunch& a, const PlannedLaunch& b) {
  return a.kernel == b.kernel && std::ranges::equal(a.block, b.block) && a.shared_bytes == b.shared_bytes &&
         std::ranges::equal(a.args, b.args, {}, &KernelArg::index, &KernelArg::index);
}

std::vector<PlannedLaunch> launch_shapes(const std::vector<PlannedLaunch>& launches) {
  std::vector<PlannedLaunch> shapes;
  for (const PlannedLaunch& launch : launches) {
    if (std::ranges::any_of(shapes, [&](const PlannedLaunch& known) { return have_same_shape(known, launch); })) {
      continue;
    }
    PlannedLaunch& shape = shapes.emplace_back(launch);
    std::ranges::fill(shape.grid, 1);
    shape.only.reset();
    for (KernelArg& arg : shape.args) {
      if (std::holds_alternative<BufferArg>(arg)) arg = BufferArg{0};
      if (std::holds_alternative<IntArg>(arg)) arg = IntArg{0};
    }
  }
  return shapes;
}

IntBindings expression_names(const IntBindings& tunables, const Axes& axes, const DeviceFacts& device) {
  IntBindings names = device.bindings();
  for (const auto& [name, value] : tunables) names[name] = value;
  for (const auto& [name, extent] : axes) names[name] = extent;
  return names;
}

Result<IntBindings> build_definitions(const Candidate& candidate, const Axes& axes, const DeviceFacts& device) {
  KW_TRY(ResolvedTunables tunables, resolve_tunables(candidate, axes, device));
  const auto names = expression_names(tunables.values, axes, device);
  IntBindings definitions = std::move(tunables.values);
  for (const auto& define : candidate.bundle.defines) {
    KW_TRY(definitions[define.name], evaluate(define.expression, names, fmt::format("definition '{}'", define.name)));
  }
  return definitions;
}

Result<LaunchPlan> plan_launches(const Candidate& candidate, const Problem& problem, const Axes& axes,
                                 const DeviceFacts& device) {
  KW_TRY(const ResolvedTunables tunables, resolve_tunables(candidate, axes, device));
  return Planner(candidate, expression_names(tunables.values, axes, device), problem, axes, device).run();
}

}  // namespace kw
