// What the directives do to a process, each in a process of its own.

#include "device/null/effects.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <functional>

#include "base/testing/scratch_directory.hpp"
#include "base/unique_fd.hpp"

namespace kw::null_effects {
namespace {

/// How a child ends that does this, as waitpid() tells it; status 99 when it comes back.
int end_of(const std::function<void()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    act();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

bool killed_by(int status, int signal) {
  return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

TEST(NullEffects, hang_burns_processor_time_until_it_is_killed) {
  const int status = end_of([] {
    const itimerval ten_milliseconds_of_work{{0, 0}, {0, 10'000}};
    ::setitimer(ITIMER_PROF, &ten_milliseconds_of_work, nullptr);
    hang();
  });
  EXPECT_TRUE(killed_by(status, SIGPROF)) << status;
}

std::array<int, 2> woken{-1, -1};

void wake(int) {
  const char byte = 'w';
  [[maybe_unused]] const ssize_t written = ::write(woken[1], &byte, 1);
}

TEST(NullEffects, sleep_until_killed_outlasts_every_other_signal) {
  ASSERT_EQ(::pipe(woken.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGUSR1, wake);
    wake(0);  // the handler is there
    sleep_until_killed();
  }
  ::close(woken[1]);
  char byte = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(::read(woken[0], &byte, 1), 1) << "the child has ended after " << i << " signals";
    if (i < 2) ::kill(child, SIGUSR1);
  }
  ::close(woken[0]);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(killed_by(status, SIGKILL)) << status;
}

TEST(NullEffects, crash_is_a_segmentation_fault) {
  const int status = end_of([] {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit status of it
    crash();
  });
  EXPECT_TRUE(killed_by(status, SIGSEGV)) << status;
}

TEST(NullEffects, spin_comes_back) {
  EXPECT_EQ(WEXITSTATUS(end_of([] { spin(1); })), 99);
}

TEST(NullEffects, allocate_touches_what_it_takes) {
  EXPECT_EQ(allocate(1 << 20), std::nullopt);
}

TEST(NullEffects, fork_children_starts_as_many_as_it_was_told) {
  ASSERT_EQ(::pipe(woken.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setpgid(0, 0);
    ::close(woken[0]);
    ::_exit(fork_children(3) ? 1 : 0);
  }
  ::close(woken[1]);
  int status = 0;
  ::waitpid(parent, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // They hold the pipe's other end open, and are in the group of their parent.
  EXPECT_EQ(::kill(-parent, 0), 0) << "no child is there";
  EXPECT_EQ(::kill(-parent, SIGKILL), 0);
  char byte = 0;
  EXPECT_EQ(::read(woken[0], &byte, 1), 0) << "the end of file comes when the last of them is gone";
  ::close(woken[0]);
}

TEST(NullEffects, execute_becomes_the_other_program_or_says_why_not) {
  EXPECT_EQ(WEXITSTATUS(end_of([] { execute("/bin/true"); })), 0);
  EXPECT_EQ(execute("/no/such/program"), "exec /no/such/program: No such file or directory");
}

TEST(NullEffects, write_file_makes_the_file_or_says_why_not) {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "written").string();
  EXPECT_EQ(write_file(file), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(write_file("/no/such/folder/x"), "write /no/such/folder/x: No such file or directory");
}

TEST(NullEffects, send_garbage_is_a_frame_that_no_message_can_be) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const UniqueFd host(ends[0]);
  const int status = end_of([&] {
    ::dup2(ends[1], 3);
    ::_exit(send_garbage() ? 1 : 0);
  });
  ::close(ends[1]);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::array<char, 16> bytes{};
  EXPECT_EQ(::recv(host.get(), bytes.data(), bytes.size(), 0), 9);
  EXPECT_EQ(bytes[0], 5) << "the announced length";
  EXPECT_EQ(bytes[4], '\xff') << "no message is of this kind";
}

TEST(NullEffects, send_garbage_says_when_there_is_no_host) {
  const int status = end_of([] {
    ::close(3);
    ::_exit(send_garbage() == "write to the host: Bad file descriptor" ? 0 : 1);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kw::null_effects
