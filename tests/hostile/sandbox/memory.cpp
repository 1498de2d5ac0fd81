// Using memory and disk space.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "acts.hpp"
#include "base/unique_fd.hpp"

namespace kw::hostile {
namespace {

constexpr std::size_t k_mebibyte = std::size_t{1} << 20;

bool use(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  return true;
}

// RUN: memory_bomb MEBIBYTES
// EXPECT: ENOMEM from the limit of one process, or death by the cgroup, which the host reports as out of memory
std::string memory_bomb(const Arguments& arguments) {
  return outcome(use(std::stoul(arguments.at(0)) * k_mebibyte));
}

// RUN: fill_disk MEBIBYTES
// EXPECT: ENOSPC from the private file system; each file stays below the limit of one file
std::string fill_disk(const Arguments& arguments) {
  const std::vector<char> block(k_mebibyte, 'x');
  for (int i = 0; i < std::stoi(arguments.at(0)); ++i) {
    const UniqueFd file(::open(("file" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600));
    if (!file.valid()) return outcome(false);
    const ssize_t written = ::write(file.get(), block.data(), block.size());
    if (written < 0) return outcome(false);
    if (written < static_cast<ssize_t>(block.size())) return error_name(ENOSPC);
  }
  return "done";
}

// RUN: large_file MEBIBYTES
// EXPECT: death by SIGXFSZ
std::string large_file(const Arguments& arguments) {
  const UniqueFd file(::open("large", O_WRONLY | O_CREAT | O_EXCL, 0600));
  const auto bytes = static_cast<off_t>(std::stoul(arguments.at(0)) * k_mebibyte);
  return outcome(file.valid() && ::ftruncate(file.get(), bytes) == 0);
}

constexpr Act k_acts[] = {{"memory_bomb", memory_bomb}, {"fill_disk", fill_disk}, {"large_file", large_file}};

}  // namespace

std::span<const Act> memory_acts() {
  return k_acts;
}

}  // namespace kw::hostile
