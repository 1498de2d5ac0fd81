#include "propose/llm/client/reasoning_split.hpp"

#include <array>

#include "base/text.hpp"

namespace kw {
namespace {

struct ReasoningTag {
  std::string_view open;
  std::string_view close;
};
constexpr std::array<ReasoningTag, 2> k_reasoning_tags = {ReasoningTag{"<think>", "</think>"},
                                                          ReasoningTag{"<thinking>", "</thinking>"}};

}  // namespace

SplitContent split_reasoning(std::string_view content) {
  const std::string_view text = trimmed(content);
  for (const auto& tag : k_reasoning_tags) {
    const bool opened = text.starts_with(tag.open);
    const std::string_view body = opened ? text.substr(tag.open.size()) : text;
    const std::size_t close = body.find(tag.close);
    if (opened && close == std::string_view::npos) return {trimmed(body), {}};
    if (!opened &&
        (close == std::string_view::npos || body.substr(0, close).find(tag.open) != std::string_view::npos)) {
      continue;
    }
    return {trimmed(body.substr(0, close)), trimmed(body.substr(close + tag.close.size()))};
  }
  return {{}, text};
}

}  // namespace kw
