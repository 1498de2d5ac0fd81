// Matrix products of random modules.

#include <fmt/format.h>

#include <cmath>

#include "tests/programs/module_drawing.hpp"

namespace kw {
namespace {

double grown(const ModuleDrawer& d, std::size_t x, std::int64_t terms) {
  return d.value(x).most * 2.5 * std::sqrt(static_cast<double>(terms)) + 1;
}

std::optional<ModuleValue> linear(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto in = shape.back();
  shape.back() = d.new_size();
  const auto member = fmt::format("nn.Linear({}, {}, bias={})", in.text, shape.back().text, d.truth());
  return ModuleValue{"{s}_0({0})", {*x}, {member}, shape, false, ModuleElements::rounded, d.value(*x).most * 4 + 1};
}

/// Steps are the second axis, so that states are no tensors of the value's own shape.
std::optional<ModuleValue> recurrent(ModuleDrawer& d) {
  const auto x = d.pick(3, 3);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto in = shape.back();
  const auto hidden = d.new_size();
  const bool both_ways = d.chance(3);
  shape.back() = both_ways ? hidden * dim_of(2) : hidden;
  const auto* layer = d.one_of({"LSTM", "GRU", "RNN"});
  const auto member = fmt::format("nn.{}({}, {}, bias={}, batch_first=True, bidirectional={})", layer, in.text,
                                  hidden.text, d.truth(), both_ways ? "True" : "False");
  return ModuleValue{"{s}_0({0})[0]", {*x}, {member}, shape, false, ModuleElements::rounded, 1};
}

std::optional<ModuleValue> with_matrix(ModuleDrawer& d) {
  const auto x = d.pick(1, 4);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto in = shape.back();
  const auto out = d.new_size();
  shape.back() = out;
  const bool transposed = d.chance(2);
  const auto member = fmt::format("nn.Parameter(torch.randn({}, {}))", transposed ? out.text : in.text,
                                  transposed ? in.text : out.text);
  const auto* text = transposed ? d.one_of({"{0} @ {s}_0.T", "F.linear({0}, {s}_0)", "torch.matmul({0}, {s}_0.t())"})
                                : d.one_of({"{0} @ {s}_0", "torch.matmul({0}, {s}_0)"});
  return ModuleValue{text, {*x}, {member}, shape, false, ModuleElements::rounded, grown(d, *x, in.value)};
}

/// Of a value with another of its shape, transposed: attention scores, Gram matrices.
std::optional<ModuleValue> with_another(ModuleDrawer& d) {
  const auto x = d.pick(2, 4);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  auto shape = d.value(*x).shape;
  const auto rank = shape.size();
  const auto inner = shape[rank - 1].value;
  std::string text = "{0} @ {1}.transpose(-1, -2)";
  if (rank == 3) {
    text = d.one_of({"torch.bmm({0}, {1}.transpose(1, 2))", "torch.einsum('bij,bkj->bik', {0}, {1})", "{0} @ {1}.mT"});
  } else if (rank == 2) {
    text = d.one_of({"torch.mm({0}, {1}.t())", "torch.einsum('ij,kj->ik', {0}, {1})", "{0} @ {1}.T"});
  }
  shape[rank - 1] = shape[rank - 2];
  return ModuleValue{text, {*x, y}, {}, shape, false, ModuleElements::rounded, grown(d, *x, inner) * d.value(y).most};
}

std::optional<ModuleValue> of_vectors(ModuleDrawer& d) {
  const auto x = d.pick(1, 1);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  const auto in = d.value(*x).shape[0];
  const double most = grown(d, *x, in.value) * d.value(y).most;
  if (d.chance(2)) {
    return ModuleValue{"torch.outer({0}, {1})", {*x, y}, {}, {in, in}, false, ModuleElements::rounded, most};
  }
  return ModuleValue{"torch.dot({0}, {1})", {*x, y}, {}, {}, false, ModuleElements::rounded, most};
}

/// A product that is added to something.
std::optional<ModuleValue> added(ModuleDrawer& d) {
  const auto x = d.pick(2, 3);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto in = shape.back();
  const auto out = d.new_size();
  shape.back() = out;
  const bool batched = shape.size() == 3;
  auto matrix = fmt::format("{}, {}", in.text, out.text);
  if (batched) matrix = shape[0].text + ", " + matrix;
  const auto text = fmt::format("torch.{}({{s}}_1, {{0}}, {{s}}_0, beta=0.5, alpha={})", batched ? "baddbmm" : "addmm",
                                d.one_of({"1", "2"}));
  return ModuleValue{text,
                     {*x},
                     {fmt::format("nn.Parameter(torch.randn({}))", matrix),
                      fmt::format("nn.Parameter(torch.randn({}))", batched ? shape_list(shape) : out.text)},
                     shape,
                     false,
                     ModuleElements::rounded,
                     2 * grown(d, *x, in.value) + 2};
}

std::optional<ModuleValue> over_channels(ModuleDrawer& d) {
  const auto x = d.pick(4, 4);
  if (!x) return std::nullopt;
  auto shape = d.value(*x).shape;
  const auto out = d.new_size();
  const auto in = shape[1];
  shape = {shape[0], shape[2], shape[3], out};
  return ModuleValue{"torch.einsum('bchw,co->bhwo', {0}, {s}_0)",
                     {*x},
                     {fmt::format("nn.Parameter(torch.randn({}, {}))", in.text, out.text)},
                     shape,
                     false,
                     ModuleElements::rounded,
                     grown(d, *x, in.value)};
}

std::optional<ModuleValue> attention(ModuleDrawer& d) {
  const auto x = d.pick(3, 4);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  const auto text = fmt::format("F.scaled_dot_product_attention({{0}}, {{1}}, {{0}}, is_causal={})", d.truth());
  return ModuleValue{text, {*x, y}, {}, d.value(*x).shape, false, ModuleElements::rounded, d.value(*x).most};
}

std::optional<ModuleValue> bilinear(ModuleDrawer& d) {
  const auto x = d.pick(2, 2);
  if (!x) return std::nullopt;
  const auto y = d.partner(*x);
  auto shape = d.value(*x).shape;
  const auto in = shape.back();
  shape.back() = d.new_size();
  const double most = grown(d, *x, in.value) * d.value(y).most;
  return ModuleValue{"{s}_0({0}, {1})",
                     {*x, y},
                     {fmt::format("nn.Bilinear({0}, {0}, {1})", in.text, shape.back().text)},
                     shape,
                     false,
                     ModuleElements::rounded,
                     most};
}

constexpr DrawnRow k_rows[] = {
    {"linear", 6, linear},
    {"with_matrix", 4, with_matrix},
    {"with_another", 4, with_another},
    {"of_vectors", 1, of_vectors},
    {"added", 3, added},
    {"over_channels", 1, over_channels},
    {"attention", 2, attention},
    {"bilinear", 1, bilinear},
    {"recurrent", 1, recurrent},
};

}  // namespace

std::span<const DrawnRow> product_module_rows() {
  return k_rows;
}

}  // namespace kw
