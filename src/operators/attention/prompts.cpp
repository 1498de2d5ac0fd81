#include "operators/attention/attention.hpp"
#include "operators/attention/parts.hpp"

namespace kw {
namespace {

std::vector<std::string> prompt_placeholders() {
  return {"scale", "lse", "mask"};
}

std::map<std::string, std::string, std::less<>> prompt_values(const Problem& problem) {
  const AttentionSpec& spec = *attention_of(problem);
  return {{"scale", spec.scale ? fmt::format("{:.9g}", *spec.scale) : "1/sqrt(D)"},
          {"lse", spec.lse ? "yes" : ""},
          {"mask", spec.mask_mod ? "yes" : ""}};
}

}  // namespace

OperatorPrompts attention_prompts() {
  return {.texts = attention_prompt_texts, .placeholders = prompt_placeholders, .values = prompt_values};
}

}  // namespace kw
