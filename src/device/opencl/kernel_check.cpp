#include "device/opencl/kernel_check.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace kw::opencl {
namespace {

std::string kernel_names(const Session& session, cl_program program) {
  std::size_t bytes = 0;
  if (session.api.get_program_info(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string names(bytes, '\0');
  if (session.api.get_program_info(program, CL_PROGRAM_KERNEL_NAMES, bytes, names.data(), nullptr) != CL_SUCCESS)
    return {};
  names = names.substr(0, names.find('\0'));
  std::replace(names.begin(), names.end(), ';', ' ');
  return names;
}

/// Name or type of an argument; empty when the driver keeps no such record.
std::string arg_text(const Session& session, cl_kernel kernel, cl_uint index, cl_kernel_arg_info property) {
  std::size_t bytes = 0;
  if (session.api.get_kernel_arg_info(kernel, index, property, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string text(bytes, '\0');
  if (session.api.get_kernel_arg_info(kernel, index, property, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  return text.substr(0, text.find('\0'));
}

/// What the plan passes and what the source must declare for it.
struct Expectation {
  std::string_view passes;
  std::string_view declare;
};
Expectation expectation(const KernelArg& arg) {
  if (std::holds_alternative<BufferArg>(arg)) return {"a buffer", "a __global (or __constant) pointer"};
  if (std::holds_alternative<SharedArg>(arg)) return {"shared memory", "a __local pointer"};
  return {"a whole number", "an int"};
}

bool qualifier_fits(const KernelArg& arg, cl_kernel_arg_address_qualifier qualifier) {
  if (std::holds_alternative<BufferArg>(arg)) {
    return qualifier == CL_KERNEL_ARG_ADDRESS_GLOBAL || qualifier == CL_KERNEL_ARG_ADDRESS_CONSTANT;
  }
  if (std::holds_alternative<SharedArg>(arg)) return qualifier == CL_KERNEL_ARG_ADDRESS_LOCAL;
  return qualifier == CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

/// Scalars other than a 32-bit integer; a type the source defined itself is given the benefit of the doubt.
bool is_other_scalar(const std::string& type) {
  constexpr std::array k_others{"bool", "char",  "uchar",         "unsigned char", "short", "ushort", "unsigned short",
                                "long", "ulong", "unsigned long", "size_t",        "half",  "float",  "double"};
  return std::find(k_others.begin(), k_others.end(), type) != k_others.end();
}

std::optional<KernelMismatch> check_arg(const Session& session, cl_kernel kernel, const PlannedLaunch& launch,
                                        cl_uint index) {
  cl_kernel_arg_address_qualifier qualifier = 0;
  const cl_int status = session.api.get_kernel_arg_info(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                                        sizeof qualifier, &qualifier, nullptr);
  if (status != CL_SUCCESS) return std::nullopt;  // a driver without the record: clSetKernelArg will tell
  const KernelArg& arg = launch.args[index];
  const std::string type = arg_text(session, kernel, index, CL_KERNEL_ARG_TYPE_NAME);
  const bool scalar_fits = !std::holds_alternative<IntArg>(arg) || !is_other_scalar(type);
  if (qualifier_fits(arg, qualifier) && scalar_fits) return std::nullopt;
  const Expectation expected = expectation(arg);
  return KernelMismatch{
      BuildStatus::kernel_args,
      fmt::format("argument {} of kernel '{}' is declared as `{} {}`, but the launch passes {} there: declare "
                  "it as {}, or change the launch's args",
                  index + 1, launch.kernel, type, arg_text(session, kernel, index, CL_KERNEL_ARG_NAME), expected.passes,
                  expected.declare)};
}

std::optional<KernelMismatch> check_args(const Session& session, cl_kernel kernel, const PlannedLaunch& launch) {
  cl_uint count = 0;
  if (session.api.get_kernel_info(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr) != CL_SUCCESS)
    return std::nullopt;
  if (auto mismatch = check_argument_count(launch, count)) return mismatch;
  for (cl_uint index = 0; index < count; ++index) {
    if (auto mismatch = check_arg(session, kernel, launch, index)) return mismatch;
  }
  return std::nullopt;
}

template <typename Value>
std::optional<Value> work_group_info(const Session& session, cl_kernel kernel, cl_kernel_work_group_info property) {
  Value value{};
  const cl_int status =
      session.api.get_kernel_work_group_info(kernel, session.device.id, property, sizeof value, &value, nullptr);
  return status == CL_SUCCESS ? std::optional<Value>(value) : std::nullopt;
}

std::optional<KernelMismatch> check_block(const Session& session, cl_kernel kernel, const PlannedLaunch& launch) {
  using Extents = std::array<std::size_t, 3>;
  const Extents block{static_cast<std::size_t>(launch.block[0]), static_cast<std::size_t>(launch.block[1]),
                      static_cast<std::size_t>(launch.block[2])};
  const auto required = work_group_info<Extents>(session, kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
  if (required && *required != Extents{0, 0, 0} && *required != block) {
    return KernelMismatch{
        BuildStatus::resource,
        fmt::format("kernel '{}' declares reqd_work_group_size({}, {}, {}) but the launch's block is {} x {} "
                    "x {}: make them equal",
                    launch.kernel, (*required)[0], (*required)[1], (*required)[2], block[0], block[1], block[2])};
  }
  const auto most = work_group_info<std::size_t>(session, kernel, CL_KERNEL_WORK_GROUP_SIZE);
  if (most && block[0] * block[1] * block[2] > *most) {
    return KernelMismatch{BuildStatus::resource,
                          fmt::format("kernel '{}' runs with at most {} work-items per group on this "
                                      "device, the launch's block has {}",
                                      launch.kernel, *most, block[0] * block[1] * block[2])};
  }
  return std::nullopt;
}

void keep_largest(std::int64_t& largest, const std::optional<cl_ulong>& bytes) {
  if (bytes) largest = std::max(largest, static_cast<std::int64_t>(*bytes));
}

/// A driver may have a macro for each built-in function, which renames a kernel as well: PoCL's is "_cl_step" for
/// "step".
KernelMismatch missing(const PlannedLaunch& launch, const std::string& known) {
  const bool renamed = fmt::format(" {} ", known).find(fmt::format(" _cl_{} ", launch.kernel)) != std::string::npos;
  if (!renamed) return missing_kernel(launch, known);
  return {BuildStatus::kernel_missing,
          fmt::format("kernel '{}' has the name of a built-in function of OpenCL C: give it another, in the source and "
                      "in its launch",
                      launch.kernel)};
}

/// Adds what the kernel uses when the launch fits it.
std::optional<KernelMismatch> check_launch(const Session& session, cl_program program, const PlannedLaunch& launch,
                                           KernelCheck& result) {
  const auto kernel = create_kernel(session, program, launch.kernel);
  if (!kernel) return missing(launch, kernel_names(session, program));
  if (auto mismatch = check_args(session, kernel->get(), launch)) return mismatch;
  if (auto mismatch = check_block(session, kernel->get(), launch)) return mismatch;
  keep_largest(result.shared_bytes, work_group_info<cl_ulong>(session, kernel->get(), CL_KERNEL_LOCAL_MEM_SIZE));
  keep_largest(result.stack_bytes, work_group_info<cl_ulong>(session, kernel->get(), CL_KERNEL_PRIVATE_MEM_SIZE));
  return std::nullopt;
}

}  // namespace

KernelCheck check_kernels(const Session& session, cl_program program, std::span<const PlannedLaunch> launches) {
  KernelCheck result;
  for (const PlannedLaunch& launch : launches) {
    if (auto mismatch = check_launch(session, program, launch, result)) {
      result.mismatch = *std::move(mismatch);
      break;
    }
  }
  return result;
}

}  // namespace kw::opencl
