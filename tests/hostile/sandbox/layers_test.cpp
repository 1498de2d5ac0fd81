// Each layer of the sandbox stops something that works when that layer is left out. A test names the act, the tier it
// is tried at, the layers to leave out, and what comes of it with and without them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include "base/unique_fd.hpp"
#include "host.hpp"
#include "sandbox/landlock.hpp"

namespace kw::hostile {
namespace {

using Layers = std::vector<SandboxLayer>;

std::string outcome_of(std::vector<std::string> act, SandboxTier tier, const Layers& without = {}) {
  SandboxSpec spec = spec_for(std::move(act));
  spec.at_most = tier;
  spec.without = exempt(without);
  return run(spec);
}

TEST(environment_layer, keeps_the_hosts_variables_from_the_program) {
  ::setenv("KW_TEST_SECRET", "x", 1);
  EXPECT_EQ(outcome_of({"read_environment", "KW_TEST_SECRET"}, SandboxTier::c), "absent");
  EXPECT_EQ(outcome_of({"read_environment", "KW_TEST_SECRET"}, SandboxTier::c, {SandboxLayer::environment}), "done");
  ::unsetenv("KW_TEST_SECRET");
}

TEST(descriptor_layer, closes_what_the_host_has_open) {
  const UniqueFd file(::memfd_create("left open", MFD_CLOEXEC));
  const UniqueFd left_open(::fcntl(file.get(), F_DUPFD, 100));
  const std::string number = std::to_string(left_open.get());
  EXPECT_EQ(outcome_of({"use_descriptor", number}, SandboxTier::c), "EBADF");
  EXPECT_EQ(outcome_of({"use_descriptor", number}, SandboxTier::c, {SandboxLayer::descriptors}), "done");
}

TEST(capability_layer, leaves_no_privilege_not_even_root) {
  for (const SandboxTier tier : {SandboxTier::a, SandboxTier::b}) {
    EXPECT_EQ(outcome_of({"use_privilege"}, tier), "none") << to_string(tier);
    // Any other user loses its privileges at execve, layer or no layer.
    const char* kept = ::geteuid() == 0 ? "done" : "none";
    EXPECT_EQ(outcome_of({"use_privilege"}, tier, {SandboxLayer::capabilities}), kept) << to_string(tier);
  }
}

class LimitLayer : public ::testing::Test {
 protected:
  static SandboxSpec spec(std::vector<std::string> act) {
    SandboxSpec spec = spec_for(std::move(act));
    spec.at_most = SandboxTier::a;  // no cgroup and no file system of its own, which limit the same things
    spec.limits.memory_bytes = std::int64_t{128} << 20;
    spec.limits.file_bytes = std::int64_t{1} << 20;
    spec.limits.cpu_seconds = 1;
    return spec;
  }
  static SandboxSpec unlimited(std::vector<std::string> act) {
    SandboxSpec loose = spec(std::move(act));
    loose.without = exempt({SandboxLayer::limits});
    return loose;
  }
};

#if !defined(KW_SANITIZED)  // there address space has no limit
TEST_F(LimitLayer, bounds_the_memory_of_one_process) {
  EXPECT_EQ(run(spec({"memory_bomb", "160"})), "ENOMEM");
  EXPECT_EQ(run(unlimited({"memory_bomb", "160"})), "done");
}
#endif

TEST_F(LimitLayer, bounds_the_size_of_a_file) {
  const auto process = start(spec({"large_file", "2"}));
  EXPECT_EQ(reported(*process), "closed");
  EXPECT_EQ(process->kill().to_string(), "killed by signal 25 (SIGXFSZ)");
  EXPECT_EQ(run(unlimited({"large_file", "2"})), "done");
}

TEST_F(LimitLayer, bounds_processor_time) {
  const auto process = start(spec({"hang"}));
  EXPECT_EQ(reported(*process), "closed");
  EXPECT_EQ(process->kill().to_string(), "killed by signal 24 (SIGXCPU)");
  const auto endless = start(unlimited({"hang"}));
  EXPECT_EQ(reported(*endless, std::chrono::milliseconds(2500)), "timed out");
}

class LandlockLayer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  }
  Canary canary_;
};

