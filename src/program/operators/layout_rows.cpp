// Operators that only arrange elements: views, permutations, parts, copies along axes.

#include <algorithm>
#include <array>

#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

/// `asked` with its -1 worked out from the elements of `from`.
Result<Shape> resolved_shape(const OperatorCall& call, const Shape& from, Shape asked) {
  KW_TRY(const auto count, element_count(from));
  std::optional<std::size_t> open;
  Extent known = 1;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].value() == -1) {
      if (open)
        return call.shape_error(fmt::format("{} has two axes of -1", call.shown()), "only one can be worked out");
      open = i;
    } else {
      KW_TRY(known, Extent::product(known, asked[i]));
    }
  }
  if (open && known.value() > 0 && count.value() % known.value() == 0) {
    KW_TRY(asked[*open], Extent::quotient(count, known));
    return asked;
  }
  if (open || known.value() != count.value()) {
    return call.shape_error(
        fmt::format("{} cannot make {} of {}", call.shown(), argument_text(asked), argument_text(from)),
        fmt::format("the tensor has {} elements", count.value()));
  }
  return asked;
}

Result<void> view_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  KW_TRY(auto shape, resolved_shape(call, input.shape, call.integers("shape")));
  call.canonical("shape", shape);
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> view_as_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  KW_TRY(auto shape, resolved_shape(call, input.shape, call.tensor("other").shape));
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> permute_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const auto rank = input.shape.size();
  if (call.integers("dims").size() != rank) {
    return call.shape_error(
        fmt::format("{} names {} axes of a tensor with {}", call.shown(), call.integers("dims").size(), rank));
  }
  KW_TRY(const auto axes, call.axes("dims", rank));
  Shape shape;
  for (const auto axis : axes) shape.push_back(input.shape[axis]);
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> transpose_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  KW_TRY(const auto first, call.axis("dim0", type.shape.size()));
  KW_TRY(const auto second, call.axis("dim1", type.shape.size()));
  if (!type.shape.empty()) std::swap(type.shape[first], type.shape[second]);
  call.output(std::move(type));
  return {};
}

Result<void> t_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  KW_TRY_VOID(call.require_rank("input", 0, 2));
  if (type.shape.size() == 2) std::swap(type.shape[0], type.shape[1]);
  call.output(std::move(type));
  return {};
}

Result<void> movedim_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const auto rank = input.shape.size();
  KW_TRY(const auto from, call.axes("source", rank));
  KW_TRY(const auto to, call.axes("destination", rank));
  if (from.size() != to.size())
    return call.value_error(fmt::format("{} moves {} axes to {} places", call.shown(), from.size(), to.size()));
  std::vector<std::optional<std::size_t>> order(rank);
  for (std::size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  std::size_t next = 0;
  Shape shape;
  for (auto& axis : order) {
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    shape.push_back(input.shape[axis ? *axis : next++]);
  }
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> flatten_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  KW_TRY(const auto first, call.axis("start_dim", input.shape.size()));
  KW_TRY(const auto last, call.axis("end_dim", input.shape.size()));
  if (first > last) return call.value_error(fmt::format("{} starts behind its end", call.shown()));
  Shape shape(input.shape.begin(), input.shape.begin() + static_cast<std::ptrdiff_t>(first));
  Extent joined = 1;
  for (std::size_t i = first; i <= last && i < input.shape.size(); ++i) {
    KW_TRY(joined, Extent::product(joined, input.shape[i]));
  }
  shape.push_back(joined);
  for (std::size_t i = last + 1; i < input.shape.size(); ++i) shape.push_back(input.shape[i]);
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> unflatten_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  KW_TRY(const auto axis, call.axis("dim", input.shape.size()));
  if (input.shape.empty()) return call.shape_error(fmt::format("{} of a single number", call.shown()));
  KW_TRY(const auto parts, resolved_shape(call, {input.shape[axis]}, call.integers("sizes")));
  Shape shape = input.shape;
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(at, parts.begin(), parts.end());
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> squeeze_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  KW_TRY(const auto axes, call.axes("dim", input.shape.size()));
  Shape shape;
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!named || input.shape[i].value() != 1) shape.push_back(input.shape[i]);
  }
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> unsqueeze_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  KW_TRY(const auto axis, call.axis("dim", type.shape.size() + 1));
  type.shape.insert(type.shape.begin() + static_cast<std::ptrdiff_t>(axis), Extent(1));
  call.output(std::move(type));
  return {};
}

