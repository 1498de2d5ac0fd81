#include "hardware/device_match.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "hardware/device_file.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// Runs of letters and digits, in lower case.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : lower_case(text)) {
    if (is_word_character(c)) {
      if (!inside) words.emplace_back();
      words.back() += c;
    }
    inside = is_word_character(c);
  }
  return words;
}

bool names_architecture(const std::string& text, const GpuFacts& gpu) {
  const std::string arch = lower_case(gpu.arch);
  if (text == arch || text + "a" == arch) return true;
  const auto known = find_gpu_arch(arch);
  return known && text == lower_case(known->generation);
}

}  // namespace

bool can_name_device(std::string_view text) {
  return !words_of(text).empty();
}

bool names_device(std::string_view text, const DeviceFacts& device) {
  if (device.gpu && names_architecture(lower_case(text), *device.gpu)) return true;
  std::string wanted;
  for (const auto& word : words_of(text)) wanted += word;
  if (wanted.empty()) return false;
  const auto words = words_of(device.name);
  for (auto first = words.begin(); first != words.end(); ++first) {
    std::string joined;
    for (auto word = first; word != words.end() && joined.size() < wanted.size(); ++word) joined += *word;
    if (joined == wanted) return true;
  }
  return false;
}

std::string table_name(const DeviceFacts& device) {
  for (const auto& shipped : shipped_devices())
    if (names_device(shipped, device)) return shipped;
  if (device.gpu && (device.name.starts_with(k_unnamed_device) || !can_name_device(device.name))) {
    return device.gpu->arch;
  }
  return device.name;
}

}  // namespace kw
