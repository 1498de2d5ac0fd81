#include "device/opencl/pointer_origin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace kw::opencl {
namespace {

constexpr double k_unbounded = std::numeric_limits<double>::infinity();

/// A step of a loop that is no longer leads nowhere near another address within a launch's deadline, however often it
/// is taken: 2^46 bytes would take 2^34 of them.
constexpr double k_short_step_bytes = 4096;
/// What all of a loop's short steps together are taken for.
constexpr double k_walk_bytes = 0x1p40;

/// The least power of two that no number of that many bits exceeds.
double largest_of_bits(unsigned bits) {
  return std::ldexp(1.0, static_cast<int>(bits));
}

class OriginReader {
 public:
  OriginReader(const LlvmApi& llvm, LlvmLayout layout) : llvm_(llvm), layout_(layout) {}

  PointerOrigin read(LlvmValue pointer) {
    visit(pointer);
    PointerOrigin origin;
    origin.roots.assign(roots_.begin(), roots_.end());
    for (LlvmValue step : steps_) {
      const double bytes = step_bytes(step);
      if (!is_repeated(step)) {
        origin.reach += bytes;
      } else {
        origin.reach += bytes <= k_short_step_bytes ? k_walk_bytes : k_unbounded;
      }
    }
    return origin;
  }

 private:
  /// The pointers that `value` is made of; none for a root.
  std::vector<LlvmValue> sources(LlvmValue value) const {
    switch (opcode_of(llvm_, value)) {
      case LlvmOpcode::element:
      case LlvmOpcode::bitcast:
      case LlvmOpcode::space_cast:
      case LlvmOpcode::freeze:
        return {llvm_.get_operand(value, 0)};
      case LlvmOpcode::select:
        return {llvm_.get_operand(value, 1), llvm_.get_operand(value, 2)};
      case LlvmOpcode::phi: {
        std::vector<LlvmValue> incoming;
        for (unsigned i = 0; i < llvm_.count_incoming(value); ++i)
          incoming.push_back(llvm_.get_incoming_value(value, i));
        return incoming;
      }
      default:
        return llvm_.is_argument(value) != nullptr ? passed_for(llvm_, value) : std::vector<LlvmValue>();
    }
  }

  void visit(LlvmValue pointer) {
    std::vector<LlvmValue> open{pointer};
    while (!open.empty()) {
      LlvmValue value = open.back();
      open.pop_back();
      if (!seen_.insert(value).second) continue;
      if (opcode_of(llvm_, value) == LlvmOpcode::element) steps_.push_back(value);
      const auto from = sources(value);
      if (from.empty()) roots_.insert(value);
      open.insert(open.end(), from.begin(), from.end());
    }
  }

  /// Whether what the step gives comes back to it.
  bool is_repeated(LlvmValue step) const {
    std::set<LlvmValue> seen;
    std::vector<LlvmValue> open = sources(step);
    while (!open.empty()) {
      LlvmValue value = open.back();
      open.pop_back();
      if (value == step) return true;
      if (!seen.insert(value).second) continue;
      const auto from = sources(value);
      open.insert(open.end(), from.begin(), from.end());
    }
    return false;
  }

  double step_bytes(LlvmValue element) const {
    LlvmType type = llvm_.get_gep_source_element_type(element);
    double bytes = 0.0;
    for (int i = 1; i < llvm_.get_num_operands(element); ++i) {
      LlvmValue index = llvm_.get_operand(element, static_cast<unsigned>(i));
      if (i > 1) {
        const LlvmKind kind = llvm_.get_type_kind(type);
        if (kind == LlvmKind::structure) {
          bytes += static_cast<double>(llvm_.abi_size_of_type(layout_, type));  // no member lies behind its end
          type = llvm_.struct_get_type_at_index(type, static_cast<unsigned>(llvm_.const_int_get_sext_value(index)));
          continue;
        }
        if (kind != LlvmKind::array && kind != LlvmKind::vector) return k_unbounded;
        type = llvm_.get_element_type(type);
      }
      const double count = largest(index, 0);
      if (count > 0.0) bytes += count * static_cast<double>(llvm_.abi_size_of_type(layout_, type));
    }
    return bytes;
  }

