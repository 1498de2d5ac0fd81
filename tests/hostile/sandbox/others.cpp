// Acting on other processes and on the network.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "acts.hpp"

namespace kw::hostile {
namespace {

pid_t process_of(const Arguments& arguments) {
  return static_cast<pid_t>(std::stol(arguments.at(0)));
}

// RUN: signal PID
// EXPECT: EPERM or ESRCH
std::string signal_process(const Arguments& arguments) {
  return outcome(::kill(process_of(arguments), SIGUSR1) == 0);
}

// RUN: signal_self (locked)
// EXPECT: "done": abort() and thread cancellation need it
std::string signal_self(const Arguments&) {
  ::signal(SIGUSR1, SIG_IGN);
  return outcome(::raise(SIGUSR1) == 0);
}

// RUN: trace PID
// EXPECT: EPERM or ESRCH
std::string trace(const Arguments& arguments) {
  return outcome(::syscall(SYS_ptrace, PTRACE_SEIZE, process_of(arguments), nullptr, nullptr) == 0);
}

// RUN: slow_down PID
// EXPECT: EPERM or ESRCH: a candidate must not change the priority of what it is timed against
std::string slow_down(const Arguments& arguments) {
  return outcome(::setpriority(PRIO_PROCESS, static_cast<id_t>(process_of(arguments)), 19) == 0);
}

// RUN: starve PID
// EXPECT: EPERM or ESRCH: nor its limits
std::string starve(const Arguments& arguments) {
  const rlimit limit{64, 64};
  return outcome(::prlimit(process_of(arguments), RLIMIT_NOFILE, &limit, nullptr) == 0);
}

// RUN: connect PORT
// EXPECT: EPERM; without the filter, refused by the network namespace or Landlock
std::string connect_tcp(const Arguments& arguments) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return outcome(false);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(arguments.at(0))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return outcome(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

// RUN: serve TYPE
// EXPECT: EPERM; what a GPU's driver listens on, a local SOCK_SEQPACKET, works for a process with devices
std::string serve(const Arguments& arguments) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  address.sun_path[1] = 'k';  // a name beside the file system, for every kind
  const int fd = ::socket(AF_UNIX, std::stoi(arguments.at(0)) | SOCK_CLOEXEC, 0);
  if (fd < 0) return outcome(false);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return outcome(false);
  return outcome(::listen(fd, 1) == 0);
}

// RUN: call PATH [TYPE]
// EXPECT: EPERM, with devices too: Landlock does not govern path sockets
std::string call(const Arguments& arguments) {
  const int type = arguments.size() > 1 ? std::stoi(arguments.at(1)) : SOCK_SEQPACKET;
  const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return outcome(false);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, arguments.at(0).c_str(), sizeof address.sun_path - 1);
  return outcome(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

// RUN: send_to_path PATH
// EXPECT: EPERM: a pair of datagram sockets would reach any path socket, which Landlock does not govern
std::string send_to_path(const Arguments& arguments) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return outcome(false);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, arguments.at(0).c_str(), sizeof address.sun_path - 1);
  iovec data{address.sun_path, 1};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = sizeof address;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  return outcome(::sendmsg(ends[0], &message, 0) == 1);
}

#if defined(__x86_64__)
// RUN: call_in_32_bit
// EXPECT: death by SIGSYS: 32-bit numbers would get past a filter for 64-bit ones
std::string call_in_32_bit(const Arguments&) {
  long result = 20;  // getpid in the 32-bit table
  asm volatile("int $0x80" : "+a"(result)::"memory", "r8", "r9", "r10", "r11");
  return result > 0 ? "done" : "refused";
}
#else
std::string call_in_32_bit(const Arguments&) {
  ::raise(SIGSYS);  // there is no such door on this architecture
  return "done";
}
#endif

// RUN: young_call
// EXPECT: ENOSYS: calls younger than the list are answered as an old kernel would
std::string young_call(const Arguments&) {
  constexpr long k_fchmodat2 = 452;
  return outcome(::syscall(k_fchmodat2, -1, "", 0, 0) == 0);
}

constexpr Act k_acts[] = {{"signal", signal_process},
                          {"signal_self", signal_self},
                          {"trace", trace},
                          {"slow_down", slow_down},
                          {"starve", starve},
                          {"connect", connect_tcp},
                          {"serve", serve},
                          {"call", call},
                          {"send_to_path", send_to_path},
                          {"call_in_32_bit", call_in_32_bit},
                          {"young_call", young_call}};

}  // namespace

std::span<const Act> other_acts() {
  return k_acts;
}

}  // namespace kw::hostile
