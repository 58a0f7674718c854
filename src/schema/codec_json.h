// Reads and writes the JSON of the schema's durable form. Internal to the codec.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"

namespace sibyl::schema {

namespace json = boost::json;

json::object encode_map(const std::map<std::string, std::string>& map);
json::array encode_names(const std::vector<std::string>& names);
// Every record starts with its kind and the version of the codec.
json::object new_record(const char* kind);

std::unexpected<base::Error> corrupted(const std::string& what);
base::Result<json::value> parse_record(base::BytesView text);

// Reads the fields of an object one by one. Keeps the first error; finish() returns it, or an error that
// names a field that was not read.
class ObjectReader {
 public:
  // `value` must outlive the object. `what` names it in errors.
  ObjectReader(const json::value& value, std::string what);

  // Returns nullptr if the field is missing, and sets the error.
  const json::value* field(std::string_view name);
  // Returns nullptr if the field is missing, which is not an error.
  const json::value* optional_field(std::string_view name) {
    return object_ != nullptr && object_->contains(name) ? field(name) : nullptr;
  }
  // Returns an empty array if the field is missing.
  const json::array& array(std::string_view name);

  void read(std::string_view name, std::string& out);
  void read(std::string_view name, bool& out);
  void read(std::string_view name, double& out);  // stored as text
  template <typename Integer>
    requires std::is_integral_v<Integer>
  void read(std::string_view name, Integer& out) {
    const json::value* value = field(name);
    if (value == nullptr) return;
    json::error_code error;
    out = value->to_number<Integer>(error);
    if (error) wrong_type(name, "an integer in range");
  }
  void read(std::string_view name, std::map<std::string, std::string>& out);
  void read(std::string_view name, std::vector<std::string>& out);
  void read_hex(std::string_view name, Bytes& out);
  // Reads the start of a record and returns its version.
  int read_record(std::string_view kind);

  void set_error(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }
  void wrong_type(std::string_view name, std::string_view expected);
  base::Status finish();
  bool ok() const { return error_.empty(); }

 private:
  void take_string(std::string_view name, const json::value& value, std::string& out);

  std::string what_;
  std::string error_;
  const json::object* object_ = nullptr;
  std::set<std::string, std::less<>> read_fields_;
};

}  // namespace sibyl::schema
