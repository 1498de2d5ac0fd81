#include "device/opencl/pointer_memory.hpp"

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "device/opencl/pointer_origin.hpp"

namespace kw::opencl {
namespace {

using Forbidden = std::optional<std::string>;

constexpr const char* k_elsewhere = "keeps a pointer in memory that is not a variable of one work-item: keep an index";
constexpr const char* k_bytes =
    "could read the bytes of a pointer as something else: keep pointers in variables and arrays of their own, or keep "
    "indices";

/// What lies at an address, as its variable was declared.
struct Place {
  LlvmType type = nullptr;
  bool uniform = true;  ///< all of the variable is made of it: an index that is too large leads out of the variable

  bool operator==(const Place&) const = default;
};

std::string_view called_name(const LlvmApi& llvm, LlvmValue call) {
  std::size_t length = 0;
  const char* const name = llvm.get_value_name(llvm.get_called_value(call), &length);
  return {name, length};
}

/// Finds places; every step to one has to be by its declared type.
class Places {
 public:
  explicit Places(const LlvmApi& llvm) : llvm_(llvm) {}

  /// Nothing where a cast, or an index that might lead to another part, stands in between.
  std::optional<Place> at(LlvmValue address) {
    if (const auto known = known_.find(address); known != known_.end()) return known->second;
    known_[address] = std::nullopt;  // until it is known: a place that leads back to itself is none
    return known_[address] = find(address);
  }

 private:
  std::optional<Place> find(LlvmValue address) {
    if (llvm_.is_argument(address) != nullptr) return common(passed_for(llvm_, address));
    switch (opcode_of(llvm_, address)) {
      case LlvmOpcode::alloca:
        return Place{llvm_.get_allocated_type(address)};
      case LlvmOpcode::element:
        return element(address);
      case LlvmOpcode::space_cast:
        return at(llvm_.get_operand(address, 0));
      case LlvmOpcode::select:
        return common({llvm_.get_operand(address, 1), llvm_.get_operand(address, 2)});
      default:
        return std::nullopt;
    }
  }

  std::optional<Place> common(const std::vector<LlvmValue>& addresses) {
    std::optional<Place> place;
    for (LlvmValue one : addresses) {
      const auto other = at(one);
      if (!other || (place && *place != *other)) return std::nullopt;
      place = other;
    }
    return place;
  }

  /// A constant index that lies in the array.
  bool is_inside(LlvmValue index, LlvmType array) const {
    if (llvm_.is_constant_int(index) == nullptr) return false;
    const long long i = llvm_.const_int_get_sext_value(index);
    return i >= 0 && i < static_cast<long long>(llvm_.get_array_length(array));
  }

  std::optional<Place> element(LlvmValue address) {
    auto place = at(llvm_.get_operand(address, 0));
    if (!place || llvm_.get_gep_source_element_type(address) != place->type) return std::nullopt;
    for (int i = 1; i < llvm_.get_num_operands(address); ++i) {
      LlvmValue index = llvm_.get_operand(address, static_cast<unsigned>(i));
      if (i == 1) {
        if (!place->uniform && llvm_.is_null(index) == 0) return std::nullopt;
      } else if (const LlvmKind kind = llvm_.get_type_kind(place->type); kind == LlvmKind::array) {
        if (!place->uniform && !is_inside(index, place->type)) return std::nullopt;
        place->type = llvm_.get_element_type(place->type);
      } else if (kind == LlvmKind::structure) {
        const auto part = static_cast<unsigned>(llvm_.const_int_get_sext_value(index));
        place = Place{llvm_.struct_get_type_at_index(place->type, part), false};
      } else {
        return std::nullopt;
      }
    }
    return place;
  }

  const LlvmApi& llvm_;
  std::map<LlvmValue, std::optional<Place>> known_;
};

/// Follows everything that is done with the variables in which a pointer lies.
class Holders {
 public:
  Holders(const LlvmApi& llvm, LlvmLayout layout) : llvm_(llvm), layout_(layout), places_(llvm) {}

  /// The variables that `address` may be in, from now on as such that hold pointers; false when there are others.
  bool add(LlvmValue address) {
    for (LlvmValue root : origin_of(llvm_, layout_, address).roots) {
      if (opcode_of(llvm_, root) != LlvmOpcode::alloca) return false;
      open(root);
    }
    return true;
  }

