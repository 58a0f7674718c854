// Reading and writing the JSON of the schema's durable form. For the codec's own files.
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
// Every record begins with what it is and by which version of the codec it was written.
json::object new_record(const char* kind);

std::unexpected<base::Error> corrupted(const std::string& what);
base::Result<json::value> parse_record(base::BytesView text);

// Takes an object's fields one by one. Remembers the first thing that is wrong; finish() tells it, or names a
// field that nobody asked for.
class ObjectReader {
 public:
  // Borrows the value. `what` names it in errors.
  ObjectReader(const json::value& value, std::string what);

  // nullptr when there is none, which is wrong.
  const json::value* field(std::string_view name);
  // nullptr when there is none, which is no mistake.
  const json::value* optional_field(std::string_view name) {
    return object_ != nullptr && object_->contains(name) ? field(name) : nullptr;
  }
  // Empty when there is none.
  const json::array& array(std::string_view name);

  void read(std::string_view name, std::string& out);
  void read(std::string_view name, bool& out);
  void read(std::string_view name, double& out);  // which is text
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
  // What a record begins with. Its version.
  int read_record(std::string_view kind);

  void wrong(std::string text) {
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
  std::set<std::string, std::less<>> asked_;
};

}  // namespace sibyl::schema
