#include "operators/program/kernels/contract_statistics_text.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

std::string statistics_section(const char* name, const Fillings& fillings) {
  return fill_lines(kernel_text("program/statistics.cu", name), fillings);
}

/// The launch for one of the moments.
class JoinText {
 public:
  JoinText(const GroupContext& context, const ContractStatistics& statistics, const JoinedMoments& moments,
           const StatisticsParts& parts)
      : context_(context),
        moments_(moments),
        parts_(parts),
        axes_(joined_axes(parts.batch, statistics.contraction.rows)),
        joined_(joined_by_parts(statistics, moments, parts.batch)),
        scope_(context.buffers, stage_over(moments.sum.axes, joined_), context.dialect,
               {"id", "part", "parts", "joined", "left", "sum", "squares", "apart", "tile_count", "of_warps",
                "of_warps_too"}) {}

  GroupKernels write() {
    const auto& sum = context_.buffers[moments_.sum.buffer];
    const auto threads = std::to_string(thread_count());
    const auto kernel = kernel_of_buffer(context_, moments_.sum.buffer);
    Fillings fillings = {
        {"name", moments_.squares ? fmt::format("{} and {}", sum.name, squares_name()) : sum.name},
        {"threads", threads},
        {"qualifier", fill_lines(context_.dialect->kernel_qualifier, {{"threads", threads}})},
        {"more_warps",
         moments_.squares ? fmt::format("__shared__ float of_warps_too[{} / 32];", threads) : std::string()},
        {"tile_count", parts_.tiles_in(scope_)},
        {"joined_count", scope_.extent(extent_of(joined_))}};
    fillings.emplace_back("part", part());
    auto stores = fill_sum(fillings);
    if (moments_.squares) {
      stores += "\n" + fill_squares(fillings);
    } else {
      fillings.emplace_back("squares", "");
    }
    fillings.emplace_back("stores", stores);
    fillings.emplace_back("axes", join_lines(index_statements(scope_, moments_.sum.axes, "id", scope_.used_axes())));
    ContractArguments arguments(context_.dialect);
    arguments.add(DType::f32, false, "parts", parts_.buffer);
    for (const auto buffer : scope_.loaded()) {
      const auto& held = context_.buffers[buffer];
      arguments.add(held.dtype, false, held.name, held.argument);
    }
    arguments.add(sum.dtype, true, sum.name, sum.argument);
    if (moments_.squares) {
      const auto& squares = context_.buffers[moments_.squares->buffer];
      arguments.add(squares.dtype, true, squares.name, squares.argument);
    }
    arguments.add_integers(scope_);
    fillings.emplace_back("signature", arguments.signature(kernel));
    GroupKernels kernels;
    kernels.source = with_short_lines(statistics_section("join", fillings));
    kernels.launches.push_back(
        {kernel, {count_expression(extents_of(moments_.sum.axes))}, {threads}, "0", arguments.arguments()});
    kernels.helpers = scope_.helpers();
    kernels.own_helpers = scope_.own_helpers();
    kernels.own_helpers.insert("statistics.cu/sum_over_block");
    return kernels;
  }

 private:
  std::string squares_name() const { return context_.buffers[moments_.squares->buffer].name; }

  /// More of them where a number has many parts; as many warps wait for memory as the parts let.
  int thread_count() const {
    constexpr double k_of_thread = 8.0, k_tile = 512.0;
    const double parts = count_of(joined_) * std::max(1.0, columns_per_part() / k_tile);
    for (const int threads : {32, 128, 256}) {
      if (parts <= k_of_thread * threads) return threads;
    }
    return 1024;
  }

  double columns_per_part() const {
    double elements = count_of(moments_.sum.inner);
    for (const auto& axis : joined_) elements /= static_cast<double>(axis.extent.value());
    return elements;
  }

  std::string part() {
    std::vector<std::string> indices;
    for (const auto& axis : axes_) indices.push_back(scope_.text(moments_.at.at(axis.name), Binding::sum));
    const auto place = axes_.size() == 1 ? "(long)(" + indices[0] + ")" : scope_.offset(indices, extents_of(axes_));
    const auto used = scope_.used_axes();
    return statistics_section("part", {{"joined_axes", join_lines(index_statements(scope_, joined_, "joined", used))},
                                       {"place", "(" + place + ")"}});
  }

  /// What follows from the number that `gathered` names, as a variable `of_...`, and its store.
  std::pair<std::string, std::string> finished(const Stage& stage, const std::string& gathered,
                                               const std::string& variable) {
    constexpr std::size_t k_columns = 100;
    const auto& out = context_.buffers[stage.buffer];
    scope_.call_result(gathered);
    std::vector<std::string> lines;
    if (stage.epilogue) lines = scope_.shared_values({stage.epilogue}, true);
    const auto value = stage.epilogue ? without_parentheses(scope_.text(stage.epilogue)) : gathered;
    lines.push_back(fmt::format("const float {} = {};", variable, value));
    for (auto& line : lines) line = broken_statement(line, k_columns);
    return {join_lines(lines), store_text(out.dtype, out.name, "id", variable, scope_.dialect())};
  }

  std::string fill_sum(Fillings& fillings) {
    centre_ = scope_.new_name(context_.buffers[moments_.sum.buffer].name + "_here");
    const auto [lines, store] = finished(moments_.sum, "sum", centre_);
    fillings.emplace_back("sum_values", lines);
    scope_.hold(moments_.sum.buffer, centre_);
    return store;
  }

  std::string fill_squares(Fillings& fillings) {
    const auto [lines, store] = finished(*moments_.squares, "squares", scope_.new_name(squares_name() + "_here"));
    auto inner = fillings;
    inner.emplace_back("centre", centre_);
    inner.emplace_back("squares_values", lines);
    fillings.emplace_back("squares", statistics_section("join_squares", inner));
    return store;
  }

  const GroupContext& context_;
  const JoinedMoments& moments_;
  const StatisticsParts& parts_;
  StageAxes axes_;    ///< of the parts
  StageAxes joined_;  ///< whose parts are joined
  KernelScope scope_;
  std::string centre_;
};

}  // namespace

GroupKernels joined_statistics(const GroupContext& context, const ContractStatistics& statistics,
                               const StatisticsParts& parts) {
  GroupKernels kernels;
  for (const auto& moments : statistics.moments) {
    auto one = JoinText(context, statistics, moments, parts).write();
    kernels.source += (kernels.source.empty() ? "" : "\n") + one.source;
    kernels.launches.insert(kernels.launches.end(), one.launches.begin(), one.launches.end());
    kernels.helpers.merge(one.helpers);
    kernels.own_helpers.merge(one.own_helpers);
  }
  const auto all = joined_axes(parts.batch, statistics.contraction.rows);
  kernels.scratch.push_back(
      {parts.buffer, DType::f32, fmt::format("3 * {} * {}", bundle_operand(extent_of(all)), parts.tiles)});
  return kernels;
}

}  // namespace kw
