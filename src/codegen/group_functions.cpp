#include "codegen/group_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

constexpr std::string_view k_qualifier = "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n";

// What is asked, and what the answer is called.
constexpr std::array<std::pair<const char*, const char*>, 6> k_places = {{{"get_group_id(0)", "group_x"},
                                                                          {"get_group_id(1)", "group_y"},
                                                                          {"get_group_id(2)", "group_z"},
                                                                          {"get_num_groups(0)", "groups_x"},
                                                                          {"get_num_groups(1)", "groups_y"},
                                                                          {"get_num_groups(2)", "groups_z"}}};
/// The same where a group is one work-item.
constexpr std::pair k_same_place{"get_global_id(0)", "get_group_id(0)"};

struct Kernel {
  std::string_view signature;  ///< "void name(...)"
  std::string_view body;
  std::size_t size;  ///< of all of it behind the qualifier
};

Kernel kernel_at(std::string_view text) {
  constexpr std::string_view k_open = ") {\n", k_end = "\n}\n";
  const std::size_t open = text.find(k_open);
  KW_CHECK(text.starts_with("void ") && open != std::string_view::npos, "no kernel of ours: {}", text.substr(0, 80));
  const std::size_t body = open + k_open.size();
  const std::size_t end = text.find(k_end, open);
  KW_CHECK(end != std::string_view::npos, "a kernel without an end: {}", text.substr(0, 80));
  return {text.substr(0, open + 1), text.substr(body, end + 1 - body), end + k_end.size()};
}

std::vector<std::string> declarations_of(std::string_view list) {
  std::vector<std::string> declarations;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    declarations.push_back(on_one_line(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return declarations;
}

std::string free_name(std::string name, std::string_view source) {
  while (source.find(name) != std::string_view::npos) name += '_';
  return name;
}

std::string in_function(const Kernel& kernel, std::string_view source) {
  const std::size_t list = kernel.signature.find('(') + 1;
  const auto name = kernel.signature.substr(5, list - 6);
  auto declarations = declarations_of(kernel.signature.substr(list, kernel.signature.size() - list - 1));
  std::vector<std::string> values;
  for (const auto& declaration : declarations) values.push_back(declaration.substr(declaration.find_last_of(" *") + 1));
  std::string body(kernel.body);
  replace_all(body, k_same_place.first, k_same_place.second);
  for (const auto& [asked, wanted] : k_places) {
    if (body.find(asked) == std::string::npos) continue;
    const auto parameter = free_name(wanted, source);
    replace_all(body, asked, parameter);
    declarations.push_back("const long " + parameter);
    values.emplace_back(asked);
  }
  const auto function = free_name(fmt::format("{}_group", name), source);
  return fmt::format(
      "static __attribute__((noinline))  // PoCL compiles a kernel three times, and what it calls once\n{} "
      "{{\n{}}}\n\n{}{} {{\n{};\n}}\n",
      parameter_list(fmt::format("void {}(", function), declarations), body, k_qualifier, kernel.signature,
      parameter_list("  " + function + "(", values));
}

}  // namespace

std::string with_group_functions(std::string_view source) {
  std::string result;
  std::string_view rest = source;
  for (std::size_t at = rest.find(k_qualifier); at != std::string_view::npos; at = rest.find(k_qualifier)) {
    result += rest.substr(0, at);
    const Kernel kernel = kernel_at(rest.substr(at + k_qualifier.size()));
    result += in_function(kernel, source);
    rest.remove_prefix(at + k_qualifier.size() + kernel.size);
  }
  return result += rest;
}

std::string with_places_named(std::string text) {
  replace_all(text, k_same_place.first, k_same_place.second);
  for (const auto& [asked, name] : k_places) replace_all(text, asked, name);
  return text;
}

}  // namespace kw
