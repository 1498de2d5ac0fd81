// What is refused of programs that Oclgrind's compiler makes of a few lines. None of them is run.

#include "device/opencl/address_policy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/opencl/platform.hpp"

namespace kw::opencl {
namespace {

/// Of the Oclgrind of this machine.
class AddressPolicy : public ::testing::Test {
 protected:
  /// Bitcode, as Oclgrind gives what it compiled.
  std::string compiled(const std::string& source) {
    cl_int status = CL_SUCCESS;
    const OwnedContext context(api_.create_context(nullptr, 1, &device_.id, nullptr, nullptr, &status),
                               api_.release_context);
    const char* text = source.c_str();
    const OwnedProgram program(api_.create_program_with_source(context.get(), 1, &text, nullptr, &status),
                               api_.release_program);
    EXPECT_EQ(api_.build_program(program.get(), 1, &device_.id, "-cl-opt-disable", nullptr, nullptr), CL_SUCCESS)
        << source;
    std::size_t bytes = 0;
    EXPECT_EQ(api_.get_program_info(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr), CL_SUCCESS);
    std::string binary(bytes, '\0');
    auto* data = reinterpret_cast<unsigned char*>(binary.data());
    EXPECT_EQ(api_.get_program_info(program.get(), CL_PROGRAM_BINARIES, sizeof data, &data, nullptr), CL_SUCCESS);
    return binary;
  }

  /// "" when nothing is found.
  std::string found_in(const std::string& source) {
    return address_used_as_number(llvm_, compiled(source)).value_or("");
  }
  /// Of a kernel with two buffers, a memory of the group and a number.
  std::string found_in_kernel(const std::string& body, const std::string& before = "") {
    return found_in(before + "\n__kernel void k(__global float* x, __global float* y, __local float* t, int n) {\n" +
                    body + "\n}\n");
  }