TEST_F(LandlockLayer, keeps_files_of_the_user_from_being_read) {
  EXPECT_EQ(outcome_of({"read", canary_.file()}, SandboxTier::a), "EACCES");
  EXPECT_EQ(outcome_of({"read", canary_.file()}, SandboxTier::c), "EACCES");
  EXPECT_EQ(outcome_of({"read", canary_.file()}, SandboxTier::a, {SandboxLayer::landlock}), "done");
}

TEST_F(LandlockLayer, keeps_files_from_being_written_outside_the_private_directory) {
  EXPECT_EQ(outcome_of({"write_outside", canary_.outside()}, SandboxTier::a), "EACCES");
  EXPECT_FALSE(std::filesystem::exists(canary_.outside()));
  EXPECT_EQ(outcome_of({"write_outside", canary_.outside()}, SandboxTier::a, {SandboxLayer::landlock}), "done");
  EXPECT_TRUE(std::filesystem::exists(canary_.outside()));
}

TEST_F(LandlockLayer, keeps_files_of_the_user_from_being_removed) {
  EXPECT_EQ(outcome_of({"remove", canary_.file()}, SandboxTier::a), "EACCES");
  EXPECT_TRUE(std::filesystem::exists(canary_.file()));
  EXPECT_EQ(outcome_of({"remove", canary_.file()}, SandboxTier::a, {SandboxLayer::landlock}), "done");
  EXPECT_FALSE(std::filesystem::exists(canary_.file()));
}

TEST_F(LandlockLayer, lets_the_run_profile_execute_nothing_else_and_the_build_profile_the_system_tools) {
  EXPECT_EQ(outcome_of({"execute", "/usr/bin/true"}, SandboxTier::a), "EACCES");
  EXPECT_EQ(outcome_of({"execute", "/usr/bin/true"}, SandboxTier::a, {SandboxLayer::landlock}), "closed");
  SandboxSpec building = spec_for({"execute", "/usr/bin/true"});
  building.profile = SandboxProfile::build;
  EXPECT_EQ(run(building), "closed");
}

TEST_F(LandlockLayer, lets_listed_paths_be_read) {
  SandboxSpec spec = spec_for({"read", canary_.file()});
  spec.readable = {"/nowhere/at/all", canary_.file()};  // the missing one is skipped by itself
  EXPECT_EQ(run(spec), "done");
}

TEST_F(LandlockLayer, lets_the_libraries_be_read_that_lie_beside_the_programs_folder) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(canary_.file()).parent_path() / "installed";
  for (const char* part : {"bin", "lib", "other"}) fs::create_directories(folder / part);
  fs::copy_file(spec_for({}).program, folder / "bin" / "program");
  for (const char* part : {"lib", "other"}) fs::copy_file(canary_.file(), folder / part / "file");
  const auto reading = [&](const char* part) {
    SandboxSpec spec = spec_for({"read", (folder / part / "file").string()});
    spec.program = folder / "bin" / "program";
    return run(spec);
  };
  EXPECT_EQ(reading("lib"), "done");
  EXPECT_EQ(reading("other"), "EACCES");
}

TEST_F(LandlockLayer, hides_the_hosts_list_of_processes) {
  EXPECT_EQ(outcome_of({"list_processes"}, SandboxTier::a), "EACCES");
  EXPECT_NE(outcome_of({"list_processes"}, SandboxTier::a, {SandboxLayer::landlock}), "EACCES");
}

TEST_F(LandlockLayer, keeps_signals_inside) {
  if (landlock_abi() < 6) GTEST_SKIP() << "Landlock ABI " << landlock_abi() << " does not scope signals";
  const Bystander bystander;
  EXPECT_EQ(outcome_of({"signal", bystander.pid()}, SandboxTier::a), "EPERM");
  EXPECT_EQ(bystander.ended_by(), 0);
  EXPECT_EQ(outcome_of({"signal", bystander.pid()}, SandboxTier::a, {SandboxLayer::landlock}), "done");
}

TEST(system_call_layer, keeps_modes_of_files_from_being_changed) {
  const Canary canary;
  const Layers without{SandboxLayer::system_calls};
  EXPECT_EQ(outcome_of({"change_mode", canary.file()}, SandboxTier::a), "EPERM");
  EXPECT_EQ(outcome_of({"change_mode", canary.file()}, SandboxTier::a, without), "done");
}

