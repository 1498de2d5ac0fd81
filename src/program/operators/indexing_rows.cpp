// Joining, cutting, padding and indexing of tensors.

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.hpp"
#include "program/operators/operator_table.hpp"

namespace kw {
namespace {

/// Of the pieces of a list: the promoted type, and equal extents but for `axis`.
Result<TensorType> joined_type(const OperatorCall& call, std::size_t axis) {
  const auto pieces = call.tensors("tensors");
  TensorType type = *pieces.front();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto& shape = pieces[i]->shape;
    type.dtype = promoted(type.dtype, pieces[i]->dtype);
    bool fits = shape.size() == type.shape.size();
    for (std::size_t k = 0; fits && k < shape.size(); ++k) fits = k == axis || shape[k] == type.shape[k];
    if (!fits) {
      return call.shape_error(
          fmt::format("{} joins {} and {}", call.shown(), argument_text(pieces.front()->shape), argument_text(shape)),
          fmt::format("all axes but {} must agree", axis));
    }
  }
  return type;
}

Result<void> require_pieces(const OperatorCall& call) {
  if (!call.tensors("tensors").empty()) return {};
  return call.value_error(fmt::format("{} of no tensors", call.shown()));
}

Result<void> cat_rule(OperatorCall& call) {
  KW_TRY_VOID(require_pieces(call));
  const auto pieces = call.tensors("tensors");
  KW_TRY(const auto axis, call.axis("dim", pieces.front()->shape.size()));
  if (pieces.front()->shape.empty())
    return call.shape_error(fmt::format("{} of single numbers", call.shown()), "use torch.stack");
  KW_TRY(auto type, joined_type(call, axis));
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    KW_TRY(type.shape[axis], Extent::sum(type.shape[axis], pieces[i]->shape[axis]));
  }
  call.canonical("dim", Extent(static_cast<std::int64_t>(axis)));
  call.output(std::move(type));
  return {};
}

Result<void> stack_rule(OperatorCall& call) {
  KW_TRY_VOID(require_pieces(call));
  const auto pieces = call.tensors("tensors");
  KW_TRY(const auto axis, call.axis("dim", pieces.front()->shape.size() + 1));
  KW_TRY(auto type, joined_type(call, pieces.front()->shape.size()));
  type.shape.insert(type.shape.begin() + static_cast<std::ptrdiff_t>(axis),
                    Extent(static_cast<std::int64_t>(pieces.size())));
  call.output(std::move(type));
  return {};
}

/// The results of cutting `axis` into pieces of these sizes.
Result<void> cut(OperatorCall& call, std::size_t axis, const Shape& sizes) {
  constexpr std::size_t k_most_pieces = 1024;
  if (sizes.size() > k_most_pieces) {
    return fail(Error{errc::program_limit, fmt::format("{} makes {} tensors", call.shown(), sizes.size()),
                      fmt::format("at most {} are read", k_most_pieces)});
  }
  for (const auto& size : sizes) {
    auto type = call.tensor("input");
    type.shape[axis] = size;
    call.output(std::move(type));
  }
  call.as_tuple();
  return {};
}

/// Pieces of `size`, the last one smaller where it does not come out.
Result<void> cut_evenly(OperatorCall& call, std::size_t axis, const Extent& size) {
  const auto& extent = call.tensor("input").shape[axis];
  if (size.value() <= 0) return call.value_error(fmt::format("{} into pieces of {}", call.shown(), size.value()));
  KW_TRY(const auto whole, Extent::quotient(extent, size));
  constexpr std::int64_t k_most = 1025;
  Shape sizes(static_cast<std::size_t>(std::min(whole.value(), k_most)), size);
  KW_TRY(const auto used, Extent::product(whole, size));
  KW_TRY(const auto rest, Extent::difference(extent, used));
  if (rest.value() > 0) sizes.push_back(rest);
  if (sizes.empty()) sizes.push_back(extent);
  return cut(call, axis, sizes);
}

Result<std::size_t> cut_axis(const OperatorCall& call) {
  const auto rank = call.tensor("input").shape.size();
  if (rank == 0) return call.shape_error(fmt::format("{} of a single number", call.shown()));
  return call.axis("dim", rank);
}

