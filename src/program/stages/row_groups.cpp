#include "program/stages/row_groups.hpp"

#include <algorithm>
#include <optional>

#include "program/stages/collapse.hpp"
#include "program/stages/rewrite.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// For each axis of the rows, the stage's own axis that is it.
using RowNames = std::vector<std::string>;
using StageLists = std::vector<std::vector<std::size_t>>;

bool same_extents(const StageAxes& a, const StageAxes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StageAxis& x, const StageAxis& y) { return x.extent.text() == y.extent.text(); });
}

RowNames names_of(const StageAxes& axes) {
  RowNames names;
  for (const auto& axis : axes) names.push_back(axis.name);
  return names;
}

/// Of each stage, what it reads. Groups are built from the rows of each reduction in turn, so that a network's stages
/// are asked a thousand times; giving axes other names changes none of it.
using StageReads = std::vector<std::set<std::size_t>>;

StageReads reads_of(const StageProgram& program) {
  StageReads reads;
  for (const auto& stage : program.stages) reads.push_back(buffers_read(stage));
  return reads;
}

/// One stage after the other is tried on the rows of the first.
class GroupBuilder {
 public:
  GroupBuilder(const StageProgram& program, const StageReads& reads, std::size_t first)
      : program_(program), reads_(reads), rows_(program.stages[first].axes) {
    add(first, names_of(rows_));
  }

  /// Takes the stage in where it fits and is `free`.
  void try_stage(std::size_t index, bool free) {
    const auto& stage = program_.stages[index];
    bool reads_members = false;
    bool reads_others = false;
    for (const auto buffer : reads_[index]) {
      reads_members = reads_members || results_.count(buffer) > 0;
      reads_others = reads_others || later_.count(buffer) > 0;
    }
    std::optional<RowNames> names;
    const bool by_rows = stage.kind == StageKind::map || stage.kind == StageKind::reduce;
    if (free && !reads_others && by_rows) names = reads_members ? by_results(stage) : by_inputs(index);
    if (names) {
      add(index, *names);
    } else if (reads_members || reads_others) {
      later_.insert(stage.buffer);
    }
  }

  void drop_last() {
    members_.pop_back();
    names_.pop_back();
  }

  [[nodiscard]] const std::vector<std::size_t>& members() const { return members_; }
  [[nodiscard]] const std::vector<RowNames>& names() const { return names_; }
  [[nodiscard]] const StageAxes& rows() const { return rows_; }

 private:
  void add(std::size_t index, const RowNames& names) {
    const auto& stage = program_.stages[index];
    members_.push_back(index);
    names_.push_back(names);
    // Elements of a map are written by many work-items, so that none of the group can rely on them.
    (stage.kind == StageKind::reduce ? results_ : later_).insert(stage.buffer);
    inputs_.insert(reads_[index].begin(), reads_[index].end());
  }

  /// Every result of the group must be read at one and the same row, which the stage's axes are.
  [[nodiscard]] std::optional<RowNames> by_results(const Stage& stage) const {
    std::optional<RowNames> names;
    bool fits = true;
    for_each_load(stage, [&](const StageNode& load) {
      if (results_.count(load.tensor.buffer) == 0) return;
      const auto found = row_of(load, stage);
      fits = fits && found && (!names || *names == *found);
      names = found;
    });
    const bool whole = stage.kind == StageKind::map || stage.axes.size() == rows_.size();
    return fits && whole ? names : std::nullopt;
  }

  [[nodiscard]] std::optional<RowNames> row_of(const StageNode& load, const Stage& stage) const {
    RowNames names;
    for (const auto& index : reshaped_indices(load.operands, load.tensor.type.shape, extents_of(rows_))) {
      if (index->op != StageOp::axis) return std::nullopt;
      const auto axis = std::find_if(stage.axes.begin(), stage.axes.end(),
                                     [&](const StageAxis& one) { return one.name == index->axis; });
      const bool whole = axis != stage.axes.end() && axis->extent.text() == rows_[names.size()].extent.text();
      if (!whole || std::find(names.begin(), names.end(), axis->name) != names.end()) return std::nullopt;
      names.push_back(axis->name);
    }
    return names;
  }

  /// A reduction of what the group reads in any case, such as a second moment.
  [[nodiscard]] std::optional<RowNames> by_inputs(std::size_t index) const {
    const auto& stage = program_.stages[index];
    if (stage.kind != StageKind::reduce || !same_extents(stage.axes, rows_)) return std::nullopt;
    if (!same_extents(stage.inner, program_.stages[members_[0]].inner)) return std::nullopt;
    const auto& read = reads_[index];
    const bool shares = std::any_of(read.begin(), read.end(), [&](std::size_t one) { return inputs_.count(one) > 0; });
    return shares ? std::optional(names_of(stage.axes)) : std::nullopt;
  }

  const StageProgram& program_;
  const StageReads& reads_;
  StageAxes rows_;
  std::vector<std::size_t> members_;
  std::vector<RowNames> names_;
  std::set<std::size_t> results_;  ///< of the group's reductions
  std::set<std::size_t> inputs_;
  std::set<std::size_t> later_;  ///< buffers that are complete only after the group
};

void rename(StageAxes& axes, const std::map<std::string, std::string>& names) {
  for (auto& axis : axes) axis.name = names.at(axis.name);
}

