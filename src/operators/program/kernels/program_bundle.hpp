#pragma once
// From groups of stages, each written by a family, to one bundle: buffers, helpers and comments that all families
// share.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "codegen/kernel_helpers.hpp"
#include "hardware/device_facts.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "problem/problem.hpp"
#include "program/stages/stage.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Stages that are written together, as one launch or a few.
struct StageGroup {
  std::vector<std::size_t> stages;  ///< of the program, in the order in which they run
  std::vector<std::size_t> local;   ///< buffers that only this group reads and that its kernels hold in no memory
  std::size_t rows = 0;             ///< leading axes that its stages have in common; see program/stages/row_groups.hpp
};

/// A program, in what order its groups run and how its buffers are called.
struct GroupedProgram {
  StageProgram program;
  Graph graph;                               ///< whose nodes the stages name
  std::vector<StageGroup> groups;            ///< each stage is in exactly one
  std::vector<std::string> simplifications;  ///< rules that were applied to the graph; see program/simplify/
  std::vector<std::string> fusions;          ///< what became of stages that went; see program/stages/fuse.hpp
};

/// Structural choices of the style for CUDA C++: whether contractions are multiplied in a certain way.
enum class WayUse : std::uint8_t {
  estimated,  ///< where it is estimated to be faster
  always,     ///< where it can be
  never,
};
struct ContractWays {
  WayUse patches = WayUse::estimated;     ///< of convolutions; see contract_patches.hpp
  WayUse strips = WayUse::estimated;      ///< where all contractions can be, before patches; see contract_strips.hpp
  WayUse direct = WayUse::estimated;      ///< where all contractions can be, before both; see contract_direct.hpp
  WayUse tails = WayUse::estimated;       ///< with reductions in the same kernel; see contract_tails.hpp
  WayUse phases = WayUse::estimated;      ///< of transposed convolutions, by patches, each its own taps
  WayUse joined = WayUse::estimated;      ///< phases of a line in one block; see contract_joined_phases.hpp
  WayUse statistics = WayUse::estimated;  ///< left by contractions for norms; see contract_statistics.hpp
  WayUse scaled = WayUse::estimated;      ///< where all contractions can be; see contract_scaled_halves.hpp
  WayUse boxes = WayUse::estimated;       ///< of factors of 16-bit numbers; see contract_boxes.hpp
};

class ProgramContracts;
[[nodiscard]] std::shared_ptr<ProgramContracts> contracts_of(const StageProgram& program, Dialect dialect,
                                                             const DeviceFacts& device, ContractWays ways);

/// What a family needs in order to write a group.
struct GroupContext {
  const StageProgram& program;
  const std::vector<KernelBuffer>& buffers;  ///< of the program, in its order; local ones have no argument
  Dialect dialect;
  const DeviceFacts& device;
  ContractWays ways = {};
  /// What is decided once for all contractions; see program_contracts.hpp. The program must not change meanwhile.
  std::shared_ptr<ProgramContracts> contracts = contracts_of(program, dialect, device, ways);
};

/// The group's, in their order.
[[nodiscard]] std::vector<const Stage*> stages_of(const GroupContext& context, const StageGroup& group);

/// What a family wrote.
struct GroupKernels {
  std::string source;  ///< functions, without the comment before the first one
  std::vector<Launch> launches;
  std::vector<ScratchBuffer> scratch;  ///< of this group alone
  std::vector<Tunable> tunables;       ///< the same name in two groups is one tunable, with the same values
  std::vector<std::string> constraints;
  std::set<KernelHelper> helpers;
  std::set<std::string> own_helpers;     ///< sections of program/plain.cl and vector.cl; "contract.cl/multiply_add"
  std::vector<Definition> defines = {};  ///< the same name in two groups is one definition, of the same expression
};

struct ProgramWriting {
  std::string style;      ///< for errors
  std::string generator;  ///< of the bundle
  DeviceFacts device;     ///< that the kernels are for
  std::string summary;    ///< for the first comment: "a kernel per step"
  std::function<GroupKernels(const GroupContext& context, const StageGroup& group)> write;
  ContractWays ways = {};
};

/// One bundle serves every shape of the module: extents that depend on axes are arguments of the kernels.
/// errc::codegen_unsupported for more launches or scratch buffers than a bundle may have.
[[nodiscard]] Result<Bundle> program_bundle(Dialect dialect, const Problem& problem, GroupedProgram grouped,
                                            const ProgramWriting& writing);

/// The name of the function that computes `buffer`.
[[nodiscard]] std::string kernel_of_buffer(const GroupContext& context, std::size_t buffer);

}  // namespace kw
