#pragma once
// What evaluating a graph whole and on demand have in common.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/dense_tensor.hpp"

namespace kw::program_oracle {

/// Where more than one in so many of the elements on the way are needed, all are computed. Asking for one takes some
/// six times as long as computing it among others, and 16 threads that share a cone all compute it.
inline constexpr std::int64_t k_whole_beyond = 32;

/// body(first, end) for parts of [0, count) that are worth a task, when `each` elements come with every step.
void in_tasks(std::int64_t count, std::int64_t each, const ParallelFor& parallel,
              const std::function<void(std::int64_t, std::int64_t)>& body);

/// body(i) for each, where neighbours are asked for at different times: they share groups, and a thread waits for
/// another that computes one.
void in_scattered_tasks(std::int64_t count, const ParallelFor& parallel, const std::function<void(std::int64_t)>& body);

/// Those that these elements are in.
[[nodiscard]] Ranges lines_of(const Lines& lines, const Ranges& elements);

/// Takes values as they were computed, of elements of a row from `first` on. From several threads.
using KeepRow = std::function<void(std::int64_t row, std::int64_t first, std::span<const double> values)>;
/// All elements of a tensor, of which some are computed.
struct FlatOutput {
  ElementType dtype = ElementType::float32;
  double* values = nullptr;
};

/// Computes these, neighbours that are alike together.
void fill_parts(const BySpan& answer, std::span<const RowPart> parts, const ParallelFor& parallel, const KeepRow& keep);

/// Computes these elements of each output of the node, into flat memory of all of it.
void fill_elements(const Answer& answer, std::span<const Ranges> needed, std::span<const FlatOutput> outputs,
                   const ParallelFor& parallel);

/// The values that a node reads, each as often as it reads it.
[[nodiscard]] std::vector<std::size_t> operands_of(const Node& node);

/// For each node whether the wanted values follow from it; the values that `is_leaf` names follow from nothing.
/// errc::oracle_leaf for a value that no node makes and that is no leaf.
[[nodiscard]] Result<std::vector<bool>> needed_nodes(const Graph& graph, std::span<const std::size_t> wanted,
                                                     const std::function<bool(std::size_t)>& is_leaf);

/// How the node is answered; errc::oracle_random and errc::oracle_unanswered.
[[nodiscard]] Result<Answer> answer_of(const Graph& graph, const Node& node, const OracleCall::OperandOf& operand_of);

/// Zeros in the place of every operand, for who asks an answer what it is and not for numbers. `graph` must outlive it.
[[nodiscard]] OracleCall::OperandOf zero_operands(const Graph& graph);

/// All outputs of the node.
[[nodiscard]] std::vector<DenseTensor> whole_answer(const Graph& graph, const Node& node, const Answer& answer,
                                                    const ParallelFor& parallel);

[[nodiscard]] std::int64_t elements_of(const TensorType& type);

}  // namespace kw::program_oracle
