#pragma once
// Oclgrind as a device: it interprets OpenCL kernels and reports accesses outside buffers, data races and barriers that
// not all work-items reach, with source lines. It is an OpenCL driver like any other, so that the workers load it
// instead of the machine's own and everything else stays the same.

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "verify/process_workbench.hpp"

namespace kw {

/// Whether Oclgrind is installed (Debian: package oclgrind).
[[nodiscard]] bool have_oclgrind();

/// A workbench over it; `options` as for the device itself, device and environment are replaced.
[[nodiscard]] Result<std::unique_ptr<Workbench>> open_oclgrind(WorkbenchOptions options);

/// The first finding in what it wrote, on one line; nothing when there is none. `output` is untrusted.
[[nodiscard]] std::optional<std::string> first_finding(const std::string& output);

}  // namespace kw
