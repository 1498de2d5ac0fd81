#include "device/build_steps.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/environment.hpp"
#include "device/device.hpp"

namespace kw {
namespace {

bool is_identifier(std::string_view name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

std::filesystem::path private_directory() {
  const std::string given = environment_variable("TMPDIR");
  return given.empty() ? "/tmp" : given;
}

Result<std::vector<std::string>> definition_options(const BuildRequest& request) {
  std::vector<std::string> options;
  for (const auto& [name, value] : request.definitions) {
    if (!is_identifier(name)) return fail(errc::device_refused, "a definition's name is not an identifier");
    options.push_back(fmt::format("-D{}={}", name, value));
  }
  return options;
}

void refuse(BuildReply& reply, BuildStatus status, const std::string& why) {
  reply.status = status;
  if (!reply.log.empty() && reply.log.back() != '\n') reply.log += '\n';
  reply.log += why;
}

KernelMismatch missing_kernel(const PlannedLaunch& launch, const std::string& known) {
  return {BuildStatus::kernel_missing, fmt::format("a launch names the kernel '{}', but the source has: {}",
                                                   launch.kernel, known.empty() ? "none" : known)};
}

std::optional<KernelMismatch> check_argument_count(const PlannedLaunch& launch, std::size_t declared) {
  if (declared == launch.args.size()) return std::nullopt;
  return KernelMismatch{BuildStatus::kernel_args,
                        fmt::format("kernel '{}' takes {} arguments but the launch passes {}: make the launch's args "
                                    "match the kernel's parameters",
                                    launch.kernel, declared, launch.args.size())};
}

}  // namespace kw
