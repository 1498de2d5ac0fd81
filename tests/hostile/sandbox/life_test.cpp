// A sandboxed process from start to end: frames, deadlines, how it ended, what is left of it.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "host.hpp"

namespace kw::hostile {
namespace {

TEST(sandboxed_process, a_program_runs_and_its_exit_status_comes_back) {
  const auto process = start(spec_for({"nothing"}));
  EXPECT_EQ(reported(*process), "done");
  EXPECT_EQ(reported(*process), "closed");
  EXPECT_EQ(process->kill().to_string(), "exited with status 0");
}

/// A field of /proc/PID/NAME, which words separate; counted from 0.
std::string word_of(const std::string& pid, const std::string& name, int field) {
  std::ifstream file("/proc/" + pid + "/" + name);
  std::string word;
  for (int i = 0; i <= field; ++i) file >> word;
  return word;
}

/// What a process between host and program shares with the host, each of them copies when it writes to it.
TEST(sandboxed_process, has_a_supervisor_that_knows_nothing_of_the_hosts_memory) {
  constexpr std::size_t k_bytes = std::size_t{256} << 20;
  const std::vector<char> memory(k_bytes, 'x');
  const auto process = start(spec_for({"hang"}));
  const std::string supervisor = word_of(std::to_string(process->pid()), "stat", 3);
  EXPECT_EQ(word_of(supervisor, "comm", 0), "kernelwright-su");
  const auto resident_pages = std::stoll(word_of(supervisor, "statm", 1));
  EXPECT_LT(resident_pages * ::sysconf(_SC_PAGESIZE), static_cast<long long>(k_bytes));
  EXPECT_EQ(memory[k_bytes / 2], 'x');
}

TEST(sandboxed_process, ends_in_a_host_that_reaps_every_child) {
  const auto process = start(spec_for({"nothing"}));
  EXPECT_EQ(reported(*process), "done");
  EXPECT_EQ(reported(*process), "closed");
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGCHLD, &ignore, &before), 0);
  EXPECT_EQ(process->kill().to_string(), "exited with status 0");
  EXPECT_EQ(run(spec_for({"nothing"})), "done");
  ASSERT_EQ(::sigaction(SIGCHLD, &before, nullptr), 0);
}

TEST(sandboxed_process, frames_of_many_sizes_come_back_unchanged) {
  const auto process = start(spec_for({"echo"}));
  for (const std::size_t bytes : {0U, 1U, 3U, 4U, 5U, 4096U, 3U << 20}) {
    const std::string payload(bytes, 'x');
    // The echo starts only when all of it has arrived, so a blocking send cannot lock both up.
    ASSERT_TRUE(process->send(payload)) << bytes;
    EXPECT_EQ(reported(*process), payload) << bytes;
  }
}

TEST(sandboxed_process, a_hanging_program_costs_its_deadline_and_no_more) {
  const auto process = start(spec_for({"hang"}));
  EXPECT_EQ(reported(*process, std::chrono::milliseconds(50)), "timed out");
  EXPECT_EQ(process->kill().to_string(), "killed by signal 9 (SIGKILL)");
  EXPECT_EQ(::kill(process->pid(), 0), -1);
}

TEST(sandboxed_process, the_signal_that_ended_it_comes_back) {
  for (const auto& [act, expected] :
       {std::pair{"crash", "killed by signal 11 (SIGSEGV)"}, std::pair{"abort", "killed by signal 6 (SIGABRT)"}}) {
    const auto process = start(spec_for({act}));
    EXPECT_EQ(reported(*process), "closed") << act;
    EXPECT_EQ(process->kill().to_string(), expected);
  }
}

TEST(sandboxed_process, an_exit_status_comes_back_at_every_tier) {
  for (const SandboxTier tier : {SandboxTier::none, SandboxTier::a, SandboxTier::b, SandboxTier::c}) {
    SandboxSpec spec = spec_for({"exit", "7"});
    spec.at_most = tier;
    const auto process = start(spec);
    EXPECT_EQ(reported(*process), "closed");
    EXPECT_EQ(process->kill().to_string(), "exited with status 7") << to_string(tier);
  }
}

TEST(sandboxed_process, its_private_directory_is_its_own_and_the_host_can_look_into_it) {
  for (const SandboxTier tier : {SandboxTier::a, SandboxTier::b, SandboxTier::c}) {
    SandboxSpec spec = spec_for({"private_directory"});
    spec.at_most = tier;
    const auto process = start(spec);
    EXPECT_EQ(reported(*process), "done") << to_string(tier);
    EXPECT_TRUE(std::filesystem::exists(process->private_directory() / "made")) << to_string(tier);
  }
}

TEST(sandboxed_process, its_private_directory_is_removed_with_it) {
  const Canary temporary;
  const std::filesystem::path directory = temporary.file().parent_path();
  ::setenv("TMPDIR", directory.c_str(), 1);
  const auto entries = [&] {
    return std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator());
  };
  for (const SandboxTier tier : {SandboxTier::a, SandboxTier::c}) {
    SandboxSpec spec = spec_for({"private_directory"});
    spec.at_most = tier;
    auto process = start(spec);
    EXPECT_EQ(reported(*process), "done") << to_string(tier);
    EXPECT_EQ(entries(), 2) << to_string(tier);
    process.reset();
    EXPECT_EQ(entries(), 1) << to_string(tier);
  }
  ::unsetenv("TMPDIR");
}

TEST(sandboxed_process, what_it_prints_is_kept_up_to_a_limit_and_never_blocks_it) {
  const auto process = start(spec_for({"speak", "5"}));
  EXPECT_EQ(reported(*process), "done");
  EXPECT_EQ(process->output(), "sssss");
  const auto loud = start(spec_for({"speak", "10000000"}));
  EXPECT_EQ(reported(*loud), "done");
  EXPECT_EQ(static_cast<std::int64_t>(loud->output().size()), k_kept_output_bytes);
}

TEST(sandboxed_process, inherited_descriptors_arrive_in_order_from_four_on) {
  const UniqueFd file(::memfd_create("inherited", MFD_CLOEXEC));
  for (const auto& [number, expected] : {std::pair{"3", "done"}, {"4", "done"}, {"5", "done"}, {"6", "EBADF"}}) {
    SandboxSpec spec = spec_for({"use_descriptor", number});
    spec.inherited = {file.get(), file.get()};
    EXPECT_EQ(run(spec), expected) << number;
  }
}

TEST(sandboxed_process, it_outlives_the_thread_that_started_it) {
  std::unique_ptr<SandboxedProcess> process;
  std::thread([&] { process = start(spec_for({"echo"})); }).join();
  ASSERT_TRUE(process->send("still here"));
  EXPECT_EQ(reported(*process), "still here");
}

TEST(sandboxed_process, a_program_that_does_not_exist_is_refused_by_name) {
  SandboxSpec spec;
  spec.program = "/nowhere/program";
  const auto process = spawn_sandboxed(spec);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, errc::sandbox_failed);
  EXPECT_EQ(process.error().message, "cannot start /nowhere/program: No such file or directory");
}

TEST(sandboxed_process, a_program_that_cannot_be_executed_is_refused_with_the_step) {
  SandboxSpec spec;
  spec.program = "/etc/ld.so.cache";
  const auto process = spawn_sandboxed(spec);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, errc::sandbox_failed);
  EXPECT_EQ(process.error().message, "executing the program was refused: Permission denied");
}

}  // namespace
}  // namespace kw::hostile
