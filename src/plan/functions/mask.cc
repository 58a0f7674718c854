// mask_null, mask_default, mask_replace, mask_inner, mask_outer, mask_hash: functions that hide a value.
#include "plan/functions/mask.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/statement.h"
#include "plan/terms/functions.h"
#include "plan/terms/written_types.h"
#include "types/elements.h"
#include "types/leaves.h"
#include "types/number.h"
#include "types/text.h"
#include "types/uuid.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

// Masks also apply to nulls.
std::shared_ptr<Function> make(const FactoryCall& call, std::vector<TypePtr> arguments, TypePtr returns,
                               Function::Evaluate evaluate) {
  auto function = make_function(call, std::move(arguments), std::move(returns), evaluate);
  function->takes_nulls = true;
  return function;
}

// The type of the masked value, which may be any type. Returns `otherwise` for an argument without a type,
// such as null.
base::Result<TypePtr> masked_type(const FactoryCall& call, const char* parameters,
                                  const TypePtr& otherwise = nullptr) {
  const TypePtr& type = call.argument_types[0] != nullptr ? call.argument_types[0] : otherwise;
  if (type == nullptr) return unknown_argument_type(call, 0, parameters);
  return type;
}

// --- mask_null, mask_replace

base::Result<ValueView> give_null(const Function&, std::span<const ValueView>, const Bindings&, Scratch&) {
  return ValueView::null();
}

base::Result<FunctionPtr> make_null(const FactoryCall& call) {
  if (call.argument_types.size() != 1) return wrong_argument_count(call, "any");
  SIBYL_ASSIGN(const TypePtr type, masked_type(call, "any"));
  return make(call, {type}, type, give_null);
}

base::Result<ValueView> give_replacement(const Function&, std::span<const ValueView> arguments,
                                         const Bindings&, Scratch&) {
  return arguments[1];
}

base::Result<FunctionPtr> make_replace(const FactoryCall& call) {
  if (call.argument_types.size() != 2) return wrong_argument_count(call, "any, any");
  SIBYL_ASSIGN(const TypePtr type, masked_type(call, "any, any", call.receiver_type));
  return make(call, {type, type}, type, give_replacement);
}

// --- mask_default

Bytes default_value(const types::Type& type) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return "****";
    case Kind::boolean:
      return types::encode_boolean(false);
    case Kind::tinyint:
      return types::encode_int8(0);
    case Kind::smallint:
      return types::encode_int16(0);
    case Kind::int_:
      return types::encode_int32(0);
    case Kind::float_:
      return types::encode_float(0);
    case Kind::double_:
      return types::encode_double(0);
    case Kind::varint:
      return types::encode_varint(0);
    case Kind::decimal:
      return types::encode_decimal(0, 0);
    case Kind::date:
      return types::encode_date(0);
    case Kind::duration:
      return types::encode_duration({});
    case Kind::uuid:
      return Bytes(16, '\0');
    case Kind::timeuuid:
      return types::min_time_uuid(0);
    case Kind::inet:
      return Bytes(4, '\0');
    case Kind::bigint:
    case Kind::counter:
    case Kind::timestamp:
    case Kind::time:
      return types::encode_int64(0);
    case Kind::list:
    case Kind::set:
    case Kind::map:
      return types::join(type, {});
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector: {
      if (type.kind() == Kind::vector) {
        const Bytes element = default_value(*type.element());
        return types::join(type, types::Elements(type.dimension(), BytesView(element)));
      }
      std::vector<Bytes> parts;
      for (const TypePtr& component : type.parameters()) parts.push_back(default_value(*component));
      return types::join(type, types::Elements(parts.begin(), parts.end()));
    }
    default:
      return {};
  }
}

base::Result<ValueView> give_default(const Function& function, std::span<const ValueView>, const Bindings&,
                                     Scratch& scratch) {
  constexpr int64_t nanos_of_leaf = 40;
  base::count_work(static_cast<int64_t>(types::count_leaves(*function.returns)) * nanos_of_leaf);
  return kept(scratch, default_value(*function.returns));
}

base::Result<FunctionPtr> make_default(const FactoryCall& call) {
  if (call.argument_types.size() != 1) return wrong_argument_count(call, "any");
  SIBYL_ASSIGN(const TypePtr type, masked_type(call, "any"));
  SIBYL_TRY(check_type_size(*type, type->cql_name()));  // the table may be older than this limit
  return make(call, {type}, type, give_default);
}

// --- mask_inner, mask_outer

constexpr const char* partial_parameters = "[text|varchar|ascii], int, int, [text]";

// The offset of the character with this index, or the end of the text.
size_t offset_of_character(BytesView text, int64_t index) {
  for (size_t i = 0; i < text.size(); ++i)
    if (!types::continues_character(text[i]) && index-- == 0) return i;
  return text.size();
}

void append_repeated(Bytes& out, BytesView piece, int64_t times) {
  if (times <= 0) return;
  if (piece.size() == 1) {
    out.append(static_cast<size_t>(times), piece[0]);
    return;
  }
  for (int64_t i = 0; i < times; ++i) out += piece;
}

