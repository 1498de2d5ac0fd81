#include "operators/program/kernels/shared_kernels.hpp"

#include <cctype>
#include <set>

#include "codegen/text.hpp"

namespace kw {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// A text in which each of some names is replaced by the number of its first occurrence. Texts that are equal so are
/// equal but for an exchange of those names.
class Numbered {
 public:
  explicit Numbered(const std::set<std::string, std::less<>>& names) : names_(names) {}

  void add(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && is_name_character(text[end])) ++end;
      if (end == i) {
        text_ += text[i++];
        continue;
      }
      const auto word = text.substr(i, end - i);
      if (names_.contains(word)) {
        text_ += fmt::format("\x01{}", numbers_.try_emplace(std::string(word), numbers_.size()).first->second);
      } else {
        text_ += word;
      }
      i = end;
    }
    text_ += '\x02';
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const std::set<std::string, std::less<>>& names_;
  std::map<std::string, std::size_t> numbers_;
  std::string text_;
};

/// All that a kernel depends on. Where a launch has its tensors from, and how many groups it starts, is its own.
std::string text_without_names(const GroupKernels& written, const std::vector<KernelBuffer>& buffers) {
  std::set<std::string, std::less<>> names;
  for (const auto& buffer : buffers) names.insert(buffer.name);
  for (const auto& scratch : written.scratch) names.insert(scratch.name);
  for (const auto& launch : written.launches) names.insert(launch.kernel);
  Numbered text(names);
  text.add(written.source);
  for (const auto& launch : written.launches) {
    text.add(launch.kernel);
    for (const auto& extent : launch.block) text.add(extent);
    text.add(launch.shared_bytes);
    text.add(fmt::format("{}", launch.args.size()));
  }
  return text.take();
}

}  // namespace

GroupKernels SharedKernels::shared(GroupKernels written, const std::vector<KernelBuffer>& buffers) {
  std::vector<std::string> kernels;
  for (const auto& launch : written.launches) kernels.push_back(launch.kernel);
  const auto [known, is_new] = known_.try_emplace(text_without_names(written, buffers), kernels);
  if (is_new) return written;
  for (std::size_t i = 0; i < written.launches.size(); ++i) written.launches[i].kernel = known->second[i];
  written.source = as_comment(fmt::format("By {}, as above.", fmt::join(known->second, ", "))) + "\n";
  return written;
}

}  // namespace kw