TEST(system_call_layer, keeps_other_processes_from_being_traced_and_starved) {
  const Bystander bystander;
  for (const char* act : {"trace", "starve"}) {
    // Landlock stops tracing as well, so it is left out on both sides; privileges are kept, to have a right to lose.
    const Layers both{SandboxLayer::landlock, SandboxLayer::capabilities};
    EXPECT_EQ(outcome_of({act, bystander.pid()}, SandboxTier::a, both), "EPERM") << act;
    const Layers without{SandboxLayer::landlock, SandboxLayer::capabilities, SandboxLayer::system_calls};
    if (std::string_view(act) == "trace" && ::geteuid() != 0) continue;  // the system may refuse it by itself (Yama)
    EXPECT_EQ(outcome_of({act, bystander.pid()}, SandboxTier::a, without), "done") << act;
  }
}

TEST(system_call_layer, refuses_new_namespaces) {
  KW_NEEDS_TIER(SandboxTier::b);
  for (const char* act : {"unshare", "clone_into_namespace"}) {
    EXPECT_EQ(outcome_of({act}, SandboxTier::a), "EPERM") << act;
    EXPECT_EQ(outcome_of({act}, SandboxTier::a, {SandboxLayer::system_calls}), "done") << act;
  }
}

TEST(system_call_layer, refuses_datagrams_to_a_path) {
  const Canary canary;
  const UniqueFd listener(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  canary.outside().string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(outcome_of({"send_to_path", canary.outside()}, SandboxTier::a), "EPERM");
  EXPECT_EQ(outcome_of({"send_to_path", canary.outside()}, SandboxTier::a, {SandboxLayer::system_calls}), "done");
}

TEST(system_call_layer, kills_calls_in_32_bit_numbers) {
  const auto process = start(spec_for({"call_in_32_bit"}));
  EXPECT_EQ(reported(*process), "closed");
  EXPECT_EQ(process->kill().to_string(), "killed by signal 31 (SIGSYS)");
}

TEST(system_call_layer, lets_a_gpus_driver_listen_and_nobody_else_and_lets_it_call_no_one) {
  const auto act = [](std::vector<std::string> arguments, bool with_devices) {
    SandboxSpec spec = spec_for(std::move(arguments));
    spec.at_most = SandboxTier::a;
    if (with_devices) spec.devices = {"/dev/null"};
    return run(spec);
  };
  EXPECT_EQ(act({"serve", std::to_string(SOCK_SEQPACKET)}, false), "EPERM");
  EXPECT_EQ(act({"serve", std::to_string(SOCK_SEQPACKET)}, true), "done");
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW})
    EXPECT_EQ(act({"serve", std::to_string(type)}, true), "EPERM") << type;
  EXPECT_EQ(act({"connect", "1"}, true), "EPERM");

  const Canary canary;
  const UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  canary.outside().string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(act({"call", canary.outside().string()}, true), "EPERM");
  EXPECT_EQ(outcome_of({"call", canary.outside().string()}, SandboxTier::a, {SandboxLayer::system_calls}), "done");
}

TEST(tool_calls_layer, keeps_a_process_with_a_gpu_from_calling_local_sockets) {
  const Canary canary;
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  canary.outside().string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const Layers without{SandboxLayer::tool_calls};
  const std::string stream = std::to_string(SOCK_STREAM);
  EXPECT_EQ(outcome_of({"call", canary.outside().string(), stream}, SandboxTier::a), "EPERM");
  EXPECT_EQ(outcome_of({"call", canary.outside().string(), stream}, SandboxTier::a, without), "done");
  // That, and no more: no network, no datagrams, nothing after lock-down.
  EXPECT_EQ(outcome_of({"connect", "1"}, SandboxTier::a, without), "EPERM");
  EXPECT_EQ(outcome_of({"serve", std::to_string(SOCK_DGRAM)}, SandboxTier::a, without), "EPERM");
  EXPECT_EQ(outcome_of({"locked", "call", canary.outside().string(), stream}, SandboxTier::a, without), "EPERM");
}

TEST(tool_paths_layer, keeps_files_from_a_tool_and_the_worker_below_it_keeps_them_from_itself) {
  if (landlock_abi() == 0) GTEST_SKIP() << "SKIP: this kernel has no Landlock";
  const Canary canary;
  const Layers without{SandboxLayer::tool_paths};
  EXPECT_EQ(outcome_of({"read", canary.file()}, SandboxTier::a), "EACCES");
  EXPECT_EQ(outcome_of({"read", canary.file()}, SandboxTier::a, without), "done");
  EXPECT_EQ(outcome_of({"restricted", "read", canary.file()}, SandboxTier::a, without), "EACCES");
  EXPECT_EQ(outcome_of({"restricted", "read", "/etc/ld.so.cache"}, SandboxTier::a, without), "done");
}

