// What the model was asked and said, what it cost, and how far the run was at each moment. All of it is untrusted text:
// printers escape it.

#include <algorithm>

#include "report/format.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

constexpr int k_moments_shown = 10;

Value dollars_of(const ModelUse& use) {
  return use.dollars ? Value{Number{*use.dollars, Unit::dollars, std::nullopt}} : Value{};
}

/// Of the wall clock; less than all goes to the model where oracle, plain kernel and final measurement take their part.
Value share_of(const ModelUse& use) {
  return use.budget_share ? Value{Number{*use.budget_share, Unit::share, std::nullopt}} : Value{};
}

std::string open_note(const ModelUse& use) {
  if (!use.requests) return {};
  const OpenRequests open = open_requests(use);
  return fmt::format("{} without an answer when the run ended, with some {} prompt tokens", open.count, open.tokens);
}

/// Of the model that writes kernels: what one answer took, reasoning included.
Fact answer_length(std::span<const Turn> turns) {
  std::vector<std::int64_t> lengths;
  std::int64_t cut_off = 0;
  for (const auto& turn : turns) {
    if (turn.purpose == k_judge_purpose || turn.fault == ReplyFault::no_reply) continue;
    lengths.push_back(turn.reply.usage.completion);
    cut_off += turn.reply.finish == ChatFinish::length ? 1 : 0;
  }
  Fact fact{"answer_tokens", "Tokens of an answer", Value{}};
  if (lengths.empty()) return fact;
  std::ranges::sort(lengths);
  fact.value = counted(lengths[(lengths.size() - 1) / 2]);
  fact.note = fmt::format("in the middle; {} at most, {} cut off by a limit", lengths.back(), cut_off);
  return fact;
}

Facts use_facts(const ModelUse& use, std::span<const Turn> turns) {
  Facts facts{"model_use",
              "Model",
              {{"provider", "Provider", text_or_nothing(use.provider), use.base_url},
               {"model", "Model", text_or_nothing(use.model)},
               {"judge", "Judge", text_or_nothing(use.judge.value_or(""))},
               {"effort", "Effort", text_or_nothing(use.effort.value_or(""))},
               {"chains", "Chains", counted(use.chains), fmt::format("{} samples per turn", use.samples)},
               {"exemplars", "Exemplars", text_or_nothing(use.exemplars)},
               {"budget_share", "Share of the budget", share_of(use)},
               {"requests", "Requests", counted_or_nothing(use.requests), open_note(use)},
               {"turns", "Turns", counted(use.turns), fmt::format("{} gave no kernel", use.faulty_turns)},
               {"prompt_tokens", "Prompt tokens", counted(use.prompt_tokens)},
               {"completion_tokens", "Completion tokens", counted(use.completion_tokens), "with reasoning"},
               answer_length(turns),
               {"dollars", "Cost", dollars_of(use), use.dollars ? use.prices : "the model's price is not known"}}};
  for (const auto& constraint : use.constraints) facts.facts.push_back({"constraint", "Constraint", constraint});
  return facts;
}

/// How far the run was at `seconds`.
std::vector<Value> moment(const RunRecord& run, std::span<const Attempt> attempts, std::span<const Turn> turns,
                          double seconds) {
  std::int64_t tried = 0, correct = 0, tokens = 0;
  double best_ns = 0, dollars = 0;
  for (const auto& attempt : attempts) {
    if (attempt.elapsed_seconds > seconds) continue;
    ++tried;
    if (attempt.verdict.accepted()) ++correct;
    if (attempt.became_best && attempt.measurement) best_ns = attempt.measurement->median_ns;
  }
  for (const auto& turn : turns) {
    if (turn.finished_seconds > seconds) continue;
    tokens += turn.reply.usage.prompt + turn.reply.usage.completion;
    dollars += turn.dollars;
    if (is_failed_try(turn)) ++tried;
  }
  Value speedup;
  const bool timed = best_ns > 0 && !run.baselines.empty() && run.baselines.front().median_ns > 0;
  if (timed) speedup = Number{run.baselines.front().median_ns / best_ns, Unit::times, std::nullopt};
  Value share;
  if (tried > 0) share = Number{static_cast<double>(correct) / static_cast<double>(tried), Unit::share, std::nullopt};
  const bool priced = run.model_use && run.model_use->dollars;
  return {Number{seconds, Unit::seconds, std::nullopt},
          counted(tried),
          share,
          speedup,
          counted(tokens),
          priced ? Value{Number{dollars, Unit::dollars, std::nullopt}} : Value{}};
}

