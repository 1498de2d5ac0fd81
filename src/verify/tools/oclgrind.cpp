#include "verify/tools/oclgrind.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace kw {
namespace {

constexpr const char* k_driver = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
/// Oclgrind 21.10 applies a scalar bound to a vector's first lane alone, and then reports accesses that no device makes
/// (seen on integer min, max and clamp): it is given the same functions with their bounds made vectors. It knows no
/// prefetch, which changes nothing that a kernel computes. Without optimisation, so that what a kernel does is what it
/// says.
constexpr const char* k_build_options =
    "-cl-opt-disable "
    "-D__builtin_prefetch(x,...)=((void)(x)) "
    "-Dmin(x,y)=min((x),(__typeof__(x))(y)) "
    "-Dmax(x,y)=max((x),(__typeof__(x))(y)) "
    "-Dclamp(x,low,high)=clamp((x),(__typeof__(x))(low),(__typeof__(x))(high))";
constexpr std::size_t k_max_oclgrind_finding_chars = 400;

BackendOptions checking(BackendOptions options, bool uninitialised) {
  options.device_id.clear();
  options.environment = {{"OCL_ICD_VENDORS", k_driver},
                         {"OCLGRIND_DATA_RACES", "1"},
                         {"OCLGRIND_MAX_ERRORS", "10"},
                         {"OCLGRIND_BUILD_OPTIONS", k_build_options}};
  if (uninitialised) options.environment.emplace_back("OCLGRIND_UNINITIALIZED", "1");
  options.standby = false;
  return options;
}

class Oclgrind final : public ExecutionBackend {
 public:
  Oclgrind(std::unique_ptr<ExecutionBackend> all, std::unique_ptr<ExecutionBackend> fewer)
      : all_(std::move(all)), fewer_(std::move(fewer)) {}

  [[nodiscard]] const DeviceFacts& device() const override { return all_->device(); }
  [[nodiscard]] const SandboxReport& sandbox() const override { return all_->sandbox(); }
  std::variant<BuildReply, LostWorker> build(const BuildRequest& request, AnswerDeadline deadline,
                                             SourceOrigin origin) override {
    return all_->build(request, deadline, origin);
  }
  std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> start(const StartRequest& request,
                                                                                Duration deadline) override {
    return all_->start(request, deadline);
  }
  [[nodiscard]] ExecutionBackend* with_fewer_checks() override { return fewer_.get(); }

 private:
  std::unique_ptr<ExecutionBackend> all_;
  std::unique_ptr<ExecutionBackend> fewer_;
};

/// On one line, printable.
std::string one_line(const std::string& text) {
  std::string line = on_one_line(text);
  std::erase_if(line, [](char c) { return c < ' ' || c > '~'; });
  return line.substr(0, k_max_oclgrind_finding_chars);
}

/// What the two sides of a race have to do, by the groups that the tool names. OpenCL C 1.2 knows no order between the
/// memory of groups, also behind a fence and an atomic counter, so the tool is right in calling plain accesses a race.
std::string_view race_remedy(const std::string& text) {
  if (text.find("data race") == std::string::npos) return "";
  std::vector<std::string_view> groups;
  for (std::size_t at = 0; (at = text.find("Group(", at)) != std::string::npos; ++at) {
    groups.push_back(std::string_view(text).substr(at, text.find(')', at) - at));
  }
  if (groups.size() != 2) return "";
  if (groups[0] == groups[1]) return " Work-items of one group need a barrier between the two.";
  return " Groups of one launch have no order, whatever they count: write and read what other groups need by atomic "
         "operations (atomic_xchg, and atomic_or with 0), or read it in a second launch.";
}

/// The finding whose "Kernel:" stands at `entity`: a line of its own before it; indented lines after it with the
/// kernel, who did it and "At line N", twice for the two sides of a race. Instructions and lines of source between them
/// are left out.
SanitizerFinding finding_at(const std::string& output, std::size_t entity) {
  const std::size_t start = entity == 0 ? 0 : output.rfind('\n', entity - 1) + 1;
  const std::size_t next = std::min(output.find("\n\tKernel: ", entity + 1), output.size());
  const std::string_view whole = std::string_view(output).substr(start, next - start);
  const std::string_view heading = whole.substr(0, whole.find('\n'));
  std::string text = std::string(heading) + " ";
  bool second = false;
  for (std::size_t at = heading.size(); at < whole.size();) {
    const std::size_t end = std::min(whole.find('\n', at + 1), whole.size());
    const std::string_view line = trimmed(whole.substr(at, end - at));
    at = end;
    const bool place = line.starts_with("At line");
    second = second || line.starts_with("Second entity:");
    if (place || line.starts_with("Kernel:") || line.find("ntity:") != std::string_view::npos) {
      text += std::string(line) + " ";
    }
    const bool race = whole.find("Second entity:") != std::string_view::npos;
    if (place && (second || !race)) break;
  }
  const std::string line = one_line(std::string(trimmed(text)));
  return {line + std::string(race_remedy(line)), heading.find("ninitialized") != std::string_view::npos};
}

}  // namespace

bool have_oclgrind() {
  std::error_code error;
  return std::filesystem::is_regular_file(k_driver, error);
}

Result<std::unique_ptr<ExecutionBackend>> open_oclgrind(BackendOptions options) {
  KW_TRY(auto all, open_process_backend(checking(options, true)));
  // The same device in the same sandbox: what the first one found out is not asked again.
  KW_TRY(auto fewer, open_watched_backend(checking(std::move(options), false), *all));
  return std::make_unique<Oclgrind>(std::move(all), std::move(fewer));
}

std::optional<SanitizerFinding> first_finding(const std::string& output) {
  std::optional<SanitizerFinding> uninitialised;
  for (std::size_t entity = output.find("\n\tKernel: "); entity != std::string::npos;
       entity = output.find("\n\tKernel: ", entity + 1)) {
    SanitizerFinding finding = finding_at(output, entity);
    if (finding.text.starts_with("Unsupported instruction")) continue;
    if (!finding.uninitialised) return finding;
    if (!uninitialised) uninitialised = std::move(finding);
  }
  return uninitialised;
}

SanitizerFinding finding_of_build(const std::string& log) {
  return {one_line(log.substr(log.rfind('\n') + 1)), false};
}

bool uninitialised_findings_hold(const std::string& source) {
  static const std::regex vectors(R"(\b(u?(char|short|int|long)|half|float|double)(2|3|4|8|16)\b|vload|vstore)");
  return !std::regex_search(source, vectors);
}

}  // namespace kw
