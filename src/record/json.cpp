#include "record/json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/byte_text.hpp"
#include "base/utf8.hpp"
#include "record/run_fields.hpp"
#include "record/turn_fields.hpp"
#include "record/verify_request.hpp"

namespace kw {

/// A VerifyRequest as it travels: the candidate as text, so that what arrives is parsed like any other bundle.
struct VerifyRequestText {
  std::optional<ProblemSource> problem_source;
  Hash problem_id;
  std::string bundle;
  IntBindings tunables;
  std::uint64_t suite_seed = 0;
  std::optional<std::int64_t> budget_ns;
};

template <typename V, AnyConst<VerifyRequestText> T>
void fields(V& visit, T& r) {
  visit("problem_source", r.problem_source);
  visit("problem_id", r.problem_id);
  visit("bundle", r.bundle);
  visit("tunables", r.tunables);
  visit("suite_seed", r.suite_seed);
  visit("budget_ns", r.budget_ns);
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t k_format = 1;

template <typename T>
concept Enum = std::is_enum_v<T>;
template <typename T>
concept Integer = std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;
template <typename T>
inline constexpr bool k_optional = false;
template <typename T>
inline constexpr bool k_optional<std::optional<T>> = true;

/// Collects the fields of one record into an object.
class Writer {
 public:
  template <typename T>
  void operator()(const char* key, const T& value) {
    object_[key] = write(value);
  }
  template <typename T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) object_[key] = write(*value);
  }
  template <typename T>
  void unless_empty(const char* key, const std::vector<T>& items) {
    if (!items.empty()) object_[key] = write(items);
  }
  [[nodiscard]] Json finish() { return std::move(object_); }

  template <typename T>
  static Json write(const T& record) {
    Writer writer;
    fields(writer, record);
    return writer.finish();
  }
  static Json write(const bool& value) { return value; }
  template <Integer T>
  static Json write(const T& value) {
    return value;
  }
  template <Enum T>
  static Json write(const T& value) {
    return static_cast<std::int64_t>(value);
  }
  static Json write(const double& value) {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  static Json write(const std::string& text) {
    if (!first_non_text_byte(text)) return text;
    return Json{{"latin1", latin1_to_utf8(text)}};
  }
  static Json write(const Hash& hash) { return hash.hex(); }
  template <typename T>
  static Json write(const std::vector<T>& items) {
    Json array = Json::array();
    for (const auto& item : items) array.push_back(write(item));
    return array;
  }
  static Json write(const std::pair<std::string, std::string>& pair) {
    return Json::array({write(pair.first), write(pair.second)});
  }
  static Json write(const IntBindings& bindings) {
    Json object = Json::object();
    for (const auto& [name, value] : bindings) object[name] = value;
    return object;
  }

 private:
  Json object_ = Json::object();
};

/// Takes the fields of one record out of an object; the first thing that is wrong is kept, with its path.
class Reader {
 public:
  explicit Reader(std::string kind) : path_(std::move(kind)) {}

  template <typename T>
  void operator()(const char* key, T& value) {
    if (error_) return;
    const auto found = object_->find(key);
    if (found == object_->end()) {
      if constexpr (!k_optional<T>) refuse(path_ + "." + key, "is missing");
      return;
    }
    within(std::string(".") + key, [&] { read(*found, value); });
  }

  template <typename T>
  void unless_empty(const char* key, std::vector<T>& items) {
    if (!error_ && object_->contains(key)) (*this)(key, items);
  }

