#pragma once
// What the rest of the system has to know of an operator. Its folder under operators/ fills one Operator; the program
// lists them in catalogue/, and everything else goes through this interface. Nothing has a default: an operator that
// leaves something out does not compile, and one that gives a null pointer aborts when it is made.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_texts.hpp"
#include "base/parallel.hpp"
#include "base/required.hpp"
#include "base/result.hpp"
#include "problem/answer_rows.hpp"
#include "problem/explanation.hpp"
#include "problem/operator_checks.hpp"
#include "problem/problem.hpp"
#include "problem/values.hpp"

namespace kw {

struct ConfigValue;
struct Style;

/// A mod as it stands in a Python file: what `--mod FILE.py:NAME` says.
struct ModText {
  std::string_view module_text;
  const std::string& file;        ///< only labels errors
  std::string_view wanted;        ///< as parse_mod_file takes it
  ModuleFiles* beside = nullptr;  ///< as parse_mod_file takes it
};

/// How large a module's primary workload may be.
struct ModuleLimits {
  double bytes;  ///< of inputs, parameters and results, and a quarter of what lies between them
  double steps;  ///< WorkloadCost::steps
};

/// A class of a Python file: what FILE.py:CLASS says in the place of a problem.
struct PyTorchModule {
  std::string_view text;
  std::string file;              ///< labels errors, and the problem is named after it
  std::string class_name;        ///< empty: "Model"
  std::string mode;              ///< "train" or "eval"; empty: train
  std::vector<std::string> set;  ///< NAME=VALUE: other values for integers of the file
  ModuleLimits limits;           ///< a larger primary is made smaller, and the problem's description says so
  std::string precision = {};    ///< of its products, by name; empty: "strict"
};

/// What an operator adds to problem files.
struct OperatorFormat {
  std::string_view op;            ///< also the name of its table
  std::vector<std::string> axes;  ///< that all its problems have, in the order that canonical text lists them
  /// Names that its kernels use, each between two spaces: no axis or tensor of a user's own may have them.
  std::string_view reserved;
  /// Fills the axes of the primary that may be left out.
  Required<void(Axes& axes)> default_axes;
  /// Consistency of the axes with one another, such as Hkv dividing Hq. The error carries no place.
  Required<Result<void>(const Problem& problem, const Axes& axes)> check_axes;
  /// Reads the operator's table and sets detail, inputs (the operator's own), outputs and derived_axes. Mods in it may
  /// import from `beside`, which is null for text from nowhere.
  Required<Result<void>(const ConfigValue& root, ModuleFiles* beside, Problem& problem)> read;
  /// The operator's part of the canonical text.
  Required<std::string(const Problem& problem)> canonical;
  /// The functions that the user gave it, in the order they are shown.
  Required<std::vector<UserFunction>(const Problem& problem)> functions;
  /// The problem with a function of a Python file in the place of its own, under a name that says so.
  Required<Result<Problem>(Problem problem, const ModText& mod)> with_mod;
  /// The text of a problem file for a whole module; refuse_module() for operators that compute none.
  Required<Result<std::string>(const PyTorchModule& module)> from_module;
};

/// What is said to models of an operator. The texts are templates (propose/llm/prompts/), and a directory of the user's
/// may replace each as OP/NAME.md.
struct OperatorPrompts {
  /// operation, sizes, precision, strategies, steps, reasons: docs/prompting.md says what each is for.
  Required<std::span<const EmbeddedText>()> texts;
  /// What "operation" may name.
  Required<std::vector<std::string>()> placeholders;
  /// Values for them.
  Required<std::map<std::string, std::string, std::less<>>(const Problem& problem)> values;
};

/// The oracle for a part of an answer: timed launches have new data each time, and the whole answer to them would take
/// longer than timing.
struct OracleSampling {
  /// Of an answer that costs `whole`.
  Required<AnswerRows(const Problem& problem, const Axes& axes, const AnswerWork& whole)> rows;
  /// What the oracle answers in these rows, which ascend: one sample per output, in their order.
  Required<std::vector<AnswerSample>(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                     std::span<const std::int64_t> rows, const ParallelFor& parallel)>
      answer;
  /// Which elements of the operands `answer` looks at for these rows. Nothing where that is not known beforehand, or
  /// where the operator's conditioning looks at others.
  Required<std::optional<OperandReads>(const Problem& problem, const Axes& axes, std::span<const std::int64_t> rows)>
      reads;
};

struct Operator {
  OperatorFormat format;
  Required<WorkloadCost(const Problem& problem, const Workload& workload)> cost;
  OperatorChecks checks;
  /// The slow, obvious answer in double precision. It shares no code with the kernels.
  Required<OutputValues(const Problem& problem, const Axes& axes, const InputValues& inputs,
                        const ParallelFor& parallel)>
      oracle;
  OracleSampling sampling;
  OperatorPrompts prompts;
  /// On the nominal draw of the captured tensors. Errors: as draw_captures.
  Required<Result<Explanation>(const Problem& problem)> explain;
  /// Ways of writing it (codegen/codegen.hpp), of each target from the plainest to the fastest.
  Required<const std::vector<Style>&()> styles;
};

/// The operators of a program, no two of one name.
class OperatorList {
 public:
  explicit OperatorList(std::vector<const Operator*> all);
  [[nodiscard]] std::span<const Operator* const> all() const { return all_; }

 private:
  std::vector<const Operator*> all_;
};

/// Each program defines this by the list that it links; the product's is catalogue/operators.cpp.
[[nodiscard]] const OperatorList& operators();
/// Null when unknown.
[[nodiscard]] const Operator* find_operator(std::string_view op);
/// Of a problem, whose operator is known since it was read.
[[nodiscard]] const Operator& operator_of(const Problem& problem);
[[nodiscard]] std::vector<std::string> operator_names();

}  // namespace kw
