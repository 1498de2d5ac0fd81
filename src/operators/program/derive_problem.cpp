// From a module to a problem file: what the file leaves unsaid is derived here, and written down.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "operators/program/conditioning.hpp"
#include "operators/program/derived_workloads.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/primary_size.hpp"
#include "operators/program/program_detail.hpp"
#include "operators/program/size_axes.hpp"
#include "problem/axes.hpp"
#include "problem/file/reserved_names.hpp"
#include "program/errors.hpp"
#include "program/reader/program_reader.hpp"

namespace kw {
namespace {

constexpr std::size_t k_derived = 4;
constexpr std::size_t k_most_drawn = 16;  ///< where few of as many say something
/// Of the two answers that show whether a primary depends on its inputs, less than a second; what --fit 1e7 leaves. To
/// draw a number takes as long as a few steps.
constexpr double k_most_steps_of_primary = 2e7;

Result<ProgramMode> mode_named(const std::string& mode) {
  if (mode.empty()) return ProgramMode::train;
  if (const auto named = program_mode_named(mode)) return *named;
  return fail(
      Error{errc::problem_value, fmt::format("mode \"{}\" is no mode", mode), "write train, eval or train_no_dropout"});
}

Result<Precision> precision_of(const std::string& name) {
  if (name.empty()) return Precision::strict;
  if (const auto named = precision_named(name)) return *named;
  return fail(Error{errc::problem_value, fmt::format("precision \"{}\" is none", name),
                    fmt::format("write {}", precision_names())});
}

Result<Axes> assigned(const std::vector<std::string>& texts) {
  Axes values;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    std::int64_t value = 0;
    const char* const last = text.data() + text.size();
    const char* const first = equals == std::string::npos ? last : text.data() + equals + 1;
    const auto [end, status] = std::from_chars(first, last, value);
    if (equals == 0 || status != std::errc{} || end != last || first == last) {
      return fail(Error{errc::problem_set, fmt::format("'{}' does not set an axis", text),
                        "write AXIS=NUMBER, as in batch_size=64"});
    }
    values[text.substr(0, equals)] = value;
  }
  return values;
}

/// As a TOML string of several lines. The line break behind the quotes is not part of it.
std::string toml_lines(std::string_view text) {
  std::string quoted = "\"\"\"\n";
  for (const char c : text) {
    if (c == '\\' || c == '"') quoted += '\\';
    const bool plain = static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t';
    quoted += plain ? std::string(1, c) : c == '\r' ? std::string() : fmt::format("\\u{:04x}", c);
  }
  return quoted + "\"\"\"";
}

/// "program/conv_bn" of "some/where/conv_bn.py", and the class behind it unless it is Model.
std::string problem_name(const PyTorchModule& module, const std::string& class_name) {
  std::string name = "program/";
  const std::string stem = std::filesystem::path(module.file).stem().string();
  for (const char c : stem.substr(0, 60)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += letter || c == '_' || c == '-' ? c : '_';
  }
  return class_name == "Model" ? name : name + "." + class_name;
}

/// Sizes that a problem may have as axes, by name and by extent.
std::vector<std::string> axes_for(const Program& program) {
  auto sizes = size_axes(program);
  std::erase_if(sizes, [&](const std::string& name) {
    const auto axis = std::find_if(program.axes.begin(), program.axes.end(),
                                   [&](const ProgramAxis& one) { return one.name == name; });
    return !check_own_name(name, NamedThing::axis, program_format()) || !check_extent(name, axis->extent);
  });
  return sizes;
}

/// As large as the spikes of any distribution.
void make_large(const Problem& problem, const Workload&, const CaptureData&, InputValues& operands, Rng&,
                const ParallelFor&) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!is_free_operand(problem, i)) continue;
    for (float& value : operands[i]) value *= 6.0F;
  }
}

void leave_as_drawn(const Problem&, const Workload&, const CaptureData&, InputValues&, Rng&, const ParallelFor&) {}

class ProblemWriter {
 public:
  explicit ProblemWriter(const PyTorchModule& text) : text_(text) {}

  Result<std::string> run() {
    module_.text = std::string(text_.text);
    module_.file = text_.file;
    if (!text_.class_name.empty()) module_.class_name = text_.class_name;
    KW_TRY(module_.mode, mode_named(text_.mode));
    KW_TRY(module_.precision, precision_of(text_.precision));
    KW_TRY(const Axes set, assigned(text_.set));
    ProgramOptions options{module_.class_name, set, module_.mode};
    KW_TRY(const auto everything, read_program(module_.text, module_.file, options));
    sizes_ = axes_for(everything);
    for (const auto& [name, value] : set) {
      if (std::find(sizes_.begin(), sizes_.end(), name) == sizes_.end()) module_.settings[name] = value;
    }
    options.axes = sizes_;
    KW_TRY(program_, read_program(module_.text, module_.file, options));
    const auto fitting = fitting_axes(module_, sizes_, program_, text_.limits);
    primary_ = fitting.extents;
    KW_TRY_VOID(derive_workloads());
    choose_primary(larger_sizes(fitting));
    KW_TRY(const auto domain, domain_of());
    return written(domain);
  }

