#include "verify/tools/tool_set.hpp"

#include <algorithm>
#include <array>

#include "verify/tools/compute_sanitizer.hpp"
#include "verify/tools/nsight_compute.hpp"
#include "verify/tools/oclgrind.hpp"

namespace kw {
namespace {

using SanitizerResult = Result<std::unique_ptr<Sanitizer>>;
using ProfilerResult = Result<std::unique_ptr<Profiler>>;

/// Null profiler: reports why profiling is unavailable.
class NoProfiler final : public Profiler {
 public:
  explicit NoProfiler(std::string why) : why_(std::move(why)) {}
  std::variant<HardwareCounters, std::string> profile(const RunFacts&, const LoadedCandidate&, StepClock&) override {
    return why_;
  }

 private:
  std::string why_;
};

bool serves_any(const DeviceFacts&) {
  return true;
}

bool serves_gpus(const DeviceFacts& device) {
  return device.kind == DeviceKind::gpu;
}

SanitizerResult oclgrind_sanitizer(const BackendOptions& options, ExecutionBackend&) {
  if (!have_oclgrind()) return nullptr;
  KW_TRY(auto oclgrind, open_oclgrind(options));
  return simulating_sanitizer(std::move(oclgrind));
}

/// Sees the very code that is timed, PTX included.
SanitizerResult compute_sanitizer_of(const BackendOptions& options, ExecutionBackend& backend) {
  if (auto sanitizer = open_compute_sanitizer(options, backend)) return sanitizer;
  return nullptr;
}

/// Looks for what compute-sanitizer does not: races between blocks and between lanes, shared memory that nobody wrote.
SanitizerResult simulator_sanitizer(const BackendOptions& options, ExecutionBackend& backend) {
  const DeviceFacts& gpu = backend.device();
  const Language* language = find_language(gpu.target);
  if (language == nullptr || !language->simulator || !gpu.gpu) return nullptr;
  BackendOptions simulated = options;
  simulated.device_id = simulated_device_for(*language, gpu.gpu->arch);
  if (auto simulator = open_process_backend(simulated)) return simulating_sanitizer(*std::move(simulator));
  return nullptr;
}

ProfilerResult ncu_profiler(const BackendOptions& options, ExecutionBackend& backend) {
  return open_nsight_compute(options, backend);
}

Result<void> try_compute_sanitizer(const BackendOptions& options, ExecutionBackend& backend) {
  KW_TRY(const auto sanitizer, open_compute_sanitizer(options, backend));
  return {};
}

Result<void> try_ncu(const BackendOptions& options, ExecutionBackend& backend) {
  KW_TRY(const auto version, try_nsight_compute(options, backend));
  return {};
}

constexpr std::array k_tools = {
    Tool{"oclgrind", "", serves_any, oclgrind_sanitizer, nullptr, nullptr},
    Tool{"compute-sanitizer", "sanitizes CUDA kernels on the GPU before they become the best", serves_gpus,
         compute_sanitizer_of, nullptr, try_compute_sanitizer},
    Tool{"simulator", "", serves_gpus, simulator_sanitizer, nullptr, nullptr},
    Tool{"ncu", "counts in the GPU what the best CUDA kernels do", serves_gpus, nullptr, ncu_profiler, try_ncu},
};

}  // namespace

const Tool* find_tool(std::string_view name) {
  const auto found = std::ranges::find(k_tools, name, &Tool::name);
  return found == k_tools.end() ? nullptr : &*found;
}

std::vector<const Tool*> tools_of(const Language& language) {
  std::vector<const Tool*> tools;
  const auto add = [&](std::string_view name) {
    tools.push_back(find_tool(name));
    KW_CHECK(tools.back() != nullptr, "language {} asks for the tool {}, which there is not", language.name, name);
  };
  for (const std::string_view name : language.sanitizers) add(name);
  if (!language.profiler.empty()) add(language.profiler);
  return tools;
}

Result<OpenedTools> open_tools(const Language& language, BackendOptions options, ExecutionBackend& backend,
                               const ParallelFor& parallel) {
  options.device_id = backend.device().id;
  std::vector<const Tool*> tools = tools_of(language);
  std::erase_if(tools, [&](const Tool* tool) { return !tool->serves(backend.device()); });
  std::vector<SanitizerResult> sanitizers(tools.size());
  std::unique_ptr<Profiler> profiler;
  parallel(std::ssize(tools), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const Tool& tool = *tools[at];
    if (tool.sanitizer != nullptr) sanitizers[at] = tool.sanitizer(options, backend);
    if (tool.profiler == nullptr) return;
    auto found = tool.profiler(options, backend);
    profiler = found ? *std::move(found) : std::make_unique<NoProfiler>(found.error().message);
  });
  OpenedTools opened;
  for (SanitizerResult& one : sanitizers) {
    KW_TRY(auto sanitizer, std::move(one));
    if (sanitizer) opened.sanitizers.push_back(std::move(sanitizer));
  }
  opened.profiler = std::move(profiler);
  return opened;
}

}  // namespace kw
