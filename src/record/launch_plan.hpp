#pragma once
// A bundle's launches with every expression evaluated for one workload and device: only numbers are left, and those are
// what crosses to the worker. Bounds are enforced here, before anything is allocated.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode plan_value{"plan.value"};  ///< an expression fails or leaves its bounds
inline constexpr ErrorCode plan_arg{"plan.arg"};      ///< an argument names nothing
}  // namespace errc

/// Stored in archives: never renumber.
enum class BufferRole : std::uint8_t { input = 1, output = 2, scratch = 3 };

/// One buffer the harness allocates. `name` is a tensor of the problem or a scratch buffer of the bundle.
struct PlannedBuffer {
  std::string name;
  BufferRole role = BufferRole::input;
  DType dtype = DType::f32;
  std::int64_t bytes = 0;
};

struct BufferArg {
  std::int32_t buffer = 0;  ///< index into LaunchPlan::buffers
};
struct IntArg {
  std::int32_t value = 0;  ///< passed as a 32-bit int
};
struct SharedArg {};  ///< the launch's shared memory
using KernelArg = std::variant<BufferArg, IntArg, SharedArg>;

/// A box of groups in a grid. Each keeps the number that it has in the whole grid, and sees the extents of that.
struct GroupBox {
  std::int64_t first[3] = {0, 0, 0};
  std::int64_t count[3] = {1, 1, 1};
};

struct PlannedLaunch {
  std::string kernel;
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::int64_t shared_bytes = 0;
  std::vector<KernelArg> args;
  /// The groups that run; all of them where it is empty. No bundle can ask for it: a tool that watches a large launch
  /// does, on devices that can give groups their numbers (the simulator, and OpenCL by Oclgrind).
  std::optional<GroupBox> only = {};
};

/// Whether a compiler sees no difference: kernel, block, shared memory and kinds of arguments. Grids, numbers and
/// buffers are given with each launch.
[[nodiscard]] bool have_same_shape(const PlannedLaunch& a, const PlannedLaunch& b);
/// Each shape once, in the order of the launches, with a grid of one group, zeros and the first buffer.
[[nodiscard]] std::vector<PlannedLaunch> launch_shapes(const std::vector<PlannedLaunch>& launches);

struct LaunchPlan {
  std::vector<PlannedBuffer> buffers;  ///< the problem's inputs, its outputs, then scratch
  std::vector<PlannedLaunch> launches;
};

/// Bounds: 64 GiB in all buffers together or a quarter of the device's memory if that is less (8 GiB where it says no
/// size), 2^40 work-items per
/// launch, 16384 launches with their repetitions, block within the device's limit, shared memory within the device's.
[[nodiscard]] Result<LaunchPlan> plan_launches(const Candidate& candidate, const Problem& problem, const Axes& axes,
                                               const DeviceFacts& device);

/// What the compiler is told: tunables, resolved for this workload, and defines, evaluated. Two workloads with equal
/// definitions share one build.
[[nodiscard]] Result<IntBindings> build_definitions(const Candidate& candidate, const Axes& axes,
                                                    const DeviceFacts& device);

/// Axes, tunables and the device facts an expression may use (see DeviceFacts::bindings).
[[nodiscard]] IntBindings expression_names(const IntBindings& tunables, const Axes& axes, const DeviceFacts& device);

}  // namespace kw
