#pragma once
// What the operator `program` keeps of a problem: the module as text, the tensor program that it is for the primary
// workload, and which values of its graph the problem's tensors are.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problem/problem.hpp"
#include "program/graph/graph.hpp"
#include "program/graph/precision.hpp"

namespace kw {

/// A class of a Python file.
struct ModuleSource {
  std::string text;
  std::string file;  ///< only labels errors
  std::string class_name = "Model";
  ProgramMode mode = ProgramMode::train;
  /// Integers of the file that have another value here and are no axes of the problem.
  Axes settings;
  Precision precision = Precision::strict;
};

/// What real-valued inputs of forward() may be.
enum class InputDomain : std::uint8_t {
  real,   ///< anything: distributions may give them any sign and size
  given,  ///< only what get_inputs() draws: beyond that the module itself gives NaN or infinity
};
[[nodiscard]] std::string_view to_string(InputDomain domain);

/// What the oracle computes for a row of an answer.
struct RowCost {
  double elements = 0;               ///< for one by itself
  bool by_element = false;           ///< a row is an element, for those of the innermost axis have nothing in common
  std::vector<std::size_t> sharing;  ///< elements that are alike on these axes of the output follow from the same ones;
                                     ///< empty where a row is cheap, or shares nothing
};

/// The module as it was read for other axes, so that each workload's data, costs and answers read it once. Its
/// functions may be called from several threads at once.
class ProgramReadings {
 public:
  /// Null where it was not read for these.
  [[nodiscard]] std::shared_ptr<const Program> find(const Axes& axes) const;
  void keep(const Axes& axes, std::shared_ptr<const Program> program);

  /// Whether the oracle computes whole tensors to answer some rows; nothing where nobody has found out.
  [[nodiscard]] std::optional<bool> takes_tensors(const Axes& axes) const;
  void keep_takes_tensors(const Axes& axes, bool takes);

  /// Nothing where nobody has found out.
  [[nodiscard]] std::optional<RowCost> row_cost(const Axes& axes) const;
  void keep_row_cost(const Axes& axes, RowCost cost);

 private:
  mutable std::mutex mutex_;
  std::map<Axes, std::shared_ptr<const Program>> programs_;
  std::map<Axes, bool> takes_tensors_;
  std::map<Axes, RowCost> row_costs_;
};

struct ProgramDetail final : OperatorDetail {
  ModuleSource module;
  InputDomain domain = InputDomain::real;
  Program program;                   ///< as it was read for the primary workload of the problem's file
  std::vector<std::size_t> inputs;   ///< of Problem::inputs, in their order: the value in program.graph
  std::vector<std::size_t> outputs;  ///< of Problem::outputs, in their order: the value in program.graph
  std::shared_ptr<ProgramReadings> readings = std::make_shared<ProgramReadings>();  ///< shared by copies of the problem
};

/// Whether forward() is given this value of the graph; otherwise the module holds it.
[[nodiscard]] bool is_forward_input(const Program& program, std::size_t value);

/// Whether a kernel of the problem may round factors to tf32 anywhere.
[[nodiscard]] bool rounds_factors(const Problem& problem);

/// Of a problem of operator "program".
[[nodiscard]] const ProgramDetail& program_detail(const Problem& problem);

/// The program with other extents: the module read again, once for each binding. `axes` may hold derived axes, which
/// are passed over. Errors: as read_program, and errc::program_structure where it is another program then.
[[nodiscard]] Result<std::shared_ptr<const Program>> program_at(const Problem& problem, const Axes& axes);
/// The same for axes that were checked: an error is a defect.
[[nodiscard]] std::shared_ptr<const Program> checked_program(const Problem& problem, const Axes& axes);

/// Fills the problem's detail, inputs, outputs and derived axes. `axes` are the primary's own. Inputs are the tensors
/// that forward() takes and uses, in its order, then the parameters and buffers that it reads. Refused:
/// errc::program_unsupported for a program that is random, a type that kernels cannot store, an output that no axis or
/// operand enters; and what read_program refuses.
[[nodiscard]] Result<void> set_program(Problem& problem, ModuleSource module, InputDomain domain, const Axes& axes);

}  // namespace kw
