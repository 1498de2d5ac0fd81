#include "sandbox/child_plan.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <concepts>
#include <type_traits>

#include "base/wire_reader.hpp"
#include "base/wire_writer.hpp"

namespace kw {
namespace wire {

template <>
inline constexpr std::int64_t k_enum_last<PathAccess> = static_cast<std::int64_t>(PathAccess::directory);

/// `Part` or `const Part`: one list serves reading and writing.
template <typename T, typename Part>
concept PartOfPlan = std::same_as<std::remove_const_t<T>, Part>;

void list_fields(auto& walk, PartOfPlan<PlannedLimit> auto& limit) {
  walk(limit.resource, limit.value.rlim_cur, limit.value.rlim_max);
}
void list_fields(auto& walk, PartOfPlan<PathRule> auto& rule) {
  walk(rule.path, rule.access);
}
void list_fields(auto& walk, PartOfPlan<LandlockPlan> auto& plan) {
  walk(plan.rules, plan.governs_paths);
}
void list_fields(auto& walk, PartOfPlan<sock_filter> auto& one) {
  walk(one.code, one.jt, one.jf, one.k);
}
void list_fields(auto& walk, PartOfPlan<ChildPlan> auto& plan) {
  walk(plan.program, plan.arguments, plan.environment, plan.descriptors, plan.close_others, plan.namespaces,
       plan.limits, plan.drop_privileges, plan.reap, plan.use_landlock, plan.landlock, plan.filters,
       plan.private_directory, plan.cgroup_directory, plan.cgroup_members, plan.parents, plan.name);
}

}  // namespace wire

std::string encode(const ChildPlan& plan) {
  wire::Writer writer;
  writer(plan);
  return writer.take();
}

std::optional<ChildPlan> decode_child_plan(std::string_view bytes) {
  wire::Reader reader(bytes);
  ChildPlan plan;
  reader(plan);
  if (reader.failed() || reader.remaining() > 0) return std::nullopt;
  return plan;
}

std::vector<int> descriptors_of(const ChildPlan& plan) {
  std::vector<int> all = plan.descriptors;
  all.insert(all.end(), plan.cgroup_members.begin(), plan.cgroup_members.end());
  all.insert(all.end(), plan.parents.begin(), plan.parents.end());
  if (plan.cgroup_directory >= 0) all.push_back(plan.cgroup_directory);
  return all;
}

void tell(int control, SupervisorMessage message) {
  // The host may be gone; there is nobody else to tell.
  [[maybe_unused]] const ssize_t sent = ::send(control, &message, sizeof message, MSG_NOSIGNAL);
}

void give_up(int control, LaunchStep step) {
  tell(control, {SupervisorMessage::Kind::failed, step, errno});
  ::_exit(127);
}

std::string_view to_string(LaunchStep step) {
  switch (step) {
    case LaunchStep::session:
      return "starting a session";
    case LaunchStep::user_map:
      return "mapping the user into its namespace";
    case LaunchStep::supervisor:
      return "executing the supervisor";
    case LaunchStep::join_cgroup:
      return "joining the cgroup";
    case LaunchStep::descriptors:
      return "placing the descriptors";
    case LaunchStep::limits:
      return "setting resource limits";
    case LaunchStep::capabilities:
      return "dropping privileges";
    case LaunchStep::no_new_privileges:
      return "refusing new privileges";
    case LaunchStep::landlock:
      return "restricting paths";
    case LaunchStep::system_calls:
      return "filtering system calls";
    case LaunchStep::execute:
      return "executing the program";
    case LaunchStep::fork:
      return "forking";
  }
  return "an unknown step";
}

}  // namespace kw
