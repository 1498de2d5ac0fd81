#include "device/sim/compile.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <span>
#include <system_error>

#include "base/file_system.hpp"
#include "device/build_steps.hpp"
#include "device/sim/candidate_text.hpp"
#include "device/sim/child_program.hpp"
#include "device/sim/elf_object.hpp"
#include "device/sim/entry_text.hpp"
#include "device/sim/instrumentation.hpp"
#include "device/sim/program.hpp"
#include "device/sim/runtime_text.hpp"
#include "device/sim/sim_language.hpp"
#include "language/c_names.hpp"
#include "language/kernel_headers.hpp"

namespace kw::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_object_bytes = std::size_t{32} << 20;
constexpr std::size_t k_most_table_bytes = std::size_t{64} << 20;

std::optional<std::string> write(const fs::path& path, std::string_view text) {
  RealFileSystem files;
  if (auto written = files.write_atomic(path, std::string(text)); !written) return written.error().message;
  return std::nullopt;
}

/// The simulator's own headers hold what a candidate may name; those that it includes by name are empty or few names.
std::optional<std::string> write_headers(const fs::path& directory) {
  std::vector<std::string_view> headers(k_c_headers.begin(), k_c_headers.end());
  for (const Language* language : languages()) {
    if (language->simulator) headers.insert(headers.end(), language->headers.begin(), language->headers.end());
  }
  for (const std::string_view header : headers) {
    std::error_code error;
    fs::create_directories((directory / header).parent_path(), error);
    if (auto failure = write(directory / header, "")) return failure;
  }
  for (const RuntimeFile& file : runtime_files()) {
    if (auto failure = write(directory / file.name, file.text)) return failure;
  }
  return write(directory / "c_names.cuh", k_c_names);
}

std::vector<std::string> target_options(const fs::path& directory) {
  // The last two: what some distributions' compilers add unasked calls functions that no kernel may call.
  return {"-I" + directory.string(),
          "-std=c++20",
          "-fPIC",
          "-fno-exceptions",
          "-fno-rtti",
          "-nostdinc",
          "-fvisibility=hidden",
          "-w",
          "-ffp-contract=off",
          "-fno-stack-protector",
          "-fcf-protection=none"};
}

std::vector<std::string> instrumentation(bool clang) {
  if (clang) {
    return {"-fsanitize=thread,alignment",        "-mllvm",
            "-tsan-instrument-func-entry-exit=0", "-mllvm",
            "-tsan-distinguish-volatile=1",       "-fno-caret-diagnostics"};
  }
  return {"-fsanitize=thread,alignment",
          "--param=tsan-instrument-func-entry-exit=0",
          "--param=tsan-distinguish-volatile=1",
          "-fno-extern-tls-init",
          "-fno-diagnostics-show-caret",
          "-mtls-dialect=gnu2",
          "-fno-thread-jumps"};
}

/// "-D__gfx942__=1", "-D__CUDA_ARCH__=900".
std::string arch_definition(const SimulatorDialect& language, std::string_view arch) {
  if (language.arch_macro.find("{}") != std::string_view::npos) {
    return fmt::format("-D{}=1", fmt::format(fmt::runtime(language.arch_macro), arch));
  }
  std::string digits;
  std::ranges::copy_if(arch, std::back_inserter(digits), [](unsigned char c) { return std::isdigit(c) != 0; });
  return fmt::format("-D{}={}0", language.arch_macro, digits);
}

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

std::string find_host_compiler() {
  for (const char* path : {"/usr/bin/g++", "/usr/bin/clang++"}) {
    std::error_code error;
    if (fs::exists(path, error)) return path;
  }
  return "";
}

std::optional<std::string> Compiler::prepare() {
  if (!program_.empty()) return std::nullopt;
  const std::string found = find_host_compiler();
  if (found.empty()) {
    return "the simulator compiles kernels with the machine's C++ compiler and found none: apt-get install g++";
  }
  clang_ = found.find("clang") != std::string::npos;
  if (auto failure = write_headers(directory_)) return failure;
  std::vector<std::string> command{
      found, "-x", "c++", "-O2", "-c", (directory_ / "glue.cuh").string(), "-o", (directory_ / "glue.o").string()};
  append(command, target_options(directory_));
  // Its memcpy must not become a call of memcpy.
  command.emplace_back("-fno-builtin");
  if (!clang_) command.emplace_back("-fno-tree-loop-distribute-patterns");
  const auto end = run_program(command, k_max_log_bytes);
  if (!end) return end.error().message;
  if (end->status != 0) return "the simulator's own code does not compile with " + found + ":\n" + end->output;
  program_ = found;
  return std::nullopt;
}

bool Compiler::run(const std::vector<std::string>& command, std::string_view source_name, BuildReply& reply) {
  const auto end = run_program(command, k_max_log_bytes);
  if (!end) {
    refuse(reply, BuildStatus::resource, end.error().message);
    return false;
  }
  reply.log += end->output;
  if (end->status == 0) return true;
  const Diagnosis diagnosis = diagnose(end->output, source_name);
  refuse(reply, diagnosis.status, diagnosis.text);
  return false;
}

