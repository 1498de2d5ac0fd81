// Calls that people do write, and why they cannot work here. A method is listed as torch.NAME.

#include <array>

#include "mod/frontend/call_table.hpp"

namespace kw {
namespace {

constexpr std::string_view k_one_score = "a mod sees one score at a time and cannot reduce over a row";
constexpr std::string_view k_no_random = "every run of a kernel must give the same result";
constexpr std::string_view k_no_dropout = "leave dropout out of the mod";
constexpr std::string_view k_in_kernel = "the value is only known in the kernel";
constexpr std::string_view k_no_tensors = "tensors cannot be made in a mod";
constexpr std::string_view k_declare = "declare it under [tensors] in the problem file and index it here";
constexpr std::string_view k_written_out = "kernels have no such operation here";
constexpr std::array<RefusedCall, 49> k_refused_calls = {{
    {"print", "a kernel cannot print", "leave it out"},
    {"isinstance", "types of Python are not read", "compare with None, or pass a flag"},
    {"type", "types of Python are not read", "compare with None, or pass a flag"},
    {"getattr", "attributes are read by name only", "write value.name"},
    {"hasattr", "attributes are read by name only", "compare with None, or pass a flag"},
    {"dict", "dictionaries are not read", "use plain names, or a tuple"},
    {"set", "sets are not read", "use a tuple"},
    {"str", "texts are not read", "leave it out"},
    {"torch.item", k_in_kernel, "use it directly, without .item()"},
    {"torch.tolist", k_in_kernel, "use it directly"},
    {"torch.numpy", k_in_kernel, "use it directly"},
    {"torch.rand", k_no_random, k_no_dropout},
    {"torch.rand_like", k_no_random, k_no_dropout},
    {"torch.randn", k_no_random, k_no_dropout},
    {"torch.randint", k_no_random, k_no_dropout},
    {"torch.bernoulli", k_no_random, k_no_dropout},
    {"torch.dropout", k_no_random, k_no_dropout},
    {"torch.sum", k_one_score, "write the terms out"},
    {"torch.mean", k_one_score, "write the terms out"},
    {"torch.any", k_one_score, "index each element in a 'for' over a range and join the terms with '|'"},
    {"torch.all", k_one_score, "index each element in a 'for' over a range and join the terms with '&'"},
    {"torch.argmax", k_one_score, "write the terms out"},
    {"torch.cumsum", k_one_score, k_declare},
    {"torch.dot", k_one_score, "only per-score values are available"},
    {"torch.matmul", k_one_score, "only per-score values are available"},
    {"torch.softmax", k_one_score, "attention applies the softmax after the mod"},
    {"torch.arange", k_no_tensors, "compute from q_idx and kv_idx"},
    {"torch.zeros", k_no_tensors, k_declare},
    {"torch.ones", k_no_tensors, k_declare},
    {"torch.full", k_no_tensors, k_declare},
    {"torch.empty", k_no_tensors, k_declare},
    {"torch.stack", k_no_tensors, "keep the values in a tuple"},
    {"torch.cat", k_no_tensors, "keep the values in a tuple"},
    {"torch.repeat_interleave", k_no_tensors, k_declare},
    {"torch.searchsorted", k_no_tensors, "put the result under [tensors] in the problem file and index it"},
    {"torch.index_select", "a mod reads single elements", "index the tensor, as in table[q_idx]"},
    {"torch.gather", "a mod reads single elements", "index the tensor, as in table[q_idx]"},
    {"torch.sinh", k_written_out, "write 0.5 * (torch.exp(x) - torch.exp(-x))"},
    {"torch.cosh", k_written_out, "write 0.5 * (torch.exp(x) + torch.exp(-x))"},
    {"torch.log10", k_written_out, "write torch.log(x) / math.log(10)"},
    {"torch.erfc", k_written_out, "write 1 - torch.erf(x)"},
    {"torch.frac", k_written_out, "write x - torch.trunc(x)"},
    {"torch.hypot", k_written_out, "write torch.sqrt(x * x + y * y)"},
    {"torch.lerp", k_written_out, "write x + weight * (y - x)"},
    {"torch.masked_fill", k_written_out, "write torch.where(mask, value, x)"},
    {"torch.rint", "PyTorch has no such function", "write torch.round(x)"},
    {"torch.isin", k_written_out, "write (x == a) | (x == b)"},
    {"torch.isnan", "finite inputs never give one", "leave the check out"},
    {"torch.vmap", "a mod describes one score", "write the function of one score"},
}};
constexpr RefusedCall k_random_call = {"random", k_no_random, k_no_dropout};

}  // namespace

std::span<const RefusedCall> refused_calls() {
  return k_refused_calls;
}

const RefusedCall* refused_call(std::string_view path) {
  for (const auto& refused : k_refused_calls) {
    if (refused.path == path) return &refused;
  }
  return path.starts_with("torch.random.") || path.starts_with("random.") ? &k_random_call : nullptr;
}

}  // namespace kw
