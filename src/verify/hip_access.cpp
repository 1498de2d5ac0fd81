#include "verify/hip_access.hpp"

#include <system_error>

#include "base/environment.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

/// A rule holds for the place, not for the name: /opt/rocm is a link to /opt/rocm-6.4.
void add_folder(const fs::path& folder, SandboxSpec& spec) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (!error) spec.executable.push_back(real);
}

}  // namespace

void grant_hip_compiler(SandboxSpec& spec) {
  for (const char* name : {"HIP_PATH", "ROCM_PATH"}) {
    const std::string value = environment_variable(name);
    if (value.empty()) continue;
    spec.environment.emplace_back(name, value);
    add_folder(value, spec);
  }
  add_folder("/opt/rocm", spec);
  const std::string program = environment_variable("KERNELWRIGHT_HIPCC");
  if (program.empty()) return;
  spec.environment.emplace_back("KERNELWRIGHT_HIPCC", program);
  const fs::path folder = fs::path(program).parent_path();
  add_folder(folder.filename() == "bin" ? folder.parent_path() : folder, spec);
}

}  // namespace kw
