#pragma once
// The LLVM with which an OpenCL driver compiles kernels, through its C interface, which keeps its numbers from version
// to version. It is in the process once the driver is; nothing else of LLVM is needed to build or to start.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace kw::opencl {

using LlvmContext = struct LlvmContextTag*;
using LlvmModule = struct LlvmModuleTag*;
using LlvmValue = struct LlvmValueTag*;
using LlvmBlock = struct LlvmBlockTag*;
using LlvmType = struct LlvmTypeTag*;
using LlvmUse = struct LlvmUseTag*;
using LlvmBuffer = struct LlvmBufferTag*;
using LlvmOptions = struct LlvmOptionsTag*;
using LlvmTarget = struct LlvmTargetTag*;
using LlvmLayout = struct LlvmLayoutTag*;
using LlvmError = struct LlvmErrorTag*;
using LlvmDiagnosticHandler = void (*)(void* diagnostic, void* context);

/// LLVMOpcode. The numbers are LLVM's own.
enum class LlvmOpcode {
  none = 0,
  add = 8,
  sub = 10,
  mul = 12,
  shl = 20,
  lshr = 21,
  ashr = 22,
  bit_and = 23,
  alloca = 26,
  load = 27,
  store = 28,
  element = 29,  ///< getelementptr
  zext = 31,
  sext = 32,
  to_number = 39,    ///< ptrtoint
  from_number = 40,  ///< inttoptr
  bitcast = 41,
  compare = 42,  ///< icmp
  phi = 44,
  call = 45,
  select = 46,
  exchange = 56,  ///< cmpxchg
  update = 57,    ///< atomicrmw
  space_cast = 60,
  freeze = 68,
};

/// LLVMTypeKind.
enum class LlvmKind { integer = 8, structure = 10, array = 11, pointer = 12, vector = 13 };

/// The functions of LLVM that reading a program needs, by their names without "LLVM".
struct LlvmApi {
  LlvmContext (*context_create)() = nullptr;
  void (*context_dispose)(LlvmContext) = nullptr;
  void (*context_set_diagnostic_handler)(LlvmContext, LlvmDiagnosticHandler, void*) = nullptr;
  LlvmBuffer (*create_memory_buffer_with_memory_range_copy)(const char*, std::size_t, const char*) = nullptr;
  /// Of bitcode or text; takes the buffer. Not 0 when it is neither; then `message` has to be disposed of.
  int (*parse_ir_in_context)(LlvmContext, LlvmBuffer, LlvmModule*, char** message) = nullptr;
  void (*dispose_message)(char*) = nullptr;
  void (*dispose_module)(LlvmModule) = nullptr;
  LlvmLayout (*get_module_data_layout)(LlvmModule) = nullptr;
  unsigned long long (*abi_size_of_type)(LlvmLayout, LlvmType) = nullptr;

  LlvmError (*run_passes)(LlvmModule, const char* passes, LlvmTarget, LlvmOptions) = nullptr;
  LlvmOptions (*create_pass_builder_options)() = nullptr;
  void (*dispose_pass_builder_options)(LlvmOptions) = nullptr;
  void (*consume_error)(LlvmError) = nullptr;

  LlvmValue (*get_first_function)(LlvmModule) = nullptr;
  LlvmValue (*get_next_function)(LlvmValue) = nullptr;
  LlvmValue (*get_first_global)(LlvmModule) = nullptr;
  LlvmValue (*get_next_global)(LlvmValue) = nullptr;
  LlvmValue (*get_initializer)(LlvmValue) = nullptr;
  LlvmBlock (*get_first_basic_block)(LlvmValue) = nullptr;
  LlvmBlock (*get_next_basic_block)(LlvmBlock) = nullptr;
  LlvmValue (*get_first_instruction)(LlvmBlock) = nullptr;
  LlvmValue (*get_next_instruction)(LlvmValue) = nullptr;
  LlvmOpcode (*get_instruction_opcode)(LlvmValue) = nullptr;
  LlvmOpcode (*get_const_opcode)(LlvmValue) = nullptr;
  int (*get_icmp_predicate)(LlvmValue) = nullptr;
  LlvmValue (*get_called_value)(LlvmValue) = nullptr;
  LlvmType (*get_gep_source_element_type)(LlvmValue) = nullptr;
  unsigned (*count_incoming)(LlvmValue) = nullptr;
  LlvmValue (*get_incoming_value)(LlvmValue, unsigned) = nullptr;

  LlvmUse (*get_first_use)(LlvmValue) = nullptr;
  LlvmUse (*get_next_use)(LlvmUse) = nullptr;
  LlvmValue (*get_user)(LlvmUse) = nullptr;
  int (*get_num_operands)(LlvmValue) = nullptr;
  LlvmValue (*get_operand)(LlvmValue, unsigned) = nullptr;
  const char* (*get_value_name)(LlvmValue, std::size_t* length) = nullptr;
  /// Null unless the value is one.
  LlvmValue (*is_instruction)(LlvmValue) = nullptr;
  LlvmValue (*is_constant_expression)(LlvmValue) = nullptr;
  LlvmValue (*is_constant)(LlvmValue) = nullptr;
  LlvmValue (*is_constant_int)(LlvmValue) = nullptr;
  LlvmValue (*is_argument)(LlvmValue) = nullptr;
  LlvmValue (*is_function)(LlvmValue) = nullptr;
  LlvmValue (*is_global_variable)(LlvmValue) = nullptr;
  int (*is_null)(LlvmValue) = nullptr;
  long long (*const_int_get_sext_value)(LlvmValue) = nullptr;

  LlvmType (*type_of)(LlvmValue) = nullptr;
  LlvmKind (*get_type_kind)(LlvmType) = nullptr;
  LlvmType (*get_element_type)(LlvmType) = nullptr;
  LlvmType (*struct_get_type_at_index)(LlvmType, unsigned) = nullptr;
  unsigned (*count_struct_element_types)(LlvmType) = nullptr;
  LlvmValue (*get_param_parent)(LlvmValue) = nullptr;
  unsigned (*count_params)(LlvmValue) = nullptr;
  LlvmValue (*get_param)(LlvmValue, unsigned) = nullptr;
  unsigned (*get_array_length)(LlvmType) = nullptr;
  unsigned (*get_int_type_width)(LlvmType) = nullptr;
  unsigned (*get_function_call_conv)(LlvmValue) = nullptr;
  int (*is_declaration)(LlvmValue) = nullptr;

  unsigned (*get_debug_loc_line)(LlvmValue) = nullptr;
  LlvmType (*get_allocated_type)(LlvmValue) = nullptr;

  unsigned (*get_enum_attribute_kind_for_name)(const char*, std::size_t) = nullptr;
  void (*remove_enum_attribute_at_index)(LlvmValue, unsigned index, unsigned kind) = nullptr;
};

/// That of the driver in this process whose library's name begins so, as "liboclgrind". errc::device_refused when there
/// is none, when it was linked without a library of LLVM's, or that library lacks a function.
[[nodiscard]] Result<LlvmApi> llvm_of_driver(const std::string& library);

}  // namespace kw::opencl
