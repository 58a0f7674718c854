#include "plan/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ascii.h"
#include "plan/options/compaction.h"
#include "plan/options/option_text.h"
#include "plan/options/storage.h"
#include "types/literals/literal.h"
#include "types/print.h"

namespace sibyl::plan {

using base::ErrorCode;

namespace {

std::unexpected<base::Error> syntax(std::string message) {
  return base::fail(ErrorCode::syntax, std::move(message));
}

base::Status read_scalars(const PropertySet& properties, schema::TableOptions& options) {
  SIBYL_ASSIGN(auto allow_auto_snapshot, properties.boolean("allow_auto_snapshot"));
  if (allow_auto_snapshot) options.allow_auto_snapshot = *allow_auto_snapshot;
  SIBYL_ASSIGN(auto comment, properties.text("comment"));
  if (comment) options.comment = *comment;
  SIBYL_ASSIGN(auto default_time_to_live, properties.integer("default_time_to_live"));
  if (default_time_to_live) options.default_time_to_live = *default_time_to_live;
  SIBYL_ASSIGN(auto gc_grace_seconds, properties.integer("gc_grace_seconds"));
  if (gc_grace_seconds) options.gc_grace_seconds = *gc_grace_seconds;
  SIBYL_ASSIGN(auto incremental_backups, properties.boolean("incremental_backups"));
  if (incremental_backups) options.incremental_backups = *incremental_backups;
  SIBYL_ASSIGN(auto max_index_interval, properties.integer("max_index_interval"));
  if (max_index_interval) options.max_index_interval = *max_index_interval;
  SIBYL_ASSIGN(auto memtable_flush_period, properties.integer("memtable_flush_period_in_ms"));
  if (memtable_flush_period) options.memtable_flush_period_in_ms = *memtable_flush_period;
  SIBYL_ASSIGN(auto min_index_interval, properties.integer("min_index_interval"));
  if (min_index_interval) options.min_index_interval = *min_index_interval;
  SIBYL_ASSIGN(auto crc_check_chance, properties.fraction("crc_check_chance"));
  if (crc_check_chance) options.crc_check_chance = *crc_check_chance;
  SIBYL_ASSIGN(auto cdc, properties.boolean("cdc"));
  if (cdc) options.cdc = *cdc;
  return {};
}

base::Status read_maps(const PropertySet& properties, schema::TableOptions& options) {
  SIBYL_ASSIGN(auto caching, properties.map("caching"));
  if (caching) {
    SIBYL_ASSIGN(options.caching, read_caching(*caching));
  }
  SIBYL_ASSIGN(auto compaction, properties.map("compaction"));
  if (compaction) {
    SIBYL_ASSIGN(options.compaction, read_compaction(*compaction));
  }
  SIBYL_ASSIGN(auto compression, properties.map("compression"));
  if (compression) {
    SIBYL_ASSIGN(options.compression, read_compression(*compression));
  }
  return {};
}

base::Status read_policies(const PropertySet& properties, schema::TableOptions& options) {
  SIBYL_ASSIGN(auto memtable, properties.text("memtable"));
  if (memtable) {
    if (*memtable != "default" && *memtable != "skiplist" && *memtable != "trie")
      return config_error(fmt::format("Memtable configuration \"{}\" not found.", *memtable));
    options.memtable = *memtable;
  }
  SIBYL_ASSIGN(auto speculative_retry, properties.text("speculative_retry"));
  if (speculative_retry) {
    SIBYL_ASSIGN(options.speculative_retry, read_speculative_retry(*speculative_retry));
  }
  SIBYL_ASSIGN(auto additional_write_policy, properties.text("additional_write_policy"));
  if (additional_write_policy) {
    SIBYL_ASSIGN(options.additional_write_policy, read_speculative_retry(*additional_write_policy));
  }
  SIBYL_ASSIGN(auto read_repair, properties.text("read_repair"));
  if (read_repair) {
    options.read_repair = base::ascii_upper(*read_repair);
    if (options.read_repair != "NONE" && options.read_repair != "BLOCKING")
      return config_error(fmt::format(
          "Invalid value {} for option 'read_repair': only 'NONE' and 'BLOCKING' are allowed", *read_repair));
  }
  return {};
}

}  // namespace

base::Result<PropertySet> PropertySet::of(const cql::Properties& properties,
                                          const std::set<std::string>& ignored) {
  PropertySet set;
  for (const cql::Property& property : properties) {
    if (ignored.contains(property.name)) continue;
    if (!set.values_.emplace(property.name, &property).second)
      return syntax(fmt::format("Multiple definitions for property '{}'", property.name));
  }
  return set;
}

base::Result<std::optional<std::string>> PropertySet::text(const std::string& name) const {
  auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  const auto* value = std::get_if<std::string>(&found->second->value);
  if (!value) return syntax(fmt::format("Invalid value for property '{}'. It should be a string", name));
  return *value;
}

base::Result<std::optional<OptionMap>> PropertySet::map(const std::string& name) const {
  auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  const auto* value = std::get_if<std::vector<std::pair<std::string, std::string>>>(&found->second->value);
  if (!value) return syntax(fmt::format("Invalid value for property '{}'. It should be a map.", name));
  OptionMap map;
  for (const auto& [key, text] : *value) map[key] = text;
  return map;
}

base::Result<std::optional<bool>> PropertySet::boolean(const std::string& name) const {
  SIBYL_ASSIGN(auto value, text(name));
  if (!value) return std::nullopt;
  const std::string folded = base::ascii_lower(*value);
  if (folded == "1" || folded == "true" || folded == "yes") return true;
  if (folded == "0" || folded == "false" || folded == "no") return false;
  return syntax(fmt::format(
      "Invalid boolean value {} for '{}'. Positive values can be '1', 'true' or 'yes'. Negative values can "
      "be '0', 'false' or 'no'.",
      *value, name));
}

base::Result<std::optional<int32_t>> PropertySet::integer(const std::string& name) const {
  SIBYL_ASSIGN(auto value, text(name));
  if (!value) return std::nullopt;
  int32_t number = 0;
  if (!parse_int32(*value, number))
    return syntax(fmt::format("Invalid integer value {} for '{}'", *value, name));
  return number;
}

base::Result<std::optional<double>> PropertySet::fraction(const std::string& name) const {
  SIBYL_ASSIGN(auto value, text(name));
  if (!value) return std::nullopt;
  double number = 0;
  if (!parse_double(*value, number))
    return syntax(fmt::format("Invalid double value {} for '{}'", *value, name));
  return number;
}

base::Status PropertySet::check_known(std::span<const std::string_view> known) const {
  for (const auto& [name, property] : values_) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return base::fail(
          base::Error(ErrorCode::syntax, fmt::format("Unknown property '{}'", name)).at(property->position));
  }
  return {};
}

