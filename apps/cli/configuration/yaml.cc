// Reads files: sibyl.yaml, or a complete cassandra.yaml.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/file.h"
#include "cli/configuration/configuration.h"
#include "cli/configuration/names.h"
#include "cli/configuration/reader.h"
#include "cli/configuration/settings.h"

namespace sibyl::cli {
namespace {

// The keys of client_encryption_options that are not settings of Sibyl.
bool is_cassandra_tls_name(std::string_view name) {
  static constexpr std::string_view names[] = {"algorithm",
                                               "certificate_validity_warn_threshold",
                                               "keystore_password_file",
                                               "max_certificate_validity_period",
                                               "protocol",
                                               "require_endpoint_verification",
                                               "ssl_context_factory",
                                               "store_type",
                                               "truststore_password_file"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool has_nested(std::string_view name) {
  return std::any_of(settings().begin(), settings().end(), [&](const Setting& setting) {
    const std::string_view known = setting.name;
    return known.size() > name.size() && known.starts_with(name) && known[name.size()] == '.';
  });
}

// Settings that Cassandra also accepts as a class with parameters.
bool takes_class(std::string_view name) {
  return name == "authenticator" || name == "authorizer" || name == "role_manager";
}

std::string_view without_package(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

// Finds unclosed quotes. yaml-cpp reads an unclosed quote up to the next quote or to the end of the file, and
// swallows all settings in between. So every quoted value is checked again in the text.
class Quotes {
 public:
  // The text must not change while this object is used.
  explicit Quotes(std::string_view text) : text_(text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // yaml-cpp's marks do not count these bytes
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  }

  // Calls `report` with the mark of every value whose quote is not closed in its own setting.
  template <typename Report>
  void check(const YAML::Node& node, const Report& report) const {
    if (node.IsScalar() && !is_closed(node.Mark())) report(node.Mark());
    if (node.IsSequence())
      for (const auto& item : node) check(item, report);
    if (node.IsMap())
      for (const auto& entry : node) {
        check(entry.first, report);
        check(entry.second, report);
      }
  }

 private:
  // Skips anchors and tags.
  size_t value_at(size_t at) const {
    while (at < text_.size() && (text_[at] == '&' || text_[at] == '!'))
      at = std::min(text_.find_first_not_of(" \t", text_.find_first_of(" \t\n", at)), text_.size());
    return at;
  }

  // Continuation lines of a quoted value are indented. A line that is not indented is the next setting.
  bool is_closed(const YAML::Mark& mark) const {
    if (mark.is_null() || mark.pos < 0) return true;
    size_t at = value_at(static_cast<size_t>(mark.pos));
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return true;
    const char quote = text_[at];
    for (++at; at < text_.size(); ++at) {
      const char c = text_[at], next = at + 1 < text_.size() ? text_[at + 1] : '\0';
      if (c == '\\' && quote == '"') {
        ++at;
      } else if (c == quote) {
        if (quote == '"' || next != quote) return true;
        ++at;
      } else if (c == '\n' && std::string_view(" \t\r\n").find(next) == std::string_view::npos) {
        return false;
      }
    }
    return false;
  }

  std::string_view text_;
};

// A security feature of cassandra.yaml that Sibyl does not have.
struct Unprotected {
  std::string_view name;
  std::vector<std::string_view> harmless;  // values that do not turn the feature on
  std::string_view consequence;
};

const std::vector<Unprotected>& unprotected() {
  static const std::vector<Unprotected> list = {
      {"network_authorizer", {"AllowAllNetworkAuthorizer"}, "roles may log in from any data center"},
      {"cidr_authorizer", {"AllowAllCIDRAuthorizer"}, "roles may log in from every address"},
      {"audit_logging_options.enabled",
       {"false"},
       "the log has only failed logins and changes of roles, permissions and the schema"},
      {"transparent_data_encryption_options.enabled", {"false"}, "files are not encrypted"},
      {"partition_denylist_enabled", {"false"}, "every partition can be accessed"},
      {"native_transport_port_ssl",
       {},
       "there is one port; client_encryption_options.optional serves plain and encrypted connections on it"},
      {"native_transport_allow_older_protocols", {"true"}, "versions 3, 4 and 5 are served"},
      {"start_native_transport", {"true"}, "clients are served"},
      {"rpc_interface", {}, "only rpc_address decides where to listen"},
      {"client_encryption_options.require_endpoint_verification",
       {"false"},
       "certificates of clients are not compared with their addresses"},
      {"client_encryption_options.ssl_context_factory", {"DefaultSslContextFactory"}, "keystore is used"},
      {"client_encryption_options.keystore_password_file", {}, "keystore_password is used"},
      {"client_encryption_options.truststore_password_file", {}, "truststore_password is used"},
      {"client_encryption_options.max_certificate_validity_period",
       {},
       "certificates may be valid for any time"},
      {"client_encryption_options.protocol", {"TLS"}, "accepted_protocols decides which are accepted"},
  };
  return list;
}

}  // namespace

// Reads one document, key by key.
struct Reader::Yaml {
  Reader& reader;
  const std::string& name;

  std::string place(const YAML::Node& node) const { return place(node.Mark()); }
  std::string place(const YAML::Mark& mark) const {
    return mark.is_null() ? name : fmt::format("{}:{}", name, mark.line + 1);
  }
  void problem(const std::string& where, std::string what) const {
    reader.problems_.push_back({where, std::move(what)});
  }

  void read(const std::string& text) const {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    const size_t before = reader.problems_.size();
    const Quotes quotes(text);
    for (const YAML::Node& document : documents)
      quotes.check(document,
                   [&](const YAML::Mark& mark) { problem(place(mark), "the quote is not closed"); });
    if (documents.size() > 1)
      problem(place(documents[1]), "a second document begins before this line (`---`); one is expected");
    if (reader.problems_.size() == before && !documents.empty()) read(documents.front());
  }

  void read(const YAML::Node& document) const {
    if (document.IsNull()) return;
    if (!document.IsMap()) return problem(name, "it is not a list of `name: value`");
    for (const auto& entry : document) read_entry("", entry.first, entry.second);
  }

  void read_entry(const std::string& prefix, const YAML::Node& key, const YAML::Node& value) const {
    const std::string where = place(key);
    if (!key.IsScalar()) return problem(where, "a name is expected");
    const std::string full = prefix + key.Scalar();
    if (find_setting(full) != nullptr) return read_value(full, where, value);
    if (has_nested(full)) return read_group(full, where, value);
    if (!(prefix.empty() ? is_cassandra_name(full) : is_cassandra_tls_name(key.Scalar())))
      return problem(where, unknown_setting_text(full));
    if (!warn_of_unprotected(full, where, value)) reader.ignored_.push_back(full);
  }

  void read_group(const std::string& full, const std::string& where, const YAML::Node& value) const {
    if (value.IsNull()) return;
    if (!value.IsMap()) return problem(where, fmt::format("'{}' is a group of settings", full));
    for (const auto& entry : value) read_entry(full + ".", entry.first, entry.second);
  }

  void read_value(const std::string& full, const std::string& where, const YAML::Node& value) const {
    if (value.IsNull()) return;  // "name:" without a value means the default.
    RawValue raw;
    if (value.IsScalar()) {
      raw.items = {value.Scalar()};
    } else if (value.IsSequence()) {
      raw.is_list = true;
      for (const auto& item : value) {
        if (!item.IsScalar())
          return problem(place(item), fmt::format("'{}' is a list of plain values", full));
        raw.items.push_back(item.Scalar());
      }
    } else if (takes_class(full) && value["class_name"] && value["class_name"].IsScalar()) {
      raw.items = {value["class_name"].Scalar()};
      read_parameters(full, value);
    } else {
      return problem(where, fmt::format("'{}' takes a plain value", full));
    }
    reader.add_value(full, std::move(raw), Origin::file, where);
  }

  // Cassandra's classes with parameters: `authenticator: {class_name: …, parameters: …}`. Only one parameter
  // has a meaning in Sibyl, and it has only one valid value.
  void read_parameters(const std::string& full, const YAML::Node& value) const {
    for (const auto& entry : value) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (key == "class_name" || (key == "parameters" && entry.second.IsNull())) continue;
      if (key != "parameters" || !entry.second.IsMap()) {
        problem(place(entry.first), unknown_setting_text(full + "." + key));
        continue;
      }
      for (const auto& parameter : entry.second) {
        const std::string parameter_name = parameter.first.IsScalar() ? parameter.first.Scalar() : "";
        const std::string given = parameter.second.IsScalar() ? parameter.second.Scalar() : "";
        if (parameter_name != "validator_class_name") {
          reader.warnings_.push_back(
              fmt::format("{}: {}.parameters.{} has no meaning in Sibyl and is ignored",
                          place(parameter.first), full, parameter_name));
        } else if (without_package(given) != "SpiffeCertificateValidator") {
          problem(place(parameter.first),
                  fmt::format("{}.parameters.validator_class_name: '{}' is not supported; "
                              "use SpiffeCertificateValidator",
                              full, given));
        }
      }
    }
  }

  // Returns true if a warning was added.
  bool warn_of_unprotected(const std::string& full, const std::string& where, const YAML::Node& value) const {
    const bool is_group = value.IsMap() && value["enabled"];
    const std::string asked = is_group ? full + ".enabled" : full;
    const auto found = std::find_if(unprotected().begin(), unprotected().end(),
                                    [&](const Unprotected& one) { return one.name == asked; });
    if (found == unprotected().end() || value.IsNull()) return false;
    const YAML::Node one = is_group ? value["enabled"] : value.IsMap() ? value["class_name"] : value;
    const std::string given = one && one.IsScalar() ? one.Scalar() : "";
    if (std::find(found->harmless.begin(), found->harmless.end(), without_package(given)) !=
        found->harmless.end())
      return false;
    reader.warnings_.push_back(
        fmt::format("{}: {}: {} is not supported: {}", where, asked, given, found->consequence));
    return true;
  }
};

void Reader::read_file(const std::string& path) {
  if (const auto text = base::read_file(path)) {
    read_yaml(*text, path);
  } else {
    problems_.push_back({path, "it cannot be read: " + text.error().message()});
  }
}

void Reader::read_yaml(const std::string& text, const std::string& name) {
  try {
    Yaml{*this, name}.read(text);
  } catch (const YAML::Exception& error) {
    const std::string where = error.mark.is_null() ? name : fmt::format("{}:{}", name, error.mark.line + 1);
    problems_.push_back({where, error.msg});
  }
}

}  // namespace sibyl::cli
