// Runs that a model drives, with scripted models and a scripted device.

#include <gmock/gmock.h>

#include <condition_variable>

#include "archive/sqlite.hpp"
#include "loop/testing/run_fixture.hpp"
#include "loop/testing/scripted_client.hpp"
#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

/// The kernel number `version`; later ones are faster.
std::string kernel_text(int version, const std::string& tunables = "") {
  Bundle bundle = small_candidate(fmt::format("__kernel void k() {{ int version = {}; }}", version)).bundle;
  if (!tunables.empty()) bundle.tunables = {{tunables, {1, 2, 4}, 1}};
  return bundle.to_text();
}

/// 10 ms for the plain kernel; a version takes 8 ms divided by its number and its tunable.
FakeKernel versions(const BuildRequest& request) {
  FakeKernel kernel;
  kernel.time_ns = 10e6;
  const auto at = request.source.find("version = ");
  if (at == std::string::npos) return landscape(request);
  kernel.time_ns = 8e6 / std::stod(request.source.substr(at + 10));
  for (const auto& [name, value] : request.definitions) {
    if (name == "T") kernel.time_ns /= static_cast<double>(value);
  }
  return kernel;
}

class ModelRunTest : public RunTest {
 protected:
  ModelRunTest() {
    model = versions;
    setup.proposer = "llm";
    setup.limits = parse_budget("4c").value();
    ModelSetup& asked = setup.model.emplace();
    asked.provider.name = "custom";
    asked.provider.base_url = "http://127.0.0.1:1/v1";
    asked.provider.local = true;
    asked.model = "scripted";
    asked.prices = built_in_prices();
    asked.price_source = "built in";
    asked.templates = shipped_prompt_templates();
  }
  Result<RunRecord> run_with(ScriptedClient::Answer answer) {
    client = std::make_unique<ScriptedClient>(std::move(answer));
    setup.model->client = client.get();
    return run();
  }
  std::vector<Turn> turns_of(const std::string& id) { return open()->turns(id).value(); }
  std::vector<Attempt> attempts_of(const std::string& id) { return open()->attempts(id).value(); }

  std::unique_ptr<ScriptedClient> client;
};

Result<ChatReply> next_version(const ChatRequest&, int before) {
  return reply_with(kernel_text(before + 1));
}

TEST_F(ModelRunTest, every_round_is_asked_with_what_the_verifier_saw) {
  const auto record = run_with(next_version);
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->status, RunStatus::finished);
  EXPECT_EQ(record->used.candidates, 4);
  EXPECT_EQ(record->used.tokens, 4 * 150);
  ASSERT_TRUE(record->best_ordinal);
  EXPECT_EQ(*record->best_ordinal, 3);
  const auto requests = client->requests();
  ASSERT_GE(requests.size(), 4U);
  EXPECT_NE(prompt_text(requests[0]).find("q_idx >= kv_idx"), std::string::npos) << "the mod's source";
  EXPECT_NE(prompt_text(requests[1]).find("version = 1"), std::string::npos) << "the best kernel to go on from";
  EXPECT_NE(prompt_text(requests[1]).find("ms"), std::string::npos);
}

TEST_F(ModelRunTest, keeps_the_transcript_and_what_it_cost) {
  const auto record = run_with(next_version);
  ASSERT_TRUE(record);
  ASSERT_TRUE(record->model_use);
  EXPECT_EQ(record->model_use->prompt_tokens, 400);
  EXPECT_EQ(record->model_use->dollars, 0.0);
  const auto turns = turns_of(record->id);
  const auto attempts = attempts_of(record->id);
  ASSERT_EQ(turns.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(attempts[i].provenance.turn, turns[i].ordinal);
    EXPECT_EQ(attempts[i].proposer, "llm");
    EXPECT_EQ(turns[i].before_attempt, static_cast<std::int64_t>(i));
    EXPECT_EQ(turns[i].request, client->requests()[i]);
    EXPECT_EQ(turns[i].summary, "Think about memory first.");
  }
}

