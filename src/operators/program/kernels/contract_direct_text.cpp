// The kernel of a direct convolution; kernels/program/direct.cu has its text.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_direct.hpp"
#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_direct_sums.hpp"
#include "operators/program/kernels/contract_direct_tails.hpp"
#include "operators/program/kernels/contract_statistics_text.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

/// Locals of the text, which no axis may be called.
constexpr const char* k_direct_locals =
    "filter thread tiles_down batch first_row first_n from inside within i p c n m k at place places element elements "
    "sums first_step last_step of_step step_from here total place_of_stored window turn reduced "
    "gathered parts present block";

std::vector<std::string> direct_locals() {
  std::istringstream words(k_direct_locals);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Elements that an expression reads whatever its conditions decide.
void add_sure_loads(const StageExpr& node, std::vector<StageExpr>& loads) {
  const auto same = [&](const StageExpr& one) { return one.get() == node.get(); };
  if (node->op == StageOp::load && std::ranges::none_of(loads, same)) loads.push_back(node);
  const bool chooses = node->op == StageOp::select || node->op == StageOp::both || node->op == StageOp::either;
  const auto count = node->op == StageOp::load ? 0 : chooses ? 1 : node->operands.size();
  for (std::size_t i = 0; i < count; ++i) add_sure_loads(node->operands[i], loads);
}

class DirectText {
 public:
  DirectText(const GroupContext& context, const Contraction& contraction, const DirectContraction& direct,
             const DirectTail* tail, const ContractStatistics* statistics)
      : context_(context),
        contraction_(contraction),
        direct_(direct),
        tail_(tail),
        statistics_(statistics),
        columns_(contraction.columns),
        out_(context.buffers[contraction.split.stage.buffer]),
        image_(contraction.second.element->tensor.buffer),
        stored_(*stored_address(contraction)),
        scope_(context.buffers, contraction.split.stage, context.dialect, direct_locals()),
        sums_(context.buffers[image_].name, contraction, direct, scope_) {
    scope_.divide_quickly(context.program);
  }

  GroupKernels write() {
    const auto kernel = kernel_of_buffer(context_, contraction_.split.stage.buffer);
    const auto held = direct_.phases() + (has_windows() ? kept_phases() : 0);
    Fillings fillings = {
        {"qualifier", fill_lines(context_.dialect->kernel_qualifier,
                                 {{"threads", fmt::format("DIRECT_THREADS, DIRECT_BLOCKS({})", held)}})},
        {"places", std::to_string(direct_places(direct_))},
        {"row_count", sums_.count(contraction_.rows)},
        {"column_count", sums_.count(columns_)},
        {"first_pixel", sums_.first_pixel()}};
    // First of all, because what it names has to be known apart from the rest.
    fillings.emplace_back("stores", has_rows() ? "" : stores());
    fillings.emplace_back("sums", has_rows() ? rows() : has_windows() ? windows() : sums_.sums(again(), !has_rows()));
    fillings.emplace_back("tiles", has_rows() ? "1" : "tiles_down");
    fillings.emplace_back("first_row", has_rows() ? ""
                                                  : fmt::format("const int first_row = {}{} % tiles_down * "
                                                                "DIRECT_CHANNELS;",
                                                                block(), times_batches(" / ")));
    fill_batch(fillings);
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(scope_, context_.buffers, contraction_.split.stage.buffer);
    if (scope_.loaded().count(image_) == 0)
      arguments.add(DType::f32, false, context_.buffers[image_].name, context_.buffers[image_].argument);
    if (stores_values()) arguments.add(out_.dtype, true, out_.name, out_.argument);
    if (statistics_ != nullptr) arguments.add(DType::f32, true, "parts", parts().buffer);
    arguments.add_integers(scope_);
    fillings.emplace_back("signature", arguments.signature(kernel));
    GroupKernels kernels;
    kernels.source = with_short_lines(fill(kernel_text("program/direct.cu", "convolution"), fillings));
    kernels.launches.push_back({kernel, {grid()}, {"DIRECT_THREADS"}, "0", arguments.arguments()});
    kernels.helpers = scope_.helpers();
    kernels.own_helpers = scope_.own_helpers();
    kernels.own_helpers.insert("direct.cu/multiply_pixels");
    if (statistics_ != nullptr) add_joining(kernels);
    return kernels;
  }

 private:
  /// Whether somebody may still read the filter.
  std::string again() const {
    if (has_rows()) return "turn > 0 || first_step > 0";
    return has_windows() ? "window > 0 || first_step > 0" : "first_step > 0";
  }

  bool stores_values() const { return statistics_ == nullptr || statistics_->stored; }

  StatisticsParts parts() {
    const auto& columns = columns_;
    return {"parts_of_" + out_.name, direct_.around,
            fmt::format("ceil_div({}, DIRECT_THREADS * DIRECT_PIXELS)", extent_of(columns).text()),
            [&columns](KernelScope& scope) {
              return fmt::format("(({} + DIRECT_THREADS * DIRECT_PIXELS - 1) / (DIRECT_THREADS * DIRECT_PIXELS))",
                                 scope.extent(extent_of(columns)));
            }};
  }

  void add_joining(GroupKernels& kernels) {
    auto joining = joined_statistics(context_, *statistics_, parts());
    kernels.source += "\n" + joining.source;
    kernels.launches.insert(kernels.launches.end(), joining.launches.begin(), joining.launches.end());
    kernels.scratch = std::move(joining.scratch);
    kernels.helpers.merge(joining.helpers);
    kernels.own_helpers.merge(joining.own_helpers);
    kernels.own_helpers.insert("statistics.cu/sum_over_warp");
  }

  bool has_rows() const { return tail_ != nullptr && !tail_->rows.empty(); }
  bool has_windows() const { return tail_ != nullptr && tail_->rows.empty(); }

  std::string grid() const {
    const auto rows = fmt::format(" * ceil_div({}, DIRECT_CHANNELS)", extent_of(contraction_.rows).text());
    return fmt::format("ceil_div({}, DIRECT_THREADS * DIRECT_PIXELS){} * {}", extent_of(columns_).text(),
                       has_rows() ? "" : rows, bundle_operand(extent_of(direct_.around)));
  }

  std::string times_batches(const char* before) {
    const auto batches = sums_.count(side_by_side());
    return batches == "1" ? "" : before + batches;
  }

  /// Images that a block has one of come one after the other, other batches side by side.
  void fill_batch(Fillings& fillings) {
    auto used = scope_.used_axes();
    used.merge(axes_in(direct_.start));
    used.merge(axes_in(stored_));
    const auto batches = sums_.count(direct_.around);
    const auto axes = index_statements(scope_, direct_.around, "batch", used);
    const bool is_named = !axes.empty() || (statistics_ != nullptr && batches != "1");
    std::string of_images;
    std::string batch = fmt::format("{} % {}", block(), sums_.count(side_by_side()));
    if (has_images()) {
      const auto of_image = fmt::format("({} * tiles_down{})", parts().tiles_in(scope_), times_batches(" * "));
      of_images = fmt::format("const int block = (int)blockIdx.x % {};", of_image);
      batch = fmt::format("(int)blockIdx.x / {} * {} + {}", of_image, sums_.count(side_by_side()), batch);
    }
    fillings.emplace_back("of_images", of_images);
    fillings.emplace_back("block", block());
    fillings.emplace_back("batch", is_named ? fmt::format("const int batch = {};", batch) : "");
    fillings.emplace_back("batch_axes", join_lines(axes));
    fillings.emplace_back("batches", times_batches(" * "));
  }

  bool has_images() const { return statistics_ != nullptr && !statistics_->kept.empty(); }

  /// Of an image's blocks, or of all.
  std::string block() const { return has_images() ? "block" : "(int)blockIdx.x"; }

  StageAxes side_by_side() const {
    const auto kept = has_images() ? static_cast<std::ptrdiff_t>(statistics_->kept.size()) : 0;
    return {direct_.around.begin() + kept, direct_.around.end()};
  }

  // Indices of pixels: a thread's first one is divided, the others follow by additions.

  /// Reductions of all rows, one after the other.
  std::string rows() {
    std::vector<std::string> reductions;
    for (std::size_t i = 0; i < tail_->rows.size(); ++i) reductions.push_back(reduction(i));
    auto of_values = contraction_.split.stage.epilogue ? finished(contraction_, false) : "";
    return direct_section("rows", {{"phases", std::to_string(direct_.phases())},
                                   {"count", std::to_string(tail_->rows.size())},
                                   {"sums", sums_.sums(again(), !has_rows())},
                                   {"finished", of_values},
                                   {"reductions", join_lines(reductions)}});
  }

  std::string reduction(std::size_t index) {
    const auto& row = tail_->rows[index];
    const bool is_last = index + 1 == tail_->rows.size();
    std::vector<std::string> known;
    for (std::size_t i = 0; i < index; ++i) {
      const auto name = scope_.new_name("known");
      known.push_back(fmt::format("const float {} = reduced[{}][p][i];", name, i));
      scope_.hold(tail_->rows[i].buffer, name);
    }
    scope_.call_result("total");
    const auto joined_body = joined_text(row.op, "gathered", without_parentheses(scope_.text(row.body)));
    scope_.forget_values();
    Contraction reduced = contraction_;
    reduced.split.stage.epilogue = row.epilogue;
    const auto apart = direct_.phase.name.empty() ? "0" : address_text(scope_, stored_, {direct_.phase}, false);
    const auto stored = stored_sum(scope_, reduced, out_, "gathered",
                                   apart == "0" ? "place_of_stored[i]" : "place_of_stored[i] + " + apart);
    const auto used = scope_.used_axes();
    scope_.forget_values();
    std::vector<std::string> pixel;
    std::string guard = "first_n + i * DIRECT_THREADS < " + sums_.count(columns_);
    if (!stored.guard.empty()) guard += " && " + stored.guard;
    auto named = used;
    named.merge(axes_in(stored_));
    const bool names_phase = named.count(direct_.phase.name) > 0;
    const auto places = places_text(used, is_last, pixel);
    return direct_section(
        "reduction",
        {{"index", std::to_string(index)},
         {"places", places},
         {"stored_pixel", join_lines(pixel)},
         {"phases", std::to_string(direct_.phases())},
         {"phase_axis", names_phase ? fmt::format("const int {} = p;", scope_.axis(direct_.phase.name)) : ""},
         {"known", join_lines(known)},
         {"stored_guard", guard},
         {"neutral", neutral(row.op)},
         {"row_count", sums_.count(contraction_.rows)},
         {"joined", joined_body},
         {"values", stored.values},
         {"result", is_last        ? stored.store
                    : row.epilogue ? fmt::format("gathered = {};", stored.value)
                                   : std::string()},
         {"keep", fmt::format("reduced[{}][p][i] = gathered;", index)}});
  }

  static std::string neutral(ReduceOp op) {
    return op == ReduceOp::sum ? "0.0f" : op == ReduceOp::maximum ? "-INFINITY" : "INFINITY";
  }

  std::string joined_text(ReduceOp op, const std::string& gathered, const std::string& value) {
    if (op == ReduceOp::sum) return fmt::format("{} += {};", gathered, value);
    const std::string function = op == ReduceOp::maximum ? "larger" : "smaller";
    scope_.need_own(function);
    return fmt::format("{0} = {1}({0}, {2});", gathered, function, value);
  }

  /// The window's outputs, one after the other.
  std::string windows() {
    auto gather = finished(contraction_, false);
    auto text = sums_.sums(again(), !has_rows());
    auto used = scope_.used_axes();
    used.merge(axes_in(direct_.start));
    return direct_section("windows",
                          {{"kept_phases", std::to_string(kept_phases())},
                           {"neutral", neutral(tail_->op)},
                           {"window_count", sums_.count(direct_.windows)},
                           {"window_axes", join_lines(index_statements(scope_, direct_.windows, "window", used))},
                           {"sums", std::move(text)},
                           {"gather", std::move(gather)}});
  }

  /// Of what a thread stores.
  std::int64_t kept_phases() const { return direct_.reduces_phase ? 1 : direct_.phases(); }

  /// A value of an output as part of what is gathered.
  std::string joined(const std::string& value) {
    if (has_rows()) return fmt::format("sums[p][i][c] = {};", value);
    return joined_text(tail_->op, fmt::format("gathered[{}][i][c]", direct_.reduces_phase ? "0" : "p"), value);
  }

  // Guards of pixels are bits: one for each index along axes that are looped over, one for each load that has guards,
  // and one that is there without these.

  /// Elements that an epilogue reads of a row alone have names.
  std::string row_values(const StageExpr& epilogue) {
    std::vector<StageExpr> loads;
    if (epilogue) add_sure_loads(epilogue, loads);
    std::vector<std::string> lines;
    for (const auto& load : loads) {
      const auto of_row = [&](const std::string& name) {
        const auto is_it = [&](const StageAxis& axis) { return axis.name == name; };
        return std::ranges::any_of(contraction_.rows, is_it) || std::ranges::any_of(direct_.around, is_it);
      };
      if (load->type != StageType::real || !std::ranges::all_of(axes_named(load), of_row)) continue;
      const auto name = scope_.new_name("of_row");
      lines.push_back(fmt::format("const float {} = {};", name, without_parentheses(scope_.text(load))));
      scope_.call_value(load.get(), name);
    }
    return join_lines(lines);
  }

  std::string stores() {
    if (statistics_ != nullptr)
      return fmt::format("unsigned present = 0u;\n{}\n{}", finished(contraction_, true), leave_parts());
    if (tail_ == nullptr) return finished(contraction_, true);
    Contraction reduced = contraction_;
    reduced.split.stage.epilogue = tail_->epilogue;
    return finished(reduced, true);
  }

  std::string leave_parts() {
    const auto batches = sums_.count(direct_.around);
    return fill_lines(kernel_text("program/statistics.cu", "leave_direct"),
                      {{"phases", std::to_string(direct_.phases())},
                       {"row_count", sums_.count(contraction_.rows)},
                       {"batch", batches == "1" ? "0" : "batch"},
                       {"tile_count", parts().tiles_in(scope_)},
                       {"tile", fmt::format("{} / (tiles_down{})", block(), times_batches(" * "))}});
  }

  /// The value takes the sum's place, and is known to be there.
  std::string kept_store(const StoredSum& stored) const {
    std::vector<std::string> lines = {"present |= 1u << (p * DIRECT_PIXELS + i);",
                                      fmt::format("sums[p][i][c] = {};", stored.value)};
    if (stores_values())
      lines.push_back(store_text(out_.dtype, out_.name, stored.place, "sums[p][i][c]", scope_.dialect()));
    return join_lines(lines);
  }

  /// What becomes of each sum, or of each reduced one: it is stored, or becomes part of what is gathered.
  std::string finished(const Contraction& contraction, bool is_stored) {
    const bool of_sums = tail_ == nullptr || !is_stored;
    const bool has_phases = !direct_.phase.name.empty() && (of_sums || !direct_.reduces_phase);
    const auto values_of_row = row_values(contraction.split.stage.epilogue);
    auto of_sum = contraction.rows;
    if (has_phases) of_sum.push_back(direct_.phase);
    const auto apart = address_text(scope_, stored_, of_sum, false);
    const auto stored = stored_sum(scope_, contraction, out_, "total",
                                   apart == "0" ? "place_of_stored[i]" : "place_of_stored[i] + " + apart);
    const auto used = scope_.used_axes();  // by values and guards
    scope_.forget_values();
    auto of_rows = used;
    of_rows.merge(axes_in(stored_));
    std::vector<std::string> pixel;
    std::string guard = "first_n + i * DIRECT_THREADS < " + sums_.count(columns_);
    if (!stored.guard.empty()) guard += " && " + stored.guard;
    const auto places = places_text(used, is_stored && stores_values(), pixel);
    const bool names_phase = has_phases && of_rows.count(direct_.phase.name) > 0;
    return direct_section(
        "finished",
        {{"places", places},
         {"row_count", sums_.count(contraction.rows)},
         {"row_axes", join_lines(index_statements(scope_, contraction.rows, "m", of_rows))},
         {"row_values", values_of_row},
         {"stored_pixel", join_lines(pixel)},
         {"phases", std::to_string(of_sums ? direct_.phases() : kept_phases())},
         {"phase_axis", names_phase ? fmt::format("const int {} = p;", scope_.axis(direct_.phase.name)) : ""},
         {"stored_guard", guard},
         {"total", of_sums ? "sums[p][i][c]" : "gathered[p][i][c]"},
         {"values", stored.values},
         {"store", !is_stored               ? joined(stored.value)
                   : statistics_ != nullptr ? kept_store(stored)
                                            : stored.store}});
  }

  /// Indices of pixels along axes in `used`, and with `is_stored` their places; `pixel` gets the names of one's.
  std::string places_text(const std::set<std::string>& used, bool is_stored, std::vector<std::string>& pixel) {
    std::vector<std::string> declared, kept;
    auto named = used;
    if (is_stored) {
      named.merge(axes_in(stored_));
      declared.emplace_back("long place_of_stored[DIRECT_PIXELS];");
      kept.push_back(fmt::format("place_of_stored[i] = {};", address_text(scope_, stored_, sums_.pixel_axes(), true)));
    }
    for (const auto& axis : columns_) {
      if (used.count(axis.name) == 0) continue;
      const auto name = scope_.axis(axis.name), array = scope_.new_name("stored_" + name);
      declared.push_back(fmt::format("int {}[DIRECT_PIXELS];", array));
      kept.push_back(fmt::format("{}[i] = {};", array, name));
      pixel.push_back(fmt::format("const int {} = {}[i];", name, array));
    }
    if (declared.empty()) return "";
    return direct_section("places", {{"declare_stored", join_lines(declared)},
                                     {"begin_pixels", sums_.begin_pixels()},
                                     {"column_count", sums_.count(columns_)},
                                     {"loaded_pixel", sums_.loaded_pixel(named)},
                                     {"keep_stored", join_lines(kept)},
                                     {"next_pixel", sums_.next_pixel()}});
  }

  const GroupContext& context_;
  const Contraction& contraction_;
  const DirectContraction& direct_;
  const DirectTail* tail_;
  const ContractStatistics* statistics_;  ///< of the values; null: none
  const StageAxes& columns_;
  const KernelBuffer& out_;
  std::size_t image_;   ///< buffer of the second factor
  AffineIndex stored_;  ///< place of a sum in the output
  KernelScope scope_;
  DirectSums sums_;
};

}  // namespace

GroupKernels contract_directly(const GroupContext& context, const Contraction& contraction, const DirectTail* tail,
                               const ContractStatistics* statistics) {
  const auto direct = direct_contraction(contraction, tail != nullptr ? tail->windows : StageAxes());
  KW_CHECK(direct.has_value(), "a contraction that cannot be computed directly is");
  return DirectText(context, contraction, *direct, tail, statistics).write();
}

}  // namespace kw
