#pragma once
// Which chains wait for a judge's word, and what was said (prompts/judge.hpp). Every kernel that a chain is to be told
// of is judged once before. A judge that fails is left out: chains go on without it, and after some failures in a row
// it is asked no more. Pure state: no requests are made here.

#include <cstdint>
#include <map>
#include <string>

#include "propose/llm/chain.hpp"
#include "record/turn.hpp"

namespace kw {

class Judging {
 public:
  /// `model` is asked; "": nobody is.
  explicit Judging(std::string model) : model_(std::move(model)) {}

  [[nodiscard]] const std::string& model() const { return model_; }
  /// Whether the judge is to be asked before the chain goes on.
  [[nodiscard]] bool wants(const Chain& chain) const;
  /// Whether the chain waits for its answer.
  [[nodiscard]] bool is_asked(const Chain& chain) const;
  void asked(const Chain& chain);

  /// The answer is in `turn`, whose fault says if it is of no use.
  void take_answer(const Chain& chain, Turn& turn);
  /// No answer came; after a `final` failure none ever will.
  void take_failure(const Chain& chain, bool final);
  /// For the chain's next prompt, which is about to be made; empty where nothing was said. Then nothing is kept of it.
  [[nodiscard]] std::string take_text(const Chain& chain);

 private:
  struct State {
    bool out = false;  ///< asked, and not answered yet
    std::string text;  ///< for the next prompt
  };
  void count_failure(bool final);

  std::string model_;
  bool given_up_ = false;
  int failures_ = 0;                        ///< in a row
  std::map<std::int64_t, State> by_chain_;  ///< of those that were asked since their last prompt
};

}  // namespace kw