bool Compiler::preprocess(const BuildRequest& request, const DeviceFacts& device, BuildReply& reply) {
  const SimulatorDialect& language = dialect_of(device);
  std::vector<std::string> command{
      program_, "-E", "-x", "c++", "-include", path(language.prelude), path("kernel.cpp"), "-o", path("kernel.ii")};
  append(command, candidate_options());
  command.push_back(fmt::format("-DKW_SIM_LANES={}", lanes_of(device)));
  if (device.gpu) command.push_back(arch_definition(language, device.gpu->arch));
  const auto definitions = definition_options(request);
  if (!definitions) {
    refuse(reply, BuildStatus::source_error, definitions.error().message);
    return false;
  }
  append(command, *definitions);
  const std::string text =
      fmt::format("{}\n#line 1 \"{}\"\n{}\n#line 1 \"{}\"\n{}\n{}", k_candidate_begins, language.source_name,
                  request.source, k_entries_name, k_candidate_ends, entry_text(request.launches));
  if (auto failure = write(path("kernel.cpp"), text)) {
    refuse(reply, BuildStatus::resource, *failure);
    return false;
  }
  return run(command, language.source_name, reply);
}

std::optional<std::string> Compiler::compile(const BuildRequest& request, const DeviceFacts& device,
                                             BuildReply& reply) {
  if (!preprocess(request, device, reply)) return std::nullopt;
  const RealFileSystem files;
  const auto text = files.read(path("kernel.ii"), k_most_object_bytes);
  if (!text) {
    refuse(reply, BuildStatus::resource, text.error().message);
    return std::nullopt;
  }
  if (const auto found = forbidden_in_candidate(*text)) {
    refuse(reply, BuildStatus::forbidden,
           fmt::format("error: the source uses {}, with which a kernel could escape the simulator (docs/cuda.md)",
                       *found));
    return std::nullopt;
  }
  // The very text that was looked through.
  std::vector<std::string> command{program_,          "-x", "c++-cpp-output", "-O1", "-g1", "-c",
                                   path("kernel.ii"), "-o", path("kernel.o")};
  append(command, candidate_options());
  // An access of a vector is to be one, as on a GPU, and not one of each element; and basic blocks are announced, for
  // branches to be counted. It costs speed.
  if (request.counting == Counting::accesses && !clang_) {
    append(command, {"-fno-tree-sra", "-fsanitize-coverage=trace-pc"});
  }
  if (!run(command, dialect_of(device).source_name, reply)) return std::nullopt;
  auto object = files.read(path("kernel.o"), k_most_object_bytes);
  if (!object) {
    refuse(reply, BuildStatus::resource, object.error().message);
    return std::nullopt;
  }
  if (const auto found = uninstrumented(*object)) {
    refuse(reply, BuildStatus::forbidden, fmt::format("error: the compiled kernel {}", *found));
    return std::nullopt;
  }
  return *std::move(object);
}

std::vector<std::string> Compiler::candidate_options() const {
  // Compilers write the code of these where they are called, and without instrumentation.
  constexpr auto k_copies = std::to_array<std::string_view>(
      {"memcpy", "memmove", "memset", "mempcpy", "memccpy", "memchr",  "memcmp", "bcopy",
       "bzero",  "bcmp",    "strlen", "strnlen", "strcpy",  "strncpy", "stpcpy", "stpncpy",
       "strcat", "strncat", "strcmp", "strncmp", "strchr",  "strrchr"});
  std::vector<std::string> options = target_options(directory_);
  for (const std::string_view name : k_copies) options.push_back(fmt::format("-fno-builtin-{}", name));
  append(options, instrumentation(clang_));
  return options;
}

std::string Compiler::path(std::string_view name) const {
  return (directory_ / name).string();
}

bool Compiler::link(const std::string& object, std::string_view source_name, BuildReply& reply) {
  const ObjectFacts facts = read_object(object);
  if (auto failure = write(path("shared.s"), shared_memory_text(facts.shared_arrays, k_dynamic_shared_bytes))) {
    refuse(reply, BuildStatus::resource, *failure);
    return false;
  }
  const auto linked = run_program({program_, "-shared", "-nostdlib", "-Wl,-Bsymbolic", path("kernel.o"), path("glue.o"),
                                   path("shared.s"), "-lm", "-lc", "-lgcc", "-o", path("kernel.so")},
                                  k_max_log_bytes);
  if (!linked || linked->status != 0) {
    refuse(reply, BuildStatus::source_error,
           "the program does not link: " + (linked ? linked->output : linked.error().message));
    return false;
  }
  const auto table =
      run_program({"/usr/bin/objdump", "--dwarf=decodedline", "--wide", path("kernel.so")}, k_most_table_bytes);
  const RealFileSystem files;
  auto shared_object = files.read(directory_ / "kernel.so", k_most_object_bytes);
  if (!shared_object) {
    refuse(reply, BuildStatus::resource, shared_object.error().message);
    return false;
  }
  Program program{*std::move(shared_object), {}};
  if (table && table->status == 0) program.lines = parse_line_table(table->output, source_name);
  reply.binary = encode(program);
  return true;
}

BuildReply Compiler::build(const BuildRequest& request, const DeviceFacts& device) {
  const auto begin = std::chrono::steady_clock::now();
  BuildReply reply;
  if (auto failure = prepare()) {
    refuse(reply, BuildStatus::source_error, *failure);
  } else if (const auto object = compile(request, device, reply)) {
    const Diagnosis problem = check_object(read_object(*object), request.launches, device);
    if (problem.status != BuildStatus::ok) {
      refuse(reply, problem.status, problem.text);
    } else if (link(*object, dialect_of(device).source_name, reply)) {
      reply.shared_bytes = shared_bytes(read_object(*object), request.launches);
    }
  }
  if (reply.log.size() > k_max_log_bytes) reply.log.resize(k_max_log_bytes);
  reply.build_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  return reply;
}

}  // namespace kw::sim
