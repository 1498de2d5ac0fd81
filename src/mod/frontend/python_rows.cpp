// Functions of Python that run through something, all at trace time.

#include <algorithm>
#include <utility>

#include "mod/frontend/call_table.hpp"
#include "mod/frontend/python_numbers.hpp"
#include "mod/frontend/traced_tensor.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;
using Items = std::vector<ModValue>;

Result<Items> items(Site& site, std::size_t index) {
  return site.tracer.items_of(site.arguments[index], site.where);
}
Value list_of(Site& site, Items values) {
  return site.tracer.make_tuple(std::move(values), true, site.where);
}
Value tuple_of(Site& site, Items values) {
  return site.tracer.make_tuple(std::move(values), false, site.where);
}

/// An integer that Python knows.
Result<std::int64_t> integer(Site& site, const ModValue& value) {
  if (const auto* number = value.as<std::int64_t>()) return *number;
  if (const auto* node = value.as<NodeRef>()) {
    const auto number = site.tracer.known(node->id);
    const bool whole = site.tracer.builder().type(node->id) != ScalarType::real;
    if (number && whole) return static_cast<std::int64_t>(*number);
    const auto why = site.tracer.is_static(node->id) ? "an axis: one mod serves every workload"
                                                     : "a value that is only known in the kernel";
    return site.error(errc::mod_unsupported, fmt::format("{} cannot depend on {}", site.shown, why),
                      "give the number under [constants], or write it");
  }
  return site.error(errc::mod_type, fmt::format("{} takes integers, but gets {}", site.shown, describe(value)));
}

Value range(Site& site) {
  if (site.arguments.empty() || site.arguments.size() > 3) {
    return site.error(errc::mod_type, fmt::format("range takes 1 to 3 arguments, but gets {}", site.arguments.size()));
  }
  std::vector<std::int64_t> bounds;
  for (const auto& argument : site.arguments) {
    KW_TRY(const auto bound, integer(site, argument));
    bounds.push_back(bound);
  }
  if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
  if (bounds.size() == 2) bounds.push_back(1);
  const auto step = bounds[2];
  if (step == 0) return site.error(errc::mod_type, "the step of a range is 0");
  constexpr std::size_t k_longest = 10'001;  // one more than a tuple may hold, so that make_tuple refuses it
  Items values;
  for (auto at = bounds[0]; values.size() < k_longest && (step > 0 ? at < bounds[1] : at > bounds[1]);) {
    values.push_back({at});
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return tuple_of(site, std::move(values));
}

Value len(Site& site) {
  if (const auto* tuple = site.arguments[0].as<TupleRef>()) {
    return ModValue{static_cast<std::int64_t>(tuple->items->size())};
  }
  if (const auto* tensor = site.arguments[0].as<TensorRef>()) {
    site.tracer.builder().set_place(site.where);
    return open_extents(site.tracer.builder(), *tensor).front();
  }
  return site.error(errc::mod_type, fmt::format("{} has no length", describe(site.arguments[0])));
}

Value enumerate(Site& site) {
  KW_TRY(auto values, items(site, 0));
  std::int64_t at = 0;
  if (!site.arguments[1].is_none()) {
    KW_TRY(at, integer(site, site.arguments[1]));
  }
  for (auto& value : values) {
    ModValue number{at};
    KW_TRY(const auto next, site.tracer.binary("+", number, ModValue{std::int64_t{1}}, site.where));
    KW_TRY(value, tuple_of(site, {std::move(number), std::move(value)}));
    at = *next.as<std::int64_t>();
  }
  return list_of(site, std::move(values));
}

/// As many turns as the shortest of the arguments has items.
Result<std::vector<Items>> in_parallel(Site& site, std::size_t first) {
  std::vector<Items> columns;
  std::size_t turns = site.arguments.size() > first ? SIZE_MAX : 0;
  for (std::size_t i = first; i < site.arguments.size(); ++i) {
    KW_TRY(auto column, items(site, i));
    turns = std::min(turns, column.size());
    columns.push_back(std::move(column));
  }
  std::vector<Items> rows(turns);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (auto& column : columns) rows[turn].push_back(std::move(column[turn]));
  }
  return rows;
}

