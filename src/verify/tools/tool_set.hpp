#pragma once
// The tools that watch kernels, by the names that languages ask for them (Language::sanitizers, Language::profiler).
// The command line opens those of a device's language, and `kernelwright doctor` says which of them work here.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "language/language.hpp"
#include "verify/processes/process_backend.hpp"
#include "verify/tools/profiler.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {

struct Tool {
  std::string_view name;
  /// What doctor says of a vendor's program; "" for tools that come with the language's toolchain or with us.
  std::string_view purpose;
  bool (*serves)(const DeviceFacts& device);
  /// For the device of `backend`, which was opened with `options`: null where the tool is not installed or does not
  /// work here, which is no error. Itself null for a profiler.
  Result<std::unique_ptr<Sanitizer>> (*sanitizer)(const BackendOptions& options, ExecutionBackend& backend);
  /// The error says why there are no counters. Itself null for a sanitizer.
  Result<std::unique_ptr<Profiler>> (*profiler)(const BackendOptions& options, ExecutionBackend& backend);
  /// Tries a vendor's program on the device of `backend`; null for other tools.
  Result<void> (*attempt)(const BackendOptions& options, ExecutionBackend& backend);
};

/// Null when unknown.
[[nodiscard]] const Tool* find_tool(std::string_view name);
/// The language's sanitizers in their order, then its profiler; each must be known.
[[nodiscard]] std::vector<const Tool*> tools_of(const Language& language);

struct OpenedTools {
  std::vector<std::unique_ptr<Sanitizer>> sanitizers;  ///< those that are installed for this device and work
  std::unique_ptr<Profiler> profiler;                  ///< null where hardware counts nothing
};

/// Those of the language that serve the device of `backend`, which was opened with `options`. Each is tried on a kernel
/// of its own, by `parallel`: on a GPU that takes a second.
[[nodiscard]] Result<OpenedTools> open_tools(const Language& language, BackendOptions options,
                                             ExecutionBackend& backend, const ParallelFor& parallel);

}  // namespace kw
