#include "verify/processes/builders.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kw {

Builders::Builders(SandboxSpec spec, std::string compiler, std::optional<WorkerProcess> first,
                   std::unique_ptr<BuildCache> cache)
    : spec_(std::move(spec)), compiler_(std::move(compiler)), cache_(std::move(cache)) {
  if (first) idle_.push_back({*std::move(first)});
}

std::variant<BuildReply, LostWorker> Builders::build(const BuildRequest& request, AnswerDeadline deadline,
                                                     SourceOrigin origin) {
  const BuildRequest bound = to_compiler(request);
  if (auto known = kept(bound)) return *std::move(known);
  // What kills a process that has built before may be what earlier candidates left in it, so it has to happen in a
  // fresh one to count. Both tries have one deadline together: a source cannot take it twice.
  const SteadyClock clock;
  const Instant end = clock.now() + deadline.wall;
  auto builder = take(origin);
  const bool used = builder.has_value();
  auto first = build_once(std::move(builder), bound, deadline, origin);
  const auto* lost = std::get_if<LostWorker>(&first);
  const bool late = lost != nullptr && (lost->how == WorkerLoss::timed_out || lost->how == WorkerLoss::starved);
  if (lost == nullptr || late || !used) return first;
  deadline.wall = std::max<Duration>(end - clock.now(), std::chrono::milliseconds(1));
  deadline.processor = std::min(deadline.processor, deadline.wall);
  return build_once(std::nullopt, bound, deadline, origin);
}

std::variant<BuildReply, LostWorker> Builders::build_apart(const BuildRequest& request, AnswerDeadline deadline) {
  const BuildRequest bound = to_compiler(request);
  if (auto known = kept(bound)) return *std::move(known);
  return build_once(std::nullopt, bound, deadline, SourceOrigin::own);
}

void Builders::distrust(std::span<const std::string> binaries) {
  if (cache_) cache_->forget(binaries);
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

BuildRequest Builders::to_compiler(BuildRequest request) const {
  request.device_id = compiler_;
  return request;
}

std::optional<BuildReply> Builders::kept(const BuildRequest& bound) {
  return cache_ ? cache_->find(bound) : std::nullopt;
}

/// An idle one, where there is a choice one that has read sources of this origin.
std::optional<Builders::Builder> Builders::take(SourceOrigin origin) {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::nullopt;
  const auto alike = std::ranges::find(idle_, origin == SourceOrigin::foreign, &Builder::read_foreign);
  if (alike != idle_.end()) std::swap(*alike, idle_.back());
  Builder builder = std::move(idle_.back());
  idle_.pop_back();
  return builder;
}

/// In the given process or in a new one, which then waits for the next build; a lost one is let go.
std::variant<BuildReply, LostWorker> Builders::build_once(std::optional<Builder> builder, const BuildRequest& bound,
                                                          AnswerDeadline deadline, SourceOrigin origin) {
  if (!builder) {
    auto spawned = WorkerProcess::spawn(spec_);
    if (!spawned) return LostWorker{WorkerLoss::not_started, spawned.error().to_string()};
    builder.emplace(Builder{*std::move(spawned)});
  }
  builder->read_foreign = builder->read_foreign || origin == SourceOrigin::foreign;
  auto answer = builder->process.request(bound, deadline);
  if (auto* lost = std::get_if<LostWorker>(&answer)) return std::move(*lost);
  auto& reply = std::get<WorkerMessage>(answer);
  if (auto* built = std::get_if<BuildReply>(&reply)) {
    if (built->log.size() > k_max_log_bytes) built->log.resize(k_max_log_bytes);
    if (cache_ && !builder->read_foreign && built->status == BuildStatus::ok) cache_->keep(bound, *built);
    // PoCL loads what it compiles. What may not be loaded could have run there.
    const std::lock_guard lock(mutex_);
    if (built->status != BuildStatus::forbidden) idle_.push_back(*std::move(builder));
    return std::move(*built);
  }
  const auto* failure = std::get_if<LaunchFailure>(&reply);
  return LostWorker{WorkerLoss::crashed, failure != nullptr ? failure->what : "answered a build with something else"};
}

}  // namespace kw
