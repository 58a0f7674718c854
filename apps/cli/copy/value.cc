#include "cli/copy/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "types/elements.h"
#include "types/identifier.h"
#include "types/literals/literal.h"
#include "types/print.h"
#include "types/validate.h"
#include "types/value.h"

namespace sibyl::cli::copy {
namespace {

using base::Bytes;
using base::BytesView;
using types::Kind;
using types::Type;

constexpr int64_t nanoseconds_per_day = 86'400'000'000'000;

bool is_text(const Type& type) {
  return type.kind() == Kind::text || type.kind() == Kind::ascii;
}

bool is_compound(const Type& type) {
  switch (type.kind()) {
    case Kind::list:
    case Kind::set:
    case Kind::map:
    case Kind::tuple:
    case Kind::udt:
    case Kind::vector:
      return true;
    default:
      return false;
  }
}

// --- Writing

// As in cqlsh: years without four digits are printed as milliseconds.
std::string timestamp_text(int64_t millis) {
  constexpr int64_t first = -62'135'596'800'000, beyond = 253'402'300'800'000;  // years 1 and 10000
  if (millis < first || millis >= beyond) return std::to_string(millis);
  std::string text = types::format_timestamp(millis);  // 2011-02-03T04:05:06.789Z
  if (text.size() != 24) return std::to_string(millis);
  text[10] = ' ';
  text.replace(23, 1, "+0000");
  return text;
}

std::string scalar_text(const Type& type, BytesView bytes) {
  switch (type.kind()) {
    case Kind::text:
    case Kind::ascii:
      return std::string(bytes);
    case Kind::blob:
    case Kind::custom:
      return "0x" + base::to_hex(bytes);
    case Kind::boolean:
      return types::decode_boolean(bytes) ? "True" : "False";
    case Kind::float_:
      return types::format_float(types::decode_float(bytes));
    case Kind::double_:
      return types::format_double(types::decode_double(bytes));
    case Kind::timestamp:
      return timestamp_text(types::decode_integer(Kind::timestamp, bytes));
    case Kind::duration: {
      const std::string text = types::format_duration(types::decode_duration(bytes));
      return text.empty() ? "0s" : text;
    }
    case Kind::date:
      return types::format_date(types::decode_date(bytes));
    case Kind::time: {
      const int64_t nanoseconds = types::decode_integer(Kind::time, bytes);
      // Drivers can send values that are not a time of day.
      if (nanoseconds < 0 || nanoseconds >= nanoseconds_per_day) return std::to_string(nanoseconds);
      return types::format_time(nanoseconds);
    }
    case Kind::decimal:
      return types::format_decimal(bytes);
    case Kind::varint:
      return types::format_varint(bytes);
    case Kind::inet:
      return types::format_inet(bytes);
    case Kind::uuid:
    case Kind::timeuuid:
      return types::format_uuid(bytes);
    default:
      return std::to_string(types::decode_integer(type.kind(), bytes));
  }
}

// Returns true for types that are quoted inside others, because they contain colons or would be ambiguous.
bool is_quoted_inside(Kind kind) {
  return kind == Kind::text || kind == Kind::ascii || kind == Kind::inet || kind == Kind::timestamp ||
         kind == Kind::time;
}

std::string compound_text(const Type& type, BytesView bytes);

std::string inner_text(const Type& type, const std::optional<BytesView>& value) {
  if (!value) return {};
  if (value->empty() && type.kind() != Kind::blob && type.kind() != Kind::custom) return "''";
  if (is_compound(type)) return compound_text(type, *value);
  const std::string text = scalar_text(type, *value);
  return is_quoted_inside(type.kind()) ? types::quote_string(text) : text;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string compound_text(const Type& type, BytesView bytes) {
  const Kind kind = type.kind();
  const auto elements = types::split(type, bytes);
  if (!elements) return "0x" + base::to_hex(bytes);
  std::string out(1, kind == Kind::list || kind == Kind::vector ? '[' : kind == Kind::tuple ? '(' : '{');
  bool first = true;
  const auto separate = [&] {
    if (!first) out += ", ";
    first = false;
  };
  for (size_t i = 0; i < elements->size(); ++i) {
    const auto& element = (*elements)[i];
    if (kind == Kind::udt) {
      if (!element) continue;  // a field that is omitted is null
      separate();
      const std::string& name = type.field_names()[i];
      out += (is_plain_name(name) ? name : types::quote_string(name)) + ": " +
             inner_text(*type.parameters()[i], element);
    } else if (kind == Kind::map) {
      if (i % 2 == 0) separate();
      out += inner_text(*type.parameters()[i % 2], element) + (i % 2 == 0 ? ": " : "");
    } else {
      separate();
      out += inner_text(kind == Kind::tuple ? *type.parameters()[i] : *type.element(), element);
    }
  }
  out += kind == Kind::list || kind == Kind::vector ? ']' : kind == Kind::tuple ? ')' : '}';
  return out;
}

// --- Reading

base::Result<Bytes> parse_scalar(const Type& type, std::string_view text) {
  if (is_text(type)) return Bytes(text);
  if (type.kind() == Kind::blob || type.kind() == Kind::custom) {
    if (!text.starts_with("0x") && !text.starts_with("0X"))
      return base::invalid(fmt::format("'{}' is not a blob: it does not begin with 0x", text));
    return types::from_string(*types::scalar(Kind::blob), text.substr(2));
  }
  if (int64_t nanoseconds = 0; type.kind() == Kind::time) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nanoseconds);
    if (error == std::errc() && end == text.data() + text.size()) return types::encode_int64(nanoseconds);
  }
  return types::from_string(type, text);
}

class CompoundParser {
 public:
  explicit CompoundParser(std::string_view text) : text_(text) {}

