// Lists that change after they were made.

#include <algorithm>
#include <utility>

#include "mod/frontend/call_table.hpp"
#include "mod/frontend/trace_depth.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

constexpr std::size_t k_longest_list = 10'000;

/// Where an integer that Python knows falls among `length` items; nothing when it is outside, or no integer.
std::optional<std::size_t> known_index(const ModValue& index, std::size_t length) {
  const auto* at = index.as<std::int64_t>();
  const auto items = static_cast<std::int64_t>(length);
  if (at == nullptr || *at < -items || *at >= items) return std::nullopt;
  return static_cast<std::size_t>(*at < 0 ? *at + items : *at);
}

tl::unexpected<Error> bad_index(const ModValue& index, std::size_t length, const SourcePlace& where) {
  if (index.is_node()) {
    return fail_at(errc::mod_unsupported, where,
                   "a list cannot be changed at an index that is only known in the kernel",
                   "choose with torch.where instead");
  }
  return fail_at(errc::mod_type, where,
                 fmt::format("a list of {} item{} has no item of this index", length, length == 1 ? "" : "s"),
                 "write a constant inside its length");
}

Result<void> check_flat(ModTracer& tracer, const ModValue& value, const SourcePlace& where) {
  const auto search = search_list(value);
  KW_TRY_VOID(tracer.check_size(where, search.looked_at));
  if (!search.found) return {};
  return fail_at(errc::mod_unsupported, where, "a list cannot be put into another one that exists already",
                 "put in a tuple, or build the outer list at once, as in [[x, y] for x in items]");
}

using Site = CallSite;
using Value = Result<ModValue>;

/// The list whose method is called.
Result<TupleRef> self(const Site& site) {
  const auto* list = site.arguments[0].as<TupleRef>();
  if (list != nullptr && list->list) return *list;
  return site.error(errc::mod_type, fmt::format("{} is no list", describe(site.arguments[0])));
}

Value append(Site& site) {
  KW_TRY(const auto list, self(site));
  KW_TRY_VOID(site.tracer.put(list, list.items->size(), std::move(site.arguments[1]), site.where));
  return ModValue{};
}

Value extend(Site& site) {
  KW_TRY(const auto list, self(site));
  KW_TRY(auto items, site.tracer.items_of(site.arguments[1], site.where));
  for (auto& item : items) KW_TRY_VOID(site.tracer.put(list, list.items->size(), std::move(item), site.where));
  return ModValue{};
}

/// An index outside of the list means its nearer end.
Value insert(Site& site) {
  KW_TRY(const auto list, self(site));
  const auto length = static_cast<std::int64_t>(list.items->size());
  const auto* at = site.arguments[1].as<std::int64_t>();
  if (at == nullptr) return bad_index(site.arguments[1], list.items->size(), site.where);
  const auto index = std::clamp<std::int64_t>(*at < 0 ? std::max(*at, -length) + length : *at, 0, length);
  KW_TRY_VOID(site.tracer.put(list, static_cast<std::size_t>(index), std::move(site.arguments[2]), site.where));
  return ModValue{};
}

Value pop(Site& site) {
  KW_TRY(const auto list, self(site));
  const auto last = site.arguments[1].is_none() ? ModValue{std::int64_t{-1}} : site.arguments[1];
  const auto index = known_index(last, list.items->size());
  if (!index) return bad_index(last, list.items->size(), site.where);
  const auto at = list.items->begin() + static_cast<std::ptrdiff_t>(*index);
  auto value = std::move(*at);
  list.items->erase(at);
  return value;
}

Value copy(Site& site) {
  KW_TRY(const auto list, self(site));
  return site.tracer.make_tuple(*list.items, true, site.where);
}

constexpr CallRow k_list_rows[] = {
    {"list.append", "self object", append},
    {"list.extend", "self iterable", extend},
    {"list.insert", "self index object", insert},
    {"list.pop", "self index?", pop},
    {"list.copy", "self", copy},
};

}  // namespace

Result<void> ModTracer::put(const TupleRef& list, std::size_t index, ModValue value, const SourcePlace& where) {
  KW_TRY_VOID(check_size(where, list.items->size() - index + 1));
  KW_TRY_VOID(check_flat(*this, value, where));
  if (list.items->size() >= k_longest_list) {
    return fail_at(errc::mod_limit, where, fmt::format("a tuple or a list has at most {} items", k_longest_list),
                   "put large tables under [tensors] in the problem file");
  }
  list.items->insert(list.items->begin() + static_cast<std::ptrdiff_t>(index), std::move(value));
  return {};
}

/// items[index] = value.
Result<void> ModTracer::assign_element(const PyExpr& target, const ModValue& value, const TraceScope& scope) {
  KW_TRY(const auto object, evaluate(*target.children[0], scope));
  const auto* list = object.as<TupleRef>();
  if (list == nullptr || !list->list) {
    return fail_at(errc::mod_unsupported, target.where,
                   fmt::format("writing to an element of {} is not supported", describe(object)),
                   "a mod only computes a value; assign to names and to items of lists");
  }
  KW_TRY(const auto index, evaluate(*target.children[1], scope));
  if (index.as<SliceRef>() != nullptr) {
    return fail_at(errc::mod_unsupported, target.where, "writing to a slice is not supported",
                   "assign to one item, or build the list at once");
  }
  const auto at = known_index(index, list->items->size());
  if (!at) return bad_index(index, list->items->size(), target.where);
  KW_TRY_VOID(check_flat(*this, value, target.where));
  (*list->items)[*at] = value;
  return {};
}

/// The value that "x += y" assigns; a list grows where it is.
Result<ModValue> ModTracer::augmented(const PyStatement& statement, const TraceScope& scope) {
  const TraceDepth level(depth_);
  KW_TRY(const auto left, evaluate(*statement.targets.front(), scope));
  KW_TRY(const auto right, evaluate(*statement.value, scope));
  const auto* list = left.as<TupleRef>();
  if (list == nullptr || !list->list || statement.op != "+") {
    return binary(statement.op, left, right, statement.op_where);
  }
  KW_TRY(auto items, items_of(right, statement.op_where));
  for (auto& item : items) KW_TRY_VOID(put(*list, list->items->size(), std::move(item), statement.op_where));
  return left;
}

std::span<const CallRow> list_rows() {
  return k_list_rows;
}

}  // namespace kw
