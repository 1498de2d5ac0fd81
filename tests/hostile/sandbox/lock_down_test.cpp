// lock_down(): what a driver still needs works, what a hostile kernel would want does not. Everything but lock-down is
// left out or weak here (tier none), so that it is lock-down alone that stops the act; the same act unlocked succeeds.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "host.hpp"

namespace kw::hostile {
namespace {

std::string outcome_of(std::vector<std::string> act, bool locked) {
  if (locked) act.insert(act.begin(), "locked");
  SandboxSpec spec = spec_for(std::move(act));
  spec.at_most = SandboxTier::none;
  return run(spec);
}

struct Case {
  std::vector<std::string> act;
  const char* locked;
  const char* unlocked;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.act.front();
}

class LockDown : public ::testing::TestWithParam<Case> {};

TEST_P(LockDown, stops_what_would_work_without_it) {
  const Case& act = GetParam();
  EXPECT_EQ(outcome_of(act.act, false), act.unlocked);
  EXPECT_EQ(outcome_of(act.act, true), act.locked);
}

INSTANTIATE_TEST_SUITE_P(acts, LockDown,
                         ::testing::Values(Case{{"fork"}, "EPERM", "done"}, Case{{"fork_by_clone3"}, "ENOSYS", "done"},
                                           Case{{"execute", "/usr/bin/true"}, "EPERM", "closed"},
                                           Case{{"write_outside", "written"}, "EPERM", "done"},
                                           Case{{"open_existing", "/dev/null"}, "EPERM", "done"},
                                           Case{{"write_with_stray_bits", "written"}, "EPERM", "done"},
                                           Case{{"write_by_openat2", "written"}, "ENOSYS", "done"}),
                         [](const auto& tested) { return tested.param.act.front(); });

TEST(lock_down, leaves_threads_signals_to_oneself_and_reading) {
  EXPECT_EQ(outcome_of({"thread"}, true), "done");
  EXPECT_EQ(outcome_of({"signal_self"}, true), "done");
  EXPECT_EQ(outcome_of({"read", "/etc/ld.so.cache"}, true), "done");
  EXPECT_EQ(outcome_of({"memory_bomb", "1"}, true), "done");
}

TEST(lock_down, leaves_a_gpus_driver_its_nodes_and_no_new_files) {
  const auto outcome = [](std::vector<std::string> act) {
    act.insert(act.begin(), "locked_for_gpu");
    SandboxSpec spec = spec_for(std::move(act));
    spec.at_most = SandboxTier::none;
    return run(spec);
  };
  EXPECT_EQ(outcome({"open_existing", "/dev/null"}), "done");
  EXPECT_EQ(outcome({"write_outside", "written"}), "EPERM");
  EXPECT_EQ(outcome({"execute", "/usr/bin/true"}), "EPERM");
  EXPECT_EQ(outcome({"serve", std::to_string(SOCK_SEQPACKET)}), "EPERM");
  // Where Landlock stands, an existing file that was not granted stays closed.
  SandboxSpec under_landlock = spec_for({"locked_for_gpu", "open_existing", "/etc/ld.so.cache"});
  under_landlock.at_most = SandboxTier::a;
  EXPECT_EQ(run(under_landlock), "EACCES");
}

TEST(lock_down, leaves_a_kernel_in_its_drivers_process_no_new_code_and_no_threads) {
  const auto outcome = [](const char* lock, const char* act) {
    SandboxSpec spec = spec_for({lock, act});
    spec.at_most = SandboxTier::none;
    return run(spec);
  };
  std::vector<const char*> acts = {"map_code",  "make_code", "catch_signal",
                                   "set_timer", "open_pipe", "leave_directory"};
#if !defined(KW_SANITIZED)  // which map at addresses themselves, and end the process when they cannot start a thread
  acts.insert(acts.end(), {"map_at_address", "bare_thread"});
#endif
  for (const char* act : acts) {
    EXPECT_EQ(outcome("locked_for_kernel", act), "EPERM") << act;
    EXPECT_EQ(outcome("locked", act), "done") << act;
  }
}

#if !defined(KW_SANITIZED)  // which make these calls themselves
TEST(lock_down, leaves_a_kernel_in_its_drivers_process_no_call_but_what_running_needs) {
  const auto outcome = [](std::vector<std::string> act) {
    SandboxSpec spec = spec_for(std::move(act));
    spec.at_most = SandboxTier::none;
    return run(spec);
  };
  for (const char* call : {"read",
                           "write_elsewhere",
                           "writev_elsewhere",
                           "receive_elsewhere",
                           "send_elsewhere",
                           "poll",
                           "ppoll",
                           "go_on_waiting",
                           "wait_for_a_time",
                           "move_waiters",
                           "lend_priority",
                           "read_another_clock",
                           "grow_heap",
                           "map",
                           "map_shared",
                           "map_near_an_address",
                           "unmap",
                           "give_back",
                           "advise_otherwise",
                           "mremap",
                           "close_pages_elsewhere",
                           "close_pages_behind",
                           "close_more_than_there_is",
                           "only_read",
                           "open_downwards",
                           "yield",
                           "sleep",
                           "sleep_by_a_clock",
                           "close",
                           "block_signals",
                           "signal_itself"}) {
    EXPECT_EQ(outcome({"locked_for_kernel", "make_call", call}), "EPERM") << call;
    const std::string before = outcome({"locked", "make_call", call});
    EXPECT_TRUE(before == "done" || std::string_view(call) == "open_downwards") << call << ": " << before;
  }
  EXPECT_EQ(outcome({"locked_for_kernel", "use_what_is_left"}), "done");
  EXPECT_EQ(outcome({"locked_for_kernel", "end_a_thread"}), "EPERM");
  // Nobody looks: what is asked for is said to be there.
  EXPECT_EQ(outcome({"locked_for_kernel", "ask_for_file"}), "done");
  EXPECT_EQ(outcome({"locked", "ask_for_file"}), "ENOENT");
}

/// The letter that the system has for what a process does: S sleeps, T is stopped.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

bool comes_to(pid_t pid, char state) {
  for (int i = 0; i < 2000 && state_of(pid) != state; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return state_of(pid) == state;
}

TEST(lock_down, lets_a_stopped_worker_go_on) {
  SandboxSpec spec = spec_for({"locked_for_kernel", "wait_to_be_told"});
  spec.at_most = SandboxTier::none;
  const auto process = start(spec);
  ASSERT_EQ(reported(*process), "waits");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(comes_to(process->pid(), 'S'));
    ASSERT_EQ(::kill(process->pid(), SIGSTOP), 0);
    ASSERT_TRUE(comes_to(process->pid(), 'T'));
    ASSERT_EQ(::kill(process->pid(), SIGCONT), 0);
  }
  ASSERT_TRUE(comes_to(process->pid(), 'S'));
  ASSERT_TRUE(process->send("go on"));
  EXPECT_EQ(reported(*process), "done");
}

TEST(lock_down, leaves_a_kernel_in_its_drivers_process_an_end_of_its_own) {
  SandboxSpec spec = spec_for({"locked_for_kernel", "give_up"});
  spec.at_most = SandboxTier::none;
  auto process = spawn_sandboxed(spec);
  ASSERT_TRUE(process) << process.error().to_string();
  const auto end = (*process)->finish(std::chrono::seconds(20));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->to_string(), "killed by signal 6 (SIGABRT)");
  EXPECT_NE((*process)->output().find("its last words"), std::string::npos) << (*process)->output();
}
#endif

#if !defined(KW_SANITIZED)  // whose reports read files
TEST(lock_down, leaves_a_kernel_in_its_drivers_process_no_files) {
  for (const char* lock : {"locked_for_kernel", "locked"}) {
    SandboxSpec spec = spec_for({lock, "read", "/usr/bin/true"});
    spec.at_most = SandboxTier::none;
    EXPECT_EQ(run(spec), std::string_view(lock) == "locked" ? "done" : "EPERM");
  }
}
#endif

TEST(lock_down, stops_acts_on_other_processes) {
  for (const char* act : {"signal", "trace", "slow_down", "starve"}) {
    const Bystander bystander;
    EXPECT_EQ(outcome_of({act, bystander.pid()}, true), "EPERM") << act;
    EXPECT_EQ(bystander.ended_by(), 0) << act;
  }
  const Bystander bystander;
  EXPECT_EQ(outcome_of({"slow_down", bystander.pid()}, false), "done");
  EXPECT_EQ(outcome_of({"signal", bystander.pid()}, false), "done");
}

TEST(lock_down, stops_the_network) {
  EXPECT_EQ(outcome_of({"connect", "1"}, true), "EPERM");
  EXPECT_EQ(outcome_of({"connect", "1"}, false), "ECONNREFUSED");
}

}  // namespace
}  // namespace kw::hostile
