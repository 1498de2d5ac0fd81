#include "host.hpp"

#include <cstdio>
#include <cstdlib>
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

Loosening loosen(SandboxLayer layer) {
  for (const Loosening& loosening : Loosening::all()) {
    if (loosening.layer() == layer) return loosening;
  }
  std::abort();
}

}  // namespace kw::hostile