  template <typename T>
  void read(const Json& json, T& record) {
    if (!json.is_object()) return expected("an object", json);
    const Json* const outer = std::exchange(object_, &json);
    fields(*this, record);
    object_ = outer;
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void refuse(const std::string& path, std::string_view what) {
    if (error_) return;
    error_ = Error{errc::record_decode, fmt::format("stored record: {} {}", path, what),
                   "it was written by a newer program, or the file is damaged"};
  }
  void expected(std::string_view what, const Json& json) {
    refuse(path_, fmt::format("is {} {}, expected {}", json.is_object() || json.is_array() ? "an" : "a",
                              json.type_name(), what));
  }
  template <typename F>
  void within(const std::string& step, F&& body) {
    const std::size_t length = path_.size();
    path_ += step;
    body();
    path_.resize(length);
  }

  void read(const Json& json, bool& value) {
    if (!json.is_boolean()) return expected("true or false", json);
    value = json.get<bool>();
  }
  template <Integer T>
  void read(const Json& json, T& value) {
    if (!json.is_number_integer()) return expected("a whole number", json);
    const bool fits = json.is_number_unsigned()
                          ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())
                          : std::is_signed_v<T>;
    if (!fits) return refuse(path_, fmt::format("is {}, which is out of range", json.dump()));
    value = json.get<T>();
  }
  template <Enum T>
  void read(const Json& json, T& value) {
    std::int64_t number = 0;
    read(json, number);
    for (const T known : k_known_values<T>) {
      if (static_cast<std::int64_t>(known) == number) {
        value = known;
        return;
      }
    }
    refuse(path_, fmt::format("has the value {}, which this program does not know", number));
  }
  void read(const Json& json, double& value) {
    constexpr double k_infinity = std::numeric_limits<double>::infinity();
    if (json == "inf") {
      value = k_infinity;
    } else if (json == "-inf") {
      value = -k_infinity;
    } else if (json == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (json.is_number()) {
      value = json.get<double>();
    } else {
      expected("a number", json);
    }
  }
  void read(const Json& json, std::string& text) {
    if (json.is_string()) {
      text = json.get<std::string>();
      return;
    }
    const auto bytes = json.is_object() ? json.find("latin1") : json.end();
    if (bytes == json.end() || !bytes->is_string()) return expected("a string", json);
    auto decoded = utf8_to_latin1(bytes->get_ref<const std::string&>());
    if (!decoded) return refuse(path_ + ".latin1", "holds a character that is not a byte");
    text = *std::move(decoded);
  }
  void read(const Json& json, Hash& hash) {
    std::string text;
    read(json, text);
    if (error_) return;
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    if (text.size() != 64 || !std::all_of(text.begin(), text.end(), [&](char c) { return digit(c) >= 0; })) {
      return refuse(path_, "is not 64 lower-case hexadecimal digits");
    }
    for (std::size_t i = 0; i < hash.bytes.size(); ++i) {
      hash.bytes[i] = static_cast<std::uint8_t>(digit(text[2 * i]) * 16 + digit(text[2 * i + 1]));
    }
  }
  template <typename T>
  void read(const Json& json, std::optional<T>& value) {
    if (json.is_null()) {
      value.reset();
      return;
    }
    read(json, value.emplace());
  }
  template <typename T>
  void read(const Json& json, std::vector<T>& items) {
    if (!json.is_array()) return expected("an array", json);
    items.clear();
    for (const auto& item : json) {
      within(fmt::format("[{}]", items.size()), [&] { read(item, items.emplace_back()); });
      if (error_) return;
    }
  }
  void read(const Json& json, std::pair<std::string, std::string>& pair) {
    if (!json.is_array() || json.size() != 2) return expected("an array of two strings", json);
    read(json[0], pair.first);
    read(json[1], pair.second);
  }
  void read(const Json& json, IntBindings& bindings) {
    if (!json.is_object()) return expected("an object", json);
    bindings.clear();
    for (const auto& item : json.items()) {
      within("." + item.key(), [&] { read(item.value(), bindings[item.key()]); });
    }
  }

  std::string path_;
  const Json* object_ = nullptr;
  std::optional<Error> error_;
};

/// Values are always text by now; only a name used as a key could still be bytes, and losing those beats throwing.
std::string print(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SourcePlace place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(text.size(), byte > 0 ? byte - 1 : 0));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column = last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return {"", static_cast<int>(lines) + 1, static_cast<int>(column) + 1};
}

Result<Json> parse_object(std::string_view text, const std::string& kind) {
  try {
    Json json = Json::parse(text);
    if (json.is_object()) return json;
    return fail(errc::record_decode, "stored record: {} is not an object but of type {}", kind, json.type_name());
  } catch (const Json::parse_error& error) {
    return fail(Error{errc::record_decode, fmt::format("stored record: {} is not JSON", kind),
                      "the file is damaged or was cut short", place_of(text, error.byte)});
  } catch (const Json::exception& error) {
    return fail(errc::record_decode, "stored record: {} cannot be read: {}", kind, error.what());
  }
}

Result<void> check_header(const Json& json, const std::string& kind) {
  const auto format = json.find("format");
  if (format == json.end() || !format->is_number_integer()) {
    return fail(errc::record_decode, "stored record: {}.format is missing", kind);
  }
  if (*format != k_format) {
    return fail(Error{
        errc::record_decode,
        fmt::format("stored record: {} has format {}, this program reads format {}", kind, format->dump(), k_format),
        "read it with the program that wrote it, or a newer one"});
  }
  const auto found = json.find("record");
  if (found == json.end() || *found != kind) {
    return fail(errc::record_decode, "stored record: expected a record of \"{}\", found {}", kind,
                found == json.end() ? "none" : print(*found));
  }
  return {};
}

template <typename T>
Json to_json(const T& record, const char* kind) {
  Json json{{"format", k_format}, {"record", kind}};
  json.update(Writer::write(record));
  return json;
}

template <typename T>
Result<T> from_json(const Json& json, const std::string& kind) {
  KW_TRY_VOID(check_header(json, kind));
  T record;
  Reader reader(kind);
  reader.read(json, record);
  if (reader.error()) return fail(*reader.error());
  return record;
}

template <typename T>
Result<T> decode(std::string_view text, const char* kind) {
  KW_TRY(const Json json, parse_object(text, kind));
  return from_json<T>(json, kind);
}

}  // namespace

