#include "operators/program/kernels/contract_boxes.hpp"

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

std::string_view box_section(const char* name) {
  return kernel_text("program/contract_boxes.cu", name);
}

std::string describe_text(const KernelScope& scope, const BoxTensor& tensor, const char* line, const char* map) {
  const auto& name = scope.buffer(tensor.buffer).name;
  return fill_lines(box_section("describe"),
                    {{"line", line},
                     {"map", map},
                     {"memory", tensor.start == "0" ? name : name + " + " + tensor.start},
                     {"extents", fmt::format("{}", fmt::join(tensor.extents, ", "))},
                     {"strides", fmt::format("2L * {}, 2L * {}", tensor.strides[0], tensor.strides[1])},
                     {"rows", tensor.rows}});
}

std::string copy_text(const BoxCopy& copy, const char* tiles, const char* map) {
  return fill_lines(box_section(copy.panels_of_lines ? "copy_panels" : "copy_along_steps"),
                    {{"tiles", tiles}, {"map", map}, {"step", copy.step}, {"line", copy.line}, {"outer", copy.outer}});
}

}  // namespace

const std::vector<std::string>& describing_locals() {
  static const std::vector<std::string> k_names =
      names_in("maps row_extents row_strides row_box column_extents column_strides column_box");
  return k_names;
}

BoxedFactors boxed_factors(KernelScope& scope, std::vector<KernelBuffer> buffers, const std::string& name,
                           const BoxTensor& rows, const BoxTensor& columns, const std::string& whole) {
  constexpr const char* k_threads = "32";
  BoxedFactors boxed;
  const auto* dialect = scope.dialect();
  Fillings fillings = {{"name", name},
                       {"qualifier", fill_lines(dialect->kernel_qualifier, {{"threads", k_threads}})},
                       {"unless_whole", whole.empty() ? "" : fmt::format("if (!({})) return;", whole)},
                       {"describe_rows", describe_text(scope, rows, "row", "maps")},
                       {"describe_columns", describe_text(scope, columns, "column", "maps + 32")}};
  const auto maps = "maps_of_" + name;
  ContractArguments arguments(dialect);
  for (const auto buffer : std::set{rows.buffer, columns.buffer}) {
    const auto& held = buffers[buffer];
    arguments.add(held.dtype, false, held.name, held.argument);
  }
  arguments.add(DType::i32, true, "maps", maps);
  arguments.add_integers(scope);
  const auto kernel = "describe_factors_of_" + name;
  fillings.emplace_back("signature", arguments.signature(kernel));
  auto& kernels = boxed.describing;
  kernels.source = with_short_lines(fill(box_section("describe_factors"), fillings));
  kernels.launches.push_back({kernel, {"1"}, {k_threads}, "0", arguments.arguments()});
  kernels.scratch.push_back({maps, DType::i32, "64"});
  kernels.own_helpers = {"contract_boxes.cu/maps"};
  boxed.maps = buffers.size();
  boxed.buffers = std::move(buffers);
  boxed.buffers.push_back({"maps", maps, DType::i32});
  return boxed;
}

std::string box_copies_text(const BoxCopy& rows, const BoxCopy& columns) {
  return fill_lines(box_section("copy"), {{"copy_rows", copy_text(rows, "row_tiles", "maps")},
                                          {"copy_columns", copy_text(columns, "column_tiles", "maps + 32")}});
}

std::string box_arrivals_text() {
  return fill_lines(box_section("arrivals"));
}

std::set<std::string> box_helpers() {
  return {"contract_boxes.cu/boxes"};
}

}  // namespace kw
