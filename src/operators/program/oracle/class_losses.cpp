// Losses of scores of classes, [C], [N, C] or [N, C, ...], against class numbers or probabilities of classes.

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/partial_folds.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

class ClassLoss {
 public:
  /// `scores`: the input is no logarithm of probabilities yet.
  ClassLoss(const OracleCall& call, bool scores)
      : input_(call.tensor("input")),
        target_(call.tensor("target")),
        weight_(call.optional_tensor("weight")),
        classes_(input_.extents(), input_.rank() > 1 ? 1 : 0),
        scores_(scores),
        probabilities_(scores && is_floating(target_.dtype())),
        ignored_(static_cast<double>(call.integer("ignore_index"))),
        smoothing_(scores ? call.number("label_smoothing") : 0.0) {}

  [[nodiscard]] std::int64_t rows() const { return classes_.count; }
  [[nodiscard]] std::int64_t classes() const { return classes_.length; }
  [[nodiscard]] double loss(std::int64_t row) const { return probabilities_ ? by_probabilities(row) : by_class(row); }

  /// What 'mean' divides by: the weights of the target classes, or the rows where the targets are probabilities.
  [[nodiscard]] double share(std::int64_t row) const {
    if (probabilities_) return 1.0;
    const double target = target_[row];
    return target == ignored_ ? 0.0 : weight_of(static_cast<std::int64_t>(target));
  }

 private:
  [[nodiscard]] std::int64_t element(std::int64_t row, std::int64_t of_class) const {
    return classes_.start(row) + of_class * classes_.stride;
  }
  [[nodiscard]] double weight_of(std::int64_t of_class) const { return weight_ ? (*weight_)[of_class] : 1.0; }

  /// The logarithm of what the input's scores are divided by as probabilities.
  [[nodiscard]] double log_total(std::int64_t row) const {
    if (!scores_) return 0.0;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t c = 0; c < classes_.length; ++c) largest = larger_of(largest, input_[element(row, c)]);
    double total = 0.0;
    for (std::int64_t c = 0; c < classes_.length; ++c) total += std::exp(input_[element(row, c)] - largest);
    return largest + std::log(total);
  }

  /// A class that there is not gives NaN, where PyTorch raises an error.
  [[nodiscard]] double by_class(std::int64_t row) const {
    const double target = target_[row];
    if (target == ignored_) return 0.0;
    if (!(target >= 0.0 && target < static_cast<double>(classes_.length)))
      return std::numeric_limits<double>::quiet_NaN();
    const auto chosen = static_cast<std::int64_t>(target);
    const double total = log_total(row);
    const double hit = -weight_of(chosen) * (input_[element(row, chosen)] - total);
    if (smoothing_ == 0.0) return hit;
    double all = 0.0;
    for (std::int64_t c = 0; c < classes_.length; ++c) all -= weight_of(c) * (input_[element(row, c)] - total);
    return (1.0 - smoothing_) * hit + smoothing_ / static_cast<double>(classes_.length) * all;
  }

  [[nodiscard]] double by_probabilities(std::int64_t row) const {
    const double total = log_total(row);
    const auto classes = static_cast<double>(classes_.length);
    double loss = 0.0;
    for (std::int64_t c = 0; c < classes_.length; ++c) {
      const double probability = target_[element(row, c)] * (1.0 - smoothing_) + smoothing_ / classes;
      loss -= weight_of(c) * probability * (input_[element(row, c)] - total);
    }
    return loss;
  }

  Operand input_;
  Operand target_;
  std::optional<Operand> weight_;
  Lines classes_;
  bool scores_;
  bool probabilities_;
  double ignored_;
  double smoothing_;
};

Result<Answer> class_loss(const OracleCall& call, bool scores) {
  ClassLoss loss(call, scores);
  const auto& reduction = call.text("reduction");
  if (reduction == "none") return each_element([loss](std::int64_t row) { return loss.loss(row); });
  const bool mean = reduction == "mean";
  // A row has as many terms as there are classes.
  return summed_in_parts(
      1, loss.rows() * loss.classes(),
      [loss, mean](std::int64_t, std::int64_t first, std::int64_t end) {
        const auto row_from = [&](std::int64_t term) { return (term + loss.classes() - 1) / loss.classes(); };
        GroupStatistics::Pair total;
        for (auto row = row_from(first); row < row_from(end); ++row) {
          total.first += loss.loss(row);
          if (mean) total.second += loss.share(row);
        }
        return total;
      },
      [mean](const GroupStatistics::Pair& total) { return mean ? total.first / total.second : total.first; });
}

constexpr std::array k_class_loss_answers = {
    OracleRow{"cross_entropy", [](const OracleCall& call) { return class_loss(call, true); }},
    OracleRow{"nll_loss", [](const OracleCall& call) { return class_loss(call, false); }},
};

}  // namespace

std::span<const OracleRow> class_loss_answers() {
  return k_class_loss_answers;
}

}  // namespace kw::program_oracle