TEST_F(ModelRunTest, a_later_run_is_told_what_an_earlier_one_learnt) {
  const auto first = run_with([](const ChatRequest&, int before) {
    return Result<ChatReply>(
        reply_of("Diagnosis: loads were the limit.\nAvoid: version 0.\n\n```c\n" + kernel_text(before + 1) + "```\n"));
  });
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->model_use->turns, 4) << "no request of its own";
  setup.started_utc = "9999-01-01T00:00:00Z";
  const auto second = run_with(next_version);
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_NE(second->id, first->id);
  EXPECT_NE(prompt_text(client->requests().at(0)).find("Diagnosis: loads were the limit. Avoid: version 0."),
            std::string::npos);
}

TEST_F(ModelRunTest, a_worse_answer_is_not_gone_on_from) {
  const auto record = run_with([](const ChatRequest&, int before) {
    const int version[] = {1, 5, 2, 6};
    return Result<ChatReply>(reply_with(kernel_text(version[std::min(before, 3)])));
  });
  ASSERT_TRUE(record);
  const auto after_worse = prompt_text(client->requests().at(3));
  EXPECT_NE(after_worse.find("version = 5"), std::string::npos) << "the best so far";
}

TEST_F(ModelRunTest, a_model_that_only_talks_ends_with_the_budget) {
  const auto record =
      run_with([](const ChatRequest&, int) { return Result<ChatReply>(reply_of("I cannot do that.")); });
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_FALSE(record->best_ordinal);
  EXPECT_EQ(record->used.candidates, 4);
  EXPECT_EQ(record->model_use->faulty_turns, 4);
  const auto turns = turns_of(record->id);
  ASSERT_EQ(turns.size(), 4U);
  EXPECT_EQ(turns[0].fault, ReplyFault::no_code);
  EXPECT_EQ(turns[1].purpose, "repair the reply");
}

TEST_F(ModelRunTest, tokens_are_a_budget) {
  setup.limits = parse_budget("400t").value();
  const auto record = run_with(next_version);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->used.candidates, 3);
  EXPECT_EQ(record->used.tokens, 450);
}

TEST_F(ModelRunTest, tunables_of_what_the_model_wrote_are_tuned_while_it_thinks) {
  setup.limits = parse_budget("3c").value();
  std::mutex mutex;
  std::condition_variable tuned;
  int attempts = 0;
  observer.on_attempt = [&](const Attempt&) {
    const std::lock_guard lock(mutex);
    ++attempts;
    tuned.notify_all();
  };
  const auto record = run_with([&](const ChatRequest&, int before) {
    if (before > 0) {  // thinks until the device has tried both other assignments
      std::unique_lock lock(mutex);
      tuned.wait(lock, [&] { return attempts == 3; });
    }
    return Result<ChatReply>(reply_with(kernel_text(before + 1, "T")));
  });
  ASSERT_TRUE(record) << record.error().to_string();
  const auto tried = attempts_of(record->id);
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(tried[1].proposer, "tune");
  EXPECT_EQ(tried[2].proposer, "tune");
  EXPECT_EQ(tried[static_cast<std::size_t>(*record->best_ordinal)].candidate.tunables.at("T"), 4);
}

TEST_F(ModelRunTest, a_hybrid_searches_while_the_model_thinks) {
  setup.proposer = "hybrid";
  setup.limits = parse_budget("6c").value();
  std::mutex mutex;
  std::condition_variable searched;
  int attempts = 0;
  observer.on_attempt = [&](const Attempt&) {
    const std::lock_guard lock(mutex);
    ++attempts;
    searched.notify_all();
  };
  const auto record = run_with([&](const ChatRequest&, int before) {
    std::unique_lock lock(mutex);
    searched.wait(lock, [&] { return attempts >= 3 || before > 0; });
    return Result<ChatReply>(reply_with(kernel_text(before + 1)));
  });
  ASSERT_TRUE(record) << record.error().to_string();
  std::set<std::string> proposers;
  for (const auto& attempt : attempts_of(record->id)) proposers.insert(attempt.proposer);
  EXPECT_TRUE(proposers.contains("search"));
  EXPECT_TRUE(proposers.contains("llm"));
}