TEST(system_call_layer, answers_calls_younger_than_itself_as_an_old_kernel_would) {
  EXPECT_EQ(outcome_of({"young_call"}, SandboxTier::a), "ENOSYS");
}

// A port on this machine that somebody listens to.
class Network : public ::testing::Test {
 protected:
  void SetUp() override {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    ASSERT_EQ(::listen(listener_.get(), 4), 0);
    ASSERT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = std::to_string(ntohs(address.sin_port));
  }
  UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string port_;
};

TEST_F(Network, is_stopped_by_the_filter_by_landlock_and_by_the_namespace_each_alone) {
  const Layers no_landlock{SandboxLayer::landlock};
  const Layers no_filter{SandboxLayer::system_calls};
  const Layers neither{SandboxLayer::landlock, SandboxLayer::system_calls};
  EXPECT_EQ(outcome_of({"connect", port_}, SandboxTier::a, neither), "done");
  EXPECT_EQ(outcome_of({"connect", port_}, SandboxTier::a, no_landlock), "EPERM");
  if (landlock_abi() >= 4) {
    EXPECT_EQ(outcome_of({"connect", port_}, SandboxTier::a, no_filter), "EACCES");
  }
  KW_NEEDS_TIER(SandboxTier::b);
  EXPECT_EQ(outcome_of({"connect", port_}, SandboxTier::b, neither), "ENETUNREACH");
}

TEST(namespace_layer, hides_the_hosts_processes) {
  KW_NEEDS_TIER(SandboxTier::b);
  const Bystander bystander;
  const Layers others{SandboxLayer::landlock, SandboxLayer::system_calls};
  EXPECT_EQ(outcome_of({"signal", bystander.pid()}, SandboxTier::b, others), "ESRCH");
  EXPECT_EQ(outcome_of({"list_processes"}, SandboxTier::b, others), "2") << "the supervisor and itself";
  EXPECT_EQ(bystander.ended_by(), 0);
  EXPECT_EQ(outcome_of({"signal", bystander.pid()}, SandboxTier::a, others), "done");
}

TEST(namespace_layer, makes_the_hosts_files_read_only) {
  KW_NEEDS_TIER(SandboxTier::b);
  const Canary canary;
  EXPECT_EQ(outcome_of({"write_outside", canary.outside()}, SandboxTier::b, {SandboxLayer::landlock}), "EROFS");
  EXPECT_FALSE(std::filesystem::exists(canary.outside()));
}

TEST(namespace_layer, bounds_what_the_private_directory_can_hold) {
  KW_NEEDS_TIER(SandboxTier::b);
  SandboxSpec spec = spec_for({"fill_disk", "12"});
  spec.limits.file_bytes = std::int64_t{8} << 20;
  EXPECT_EQ(run(spec), "ENOSPC");
  spec.without = exempt({SandboxLayer::namespaces});
  EXPECT_EQ(run(spec), "done");
}

TEST(cgroup_layer, bounds_the_number_of_processes) {
  KW_NEEDS_TIER(SandboxTier::c);
  SandboxSpec spec = spec_for({"fork_bomb", "40"});
  spec.limits.processes = 16;
  EXPECT_LT(std::stoi(run(spec)), 16);
  spec.without = exempt({SandboxLayer::cgroup, SandboxLayer::limits});
  EXPECT_EQ(run(spec), "40");
}

TEST(cgroup_layer, kills_what_exceeds_its_memory_and_the_host_hears_why) {
  KW_NEEDS_TIER(SandboxTier::c);
  SandboxSpec spec = spec_for({"memory_bomb", "160"});
  spec.limits.memory_bytes = std::int64_t{128} << 20;
  spec.without = exempt({SandboxLayer::limits});
  const auto process = start(spec);
  EXPECT_EQ(reported(*process), "closed");
  const ExitReport ended = process->kill();
  EXPECT_TRUE(ended.out_of_memory);
  EXPECT_EQ(ended.to_string(), "killed for exceeding its memory limit");
  spec.without = exempt({SandboxLayer::limits, SandboxLayer::cgroup});
  EXPECT_EQ(run(spec), "done");
}

}  // namespace
}  // namespace kw::hostile
