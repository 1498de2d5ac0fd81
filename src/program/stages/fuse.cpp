#include "program/stages/fuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "program/stages/exact_extent.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

// Beyond these a kernel is no longer readable, or has more arguments than a launch may have.
constexpr std::size_t k_most_nodes = 500;
constexpr std::size_t k_most_buffers = 20;
/// Additions per element that may be repeated rather than written to memory and read again.
constexpr double k_most_repeated = 16.0;

StageIndices axis_values(const StageAxes& axes) {
  StageIndices values;
  for (const auto& axis : axes) values.push_back(axis.extent.text() == "1" ? StageExpr(0) : axis_index(axis.name));
  return values;
}

/// The element that `map` computes at the place of a load of its buffer.
StageExpr element_at(const Stage& map, const StageNode& load, ElementType stored) {
  const auto places = reshaped_indices(load.operands, load.tensor.type.shape, extents_of(map.axes));
  AxisValues values;
  for (std::size_t i = 0; i < map.axes.size(); ++i) values[map.axes[i].name] = places[i];
  return converted(with_axes(map.body, values), stage_type_of(stored));
}

/// An index along an axis of one element is 0, which keeps it out of the arithmetic of indices.
void drop_unit_axes(Stage& stage) {
  AxisValues zeros;
  for (const auto* axes : {&stage.axes, &stage.inner}) {
    for (const auto& axis : *axes) {
      if (axis.extent.text() == "1") zeros[axis.name] = StageExpr(0);
    }
  }
  rewrite_stage(stage, [&](const StageExpr& node) {
    const auto found = node->op == StageOp::axis ? zeros.find(node->axis) : zeros.end();
    return found == zeros.end() ? StageExpr() : found->second;
  });
}

/// The ways in which a stage goes into one that reads it.
enum class Way : std::uint8_t { into_maps, folded, joined, into_any };
constexpr std::size_t k_ways = 4;

class Fuser {
 public:
  explicit Fuser(StageProgram program) {
    fused_.program = std::move(program);
    for (auto& stage : stages()) drop_unit_axes(stage);
    gone_.resize(stages().size());
    reads_.resize(stages().size());
    refused_.resize(stages().size());
    for (std::size_t i = 0; i < stages().size(); ++i) {
      producer_[stages()[i].buffer] = i;
      note_reads(i);
    }
  }

