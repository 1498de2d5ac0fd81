#pragma once
// For tests: a proposer whose model and verifier are the test itself. The test says what the model answers and what the
// verifier found, and reads what the model is told next.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "codegen/testing/devices.hpp"
#include "propose/llm/llm_proposer.hpp"
#include "propose/testing/seat_service.hpp"

namespace kw {

/// What the verifier is to say of a candidate.
using Judgement = std::function<void(Attempt&)>;

/// Right, in so many milliseconds. Without a ratio there was nothing to compare it with.
[[nodiscard]] inline Judgement timed(double ms, double ratio = 0, Comparison decision = Comparison::faster) {
  return [=](Attempt& attempt) {
    Measurement& measured = attempt.measurement.emplace();
    measured.median_ns = ms * 1e6;
    attempt.became_best = ratio <= 0 || decision == Comparison::faster;
    if (ratio > 0) {
      measured.versus = {{"incumbent", decision, ratio, {0.98 * ratio, 1.02 * ratio, 0.998}, 8, 0}};
    }
  };
}

[[nodiscard]] inline Judgement refused(GateId gate, Reason reason, const std::string& sentence) {
  return [=](Attempt& attempt) {
    attempt.verdict.pass(GateId::read);
    attempt.verdict.reject(gate, reason, sentence);
  };
}

[[nodiscard]] inline Judgement disturbed() {
  return [](Attempt& attempt) { attempt.verdict.cannot_decide(GateId::time, "every timed pair was disturbed"); };
}

class ModelSeat : public testing::Test {
 protected:
  /// Called by the first request, so that a test can set options first.
  Proposer& proposer() {
    if (!proposer_) {
      ProposerContext context;
      context.problem = &problem_;
      context.device = device_;
      context.measured = &device_;
      context.target = "opencl";
      context.seed = 1;
      context.plain.median_ns = 60e6;
      context.past = past_;
      context.lessons = lessons_;
      access_.options = options_;
      access_.service = &service_;
      access_.keep = [this](Turn turn) { turns_.push_back(std::move(turn)); };
      proposer_ = make_llm_proposer(context, access_);
    }
    return *proposer_;
  }

  /// The text of the oldest request that is out.
  std::string told() {
    const bool waits = service_.open.empty() && !proposer().next().has_value();
    if (!service_.open.empty()) return service_.open.front().second.messages.at(1).text;
    ADD_FAILURE() << (waits ? "nothing is asked" : "a candidate is proposed");
    return "";
  }

  /// The model's answer to it; the candidate that comes of it, if any.
  std::optional<Proposal> say(const std::string& text, ChatFinish finish = ChatFinish::stop) {
    (void)told();
    ChatReply reply;
    reply.text = text;
    reply.finish = finish;
    service_.answer(std::move(reply));
    return proposer().next();
  }

  Attempt judge(const Proposal& proposal, const Judgement& judgement) {
    Attempt attempt;
    attempt.ordinal = ordinal_++;
    attempt.candidate = proposal.candidate;
    attempt.provenance = proposal.provenance;
    attempt.proposer = proposal.proposer;
    judgement(attempt);
    proposer().observe(attempt);
    return attempt;
  }

  /// A turn whose answer holds a kernel with this body.
  void turn(const std::string& body, const Judgement& judgement) {
    const auto proposal = say(answer(body));
    ASSERT_TRUE(proposal.has_value()) << turns_.back().fault_message;
    (void)judge(*proposal, judgement);
  }

  [[nodiscard]] static std::string bundle(const std::string& body, const std::string& header = "") {
    return "/*kernelwright\nformat = 1\ntarget = \"opencl\"\n" + header +
           "[[launch]]\nkernel = \"k\"\ngrid = [\"Sq\"]\nblock = [1]\nargs = [\"Q\", \"K\", \"V\", \"O\", \"Sq\"]\n*/\n"
           "__kernel void k(__global const float* Q, __global const float* K, __global const float* V,\n"
           "                __global float* O, int Sq) {\n  " +
           body + "\n}\n";
  }
  [[nodiscard]] static std::string fence(const std::string& code) { return "```c\n" + code + "```\n"; }
  [[nodiscard]] static std::string answer(const std::string& body) {
    return "1. **Analysis**: it is slow.\n2. **Design**: " + body + "\n\n" + fence(bundle(body));
  }

  Problem problem_ = load_problem("attention/relative", RealFileSystem{}, {"problems"}).value();
  DeviceFacts device_ = avx512_device();  ///< its peaks may be measured again
  LlmOptions options_;
  std::vector<Attempt> past_;         ///< of earlier runs
  std::vector<std::string> lessons_;  ///< of earlier runs
  SeatService service_;
  std::vector<Turn> turns_;

 private:
  LlmAccess access_;
  std::unique_ptr<Proposer> proposer_;
  std::int64_t ordinal_ = 0;
};

}  // namespace kw