base::Status read_table_options(const PropertySet& properties, bool is_new, schema::TableOptions& options) {
  SIBYL_TRY(read_maps(properties, options));
  SIBYL_ASSIGN(auto bloom_filter_fp_chance, properties.fraction("bloom_filter_fp_chance"));
  if (bloom_filter_fp_chance) {
    options.bloom_filter_fp_chance = *bloom_filter_fp_chance;
  } else if (is_new) {
    const bool leveled = options.compaction.at("class").ends_with(".LeveledCompactionStrategy");
    options.bloom_filter_fp_chance = leveled ? 0.1 : 0.01;
  }
  SIBYL_TRY(read_scalars(properties, options));
  return read_policies(properties, options);
}

std::span<const std::string_view> table_property_names() {
  static constexpr std::string_view names[] = {"additional_write_policy",
                                               "allow_auto_snapshot",
                                               "bloom_filter_fp_chance",
                                               "caching",
                                               "cdc",
                                               "comment",
                                               "compaction",
                                               "compression",
                                               "crc_check_chance",
                                               "default_time_to_live",
                                               "extensions",
                                               "gc_grace_seconds",
                                               "id",
                                               "incremental_backups",
                                               "max_index_interval",
                                               "memtable",
                                               "memtable_flush_period_in_ms",
                                               "min_index_interval",
                                               "read_repair",
                                               "speculative_retry"};
  return names;
}

base::Status check_table_options(const PropertySet& properties, const schema::TableOptions& options) {
  constexpr int32_t max_time_to_live = 20 * 365 * 24 * 60 * 60;
  SIBYL_TRY(properties.check_known(table_property_names()));
  SIBYL_TRY(check_compaction(options.compaction));
  if (options.bloom_filter_fp_chance <= 6.71e-5 || options.bloom_filter_fp_chance > 1) {
    return config_error(fmt::format(
        "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got {})",
        types::format_double(options.bloom_filter_fp_chance)));
  }
  if (options.crc_check_chance < 0 || options.crc_check_chance > 1) {
    return config_error(fmt::format(
        "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {})",
        types::format_double(options.crc_check_chance)));
  }
  const auto at_least = [](const char* name, int32_t value, int32_t least) -> base::Status {
    if (value >= least) return {};
    return config_error(fmt::format("{} must be greater than or equal to {} (got {})", name, least, value));
  };
  SIBYL_TRY(at_least("default_time_to_live", options.default_time_to_live, 0));
  if (options.default_time_to_live > max_time_to_live)
    return config_error(fmt::format("default_time_to_live must be less than or equal to {} (got {})",
                                    max_time_to_live, options.default_time_to_live));
  SIBYL_TRY(at_least("gc_grace_seconds", options.gc_grace_seconds, 0));
  SIBYL_TRY(at_least("min_index_interval", options.min_index_interval, 1));
  if (options.max_index_interval < options.min_index_interval)
    return config_error(
        fmt::format("max_index_interval must be greater than or equal to min_index_interval ({}) (got {})",
                    options.min_index_interval, options.max_index_interval));
  return at_least("memtable_flush_period_in_ms", options.memtable_flush_period_in_ms, 0);
}

base::Result<std::optional<base::Bytes>> read_table_id(const PropertySet& properties) {
  SIBYL_ASSIGN(auto text, properties.text("id"));
  if (!text) return std::nullopt;
  base::Bytes id;
  if (!types::parse_uuid(*text, id)) return config_error("Invalid table id");
  return id;
}

}  // namespace sibyl::plan