Result<void> chunk_rule(OperatorCall& call) {
  KW_TRY(const auto axis, cut_axis(call));
  const auto& extent = call.tensor("input").shape[axis];
  const auto& chunks = call.integer("chunks");
  if (chunks.value() <= 0) return call.value_error(fmt::format("{} into {} pieces", call.shown(), chunks.value()));
  KW_TRY(auto size, Extent::quotient(extent, chunks));
  if (extent.value() % chunks.value() != 0) size = Extent(size.value() + 1);
  return cut_evenly(call, axis, size);
}

Result<void> split_rule(OperatorCall& call) {
  KW_TRY(const auto axis, cut_axis(call));
  const auto& sizes = call.integers("split_size_or_sections");
  if (sizes.size() == 1) return cut_evenly(call, axis, sizes[0]);
  std::int64_t total = 0;
  for (const auto& size : sizes) total += size.value();
  if (total != call.tensor("input").shape[axis].value()) {
    return call.shape_error(fmt::format("{} into {} of an axis of {}", call.shown(), argument_text(sizes),
                                        call.tensor("input").shape[axis].value()));
  }
  return cut(call, axis, sizes);
}

Result<void> unbind_rule(OperatorCall& call) {
  KW_TRY(const auto axis, cut_axis(call));
  const auto& input = call.tensor("input");
  const auto count = input.shape[axis].value();
  constexpr std::int64_t k_most = 1024;
  if (count > k_most) {
    return fail(Error{errc::program_limit, fmt::format("{} makes {} tensors", call.shown(), count),
                      "write the loop over this axis as operations on the whole tensor"});
  }
  auto shape = input.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::int64_t i = 0; i < count; ++i) call.output(input.dtype, shape);
  call.as_tuple();
  return {};
}

Result<void> select_rule(OperatorCall& call) {
  KW_TRY(const auto axis, cut_axis(call));
  auto type = call.tensor("input");
  const auto extent = type.shape[axis].value();
  const auto index = call.integer("index").value();
  if (index < -extent || index >= extent) {
    return call.value_error(fmt::format("index {} of {} is out of range for axis {} of {}", index, call.shown(), axis,
                                        argument_text(type.shape)));
  }
  type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  call.canonical("dim", Extent(static_cast<std::int64_t>(axis)));
  call.output(std::move(type));
  return {};
}

Result<void> narrow_rule(OperatorCall& call) {
  KW_TRY(const auto axis, cut_axis(call));
  auto type = call.tensor("input");
  KW_TRY(const auto end, Extent::sum(call.integer("start"), call.integer("length")));
  if (call.integer("start").value() < 0 || call.integer("length").value() < 0 ||
      end.value() > type.shape[axis].value()) {
    return call.value_error(fmt::format("{} from {} to {} of an axis of {}", call.shown(),
                                        call.integer("start").value(), end.value(), type.shape[axis].value()));
  }
  type.shape[axis] = call.integer("length");
  call.canonical("dim", Extent(static_cast<std::int64_t>(axis)));
  call.output(std::move(type));
  return {};
}

/// An end of a slice as Python takes it: from behind where it is negative, and never outside of the axis.
Result<Extent> slice_end(const Extent& written, const Extent& extent) {
  Extent end = written;
  if (end.value() < 0) {
    KW_TRY(end, Extent::sum(extent, end));
  }
  if (end.value() < 0) return Extent(0);
  return end.value() > extent.value() ? extent : end;
}

Result<void> slice_rule(OperatorCall& call) {
  KW_TRY(const auto axis, cut_axis(call));
  auto type = call.tensor("input");
  const auto& step = call.integer("step");
  if (step.value() <= 0)
    return call.value_error("the step of a slice of a tensor is positive", "use torch.flip to turn an axis round");
  KW_TRY(const auto first, slice_end(call.given("start") ? call.integer("start") : Extent(0), type.shape[axis]));
  KW_TRY(const auto last, slice_end(call.given("end") ? call.integer("end") : type.shape[axis], type.shape[axis]));
  KW_TRY(auto length, Extent::difference(last, first));
  if (length.value() < 0) length = 0;
  if (step.value() > 1) {
    KW_TRY(length, Extent::sum(length, step.value() - 1));
    KW_TRY(length, Extent::quotient(length, step));
  }
  call.canonical("start", first);
  call.canonical("end", last);
  type.shape[axis] = length;
  call.output(std::move(type));
  return {};
}

