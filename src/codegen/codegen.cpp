#include "codegen/codegen.hpp"

#include "codegen/device_list.hpp"
#include "problem/operator.hpp"

namespace kw {

const std::vector<Style>& styles_of(std::string_view op) {
  static const std::vector<Style> none;
  const Operator* const found = find_operator(op);
  return found == nullptr ? none : found->styles();
}

std::vector<Style> with_own_text(std::vector<Style> styles) {
  for (Style& style : styles) style.origin = SourceOrigin::own;
  return styles;
}

std::string fastest_style(const Problem& problem, std::string_view target, const DeviceFacts& device) {
  return fastest_common_style(problem, target, {&device, 1});
}

Result<const Style*> find_style(std::string_view op, std::string_view target, std::string_view name) {
  std::string known;
  std::string elsewhere;
  for (const Style& style : styles_of(op)) {
    if (style.target != target) {
      if (style.name == name) elsewhere += (elsewhere.empty() ? "" : ", ") + style.target;
      continue;
    }
    if (style.name == name) return &style;
    known += (known.empty() ? "" : ", ") + style.name;
  }
  if (name.empty() && !known.empty()) {  // as fastest_style() says that none writes a problem
    return fail(Error{errc::codegen_style, fmt::format("no style of {} writes this problem for {}", op, target),
                      fmt::format("name one, which then says why: {}", known)});
  }
  Error error{errc::codegen_style, fmt::format("there is no style \"{}\" for {} on {}", name, op, target)};
  error.hint =
      known.empty() ? fmt::format("no style writes {} for {} yet", op, target) : fmt::format("use one of: {}", known);
  if (!elsewhere.empty() && !known.empty())
    error.hint = fmt::format("\"{}\" is written for {} alone; {}", name, elsewhere, error.hint);
  return fail(std::move(error));
}

Result<Bundle> emit_bundle(const Problem& problem, std::string_view target, std::string_view style,
                           const DeviceFacts& device, const IntBindings& structure) {
  KW_TRY(const Style* found, find_style(problem.op, target, style));
  return found->emit(problem, device, structure);
}

}  // namespace kw