  /// What the number's magnitude is at most.
  double largest(LlvmValue number, int depth) const {
    constexpr int k_deepest = 16;
    LlvmType type = llvm_.type_of(number);
    if (llvm_.get_type_kind(type) != LlvmKind::integer || depth > k_deepest) return k_unbounded;
    const unsigned bits = llvm_.get_int_type_width(type);
    if (bits > 64) return k_unbounded;
    if (llvm_.is_constant_int(number) != nullptr) {
      return std::abs(static_cast<double>(llvm_.const_int_get_sext_value(number)));
    }
    if (bits <= 32) return largest_of_bits(bits);
    const LlvmOpcode opcode = opcode_of(llvm_, number);
    const auto operand = [&](unsigned i) { return llvm_.get_operand(number, i); };
    const auto of = [&](unsigned i) { return largest(operand(i), depth + 1); };
    const bool constant = llvm_.get_num_operands(number) == 2 && llvm_.is_constant_int(operand(1)) != nullptr;
    const auto amount = [&] { return static_cast<double>(llvm_.const_int_get_sext_value(operand(1))); };
    switch (opcode) {
      case LlvmOpcode::sext:
      case LlvmOpcode::zext:
        return of(0);
      case LlvmOpcode::add:
      case LlvmOpcode::sub:
        return of(0) + of(1);
      case LlvmOpcode::mul:
        return of(0) * of(1);
      case LlvmOpcode::select:
        return std::max(of(1), of(2));
      case LlvmOpcode::shl:
        return constant && amount() >= 0 && amount() < bits ? of(0) * std::exp2(amount()) : k_unbounded;
      case LlvmOpcode::lshr:
      case LlvmOpcode::ashr:
        return constant && amount() >= 0 && amount() < bits ? std::exp2(bits - amount()) : k_unbounded;
      case LlvmOpcode::bit_and:
        return constant && amount() >= 0 ? amount() : k_unbounded;
      default:
        return k_unbounded;
    }
  }

  const LlvmApi& llvm_;
  LlvmLayout layout_;
  std::set<LlvmValue> seen_;
  std::set<LlvmValue> roots_;
  std::vector<LlvmValue> steps_;
};

/// The place of an argument in its function.
unsigned place_of(const LlvmApi& llvm, LlvmValue function, LlvmValue argument) {
  unsigned place = 0;
  while (place < llvm.count_params(function) && llvm.get_param(function, place) != argument) ++place;
  return place;
}

}  // namespace

bool PointerOrigin::is_of_one_object(const LlvmApi& llvm) const {
  if (roots.size() != 1) return false;
  LlvmValue root = roots[0];
  return llvm.is_argument(root) != nullptr || llvm.is_global_variable(root) != nullptr ||
         opcode_of(llvm, root) == LlvmOpcode::alloca;
}

PointerOrigin origin_of(const LlvmApi& llvm, LlvmLayout layout, LlvmValue pointer) {
  return OriginReader(llvm, layout).read(pointer);
}

LlvmOpcode opcode_of(const LlvmApi& llvm, LlvmValue value) {
  if (llvm.is_instruction(value) != nullptr) return llvm.get_instruction_opcode(value);
  if (llvm.is_constant_expression(value) != nullptr) return llvm.get_const_opcode(value);
  return LlvmOpcode::none;
}

std::vector<LlvmValue> passed_for(const LlvmApi& llvm, LlvmValue argument) {
  LlvmValue function = llvm.get_param_parent(argument);
  if (llvm.get_function_call_conv(function) == k_kernel_convention) return {};
  const unsigned place = place_of(llvm, function, argument);
  std::vector<LlvmValue> passed;
  for (LlvmUse use = llvm.get_first_use(function); use != nullptr; use = llvm.get_next_use(use)) {
    LlvmValue call = llvm.get_user(use);
    const bool calls = opcode_of(llvm, call) == LlvmOpcode::call && llvm.get_called_value(call) == function;
    if (!calls || static_cast<int>(place) >= llvm.get_num_operands(call) - 1) return {};
    passed.push_back(llvm.get_operand(call, place));
  }
  return passed;
}

}  // namespace kw::opencl
