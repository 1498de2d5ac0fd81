#pragma once
// For the tests of the process backend: which processes have a file in memory, as the kernel tells it, to see that
// an arena goes with its candidate. A process that may not be looked at does not count.

#include <dirent.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace kw::backend_test {

/// The mapping of the file in memory that `address` lies in, as the kernel writes it into every process that has it:
/// device and inode, "00:01 4711".
inline std::string mapped_file_at(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::string rights;
    std::string offset;
    std::string device;
    std::string inode;
    char dash = 0;
    std::istringstream fields(line);
    fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode;
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    if (begin <= wanted && wanted < end) return device + " " + inode;
  }
  return "nothing";
}

/// How many processes have that file mapped: a candidate and all it started have its arena.
inline int processes_mapping(const std::string& file) {
  int count = 0;
  DIR* directory = ::opendir("/proc");
  while (const dirent* entry = ::readdir(directory)) {
    std::ifstream maps(std::string("/proc/") + entry->d_name + "/maps");
    const std::string text{std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>()};
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && text.find(file) != std::string::npos) ++count;
  }
  ::closedir(directory);
  return count;
}

}  // namespace kw::backend_test
