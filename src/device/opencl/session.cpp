#include "device/opencl/session.hpp"

namespace kw::opencl {

Result<OwnedProgram> program_from_source(const Session& session, const std::string& source) {
  const char* text = source.data();
  const std::size_t bytes = source.size();
  cl_int status = CL_SUCCESS;
  OwnedProgram program(session.api.create_program_with_source(session.context.get(), 1, &text, &bytes, &status),
                       session.api.release_program);
  KW_TRY_VOID(check(status, "clCreateProgramWithSource"));
  return program;
}

Result<OwnedProgram> program_from_binary(const Session& session, const std::string& binary) {
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t bytes = binary.size();
  cl_int status = CL_SUCCESS;
  OwnedProgram program(session.api.create_program_with_binary(session.context.get(), 1, &session.device.id, &bytes,
                                                              &data, nullptr, &status),
                       session.api.release_program);
  KW_TRY_VOID(check(status, "clCreateProgramWithBinary"));
  return program;
}

Result<OwnedKernel> create_kernel(const Session& session, cl_program program, const std::string& name) {
  cl_int status = CL_SUCCESS;
  OwnedKernel kernel(session.api.create_kernel(program, name.c_str(), &status), session.api.release_kernel);
  KW_TRY_VOID(check(status, fmt::format("clCreateKernel({})", name)));
  return kernel;
}

}  // namespace kw::opencl
