// Functions of functions: functools, operator, and FlexAttention's own ways to join masks.

#include <algorithm>
#include <memory>
#include <utility>

#include "mod/frontend/call_table.hpp"

namespace kw {
namespace {

using Site = CallSite;
using Value = Result<ModValue>;

Value callable(Site& site) {
  return ModValue{is_callable(site.arguments[0])};
}

Value reduce(Site& site) {
  KW_TRY(const auto items, site.tracer.items_of(site.arguments[1], site.where));
  const bool started = !site.arguments[2].is_none();
  if (!started && items.empty()) {
    return site.error(errc::mod_type, "reduce of nothing has no value", "give it a third argument to start from");
  }
  auto result = started ? site.arguments[2] : items.front();
  for (std::size_t i = started ? 0 : 1; i < items.size(); ++i) {
    KW_TRY(result, site.tracer.call(site.arguments[0], {{result, items[i]}, {}}, site.where));
  }
  return result;
}

Value partial(Site& site) {
  if (site.arguments.empty() || !is_callable(site.arguments[0])) {
    return site.error(errc::mod_type, "partial takes a function first");
  }
  auto callee = std::move(site.arguments[0]);
  CallArguments given{{std::next(site.arguments.begin()), site.arguments.end()}, std::move(site.keywords)};
  if (const auto* inner = callee.as<PartialRef>()) {  // partial(partial(f, a), b) is partial(f, a, b)
    auto joined = *inner->given;
    for (auto& value : given.positional) joined.positional.push_back(std::move(value));
    for (auto& [name, value] : given.keywords) {
      const auto& wanted = name;
      auto same = std::find_if(joined.keywords.begin(), joined.keywords.end(),
                               [&](const auto& keyword) { return keyword.first == wanted; });
      if (same == joined.keywords.end()) same = joined.keywords.insert(same, {name, {}});
      same->second = std::move(value);
    }
    given = std::move(joined);
    callee = ModValue{*inner->callee};
  }
  KW_TRY_VOID(site.tracer.check_size(site.where, given.positional.size() + given.keywords.size()));
  int height = height_of(callee);
  for (const auto& value : given.positional) height = std::max(height, height_of(value));
  for (const auto& [name, value] : given.keywords) height = std::max(height, height_of(value));
  KW_TRY_VOID(site.tracer.check_height(height + 1, site.where));
  return ModValue{PartialRef{std::make_shared<const ModValue>(std::move(callee)),
                             std::make_shared<const CallArguments>(std::move(given)), height + 1}};
}

/// and_masks, or or_masks by the row's symbol.
Value join_masks(Site& site) {
  if (!std::all_of(site.arguments.begin(), site.arguments.end(), is_callable)) {
    return site.error(errc::mod_type, fmt::format("{} takes functions", site.shown),
                      "pass mask_mods, without calling them");
  }
  int height = 1;
  for (const auto& mask : site.arguments) height = std::max(height, height_of(mask) + 1);
  KW_TRY_VOID(site.tracer.check_height(height, site.where));
  return ModValue{JoinedMasksRef{site.row.symbol == "&",
                                 std::make_shared<const std::vector<ModValue>>(std::move(site.arguments)), height}};
}

Value no_mask(Site& site) {
  site.tracer.builder().set_place(site.where);
  return node_value(site.tracer.builder().boolean(true));
}

constexpr CallRow k_function_rows[] = {
    {"callable", "obj", callable},
    {"functools.reduce", "function iterable initial?", reduce},
    {"functools.partial", "", partial, ExprOp::constant, {}, nullptr, true, true},
    {"and_masks", "", join_masks, ExprOp::constant, "&", nullptr, true},
    {"or_masks", "", join_masks, ExprOp::constant, "|", nullptr, true},
    {"noop_mask", "batch head q_idx kv_idx", no_mask},
    {"operator.add", "a b", call_operator, ExprOp::add, "+"},
    {"operator.sub", "a b", call_operator, ExprOp::subtract, "-"},
    {"operator.mul", "a b", call_operator, ExprOp::multiply, "*"},
    {"operator.truediv", "a b", call_operator, ExprOp::divide, "/"},
    {"operator.floordiv", "a b", call_operator, ExprOp::floor_divide, "//"},
    {"operator.mod", "a b", call_operator, ExprOp::modulo, "%"},
    {"operator.pow", "a b", call_operator, ExprOp::power, "**"},
    {"operator.and_", "a b", call_operator, ExprOp::bit_and, "&"},
    {"operator.or_", "a b", call_operator, ExprOp::bit_or, "|"},
    {"operator.xor", "a b", call_operator, ExprOp::bit_xor, "^"},
    {"operator.lshift", "a b", call_operator, ExprOp::shift_left, "<<"},
    {"operator.rshift", "a b", call_operator, ExprOp::shift_right, ">>"},
    {"operator.lt", "a b", call_operator, ExprOp::less, "<"},
    {"operator.le", "a b", call_operator, ExprOp::less_equal, "<="},
    {"operator.gt", "a b", call_operator, ExprOp::greater, ">"},
    {"operator.ge", "a b", call_operator, ExprOp::greater_equal, ">="},
    {"operator.eq", "a b", call_operator, ExprOp::equal, "=="},
    {"operator.ne", "a b", call_operator, ExprOp::not_equal, "!="},
    {"operator.neg", "a", call_unary_operator, ExprOp::negate, "-"},
    {"operator.inv", "a", call_unary_operator, ExprOp::bit_not, "~"},
    {"operator.invert", "a", call_unary_operator, ExprOp::bit_not, "~"},
};

}  // namespace

std::span<const CallRow> function_rows() {
  return k_function_rows;
}

}  // namespace kw
