#include "verify/tools/gpu_tool_probe.hpp"

#include <algorithm>
#include <chrono>

#include "sandbox/sandbox.hpp"

namespace kw {
namespace {

constexpr Duration k_probe_deadline = std::chrono::seconds(30);
constexpr Duration k_version_deadline = std::chrono::seconds(10);
constexpr std::int64_t k_ints = 64;

LaunchPlan planted_plan() {
  LaunchPlan plan;
  plan.buffers.push_back({"p", BufferRole::output, DType::i32, k_ints * 4});
  PlannedLaunch launch;
  launch.kernel = "kw_planted";
  launch.args = {BufferArg{0}, IntArg{k_ints}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

constexpr const char* k_source = "extern \"C\" __global__ void kw_planted(int* p, int n) { p[n] = n; }\n";

}  // namespace

std::string version_in(std::string_view text) {
  constexpr std::string_view k_word = "Version ";
  constexpr std::size_t k_most_chars = 30;
  const std::size_t at = text.find(k_word);
  if (at == std::string_view::npos) return {};
  text = text.substr(at + k_word.size(), k_most_chars);
  return std::string(text.substr(0, text.find_first_not_of("0123456789.")));
}

std::string gpu_tool_version(const std::filesystem::path& program) {
  SandboxSpec spec;
  spec.profile = SandboxProfile::build;
  spec.program = program;
  spec.arguments = {"--version"};
  // It may be a script that looks for the program proper.
  spec.executable = {program.parent_path().parent_path(), "/opt/nvidia"};
  const auto process = spawn_sandboxed(spec);
  if (!process || !(*process)->finish(k_version_deadline)) return {};
  return version_in((*process)->output());
}

Result<ToolReport> launch_planted_mistake(ExecutionBackend& backend, ExecutionBackend& watched) {
  const LaunchPlan plan = planted_plan();
  auto built = backend.build({backend.device().id, k_source, {}, plan.launches}, k_probe_deadline, SourceOrigin::own);
  auto* reply = std::get_if<BuildReply>(&built);
  if (reply == nullptr || reply->status != BuildStatus::ok) {
    return fail(errc::gpu_tool, "the kernel to try it with does not build");
  }
  auto started = watched.start({{std::move(reply->binary)}, {{plan, 0}}}, k_probe_deadline);
  if (const auto* lost = std::get_if<LostWorker>(&started)) return fail(errc::gpu_tool, "{}", lost->detail);
  if (const auto* failure = std::get_if<LaunchFailure>(&started)) return fail(errc::gpu_tool, "{}", failure->what);
  auto& process = std::get<std::unique_ptr<KernelProcess>>(started);
  KW_TRY_VOID(process->select(0));
  // The launch may fail, as a launch with a mistake may.
  const auto launched = process->launch(false, k_probe_deadline);
  if (const auto* lost = std::get_if<LostWorker>(&launched)) return fail(errc::gpu_tool, "{}", lost->detail);
  return process->finish(k_probe_deadline);
}

}  // namespace kw
