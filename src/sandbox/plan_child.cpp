#include "sandbox/plan_child.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sandbox/system_calls.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

// A sanitizer reserves terabytes of address space, so that limit would end every instrumented program at once.
#ifdef KW_SANITIZED
constexpr bool k_address_space_can_be_limited = false;
#else
constexpr bool k_address_space_can_be_limited = true;
#endif

// Threads and processes the user runs already: RLIMIT_NPROC counts them all. Inside a new user namespace the count
// starts at zero, but whether there will be one is known only after clone, and a generous limit does no harm there,
// because the cgroup has its own.
std::int64_t tasks_of_user() {
  std::int64_t tasks = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream status(entry->path() / "status");
    bool ours = false;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Uid:")) ours = std::strtoul(line.c_str() + 4, nullptr, 10) == ::getuid();
      if (ours && line.starts_with("Threads:")) tasks += std::strtol(line.c_str() + 8, nullptr, 10);
    }
  }
  return tasks;
}

PlannedLimit limit(int resource, std::int64_t value, std::int64_t grace = 0) {
  return {resource, {static_cast<rlim_t>(value), static_cast<rlim_t>(value + grace)}};
}

std::vector<PlannedLimit> plan_limits(const SandboxSpec& spec) {
  std::vector<PlannedLimit> limits{
      limit(RLIMIT_CPU, spec.limits.cpu_seconds, 1),
      limit(RLIMIT_FSIZE, spec.limits.file_bytes),
      limit(RLIMIT_CORE, 0),
      limit(RLIMIT_NOFILE, 1024),
      limit(RLIMIT_MSGQUEUE, 0),
      limit(RLIMIT_RTPRIO, 0),
      limit(RLIMIT_NICE, 0),
  };
  // User 0 is exempt from this one, so it is not worth counting for.
  if (::getuid() != 0) limits.push_back(limit(RLIMIT_NPROC, spec.limits.processes + tasks_of_user()));
  // A GPU driver reserves address space as large as all the machine's memory; there only the cgroup limits memory.
  if (spec.devices.empty() && k_address_space_can_be_limited) {
    limits.push_back(limit(RLIMIT_AS, spec.limits.memory_bytes));
  }
  return limits;
}

// The interpreter that execve opens on the program's behalf (the dynamic loader); empty for a static program.
std::string interpreter_of(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  if (std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG) != ELFMAG) return {};
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff) + i * static_cast<std::streamoff>(sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return {};
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > 4096) continue;
    std::string name(segment.p_filesz - 1, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    return file.read(name.data(), static_cast<std::streamsize>(name.size())) ? name : std::string();
  }
  return {};
}

std::vector<std::string> plan_environment(const SandboxSpec& spec, const fs::path& private_directory) {
  std::vector<std::string> environment;
  if (!has_layer(spec, SandboxLayer::environment)) {
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  }
  environment.emplace_back("PATH=/usr/bin:/bin");
  for (const char* name : {"TMPDIR", "HOME", "XDG_CACHE_HOME"}) {
    const bool given = std::any_of(spec.environment.begin(), spec.environment.end(),
                                   [name](const auto& variable) { return variable.first == name; });
    if (!given) environment.push_back(fmt::format("{}={}", name, private_directory.string()));
  }
  for (const auto& [name, value] : spec.environment) environment.push_back(name + "=" + value);
  return environment;
}

Sockets sockets_of(const SandboxSpec& spec) {
  if (!has_layer(spec, SandboxLayer::tool_calls)) return Sockets::calling;
  return spec.devices.empty() ? Sockets::none : Sockets::listening;
}

}  // namespace

bool has_layer(const SandboxSpec& spec, SandboxLayer layer) {
  if (layer == SandboxLayer::cgroup && spec.at_most < SandboxTier::c) return false;
  if (layer == SandboxLayer::namespaces && spec.at_most < SandboxTier::b) return false;
  const bool of_tier_a = layer == SandboxLayer::capabilities || layer == SandboxLayer::landlock ||
                         layer == SandboxLayer::system_calls || layer == SandboxLayer::limits;
  if (of_tier_a && spec.at_most < SandboxTier::a) return false;
  return std::none_of(spec.without.begin(), spec.without.end(),
                      [layer](const SandboxExemption& exemption) { return exemption.layer() == layer; });
}