  base::Result<Bytes> whole(const Type& type) {
    SIBYL_ASSIGN(Bytes value, compound(type));
    skip_spaces();
    if (at_ != text_.size()) return wrong("there is text after the end");
    return value;
  }

 private:
  using Parts = std::vector<std::optional<Bytes>>;

  base::Result<Bytes> compound(const Type& type) {
    const char open = type.kind() == Kind::tuple                                 ? '('
                      : type.kind() == Kind::list || type.kind() == Kind::vector ? '['
                                                                                 : '{';
    if (!take(open)) return wrong(fmt::format("a {} must begin with {}", type.cql_name(), open));
    const char close = open == '(' ? ')' : open == '[' ? ']' : '}';
    Parts parts;
    if (type.kind() == Kind::udt) parts.resize(type.parameters().size());
    // A tuple has at least one component, so empty parentheses contain a null.
    if (type.kind() != Kind::tuple && take(close)) return put_together(type, parts);
    for (;;) {
      SIBYL_TRY(type.kind() == Kind::udt ? field(type, parts) : element(type, parts));
      if (take(',')) continue;
      if (take(close)) break;
      return wrong(fmt::format("expected , or {}", close));
    }
    return put_together(type, parts);
  }

  base::Status element(const Type& type, Parts& parts) {
    if (type.kind() == Kind::map) {
      SIBYL_ASSIGN(std::optional<Bytes> key, value_of(*type.map_key(), true));
      if (!take(':')) return wrong_status("a map key must be followed by :");
      parts.push_back(std::move(key));
      SIBYL_ASSIGN(std::optional<Bytes> value, value_of(*type.map_value(), false));
      parts.push_back(std::move(value));
      return {};
    }
    const bool by_position = type.kind() == Kind::tuple;
    if (by_position && parts.size() >= type.parameters().size())
      return wrong_status(fmt::format("it has more than {} components", type.parameters().size()));
    SIBYL_ASSIGN(std::optional<Bytes> value,
                 value_of(by_position ? *type.parameters()[parts.size()] : *type.element(), false));
    parts.push_back(std::move(value));
    return {};
  }

  base::Status field(const Type& type, Parts& parts) {
    skip_spaces();
    std::string name;
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      SIBYL_ASSIGN(name, quoted());
    } else {
      const size_t end = std::min(text_.find(':', at_), text_.size());
      name = text_.substr(at_, end - at_);
      while (!name.empty() && name.back() == ' ') name.pop_back();
      at_ = end;
    }
    const int index = type.field_index(name);
    if (index < 0) return wrong_status(fmt::format("'{}' is not a field of {}", name, type.cql_name()));
    if (!take(':')) return wrong_status("a field name must be followed by :");
    SIBYL_ASSIGN(parts[static_cast<size_t>(index)],
                 value_of(*type.parameters()[static_cast<size_t>(index)], false));
    return {};
  }

