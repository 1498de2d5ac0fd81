#pragma once
// One row per source language: what the system has to know of it, as plain data. Each row has a file of its own; a
// program lists the rows that it is made of, the product in catalogue/languages.cpp. What only a higher folder can
// hold, such as how the generators spell things (codegen/dialect.hpp), names its row.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/sandbox_grants.hpp"

namespace kw {

struct DeviceFacts;

/// A simulated device: whose limits it has, and for the GPUs of which architectures it stands in.
struct SimulatedDevice {
  std::string_view id;    ///< as --device takes it: "sim:sm_80"
  std::string_view gpu;   ///< a shipped device (hardware/device_file.hpp)
  std::string_view arch;  ///< how the names begin of the architectures; "" where the device stands in for none
};

/// How the simulator (device/sim/) takes the language.
struct SimulatorDialect {
  std::string_view title;        ///< "CUDA"
  std::string_view prelude;      ///< the header of device/sim/runtime/ that a candidate sees
  std::string_view source_name;  ///< what diagnostics call the candidate's source
  std::string_view host_prefix;  ///< begins the names of the host's functions, which candidates may not call
  /// The macro by which a source asks for the device's architecture: "__{}__" stands for that of its name, with the
  /// value 1; any other name has the digits of the architecture's, times ten, as its value.
  std::string_view arch_macro;
  /// How those of the compiler's names begin that a condition may depend on: they mean the same to simulator and
  /// device.
  std::span<const std::string_view> same_conditions;
  std::span<const SimulatedDevice> devices;  ///< the first one is what "sim" means for this language
  bool counts_accesses;                      ///< by the rules of its GPUs (device/sim/access_counter.hpp)
  std::string_view other_archs;              ///< the device for an architecture that no row of `devices` has
};

/// The program below tools/ that launches a compiled kernel outside the sandbox, and what may be put in front of it.
struct HandTools {
  std::string_view replay;  ///< reads kernel.json and `binary`
  std::string_view binary;
  std::span<const std::string_view> watchers;
};

/// A program or library that the language needs beside its driver and its compiler.
struct Toolchain {
  std::string_view name;
  std::string_view purpose;
  std::string_view path;
  std::string_view install;  ///< a command
};

/// No member has a default: a new language answers every question, and language_test.cpp looks at the answers.
struct Language {
  std::string_view name;       ///< what bundles call their target: "opencl"
  std::string_view title;      ///< for people and models: "OpenCL C"
  std::string_view extension;  ///< of files that hold a bundle: "cl"
  std::string_view fence;      ///< what a highlighter calls it: "c"

  /// The words that tell its code from that of other languages, beside those of the language it extends ("" for none).
  std::span<const std::string_view> words;
  std::string_view extends;
  std::span<const std::string_view> headers;  ///< kernels may include these between angle brackets, beside k_c_headers
  /// Identifiers that candidates may not use, however they are written or put together: a pragma at the head of what is
  /// compiled makes each an error (verify/checking/source_policy.hpp). For languages whose code shares the process of
  /// its runtime.
  std::span<const std::string_view> forbidden;
  /// Macros that all of its compilers have, each with another value: undefined for a candidate, whether its text names
  /// them or puts them together.
  std::span<const std::string_view> unlike_macros;
  bool has_vector_types;    ///< such as float4 with arithmetic of its own
  std::string_view prompt;  ///< prompts/example_PROMPT.md, and section PROMPT of prompts/contract.md

  std::string_view runtime;         ///< begins the ids of devices that run it ("opencl:0"), which report it as target
  std::string_view default_device;  ///< shipped device to write for when none is named; "" is the CPU of this machine
  /// The worker's compiler for GPUs, which need not be here (device/backends.cpp); "" where a device compiles itself.
  std::string_view gpu_compiler;
  std::string_view gpu_compiler_purpose;
  bool gpu_reports_resources;  ///< registers, spills, occupancy and tensor core instructions are known after a build
  /// The file below kernels/ whose sections `multiply_add` and `bandwidth` measure a device (codegen/calibration.hpp);
  /// "" where the peaks of all devices are published or not needed.
  std::string_view calibration;
  std::optional<SimulatorDialect> simulator;

  SandboxGrants build;  ///< for processes that compile it
  SandboxGrants run;    ///< for processes that run it on a GPU, and for those that ask what devices there are

  std::span<const std::string_view> sanitizers;  ///< names in verify/tools/tool_set.hpp, in the order they are asked
  std::string_view profiler;                     ///< the same; "" for none
  std::optional<HandTools> hand_tools;
  std::span<const Toolchain> toolchain;
  std::span<const std::string_view> environment;  ///< how variables begin that may change its speed, such as "POCL_"
};

/// All languages, the default first. Each program defines this by the list that it links; the product's is
/// catalogue/languages.cpp.
[[nodiscard]] std::span<const Language* const> languages();
/// Null when unknown.
[[nodiscard]] const Language* find_language(std::string_view name);
[[nodiscard]] std::vector<std::string> language_names();
/// What is written where nobody says otherwise: the first of languages().
[[nodiscard]] const Language& default_language();

/// Whether the device runs the language.
[[nodiscard]] bool runs(const DeviceFacts& device, const Language& language);
/// The language whose device this id means, by the part before ':'; null for test devices and unknown ones.
[[nodiscard]] const Language* language_of_device_id(std::string_view id);
/// The simulated device that stands in for a GPU of the architecture. The language must have a simulator.
[[nodiscard]] std::string_view simulated_device_for(const Language& language, std::string_view arch);

}  // namespace kw
