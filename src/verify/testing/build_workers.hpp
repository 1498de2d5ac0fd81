#pragma once
// For the tests of the process backend: which build workers this process has started, to see when one is replaced.

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace kw::backend_test {

/// The process that started `pid`; 0 when that cannot be told.
inline int parent_of(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("PPid:", 0) == 0) return std::stoi(line.substr(5));
  }
  return 0;
}

inline bool descends_from_here(int pid) {
  for (int i = 0; pid > 1 && i < 8; ++i, pid = parent_of(pid)) {
    if (pid == ::getpid()) return true;
  }
  return false;
}

inline std::set<int> build_workers() {
  std::set<int> workers;
  DIR* directory = ::opendir("/proc");
  while (const dirent* entry = ::readdir(directory)) {
    std::istringstream name(entry->d_name);
    int pid = 0;
    if (!(name >> pid)) continue;
    std::ifstream file("/proc/" + std::string(entry->d_name) + "/cmdline", std::ios::binary);
    const std::string command{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string ending = std::string("kernelwright-worker\0build\0", 26);
    if (command.find(ending) != std::string::npos && descends_from_here(pid)) workers.insert(pid);
  }
  ::closedir(directory);
  return workers;
}

}  // namespace kw::backend_test