Value zip(Site& site) {
  for (const auto& [keyword, value] : site.keywords) {
    if (keyword != "strict") return site.error(errc::mod_unsupported, fmt::format("zip has no argument '{}'", keyword));
  }
  KW_TRY(auto rows, in_parallel(site, 0));
  Items values;
  for (auto& row : rows) {
    KW_TRY(auto value, tuple_of(site, std::move(row)));
    values.push_back(std::move(value));
  }
  return list_of(site, std::move(values));
}

Value map(Site& site) {
  if (site.arguments.size() < 2) return site.error(errc::mod_type, "map takes a function and what it is applied to");
  KW_TRY(auto rows, in_parallel(site, 1));
  Items values;
  for (auto& row : rows) {
    KW_TRY(auto value, site.tracer.call(site.arguments[0], {std::move(row), {}}, site.where));
    values.push_back(std::move(value));
  }
  return list_of(site, std::move(values));
}

Value reversed(Site& site) {
  KW_TRY(auto values, items(site, 0));
  std::reverse(values.begin(), values.end());
  return list_of(site, std::move(values));
}

Value sorted(Site& site) {
  KW_TRY(auto values, items(site, 0));
  if (!std::all_of(values.begin(), values.end(), [](const ModValue& value) { return value.is_number(); })) {
    return site.error(errc::mod_unsupported, "sorted orders numbers only", "write the values in their order");
  }
  KW_TRY(const bool falling, site.tracer.decide(site.arguments[1], site.where, "'reverse'", {}));
  std::stable_sort(values.begin(), values.end(), [&](const ModValue& a, const ModValue& b) {
    return falling ? python_float(b) < python_float(a) : python_float(a) < python_float(b);
  });
  return list_of(site, std::move(values));
}

Value sum(Site& site) {
  KW_TRY(const auto values, items(site, 0));
  auto total = site.arguments[1].is_none() ? ModValue{std::int64_t{0}} : site.arguments[1];
  for (const auto& value : values) {
    KW_TRY(total, site.tracer.binary("+", total, value, site.where));
  }
  return total;
}

/// all, or any by the row's symbol.
Value all_or_any(Site& site) {
  const bool any = site.row.symbol == "any";
  KW_TRY(const auto values, items(site, 0));
  for (const auto& value : values) {
    KW_TRY(const bool truth, site.tracer.decide(value, site.where, fmt::format("'{}'", site.shown),
                                                fmt::format("join the values with '{}'", any ? "|" : "&")));
    if (truth == any) return ModValue{any};
  }
  return ModValue{!any};
}

Value make_list(Site& site) {
  if (site.arguments[0].is_none()) return list_of(site, {});
  KW_TRY(auto values, items(site, 0));
  return list_of(site, std::move(values));
}
Value make_tuple(Site& site) {
  if (site.arguments[0].is_none()) return tuple_of(site, {});
  KW_TRY(auto values, items(site, 0));
  return tuple_of(site, std::move(values));
}

constexpr CallRow k_python_rows[] = {
    {"range", "", range, ExprOp::constant, {}, nullptr, true},
    {"len", "obj", len},
    {"enumerate", "iterable start?", enumerate},
    {"zip", "", zip, ExprOp::constant, {}, nullptr, true, true},
    {"map", "", map, ExprOp::constant, {}, nullptr, true},
    {"reversed", "sequence", reversed},
    {"sorted", "iterable reverse?", sorted},
    {"sum", "iterable start?", sum},
    {"all", "iterable", all_or_any, ExprOp::constant, "all"},
    {"any", "iterable", all_or_any, ExprOp::constant, "any"},
    {"list", "iterable?", make_list},
    {"tuple", "iterable?", make_tuple},
};

}  // namespace

std::span<const CallRow> python_rows() {
  return k_python_rows;
}

}  // namespace kw
