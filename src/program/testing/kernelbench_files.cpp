#include "program/testing/kernelbench_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kw::program_test {

namespace fs = std::filesystem;

fs::path kernelbench_folder() {
  const char* const chosen = std::getenv("KW_KERNELBENCH");
  return chosen != nullptr ? fs::path(chosen) : fs::path(KW_KERNELBENCH_DIRECTORY);
}

std::vector<fs::path> kernelbench_files() {
  std::vector<fs::path> files;
  for (const char* const level : {"level1", "level2"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(kernelbench_folder() / level, none)) {
      if (entry.path().extension() == ".py") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string no_kernelbench() {
  return fmt::format("no KernelBench files in {}; KW_KERNELBENCH names their folder", kernelbench_folder().string());
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace kw::program_test
