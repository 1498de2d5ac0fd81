// The kernel of a direct convolution; kernels/program/direct.cu has its text.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_direct.hpp"
#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_direct_tails.hpp"
#include "operators/program/kernels/contract_taps.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

/// Locals of the text, which no axis may be called.
constexpr const char* k_direct_locals =
    "filter thread tiles_down batch first_row first_n from inside within i p c n m k at place places element elements "
    "sums first_step last_step of_step step_from here total place_of_stored window turn reduced "
    "gathered";

std::vector<std::string> direct_locals() {
  std::istringstream words(k_direct_locals);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string direct_section(const char* name, const Fillings& fillings = {}) {
  return fill_lines(kernel_text("program/direct.cu", name), fillings);
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
             const DirectTail* tail)
      : context_(context),
        contraction_(contraction),
        direct_(direct),
        tail_(tail),
        columns_(contraction.columns),
        out_(context.buffers[contraction.split.stage.buffer]),
        image_(contraction.second.element->tensor.buffer),
        stored_(*stored_address(contraction)),
        scope_(context.buffers, contraction.split.stage, context.dialect, direct_locals()) {
    for (const auto& axis : columns_) {
      first_.push_back(scope_.new_name("first_" + scope_.axis(axis.name)));
      apart_.push_back(scope_.new_name("apart_" + scope_.axis(axis.name)));
      next_.push_back(scope_.new_name("next_" + scope_.axis(axis.name)));
    }
  }

  GroupKernels write() {
    const auto kernel = kernel_of_buffer(context_, contraction_.split.stage.buffer);
    const auto held = direct_.phases() + (has_windows() ? kept_phases() : 0);
    Fillings fillings = {
        {"qualifier", fill_lines(context_.dialect->kernel_qualifier,
                                 {{"threads", fmt::format("DIRECT_THREADS, DIRECT_BLOCKS({})", held)}})},
        {"places", std::to_string(direct_places(direct_))},
        {"row_count", count(contraction_.rows)},
        {"column_count", count(columns_)},
        {"first_pixel", first_pixel()}};
    // First of all, because what it names has to be known apart from the rest.
    fillings.emplace_back("stores", has_rows() ? "" : stores());
    fillings.emplace_back("sums", has_rows() ? rows() : has_windows() ? windows() : sums());
    fillings.emplace_back("tiles", has_rows() ? "1" : "tiles_down");
    fillings.emplace_back("first_row", has_rows()
                                           ? ""
                                           : fmt::format("const int first_row = (int)blockIdx.x{} % tiles_down * "
                                                         "DIRECT_CHANNELS;",
                                                         times_batches(" / ")));
    fill_batch(fillings);
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(scope_, context_.buffers, contraction_.split.stage.buffer);
    if (scope_.loaded().count(image_) == 0)
      arguments.add(DType::f32, false, context_.buffers[image_].name, context_.buffers[image_].argument);
    arguments.add(out_.dtype, true, out_.name, out_.argument);
    arguments.add_integers(scope_);
    fillings.emplace_back("signature", arguments.signature(kernel));
    GroupKernels kernels;
    kernels.source = with_short_lines(fill(kernel_text("program/direct.cu", "convolution"), fillings));
    kernels.launches.push_back({kernel, {grid()}, {"DIRECT_THREADS"}, "0", arguments.arguments()});
    kernels.helpers = scope_.helpers();
    kernels.own_helpers = scope_.own_helpers();
    kernels.own_helpers.insert("direct.cu/multiply_pixels");
    return kernels;
  }

 private:
  std::string count(const StageAxes& axes) { return scope_.extent(extent_of(axes)); }

  bool has_rows() const { return tail_ != nullptr && !tail_->rows.empty(); }
  bool has_windows() const { return tail_ != nullptr && tail_->rows.empty(); }

  std::string grid() const {
    const auto rows = fmt::format(" * ceil_div({}, DIRECT_CHANNELS)", extent_of(contraction_.rows).text());
    return fmt::format("ceil_div({}, DIRECT_THREADS * DIRECT_PIXELS){} * {}", extent_of(columns_).text(),
                       has_rows() ? "" : rows, bundle_operand(extent_of(direct_.around)));
  }

  std::string times_batches(const char* before) {
    const auto batches = count(direct_.around);
    return batches == "1" ? "" : before + batches;
  }

  void fill_batch(Fillings& fillings) {
    auto used = scope_.used_axes();
    used.merge(axes_in(direct_.start));
    used.merge(axes_in(stored_));
    const auto batches = count(direct_.around);
    const auto axes = index_statements(scope_, direct_.around, "batch", used);
    fillings.emplace_back("batch", axes.empty() ? "" : fmt::format("const int batch = (int)blockIdx.x % {};", batches));
    fillings.emplace_back("batch_axes", join_lines(axes));
    fillings.emplace_back("batches", times_batches(" * "));
  }

  // Indices of pixels: a thread's first one is divided, the others follow by additions.

  std::string first_pixel() {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto after = columns_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      const auto inside = count({after, columns_.end()});
      const auto extent = scope_.extent(columns_[i].extent);
      for (const auto& [name, flat] : {std::pair(first_[i], "first_n"), std::pair(apart_[i], "DIRECT_THREADS")}) {
        auto index = inside == "1" ? std::string(flat) : fmt::format("{} / {}", flat, inside);
        if (i != 0) index = fmt::format("{} % {}", index, extent);
        lines.push_back(fmt::format("const int {} = {};", name, index));
      }
    }
    return join_lines(lines);
  }

  std::string begin_pixels() const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < columns_.size(); ++i) lines.push_back(fmt::format("int {} = {};", next_[i], first_[i]));
    return join_lines(lines);
  }

  std::string next_pixel() {
    std::vector<std::string> lines;
    for (std::size_t i = columns_.size(); i-- > 0;) {
      lines.push_back(fmt::format("{} += {};", next_[i], apart_[i]));
      if (i == 0) continue;
      const auto extent = scope_.extent(columns_[i].extent);
      lines.push_back(fmt::format("if ({0} >= {1}) {{\n  {0} -= {1};\n  ++{2};\n}}", next_[i], extent, next_[i - 1]));
    }
    return join_lines(lines);
  }

  /// Behind the last pixel, those of the first batch: elements that are there.
  std::string loaded_pixel(const std::set<std::string>& used) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (used.count(columns_[i].name) == 0) continue;
      lines.push_back(fmt::format("const int {} = {};", scope_.axis(columns_[i].name),
                                  i == 0 ? fmt::format("within ? {} : 0", next_[i]) : next_[i]));
    }
    return join_lines(lines);
  }

  std::string sums() {
    Fillings fillings = {
        {"places", std::to_string(direct_places(direct_))},
        {"chunk", std::to_string(direct_places(direct_) / (direct_.taps() * direct_.written()))},
        {"again", has_rows()      ? "turn > 0 || first_step > 0"
                  : has_windows() ? "window > 0 || first_step > 0"
                                  : "first_step > 0"},
        {"declare_sums",
         has_rows() ? "" : fmt::format("float sums[{}][DIRECT_PIXELS][DIRECT_CHANNELS];", direct_.phases())},
        {"row_count", count(contraction_.rows)},
        {"column_count", count(columns_)},
        {"phases", std::to_string(direct_.phases())},
        {"taps", std::to_string(direct_.taps())},
        {"written", std::to_string(direct_.written())},
        {"step_count", scope_.extent(direct_.inner[0].extent)}};
    fill_pixels(fillings);
    fill_filter(fillings);
    fill_steps(fillings);
    return direct_section("sums", fillings);
  }

  /// Reductions of all rows, one after the other.
  std::string rows() {
    std::vector<std::string> reductions;
    for (std::size_t i = 0; i < tail_->rows.size(); ++i) reductions.push_back(reduction(i));
    auto of_values = contraction_.split.stage.epilogue ? finished(contraction_, false) : "";
    return direct_section("rows", {{"phases", std::to_string(direct_.phases())},
                                   {"count", std::to_string(tail_->rows.size())},
                                   {"sums", sums()},
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
    std::string guard = "first_n + i * DIRECT_THREADS < " + count(columns_);
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
         {"row_count", count(contraction_.rows)},
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
    auto text = sums();
    auto used = scope_.used_axes();
    used.merge(axes_in(direct_.start));
    return direct_section("windows",
                          {{"kept_phases", std::to_string(kept_phases())},
                           {"neutral", neutral(tail_->op)},
                           {"window_count", count(direct_.windows)},
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

  void fill_pixels(Fillings& fillings) {
    auto used = axes_in(direct_.start);
    for (const auto* guards : {&direct_.pixel_guards, &direct_.tap_guards}) {
      for (const auto& guard : *guards) used.merge(axes_named(guard));
    }
    for (const auto& load : direct_.loads) {
      for (const auto& guard : load.guards) used.merge(axes_named(guard));
    }
    fillings.emplace_back("begin_pixels", begin_pixels());
    fillings.emplace_back("next_pixel", next_pixel());
    fillings.emplace_back("loaded_pixel", loaded_pixel(used));
    fillings.emplace_back("from", address_text(scope_, direct_.start, pixel_axes(), true));
    fillings.emplace_back("declare_inside", is_guarded() ? "unsigned inside[DIRECT_PIXELS];" : "");
    fillings.emplace_back("inside", is_guarded() ? inside() : "");
  }

  StageAxes pixel_axes() const { return joined_axes(joined_axes(direct_.around, direct_.windows), columns_); }

  // Guards of pixels are bits: one for each index along axes that are looped over, one for each load that has guards,
  // and one that is there without these.

  bool is_guarded() const {
    return !direct_.pixel_guards.empty() || !direct_.tap_guards.empty() ||
           std::ranges::any_of(direct_.loads, [](const DirectLoad& load) { return !load.guards.empty(); });
  }

  std::int64_t first_load_bit() const {
    std::int64_t bits = 0;
    for (const auto& axis : direct_.guarded) bits += axis.extent.value();
    return bits;
  }

  static constexpr int k_last_bit = 31;

  std::string load_bit(std::size_t load) const {
    if (direct_.loads[load].guards.empty()) return fmt::format("1u << {}", k_last_bit);
    const auto before = std::count_if(direct_.loads.begin(), direct_.loads.begin() + static_cast<std::ptrdiff_t>(load),
                                      [](const DirectLoad& one) { return !one.guards.empty(); });
    return fmt::format("1u << {}", first_load_bit() + before);
  }

  std::string inside() {
    const auto always = condition_text(scope_, direct_.pixel_guards);
    const std::string within = always.empty() ? "within" : "within && " + always;
    std::vector<std::string> lines = {fmt::format("inside[i] = {} ? 1u << {} : 0u;", within, k_last_bit)};
    if (!direct_.guarded.empty())
      lines.push_back(taps_statements(scope_, direct_.guarded, direct_.tap_guards, within, "inside"));
    for (std::size_t i = 0; i < direct_.loads.size(); ++i) {
      const auto& guards = direct_.loads[i].guards;
      if (guards.empty()) continue;
      lines.push_back(
          fmt::format("if ({} && {}) inside[i] |= {};", within, condition_text(scope_, guards), load_bit(i)));
    }
    return join_lines(lines);
  }

  /// Bits that a pixel has where the step's taps are inside.
  std::string needed() const {
    std::string bits;
    std::int64_t first = 0;
    for (const auto& axis : direct_.guarded) {
      bits += fmt::format("{}1u << {}{}", bits.empty() ? "" : " | ",
                          first == 0 ? scope_.axis(axis.name) : fmt::format("({} + {}", scope_.axis(axis.name), first),
                          first == 0 ? "" : ")");
      first += axis.extent.value();
    }
    return bits;
  }

  void fill_filter(Fillings& fillings) {
    const auto& first = contraction_.first;
    fillings.emplace_back("filter_element", guarded_text(scope_, first.element, first.guards));
    auto used = first.axes;
    for (const auto& guard : first.guards) used.merge(axes_named(guard));
    auto lines = index_statements(scope_, contraction_.rows, "m", used);
    for (auto& line : index_statements(scope_, direct_.inner, "k", used)) lines.push_back(std::move(line));
    const auto taps = direct_.tap.name.empty() ? 1 : direct_.tap.extent.value();
    const auto add = [&](const StageAxis& axis, const std::string& index) {
      if (used.count(axis.name) > 0) lines.push_back(fmt::format("const int {} = {};", scope_.axis(axis.name), index));
    };
    add(direct_.phase, fmt::format("place % {} / {}", direct_.written(), taps));
    add(direct_.tap, fmt::format("place % {}", taps));
    fillings.emplace_back("filter_axes", join_lines(lines));
  }

  std::string loops() {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < direct_.inner.size(); ++i) {
      const auto name = scope_.axis(direct_.inner[i].name);
      const auto* const unroll = i + 1 == direct_.inner.size() ? "DIRECT_UNROLL" : "1";
      const auto last = i == 0 ? "last_step" : std::to_string(direct_.inner[i].extent.value());
      lines.push_back(fmt::format("{0}#pragma unroll {1}\n{0}for (int {2} = {3}; {2} < {4}; ++{2})",
                                  std::string(2 * i, ' '), unroll, name, i == 0 ? "first_step" : "0", last));
    }
    return join_lines(lines);
  }

  void fill_steps(Fillings& fillings) {
    const auto guard = condition_text(scope_, direct_.step_guards);
    fillings.emplace_back("loops", loops());
    fillings.emplace_back(
        "step", direct_section("step", {{"written", std::to_string(direct_.written())},
                                        {"step_guard", guard.empty() ? "" : fmt::format("if (!({})) continue;", guard)},
                                        {"step_from", address_text(scope_, direct_.start, direct_.inner, false)},
                                        {"here", here()},
                                        {"products", products()}}));
  }

  std::string here() const { return direct_.guarded.empty() ? "" : direct_section("here", {{"needed", needed()}}); }

  /// Some loads are on their way at a time; products follow in the order of the loads, and of each sum in that of taps.
  std::string products() {
    constexpr std::size_t k_at_a_time = 4;
    std::vector<std::string> lines;
    const auto& loads = direct_.loads;
    for (std::size_t first = 0; first < loads.size(); first += k_at_a_time) {
      const auto last = std::min(first + k_at_a_time, loads.size());
      std::vector<std::string> block = {fmt::format("float elements[{}][DIRECT_PIXELS];", last - first)};
      for (std::size_t i = first; i < last; ++i) block.push_back(load_text(i, i - first));
      for (std::size_t i = first; i < last; ++i) {
        for (const auto& use : direct_.uses) {
          if (use.load == i) block.push_back(product_text(use, i - first));
        }
      }
      lines.push_back(fill_lines("{\n  ${block}\n}", {{"block", join_lines(block)}}));
    }
    return join_lines(lines);
  }

  std::string load_text(std::size_t load, std::size_t place) {
    const auto apart = scope_.extent(direct_.loads[load].apart);
    auto element = fmt::format("{}[from[i] + step_from{}]", context_.buffers[image_].name,
                               apart == "0" ? "" : fmt::format(" + ({})", apart));
    if (is_guarded())
      element = fmt::format("({}[i] & {}) != 0 ? {} : 0.0f", direct_.guarded.empty() ? "inside" : "here",
                            load_bit(load), element);
    return direct_section("load", {{"load", std::to_string(place)}, {"element", element}});
  }

  std::string product_text(const DirectUse& use, std::size_t place) const {
    const auto taps = direct_.tap.name.empty() ? 1 : direct_.tap.extent.value();
    const auto of_filter = use.phase * taps + use.tap;
    return fmt::format("multiply_pixels(places{}, elements[{}], sums[{}]);",
                       of_filter == 0 ? "" : fmt::format(" + {} * DIRECT_CHANNELS", of_filter), place, use.phase);
  }

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
    if (tail_ == nullptr) return finished(contraction_, true);
    Contraction reduced = contraction_;
    reduced.split.stage.epilogue = tail_->epilogue;
    return finished(reduced, true);
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
    std::string guard = "first_n + i * DIRECT_THREADS < " + count(columns_);
    if (!stored.guard.empty()) guard += " && " + stored.guard;
    const auto places = places_text(used, is_stored, pixel);
    const bool names_phase = has_phases && of_rows.count(direct_.phase.name) > 0;
    return direct_section(
        "finished",
        {{"places", places},
         {"row_count", count(contraction.rows)},
         {"row_axes", join_lines(index_statements(scope_, contraction.rows, "m", of_rows))},
         {"row_values", values_of_row},
         {"stored_pixel", join_lines(pixel)},
         {"phases", std::to_string(of_sums ? direct_.phases() : kept_phases())},
         {"phase_axis", names_phase ? fmt::format("const int {} = p;", scope_.axis(direct_.phase.name)) : ""},
         {"stored_guard", guard},
         {"total", of_sums ? "sums[p][i][c]" : "gathered[p][i][c]"},
         {"values", stored.values},
         {"store", is_stored ? stored.store : joined(stored.value)}});
  }

  /// Indices of pixels along axes in `used`, and with `is_stored` their places; `pixel` gets the names of one's.
  std::string places_text(const std::set<std::string>& used, bool is_stored, std::vector<std::string>& pixel) {
    std::vector<std::string> declared, kept;
    auto named = used;
    if (is_stored) {
      named.merge(axes_in(stored_));
      declared.emplace_back("long place_of_stored[DIRECT_PIXELS];");
      kept.push_back(fmt::format("place_of_stored[i] = {};", address_text(scope_, stored_, pixel_axes(), true)));
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
                                     {"begin_pixels", begin_pixels()},
                                     {"column_count", count(columns_)},
                                     {"loaded_pixel", loaded_pixel(named)},
                                     {"keep_stored", join_lines(kept)},
                                     {"next_pixel", next_pixel()}});
  }

  const GroupContext& context_;
  const Contraction& contraction_;
  const DirectContraction& direct_;
  const DirectTail* tail_;
  const StageAxes& columns_;
  const KernelBuffer& out_;
  std::size_t image_;   ///< buffer of the second factor
  AffineIndex stored_;  ///< place of a sum in the output
  KernelScope scope_;
  std::vector<std::string> first_, apart_, next_;  ///< names of columns' indices
};

}  // namespace

GroupKernels contract_directly(const GroupContext& context, const Contraction& contraction, const DirectTail* tail) {
  const auto direct = direct_contraction(contraction, tail != nullptr ? tail->windows : StageAxes());
  KW_CHECK(direct.has_value(), "a contraction that cannot be computed directly is");
  return DirectText(context, contraction, *direct, tail).write();
}

}  // namespace kw
