#include "device/sim/entry_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "device/sim/compile.hpp"
#include "language/language.hpp"

namespace kw::sim {
namespace {

/// Starts the texts that a failed assertion about parameters prints.
constexpr std::string_view k_parameters = "the parameters of kernel ";

/// What cannot be simulated, by the name whose use the compiler refuses (runtime/refused.cuh).
constexpr std::array k_refused{
    std::pair{"__builtin_amdgcn",
              "AMD's builtins cannot be simulated, but in the shipped building blocks, word for word (docs/cuda.md)"},
    std::pair{"asm",
              "inline assembly cannot be simulated, but in the shipped building blocks, word for word (docs/cuda.md)"},
    std::pair{"cluster", "thread block clusters cannot be simulated"},
    std::pair{"grid", "blocks run one after the other, so synchronising a grid cannot be simulated"},
    std::pair{"tex", "textures cannot be simulated"},
    std::pair{"surf", "surfaces cannot be simulated"},
    std::pair{"wmma", "the wmma fragments have no fixed layout and cannot be simulated: use mma.sync"},
    std::pair{"nvcuda", "the wmma fragments have no fixed layout and cannot be simulated: use mma.sync"},
};

std::string checks_of(const PlannedLaunch& launch) {
  const std::string& kernel = launch.kernel;
  std::string text = fmt::format(
      "static_assert(kw_sim::parameters(&{0}) == {1}, \"{2}'{0}' are not the {1} that its launch passes\");\n", kernel,
      launch.args.size(), k_parameters);
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    const bool buffer = std::holds_alternative<BufferArg>(launch.args[i]);
    text +=
        fmt::format("static_assert(kw_sim::{0}(&{1}, {2}), \"{3}'{1}': argument {4} is {5}, declare it as {6}\");\n",
                    buffer ? "takes_pointer" : "takes_integer", kernel, i, k_parameters, i + 1,
                    buffer ? "a buffer" : "a whole number", buffer ? "a pointer" : "an int");
  }
  return text;
}

/// The first line of `log` that holds `wanted`, from there on; "" without one.
std::string first_with(const std::string& log, std::string_view wanted) {
  const std::size_t at = log.find(wanted);
  if (at == std::string::npos) return "";
  std::string text = log.substr(at, log.find('\n', at) - at);
  if (const std::size_t quote = text.find('"'); quote != std::string::npos) text.resize(quote);
  return text;
}

/// The first name in `log` that begins with `prefix`; "" without one.
std::string first_name(const std::string& log, std::string_view prefix) {
  const std::size_t begin = log.find(prefix);
  if (begin == std::string::npos) return "";
  const auto end = std::find_if(log.begin() + static_cast<std::ptrdiff_t>(begin), log.end(),
                                [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
  return {log.begin() + static_cast<std::ptrdiff_t>(begin), end};
}

std::string reason_for(const std::string& name) {
  for (const auto& [part, why] : k_refused) {
    if (name.find(part) != std::string::npos) return fmt::format("{}: {}", name, why);
  }
  for (const Language* language : languages()) {
    if (language->simulator && name.find(language->simulator->host_prefix) != std::string::npos)
      return name + ": a bundle is device code; memory and launches are the harness's";
  }
  return name + " cannot be simulated";
}

std::string why_refused(const std::string& log) {
  if (const auto builtin = first_name(log, "__builtin_amdgcn_"); !builtin.empty()) return reason_for(builtin);
  constexpr std::string_view k_poisoned = "attempt to use poisoned \"";
  const std::size_t at = log.find(k_poisoned);
  if (at == std::string::npos) {
    return log.find("attempt to use a poisoned identifier") == std::string::npos
               ? ""
               : "the simulator refuses this name: inline assembly, clusters, textures and wmma cannot be simulated";
  }
  const std::string name =
      log.substr(at + k_poisoned.size(), log.find('"', at + k_poisoned.size()) - at - k_poisoned.size());
  return reason_for(name);
}

}  // namespace

std::string parameter_checks(std::span<const PlannedLaunch> launches) {
  std::string text;
  for (const PlannedLaunch& launch : launches) text += checks_of(launch);
  return text;
}

std::string entry_text(std::span<const PlannedLaunch> launches) {
  std::string text;
  std::set<std::string> entered;
  for (const PlannedLaunch& launch : launches) {
    text += checks_of(launch);
    if (!entered.insert(launch.kernel).second) continue;
    text += fmt::format("KW_ENTRY kw_sim_enter_{0}(const unsigned long long* a) {{ kw_sim::enter(&{0}, a); }}\n",
                        launch.kernel);
  }
  return text;
}

std::string shared_memory_text(const std::vector<std::string>& names, std::size_t bytes) {
  std::set<std::string> all(names.begin(), names.end());
  all.insert("kw_sim_dynamic");
  std::string text = "  .section .tbss,\"awT\",@nobits\n  .balign 1024\n";
  for (const std::string& name : all) {
    text += fmt::format("  .globl {0}\n  .hidden {0}\n  .type {0}, @object\n{0}:\n", name);
  }
  text += fmt::format("  .zero {}\n", bytes);
  return text + "  .section .note.GNU-stack,\"\",@progbits\n";
}

Diagnosis diagnose(const std::string& log, std::string_view source_name) {
  if (auto why = why_refused(log); !why.empty()) return {BuildStatus::source_error, "error: " + why};
  return diagnose_launches(log, source_name);
}

Diagnosis diagnose_launches(const std::string& log, std::string_view source_name) {
  if (auto parameters = first_with(log, k_parameters); !parameters.empty()) {
    return {BuildStatus::kernel_args, "error: " + parameters};
  }
  // The only names in the text after the source are those of kernels.
  const std::size_t entry = log.find(fmt::format("{}:", k_entries_name));
  const std::size_t own = log.find(fmt::format("{}:", source_name));
  if (entry != std::string::npos && own == std::string::npos) {
    return {BuildStatus::kernel_missing,
            "error: a launch names a kernel that the source does not define outside all namespaces as extern \"C\" "
            "__global__"};
  }
  return {BuildStatus::source_error, ""};
}

std::int64_t shared_bytes(const ObjectFacts& object, std::span<const PlannedLaunch> launches) {
  std::int64_t largest = 0;
  for (const PlannedLaunch& launch : launches) {
    largest = std::max(largest, static_shared_bytes(object, launch.kernel) + launch.shared_bytes);
  }
  return largest;
}

Diagnosis check_object(const ObjectFacts& object, std::span<const PlannedLaunch> launches, const DeviceFacts& device) {
  for (const PlannedLaunch& launch : launches) {
    if (std::find(object.kernels.begin(), object.kernels.end(), launch.kernel) == object.kernels.end()) {
      return {
          BuildStatus::kernel_missing,
          fmt::format("error: a launch names '{}', which is not declared extern \"C\" __global__; such kernels are: "
                      "{}",
                      launch.kernel, join(object.kernels, " "))};
    }
  }
  const std::int64_t most_static = device.gpu ? device.gpu->static_shared_bytes_per_block : k_static_shared_bytes;
  for (const PlannedLaunch& launch : launches) {
    const std::int64_t declared = static_shared_bytes(object, launch.kernel);
    if (declared <= most_static) continue;
    return {
        BuildStatus::resource,
        fmt::format("error: {} bytes of static shared memory, {} are allowed: declare it extern and ask for it with "
                    "the launch's shared_bytes",
                    declared, most_static)};
  }
  const std::int64_t needed = shared_bytes(object, launches);
  if (needed > device.shared_bytes_per_block) {
    return {BuildStatus::resource, fmt::format("error: a block takes {} bytes of shared memory, the device has {}",
                                               needed, device.shared_bytes_per_block)};
  }
  if (object.runs_code_when_loaded) {
    return {BuildStatus::source_error, "error: variables outside kernels must have constant initialisers"};
  }
  return {};
}

}  // namespace kw::sim