base::Result<ValueView> mask_part(const Function& function, std::span<const ValueView> arguments,
                                  const Bindings&, Scratch& scratch) {
  Bytes padding = "*";
  if (arguments.size() == 4 && arguments[3].is_present()) {
    padding.assign(arguments[3].bytes);
    const size_t length = types::count_characters(padding);
    if (length != 1)
      return invalid(
          fmt::format("The padding argument for function {} should be single-character, but '{}' has {} "
                      "characters.",
                      function.qualified_name(), padding, length));
  }
  if (!arguments[0].is_present()) return ValueView::null();
  const auto margin = [&](size_t index) {
    if (!arguments[index].is_present()) return int64_t{0};
    return std::max<int64_t>(0, types::decode_integer(Kind::int_, arguments[index].bytes));
  };
  const BytesView text = arguments[0].bytes;
  const auto count = static_cast<int64_t>(types::count_characters(text));
  const int64_t begin = std::min(margin(1), count), end = std::max(begin, count - margin(2));
  const size_t inner = offset_of_character(text, begin), after = offset_of_character(text, end);
  Bytes masked;
  masked.reserve(text.size());
  if (function.name == "mask_inner") {
    masked += text.substr(0, inner);
    append_repeated(masked, padding, end - begin);
    masked += text.substr(after);
  } else {
    append_repeated(masked, padding, begin);
    masked += text.substr(inner, after - inner);
    append_repeated(masked, padding, count - end);
  }
  return kept(scratch, std::move(masked));
}

base::Status check_argument(const FactoryCall& call, size_t index, std::initializer_list<Kind> allowed,
                            const char* what) {
  const TypePtr& type = call.argument_types[index];
  if (type == nullptr || std::find(allowed.begin(), allowed.end(), type->kind()) != allowed.end()) return {};
  return invalid(
      fmt::format("Function system.{} requires an argument of type {}, but found argument {} of type {}",
                  call.name, what, call.argument_texts[index], type->cql_name()));
}

base::Result<FunctionPtr> make_partial(const FactoryCall& call) {
  const size_t count = call.argument_types.size();
  if (count < 3 || count > 4) return wrong_argument_count(call, partial_parameters);
  SIBYL_TRY(check_argument(call, 0, {Kind::text, Kind::ascii}, "[text|varchar|ascii]"));
  SIBYL_TRY(check_argument(call, 1, {Kind::int_}, "int"));
  SIBYL_TRY(check_argument(call, 2, {Kind::int_}, "int"));
  if (count == 4) SIBYL_TRY(check_argument(call, 3, {Kind::text, Kind::ascii}, "text"));
  const TypePtr type = call.argument_types[0] != nullptr ? call.argument_types[0] : types::scalar(Kind::text);
  std::vector<TypePtr> arguments = {type, types::scalar(Kind::int_), types::scalar(Kind::int_)};
  if (count == 4) arguments.push_back(types::scalar(Kind::text));
  return make(call, std::move(arguments), type, mask_part);
}

// --- mask_hash

// Names of algorithms in Java (in any case) and the names of the same algorithms in OpenSSL.
constexpr std::array<std::pair<std::string_view, const char*>, 22> algorithms = {{
    {"MD5", "MD5"},
    {"SHA", "SHA1"},
    {"SHA1", "SHA1"},
    {"SHA-1", "SHA1"},
    {"SHA224", "SHA224"},
    {"SHA-224", "SHA224"},
    {"SHA256", "SHA256"},
    {"SHA-256", "SHA256"},
    {"SHA384", "SHA384"},
    {"SHA-384", "SHA384"},
    {"SHA512", "SHA512"},
    {"SHA-512", "SHA512"},
    {"SHA512/224", "SHA512-224"},
    {"SHA-512/224", "SHA512-224"},
    {"SHA512/256", "SHA512-256"},
    {"SHA-512/256", "SHA512-256"},
    {"SHA3-224", "SHA3-224"},
    {"SHA3-256", "SHA3-256"},
    {"SHA3-384", "SHA3-384"},
    {"SHA3-512", "SHA3-512"},
    {"OID.1.3.14.3.2.26", "SHA1"},
    {"1.3.14.3.2.26", "SHA1"},
}};

const EVP_MD* find_algorithm(BytesView name) {
  const std::string upper = base::ascii_upper(name);
  for (const auto& [java, openssl] : algorithms)
    if (java == upper) return EVP_get_digestbyname(openssl);
  return nullptr;
}

base::Result<ValueView> hash(const Function&, std::span<const ValueView> arguments, const Bindings&,
                             Scratch& scratch) {
  const EVP_MD* algorithm = EVP_sha256();
  if (arguments.size() == 2 && arguments[1].is_present()) {
    algorithm = find_algorithm(arguments[1].bytes);
    if (algorithm == nullptr) return invalid(fmt::format("Hash algorithm not found: {}", arguments[1].bytes));
  }
  if (!arguments[0].is_present()) return ValueView::null();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(arguments[0].bytes.data(), arguments[0].bytes.size(), digest.data(), &size, algorithm,
                 nullptr) != 1)
    return base::fail(base::ErrorCode::server, "The hash could not be computed");
  return kept(scratch, Bytes(reinterpret_cast<const char*>(digest.data()), size));
}

base::Result<FunctionPtr> make_hash(const FactoryCall& call) {
  constexpr const char* parameters = "any, [text]";
  const size_t count = call.argument_types.size();
  if (count < 1 || count > 2) return wrong_argument_count(call, parameters);
  if (call.argument_types[0] == nullptr) return unknown_argument_type(call, 0, parameters);
  if (count == 2) SIBYL_TRY(check_argument(call, 1, {Kind::text, Kind::ascii}, "text"));
  std::vector<TypePtr> arguments = {call.argument_types[0]};
  if (count == 2) arguments.push_back(types::scalar(Kind::text));
  auto function = make(call, std::move(arguments), types::scalar(Kind::blob), hash);
  function->takes_empty = true;
  return function;
}

}  // namespace

void add_mask_functions(FunctionRegistry& registry) {
  registry.add_factory("mask_null", make_null);
  registry.add_factory("mask_default", make_default);
  registry.add_factory("mask_replace", make_replace);
  registry.add_factory("mask_inner", make_partial);
  registry.add_factory("mask_outer", make_partial);
  registry.add_factory("mask_hash", make_hash);
}

}  // namespace sibyl::plan
