// Elements of random tensors as base/random_tensor.cpp draws them, bit for bit, whether those of a buffer have become
// others, and how much of an output is no answer. Trusted: it runs in a candidate's process before and after the
// candidate's kernels, so that data need not be copied there and back. `tables` is kw::NormalTables.

using Word = unsigned int;
using Long = unsigned long long;

__device__ inline Long random_bits(Long key, Long place) {
  Long z = key + (place + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Each operation is rounded by itself, as on the host: none may be fused.
__device__ inline float number_in(const float2* cells, Word bits) {
  const float2 cell = cells[bits & 4095];
  const float fraction = __fmul_rn((float)(bits >> 12) + 0.5f, 1.0f / 1048576.0f);
  return __fadd_rn(cell.x, __fmul_rn(fraction, cell.y));
}

__device__ inline float tail_number(const float2* tables, Long key, Long place) {
  const Long bits = random_bits(key ^ 0x6a09e667f3bcc909ULL, place);
  return (bits & 4095) != 4095 ? number_in(tables + 4096, (Word)bits) : number_in(tables + 8192, (Word)(bits >> 32));
}

__device__ inline float number_at(const float2* tables, Long key, Long place) {
  const Long pair = random_bits(key, place >> 1);
  const Word bits = (place & 1) == 0 ? (Word)pair : (Word)(pair >> 32);
  const Word cell = bits & 4095;
  if (cell != 0 && cell != 4095) return number_in(tables, bits);
  const float size = tail_number(tables, key, place);
  return cell == 0 ? -size : size;
}

// kw::RandomTensor, as words of 64 bits.
struct Tensor {
  Long key, numbers, rows, row_length, sequence, scale_and_shift, late_shift;  // the floats' bits; the scale's are low
};

__device__ inline float growing_scale(Long position, Long sequence) {
  if (sequence == 1) return 4.0f;
  const Long piece = 4 * position / (sequence - 1);
  const Long within = 4 * position % (sequence - 1);
  const float fraction = __fdiv_rn((float)within, (float)(sequence - 1));
  return __fmul_rn(0.25f * (float)(1u << piece), __fadd_rn(1.0f, fraction));
}

__device__ inline float scale_of_row(const Tensor& tensor, Long row) {
  const float scale = __uint_as_float((Word)tensor.scale_and_shift);
  if (tensor.rows == 1) return scale;
  if (tensor.rows == 3) return __fmul_rn(scale, growing_scale(row % tensor.sequence, tensor.sequence));
  const bool is_spike = random_bits(tensor.key ^ 0x3c6ef372fe94f82bULL, row) >> 59 == 0;
  return is_spike ? __fmul_rn(scale, 6.0f) : scale;
}

__device__ inline float shift_of_row(const Tensor& tensor, Long row) {
  const bool late = tensor.sequence == 1 || 2 * (row % tensor.sequence) > tensor.sequence - 1;
  return __uint_as_float(late ? (Word)tensor.late_shift : (Word)(tensor.scale_and_shift >> 32));
}

// Whether elements are the numbers themselves: what most tensors are made of needs no rows.
__device__ inline bool keeps_numbers(const Tensor& tensor) {
  return tensor.rows == 1 && tensor.scale_and_shift == 0x3f800000u && tensor.late_shift == 0;
}

__device__ inline float element_at(const float2* tables, const Tensor& tensor, Long place) {
  float number;
  if (tensor.numbers == 1) {
    number = number_at(tables, tensor.key, place);
  } else {
    const Word bits = (Word)(random_bits(tensor.key, place >> 1) >> (place & 1) * 32);
    number = __fmul_rn((float)(bits >> 8), 1.0f / 16777216.0f);
  }
  if (keeps_numbers(tensor)) return number;
  const Long row = place / tensor.row_length;
  return __fadd_rn(__fmul_rn(number, scale_of_row(tensor, row)), shift_of_row(tensor, row));
}

// Nearest, ties to even, without a header: elements are never NaN.
__device__ inline Word stored_f32(float value) {
  return __float_as_uint(value);
}
__device__ inline Word stored_bf16(float value) {
  const Word bits = __float_as_uint(value);
  return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
__device__ inline Word stored_f16(float value) {
  const Word bits = __float_as_uint(value);
  const Word size = bits & 0x7fffffffu;
  const Word small = __float_as_uint(__fadd_rn(__uint_as_float(size), 0.5f)) - 0x3f000000u;
  const Word normal = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
  const Word rounded = size < 0x38800000u ? small : size < 0x477ff000u ? normal : 0x7c00u;
  return ((bits >> 16) & 0x8000u) | rounded;
}

// Where `firsts` is not null, the first element of a row is the one of that row there.
#define RANDOM_TENSORS(TYPE, ELEMENT)                                                                                 \
  __device__ inline ELEMENT drawn_##TYPE(const float2* tables, const Tensor& tensor, const ELEMENT* firsts,          \
                                         Long place) {                                                               \
    if (firsts != nullptr && place % tensor.row_length == 0) return firsts[place / tensor.row_length];               \
    return (ELEMENT)stored_##TYPE(element_at(tables, tensor, place));                                                \
  }                                                                                                                  \
  extern "C" __global__ void k_draw_##TYPE(ELEMENT* out, Long count, const float2* tables, Long key, Long numbers,   \
                                           Long rows, Long row_length, Long sequence, Long scale_and_shift,          \
                                           Long late_shift, const ELEMENT* firsts) {                                 \
    const Tensor tensor = {key, numbers, rows, row_length, sequence, scale_and_shift, late_shift};                   \
    const Long step = (Long)gridDim.x * blockDim.x;                                                                  \
    for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {                               \
      out[i] = drawn_##TYPE(tables, tensor, firsts, i);                                                              \
    }                                                                                                                \
  }                                                                                                                  \
  extern "C" __global__ void k_find_changed_##TYPE(const ELEMENT* in, Long count, const float2* tables, Long key,    \
                                                   Long numbers, Long rows, Long row_length, Long sequence,          \
                                                   Long scale_and_shift, Long late_shift, const ELEMENT* firsts,     \
                                                   Long* changed) {                                                  \
    const Tensor tensor = {key, numbers, rows, row_length, sequence, scale_and_shift, late_shift};                   \
    const Long step = (Long)gridDim.x * blockDim.x;                                                                  \
    Word found = 0;                                                                                                  \
    for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {                               \
      if (in[i] != drawn_##TYPE(tables, tensor, firsts, i)) found = 1;                                               \
    }                                                                                                                \
    if (found != 0) atomicAdd(changed, 1ULL);                                                                        \
  }

__device__ inline bool is_nan_f32(Word bits) {
  return (bits & 0x7fffffffu) > 0x7f800000u;
}
__device__ inline bool is_nan_f16(Word bits) {
  return (bits & 0x7fffu) > 0x7c00u;
}
__device__ inline bool is_nan_bf16(Word bits) {
  return (bits & 0x7fffu) > 0x7f80u;
}

// counts[0]: elements that hold the pattern of 4 bytes that the buffer was filled with; counts[1]: NaNs, these too.
#define USELESS_ELEMENTS(TYPE, ELEMENT)                                                                              \
  __device__ inline void count_useless_##TYPE(const ELEMENT* in, Long count, Word pattern, Long* counts) {           \
    const Long step = (Long)gridDim.x * blockDim.x;                                                                  \
    Word unwritten = 0, nans = 0;                                                                                    \
    for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {                               \
      if (in[i] == (ELEMENT)(pattern >> (i * sizeof(ELEMENT) % 4 * 8))) ++unwritten;                                 \
      if (is_nan_##TYPE(in[i])) ++nans;                                                                              \
    }                                                                                                                \
    if (unwritten != 0) atomicAdd(&counts[0], (Long)unwritten);                                                      \
    if (nans != 0) atomicAdd(&counts[1], (Long)nans);                                                                \
  }                                                                                                                  \
  extern "C" __global__ void k_count_useless_##TYPE(const ELEMENT* in, Long count, Long pattern, Long* counts) {     \
    count_useless_##TYPE(in, count, (Word)pattern, counts);                                                          \
  }

USELESS_ELEMENTS(f32, Word)
USELESS_ELEMENTS(f16, unsigned short)
USELESS_ELEMENTS(bf16, unsigned short)
RANDOM_TENSORS(f32, Word)
RANDOM_TENSORS(f16, unsigned short)
RANDOM_TENSORS(bf16, unsigned short)