LandlockPlan plan_paths(const SandboxSpec& spec, const fs::path& private_directory) {
  LandlockPlan plan;
  // The build profile runs the compiler's linker and assembler; the run profile executes the worker and its loader.
  // Mapping a library to run it needs only the right to read.
  const PathAccess system = spec.profile == SandboxProfile::build ? PathAccess::read_execute : PathAccess::read;
  if (spec.system.empty()) {
    for (const char* path : {"/usr", "/lib", "/lib64", "/lib32", "/bin"}) plan.rules.push_back({path, system});
  }
  for (const fs::path& path : spec.system) plan.rules.push_back({path.string(), PathAccess::read});
  for (const char* path : {"/etc/OpenCL", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf",
                           "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/localtime", "/sys/devices/system",
                           "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems",
                           "/proc/sys/vm/overcommit_memory", "/dev/urandom", "/dev/random", "/dev/zero"}) {
    plan.rules.push_back({path, PathAccess::read});
  }
  plan.rules.push_back({spec.program.string(), PathAccess::read_execute});
  if (std::string loader = interpreter_of(spec.program); !loader.empty()) {
    plan.rules.push_back({std::move(loader), PathAccess::read_execute});
  }
  // Libraries that came with the program lie beside its folder (tools/gpu/prebuild.sh).
  plan.rules.push_back({(spec.program.parent_path().parent_path() / "lib").string(), PathAccess::read});
  for (const fs::path& path : spec.readable) plan.rules.push_back({path.string(), PathAccess::read});
  for (const fs::path& path : spec.executable) plan.rules.push_back({path.string(), system});
  plan.rules.push_back({private_directory.string(), PathAccess::read_write});
  plan.rules.push_back({"/dev/null", PathAccess::device});
  for (const fs::path& path : spec.devices) plan.rules.push_back({path.string(), PathAccess::device});
  // A GPU's driver names its threads, and gives up where it cannot. What it may write there is its own; lock_down takes
  // the right to open anything for writing.
  if (!spec.devices.empty()) plan.rules.push_back({"/proc/self/task", PathAccess::read_write});
  return plan;
}

Result<ChildPlan> plan_child(const SandboxSpec& spec, const fs::path& private_directory) {
  ChildPlan plan;
  std::error_code error;
  const fs::path program = fs::canonical(spec.program, error);
  if (error) return fail(errc::sandbox_failed, "cannot start {}: {}", spec.program.string(), error.message());
  if (spec.inherited.size() > k_max_inherited) {
    return fail(errc::sandbox_failed, "{} descriptors are too many to inherit; {} is the most", spec.inherited.size(),
                k_max_inherited);
  }
  plan.program = program.string();
  plan.arguments.push_back(plan.program);
  plan.arguments.insert(plan.arguments.end(), spec.arguments.begin(), spec.arguments.end());
  plan.environment = plan_environment(spec, private_directory);
  plan.close_others = has_layer(spec, SandboxLayer::descriptors);
  if (has_layer(spec, SandboxLayer::limits)) plan.limits = plan_limits(spec);
  plan.drop_privileges = has_layer(spec, SandboxLayer::capabilities);
  plan.reap = has_layer(spec, SandboxLayer::reaping);
  plan.use_landlock = has_layer(spec, SandboxLayer::landlock);
  if (plan.use_landlock) plan.landlock = plan_paths(spec, private_directory);
  plan.landlock.governs_paths = has_layer(spec, SandboxLayer::tool_paths);
  if (has_layer(spec, SandboxLayer::system_calls)) {
    KW_TRY(plan.filters, base_filters(sockets_of(spec)));
  }
  plan.user_map = fmt::format("{0} {0} 1\n", ::geteuid());
  plan.group_map = fmt::format("{0} {0} 1\n", ::getegid());
  plan.private_directory = private_directory.string();
  plan.private_mount_options = fmt::format("size={},nr_inodes=16384,mode=700", spec.limits.file_bytes);
  return plan;
}

}  // namespace kw
