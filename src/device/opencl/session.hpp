#pragma once
// One opened OpenCL device: what building, loading and launching share.

#include <filesystem>
#include <optional>

#include "device/opencl/api.hpp"
#include "device/opencl/llvm_library.hpp"
#include "device/opencl/platform.hpp"
#include "protocol/messages.hpp"

namespace kw::opencl {

struct Session {
  Api api;
  ListedDevice device;
  std::filesystem::path pocl_cache;
  OwnedContext context;
  OwnedQueue queue;
  std::optional<LlvmApi> llvm;  ///< of Oclgrind alone, which interprets what it compiled
};

/// A program, not built yet, from source text or from what clGetProgramInfo gave.
[[nodiscard]] Result<OwnedProgram> program_from_source(const Session& session, const std::string& source);
[[nodiscard]] Result<OwnedProgram> program_from_binary(const Session& session, const std::string& binary);

[[nodiscard]] Result<OwnedKernel> create_kernel(const Session& session, cl_program program, const std::string& name);

[[nodiscard]] BuildReply build(const Session& session, const BuildRequest& request);

}  // namespace kw::opencl