TEST_F(ModelRunTest, a_refused_key_ends_the_run_with_the_reason) {
  const auto record = run_with(
      [](const ChatRequest&, int) { return Result<ChatReply>(fail(errc::chat_unauthorized, "the key is refused")); });
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, errc::chat_unauthorized);
  EXPECT_EQ(client->requests().size(), 1U);
  EXPECT_EQ(open()->run("last").value().failure, "the key is refused");
}

TEST_F(ModelRunTest, a_hybrid_goes_on_without_its_model) {
  setup.proposer = "hybrid";
  const auto record =
      run_with([](const ChatRequest&, int) { return Result<ChatReply>(fail(errc::chat_payment, "no credit")); });
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_TRUE(record->best_ordinal);
  ASSERT_FALSE(observer.turns.empty());
  EXPECT_EQ(observer.turns[0].fault, ReplyFault::no_reply);
  EXPECT_EQ(observer.turns[0].fault_message, "no credit");
}

TEST_F(ModelRunTest, a_server_that_stays_broken_is_given_up) {
  setup.limits = parse_budget("100c").value();
  const auto record =
      run_with([](const ChatRequest&, int) { return Result<ChatReply>(fail(errc::chat_server, "500")); });
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, errc::chat_server);
  EXPECT_LT(client->requests().size(), 10U);
}

TEST_F(ModelRunTest, a_kernel_seen_before_is_not_verified_again) {
  const auto record = run_with([](const ChatRequest&, int) { return Result<ChatReply>(reply_with(kernel_text(1))); });
  ASSERT_TRUE(record);
  EXPECT_EQ(attempts_of(record->id).size(), 1U);
  EXPECT_EQ(turns_of(record->id).at(1).fault, ReplyFault::repeated);
}

TEST_F(ModelRunTest, a_stopped_run_is_resumed_without_asking_again) {
  setup.limits = parse_budget("8c").value();
  setup.model->chains = 2;
  observer.on_attempt = [this](const Attempt& attempt) { stop = attempt.ordinal == 3; };
  const auto part = run_with(next_version);
  ASSERT_TRUE(part) << part.error().to_string();
  EXPECT_EQ(part->status, RunStatus::interrupted);
  const auto kept = turns_of(part->id);
  stop = false;
  observer.on_attempt = nullptr;
  setup.resume = true;
  const auto whole =
      run_with([](const ChatRequest&, int before) { return Result<ChatReply>(reply_with(kernel_text(before + 100))); });
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->id, part->id);
  EXPECT_EQ(whole->used.candidates, 8);
  const auto turns = turns_of(part->id);
  ASSERT_GT(turns.size(), kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(turns[i].ordinal, kept[i].ordinal);
  EXPECT_EQ(whole->model_use->turns, std::ssize(turns));
  EXPECT_EQ(whole->used.tokens, std::ssize(turns) * 150 + open_requests(*whole->model_use).tokens);
  std::set<std::int64_t> ordinals;
  for (const auto& turn : turns) EXPECT_TRUE(ordinals.insert(turn.ordinal).second) << turn.ordinal;
}

TEST_F(ModelRunTest, goes_on_as_it_began_after_the_calendar_jumped_by_years) {
  const std::string lesson = "Diagnosis: loads were the limit. Avoid: version 0.";
  const auto earlier = run_with([](const ChatRequest&, int before) {
    return Result<ChatReply>(
        reply_of("Diagnosis: loads were the limit.\nAvoid: version 0.\n\n```c\n" + kernel_text(before + 1) + "```\n"));
  });
  ASSERT_TRUE(earlier) << earlier.error().to_string();
  for (const char* const jumped : {"1970-01-01T00:00:00Z", "2106-02-07T06:28:15Z"}) {
    setup.resume = false;
    setup.started_utc = "2026-01-02T00:00:00Z";
    setup.limits = parse_budget("8c").value();
    observer.on_attempt = [this](const Attempt& attempt) { stop = attempt.ordinal == 3; };
    const auto part = run_with([](const ChatRequest&, int before) { return next_version({}, before + 10); });
    ASSERT_TRUE(part) << part.error().to_string();
    EXPECT_EQ(part->status, RunStatus::interrupted);
    stop = false;
    observer.on_attempt = nullptr;
    setup.resume = true;
    setup.started_utc = jumped;
    const auto whole = run_with([](const ChatRequest&, int before) { return next_version({}, before + 20); });
    ASSERT_TRUE(whole) << whole.error().to_string();
    EXPECT_EQ(whole->id, part->id) << jumped;
    EXPECT_EQ(whole->started_utc, part->started_utc) << jumped;
    EXPECT_EQ(whole->used.candidates, 8) << jumped;
    EXPECT_THAT(prompt_text(client->requests().at(0)), testing::HasSubstr(lesson))
        << "what it was told before it is told again, and the calendar says " << jumped;
  }
}

