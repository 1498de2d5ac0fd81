#include "host.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/file_system.hpp"

namespace kw::hostile {

SandboxSpec spec_for(std::vector<std::string> act) {
  SandboxSpec spec;
  spec.program = executable_directory().value() / "hostile_program";
  spec.arguments = std::move(act);
  return spec;
}

std::unique_ptr<SandboxedProcess> start(const SandboxSpec& spec) {
  auto process = spawn_sandboxed(spec);
  if (!process) {
    std::fprintf(stderr, "%s\n", process.error().to_string().c_str());
    std::abort();
  }
  return *std::move(process);
}

std::string reported(SandboxedProcess& process, Duration deadline) {
  std::string payload;
  switch (process.receive(payload, deadline)) {
    case SandboxedProcess::Received::frame:
      return payload;
    case SandboxedProcess::Received::closed:
      return "closed";
    case SandboxedProcess::Received::timed_out:
      return "timed out";
    case SandboxedProcess::Received::oversized:
      return "oversized";
  }
  return {};
}

std::string run(const SandboxSpec& spec) {
  const auto process = start(spec);
  return reported(*process);
}

std::vector<SandboxExemption> exempt(const std::vector<SandboxLayer>& layers) {
  std::vector<SandboxExemption> chosen;
  for (const SandboxExemption& exemption : SandboxExemption::all()) {
    if (std::find(layers.begin(), layers.end(), exemption.layer()) != layers.end()) chosen.push_back(exemption);
  }
  return chosen;
}

const SandboxReport& machine() {
  static const SandboxReport report = [] {
    auto probed = probe_sandbox(executable_directory().value() / "hostile_program");
    if (!probed) {
      std::fprintf(stderr, "%s\n", probed.error().to_string().c_str());
      std::abort();
    }
    return *std::move(probed);
  }();
  return report;
}

Canary::Canary() {
  std::ofstream(file_) << "secret";
}

Bystander::Bystander() : pid_(::fork()) {
  if (pid_ == 0) {
    for (;;) ::pause();
  }
}

Bystander::~Bystander() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

int Bystander::ended_by() const {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == 0 ? 0 : info.si_status;
}

}  // namespace kw::hostile
