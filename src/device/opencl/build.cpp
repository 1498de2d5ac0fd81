#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.hpp"
#include "device/build_steps.hpp"
#include "device/opencl/address_policy.hpp"
#include "device/opencl/group_numbers.hpp"
#include "device/opencl/kernel_check.hpp"
#include "device/opencl/kernel_loading.hpp"
#include "device/opencl/machine_code.hpp"
#include "device/opencl/object_policy.hpp"
#include "device/opencl/pocl_cache.hpp"
#include "device/opencl/session.hpp"

namespace kw::opencl {
namespace {

Result<std::string> build_options(const BuildRequest& request) {
  KW_TRY(const auto definitions, definition_options(request));
  std::string options = fmt::format("-cl-kernel-arg-info {}", join(definitions, " "));
  // PoCL 3.1 remembers in the process which work-group functions it has compiled, by a hash of source and options, and
  // leaves them out of the binary of a second, equal program. An option that is never the same twice prevents it.
  options += fmt::format(" -DKW_BUILD={}", std::chrono::steady_clock::now().time_since_epoch().count());
  return options;
}

std::string build_log(const Session& session, cl_program program) {
  std::size_t bytes = 0;
  const auto query = [&](std::size_t size, void* value, std::size_t* needed) {
    return session.api.get_program_build_info(program, session.device.id, CL_PROGRAM_BUILD_LOG, size, value, needed);
  };
  if (query(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string log(bytes, '\0');
  if (query(bytes, log.data(), nullptr) != CL_SUCCESS) return {};
  return log.substr(0, log.find('\0'));
}

/// PoCL names the source by a temporary file; "kernel.cl" says more and is the same in every run.
std::string name_the_source(std::string log) {
  constexpr std::string_view k_extension = ".cl:";
  for (std::size_t at = 0; (at = log.find(k_extension, at)) != std::string::npos; at += k_extension.size()) {
    std::size_t begin = at;
    while (begin > 0 && std::isspace(static_cast<unsigned char>(log[begin - 1])) == 0) --begin;
    constexpr std::string_view k_name = "kernel";
    log.replace(begin, at - begin, k_name);
    at = begin + k_name.size();
  }
  return log;
}

Result<std::string> program_binary(const Session& session, cl_program program) {
  std::size_t bytes = 0;
  KW_TRY_VOID(check(session.api.get_program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr),
                    "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)"));
  std::string binary(bytes, '\0');
  auto* data = reinterpret_cast<unsigned char*>(binary.data());
  KW_TRY_VOID(check(session.api.get_program_info(program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr),
                    "clGetProgramInfo(CL_PROGRAM_BINARIES)"));
  return binary;
}

std::optional<std::string> address_used(const Session& session, cl_program program) {
  const auto binary = program_binary(session, program);
  return binary ? address_used_as_number(*session.llvm, *binary) : binary.error().message;
}

void build_into(const Session& session, const BuildRequest& request, BuildReply& reply) {
  const auto options = build_options(request);
  if (!options) return refuse(reply, BuildStatus::source_error, options.error().message);
  const auto source = with_group_numbers(request.source, request.launches);
  if (!source) return refuse(reply, BuildStatus::resource, source.error().message);
  auto program = program_from_source(session, *source);
  if (!program) return refuse(reply, BuildStatus::resource, program.error().message);
  const cl_int status =
      session.api.build_program(program->get(), 1, &session.device.id, options->c_str(), nullptr, nullptr);
  reply.log = name_the_source(build_log(session, program->get()));
  if (status != CL_SUCCESS) {
    const bool resource = status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY;
    return refuse(reply, resource ? BuildStatus::resource : BuildStatus::source_error,
                  "clBuildProgram failed with " + status_name(status));
  }
  // Before anything is asked of the kernels: what the tool cannot interpret has no kernels for it.
  if (session.llvm && request.inspection == Inspection::done) {
    if (const auto found = address_used(session, program->get())) return refuse(reply, BuildStatus::forbidden, *found);
  }
  const KernelCheck kernels = check_kernels(session, program->get(), request.launches);
  if (kernels.mismatch.status != BuildStatus::ok) {
    return refuse(reply, kernels.mismatch.status, kernels.mismatch.text);
  }
  reply.stack_bytes = kernels.stack_bytes;
  reply.shared_bytes = kernels.shared_bytes;
  auto binary = program_binary(session, program->get());
  if (!binary) return refuse(reply, BuildStatus::resource, binary.error().message);
  // Asking for the binary is what had PoCL compile the kernels.
  if (session.device.pocl && request.inspection == Inspection::done) {
    if (const auto found = forbidden_in_cache(session.pocl_cache)) {
      return refuse(reply, BuildStatus::forbidden, *found);
    }
  }
  if (session.device.pocl) {
    reply.machine_code = machine_code_in_cache(session.pocl_cache);
    if (reply.machine_code.size() > k_max_machine_code) reply.machine_code.resize(k_max_machine_code);
  }
  reply.binary = *std::move(binary);
}

}  // namespace

BuildReply build(const Session& session, const BuildRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  BuildReply reply;
  {
    const KernelsUnloaded until_built;
    build_into(session, request, reply);
  }
  if (reply.log.size() > k_max_log_bytes) reply.log.resize(k_max_log_bytes);
  if (session.device.pocl) clear_pocl_cache(session.pocl_cache);
  reply.build_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return reply;
}

}  // namespace kw::opencl
