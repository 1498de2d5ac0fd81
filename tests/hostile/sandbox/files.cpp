// Reaching files that are none of the program's business.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "acts.hpp"
#include "base/unique_fd.hpp"

namespace kw::hostile {
namespace {

// RUN: read PATH
// EXPECT: EACCES outside the listed paths
std::string read_file(const Arguments& arguments) {
  const UniqueFd file(::open(arguments.at(0).c_str(), O_RDONLY));
  char byte = 0;
  return outcome(file.valid() && ::read(file.get(), &byte, 1) >= 0);
}

// RUN: write_outside PATH
// EXPECT: refused everywhere but in the private directory
std::string write_outside(const Arguments& arguments) {
  const UniqueFd file(::open(arguments.at(0).c_str(), O_WRONLY | O_CREAT, 0600));
  return outcome(file.valid() && ::write(file.get(), "x", 1) == 1);
}

// RUN: open_existing PATH (locked)
// EXPECT: EPERM, but for a GPU's driver, which opens its nodes again
std::string open_existing(const Arguments& arguments) {
  return outcome(UniqueFd(::open(arguments.at(0).c_str(), O_RDWR)).valid());
}

// RUN: write_with_stray_bits PATH (locked)
// EXPECT: EPERM: bits that the kernel ignores must not get past the filter
std::string write_with_stray_bits(const Arguments& arguments) {
  const unsigned long flags = (1UL << 32) | O_WRONLY | O_CREAT;
  const long file = ::syscall(SYS_openat, AT_FDCWD, arguments.at(0).c_str(), flags, 0600);
  return outcome(file >= 0);
}

// RUN: write_by_openat2 PATH (locked)
// EXPECT: ENOSYS, because a filter cannot see its flags
std::string write_by_openat2(const Arguments& arguments) {
  struct {
    unsigned long flags, mode, resolve;
  } how{O_WRONLY | O_CREAT, 0600, 0};
  return outcome(::syscall(SYS_openat2, AT_FDCWD, arguments.at(0).c_str(), &how, sizeof how) >= 0);
}

// RUN: remove PATH
// EXPECT: refused outside the private directory
std::string remove_file(const Arguments& arguments) {
  return outcome(::unlink(arguments.at(0).c_str()) == 0);
}

// RUN: change_mode PATH
// EXPECT: EPERM, although Landlock does not govern it
std::string change_mode(const Arguments& arguments) {
  return outcome(::chmod(arguments.at(0).c_str(), 0666) == 0);
}

// RUN: list_processes
// EXPECT: EACCES, or only its own where /proc is its own; the host reads the number
std::string list_processes(const Arguments&) {
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return outcome(false);
  int count = 0;
  while (const dirent* entry = ::readdir(directory)) {
    count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? 1 : 0;
  }
  ::closedir(directory);
  return std::to_string(count);
}

constexpr Act k_acts[] = {{"read", read_file},
                          {"write_outside", write_outside},
                          {"open_existing", open_existing},
                          {"write_with_stray_bits", write_with_stray_bits},
                          {"write_by_openat2", write_by_openat2},
                          {"remove", remove_file},
                          {"change_mode", change_mode},
                          {"list_processes", list_processes}};

}  // namespace

std::span<const Act> file_acts() {
  return k_acts;
}

}  // namespace kw::hostile