  // An empty text is null.
  base::Result<std::optional<Bytes>> value_of(const Type& type, bool is_key) {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '\'') {
      SIBYL_ASSIGN(const std::string text, quoted());
      if (text.empty()) return std::optional<Bytes>(Bytes());
      if (is_compound(type)) return wrong(fmt::format("'{}' is not a valid {}", text, type.cql_name()));
      SIBYL_ASSIGN(Bytes value, parse_scalar(type, text));
      return std::optional<Bytes>(std::move(value));
    }
    if (is_compound(type) && at_ < text_.size() &&
        std::string_view("([{").find(text_[at_]) != std::string_view::npos) {
      SIBYL_ASSIGN(Bytes value, compound(type));
      return std::optional<Bytes>(std::move(value));
    }
    const std::string_view text = bare(is_key);
    if (text.empty()) return std::optional<Bytes>();
    if (is_compound(type)) return wrong(fmt::format("'{}' is not a valid {}", text, type.cql_name()));
    SIBYL_ASSIGN(Bytes value, parse_scalar(type, text));
    return std::optional<Bytes>(std::move(value));
  }

  // Reads up to the end of a value. A key may contain colons, so it ends at a colon followed by a space, if
  // there is one.
  std::string_view bare(bool is_key) {
    const std::string_view rest = text_.substr(at_);
    size_t end = rest.find_first_of(",)]}");
    if (is_key) {
      const std::string_view entry = rest.substr(0, end);
      end = std::min(entry.find(": "), entry.size());
      if (end == entry.size()) end = std::min(entry.find(':'), entry.size());
    }
    end = std::min(end, rest.size());
    std::string_view text = rest.substr(0, end);
    at_ += end;
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
  }

  base::Result<std::string> quoted() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != quote) {
        out += c;
      } else if (at_ < text_.size() && text_[at_] == quote) {
        out += c;
        ++at_;
      } else {
        return out;
      }
    }
    return base::fail(wrong_status("a quoted text is not closed").error());
  }

  static base::Result<Bytes> put_together(const Type& type, const Parts& parts) {
    types::Elements elements;
    for (const auto& part : parts) elements.push_back(part ? std::optional<BytesView>(*part) : std::nullopt);
    if (type.is_collection() && std::find(elements.begin(), elements.end(), std::nullopt) != elements.end())
      return base::invalid(fmt::format("null is not supported inside a {}", type.cql_name()));
    if (type.kind() == Kind::vector &&
        (elements.size() != type.dimension() ||
         std::find(elements.begin(), elements.end(), std::nullopt) != elements.end()))
      return base::invalid(
          fmt::format("a {} has {} elements, not {}", type.cql_name(), type.dimension(), elements.size()));
    if (type.kind() == Kind::set || type.kind() == Kind::map) types::normalise(type, elements);
    return types::join(type, elements);
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  base::Status wrong_status(const std::string& why) const {
    return base::invalid(fmt::format("'{}' cannot be read: {}, at character {}", text_, why, at_ + 1));
  }
  std::unexpected<base::Error> wrong(const std::string& why) const {
    return base::fail(wrong_status(why).error());
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string to_text(const Type& type, BytesView bytes) {
  if (bytes.empty() && !is_text(type) && type.kind() != Kind::blob && type.kind() != Kind::custom)
    return "''";
  if (is_compound(type)) return compound_text(type, bytes);
  return scalar_text(type, bytes);
}

base::Result<Bytes> from_text(const Type& type, std::string_view text) {
  if (!is_text(type) && text == "''") return Bytes();
  base::Result<Bytes> value = is_compound(type) ? CompoundParser(text).whole(type) : parse_scalar(type, text);
  if (!value) return value;
  SIBYL_TRY(types::validate(type, *value));
  return value;
}

}  // namespace sibyl::cli::copy