/// New names of the stage's axes: those of the rows, and for the others what is free.
std::map<std::string, std::string> new_names(const Stage& stage, const RowNames& own, const StageAxes& rows) {
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  for (const auto& row : rows) taken.insert(row.name);
  for (std::size_t i = 0; i < own.size(); ++i) names[own[i]] = rows[i].name;
  for (const auto* axes : {&stage.axes, &stage.inner}) {
    for (const auto& axis : *axes) {
      if (names.count(axis.name) > 0) continue;
      auto name = axis.name;
      while (!taken.insert(name).second) name += "_";
      names[axis.name] = name;
    }
  }
  return names;
}

/// The rows' axes come first, and the place says where the element goes all the same.
void put_rows_first(Stage& stage, const RowNames& own, const StageAxes& rows, ElementType stored) {
  StageIndices indices;
  for (const auto& axis : stage.axes) indices.push_back(axis_index(axis.name));
  stage.place = load(TensorView{stage.buffer, TensorType{stored, extents_of(stage.axes)}}, indices);
  const auto names = new_names(stage, own, rows);
  AxisValues values;
  for (const auto& [old, name] : names) values[old] = axis_index(name);
  rewrite_stage(stage,
                [&](const StageExpr& node) { return node->op == StageOp::axis ? values.at(node->axis) : StageExpr(); });
  rename(stage.axes, names);
  rename(stage.inner, names);
  StageAxes ordered = rows;
  for (const auto& axis : stage.axes) {
    const auto is_row = [&](const StageAxis& row) { return row.name == axis.name; };
    if (std::none_of(rows.begin(), rows.end(), is_row)) ordered.push_back(axis);
  }
  stage.axes = std::move(ordered);
}

void drop_unit_outputs(StageProgram& program) {
  for (auto& stage : program.stages) {
    if (stage.kind == StageKind::scan || stage.kind == StageKind::step || stage.place) continue;
    std::set<std::string> units;
    std::erase_if(stage.axes,
                  [&](const StageAxis& axis) { return axis.extent.text() == "1" && units.insert(axis.name).second; });
    if (units.empty()) continue;
    rewrite_stage(stage, [&](const StageExpr& node) {
      return node->op == StageOp::axis && units.count(node->axis) > 0 ? StageExpr(0) : StageExpr();
    });
  }
}

/// In an order in which each comes after what it reads; absent where they wait for each other.
std::optional<StageLists> running_order(const StageProgram& program, const StageReads& reads,
                                        const StageLists& groups) {
  StageLists all = groups;
  std::set<std::size_t> grouped;
  for (const auto& group : groups) grouped.insert(group.begin(), group.end());
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    if (grouped.count(i) == 0) all.push_back({i});
  }
  std::sort(all.begin(), all.end());
  std::set<std::size_t> missing;
  for (const auto& stage : program.stages) missing.insert(stage.buffer);
  const auto ready = [&](const std::vector<std::size_t>& group) {
    std::set<std::size_t> own;
    for (const auto stage : group) own.insert(program.stages[stage].buffer);
    return std::ranges::all_of(group, [&](std::size_t stage) {
      return std::ranges::none_of(reads[stage],
                                  [&](std::size_t one) { return missing.count(one) > 0 && own.count(one) == 0; });
    });
  };
  StageLists ordered;
  while (!all.empty()) {
    const auto next = std::find_if(all.begin(), all.end(), ready);
    if (next == all.end()) return std::nullopt;
    for (const auto stage : *next) missing.erase(program.stages[stage].buffer);
    ordered.push_back(*next);
    all.erase(next);
  }
  return ordered;
}

/// The group that begins with a stage, without what would make groups wait for each other.
GroupBuilder group_of(const StageProgram& program, const StageReads& reads, std::size_t first,
                      const std::vector<bool>& free, const StageLists& groups) {
  GroupBuilder builder(program, reads, first);
  for (std::size_t j = first + 1; j < program.stages.size(); ++j) builder.try_stage(j, free[j]);
  const auto runs = [&] {
    auto all = groups;
    all.push_back(builder.members());
    return running_order(program, reads, all).has_value();
  };
  while (builder.members().size() > 1 && !runs()) builder.drop_last();
  return builder;
}

}  // namespace

std::vector<RowGroup> row_groups(StageProgram& program, const RowRules& rules) {
  drop_unit_outputs(program);
  const auto reads = reads_of(program);
  std::vector<RowGroup> groups;
  StageLists lists = recurrences_of(program);
  std::vector<bool> free;
  for (const auto& stage : program.stages) free.push_back(stage.kind != StageKind::reduce || rules.reduction(stage));
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    if (!free[i] || program.stages[i].kind != StageKind::reduce || program.stages[i].axes.empty()) continue;
    auto allowed = free;
    for (std::size_t j = i; j < allowed.size(); ++j) {
      const auto& stage = program.stages[j];
      if (stage.kind == StageKind::map) allowed[j] = free[j] && rules.map(stage, count_of(program.stages[i].axes));
    }
    const auto builder = group_of(program, reads, i, allowed, lists);
    RowGroup group;
    std::vector<Stage*> members;
    for (std::size_t k = 0; k < builder.members().size(); ++k) {
      const auto member = builder.members()[k];
      auto& stage = program.stages[member];
      put_rows_first(stage, builder.names()[k], builder.rows(), program.buffers[stage.buffer].type.dtype);
      free[member] = false;
      group.stages.push_back(member);
      members.push_back(&stage);
    }
    group.rows = collapse_axes(members, builder.rows().size());
    lists.push_back(group.stages);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<std::vector<std::size_t>> in_running_order(const StageProgram& program,
                                                       const std::vector<std::vector<std::size_t>>& groups) {
  auto order = running_order(program, reads_of(program), groups);
  KW_CHECK(order, "groups of stages wait for each other");
  return std::move(*order);
}

}  // namespace kw
