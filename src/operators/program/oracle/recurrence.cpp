// A layer of a recurrent network, sequence by sequence and step by step; the formulas are those of
// program/operators/recurrence_mode.hpp. States are as the result's type holds them.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/dense_tensor.hpp"
#include "program/operators/recurrence_mode.hpp"

namespace kw::program_oracle {
namespace {

using Vector = std::vector<double>;

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

class Recurrence {
 public:
  explicit Recurrence(const OracleCall& call)
      : mode_(recurrence_mode(call.text("mode")).value()),
        backwards_(call.truth("backwards")),
        input_(call.tensor("input")),
        hidden_(call.tensor("hidden")),
        cell_(call.optional_tensor("cell")),
        weight_(call.tensor("weight")),
        bias_(call.optional_tensor("bias")),
        type_(call.output_type()),
        steps_(input_.extent(1)),
        rows_(input_.extent(2)),
        features_(hidden_.extent(1)) {}

  [[nodiscard]] std::int64_t sequences() const { return hidden_.extent(0); }
  [[nodiscard]] std::int64_t length() const { return steps_ * features_; }

  /// All steps of one sequence: the hidden states and, of an LSTM, those of the cell.
  void fill(std::int64_t sequence, std::span<Vector> outputs) const {
    std::call_once(known_, [this] { know_weight(); });
    Vector hidden = row(hidden_, sequence, features_);
    Vector cell = cell_ ? row(*cell_, sequence, features_) : Vector();
    for (std::int64_t i = 0; i < steps_; ++i) {
      const auto step = backwards_ ? steps_ - 1 - i : i;
      const Vector given = row(input_, sequence * steps_ + step, rows_);
      advance(given, products(hidden), hidden, cell);
      store(hidden, step, outputs[0]);
      if (cell_) store(cell, step, outputs[1]);
    }
  }

 private:
  static Vector row(const Operand& operand, std::int64_t index, std::int64_t length) {
    Vector values(static_cast<std::size_t>(length));
    read_numbers(values, operand, index * length, 1);
    return values;
  }

  /// Columns one after the other, so that a step adds along memory.
  void know_weight() const {
    columns_.assign(static_cast<std::size_t>(features_), Vector(static_cast<std::size_t>(rows_)));
    for (std::int64_t k = 0; k < features_; ++k) {
      auto& column = columns_[static_cast<std::size_t>(k)];
      read_numbers(column, weight_, k, features_);
      is_zero_ = is_zero_ && std::ranges::all_of(column, [](double one) { return one == 0; });
    }
    if (bias_) added_ = row(*bias_, 0, rows_);
  }

  /// weight @ hidden + bias
  [[nodiscard]] Vector products(const Vector& hidden) const {
    Vector sums = bias_ ? added_ : Vector(static_cast<std::size_t>(rows_), 0.0);
    for (std::size_t k = 0; k < hidden.size(); ++k) {
      // Who asks what is read has zeros, and products that nobody wants to wait for.
      if (!is_zero_ || hidden[k] != 0) add_scaled_run(std::span(sums), hidden[k], columns_[k].data());
    }
    return sums;
  }

  void advance(const Vector& given, const Vector& products, Vector& hidden, Vector& cell) const {
    const std::size_t width = hidden.size();
    for (std::size_t j = 0; j < width; ++j) {
      const auto sum = [&](std::size_t gate) { return given[gate * width + j] + products[gate * width + j]; };
      switch (mode_) {
        case RecurrenceMode::rnn_tanh:
          hidden[j] = std::tanh(sum(0));
          break;
        case RecurrenceMode::rnn_relu:
          hidden[j] = sum(0) < 0 ? 0.0 : sum(0);
          break;
        case RecurrenceMode::gru: {
          const double update = sigmoid(sum(1));
          const double fresh = std::tanh(given[2 * width + j] + sigmoid(sum(0)) * products[2 * width + j]);
          hidden[j] = (1.0 - update) * fresh + update * hidden[j];
          break;
        }
        case RecurrenceMode::lstm:
          cell[j] = held_as(type_, sigmoid(sum(1)) * cell[j] + sigmoid(sum(0)) * std::tanh(sum(2)));
          hidden[j] = sigmoid(sum(3)) * std::tanh(cell[j]);
          break;
      }
      hidden[j] = held_as(type_, hidden[j]);
    }
  }

  void store(const Vector& state, std::int64_t step, Vector& into) const {
    std::ranges::copy(state, into.begin() + step * features_);
  }

  RecurrenceMode mode_;
  bool backwards_;
  Operand input_;
  Operand hidden_;
  std::optional<Operand> cell_;
  Operand weight_;
  std::optional<Operand> bias_;
  ElementType type_;
  std::int64_t steps_;
  std::int64_t rows_;
  std::int64_t features_;
  mutable std::once_flag known_;
  mutable std::vector<Vector> columns_;
  mutable Vector added_;
  mutable bool is_zero_ = true;
};

Result<Answer> recurrence(const OracleCall& call) {
  const auto all = std::make_shared<const Recurrence>(call);
  return ByLine{Lines({all->sequences(), all->length()}, 1),
                [all](std::int64_t sequence, std::span<std::vector<double>> outputs) { all->fill(sequence, outputs); },
                true};
}

constexpr std::array k_recurrence_answers = {OracleRow{"recurrence", recurrence}};

}  // namespace

std::span<const OracleRow> recurrence_answers() {
  return k_recurrence_answers;
}

}  // namespace kw::program_oracle
