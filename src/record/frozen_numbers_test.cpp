// Numbers that stand in archives and in problem hashes. A failure here means that files people have would be read as
// something else: give the new value a number of its own instead.

#include "hardware/device_facts.hpp"
#include "mod/expression/expr.hpp"
#include "problem/problem.hpp"
#include "record/attempt.hpp"
#include "record/chat.hpp"
#include "record/launch_plan.hpp"
#include "record/run_record.hpp"
#include "record/turn.hpp"
#include "record/verdict.hpp"
#include "tensor/tensor.hpp"

namespace kw {
namespace {

template <typename E>
constexpr bool is(E value, int number) {
  return static_cast<int>(value) == number;
}

static_assert(is(DType::f32, 1));
static_assert(is(DType::f16, 2));
static_assert(is(DType::i32, 3));
static_assert(is(DType::boolean, 4));
static_assert(is(DType::bf16, 5));

static_assert(is(ScalarType::boolean, 0));
static_assert(is(ScalarType::integer, 1));
static_assert(is(ScalarType::real, 2));

static_assert(is(ExprOp::constant, 0));
static_assert(is(ExprOp::score, 1));
static_assert(is(ExprOp::batch, 2));
static_assert(is(ExprOp::head, 3));
static_assert(is(ExprOp::query, 4));
static_assert(is(ExprOp::key, 5));
static_assert(is(ExprOp::axis, 6));
static_assert(is(ExprOp::add, 7));
static_assert(is(ExprOp::subtract, 8));
static_assert(is(ExprOp::multiply, 9));
static_assert(is(ExprOp::divide, 10));
static_assert(is(ExprOp::floor_divide, 11));
static_assert(is(ExprOp::modulo, 12));
static_assert(is(ExprOp::power, 13));
static_assert(is(ExprOp::negate, 14));
static_assert(is(ExprOp::minimum, 15));
static_assert(is(ExprOp::maximum, 16));
static_assert(is(ExprOp::absolute, 17));
static_assert(is(ExprOp::bit_and, 18));
static_assert(is(ExprOp::bit_or, 19));
static_assert(is(ExprOp::bit_xor, 20));
static_assert(is(ExprOp::bit_not, 21));
static_assert(is(ExprOp::shift_left, 22));
static_assert(is(ExprOp::shift_right, 23));
static_assert(is(ExprOp::less, 24));
static_assert(is(ExprOp::less_equal, 25));
static_assert(is(ExprOp::greater, 26));
static_assert(is(ExprOp::greater_equal, 27));
static_assert(is(ExprOp::equal, 28));
static_assert(is(ExprOp::not_equal, 29));
static_assert(is(ExprOp::select, 30));
static_assert(is(ExprOp::exp, 31));
static_assert(is(ExprOp::exp2, 32));
static_assert(is(ExprOp::log, 33));
static_assert(is(ExprOp::log2, 34));
static_assert(is(ExprOp::tanh, 35));
static_assert(is(ExprOp::sigmoid, 36));
static_assert(is(ExprOp::sqrt, 37));
static_assert(is(ExprOp::rsqrt, 38));
static_assert(is(ExprOp::floor, 39));
static_assert(is(ExprOp::to_real, 40));
static_assert(is(ExprOp::to_integer, 41));
static_assert(is(ExprOp::to_boolean, 42));
static_assert(is(ExprOp::erf, 43));
static_assert(is(ExprOp::gather, 44));
static_assert(is(ExprOp::lower_bound, 45));
static_assert(is(ExprOp::upper_bound, 46));
static_assert(is(ExprOp::sin, 47));
static_assert(is(ExprOp::cos, 48));
static_assert(is(ExprOp::round, 49));
static_assert(is(ExprOp::fmod, 50));

static_assert(is(WorkloadRole::primary, 1));
static_assert(is(WorkloadRole::edge, 2));
static_assert(is(WorkloadRole::held_out, 3));

static_assert(is(DeviceKind::cpu, 1));
static_assert(is(DeviceKind::gpu, 2));
static_assert(is(DeviceKind::simulator, 3));
static_assert(is(DeviceKind::null_device, 4));

static_assert(is(BufferRole::input, 1));
static_assert(is(BufferRole::output, 2));
static_assert(is(BufferRole::scratch, 3));

static_assert(is(GateId::read, 1));
static_assert(is(GateId::build, 2));
static_assert(is(GateId::static_check, 3));
static_assert(is(GateId::check, 4));
static_assert(is(GateId::sanitize, 5));
static_assert(is(GateId::time, 6));
static_assert(is(GateId::profile, 7));
static_assert(is(GateId::screen, 8));

static_assert(is(VerdictStatus::accepted, 1));
static_assert(is(VerdictStatus::rejected, 2));
static_assert(is(VerdictStatus::unverified, 3));
static_assert(is(VerdictStatus::screened, 4));

static_assert(is(Reason::none, 0));
static_assert(is(Reason::bundle_invalid, 1));
static_assert(is(Reason::source_forbidden, 2));
static_assert(is(Reason::build_failed, 10));
static_assert(is(Reason::build_timeout, 11));
static_assert(is(Reason::build_crashed, 12));
static_assert(is(Reason::kernel_missing, 13));
static_assert(is(Reason::resource_limit, 20));
static_assert(is(Reason::constraint_violated, 21));
static_assert(is(Reason::wrong_result, 30));
static_assert(is(Reason::not_finite, 31));
static_assert(is(Reason::output_unwritten, 32));
static_assert(is(Reason::input_modified, 33));
static_assert(is(Reason::guard_overwritten, 34));
static_assert(is(Reason::nondeterministic, 35));
static_assert(is(Reason::crashed, 36));
static_assert(is(Reason::timeout, 37));
static_assert(is(Reason::launch_failed, 38));
static_assert(is(Reason::memory_limit, 39));
static_assert(is(Reason::sanitizer_report, 50));
static_assert(is(Reason::wrong_when_timed, 60));
static_assert(is(Reason::above_roofline, 61));
static_assert(is(Reason::clock_mismatch, 62));

static_assert(is(Comparison::faster, 1));
static_assert(is(Comparison::slower, 2));
static_assert(is(Comparison::equivalent, 3));
static_assert(is(Comparison::undecided, 4));
static_assert(is(Comparison::unreliable, 5));

static_assert(is(RunStatus::running, 1));
static_assert(is(RunStatus::finished, 2));
static_assert(is(RunStatus::exhausted, 3));
static_assert(is(RunStatus::interrupted, 4));
static_assert(is(RunStatus::failed, 5));

static_assert(is(ChatRole::system, 1));
static_assert(is(ChatRole::user, 2));
static_assert(is(ChatRole::assistant, 3));

static_assert(is(ChatFinish::stop, 1));
static_assert(is(ChatFinish::length, 2));
static_assert(is(ChatFinish::filter, 3));
static_assert(is(ChatFinish::tool, 4));
static_assert(is(ChatFinish::unknown, 5));

static_assert(is(ReplyFault::none, 0));
static_assert(is(ReplyFault::no_reply, 1));
static_assert(is(ReplyFault::empty, 2));
static_assert(is(ReplyFault::too_large, 3));
static_assert(is(ReplyFault::cut_off, 4));
static_assert(is(ReplyFault::filtered, 5));
static_assert(is(ReplyFault::tool_call, 6));
static_assert(is(ReplyFault::no_code, 7));
static_assert(is(ReplyFault::several_bundles, 8));
static_assert(is(ReplyFault::wrong_language, 9));
static_assert(is(ReplyFault::host_program, 10));
static_assert(is(ReplyFault::no_header, 11));
static_assert(is(ReplyFault::bundle_invalid, 12));
static_assert(is(ReplyFault::repeated, 13));
static_assert(is(ReplyFault::no_plan, 14));
static_assert(is(ReplyFault::no_judgement, 15));

}  // namespace
}  // namespace kw