std::string encode(const Attempt& attempt) {
  return print(to_json(attempt, "attempt"));
}
std::string encode(const RunRecord& run) {
  return print(to_json(run, "run"));
}
std::string encode(const Turn& turn) {
  return print(to_json(turn, "turn"));
}
std::string encode(const Verdict& verdict) {
  return print(to_json(verdict, "verdict"));
}
std::string encode(const Measurement& measurement) {
  return print(to_json(measurement, "measurement"));
}
std::string encode(const DeviceFacts& facts) {
  return print(to_json(facts, "device_facts"));
}
std::string encode(const BuildReport& report) {
  return print(to_json(report, "build_report"));
}
std::string encode(const ProblemSource& source) {
  return print(to_json(source, "problem_source"));
}

std::string encode(const VerifyRequest& request) {
  const Candidate& candidate = request.candidate;
  VerifyRequestText text{request.problem,    request.problem_id, candidate.bundle.to_text(),
                         candidate.tunables, request.suite_seed, std::nullopt};
  if (request.budget) text.budget_ns = request.budget->count();
  return print(to_json(text, "verify_request"));
}

Result<Attempt> decode_attempt(std::string_view json) {
  return decode<Attempt>(json, "attempt");
}
Result<RunRecord> decode_run(std::string_view json) {
  return decode<RunRecord>(json, "run");
}
Result<Turn> decode_turn(std::string_view json) {
  return decode<Turn>(json, "turn");
}
Result<Verdict> decode_verdict(std::string_view json) {
  return decode<Verdict>(json, "verdict");
}
Result<Measurement> decode_measurement(std::string_view json) {
  return decode<Measurement>(json, "measurement");
}
Result<DeviceFacts> decode_device_facts(std::string_view json) {
  return decode<DeviceFacts>(json, "device_facts");
}
Result<BuildReport> decode_build_report(std::string_view json) {
  return decode<BuildReport>(json, "build_report");
}
Result<ProblemSource> decode_problem_source(std::string_view json) {
  return decode<ProblemSource>(json, "problem_source");
}

Result<VerifyRequest> decode_verify_request(std::string_view json) {
  if (json.size() > k_max_request_bytes) {
    return fail(errc::record_decode, "stored record: verify_request has {} bytes, at most {} are read", json.size(),
                k_max_request_bytes);
  }
  KW_TRY(auto text, decode<VerifyRequestText>(json, "verify_request"));
  KW_TRY(auto bundle, parse_bundle(text.bundle, "the bundle of a request"));
  KW_TRY(auto candidate, make_candidate(std::move(bundle), text.tunables));
  if (candidate.tunables != text.tunables) {
    return fail(errc::record_decode, "stored record: verify_request.tunables does not assign every tunable");
  }
  if (text.budget_ns && *text.budget_ns <= 0) {
    return fail(errc::record_decode, "stored record: verify_request.budget_ns is not above zero");
  }
  VerifyRequest request{std::move(text.problem_source), text.problem_id, std::move(candidate), text.suite_seed, {}};
  if (text.budget_ns) request.budget = Duration(*text.budget_ns);
  return request;
}

AttemptParts encode_apart(const Attempt& attempt) {
  Json json = to_json(attempt, "attempt");
  json["candidate"].erase("bundle");
  return {print(json), print(to_json(attempt.candidate.bundle, "bundle"))};
}

Result<Attempt> decode_apart(const AttemptParts& parts) {
  KW_TRY(Json json, parse_object(parts.attempt, "attempt"));
  KW_TRY(Json bundle, parse_object(parts.bundle, "bundle"));
  KW_TRY_VOID(check_header(bundle, "bundle"));
  const auto candidate = json.find("candidate");
  if (candidate == json.end() || !candidate->is_object()) {
    return fail(errc::record_decode, "stored record: attempt.candidate is missing");
  }
  (*candidate)["bundle"] = std::move(bundle);
  return from_json<Attempt>(json, "attempt");
}

RunParts encode_apart(const RunRecord& run) {
  Json json = to_json(run, "run");
  json.erase("problem_source");
  std::optional<std::string> source;
  if (run.problem_source) source = encode(*run.problem_source);
  return {print(json), std::move(source)};
}

Result<RunRecord> decode_apart(const RunParts& parts) {
  KW_TRY(auto run, decode_run(parts.run));
  if (parts.problem_source) {
    KW_TRY(run.problem_source, decode_problem_source(*parts.problem_source));
  }
  return run;
}

}  // namespace kw
