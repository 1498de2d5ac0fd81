// Nothing that a sandboxed program started survives it, and nothing survives the host.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/unique_fd.hpp"
#include "host.hpp"

namespace kw::hostile {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read_end = UniqueFd(ends[0]);
    write_end = UniqueFd(ends[1]);
  }
  /// Whether all who held the write end are gone, waiting for them at most so long.
  [[nodiscard]] bool hangs_up_within(int milliseconds) const {
    pollfd entry{read_end.get(), POLLIN, 0};
    return ::poll(&entry, 1, milliseconds) == 1 && (entry.revents & POLLHUP) != 0;
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

constexpr int k_long_ms = 10'000;
constexpr int k_short_ms = 200;

bool daemon_dies_with_its_program(SandboxTier tier, const std::vector<SandboxLayer>& without, int timeout_ms) {
  Pipe alive;
  Pipe leash;
  SandboxSpec spec = spec_for({"setsid_daemon"});
  spec.inherited = {alive.write_end.get(), leash.read_end.get()};
  spec.at_most = tier;
  spec.without = exempt(without);
  const auto process = start(spec);
  alive.write_end.reset();
  EXPECT_EQ(reported(*process), "done");
  process->kill();
  return alive.hangs_up_within(timeout_ms);
}

TEST(survivors, a_daemon_in_its_own_session_dies_with_the_program_at_every_tier) {
  for (const SandboxTier tier : {SandboxTier::none, SandboxTier::a, SandboxTier::b, SandboxTier::c}) {
    EXPECT_TRUE(daemon_dies_with_its_program(tier, {}, k_long_ms)) << to_string(tier);
  }
}

TEST(survivors, without_reaping_a_daemon_survives) {
  EXPECT_FALSE(daemon_dies_with_its_program(SandboxTier::a, {SandboxLayer::reaping}, k_short_ms));
}

TEST(survivors, without_reaping_the_pid_namespace_still_ends_it) {
  KW_NEEDS_TIER(SandboxTier::b);
  EXPECT_TRUE(daemon_dies_with_its_program(SandboxTier::b, {SandboxLayer::reaping}, k_long_ms));
}

std::ptrdiff_t entries(const std::filesystem::path& directory) {
  return std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator());
}

// A host of its own that starts a program and is killed.
class KilledHost {
 public:
  KilledHost(SandboxTier tier, Pipe& alive, const std::filesystem::path& temporary) {
    Pipe ready;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("TMPDIR", temporary.c_str(), 1);
      SandboxSpec spec = spec_for({"hang"});
      spec.inherited = {alive.write_end.get()};
      spec.at_most = tier;
      const auto process = start(spec);
      alive.write_end.reset();
      ready.write_end.reset();
      for (;;) ::pause();
    }
    ready.write_end.reset();
    alive.write_end.reset();
    EXPECT_TRUE(ready.hangs_up_within(k_long_ms));
  }
  void kill() const {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

TEST(survivors, a_hanging_program_dies_when_its_host_is_killed_and_leaves_no_directory) {
  // The orphaned supervisor comes to this process, so its end can be waited for.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (const SandboxTier tier : {SandboxTier::a, SandboxTier::b, SandboxTier::c}) {
    const Canary temporary;
    const std::filesystem::path directory = temporary.file().parent_path();
    Pipe alive;
    const KilledHost host(tier, alive, directory);
    EXPECT_FALSE(alive.hangs_up_within(0)) << to_string(tier);
    EXPECT_EQ(entries(directory), 2) << "the canary and the private directory";
    host.kill();
    EXPECT_TRUE(alive.hangs_up_within(k_long_ms)) << to_string(tier);
    EXPECT_GT(::waitpid(-1, nullptr, __WALL), 0) << to_string(tier);
    EXPECT_EQ(entries(directory), 1) << to_string(tier);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(survivors, a_hundred_programs_leave_no_process_directory_or_descriptor_behind) {
  const auto open_descriptors = [] { return entries("/proc/self/fd"); };
  ASSERT_EQ(run(spec_for({"nothing"})), "done");
  const auto before = open_descriptors();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(run(spec_for({"nothing"})), "done");
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, __WALL | WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace kw::hostile