Result<void> require_index(const OperatorCall& call, std::string_view name) {
  const auto type = call.tensor(name).dtype;
  if (type == ElementType::int64 || type == ElementType::int32) return {};
  return call.type_error(fmt::format("'{}' of {} is {}, not int64", name, call.shown(), to_string(type)),
                         "convert it: index.long()");
}

Result<void> gather_rule(OperatorCall& call) {
  KW_TRY_VOID(require_index(call, "index"));
  const auto& input = call.tensor("input");
  KW_TRY(const auto axis, call.axis("dim", input.shape.size()));
  const auto& index = call.tensor("index").shape;
  bool fits = index.size() == input.shape.size();
  for (std::size_t i = 0; fits && i < index.size(); ++i) fits = i == axis || index[i].value() <= input.shape[i].value();
  if (!fits)
    return call.shape_error(
        fmt::format("{} of {} with indices of {}", call.shown(), argument_text(input.shape), argument_text(index)));
  call.output(input.dtype, index);
  return {};
}

Result<void> index_select_rule(OperatorCall& call) {
  KW_TRY_VOID(require_index(call, "index"));
  auto type = call.tensor("input");
  KW_TRY(const auto axis, cut_axis(call));
  KW_TRY_VOID(call.require_rank("index", 0, 1));
  const auto& index = call.tensor("index").shape;
  type.shape[axis] = index.empty() ? Extent(1) : index[0];
  call.output(std::move(type));
  return {};
}

Result<void> scatter_rule(OperatorCall& call) {
  KW_TRY_VOID(require_index(call, "index"));
  KW_TRY_VOID(call.axis("dim", call.tensor("input").shape.size()));
  return keep_type(call);
}

/// One of `known` is the word that says how elements meet.
Result<void> require_meeting(const OperatorCall& call, std::initializer_list<std::string_view> known) {
  const auto& word = call.text("reduce");
  if (std::ranges::find(known, word) != known.end()) return {};
  return call.value_error(
      fmt::format("reduce '{}' of {}", word, call.shown()),
      fmt::format("write '{}'", join(std::vector<std::string>(known.begin(), known.end()), "', '")));
}

Result<void> plain_scatter_rule(OperatorCall& call) {
  if (call.given("reduce")) KW_TRY_VOID(require_meeting(call, {"add", "multiply"}));
  return scatter_rule(call);
}

Result<void> scatter_reduce_rule(OperatorCall& call) {
  KW_TRY_VOID(require_meeting(call, {"sum", "prod", "mean", "amax", "amin"}));
  if (call.text("reduce") == "mean" && !is_floating(call.tensor("input").dtype)) {
    return call.unsupported(fmt::format("{} of a mean of integers", call.shown()), "convert them: input.float()");
  }
  return scatter_rule(call);
}

Result<void> embedding_rule(OperatorCall& call) {
  KW_TRY_VOID(require_index(call, "input"));
  KW_TRY_VOID(call.require_rank("weight", 2, 2));
  const auto& weight = call.tensor("weight");
  auto shape = call.tensor("input").shape;
  shape.push_back(weight.shape[1]);
  call.derive("num_embeddings", weight.shape[0]);
  call.derive("embedding_dim", weight.shape[1]);
  call.output(weight.dtype, std::move(shape));
  return {};
}

Result<void> one_hot_rule(OperatorCall& call) {
  KW_TRY_VOID(require_index(call, "input"));
  if (call.integer("num_classes").value() <= 0) {
    return call.unsupported(fmt::format("the classes of {} would depend on values", call.shown()), "give num_classes");
  }
  auto shape = call.tensor("input").shape;
  shape.push_back(call.integer("num_classes"));
  call.output(ElementType::int64, std::move(shape));
  return {};
}

/// x[:, i, j] with tensors: axes `dim` and the following are replaced by what the indices broadcast to.
Result<void> index_rule(OperatorCall& call) {
  const auto& input = call.tensor("input");
  const auto axis = static_cast<std::size_t>(call.integer("dim").value());
  Shape common;
  const auto indices = call.tensors("indices");
  for (const auto* index : indices) {
    if (index->dtype == ElementType::boolean) {
      return call.unsupported("indexing by a mask makes a tensor whose size depends on values",
                              "use torch.where, or multiply by the mask");
    }
    if (is_floating(index->dtype))
      return call.type_error(fmt::format("an index of type {}", to_string(index->dtype)), "convert it: index.long()");
    KW_TRY(common, broadcast(common, index->shape));
  }
  if (axis + indices.size() > input.shape.size()) return call.shape_error("more indices than axes");
  Shape shape(input.shape.begin(), input.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), common.begin(), common.end());
  shape.insert(shape.end(), input.shape.begin() + static_cast<std::ptrdiff_t>(axis + indices.size()),
               input.shape.end());
  call.output(input.dtype, std::move(shape));
  return {};
}