  Forbidden follow() {
    while (!open_.empty()) {
      LlvmValue address = open_.back();
      open_.pop_back();
      for (LlvmUse use = llvm_.get_first_use(address); use != nullptr; use = llvm_.get_next_use(use)) {
        if (auto found = in_use(address, llvm_.get_user(use))) return found;
      }
    }
    return std::nullopt;
  }

 private:
  void open(LlvmValue address) {
    if (seen_.insert(address).second) open_.push_back(address);
  }

  Forbidden in_use(LlvmValue address, LlvmValue user) {
    switch (opcode_of(llvm_, user)) {
      case LlvmOpcode::element:
      case LlvmOpcode::bitcast:
      case LlvmOpcode::space_cast:
      case LlvmOpcode::select:
        open(user);
        return std::nullopt;
      case LlvmOpcode::compare:
        return std::nullopt;
      case LlvmOpcode::load:
        return in_access(address, user);
      case LlvmOpcode::store:
        if (llvm_.get_operand(user, 0) == address) return k_elsewhere;
        return in_access(address, llvm_.get_operand(user, 0));
      case LlvmOpcode::call:
        return in_call(address, user);
      default:
        return k_bytes;
    }
  }

  Forbidden in_access(LlvmValue address, LlvmValue moved) {
    const auto place = places_.at(address);
    return place && place->type == llvm_.type_of(moved) ? std::nullopt : Forbidden(k_bytes);
  }

  /// Without the cast to bytes that copies are written with.
  LlvmValue copied(LlvmValue call, unsigned operand) const {
    LlvmValue address = llvm_.get_operand(call, operand);
    return opcode_of(llvm_, address) == LlvmOpcode::bitcast ? llvm_.get_operand(address, 0) : address;
  }

  Forbidden in_call(LlvmValue address, LlvmValue call) {
    const std::string_view name = called_name(llvm_, call);
    if (name.starts_with("llvm.lifetime.") || name.starts_with("llvm.dbg.")) return std::nullopt;
    if (name.starts_with("llvm.memset.") && llvm_.is_null(llvm_.get_operand(call, 1)) != 0) return std::nullopt;
    if (name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.")) {
      const auto to = places_.at(copied(call, 0));
      const bool alike = to && to == places_.at(copied(call, 1));
      if (!alike) return k_bytes;
      return add(copied(call, 0)) && add(copied(call, 1)) ? std::nullopt : Forbidden(k_elsewhere);
    }
    LlvmValue called = llvm_.is_function(llvm_.get_called_value(call));
    if (called == nullptr) return k_elsewhere;
    if (llvm_.is_declaration(called) != 0) {
      // Events of copies are pointers to the compiler, and are waited for in a list.
      return name.starts_with("_Z17wait_group_events") ? std::nullopt : Forbidden(k_elsewhere);
    }
    for (unsigned i = 0; i < llvm_.count_params(called); ++i) {
      if (llvm_.get_operand(call, i) == address) open(llvm_.get_param(called, i));
    }
    return std::nullopt;
  }

  const LlvmApi& llvm_;
  LlvmLayout layout_;
  Places places_;
  std::set<LlvmValue> seen_;
  std::vector<LlvmValue> open_;
};

}  // namespace

bool holds_pointer(const LlvmApi& llvm, LlvmType type) {
  switch (llvm.get_type_kind(type)) {
    case LlvmKind::pointer:
      return true;
    case LlvmKind::array:
    case LlvmKind::vector:
      return holds_pointer(llvm, llvm.get_element_type(type));
    case LlvmKind::structure:
      for (unsigned i = 0; i < llvm.count_struct_element_types(type); ++i) {
        if (holds_pointer(llvm, llvm.struct_get_type_at_index(type, i))) return true;
      }
      return false;
    default:
      return false;
  }
}

Forbidden pointer_in_memory(const LlvmApi& llvm, LlvmLayout layout, LlvmValue access) {
  const LlvmOpcode opcode = llvm.get_instruction_opcode(access);
  const bool stores = opcode == LlvmOpcode::store;
  LlvmValue moved = opcode == LlvmOpcode::load ? access : llvm.get_operand(access, stores ? 0U : 1U);
  if (!holds_pointer(llvm, llvm.type_of(moved))) return std::nullopt;
  if (opcode != LlvmOpcode::load && !stores) return k_elsewhere;
  Holders holders(llvm, layout);
  if (!holders.add(llvm.get_operand(access, stores ? 1U : 0U))) return k_elsewhere;
  return holders.follow();
}

}  // namespace kw::opencl
