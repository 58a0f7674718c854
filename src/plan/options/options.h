// The properties of tables and keyspaces (WITH ...), checked as in Cassandra and stored in the form of its
// schema tables. Most have no effect here, but all of them round-trip.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cql/ast.h"
#include "plan/numbers/java_numbers.h"
#include "schema/schema.h"

namespace sibyl::plan {

using OptionMap = std::map<std::string, std::string>;

// Properties by name. A name given twice is refused.
class PropertySet {
 public:
  // Properties named in `ignored` are skipped.
  static base::Result<PropertySet> of(const cql::Properties& properties,
                                      const std::set<std::string>& ignored = {});

  bool has(const std::string& name) const { return values_.contains(name); }
  // Returns nullopt if not given, and an error if the property has the other form.
  base::Result<std::optional<std::string>> text(const std::string& name) const;
  base::Result<std::optional<OptionMap>> map(const std::string& name) const;
  base::Result<std::optional<bool>> boolean(const std::string& name) const;
  base::Result<std::optional<int32_t>> integer(const std::string& name) const;
  base::Result<std::optional<double>> fraction(const std::string& name) const;
  // Refuses names that are not in `known`.
  base::Status check_known(std::span<const std::string_view> known) const;
  base::Status check_known(std::initializer_list<std::string_view> known) const {
    return check_known(std::span(known.begin(), known.size()));
  }

 private:
  std::map<std::string, const cql::Property*> values_;
};

// Cassandra checks options in two steps and the table's existence in between. The order here is the same, so
// that errors match. This is step 1: reads the properties into `options`, which has the defaults or the
// options of an existing table.
base::Status read_table_options(const PropertySet& properties, bool is_new, schema::TableOptions& options);
// This is step 2: checks for unknown names and bounds.
base::Status check_table_options(const PropertySet& properties, const schema::TableOptions& options);

// All properties that a table may have, in lower case and sorted.
std::span<const std::string_view> table_property_names();

// The `id` property, or nullopt if not given.
base::Result<std::optional<base::Bytes>> read_table_id(const PropertySet& properties);

}  // namespace sibyl::plan
