// The host's side of the probe: lays out bait, starts the hostile child, checks effects itself, derives the tier.

#include "sandbox/probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

#include "base/text.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/private_directory.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr Duration k_answer_deadline = std::chrono::seconds(20);
constexpr Duration k_survivor_deadline = std::chrono::seconds(2);
constexpr mode_t k_canary_mode = 0600;

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

ProbeResult& result_of(SandboxReport& report, std::string_view attempt) {
  for (ProbeResult& result : report.probes) {
    if (result.attempt == attempt) return result;
  }
  report.probes.push_back({std::string(attempt), false, "the child ended before it tried"});
  return report.probes.back();
}

void overrule(SandboxReport& report, std::string_view attempt, bool stopped, std::string detail) {
  ProbeResult& result = result_of(report, attempt);
  result.stopped = stopped;
  result.detail = std::move(detail);
}

// The child's word, one frame per attempt, until it ends.
void listen(SandboxedProcess& child, SandboxReport& report) {
  std::string frame;
  while (child.receive(frame, k_answer_deadline) == SandboxedProcess::Received::frame) {
    auto result = decode_probe_result(frame);
    if (!result) return;
    report.probes.push_back(*std::move(result));
  }
}

// Must be asked while the child lives.
void check_namespaces(pid_t child, SandboxReport& report) {
  std::vector<std::string> shared;
  for (const char* kind : {"user", "pid", "net", "ipc", "uts", "mnt"}) {
    std::error_code error;
    const auto ours = fs::read_symlink(fmt::format("/proc/self/ns/{}", kind), error);
    const auto theirs = fs::read_symlink(fmt::format("/proc/{}/ns/{}", child, kind), error);
    if (error || ours == theirs) shared.emplace_back(kind);
  }
  overrule(report, probe::k_namespaces_apart, shared.empty(), shared.empty() ? "it has its own" : join(shared));
}

void check_files(const ProbeBait& bait, SandboxReport& report) {
  struct stat status {};
  if (::stat(bait.canary.c_str(), &status) != 0) {
    overrule(report, probe::k_remove, false, "the host's file is gone");
  } else if ((status.st_mode & 07777) != k_canary_mode) {
    overrule(report, probe::k_mode, false, "the mode has changed");
  }
  if (::access(bait.outside.c_str(), F_OK) == 0) {
    ::unlink(bait.outside.c_str());
    overrule(report, probe::k_create, false, "the file is there");
  }
}

// Every process of the child holds the pipe's other end; it hangs up when the last one is gone.
void check_survivors(const Pipe& pipe, SandboxReport& report) {
  pollfd entry{pipe.read_end.get(), POLLIN, 0};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(k_survivor_deadline).count();
  const bool gone = ::poll(&entry, 1, static_cast<int>(milliseconds)) == 1;
  overrule(report, probe::k_daemon, gone, gone ? "all are dead" : "a process survived");
}

bool all_stopped(SandboxReport& report, std::span<const std::string_view> attempts) {
  bool all = true;
  for (const std::string_view attempt : attempts) all &= result_of(report, attempt).stopped;
  return all;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string advice_on_namespaces() {
  if (first_line("/proc/sys/user/max_user_namespaces") == "0") {
    return "user namespaces are switched off: sysctl user.max_user_namespaces=10000";
  }
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    return "user namespaces need a privilege here: sysctl kernel.unprivileged_userns_clone=1";
  }
  if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "AppArmor refuses user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile for "
           "this program that allows userns";
  }
  return "namespaces are refused, as containers do by default: start the container with --security-opt "
         "seccomp=unconfined --security-opt apparmor=unconfined";
}

std::string advice_on_cgroup() {
  const auto group = Cgroup::create(fmt::format("kernelwright-advice-{}", ::getpid()), SandboxLimits{});
  const std::string reason = group ? "a group can be made, but it did not stop the child" : group.error().message;
  return fmt::format("no cgroup limits ({}): run as root, or under systemd-run --user --scope -p Delegate=yes", reason);
}

