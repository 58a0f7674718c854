// java.lang.String. Positions count UTF-16 units.
#include "plan/java/string_methods.h"

#include <fmt/format.h>
#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>

#include "plan/java/conversions.h"
#include "plan/java/methods.h"

namespace sibyl::plan::java {
namespace {

using Values = std::vector<Value>;  // the text, then the arguments
using Method = base::Result<Value> (*)(const Values& values);

// The parameters of a method: s a String, i an int, c a char, o a String that may be null.
struct StringMethod {
  std::string_view name, parameters;
  JavaKind result;
  Method call;
};

base::Result<Value> truth(bool value) {
  return of_integer(value ? 1 : 0);
}

std::unexpected<base::Error> out_of_bounds(const std::string& text) {
  return thrown("java.lang.StringIndexOutOfBoundsException: " + text);
}

base::Result<Value> substring(const std::u16string& text, int64_t begin, int64_t end) {
  const auto length = static_cast<int64_t>(text.size());
  if (begin < 0 || begin > end || end > length)
    return out_of_bounds(fmt::format("begin {}, end {}, length {}", begin, end, length));
  return of_text(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

// Limits the work of a search, which may compare each unit of one text with each unit of the other.
base::Status check_search(const std::u16string& text, const std::u16string& part) {
  if (text.size() < (1u << 30) / std::max<size_t>(part.size(), 1)) return {};
  return thrown("java.lang.IllegalStateException: a search in texts of this size is not supported");
}

base::Result<Value> position(size_t found) {
  return of_integer(found == std::u16string::npos ? -1 : static_cast<int64_t>(found));
}

icu::UnicodeString unicode(const std::u16string& text) {
  return {text.data(), static_cast<int32_t>(text.size())};
}
base::Result<Value> plain(const icu::UnicodeString& text) {
  return checked_text(std::u16string(text.getBuffer(), static_cast<size_t>(text.length())));
}

// Removes units up to U+0020 at both ends.
std::u16string trimmed(const std::u16string& text) {
  const auto is_kept = [](char16_t unit) { return unit > u' '; };
  const auto begin = std::find_if(text.begin(), text.end(), is_kept);
  const auto end = std::find_if(text.rbegin(), std::make_reverse_iterator(begin), is_kept).base();
  return {begin, end};
}

// An empty text is found before every unit and at the end.
std::u16string inserted(const std::u16string& text, const std::u16string& to) {
  std::u16string out = to;
  for (const char16_t unit : text) {
    out += unit;
    out += to;
    if (out.size() > max_text_units) break;
  }
  return out;
}

base::Result<Value> replaced(const std::u16string& text, const std::u16string& from,
                             const std::u16string& to) {
  if (from.empty()) return checked_text(inserted(text, to));
  std::u16string out;
  size_t at = 0;
  for (size_t found = text.find(from); found != text.npos && out.size() <= max_text_units;
       found = text.find(from, at)) {
    out.append(text, at, found - at).append(to);
    at = found + from.size();
  }
  return checked_text(out.append(text, at));
}

// The difference of the first units that differ, or of the lengths.
int64_t compared(const std::u16string& left, const std::u16string& right) {
  const size_t common = std::min(left.size(), right.size());
  for (size_t i = 0; i < common; ++i)
    if (left[i] != right[i]) return int64_t{left[i]} - right[i];
  return static_cast<int64_t>(left.size()) - static_cast<int64_t>(right.size());
}

base::Result<Value> char_at(const Values& v) {
  const auto length = static_cast<int64_t>(v[0].text.size());
  if (v[1].integer < 0 || v[1].integer >= length)
    return out_of_bounds(fmt::format("String index out of range: {}", v[1].integer));
  return of_integer(v[0].text[static_cast<size_t>(v[1].integer)]);
}

base::Result<Value> repeated(const Values& v) {
  if (v[1].integer < 0)
    return thrown(fmt::format("java.lang.IllegalArgumentException: count is negative: {}", v[1].integer));
  const auto times = static_cast<uint64_t>(v[1].integer);
  if (!v[0].text.empty() && times > max_text_units / v[0].text.size())
    return checked_text(std::u16string(max_text_units + 1, u' '));
  std::u16string out;
  for (uint64_t i = 0; i < (v[0].text.empty() ? 0 : times); ++i) out += v[0].text;
  return of_text(std::move(out));
}

std::u16string unit_text(const Value& value) {
  return std::u16string(1, static_cast<char16_t>(value.integer));
}

const StringMethod methods[] = {
    {"length", "", JavaKind::int_,
     [](const Values& v) -> base::Result<Value> {
       return of_integer(static_cast<int64_t>(v[0].text.size()));
     }},
    {"isEmpty", "", JavaKind::boolean, [](const Values& v) { return truth(v[0].text.empty()); }},
    {"toString", "", JavaKind::string, [](const Values& v) -> base::Result<Value> { return v[0]; }},
    {"charAt", "i", JavaKind::char_, char_at},
    {"substring", "i", JavaKind::string,
     [](const Values& v) {
       return substring(v[0].text, v[1].integer, static_cast<int64_t>(v[0].text.size()));
     }},
    {"substring", "ii", JavaKind::string,
     [](const Values& v) { return substring(v[0].text, v[1].integer, v[2].integer); }},
    {"concat", "s", JavaKind::string, [](const Values& v) { return checked_text(v[0].text + v[1].text); }},
    {"contains", "s", JavaKind::boolean,
     [](const Values& v) { return truth(v[0].text.find(v[1].text) != std::u16string::npos); }},
    {"startsWith", "s", JavaKind::boolean,
     [](const Values& v) { return truth(v[0].text.starts_with(v[1].text)); }},
    {"endsWith", "s", JavaKind::boolean,
     [](const Values& v) { return truth(v[0].text.ends_with(v[1].text)); }},
    {"indexOf", "s", JavaKind::int_, [](const Values& v) { return position(v[0].text.find(v[1].text)); }},
    {"indexOf", "c", JavaKind::int_,
     [](const Values& v) { return position(v[0].text.find(unit_text(v[1]))); }},
    {"lastIndexOf", "s", JavaKind::int_,
     [](const Values& v) { return position(v[0].text.rfind(v[1].text)); }},
    {"lastIndexOf", "c", JavaKind::int_,
     [](const Values& v) { return position(v[0].text.rfind(unit_text(v[1]))); }},
    {"equals", "o", JavaKind::boolean,
     [](const Values& v) { return truth(!v[1].is_null && v[0].text == v[1].text); }},
    {"compareTo", "s", JavaKind::int_,
     [](const Values& v) -> base::Result<Value> { return of_integer(compared(v[0].text, v[1].text)); }},
    {"trim", "", JavaKind::string,
     [](const Values& v) -> base::Result<Value> { return of_text(trimmed(v[0].text)); }},
    {"toUpperCase", "", JavaKind::string,
     [](const Values& v) { return plain(unicode(v[0].text).toUpper(icu::Locale::getRoot())); }},
    {"toLowerCase", "", JavaKind::string,
     [](const Values& v) { return plain(unicode(v[0].text).toLower(icu::Locale::getRoot())); }},
    {"replace", "cc", JavaKind::string,
     [](const Values& v) { return replaced(v[0].text, unit_text(v[1]), unit_text(v[2])); }},
    {"replace", "ss", JavaKind::string,
     [](const Values& v) { return replaced(v[0].text, v[1].text, v[2].text); }},
    {"repeat", "i", JavaKind::string, repeated},
};

bool accepts(const StringMethod& method, const std::vector<Node>& arguments) {
  if (method.parameters.size() != arguments.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const char parameter = method.parameters[i];
    const JavaKind kind = arguments[i].type.kind;
    const bool is_text = kind == JavaKind::string || (parameter == 'o' && kind == JavaKind::null);
    if (parameter == 's' || parameter == 'o'
            ? !is_text
            : !passes(arguments[i], parameter == 'c' ? JavaKind::char_ : JavaKind::int_))
      return false;
  }
  return true;
}

// The message is that of the method inside Java that uses the argument first.
std::unexpected<base::Error> null_argument(std::string_view method) {
  if (method == "contains")
    return thrown(
        "java.lang.NullPointerException: Cannot invoke \"java.lang.CharSequence.toString()\" because \"s\" "
        "is null");
  return thrown("java.lang.NullPointerException");
}

// An argument that is a text and must not be null.
base::Status check_part(const StringMethod& method, const Value& text, const Value& part) {
  if (part.is_null) return null_argument(method.name);
  const bool searches =
      method.name == "contains" || method.name.ends_with("ndexOf") || method.name == "replace";
  return searches ? check_search(text.text, part.text) : base::Status();
}

// Java's signature of the call, for messages about nulls.
std::string signature_of(const StringMethod& method) {
  std::string parameters;
  const bool is_sequence = method.name == "contains" || method.name == "replace";
  for (const char parameter : method.parameters) {
    if (!parameters.empty()) parameters += ", ";
    parameters += parameter == 's'   ? (is_sequence ? "java.lang.CharSequence" : "java.lang.String")
                  : parameter == 'o' ? "Object"
                  : parameter == 'c' && method.name == "replace" ? "char"
                                                                 : "int";
  }
  return fmt::format("String.{}({})", method.name, parameters);
}

}  // namespace

base::Result<Node> call_string(Node object, const std::string& name, std::vector<Node> arguments, int line) {
  const auto found = std::find_if(std::begin(methods), std::end(methods), [&](const StringMethod& method) {
    return method.name == name && accepts(method, arguments);
  });
  if (found == std::end(methods)) return no_method("String", name, arguments, line);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const char parameter = found->parameters[i]; parameter == 'i' || parameter == 'c')
      arguments[i] = passed(std::move(arguments[i]), parameter == 'c' ? JavaKind::char_ : JavaKind::int_);
  const Node described = object;
  arguments.insert(arguments.begin(), std::move(object));
  return make_call({found->result, nullptr}, std::move(arguments),
                   [found, described](const Values& values) -> base::Result<Value> {
                     if (values[0].is_null) return null_pointer(described, signature_of(*found));
                     for (size_t i = 0; i < found->parameters.size(); ++i)
                       if (found->parameters[i] == 's')
                         SIBYL_TRY(check_part(*found, values[0], values[i + 1]));
                     return found->call(values);
                   });
}

}  // namespace sibyl::plan::java