 private:
  /// Whether a primary of these extents has something to compute; nothing where it is too large to be asked.
  std::optional<bool> can_be_scored(const Axes& extents) {
    primary_ = extents;
    const auto problem = parse_problem(written(InputDomain::given), text_.file);
    if (!problem) return false;
    const auto cost = program_cost(*problem, problem->primary());
    const double steps = cost.steps;
    if (steps + cost.bytes > k_most_steps_of_primary) return std::nullopt;
    const bool told = steps > k_most_steps_asked || is_answered(*problem, problem->primary(), leave_as_drawn);
    return told && depends_on_inputs(*problem, problem->primary());
  }

  /// Goes back to the next larger size where the one that fits has nothing to compute; where none has, it stays.
  void choose_primary(const std::vector<Axes>& larger) {
    const Axes fitting = primary_;
    if (larger.empty() || can_be_scored(fitting).value_or(true)) return;
    for (const auto& one : larger) {
      stepped_back_ = can_be_scored(one).value_or(false);
      if (stepped_back_) return;
    }
    primary_ = fitting;
  }

  /// More are drawn where few of the first ones say something.
  Result<void> derive_workloads() {
    std::size_t answered = 0;
    for (const std::size_t drawn : {k_derived, k_most_drawn}) {
      if (answered >= k_derived) break;
      workloads_ = derived_workloads(module_, sizes_, program_, drawn);
      if (workloads_.empty()) workloads_.push_back(primary_);
      KW_TRY(answered, keep_answered());
      if (workloads_.size() > k_derived) workloads_.resize(k_derived);
    }
    return {};
  }

  /// Leaves out workloads that say nothing, such as the norm of a single number; but for all of them. Returns how many
  /// say something.
  Result<std::size_t> keep_answered() {
    KW_TRY(const Problem given, parse_problem(written(InputDomain::given), text_.file));
    KW_TRY(const Problem real, parse_problem(written(InputDomain::real), text_.file));
    std::vector<Axes> answered;
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      const Workload& one = given.workloads[i + 1];
      const bool large = program_cost(given, one).steps > k_most_steps_asked;
      // Normal numbers may be beyond what the module takes; then it keeps to what it is given.
      const bool kept = large || (is_answered(given, one, leave_as_drawn) &&
                                  (is_answered(real, one, leave_as_drawn) || !is_answered(real, one, make_large)));
      if (kept) answered.push_back(workloads_[i]);
    }
    const std::size_t count = answered.size();
    if (count > 0) workloads_ = std::move(answered);
    return count;
  }

  /// Whether the module has an answer to inputs of any sign and size, seen on its small workloads; where it has none so
  /// small, it is not asked.
  Result<InputDomain> domain_of() const {
    KW_TRY(const Problem problem, parse_problem(written(InputDomain::real), text_.file));
    bool asked = false;
    for (auto one = problem.workloads.begin() + 1; one != problem.workloads.end(); ++one) {
      if (program_cost(problem, *one).steps > k_most_steps_asked) continue;
      if (!is_answered(problem, *one, make_large)) return InputDomain::given;
      asked = true;
    }
    return asked ? InputDomain::real : InputDomain::given;
  }

  [[nodiscard]] std::string description() const {
    std::vector<std::string> smaller;
    for (const auto& axis : program_.axes) {
      const auto now = primary_.find(axis.name);
      if (now == primary_.end() || now->second == axis.extent) continue;
      smaller.push_back(fmt::format("{} = {} instead of {}", axis.name, now->second, axis.extent));
    }
    if (smaller.empty()) return "";
    return "The file's own sizes are too large here; made smaller: " + join(smaller) + "." +
           (stepped_back_ ? " Where they are smaller still, the result follows from the parameters alone." : "");
  }

  [[nodiscard]] std::string written(InputDomain domain) const {
    std::string toml = fmt::format("name = \"{}\"\nop = \"program\"\ndescription = \"{}\"\n\n[axes]\n",
                                   problem_name(text_, module_.class_name), description());
    for (const auto& [name, extent] : primary_) toml += fmt::format("{} = {}\n", name, extent);
    toml += fmt::format("\n[program]\nclass = \"{}\"\nmode = \"{}\"\ninputs = \"{}\"\nmodule = {}\n",
                        module_.class_name, to_string(module_.mode), to_string(domain), toml_lines(module_.text));
    if (module_.precision != Precision::strict) {
      toml += fmt::format("precision = \"{}\"\n", to_string(module_.precision));
    }
    if (!module_.settings.empty()) toml += "[program.set]\n";
    for (const auto& [name, value] : module_.settings) toml += fmt::format("{} = {}\n", name, value);
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      toml += fmt::format("\n[[workload]]\nname = \"derived_{}\"\nrole = \"{}\"\n", i + 1,
                          i % 2 == 0 ? "edge" : "held_out");
      for (const auto& [name, extent] : workloads_[i]) toml += fmt::format("{} = {}\n", name, extent);
    }
    return toml;
  }

  const PyTorchModule& text_;
  ModuleSource module_;
  std::vector<std::string> sizes_;
  Program program_;
  Axes primary_;
  bool stepped_back_ = false;  ///< from a size that fits and says nothing
  std::vector<Axes> workloads_;
};

}  // namespace

Result<std::string> program_problem_text(const PyTorchModule& module) {
  return ProblemWriter(module).run();
}

}  // namespace kw