void derive_tier(SandboxReport& report, SandboxTier at_most) {
  const bool a = all_stopped(report, probe::k_of_tier_a);
  const bool b = all_stopped(report, probe::k_of_tier_b);
  const bool c = all_stopped(report, probe::k_of_tier_c);
  if (a) report.tier = c && b ? SandboxTier::c : b ? SandboxTier::b : SandboxTier::a;
  report.tier = std::min(report.tier, at_most);
  if (!a && landlock_abi() == 0) {
    report.missing.emplace_back("Landlock is missing: Linux 5.13 or later, with landlock in the boot option lsm=");
  }
  for (const ProbeResult& result : report.probes) {
    const bool of_a =
        std::find(probe::k_of_tier_a.begin(), probe::k_of_tier_a.end(), result.attempt) != probe::k_of_tier_a.end();
    if (of_a && !result.stopped) {
      report.missing.push_back(fmt::format("the hostile child could {}: {}", result.attempt, result.detail));
    }
  }
  if (at_most < SandboxTier::c) {
    report.missing.push_back(fmt::format("tier {} is the most that was asked for", to_string(at_most)));
  }
  if (!b && at_most >= SandboxTier::b) report.missing.push_back(advice_on_namespaces());
  if (!c && at_most >= SandboxTier::c) report.missing.push_back(advice_on_cgroup());
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(errc::sandbox_failed, "cannot create a pipe: {}", std::strerror(errno));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<ProbeBait> lay_out_bait(const fs::path& directory, const SandboxSpec& spec) {
  ProbeBait bait;
  bait.canary = directory / "canary";
  bait.outside = directory / "outside";
  bait.host = ::getpid();
  bait.open_files = static_cast<std::int64_t>(4 + spec.inherited.size());
  bait.memory_bytes = spec.limits.memory_bytes;
  bait.processes = spec.limits.processes;
  const UniqueFd canary(::open(bait.canary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, k_canary_mode));
  if (!canary.valid() || ::write(canary.get(), "secret", 6) != 6) {
    return fail(errc::sandbox_failed, "cannot write {}: {}", bait.canary, std::strerror(errno));
  }
  return bait;
}

}  // namespace

Result<SandboxReport> probe_sandbox(const fs::path& worker_program, SandboxTier at_most) {
  remove_stale_private_directories();
  KW_TRY(const PrivateDirectory bait_directory, PrivateDirectory::create());
  KW_TRY(Pipe pipe, make_pipe());
  // Bait for the closing of descriptors: this one would survive execve by itself.
  const UniqueFd left_open(::memfd_create("bait", 0));

  SandboxSpec spec;
  spec.program = worker_program;
  spec.arguments = {"--probe"};
  // The child uses as much as that and half as much again, a third of a millisecond for each MiB. Itself it takes 20.
  spec.limits.memory_bytes = std::int64_t{96} << 20;
  spec.limits.processes = 32;
  spec.inherited = {pipe.write_end.get()};
  spec.at_most = at_most;
  KW_TRY(const ProbeBait bait, lay_out_bait(bait_directory.path(), spec));
  SandboxReport report;
  {
    KW_TRY(const auto child, spawn_sandboxed(spec));
    pipe.write_end.reset();
    check_namespaces(child->pid(), report);
    if (!child->send(bait.encode())) return fail(errc::sandbox_failed, "the probe's child does not listen");
    listen(*child, report);
    const ExitReport ended = child->kill();
    if (report.probes.size() < 2) {
      const std::string said = child->output();  // of the dynamic loader, for one, when a library is missing
      return fail(errc::sandbox_failed, "{} --probe did not work: {}{}", worker_program.string(), ended.to_string(),
                  said.empty() ? "" : "; it said: " + said);
    }
  }
  check_survivors(pipe, report);
  check_files(bait, report);
  derive_tier(report, at_most);
  return report;
}

Result<void> require_tier(const SandboxReport& report, SandboxTier required) {
  if (report.tier >= required) return {};
  Error error{errc::sandbox_tier, fmt::format("the sandbox reaches tier {} here, and tier {} is required",
                                              to_string(report.tier), to_string(required))};
  error.hint = join(report.missing, "; ");
  return fail(std::move(error));
}

}  // namespace kw