Table over_time(const RunRecord& run, std::span<const Attempt> attempts, std::span<const Turn> turns) {
  Table table{"over_time",
              "Over the budget",
              {{"at", "At", true},
               {"tries", "Tries", true},
               {"solved", "Correct", true},
               {"speedup", "Best vs. " + (run.baselines.empty() ? "baseline" : run.baselines.front().name), true},
               {"tokens", "Tokens", true},
               {"dollars", "Cost", true}},
              {},
              "The run ended before anything was tried."};
  if (!(run.used.wall_seconds > 0)) return table;
  for (int i = 1; i <= k_moments_shown; ++i) {
    table.rows.push_back(moment(run, attempts, turns, run.used.wall_seconds * i / k_moments_shown));
  }
  return table;
}

const Attempt* attempt_of(const Turn& turn, std::span<const Attempt> attempts) {
  const auto found = std::find_if(attempts.begin(), attempts.end(),
                                  [&](const Attempt& a) { return a.provenance.turn == turn.ordinal; });
  return found == attempts.end() ? nullptr : &*found;
}

std::string outcome_text(const Turn& turn, const Attempt* attempt) {
  if (turn.fault != ReplyFault::none) return fmt::format("{}: {}", to_string(turn.fault), turn.fault_message);
  if (turn.purpose == k_judge_purpose) return "what limits the kernel, and a plan";
  if (attempt == nullptr) return "a kernel that was not verified any more";
  std::string text = fmt::format("candidate {}, {}", attempt->ordinal, to_string(attempt->verdict.status));
  if (!attempt->verdict.accepted()) text += fmt::format(": {}", to_string(attempt->verdict.reason));
  if (attempt->became_best) text += ", new best";
  return text;
}

Table turns_table(std::span<const Turn> turns, std::span<const Attempt> attempts) {
  Table table{"turns",
              "Every turn",
              {{"ordinal", "No.", true},
               {"chain", "Chain", true},
               {"purpose", "Asked for"},
               {"outcome", "Outcome"},
               {"seconds", "Took", true},
               {"tokens", "Tokens", true},
               {"summary", "Reasoning, in short"}},
              {},
              "No model answered."};
  for (const auto& turn : turns) {
    table.rows.push_back(
        {counted(turn.ordinal), counted(turn.chain), text_or_nothing(turn.purpose),
         outcome_text(turn, attempt_of(turn, attempts)), number_or_nothing(turn.reply.seconds, Unit::seconds),
         counted(turn.reply.usage.prompt + turn.reply.usage.completion), text_or_nothing(turn.summary)});
  }
  return table;
}

Folded exchange(const Turn& turn, const Attempt* attempt) {
  Folded folded{
      fmt::format("turn_{}", turn.ordinal),
      fmt::format("Turn {}, chain {}, {}: {}", turn.ordinal, turn.chain, turn.purpose, outcome_text(turn, attempt)),
      {}};
  for (const auto& message : turn.request.messages) {
    folded.parts.push_back({"prompt", fmt::format("Prompt, {}", to_string(message.role)), "text", message.text});
  }
  if (!turn.reply.reasoning.empty()) {
    folded.parts.push_back({"reasoning", "Reasoning", "text", turn.reply.reasoning});
  }
  folded.parts.push_back({"reply", fmt::format("Reply ({})", to_string(turn.reply.finish)), "text", turn.reply.text});
  return folded;
}

}  // namespace

Section model_section(const RunRecord& run, std::span<const Attempt> attempts, std::span<const Turn> turns) {
  Section section{"model", "What the model did", {}};
  section.blocks.emplace_back(use_facts(*run.model_use, turns));
  section.blocks.emplace_back(over_time(run, attempts, turns));
  section.blocks.emplace_back(turns_table(turns, attempts));
  for (const auto& turn : turns) section.blocks.emplace_back(exchange(turn, attempt_of(turn, attempts)));
  return section;
}

}  // namespace kw