TEST_F(ModelRunTest, a_replay_needs_no_model_and_decides_the_same) {
  setup.limits = parse_budget("7c").value();
  setup.model->chains = 2;
  const auto first = run_with([](const ChatRequest&, int before) {
    if (before % 3 == 1) return Result<ChatReply>(reply_of("no kernel today"));
    return Result<ChatReply>(reply_with(kernel_text(before + 1)));
  });
  ASSERT_TRUE(first) << first.error().to_string();
  setup.replay = first->id;
  setup.started_utc = "2026-01-01T00:00:01Z";
  setup.model->client = nullptr;
  const auto again = run();
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_NE(again->id, first->id);
  EXPECT_EQ(candidates_of(again->id), candidates_of(first->id));
  EXPECT_EQ(again->used.candidates, first->used.candidates);
  EXPECT_EQ(turns_of(again->id).size(), turns_of(first->id).size());
}

TEST_F(ModelRunTest, a_replay_with_a_larger_budget_ends_where_the_replies_end) {
  const auto first = run_with(next_version);
  ASSERT_TRUE(first);
  setup.replay = first->id;
  setup.started_utc = "2026-01-01T00:00:01Z";
  setup.model->client = nullptr;
  setup.limits = parse_budget("100c").value();
  const auto again = run();
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(attempts_of(again->id).size(), 4U);
  EXPECT_EQ(again->failure, "the recorded run has no reply to turn 4");
}

TEST_F(ModelRunTest, a_dead_server_is_noticed_before_the_baseline_is_run) {
  int built = 0;
  model = [&](const BuildRequest& request) {
    ++built;
    return versions(request);
  };
  client = std::make_unique<ScriptedClient>(next_version);
  client->reached = fail(Error{errc::chat_connection, "nobody is there", "start it"});
  setup.model->client = client.get();
  const auto record = run();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, errc::chat_connection);
  EXPECT_EQ(record.error().message, "nobody is there");
  EXPECT_EQ(built, 0);
  EXPECT_TRUE(open()->runs()->empty()) << "there is nothing to resume";
}

TEST_F(ModelRunTest, that_leaves_a_model_less_than_two_thirds_says_so_before_the_model_is_asked) {
  setup.limits = parse_budget("25s,2c").value();
  model = [](const BuildRequest& request) {
    FakeKernel kernel = versions(request);
    if (request.source.find("version = ") == std::string::npos) kernel.time_ns = 1e9;
    return kernel;
  };
  std::size_t told_before = 0;
  const auto record = run_with([&](const ChatRequest& request, int before) {
    if (before == 0) told_before = observer.warnings.size();
    return next_version(request, before);
  });
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(told_before, 1U);
  ASSERT_EQ(observer.warnings.size(), 1U) << "once";
  EXPECT_NE(observer.warnings[0].find("less than two thirds"), std::string::npos) << observer.warnings[0];
  ASSERT_TRUE(record->model_use->budget_share);
  EXPECT_LT(*record->model_use->budget_share, 2.0 / 3);
  EXPECT_GT(*record->model_use->budget_share, 0.0);
}

TEST_F(ModelRunTest, that_leaves_a_model_two_thirds_says_nothing) {
  setup.limits = parse_budget("60s,2c").value();
  const auto record = run_with(next_version);
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_TRUE(observer.warnings.empty());
  EXPECT_GT(record->model_use->budget_share.value_or(0), 2.0 / 3);
}

