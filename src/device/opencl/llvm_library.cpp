#include "device/opencl/llvm_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

#include "device/device.hpp"
#include "device/shared_library.hpp"

namespace kw::opencl {
namespace {

struct DriverSearch {
  std::string_view library;
  std::string path = {};
};

int remember_driver(dl_phdr_info* info, std::size_t, void* search) {
  auto& wanted = *static_cast<DriverSearch*>(search);
  const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (name.substr(name.rfind('/') + 1).starts_with(wanted.library)) wanted.path = name;
  return 0;
}

void find_functions_of_modules(SymbolFinder& find, LlvmApi& api) {
  find("LLVMContextCreate", api.context_create);
  find("LLVMContextDispose", api.context_dispose);
  find("LLVMContextSetDiagnosticHandler", api.context_set_diagnostic_handler);
  find("LLVMCreateMemoryBufferWithMemoryRangeCopy", api.create_memory_buffer_with_memory_range_copy);
  find("LLVMParseIRInContext", api.parse_ir_in_context);
  find("LLVMDisposeMessage", api.dispose_message);
  find("LLVMDisposeModule", api.dispose_module);
  find("LLVMGetModuleDataLayout", api.get_module_data_layout);
  find("LLVMABISizeOfType", api.abi_size_of_type);
  find("LLVMRunPasses", api.run_passes);
  find("LLVMCreatePassBuilderOptions", api.create_pass_builder_options);
  find("LLVMDisposePassBuilderOptions", api.dispose_pass_builder_options);
  find("LLVMConsumeError", api.consume_error);
  find("LLVMGetFirstFunction", api.get_first_function);
  find("LLVMGetNextFunction", api.get_next_function);
  find("LLVMGetFirstGlobal", api.get_first_global);
  find("LLVMGetNextGlobal", api.get_next_global);
  find("LLVMGetInitializer", api.get_initializer);
  find("LLVMGetFirstBasicBlock", api.get_first_basic_block);
  find("LLVMGetNextBasicBlock", api.get_next_basic_block);
  find("LLVMGetFirstInstruction", api.get_first_instruction);
  find("LLVMGetNextInstruction", api.get_next_instruction);
  find("LLVMGetInstructionOpcode", api.get_instruction_opcode);
  find("LLVMGetConstOpcode", api.get_const_opcode);
  find("LLVMGetICmpPredicate", api.get_icmp_predicate);
  find("LLVMGetCalledValue", api.get_called_value);
  find("LLVMGetGEPSourceElementType", api.get_gep_source_element_type);
  find("LLVMCountIncoming", api.count_incoming);
  find("LLVMGetIncomingValue", api.get_incoming_value);
}

void find_functions_of_values(SymbolFinder& find, LlvmApi& api) {
  find("LLVMGetFirstUse", api.get_first_use);
  find("LLVMGetNextUse", api.get_next_use);
  find("LLVMGetUser", api.get_user);
  find("LLVMGetNumOperands", api.get_num_operands);
  find("LLVMGetOperand", api.get_operand);
  find("LLVMGetValueName2", api.get_value_name);
  find("LLVMIsAInstruction", api.is_instruction);
  find("LLVMIsAConstantExpr", api.is_constant_expression);
  find("LLVMIsAConstant", api.is_constant);
  find("LLVMIsAConstantInt", api.is_constant_int);
  find("LLVMIsAArgument", api.is_argument);
  find("LLVMIsAFunction", api.is_function);
  find("LLVMIsAGlobalVariable", api.is_global_variable);
  find("LLVMIsNull", api.is_null);
  find("LLVMConstIntGetSExtValue", api.const_int_get_sext_value);
  find("LLVMTypeOf", api.type_of);
  find("LLVMGetTypeKind", api.get_type_kind);
  find("LLVMGetElementType", api.get_element_type);
  find("LLVMStructGetTypeAtIndex", api.struct_get_type_at_index);
  find("LLVMCountStructElementTypes", api.count_struct_element_types);
  find("LLVMGetParamParent", api.get_param_parent);
  find("LLVMCountParams", api.count_params);
  find("LLVMGetParam", api.get_param);
  find("LLVMGetArrayLength", api.get_array_length);
  find("LLVMGetIntTypeWidth", api.get_int_type_width);
  find("LLVMGetFunctionCallConv", api.get_function_call_conv);
  find("LLVMIsDeclaration", api.is_declaration);
  find("LLVMGetDebugLocLine", api.get_debug_loc_line);
  find("LLVMGetAllocatedType", api.get_allocated_type);
  find("LLVMGetEnumAttributeKindForName", api.get_enum_attribute_kind_for_name);
  find("LLVMRemoveEnumAttributeAtIndex", api.remove_enum_attribute_at_index);
}

}  // namespace

Result<LlvmApi> llvm_of_driver(const std::string& library) {
  DriverSearch search{library};
  ::dl_iterate_phdr(&remember_driver, &search);
  // A handle of a library finds what the libraries have that it needs: of several LLVMs, its own.
  void* const driver = search.path.empty() ? nullptr : ::dlopen(search.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return fail(errc::device_refused, "there is no {} in this process", library);
  SymbolFinder find{driver};
  LlvmApi api;
  find_functions_of_modules(find, api);
  find_functions_of_values(find, api);
  if (find.missing.empty()) return api;
  return fail(Error{errc::device_refused,
                    fmt::format("what {} compiles cannot be read: it has no {} of LLVM's", library, find.missing),
                    "use the drivers of the distribution"});
}

}  // namespace kw::opencl