  Api api_ = load_api("/usr/lib/oclgrind/liboclgrind-rt.so").value();
  ListedDevice device_ = list_devices(api_).value().front();
  LlvmApi llvm_ = llvm_of_driver("liboclgrind").value();
};

constexpr const char* k_row = "typedef struct { __global const float* at; int n; } Row;\n";

TEST_F(AddressPolicy, says_where_and_what_to_write_instead) {
  EXPECT_EQ(
      found_in_kernel("x[0] = (float)((ulong)y >> 47);"),
      "function k, line 3, turns a pointer into a number: index buffers, and subtract or compare pointers of one. A "
      "kernel may not depend on where its buffers lie");
  EXPECT_EQ(found_in_kernel("if (x < y) x[0] = 1;"),
            "function k, line 3, compares pointers that need not be of one buffer: compare indices. A kernel may not "
            "depend on where its buffers lie");
  EXPECT_EQ(found_in_kernel("ulong far = get_global_id(0); if (x < x - far * far) x[0] = 1;"),
            "function k, line 3, orders pointers of which one was moved by a number without known bounds: compare "
            "indices, or end the loop with !=. A kernel may not depend on where its buffers lie");
  EXPECT_EQ(found_in_kernel("*(__global float* __local*)t = x;"),
            "function k, line 3, keeps a pointer in memory that is not a variable of one work-item: keep an index. A "
            "kernel may not depend on where its buffers lie");
  EXPECT_EQ(found_in_kernel("__global float* volatile p = x; x[0] = *(volatile uint*)&p;"),
            "function k, line 3, could read the bytes of a pointer as something else: keep pointers in variables and "
            "arrays of their own, or keep indices. A kernel may not depend on where its buffers lie");
  EXPECT_EQ(found_in_kernel("x[0] = *(__global float*)(ulong)n;"),
            "function k, line 3, turns a number into a pointer: index buffers. A kernel may not depend on where its "
            "buffers lie");
  EXPECT_EQ(found_in_kernel("printf(\"%p\", x);"),
            "function k, line 3, prints: leave printf out. A kernel may not depend on where its buffers lie");
}

TEST_F(AddressPolicy, refuses_every_way_to_a_number) {
  for (const char* body : {
           "x[0] = (float)(uint)(size_t)&n;",
           "union { __global float* p; uint w[2]; } u; u.p = x; x[0] = u.w[1];",
           "union { __global float* p; uint w[2]; } u; u.p = x; x[0] = u.w[n];",
           "__global float* p[2] = {x, y}; x[0] = ((uint*)p)[n];",
           "__global float* p[2]; p[n] = x; x[0] = vload2(0, (uint*)p).x;",
           "struct { uint w[2]; __global float* p; } s; s.p = x; x[0] = s.w[n];",
           "struct { __global float* p; ulong w; } s[2]; s[n].p = x; x[0] = *(ulong*)&s[1].p;",
           "struct { __global float* p[2]; ulong w; } s; s.w = 0; s.p[n] = x; x[0] = s.w;",
           "__global float* p = x; for (int i = 0; i < n; ++i) p = (__global float*)((ulong)p ^ 64); *p = 1;",
           "x[0] = (float)(x - y);",
           "__global float* p = n ? x : y; x[0] = (float)(p - x);",
           "x[0] = x == y;",
           "__global float* p[2] = {x, y}; x[0] = p[n] == p[0];",
           "x[0] = (ulong)x % 64 == 0;",
           "x[0] = x == (__global float*)0 + 64 * get_global_id(0);",
           "x[0] = x + get_global_id(0) == 0;",
           "x[0] = as_uint2((ulong)x).y;",
           "*(__global float* __global*)y = x;",
           "atomic_xchg((volatile __global int*)y, (int)(long)x);",
           "char d[8]; __global float* p[1] = {x}; for (int i = 0; i < 8; ++i) d[i] = ((char*)p)[i]; x[0] = d[n];",
           "x[0] = (float)(ulong)t;",
       }) {
    EXPECT_NE(found_in_kernel(body), "") << body;
  }
}

TEST_F(AddressPolicy, looks_through_functions) {
  EXPECT_NE(found_in_kernel("x[0] = high(x);", "int high(__global float* p) { return (long)p >> 47; }"), "");
  EXPECT_NE(found_in_kernel("x[0] = far(x, y);", "int far(__global float* p, __global float* q) { return p < q; }"),
            "");
  EXPECT_EQ(found_in_kernel("x[0] = far(x, x + n);", "int far(__global float* p, __global float* q) { return p < q; }"),
            "");
  EXPECT_NE(found_in_kernel("Row r; r.at = x; r.n = n; x[0] = bytes(&r);",
                            std::string(k_row) + "ulong bytes(Row* r) { return *(ulong*)r; }"),
            "");
  EXPECT_NE(found_in_kernel("Row r; r.at = x; r.n = n; x[0] = bytes(r);",
                            std::string(k_row) + "ulong bytes(Row r) { return *(ulong*)&r.at; }"),
            "");
  EXPECT_NE(found_in_kernel("__global float* p[2] = {x, y}; x[0] = bytes((ulong*)p, n);",
                            "ulong bytes(ulong* p, int n) { return p[n]; }"),
            "");
}

TEST_F(AddressPolicy, lets_honest_pointers_be) {
  constexpr const char* k_rows =
      "for (int i = 0; i < n; ++i) { __global float* row = x + i * n; for (__global float* p = row; p < row + n; p += "
      "4) "
      "vstore4((float4)(0), 0, p); }";
  for (const char* body : {
           "x[get_global_id(0)] = y[n] + t[0];",
           "for (__global float* p = x; p < x + n; ++p) *p = 0;",
           k_rows,
           "__global float* end = x + get_global_id(0) * n; for (__global float* p = x; p != end; ++p) *p = 0;",
           "x[0] = (float)((x + n) - (x + 1));",
           "__global float* p = n ? x : y; p[n] = 1;",
           "__global float* p = n ? x : 0; if (p) p[n] = 1; if (p != 0) p[n] = 2;",
           "__global float* p[4]; for (int i = 0; i < 4; ++i) p[i] = x + i * n; p[n & 3][0] = 1;",
           "__global float* p[2] = {0}; p[n & 1] = x; if (p[0]) p[0][n] = 1;",
           "float4 v = vload4(n, x); vstore4(v, n, y); ((__global float4*)x)[n] = v; x[0] = *((float*)&v + n);",
           "event_t e = async_work_group_copy(t, x, (size_t)n, 0); wait_group_events(1, &e);",
           "atomic_add((volatile __global int*)x, 1); atomic_cmpxchg((volatile __global uint*)y, 0u, as_uint(1.0f));",
           "float s[8]; float* p = s; for (int i = 0; i < 8; ++i) *p++ = x[i]; y[0] = s[n & 7];",
           "float f; float i; f = fract(x[0], &i); y[0] = f + i; x[1] = sincos(x[0], &f);",
           "__local float part[64]; part[get_local_id(0)] = x[n]; barrier(CLK_LOCAL_MEM_FENCE); y[0] = part[n];",
           "const float table[4] = {1, 2, 3, 4}; x[0] = table[n & 3];",
           "uint2 w = as_uint2(1.0); x[0] = as_float(w.x ^ as_uint(y[0]));",
           "prefetch(x, 4); x[0] = (ulong)n >> 3;",
       }) {
    EXPECT_EQ(found_in_kernel(body), "") << body;
  }
  EXPECT_EQ(found_in_kernel("Row r; r.at = x; r.n = n; Row other = r; Row rows[2]; rows[n & 1] = r; y[0] = sum(r) + "
                            "sum_at(&other) + sum(rows[0]) + rows[n & 1].n;",
                            std::string(k_row) + "float sum(Row r) { float s = 0; for (int i = 0; i < r.n; ++i) s += "
                                                 "r.at[i]; return s; }\nfloat sum_at(Row* r) { return r->at[r->n]; }"),
            "");
  EXPECT_EQ(
      found_in_kernel("Row r = row_of(x, n); y[0] = r.at[r.n];",
                      std::string(k_row) + "Row row_of(__global const float* x, int n) { Row r; r.at = x + n; r.n = "
                                           "n; return r; }"),
      "");
}

TEST_F(AddressPolicy, refuses_what_is_damaged) {
  constexpr const char* k_unreadable = "what the compiler made of the kernels cannot be read";
  EXPECT_EQ(address_used_as_number(llvm_, ""), std::nullopt) << "LLVM takes it for a program without kernels";
  EXPECT_EQ(address_used_as_number(llvm_, "no program"), k_unreadable);
  const std::string whole = compiled("__kernel void k(__global float* x) { x[0] = 1; }");
  for (std::size_t size = 64; size < whole.size() - 4; size += 97) {
    EXPECT_EQ(address_used_as_number(llvm_, whole.substr(0, size)), k_unreadable) << size << " bytes";
  }
}

TEST(LlvmLibrary, is_that_of_a_driver_in_the_process) {
  const auto none = llvm_of_driver("libno_such_driver");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "there is no libno_such_driver in this process");
  const auto without = llvm_of_driver("libfmt");
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().message, "what libfmt compiles cannot be read: it has no LLVMContextCreate of LLVM's");
}

}  // namespace
}  // namespace kw::opencl