/// Amounts stand in pairs (before, behind) from the last axis on.
Result<void> pad_rule(OperatorCall& call) {
  auto type = call.tensor("input");
  const auto& amounts = call.integers("pad");
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > type.shape.size()) {
    return call.value_error(
        fmt::format("{} with {} amounts for {} axes", call.shown(), amounts.size(), type.shape.size()),
        "give two for each axis, the last axis first");
  }
  const auto& mode = call.text("mode");
  if (mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular") {
    return call.value_error(fmt::format("mode '{}' of {}", mode, call.shown()),
                            "write 'constant', 'reflect', 'replicate' or 'circular'");
  }
  for (std::size_t i = 0; i < amounts.size(); i += 2) {
    auto& extent = type.shape[type.shape.size() - 1 - i / 2];
    const auto limit = mode == "reflect" ? extent.value() - 1 : extent.value();
    if ((mode == "reflect" || mode == "circular") && std::max(amounts[i].value(), amounts[i + 1].value()) > limit) {
      return call.shape_error(fmt::format("{} by more than the axis of {} holds", call.shown(), extent.value()));
    }
    KW_TRY(extent, Extent::sum(extent, amounts[i]));
    KW_TRY(extent, Extent::sum(extent, amounts[i + 1]));
  }
  call.output(std::move(type));
  return {};
}

constexpr std::array k_joining_rows = {
    OperatorRow{"cat", "Tensor[] tensors, int dim=0", "t torch.concat torch.concatenate", cat_rule},
    OperatorRow{"stack", "Tensor[] tensors, int dim=0", "t", stack_rule},
    OperatorRow{"chunk", "Tensor input, int chunks, int dim=0", "tm", chunk_rule},
    OperatorRow{"split", "Tensor input, int[*] split_size_or_sections, int dim=0", "tm", split_rule},
    OperatorRow{"unbind", "Tensor input, int dim=0", "tm", unbind_rule},
    OperatorRow{"pad", "Tensor input, int[] pad, str mode='constant', float? value=None", "f", pad_rule},
};

constexpr std::array k_indexing_rows = {
    OperatorRow{"select", "Tensor input, int dim, int index", "tm", select_rule},
    OperatorRow{"narrow", "Tensor input, int dim, int start, int length", "tm", narrow_rule},
    OperatorRow{"slice", "Tensor input, int dim, int? start=None, int? end=None, int step=1", "", slice_rule},
    OperatorRow{"index", "Tensor input, int dim, Tensor[] indices", "", index_rule},
    OperatorRow{"gather", "Tensor input, int dim, Tensor index, bool sparse_grad=False", "tm", gather_rule},
    OperatorRow{"take_along_dim", "Tensor input, Tensor index, int dim", "tm", gather_rule},
    OperatorRow{"index_select", "Tensor input, int dim, Tensor index", "tm", index_select_rule},
    OperatorRow{"scatter", "Tensor input, int dim, Tensor index, Operand src, str? reduce=None", "tm",
                plain_scatter_rule},
    OperatorRow{"scatter_add", "Tensor input, int dim, Tensor index, Tensor src", "tm", scatter_rule},
    OperatorRow{"scatter_reduce", "Tensor input, int dim, Tensor index, Tensor src, str reduce, bool include_self=True",
                "tm", scatter_reduce_rule},
    OperatorRow{"embedding",
                "Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool "
                "scale_grad_by_freq=False, bool sparse=False",
                "f", embedding_rule},
    OperatorRow{"one_hot", "Tensor input, int num_classes=-1", "f", one_hot_rule},
};

}  // namespace

std::span<const OperatorRow> joining_rows() {
  return k_joining_rows;
}

std::span<const OperatorRow> indexing_rows() {
  return k_indexing_rows;
}

}  // namespace kw
