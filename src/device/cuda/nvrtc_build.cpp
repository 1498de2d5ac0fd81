#include "device/cuda/nvrtc_build.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "device/build_steps.hpp"
#include "device/cuda/cubin.hpp"
#include "device/cuda/kernel_check.hpp"
#include "device/cuda/ptx_policy.hpp"
#include "device/cuda/ptxas_log.hpp"
#include "device/cuda/toolkit.hpp"
#include "language/c_names.hpp"
#include "language/kernel_headers.hpp"

namespace kw::cuda {
namespace {

constexpr const char* k_source_name = "kernel.cu";
constexpr const char* k_names_header = "kernelwright_c_names.h";
/// More than any honest log; what is kept of it is bounded by k_max_log_bytes.
constexpr std::size_t k_most_log_bytes = std::size_t{64} << 20;

/// "sm_90a" as 90; 0 when it is no such name.
int arch_number(const std::string& arch) {
  int number = 0;
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

/// Why this compiler cannot compile for the architecture; nothing when it can, or does not say.
std::optional<std::string> unsupported_arch(const NvrtcApi& api, const std::string& arch) {
  const std::vector<int> known = supported_archs(api);
  if (known.empty() || std::find(known.begin(), known.end(), arch_number(arch)) != known.end()) return std::nullopt;
  return fmt::format("NVRTC {}.{} cannot compile for {}; it knows sm_{}: install another version of the CUDA toolkit",
                     api.major, api.minor, arch, join(known, ", sm_"));
}

/// The first version of NVRTC that was seen to optimise the kernels of a program at the same time: fifteen kernels took
/// it 3.2 s on 16 cores, and 7.7 s one after the other (13.0, 2026-11-27).
constexpr int k_first_to_split = 13;

bool has_several_kernels(const BuildRequest& request) {
  return std::ranges::any_of(
      request.launches, [&](const PlannedLaunch& launch) { return launch.kernel != request.launches.front().kernel; });
}

Result<std::vector<std::string>> build_options(const NvrtcApi& api, const std::string& arch,
                                               const BuildRequest& request) {
  std::vector<std::string> options = {"-arch=" + arch, "-default-device", "--std=c++17", "-lineinfo",
                                      std::string("-include=") + k_names_header};
  if (const auto headers = header_folder(api.library)) {
    options.push_back("-I" + headers->string());
    // CUDA 13 keeps the C++ library's part of its headers apart.
    options.push_back("-I" + (*headers / "cccl").string());
  }
  if (api.major >= k_first_to_split && has_several_kernels(request)) options.emplace_back("-split-compile=0");
  KW_TRY(const auto definitions, definition_options(request));
  options.insert(options.end(), definitions.begin(), definitions.end());
  return options;
}

/// What NVRTC finds by name without a file: it has none of the C library's headers, and knows what <cuda_runtime.h>
/// declares for a kernel by itself.
struct Headers {
  Headers() {
    add(k_names_header, k_c_names.data());
    add("cuda_runtime.h", "");
    for (const std::string_view name : k_c_headers) add(name.data(), "");
  }
  void add(const char* name, const char* text) {
    names.push_back(name);
    texts.push_back(text);
  }
  std::vector<const char*> names;
  std::vector<const char*> texts;
};

class Program {
 public:
  Program(const NvrtcApi& api, const std::string& source) : api_(api) {
    const Headers headers;
    status_ = api_.create_program(&program_, source.c_str(), k_source_name, static_cast<int>(headers.names.size()),
                                  headers.texts.data(), headers.names.data());
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) api_.destroy_program(&program_);
  }

  NvrtcStatus compile(const std::vector<std::string>& options) {
    if (status_ != 0) return status_;
    std::vector<const char*> texts;
    for (const std::string& option : options) texts.push_back(option.c_str());
    return api_.compile_program(program_, static_cast<int>(texts.size()), texts.data());
  }
  [[nodiscard]] std::string log() const {
    std::size_t bytes = 0;
    if (program_ == nullptr || api_.log_size(program_, &bytes) != 0 || bytes > k_most_log_bytes) return {};
    std::string text(bytes, '\0');
    if (bytes == 0 || api_.log(program_, text.data()) != 0) return {};
    return text.substr(0, text.find('\0'));
  }
  [[nodiscard]] std::string cubin() const {
    std::size_t bytes = 0;
    if (api_.cubin_size(program_, &bytes) != 0) return {};
    std::string binary(bytes, '\0');
    return api_.cubin(program_, binary.data()) == 0 ? binary : std::string();
  }
  /// What the cubin was assembled from.
  [[nodiscard]] std::string ptx() const {
    std::size_t bytes = 0;
    if (api_.ptx_size(program_, &bytes) != 0 || bytes == 0) return {};
    std::string text(bytes, '\0');
    return api_.ptx(program_, text.data()) == 0 ? text.substr(0, text.find('\0')) : std::string();
  }

 private:
  const NvrtcApi& api_;
  NvrtcProgram program_ = nullptr;
  NvrtcStatus status_ = 0;
};

struct Compiled {
  NvrtcStatus status = 0;
  std::string log;  ///< with ptxas's reports when it succeeded
  std::string binary;
  std::string ptx;
};

Compiled compile(const NvrtcApi& api, const std::string& source, const std::vector<std::string>& options) {
  Program program(api, source);
  Compiled result;
  result.status = program.compile(options);
  result.log = program.log();
  if (result.status == 0) {
    result.binary = program.cubin();
    result.ptx = program.ptx();
  }
  return result;
}

/// Asked for its reports, ptxas of CUDA 13.0 keeps some errors to itself (too much shared memory): then it is asked
/// again without.
Compiled compile_with_reports(const NvrtcApi& api, const std::string& source, const std::vector<std::string>& options) {
  std::vector<std::string> verbose = options;
  verbose.emplace_back("--ptxas-options=-v");
  Compiled result = compile(api, source, verbose);
  const bool silent = result.status != 0 && without_ptxas_reports(result.log).find("error") == std::string::npos;
  return silent ? compile(api, source, options) : result;
}

/// What to add to a log that says a header is missing.
std::string header_advice(const NvrtcApi& api, const std::string& log) {
  const bool missing = log.find("could not open source file") != std::string::npos;
  if (!missing || header_folder(api.library)) return {};
  return "; CUDA's headers are not installed beside NVRTC: install the toolkit's cuda-cudart-dev, or set CUDA_HOME";
}

void keep_largest(std::int64_t& largest, const std::optional<std::int64_t>& value) {
  if (value) largest = std::max(largest, *value);
}

void take_reports(BuildReply& reply, std::vector<KernelReport> kernels) {
  for (const KernelReport& kernel : kernels) {
    keep_largest(reply.registers, kernel.registers);
    keep_largest(reply.spill_bytes, kernel.spill_bytes);
    keep_largest(reply.stack_bytes, kernel.stack_bytes);
    keep_largest(reply.shared_bytes, kernel.shared_bytes);
  }
  reply.kernels = std::move(kernels);
}

void build_into(const NvrtcApi& api, const DeviceFacts& device, const BuildRequest& request, BuildReply& reply) {
  const auto options = build_options(api, device.gpu->arch, request);
  if (!options) return refuse(reply, BuildStatus::source_error, options.error().message);
  if (const auto why = unsupported_arch(api, device.gpu->arch)) return refuse(reply, BuildStatus::resource, *why);
  Compiled compiled = compile_with_reports(api, request.source, *options);
  const std::string& log = compiled.log;
  reply.log = without_ptxas_reports(log);
  if (compiled.status != 0) {
    const bool too_much = compiled.status == k_nvrtc_out_of_memory || log.find("uses too much") != std::string::npos;
    return refuse(reply, too_much ? BuildStatus::resource : BuildStatus::source_error,
                  fmt::format("NVRTC failed with {}{}", api.error_string(compiled.status), header_advice(api, log)));
  }
  if (request.inspection == Inspection::done) {
    if (compiled.ptx.empty()) return refuse(reply, BuildStatus::resource, "NVRTC does not show what it assembled");
    if (const auto forbidden = forbidden_in_ptx(compiled.ptx)) {
      return refuse(reply, BuildStatus::forbidden, "error: the kernel may not be run: " + *forbidden);
    }
  }
  const auto kernels = read_cubin(compiled.binary);
  if (!kernels) return refuse(reply, BuildStatus::resource, kernels.error().message);
  KernelCheck check = check_kernels(*kernels, log, request.launches, device);
  if (check.mismatch.status != BuildStatus::ok) return refuse(reply, check.mismatch.status, check.mismatch.text);
  take_reports(reply, std::move(check.kernels));
  reply.binary = std::move(compiled.binary);
}

}  // namespace

BuildReply build(const NvrtcApi& api, const DeviceFacts& device, const BuildRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  BuildReply reply;
  build_into(api, device, request, reply);
  if (reply.log.size() > k_max_log_bytes) reply.log.resize(k_max_log_bytes);
  reply.build_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return reply;
}

}  // namespace kw::cuda
