#include "schema/codec_json.h"

#include <fmt/format.h>

#include <charconv>

#include "schema/codec.h"

namespace sibyl::schema {

json::object encode_map(const std::map<std::string, std::string>& map) {
  json::object out;
  for (const auto& [key, value] : map) out[key] = value;
  return out;
}

json::array encode_names(const std::vector<std::string>& names) {
  json::array out;
  for (const std::string& name : names) out.emplace_back(name);
  return out;
}

json::object new_record(const char* kind) {
  return {{"version", codec_version}, {"record", kind}};
}

std::unexpected<base::Error> corrupted(const std::string& what) {
  return base::fail(base::ErrorCode::server, "The catalogue cannot be read: " + what);
}

base::Result<json::value> parse_record(base::BytesView text) {
  json::parse_options options;
  options.max_depth = 1024;
  options.allow_invalid_utf8 = true;  // a comment may contain any bytes
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return corrupted("the text is not JSON (" + error.message() + ")");
  return value;
}

ObjectReader::ObjectReader(const json::value& value, std::string what)
    : what_(std::move(what)), object_(value.if_object()) {
  if (object_ == nullptr) set_error(what_ + " is not an object");
}

const json::value* ObjectReader::field(std::string_view name) {
  if (object_ == nullptr) return nullptr;
  const json::value* found = object_->if_contains(name);
  if (found == nullptr) set_error(fmt::format("{} has no field '{}'", what_, name));
  read_fields_.emplace(name);
  return found;
}

const json::array& ObjectReader::array(std::string_view name) {
  static const json::array none;
  const json::value* value = field(name);
  if (value == nullptr) return none;
  if (const json::array* found = value->if_array()) return *found;
  wrong_type(name, "an array");
  return none;
}

void ObjectReader::read(std::string_view name, std::string& out) {
  if (const json::value* value = field(name)) take_string(name, *value, out);
}

void ObjectReader::read(std::string_view name, bool& out) {
  const json::value* value = field(name);
  if (value == nullptr) return;
  if (const bool* flag = value->if_bool()) {
    out = *flag;
  } else {
    wrong_type(name, "true or false");
  }
}

void ObjectReader::read(std::string_view name, double& out) {
  std::string text;
  read(name, text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) wrong_type(name, "a number");
}

void ObjectReader::read(std::string_view name, std::map<std::string, std::string>& out) {
  const json::value* value = field(name);
  if (value == nullptr) return;
  const json::object* map = value->if_object();
  if (map == nullptr) return wrong_type(name, "an object");
  out.clear();
  for (const auto& [key, element] : *map) take_string(name, element, out[std::string(key)]);
}

void ObjectReader::read(std::string_view name, std::vector<std::string>& out) {
  for (const json::value& element : array(name)) take_string(name, element, out.emplace_back());
}

void ObjectReader::read_hex(std::string_view name, Bytes& out) {
  std::string text;
  read(name, text);
  if (!base::from_hex(text, out)) wrong_type(name, "hexadecimal");
}

int ObjectReader::read_record(std::string_view kind) {
  int version = 0;
  std::string found;
  read("version", version);
  read("record", found);
  if (version < 1 || version > codec_version)
    set_error(fmt::format("it was written in version {} of the format; this program supports version {}",
                          version, codec_version));
  if (found != kind) set_error(fmt::format("found a record of kind '{}' instead of a {}", found, kind));
  return version;
}

void ObjectReader::wrong_type(std::string_view name, std::string_view expected) {
  set_error(fmt::format("field '{}' of {} is not {}", name, what_, expected));
}

base::Status ObjectReader::finish() {
  if (object_ != nullptr && error_.empty()) {
    for (const auto& entry : *object_)
      if (!read_fields_.contains(entry.key()))
        set_error(fmt::format("{} has an unknown field '{}'", what_, std::string(entry.key())));
  }
  if (!error_.empty()) return corrupted(error_);
  return {};
}

void ObjectReader::take_string(std::string_view name, const json::value& value, std::string& out) {
  if (const json::string* text = value.if_string()) {
    out.assign(text->data(), text->size());
  } else {
    wrong_type(name, "text");
  }
}

}  // namespace sibyl::schema
