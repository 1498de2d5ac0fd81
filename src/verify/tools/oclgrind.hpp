#pragma once
// Oclgrind as a device: it interprets OpenCL kernels and reports accesses outside buffers, data races, barriers that
// not all work-items reach, and results that depend on memory nobody wrote, with source lines. It is an OpenCL driver
// like any other, so that the workers load it instead of the machine's own and everything else stays the same.
//
// Version 21.10 cannot look for uninitialised values in every kernel. It ends at an LLVM instruction it does not know
// (`freeze`, which the optimiser writes, so kernels are built without it), dies in some shuffles of vectors, and takes
// the upper half of a vector for uninitialised. So the backend comes in two strengths (with_fewer_checks), and a
// finding of that kind counts only in kernels without vectors.

#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "verify/processes/process_backend.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {

/// Whether Oclgrind is installed (Debian: package oclgrind).
[[nodiscard]] bool have_oclgrind();

/// A backend over it that makes all checks; `options` as for the device itself, device and environment are replaced.
[[nodiscard]] Result<std::unique_ptr<ExecutionBackend>> open_oclgrind(BackendOptions options);

/// The first finding in what it wrote, one about anything else before those about uninitialised values; nothing when
/// there is none. A complaint about the kernel's instructions is a failure of the tool and no finding. `output` is
/// untrusted.
[[nodiscard]] std::optional<SanitizerFinding> first_finding(const std::string& output);

/// Why a program was compiled and then refused: the last line of the build's log, which is untrusted.
[[nodiscard]] SanitizerFinding finding_of_build(const std::string& log);

/// Whether the tool's word on uninitialised values can be taken for this source.
[[nodiscard]] bool uninitialised_findings_hold(const std::string& source);

}  // namespace kw
