// Properties of tables and keyspaces: their defaults, their stored form, and refusals in Cassandra's words.
#include "plan/options/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/options/compaction.h"
#include "plan/options/replication.h"
#include "plan/options/storage.h"

namespace sibyl::plan {
namespace {

// Returns "name=value name=value", or the error.
std::string shown(const base::Result<OptionMap>& options) {
  if (!options) return std::string(options.error().message());
  std::string text;
  for (const auto& [name, value] : *options) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

struct OptionsCase {
  OptionMap given;
  std::string_view expected;
};

TEST(Options, CompactionIsStoredWithDefaults) {
  const OptionsCase cases[] = {
      {{{"class", "SizeTieredCompactionStrategy"}},
       "class=org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy max_threshold=32 "
       "min_threshold=4"},
      {{{"class", "org.apache.cassandra.db.compaction.LeveledCompactionStrategy"}, {"min_threshold", "8"}},
       "class=org.apache.cassandra.db.compaction.LeveledCompactionStrategy max_threshold=32 min_threshold=8"},
      {{{"class", "UnifiedCompactionStrategy"}, {"scaling_parameters", "T4"}},
       "class=org.apache.cassandra.db.compaction.UnifiedCompactionStrategy scaling_parameters=T4"},
      {{}, "Missing sub-option 'class' for the 'compaction' option"},
      {{{"class", "Nope"}},
       "Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.Nope'"},
      {{{"class", "com.example.Strategy"}},
       "Unable to find compaction strategy class 'com.example.Strategy'"},
      {{{"class", "SizeTieredCompactionStrategy"}, {"provide_overlapping_tombstones", "all"}},
       "Invalid value ALL for 'provide_overlapping_tombstones' compaction sub-option - must be one of the "
       "following [NONE, ROW, CELL]."},
  };
  for (const OptionsCase& one : cases) EXPECT_EQ(shown(read_compaction(one.given)), one.expected);
}

// The error of checking a strategy with one more sub-option; empty if there is none.
std::string compaction_error(const std::string& strategy, const OptionMap& more) {
  OptionMap given = more;
  given["class"] = strategy + "CompactionStrategy";
  const auto read = read_compaction(given);
  EXPECT_TRUE(read) << strategy;
  if (!read) return "";
  const base::Status status = check_compaction(*read);
  return status ? "" : std::string(status.error().message());
}

TEST(Options, SubOptionsOfCompactionAreCheckedByStrategy) {
  const struct {
    const char* strategy;
    OptionMap more;
    std::string_view error;
  } cases[] = {
      {"SizeTiered", {}, ""},
      {"SizeTiered", {{"tombstone_threshold", "0.3"}, {"enabled", "TRUE"}, {"log_all", "false"}}, ""},
      {"SizeTiered",
       {{"tombstone_threshold", "-1"}},
       "tombstone_threshold must be greater than 0, but was -1.000000"},
      {"SizeTiered",
       {{"tombstone_threshold", "x"}},
       "x is not a parsable int (base10) for tombstone_threshold"},
      {"SizeTiered",
       {{"tombstone_compaction_interval", "-5"}},
       "tombstone_compaction_interval must be greater than 0, but was -5"},
      {"SizeTiered",
       {{"unchecked_tombstone_compaction", "maybe"}},
       "'unchecked_tombstone_compaction' should be either 'true' or 'false', not 'maybe'"},
      {"SizeTiered", {{"log_all", "1"}}, "'log_all' should either be 'true' or 'false', not 1"},
      {"SizeTiered", {{"enabled", "1"}}, "enabled should either be 'true' or 'false', not 1"},
      {"SizeTiered", {{"min_sstable_size", "-1"}}, "min_sstable_size must be non negative: -1"},
      {"SizeTiered", {{"bucket_low", "x"}}, "x is not a parsable float for bucket_low"},
      {"SizeTiered",
       {{"bucket_high", "0.5"}},
       "bucket_high value (0.5) is less than or equal to the bucket_low value (0.5)"},
      {"SizeTiered",
       {{"sstable_size_in_mb", "5"}},
       "Properties specified [sstable_size_in_mb] are not understood by SizeTieredCompactionStrategy"},
      {"Leveled", {{"sstable_size_in_mb", "160"}, {"fanout_size", "10"}}, ""},
      {"Leveled", {{"fanout_size", "0"}}, "fanout_size must be larger than 0, but was 0"},
      {"Leveled",
       {{"sstable_size_in_mb", "big"}},
       "big is not a parsable int (base10) for sstable_size_in_mb"},
      {"TimeWindow", {{"compaction_window_unit", "HOURS"}, {"compaction_window_size", "6"}}, ""},
      {"TimeWindow", {{"compaction_window_unit", "hours"}}, "hours is not valid for compaction_window_unit"},
      {"TimeWindow",
       {{"compaction_window_size", "0"}},
       "0 must be greater than 1 for compaction_window_size"},
      {"TimeWindow", {{"timestamp_resolution", "WEEKS"}}, "WEEKS is not valid for timestamp_resolution"},
      {"TimeWindow",
       {{"expired_sstable_check_frequency_seconds", "-1"}},
       "expired_sstable_check_frequency_seconds must not be negative, but was -1"},
      {"TimeWindow",
       {{"unsafe_aggressive_sstable_expiration", "x"}},
       "unsafe_aggressive_sstable_expiration is not 'true' or 'false' (x)"},
      {"Unified", {{"scaling_parameters", "T4, N, L10, -2"}, {"target_sstable_size", "1GiB"}}, ""},
      {"Unified",
       {{"scaling_parameters", "T4,X"}},
       "Scaling parameter X must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+"},
      {"Unified",
       {{"target_sstable_size", "5"}},
       "target_sstable_size 5 is not a valid size in bytes: 5 does not end in unit B"},
      {"Unified",
       {{"target_sstable_size", "1023KiB"}},
       "target_sstable_size 1023KiB is not acceptable, size must be at least 1.000MiB"},
      {"Unified",
       {{"base_shard_count", "0"}},
       "Invalid configuration, base_shard_count should be positive: 0"},
      {"SizeTiered",
       {{"min_threshold", "1.5"}},
       "Invalid value 1.5 for 'min_threshold' compaction sub-option - must be an integer"},
      {"SizeTiered",
       {{"max_threshold", "0"}},
       "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction "
       "option 'enabled' to false instead."},
      {"SizeTiered", {{"min_threshold", "1"}}, "Min compaction threshold cannot be less than 2 (got 1)"},
      {"SizeTiered",
       {{"min_threshold", "40"}},
       "Min compaction threshold (got 40) cannot be greater than max compaction threshold (got 32)"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(compaction_error(one.strategy, one.more), one.error)
        << one.strategy << " " << shown(base::Result<OptionMap>(one.more));
}

TEST(Options, Caching) {
  const OptionsCase cases[] = {
      {{}, "keys=NONE rows_per_partition=NONE"},
      {{{"keys", "all"}, {"rows_per_partition", "10"}}, "keys=ALL rows_per_partition=10"},
      {{{"rows_per_partition", "0"}}, "keys=NONE rows_per_partition=NONE"},
      {{{"rows_per_partition", "2147483647"}}, "keys=NONE rows_per_partition=ALL"},
      {{{"keys", "some"}},
       "Invalid value 'some' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed"},
      {{{"rows_per_partition", "-1"}},
       "Invalid value '-1' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer "
       "values "
       "are allowed"},
      {{{"rows_per_partition", "2147483648"}},
       "Invalid value '2147483648' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and "
       "integer "
       "values are allowed"},
      {{{"x", "1"}, {"y", "2"}},
       "Invalid caching sub-options [x, y]: only 'keys' and 'rows_per_partition' are allowed"},
  };
  for (const OptionsCase& one : cases) EXPECT_EQ(shown(read_caching(one.given)), one.expected);
}

TEST(Options, Compression) {
  const OptionsCase cases[] = {
      {{}, "enabled=false"},
      {{{"enabled", "false"}}, "enabled=false"},
      {{{"class", "LZ4Compressor"}},
       "chunk_length_in_kb=16 class=org.apache.cassandra.io.compress.LZ4Compressor"},
      {{{"class", "ZstdCompressor"}, {"compression_level", "-5"}, {"chunk_length_in_kb", "64"}},
       "chunk_length_in_kb=64 class=org.apache.cassandra.io.compress.ZstdCompressor compression_level=-5"},
      {{{"class", "NoopCompressor"}, {"min_compress_ratio", "1.5"}},
       "chunk_length_in_kb=16 class=org.apache.cassandra.io.compress.NoopCompressor min_compress_ratio=1.5"},
      {{{"enabled", "true"}}, "Missing sub-option 'class' for the 'compression' option."},
      {{{"enabled", "false"}, {"class", "LZ4Compressor"}},
       "If the 'enabled' option is set to false no other options must be specified"},
      {{{"class", ""}}, "The 'class' option must not be empty. To disable compression use 'enabled' : false"},
      {{{"class", "Nope"}}, "Could not create Compression for type org.apache.cassandra.io.compress.Nope"},
      {{{"class", "LZ4Compressor"}, {"level", "1"}}, "Unknown compression options level"},
      {{{"class", "LZ4Compressor"}, {"lz4_compressor_type", "slow"}},
       "Invalid compressor type 'slow' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are "
       "[high, fast]."},
      {{{"class", "LZ4Compressor"}, {"lz4_high_compressor_level", "18"}},
       "Invalid value [18] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17."},
      {{{"class", "ZstdCompressor"}, {"compression_level", "23"}},
       "ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException compression_level=23 is "
       "invalid"},
      {{{"class", "LZ4Compressor"}, {"chunk_length_in_kb", "0"}},
       "Invalid negative or null chunk_length_in_kb"},
      {{{"class", "LZ4Compressor"}, {"chunk_length_in_kb", "12"}}, "chunk_length_in_kb must be a power of 2"},
      {{{"class", "LZ4Compressor"}, {"chunk_length_in_kb", "2097152"}},
       "Value of chunk_length_in_kb is too large (2097152)"},
      {{{"class", "LZ4Compressor"}, {"chunk_length_in_kb", "x"}}, "Invalid value for chunk_length_in_kb"},
      {{{"class", "LZ4Compressor"}, {"min_compress_ratio", "0.5"}},
       "min_compress_ratio can either be 0 or greater than or equal to 1"},
      {{{"class", "LZ4Compressor"}, {"min_compress_ratio", "-1"}}, "Invalid negative min_compress_ratio"},
  };
  for (const OptionsCase& one : cases) EXPECT_EQ(shown(read_compression(one.given)), one.expected);
}

TEST(Options, SpeculativeRetryIsStoredAsCassandraPrintsIt) {
  const struct {
    const char* given;
    std::string_view expected;
  } cases[] = {
      {"always", "ALWAYS"},
      {"none", "NEVER"},
      {"Never", "NEVER"},
      {"99PERCENTILE", "99p"},
      {"99.90P", "99.9p"},
      {"50.5ms", "50ms"},
      {"min(99p, 50ms)", "MIN(99p,50ms)"},
      {"MAX(50MS,99Percentile)", "MAX(99p,50ms)"},
      {"100p",
       "Invalid value 100p for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)"},
      {"-1ms", "Invalid value -1ms for option 'speculative_retry'"},
      {"sometimes", "Invalid value sometimes for option 'speculative_retry'"},
      {"min(99p)", "Invalid value min(99p) for option 'speculative_retry'"},
      {"min(1ms,2ms)",
       "Invalid value min(1ms,2ms) for option 'speculative_retry': MIN()/MAX() arguments should be of "
       "different "
       "types, but both are of type FIXED"},
      {"max(98p,99p)",
       "Invalid value max(98p,99p) for option 'speculative_retry': MIN()/MAX() arguments should be of "
       "different "
       "types, but both are of type PERCENTILE"},
  };
  for (const auto& one : cases) {
    const auto read = read_speculative_retry(one.given);
    EXPECT_EQ(read ? *read : std::string(read.error().message()), one.expected) << one.given;
  }
}

TEST(Options, Replication) {
  const std::string simple = "org.apache.cassandra.locator.SimpleStrategy";
  const std::string network = "org.apache.cassandra.locator.NetworkTopologyStrategy";
  const struct {
    OptionMap given, previous;
    std::string expected;
    size_t warnings = 0;
  } cases[] = {
      {{{"class", "SimpleStrategy"}, {"replication_factor", "1"}},
       {},
       "class=" + simple + " replication_factor=1"},
      {{{"class", simple}}, {}, "class=" + simple + " replication_factor=1"},
      {{{"class", "SimpleStrategy"}},
       {{"replication_factor", "3"}},
       "class=" + simple + " replication_factor=3",
       1},
      {{{"class", "NetworkTopologyStrategy"}, {"dc", "1"}}, {}, "class=" + network + " dc=1"},
      {{{"class", "NetworkTopologyStrategy"}}, {}, "class=" + network + " dc=1"},
      {{{"class", "NetworkTopologyStrategy"}, {"replication_factor", "3"}},
       {},
       "class=" + network + " dc=3",
       1},
      {{{"class", "NetworkTopologyStrategy"}, {"dc", "0"}},
       {},
       "Configuration for at least one datacenter must be present"},
      {{{"class", "NetworkTopologyStrategy"}, {"mars", "1"}},
       {},
       "Unrecognized strategy option {mars} passed to NetworkTopologyStrategy for keyspace e"},
      {{{"class", "SimpleStrategy"}, {"dc", "1"}},
       {},
       "Unrecognized strategy option {dc} passed to SimpleStrategy for keyspace e"},
      {{{"class", "SimpleStrategy"}, {"replication_factor", "x"}}, {}, "For input string: \"x\""},
      {{{"class", "SimpleStrategy"}, {"replication_factor", "-1"}},
       {},
       "Replication factor must be non-negative, found -1"},
      {{{"class", "SimpleStrategy"}, {"replication_factor", "3/1"}},
       {},
       "Transient replication is not enabled on this node"},
      {{{"class", "LocalStrategy"}},
       {},
       "Unable to use given strategy class: LocalStrategy is reserved for internal use."},
      {{{"class", "Nope"}},
       {},
       "Unable to find replication strategy class 'org.apache.cassandra.locator.Nope'"},
  };
  for (const auto& one : cases) {
    std::vector<std::string> warnings;
    EXPECT_EQ(shown(read_replication("e", one.given, one.previous, "dc", warnings)), one.expected);
    EXPECT_EQ(warnings.size(), one.warnings) << one.expected;
  }
}

cql::Property property_of(std::string name, std::string value) {
  cql::Property property;
  property.name = std::move(name);
  property.value = std::move(value);
  return property;
}

// The error of reading and checking one property of a new table; empty if there is none.
std::string table_error(const std::string& name, const std::string& value) {
  const cql::Properties properties = {property_of(name, value)};
  const auto set = PropertySet::of(properties);
  EXPECT_TRUE(set);
  schema::TableOptions options;
  if (const base::Status read = read_table_options(*set, true, options); !read) return read.error().message();
  const base::Status checked = check_table_options(*set, options);
  return checked ? "" : std::string(checked.error().message());
}

TEST(Options, TablePropertiesAreChecked) {
  const struct {
    const char *name, *value;
    std::string_view error;
  } cases[] = {
      {"comment", "any text", ""},
      {"gc_grace_seconds", "0", ""},
      {"gc_grace_seconds", "-1", "gc_grace_seconds must be greater than or equal to 0 (got -1)"},
      {"gc_grace_seconds", "1.5", "Invalid integer value 1.5 for 'gc_grace_seconds'"},
      {"default_time_to_live", "630720000", ""},
      {"default_time_to_live", "630720001",
       "default_time_to_live must be less than or equal to 630720000 (got 630720001)"},
      {"bloom_filter_fp_chance", "1", ""},
      {"bloom_filter_fp_chance", "0",
       "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got 0.0)"},
      {"crc_check_chance", "1.1",
       "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got 1.1)"},
      {"crc_check_chance", "x", "Invalid double value x for 'crc_check_chance'"},
      {"min_index_interval", "0", "min_index_interval must be greater than or equal to 1 (got 0)"},
      {"max_index_interval", "100",
       "max_index_interval must be greater than or equal to min_index_interval (128) (got 100)"},
      {"memtable_flush_period_in_ms", "-1",
       "memtable_flush_period_in_ms must be greater than or equal to 0 (got -1)"},
      {"cdc", "YES", ""},
      {"cdc", "on",
       "Invalid boolean value on for 'cdc'. Positive values can be '1', 'true' or 'yes'. Negative values can "
       "be "
       "'0', 'false' or 'no'."},
      {"memtable", "trie", ""},
      {"memtable", "heap", "Memtable configuration \"heap\" not found."},
      {"read_repair", "blocking", ""},
      {"read_repair", "x",
       "Invalid value x for option 'read_repair': only 'NONE' and 'BLOCKING' are allowed"},
      {"caching", "x", "Invalid value for property 'caching'. It should be a map."},
      {"nosuch", "1", "Unknown property 'nosuch'"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(table_error(one.name, one.value), one.error) << one.name << " " << one.value;
}

TEST(Options, APropertyIsGivenOnce) {
  const cql::Properties twice = {property_of("comment", "a"), property_of("comment", "b")};
  const auto set = PropertySet::of(twice);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message(), "Multiple definitions for property 'comment'");
  EXPECT_TRUE(PropertySet::of(twice, {"comment"})) << "ignored properties are not even counted";
}

TEST(Options, TableIds) {
  const cql::Properties good = {property_of("id", "5a1c395e-b41f-11e5-9f22-ba0be0483c18")};
  const auto id = read_table_id(*PropertySet::of(good));
  ASSERT_TRUE(id);
  EXPECT_EQ(base::to_hex(id->value()), "5a1c395eb41f11e59f22ba0be0483c18");
  const cql::Properties bad = {property_of("id", "5a1c395e")};
  EXPECT_EQ(read_table_id(*PropertySet::of(bad)).error().message(), "Invalid table id");
  EXPECT_EQ(read_table_id(PropertySet()).value(), std::nullopt);
}

}  // namespace
}  // namespace sibyl::plan