TEST_F(ModelRunTest, a_request_is_in_the_archive_before_it_is_sent) {
  std::vector<std::int64_t> written;
  const auto record = run_with([&](const ChatRequest& request, int before) {
    written.push_back(open()->run("last")->model_use->requests.value_or(0));  // what a kill would leave
    return next_version(request, before);
  });
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(written, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(open_requests(*record->model_use).count, 0);
  EXPECT_EQ(open_requests(*record->model_use).tokens, 0);
}

TEST_F(ModelRunTest, requests_that_are_out_at_the_end_are_in_the_tally_and_stay_there) {
  setup.limits = parse_budget("8c").value();
  setup.model->samples = 2;
  std::mutex mutex;
  std::condition_variable stopped;
  observer.on_attempt = [&](const Attempt&) {
    const std::lock_guard lock(mutex);
    stop = true;
    stopped.notify_all();
  };
  const auto part = run_with([&](const ChatRequest& request, int before) {
    std::unique_lock lock(mutex);
    if (before > 0) stopped.wait(lock, [&] { return stop.load(); });  // the second is out when the run is stopped
    return next_version(request, before);
  });
  ASSERT_TRUE(part) << part.error().to_string();
  ASSERT_EQ(part->status, RunStatus::interrupted);
  EXPECT_EQ(part->model_use->turns, 1);
  EXPECT_EQ(part->model_use->requests, 2);
  const OpenRequests open_then = open_requests(*part->model_use);
  EXPECT_EQ(open_then.count, 1);
  EXPECT_GT(open_then.tokens, 100);
  EXPECT_EQ(part->used.tokens, 150 + open_then.tokens);
  stop = false;
  observer.on_attempt = nullptr;
  setup.resume = true;
  const auto whole = run_with([](const ChatRequest&, int before) { return reply_with(kernel_text(before + 100)); });
  ASSERT_TRUE(whole) << whole.error().to_string();
  const OpenRequests open_now = open_requests(*whole->model_use);
  EXPECT_GE(open_now.count, 1) << "it was sent, whatever was sent again";
  EXPECT_EQ(*whole->model_use->requests, whole->model_use->turns + open_now.count);
  EXPECT_EQ(whole->used.tokens, 150 * whole->model_use->turns + open_now.tokens);
}

TEST_F(ModelRunTest, several_samples_are_a_round) {
  setup.model->samples = 3;
  setup.limits = parse_budget("6c").value();
  const auto record = run_with(next_version);
  ASSERT_TRUE(record);
  const auto requests = client->requests();
  ASSERT_GE(requests.size(), 6U);
  EXPECT_EQ(requests[0].messages, requests[2].messages);
  EXPECT_NE(requests[0].temperature, requests[2].temperature);
  EXPECT_NE(requests[0].messages, requests[3].messages);
}

TEST_F(ModelRunTest, exemplars_come_from_whole_runs) {
  setup.model->exemplars = ExemplarChoice::top;
  const auto first = run_with([](const ChatRequest&, int before) { return reply_with(kernel_text(before + 101)); });
  ASSERT_TRUE(first) << first.error().to_string();
  setup.started_utc = "2026-01-02T00:00:00Z";
  const auto second = run_with([](const ChatRequest&, int before) { return reply_with(kernel_text(before + 201)); });
  ASSERT_TRUE(second) << second.error().to_string();
  auto file = sqlite::Database::open(RunDirectory::archive(setup.root), sqlite::OpenMode::create);
  ASSERT_TRUE(file->execute(fmt::format(
      "UPDATE attempts SET record = replace(record, 'a', 'b') WHERE ordinal = 0 AND run_id = '{}'", second->id)));
  setup.started_utc = "2026-01-03T00:00:00Z";
  const auto third = run_with(next_version);
  ASSERT_TRUE(third) << third.error().to_string();
  ASSERT_EQ(observer.warnings.size(), 1U);
  EXPECT_NE(observer.warnings[0].find(second->id), std::string::npos);
  std::string asked;
  for (const auto& request : client->requests()) asked += prompt_text(request);
  EXPECT_NE(asked.find("version = 10"), std::string::npos) << "an exemplar of the whole run";
  EXPECT_EQ(asked.find("version = 20"), std::string::npos) << "one of the damaged run";
}

}  // namespace
}  // namespace kw
