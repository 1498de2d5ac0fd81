#include "device/opencl/address_policy.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "device/opencl/pointer_memory.hpp"
#include "device/opencl/pointer_origin.hpp"

namespace kw::opencl {
namespace {

using Forbidden = std::optional<std::string>;

/// A pointer that is moved by less from any address of this machine, or of Oclgrind, does not come round to another
/// end.
constexpr double k_reach_bytes = 0x1p46;

constexpr unsigned k_function_itself = ~0U;  // LLVMAttributeFunctionIndex
constexpr int k_equal = 32;                  // LLVMIntEQ
constexpr int k_unequal = 33;                // LLVMIntNE
constexpr unsigned k_deepest_constant = 64;

constexpr const char* k_number =
    "turns a pointer into a number: index buffers, and subtract or compare pointers of one";
constexpr const char* k_pointer = "turns a number into a pointer: index buffers";
constexpr const char* k_others = "compares pointers that need not be of one buffer: compare indices";
constexpr const char* k_far =
    "orders pointers of which one was moved by a number without known bounds: compare indices, or end the loop with !=";

std::string name_of(const LlvmApi& llvm, LlvmValue value) {
  std::size_t length = 0;
  const char* const name = llvm.get_value_name(value, &length);
  return {name, length};
}

/// A program in memory. What LLVM would say of it while reading is not wanted: its own handler ends the process.
class Program {
 public:
  Program(const LlvmApi& llvm, std::string_view bytes) : llvm_(llvm), context_(llvm.context_create()) {
    llvm_.context_set_diagnostic_handler(
        context_, [](void*, void*) {}, nullptr);
    LlvmBuffer buffer = llvm_.create_memory_buffer_with_memory_range_copy(bytes.data(), bytes.size(), "program");
    char* message = nullptr;
    if (llvm_.parse_ir_in_context(context_, buffer, &module_, &message) == 0) return;
    module_ = nullptr;
    llvm_.dispose_message(message);
  }
  ~Program() {
    if (module_ != nullptr) llvm_.dispose_module(module_);
    llvm_.context_dispose(context_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program(Program&&) = delete;
  Program& operator=(Program&&) = delete;

  /// Null when the bytes are no program.
  [[nodiscard]] LlvmModule module() const { return module_; }

 private:
  const LlvmApi& llvm_;
  LlvmContext context_;
  LlvmModule module_ = nullptr;
};

std::vector<LlvmValue> functions_of(const LlvmApi& llvm, LlvmModule module) {
  std::vector<LlvmValue> defined;
  for (LlvmValue one = llvm.get_first_function(module); one != nullptr; one = llvm.get_next_function(one)) {
    if (llvm.is_declaration(one) == 0) defined.push_back(one);
  }
  return defined;
}

std::vector<LlvmValue> instructions_of(const LlvmApi& llvm, LlvmValue function) {
  std::vector<LlvmValue> all;
  for (LlvmBlock block = llvm.get_first_basic_block(function); block != nullptr;
       block = llvm.get_next_basic_block(block)) {
    for (LlvmValue one = llvm.get_first_instruction(block); one != nullptr; one = llvm.get_next_instruction(one)) {
      all.push_back(one);
    }
  }
  return all;
}

/// Has variables that are read and written by their own type alone become values, so that it is seen what a pointer is
/// made of. Nothing is computed in advance: what the simulator would do is what is judged. Nothing when it went well.
Forbidden make_values_of_variables(const LlvmApi& llvm, LlvmModule module) {
  constexpr std::string_view k_attribute = "optnone";  // which every function has that is not to be optimised
  const unsigned unoptimised = llvm.get_enum_attribute_kind_for_name(k_attribute.data(), k_attribute.size());
  for (LlvmValue function : functions_of(llvm, module)) {
    llvm.remove_enum_attribute_at_index(function, k_function_itself, unoptimised);
  }
  LlvmOptions options = llvm.create_pass_builder_options();
  LlvmError failure = llvm.run_passes(module, "function(sroa)", nullptr, options);
  llvm.dispose_pass_builder_options(options);
  if (failure == nullptr) return std::nullopt;
  llvm.consume_error(failure);
  return "what the compiler made of the kernels cannot be simplified";
}

/// Kernels, and the functions that they call. Without a kernel all functions.
std::vector<LlvmValue> judged_functions(const LlvmApi& llvm, LlvmModule module) {
  std::vector<LlvmValue> judged;
  for (LlvmValue function : functions_of(llvm, module)) {
    if (llvm.get_function_call_conv(function) == k_kernel_convention) judged.push_back(function);
  }
  if (judged.empty()) return functions_of(llvm, module);
  std::set<LlvmValue> seen(judged.begin(), judged.end());
  for (std::size_t i = 0; i < judged.size(); ++i) {
    for (LlvmValue one : instructions_of(llvm, judged[i])) {
      if (llvm.get_instruction_opcode(one) != LlvmOpcode::call) continue;
      LlvmValue called = llvm.is_function(llvm.get_called_value(one));
      if (called == nullptr || llvm.is_declaration(called) != 0) continue;
      if (seen.insert(called).second) judged.push_back(called);
    }
  }
  return judged;
}

/// What a constant is computed from, also in tables that it names: those of addresses could be read as numbers.
Forbidden in_constant(const LlvmApi& llvm, LlvmValue value, unsigned depth = 0) {
  const LlvmOpcode opcode = opcode_of(llvm, value);
  if (opcode == LlvmOpcode::to_number) return k_number;
  if (opcode == LlvmOpcode::from_number) return k_pointer;
  if (opcode == LlvmOpcode::compare && holds_pointer(llvm, llvm.type_of(llvm.get_operand(value, 0)))) return k_others;
  if (depth > k_deepest_constant) return "computes with constants that are nested too deeply";
  if (llvm.is_function(value) != nullptr) return std::nullopt;
  if (llvm.is_global_variable(value) != nullptr) {
    LlvmValue table = llvm.get_initializer(value);
    if (table == nullptr || llvm.is_null(table) != 0) return std::nullopt;
    if (holds_pointer(llvm, llvm.type_of(table))) return "has a table of pointers: use indices";
    return in_constant(llvm, table, depth + 1);
  }
  for (int i = 0; i < llvm.get_num_operands(value); ++i) {
    LlvmValue operand = llvm.get_operand(value, static_cast<unsigned>(i));
    if (llvm.is_constant(operand) == nullptr) continue;
    if (auto found = in_constant(llvm, operand, depth + 1)) return found;
  }
  return std::nullopt;
}

Forbidden in_comparison(const LlvmApi& llvm, LlvmLayout layout, LlvmValue one) {
  LlvmValue left = llvm.get_operand(one, 0);
  LlvmValue right = llvm.get_operand(one, 1);
  if (!holds_pointer(llvm, llvm.type_of(left))) return std::nullopt;
  const PointerOrigin first = origin_of(llvm, layout, left);
  const PointerOrigin second = origin_of(llvm, layout, right);
  const int predicate = llvm.get_icmp_predicate(one);
  const bool equality = predicate == k_equal || predicate == k_unequal;
  const bool near = first.reach < k_reach_bytes && second.reach < k_reach_bytes;
  // Whether there is a pointer at all.
  if (equality && near && (llvm.is_null(left) != 0 || llvm.is_null(right) != 0)) return std::nullopt;
  if (!first.is_of_one_object(llvm) || first.roots != second.roots) return k_others;
  if (!equality && !near) return k_far;
  return std::nullopt;
}

/// A number made of a pointer may only be taken from another of the same buffer.
Forbidden in_number(const LlvmApi& llvm, LlvmLayout layout, LlvmValue number) {
  const PointerOrigin origin = origin_of(llvm, layout, llvm.get_operand(number, 0));
  for (LlvmUse use = llvm.get_first_use(number); use != nullptr; use = llvm.get_next_use(use)) {
    LlvmValue user = llvm.get_user(use);
    if (opcode_of(llvm, user) != LlvmOpcode::sub) return k_number;
    LlvmValue left = llvm.get_operand(user, 0);
    LlvmValue other = left == number ? llvm.get_operand(user, 1) : left;
    if (opcode_of(llvm, other) != LlvmOpcode::to_number) return k_number;
    const PointerOrigin second = origin_of(llvm, layout, llvm.get_operand(other, 0));
    if (!origin.is_of_one_object(llvm) || origin.roots != second.roots) return k_number;
  }
  return std::nullopt;
}

Forbidden in_operands(const LlvmApi& llvm, LlvmValue one) {
  for (int i = 0; i < llvm.get_num_operands(one); ++i) {
    LlvmValue operand = llvm.get_operand(one, static_cast<unsigned>(i));
    if (llvm.is_constant(operand) == nullptr) continue;
    if (auto found = in_constant(llvm, operand)) return found;
  }
  return std::nullopt;
}

Forbidden in_instruction(const LlvmApi& llvm, LlvmLayout layout, LlvmValue one) {
  if (auto found = in_operands(llvm, one)) return found;
  switch (opcode_of(llvm, one)) {
    case LlvmOpcode::to_number:
      return in_number(llvm, layout, one);
    case LlvmOpcode::from_number:
      return k_pointer;
    case LlvmOpcode::compare:
      return in_comparison(llvm, layout, one);
    case LlvmOpcode::call: {
      const std::string called = name_of(llvm, llvm.get_called_value(one));
      if (called.starts_with("llvm.ptrmask")) return "rounds a pointer: index buffers";
      if (called.starts_with("printf")) return "prints: leave printf out";
      return std::nullopt;
    }
    case LlvmOpcode::load:
    case LlvmOpcode::store:
    case LlvmOpcode::exchange:
    case LlvmOpcode::update:
      return pointer_in_memory(llvm, layout, one);
    default:
      return std::nullopt;
  }
}

}  // namespace

Forbidden address_used_as_number(const LlvmApi& llvm, std::string_view bytes) {
  const Program program(llvm, bytes);
  if (program.module() == nullptr) return "what the compiler made of the kernels cannot be read";
  if (auto found = make_values_of_variables(llvm, program.module())) return found;
  LlvmLayout layout = llvm.get_module_data_layout(program.module());
  for (LlvmValue function : judged_functions(llvm, program.module())) {
    for (LlvmValue one : instructions_of(llvm, function)) {
      if (auto found = in_instruction(llvm, layout, one)) {
        return fmt::format("function {}, line {}, {}. A kernel may not depend on where its buffers lie",
                           name_of(llvm, function), llvm.get_debug_loc_line(one), *found);
      }
    }
  }
  return std::nullopt;
}

}  // namespace kw::opencl