Result<Shape> expanded_shape(const OperatorCall& call, const Shape& from, Shape to) {
  if (to.size() < from.size())
    return call.shape_error(
        fmt::format("{} of {} to fewer axes {}", call.shown(), argument_text(from), argument_text(to)));
  const auto offset = to.size() - from.size();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i < offset) {
      if (to[i].value() < 0)
        return call.shape_error(fmt::format("{} has no size for the new axis {}", call.shown(), i));
    } else if (to[i].value() == -1 || to[i] == from[i - offset]) {
      to[i] = from[i - offset];
    } else if (from[i - offset].value() != 1) {
      return call.shape_error(
          fmt::format("{} cannot expand {} to {}", call.shown(), argument_text(from), argument_text(to)),
          "only axes of size 1 can be expanded");
    }
  }
  return to;
}

Result<void> expand_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  KW_TRY(auto shape, expanded_shape(call, input.shape, call.integers("size")));
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> expand_as_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  KW_TRY(auto shape, expanded_shape(call, input.shape, call.tensor("other").shape));
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> repeat_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  Shape repeats = call.integers("repeats");
  if (call.node().op == "tile" && repeats.size() < type.shape.size()) {
    repeats.insert(repeats.begin(), type.shape.size() - repeats.size(), Extent(1));
  }
  if (repeats.size() < type.shape.size())
    return call.shape_error(
        fmt::format("{} says how often for {} of {} axes", call.shown(), repeats.size(), type.shape.size()));
  type.shape.insert(type.shape.begin(), repeats.size() - type.shape.size(), Extent(1));
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    KW_TRY(type.shape[i], Extent::product(type.shape[i], repeats[i]));
  }
  call.output(std::move(type));
  return {};
}

Result<void> repeat_interleave_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  if (!call.given("dim")) {
    KW_TRY(const auto count, element_count(type.shape));
    type.shape = {count};
  }
  KW_TRY(const auto axis, call.given("dim") ? call.axis("dim", type.shape.size()) : Result<std::size_t>(0));
  if (type.shape.empty()) type.shape = {Extent(1)};
  KW_TRY(type.shape[axis], Extent::product(type.shape[axis], call.integer("repeats")));
  call.output(std::move(type));
  return {};
}

Result<void> flip_rule(OperatorCall& call) {
  KW_TRY_VOID(call.axes("dims", call.tensor("input").shape.size()));
  return keep_type(call);
}

Result<void> roll_rule(OperatorCall& call) {
  KW_TRY_VOID(call.axes("dims", call.tensor("input").shape.size()));
  return keep_type(call);
}

Result<void> triangle_rule(OperatorCall& call) {
  KW_TRY_VOID(call.require_rank("input", 2, 16));
  return keep_type(call);
}

