// spawn_sandboxed: plans the launch, starts the supervisor with as many namespaces as are allowed, and wraps the
// result.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sandbox/cgroup.hpp"
#include "sandbox/frame_channel.hpp"
#include "sandbox/plan_child.hpp"
#include "sandbox/private_directory.hpp"
#include "sandbox/processor_time.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/supervisor_link.hpp"

namespace kw {
namespace {

// A child that does not read for so long is as good as gone; the host has better things to do than to wait for it.
constexpr Duration k_send_deadline = std::chrono::seconds(10);

class Process final : public SandboxedProcess {
 public:
  Process(SupervisorLink link, FrameChannel frames, UniqueFd output, PrivateDirectory directory, Cgroup group)
      : directory_(std::move(directory)),
        group_(std::move(group)),
        output_(std::move(output)),
        frames_(std::move(frames)),
        link_(std::move(link)) {
    if (link_.private_directory() >= 0) {
      inside_ = fmt::format("/proc/self/fd/{}", link_.private_directory());
    } else {
      inside_ = directory_.path();
    }
  }
  ~Process() override { end(); }

  bool send(std::string_view payload) override { return frames_.send(payload, k_send_deadline); }

  Received receive(std::string& payload, Duration deadline) override {
    switch (frames_.receive(payload, deadline)) {
      case FrameChannel::Received::frame:
        return Received::frame;
      case FrameChannel::Received::closed:
        return Received::closed;
      case FrameChannel::Received::timed_out:
        return Received::timed_out;
      case FrameChannel::Received::oversized:
        return Received::oversized;
    }
    return Received::closed;
  }

  std::optional<ExitReport> finish(Duration deadline) override {
    if (!ended_) {
      frames_.hang_up();
      if (!link_.wait(deadline)) return std::nullopt;
    }
    return kill();
  }

  ExitReport kill() override {
    const int status = end();
    ExitReport report;
    report.out_of_memory = memory_kills_ > 0;
    report.signalled = WIFSIGNALED(status);
    report.code = report.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    return report;
  }

  [[nodiscard]] pid_t pid() const override { return link_.program(); }
  [[nodiscard]] std::optional<Duration> processor_time() const override {
    return ended_ ? std::nullopt : processor_time_of(link_.program());
  }
  [[nodiscard]] const std::filesystem::path& private_directory() const override { return inside_; }

  [[nodiscard]] std::string output() const override {
    std::string text(static_cast<std::size_t>(k_kept_output_bytes), '\0');
    const ssize_t got = ::pread(output_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

 private:
  int end() {
    if (!ended_) {
      status_ = link_.end();
      group_.kill();
      memory_kills_ = group_.memory_kills();
      link_.release();
      frames_.close();
      ended_ = true;
    }
    return status_;
  }

  // In this order, so that the process is dead before its group and its directory are removed.
  PrivateDirectory directory_;
  Cgroup group_;
  std::filesystem::path inside_;
  UniqueFd output_;
  FrameChannel frames_;
  SupervisorLink link_;
  bool ended_ = false;
  int status_ = 0;
  std::int64_t memory_kills_ = 0;
};

tl::unexpected<Error> failed(std::string_view what) {
  return fail(errc::sandbox_failed, "cannot {}: {}", what, std::strerror(errno));
}

// A file in memory of fixed size for standard output and error: the child can neither make it grow nor block on it.
Result<UniqueFd> make_output() {
  UniqueFd output(::memfd_create("kernelwright-output", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!output.valid() || ::ftruncate(output.get(), k_kept_output_bytes) != 0 ||
      ::fcntl(output.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return failed("create a file in memory for the child's output");
  }
  return output;
}

struct SocketPair {
  UniqueFd host;
  UniqueFd child;
};

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return failed("create a socket pair");
  return SocketPair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<SupervisorLink> start(ChildPlan plan) {
  bool refused = false;
  auto link = SupervisorLink::start(plan, refused);
  if (link || !refused) return link;
  plan.namespaces = false;
  return SupervisorLink::start(plan, refused);
}

}  // namespace

std::string ExitReport::to_string() const {
  if (out_of_memory) return "killed for exceeding its memory limit";
  if (signalled) {
    const char* name = ::sigabbrev_np(code);
    return fmt::format("killed by signal {}{}", code, name == nullptr ? "" : fmt::format(" (SIG{})", name));
  }
  return fmt::format("exited with status {}", code);
}

Result<std::unique_ptr<SandboxedProcess>> spawn_sandboxed(const SandboxSpec& spec) {
  KW_TRY(PrivateDirectory directory, PrivateDirectory::create());
  KW_TRY(ChildPlan plan, plan_child(spec, directory.path()));
  KW_TRY(SocketPair sockets, make_socket_pair());
  KW_TRY(UniqueFd output, make_output());
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.valid()) return failed("open /dev/null");
  plan.descriptors = {nothing.get(), output.get(), output.get(), sockets.child.get()};
  plan.descriptors.insert(plan.descriptors.end(), spec.inherited.begin(), spec.inherited.end());
  // A machine without groups runs without; the probe has said so.
  Cgroup group;
  plan.namespaces = has_layer(spec, SandboxLayer::namespaces);
  plan.name = directory.path().filename();
  if (has_layer(spec, SandboxLayer::cgroup)) {
    if (auto made = Cgroup::create(plan.name, spec.limits)) group = *std::move(made);
  }
  plan.cgroup_directory = group.directory();
  plan.cgroup_members = group.members();
  plan.parents = group.parents();
  plan.parents.push_back(directory.parent());
  KW_TRY(SupervisorLink link, start(std::move(plan)));
  return std::make_unique<Process>(std::move(link), FrameChannel(std::move(sockets.host)), std::move(output),
                                   std::move(directory), std::move(group));
}

}  // namespace kw
