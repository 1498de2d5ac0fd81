#pragma once
// What the steps of a recurrent layer compute, under the names that PyTorch has for them
// (https://pytorch.org/docs/stable/nn.html#recurrent-layers). With h the hidden state, u the step's input of each gate,
// and v = weight @ h + bias:
//   RNN_TANH, RNN_RELU  h' = f(u + v)
//   GRU, gates r z n    h' = (1 - z) n + z h with r, z = sigmoid(u + v) and n = tanh(u + r v)
//   LSTM, gates i f g o c' = f c + i g and h' = o tanh(c') with i, f, o = sigmoid(u + v) and g = tanh(u + v)

#include <cstdint>
#include <optional>
#include <string_view>

namespace kw {

enum class RecurrenceMode : std::uint8_t { rnn_tanh, rnn_relu, gru, lstm };

/// Nothing for any other name.
[[nodiscard]] constexpr std::optional<RecurrenceMode> recurrence_mode(std::string_view name) {
  if (name == "RNN_TANH") return RecurrenceMode::rnn_tanh;
  if (name == "RNN_RELU") return RecurrenceMode::rnn_relu;
  if (name == "GRU") return RecurrenceMode::gru;
  return name == "LSTM" ? std::optional(RecurrenceMode::lstm) : std::nullopt;
}

/// How many vectors of features a step is given for each sequence.
[[nodiscard]] constexpr int gates_of(RecurrenceMode mode) {
  return mode == RecurrenceMode::lstm ? 4 : mode == RecurrenceMode::gru ? 3 : 1;
}

}  // namespace kw