/// Elements of a diagonal: min of what is left of both axes.
Result<void> diagonal_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const bool plain = call.node().op == "diag";
  KW_TRY_VOID(call.require_rank("input", plain ? 1 : 2, 16));
  const auto offset = call.integer(plain ? "diagonal" : "offset").value();
  constexpr std::int64_t k_farthest = std::int64_t{1} << 40U;
  if (offset < -k_farthest || offset > k_farthest)
    return call.value_error(fmt::format("diagonal {} of {}", offset, call.shown()));
  if (input.shape.size() == 1) {
    KW_TRY(const auto side, Extent::sum(input.shape[0], offset < 0 ? -offset : offset));
    call.output(input.dtype, {side, side});
    return {};
  }
  KW_TRY(const auto first, plain ? Result<std::size_t>(0) : call.axis("dim1", input.shape.size()));
  KW_TRY(const auto second, plain ? Result<std::size_t>(1) : call.axis("dim2", input.shape.size()));
  if (first == second) return call.value_error(fmt::format("{} of the same axis twice", call.shown()));
  const auto& rows = input.shape[first];
  const auto& columns = input.shape[second];
  KW_TRY(const auto row_rest, Extent::difference(rows, offset < 0 ? -offset : 0));
  KW_TRY(const auto column_rest, Extent::difference(columns, offset > 0 ? offset : 0));
  auto length = row_rest.value() < column_rest.value() ? row_rest : column_rest;
  if (length.value() < 0) length = 0;
  Shape shape;
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    if (i != first && i != second) shape.push_back(input.shape[i]);
  }
  shape.push_back(length);
  call.output(input.dtype, std::move(shape));
  return {};
}

Result<void> conversion_rule(OperatorCall& call) {
  call.output(std::get<ElementType>(call.value("dtype")), call.tensor("input").shape);
  return {};
}

constexpr std::array k_layout_rows = {
    OperatorRow{"view", "Tensor input, int... shape", "m", view_rule},
    OperatorRow{"reshape", "Tensor input, int... shape", "tm", view_rule},
    OperatorRow{"view_as", "Tensor input, Tensor other", "m x.reshape_as", view_as_rule},
    OperatorRow{"permute", "Tensor input, int... dims", "tm", permute_rule},
    OperatorRow{"transpose", "Tensor input, int dim0, int dim1",
                "tm torch.swapaxes x.swapaxes torch.swapdims x.swapdims", transpose_rule},
    OperatorRow{"t", "Tensor input", "tm", t_rule},
    OperatorRow{"movedim", "Tensor input, int[*] source, int[*] destination", "tm torch.moveaxis x.moveaxis",
                movedim_rule},
    OperatorRow{"flatten", "Tensor input, int start_dim=0, int end_dim=-1", "tm", flatten_rule},
    OperatorRow{"ravel", "Tensor input", "tm",
                [](OperatorCall& call) -> Result<void> {
                  KW_TRY(const auto count, element_count(call.tensor("input").shape));
                  call.output(call.tensor("input").dtype, {count});
                  return {};
                }},
    OperatorRow{"unflatten", "Tensor input, int dim, int[] sizes", "tm", unflatten_rule},
    OperatorRow{"squeeze", "Tensor input, int[*]? dim=None", "tm", squeeze_rule},
    OperatorRow{"unsqueeze", "Tensor input, int dim", "tm", unsqueeze_rule},
    OperatorRow{"expand", "Tensor input, int... size", "m torch.broadcast_to x.broadcast_to", expand_rule},
    OperatorRow{"expand_as", "Tensor input, Tensor other", "m", expand_as_rule},
    OperatorRow{"repeat", "Tensor input, int... repeats", "m", repeat_rule},
    OperatorRow{"tile", "Tensor input, int... repeats", "tm", repeat_rule},
    OperatorRow{"repeat_interleave", "Tensor input, int repeats, int? dim=None", "tm", repeat_interleave_rule},
    OperatorRow{"flip", "Tensor input, int... dims", "tm", flip_rule},
    OperatorRow{"roll", "Tensor input, int[*] shifts, int[*]? dims=None", "tm", roll_rule},
    OperatorRow{"tril", "Tensor input, int diagonal=0", "tmi", triangle_rule},
    OperatorRow{"triu", "Tensor input, int diagonal=0", "tmi", triangle_rule},
    OperatorRow{"diag", "Tensor input, int diagonal=0", "tm", diagonal_rule},
    OperatorRow{"diagonal", "Tensor input, int offset=0, int dim1=0, int dim2=1", "tm", diagonal_rule},
    OperatorRow{"to", "Tensor input, dtype dtype", "", conversion_rule},
};

}  // namespace

std::span<const OperatorRow> layout_rows() {
  return k_layout_rows;
}

}  // namespace kw
