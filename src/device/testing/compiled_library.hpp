#pragma once
// For tests: shared libraries that the machine's compiler makes of a few lines. None of them is ever loaded.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/testing/scratch_directory.hpp"

namespace kw {

/// The bytes of a shared library.
[[nodiscard]] inline std::string compiled_library(const std::string& source, const std::string& libraries = "") {
  const ScratchDirectory scratch;
  const std::filesystem::path text = scratch.path() / "k.c";
  const std::filesystem::path made = scratch.path() / "k.so";
  std::ofstream(text) << source;
  const std::string command = fmt::format(
      "g++ -x c++ -std=c++20 -O1 -shared -fPIC -nostdlib -fno-exceptions -fno-rtti -fno-builtin -fcf-protection=none "
      "{} -o {} {}",
      text.string(), made.string(), libraries);
  if (std::system(command.c_str()) != 0) return "the compiler failed";
  std::ifstream file(made, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace kw
