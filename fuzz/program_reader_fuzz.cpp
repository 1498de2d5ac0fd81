// Modules are files that people paste and models write. Whatever the bytes: an answer within bounds, with a place in
// the file where it is refused; and every graph that is read holds its own invariants and can be printed.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "program/explain/json.hpp"
#include "program/explain/text.hpp"
#include "program/reader/program_reader.hpp"
#include "tensor/int_expr.hpp"

namespace {

void check_types(const kw::Graph& graph, const kw::IntBindings& axes) {
  for (const auto& value : graph.values) {
    for (const auto& extent : value.type.shape) {
      KW_CHECK(extent.value() >= 0);
      // A file may name its axes as it likes; texts that expressions cannot hold are not evaluated.
      const auto found = kw::evaluate_int_expr(extent.text(), axes);
      KW_CHECK(!found || *found == extent.value(), "{} is {} and not {}", extent.text(), *found, extent.value());
    }
  }
}

void check(const kw::Program& program) {
  const auto& graph = program.graph;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const auto output : graph.nodes[i].outputs) KW_CHECK(graph.values[output].node == i);
    for (const auto& argument : graph.nodes[i].arguments) {
      const auto* tensor = std::get_if<kw::ValueRef>(&argument.value);
      if (tensor == nullptr) continue;
      const auto made = graph.values[tensor->value].node;
      KW_CHECK(!made || *made < i);
    }
  }
  kw::IntBindings axes;
  for (const auto& axis : program.axes) axes[axis.name] = axis.extent;
  check_types(graph, axes);
  check_types(program.sources, axes);
  KW_CHECK(!kw::program_text(program).empty() && !kw::program_json(program).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto mode : {kw::ProgramMode::train, kw::ProgramMode::eval}) {
    const auto program = kw::read_program(text, "module.py", {"Model", {}, mode});
    if (program) {
      check(*program);
    } else {
      const auto& error = program.error();
      KW_CHECK(error.where.line > 0 && !error.message.empty());
    }
  }
  return 0;
}