  FusedProgram run() {
    // Maps first meet maps, so that a chain behind a reduction can go to its end as one, before the rest is computed
    // where it is read.
    while (any(Way::into_maps) || any(Way::folded) || any(Way::joined) || any(Way::into_any)) {
    }
    drop_unread();
    for (std::size_t i = stages().size(); i-- > 0;) {
      if (gone_[i]) stages().erase(stages().begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (auto& stage : stages()) share_equal_parts(stage);
    return std::move(fused_);
  }

 private:
  [[nodiscard]] std::vector<Stage>& stages() { return fused_.program.stages; }
  [[nodiscard]] const StageBuffer& buffer(const Stage& stage) const { return fused_.program.buffers[stage.buffer]; }

  /// Stages that read the buffer, in order.
  [[nodiscard]] const std::set<std::size_t>& readers_of(std::size_t buffer) { return readers_[buffer]; }

  /// What was refused is asked again of this stage, and of those whose results it reads.
  void ask_again(std::size_t index) {
    refused_[index] = {};
    for (const auto read : reads_[index]) {
      const auto producer = producer_.find(read);
      if (producer != producer_.end()) refused_[producer->second] = {};
    }
  }

  void forget_reads(std::size_t index) {
    ask_again(index);
    for (const auto read : reads_[index]) readers_[read].erase(index);
    reads_[index].clear();
  }

  void note_reads(std::size_t index) {
    reads_[index] = buffers_read(stages()[index]);
    for (const auto read : reads_[index]) readers_[read].insert(index);
    ask_again(index);
  }

  void changed(std::size_t index) {
    share_equal_parts(stages()[index]);
    forget_reads(index);
    note_reads(index);
  }

  void remove(std::size_t producer, std::size_t reader) {
    fused_.fusions.push_back(fmt::format("{} into {}", buffer(stages()[producer]).name, buffer(stages()[reader]).name));
    forget_reads(producer);
    gone_[producer] = true;
  }

  /// What only a fused stage asked for, such as the shape of a tensor of zeros.
  void drop_unread() {
    for (std::size_t i = stages().size(); i-- > 0;) {
      if (gone_[i] || buffer(stages()[i]).use != BufferUse::scratch || !readers_of(stages()[i].buffer).empty())
        continue;
      fused_.fusions.push_back(fmt::format("{} is not needed", buffer(stages()[i]).name));
      forget_reads(i);
      gone_[i] = true;
    }
  }

  /// Lets the first stage go that can go in this way.
  bool any(Way way) {
    for (std::size_t i = 0; i < stages().size(); ++i) {
      auto& refused = refused_[i][static_cast<std::size_t>(way)];
      if (gone_[i] || refused) continue;
      if (went(i, way)) return true;
      refused = true;
    }
    return false;
  }

  bool went(std::size_t index, Way way) {
    switch (way) {
      case Way::into_maps:
        return went_into_readers(index, true);
      case Way::folded:
        return went_under_epilogue(index);
      case Way::joined:
        return went_into_reduction(index);
      case Way::into_any:
        return went_into_readers(index, false);
    }
    return false;
  }

  /// How often elements of the map would be computed for this reader.
  static double times_read(const Stage& reader, std::size_t buffer) {
    double times = 0.0;
    const auto count = [&](const StageExpr& expression, double each) {
      for_each_load(expression, [&](const StageNode& load) { times += load.tensor.buffer == buffer ? each : 0.0; });
    };
    count(reader.body, evaluations(reader));
    count(reader.position, evaluations(reader));
    for (const auto& guard : reader.guards) count(guard, evaluations(reader));
    count(reader.epilogue, count_of(reader.axes));
    return times;
  }

  [[nodiscard]] bool worth_inlining(const Stage& map, const std::set<std::size_t>& readers) {
    const double work = arithmetic_of(map.body);
    double times = 0.0;
    for (const auto reader : readers) times += times_read(stages()[reader], map.buffer);
    const double repeats = times / std::max(count_of(map.axes), 1.0) - 1.0;
    return work == 0.0 || repeats <= 0.0 || work * repeats <= k_most_repeated;
  }

  [[nodiscard]] bool readable_together(const Stage& map, const Stage& reader) const {
    auto buffers = buffers_read(reader);
    for (const auto one : buffers_read(map)) buffers.insert(one);
    return buffers.size() <= k_most_buffers && size_of(map.body) + size_of(reader.body) <= k_most_nodes;
  }

  [[nodiscard]] bool can_inline(std::size_t index, const std::set<std::size_t>& readers, bool into_maps) {
    const auto& map = stages()[index];
    if (map.kind != StageKind::map || buffer(map).use != BufferUse::scratch || readers.empty()) return false;
    for (const auto reader : readers) {
      if (into_maps && stages()[reader].kind != StageKind::map) return false;
      if (!readable_together(map, stages()[reader])) return false;
    }
    return worth_inlining(map, readers);
  }

  bool went_into_readers(std::size_t index, bool into_maps) {
    const auto readers = readers_of(stages()[index].buffer);
    if (!can_inline(index, readers, into_maps)) return false;
    const auto& map = stages()[index];
    const auto stored = buffer(map).type.dtype;
    for (const auto reader : readers) {
      rewrite_stage(stages()[reader], [&](const StageExpr& node) {
        const bool ours = node->op == StageOp::load && node->tensor.buffer == map.buffer;
        return ours ? element_at(map, *node, stored) : StageExpr();
      });
      changed(reader);
    }
    remove(index, *readers.begin());
    return true;
  }

  /// Whether there are as many elements for every binding of the program's axes: one that is 1 now may be 3.
  static bool same_counts(const StageAxes& a, const StageAxes& b) {
    const auto first = exact_product(extents_of(a));
    const auto second = exact_product(extents_of(b));
    if (!first || !second) return shape_text(extents_of(a)) == shape_text(extents_of(b));
    return first->text() == second->text();
  }

  /// Whether every load of the reduction's buffer in `map` is of the map's own place, seen in the reduction's axes.
  static bool reads_own_place(const Stage& map, const Stage& reduction) {
    const auto own = reshaped_indices(axis_values(map.axes), extents_of(map.axes), extents_of(reduction.axes));
    bool all = true;
    for_each_load(map, [&](const StageNode& load) {
      if (load.tensor.buffer != reduction.buffer) return;
      const auto places = reshaped_indices(load.operands, load.tensor.type.shape, extents_of(reduction.axes));
      for (std::size_t i = 0; i < places.size(); ++i) all = all && same_expression(places[i], own[i]);
    });
    return all && same_counts(map.axes, reduction.axes);
  }

  /// The stage that folds to the end of reduction `index`, if there is one.
  [[nodiscard]] std::optional<std::size_t> epilogue_of(std::size_t index) {
    const auto& reduction = stages()[index];
    const bool reduces = reduction.kind == StageKind::reduce || reduction.kind == StageKind::scan;
    if (!reduces || buffer(reduction).use != BufferUse::scratch) return std::nullopt;
    const auto& readers = readers_of(reduction.buffer);
    if (readers.size() != 1) return std::nullopt;
    const auto& map = stages()[*readers.begin()];
    const bool fits =
        map.kind == StageKind::map && readable_together(map, reduction) && reads_own_place(map, reduction);
    return fits ? std::optional(*readers.begin()) : std::nullopt;
  }

  bool went_under_epilogue(std::size_t index) {
    const auto reader = epilogue_of(index);
    if (reader) fold(index, *reader);
    return reader.has_value();
  }

  void fold(std::size_t index, std::size_t reader) {
    auto reduction = stages()[index];
    const auto& map = stages()[reader];
    const auto stored = buffer(reduction).type.dtype;
    const auto result = reduction.epilogue ? reduction.epilogue : reduction_result(result_type_of(reduction));
    const auto places = reshaped_indices(axis_values(reduction.axes), extents_of(reduction.axes), extents_of(map.axes));
    AxisValues values;
    for (std::size_t i = 0; i < map.axes.size(); ++i) values[map.axes[i].name] = places[i];
    // Axes first: the result speaks of the reduction's own, which may have the names of the map's.
    const auto buffer = reduction.buffer;
    reduction.epilogue = rewritten(with_axes(map.body, values), [&](const StageExpr& node) {
      const bool ours = node->op == StageOp::load && node->tensor.buffer == buffer;
      return ours ? converted(result, stage_type_of(stored)) : StageExpr();
    });
    reduction.buffer = map.buffer;
    reduction.node = map.node;
    stages()[reader] = std::move(reduction);
    changed(reader);
    remove(index, reader);
  }

  /// Whether `whole` gathers what `part` gathered a part of, in the same way.
  [[nodiscard]] bool joins(const Stage& part, const Stage& whole) {
    if (part.kind != StageKind::reduce || whole.kind != StageKind::reduce || part.op != whole.op) return false;
    if (part.epilogue || part.position || whole.position || !whole.guards.empty()) return false;
    // A sum of elements of a product would make the product's loops longer and keep it from the kernels for products.
    if (part.op == ReduceOp::sum && !part.in_parts) return false;
    const auto& element = *whole.body;
    return element.op == StageOp::load && element.tensor.buffer == part.buffer;
  }

  /// Reductions over one axis after the other become one over all of them.
  bool went_into_reduction(std::size_t index) {
    const auto& part = stages()[index];
    const auto& readers = readers_of(part.buffer);
    if (readers.size() != 1 || buffer(part).use != BufferUse::scratch) return false;
    const auto reader = *readers.begin();
    if (!joins(part, stages()[reader])) return false;
    join(part, stages()[reader]);
    changed(reader);
    remove(index, reader);
    return true;
  }

  static void join(const Stage& part, Stage& whole) {
    const auto& load = *whole.body;
    const auto places = reshaped_indices(load.operands, load.tensor.type.shape, extents_of(part.axes));
    AxisValues values;
    for (std::size_t i = 0; i < part.axes.size(); ++i) values[part.axes[i].name] = places[i];
    StageAxes inner = part.inner;
    for (auto& axis : inner) {
      const auto taken = [&](const StageAxis& one) { return one.name == axis.name; };
      const auto old = axis.name;
      while (std::any_of(whole.axes.begin(), whole.axes.end(), taken) ||
             std::any_of(whole.inner.begin(), whole.inner.end(), taken)) {
        axis.name += "_";
      }
      if (axis.name != old && axis.extent.text() != "1") values[old] = axis_index(axis.name);
    }
    for (const auto& guard : part.guards) whole.guards.push_back(with_axes(guard, values));
    whole.body = with_axes(part.body, values);
    whole.inner.insert(whole.inner.end(), inner.begin(), inner.end());
    whole.in_parts = whole.in_parts || part.in_parts;
  }

  FusedProgram fused_;
  // Of each stage. Stages stay where they are until the end, so that their numbers stay.
  std::vector<bool> gone_;
  std::vector<std::set<std::size_t>> reads_;
  std::vector<std::array<bool, k_ways>> refused_;  ///< and nothing has changed since
  std::map<std::size_t, std::size_t> producer_;    ///< of a buffer
  std::map<std::size_t, std::set<std::size_t>> readers_;
};

}  // namespace

FusedProgram fused(StageProgram program) {
  return Fuser(std::move(program)).run();
}

}  // namespace kw
