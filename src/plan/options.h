// The properties of tables and keyspaces (WITH ...): checked as Cassandra checks them, and in the form in
// which its schema tables show them. Most change nothing here; all of them round-trip.
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
#include "schema/schema.h"

namespace sibyl::plan {

using OptionMap = std::map<std::string, std::string>;

// Properties by name; a name given twice is refused.
class PropertySet {
 public:
  // Those named in `ignored` are as if they had not been given.
  static base::Result<PropertySet> of(const cql::Properties& properties,
                                      const std::set<std::string>& ignored = {});

  bool has(const std::string& name) const { return values_.contains(name); }
  // nullopt when it was not given; an error when it is of the other form.
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

// Cassandra checks in two steps, with the existence of the table between them; so do we, for its errors'
// sake. First: reads the properties into `options` (the defaults, or an existing table's).
base::Status read_table_options(const PropertySet& properties, bool is_new, schema::TableOptions& options);
// Second: unknown names, and bounds.
base::Status check_table_options(const PropertySet& properties, const schema::TableOptions& options);

// All that a table may have, in lower case and sorted.
std::span<const std::string_view> table_property_names();

// The `id` property: nullopt when not given.
base::Result<std::optional<base::Bytes>> read_table_id(const PropertySet& properties);

// The pieces.
base::Result<OptionMap> read_caching(const OptionMap& given);
base::Result<OptionMap> read_compression(const OptionMap& given);
base::Result<OptionMap> read_compaction(const OptionMap& given);
base::Status check_compaction(const OptionMap& compaction);
base::Result<std::string> read_speculative_retry(const std::string& given);

// A keyspace's replication from WITH replication = {...}, full class name included; `previous` is empty for a
// new keyspace. `datacenter` is the one that this server is in: NetworkTopologyStrategy may name no other.
// Warnings (more replicas than nodes) are added to `warnings`.
base::Result<OptionMap> read_replication(const std::string& keyspace, const OptionMap& given,
                                         const OptionMap& previous, const std::string& datacenter,
                                         std::vector<std::string>& warnings);

// Numbers as Java reads them in options.
bool parse_int32(std::string_view text, int32_t& value);
bool parse_int64(std::string_view text, int64_t& value);
bool parse_double(std::string_view text, double& value);

}  // namespace sibyl::plan
