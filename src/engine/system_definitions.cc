#include "engine/system_definitions.h"

namespace sibyl::engine {

namespace {

constexpr SystemKeyspace keyspaces[] = {
    {.name = "system",
     .strategy = "LocalStrategy",
     .replication_factor = 0,
     .is_virtual = false,
     .gc_grace_seconds = 0,
     .memtable_flush_period_in_ms = 3600000,
     .first_storage_id = 0,
     .tables = R"cql(
CREATE TABLE built_views (keyspace_name text, view_name text, status_replicated boolean, PRIMARY KEY (keyspace_name,
  view_name));
CREATE TABLE compaction_history (id timeuuid PRIMARY KEY, bytes_in bigint, bytes_out bigint, columnfamily_name text,
  compacted_at timestamp, compaction_properties frozen<map<text, text>>, keyspace_name text, rows_merged map<int,
  bigint>);
CREATE TABLE "IndexInfo" (table_name text, index_name text, value blob, PRIMARY KEY (table_name, index_name));
CREATE TABLE local (key text PRIMARY KEY, bootstrapped text, broadcast_address inet, broadcast_port int,
  cluster_name text, cql_version text, data_center text, gossip_generation int, host_id uuid, listen_address inet,
  listen_port int, native_protocol_version text, partitioner text, rack text, release_version text, rpc_address
  inet, rpc_port int, schema_version uuid, tokens set<text>, truncated_at map<uuid, blob>);
CREATE TABLE peers (peer inet PRIMARY KEY, data_center text, host_id uuid, preferred_ip inet, rack text,
  release_version text, rpc_address inet, schema_version uuid, tokens set<text>);
CREATE TABLE peers_v2 (peer inet, peer_port int, data_center text, host_id uuid, native_address inet, native_port
  int, preferred_ip inet, preferred_port int, rack text, release_version text, schema_version uuid, tokens
  set<text>, PRIMARY KEY (peer, peer_port));
CREATE TABLE prepared_statements (prepared_id blob PRIMARY KEY, logged_keyspace text, query_string text);
CREATE TABLE size_estimates (keyspace_name text, table_name text, range_start text, range_end text,
  mean_partition_size bigint, partitions_count bigint, PRIMARY KEY (keyspace_name, table_name, range_start,
  range_end));
CREATE TABLE table_estimates (keyspace_name text, table_name text, range_type text, range_start text, range_end
  text, mean_partition_size bigint, partitions_count bigint, PRIMARY KEY (keyspace_name, table_name, range_type,
  range_start, range_end));
CREATE TABLE view_builds_in_progress (keyspace_name text, view_name text, start_token text, end_token text,
  keys_built bigint, last_token text, PRIMARY KEY (keyspace_name, view_name, start_token, end_token));
)cql"},
    {.name = "system_schema",
     .strategy = "LocalStrategy",
     .replication_factor = 0,
     .is_virtual = false,
     .gc_grace_seconds = 604800,
     .memtable_flush_period_in_ms = 3600000,
     .first_storage_id = 0,
     .tables = R"cql(
CREATE TABLE aggregates (keyspace_name text, aggregate_name text, argument_types frozen<list<text>>, final_func
  text, initcond text, return_type text, state_func text, state_type text, PRIMARY KEY (keyspace_name,
  aggregate_name, argument_types));
CREATE TABLE column_masks (keyspace_name text, table_name text, column_name text, function_argument_nulls
  frozen<list<boolean>>, function_argument_types frozen<list<text>>, function_argument_values frozen<list<text>>,
  function_keyspace text, function_name text, PRIMARY KEY (keyspace_name, table_name, column_name));
CREATE TABLE columns (keyspace_name text, table_name text, column_name text, clustering_order text,
  column_name_bytes blob, kind text, position int, type text, PRIMARY KEY (keyspace_name, table_name, column_name));
CREATE TABLE dropped_columns (keyspace_name text, table_name text, column_name text, dropped_time timestamp, kind
  text, type text, PRIMARY KEY (keyspace_name, table_name, column_name));
CREATE TABLE functions (keyspace_name text, function_name text, argument_types frozen<list<text>>, argument_names
  frozen<list<text>>, body text, called_on_null_input boolean, language text, return_type text, PRIMARY KEY
  (keyspace_name, function_name, argument_types));
CREATE TABLE indexes (keyspace_name text, table_name text, index_name text, kind text, options frozen<map<text,
  text>>, PRIMARY KEY (keyspace_name, table_name, index_name));
CREATE TABLE keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean, replication frozen<map<text,
  text>>);
CREATE TABLE tables (keyspace_name text, table_name text, additional_write_policy text, allow_auto_snapshot boolean,
  bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc boolean, comment text, compaction
  frozen<map<text, text>>, compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance
  double, default_time_to_live int, extensions frozen<map<text, blob>>, flags frozen<set<text>>, gc_grace_seconds
  int, id uuid, incremental_backups boolean, max_index_interval int, memtable text, memtable_flush_period_in_ms int,
  min_index_interval int, read_repair text, read_repair_chance double, speculative_retry text, PRIMARY KEY
  (keyspace_name, table_name));
CREATE TABLE triggers (keyspace_name text, table_name text, trigger_name text, options frozen<map<text, text>>,
  PRIMARY KEY (keyspace_name, table_name, trigger_name));
CREATE TABLE types (keyspace_name text, type_name text, field_names frozen<list<text>>, field_types
  frozen<list<text>>, PRIMARY KEY (keyspace_name, type_name));
CREATE TABLE views (keyspace_name text, view_name text, additional_write_policy text, allow_auto_snapshot boolean,
  base_table_id uuid, base_table_name text, bloom_filter_fp_chance double, caching frozen<map<text, text>>, cdc
  boolean, comment text, compaction frozen<map<text, text>>, compression frozen<map<text, text>>, crc_check_chance
  double, dclocal_read_repair_chance double, default_time_to_live int, extensions frozen<map<text, blob>>,
  gc_grace_seconds int, id uuid, include_all_columns boolean, incremental_backups boolean, max_index_interval int,
  memtable text, memtable_flush_period_in_ms int, min_index_interval int, read_repair text, read_repair_chance
  double, speculative_retry text, where_clause text, PRIMARY KEY (keyspace_name, view_name));
)cql"},
    {.name = "system_virtual_schema",
     .strategy = "LocalStrategy",
     .replication_factor = 0,
     .is_virtual = true,
     .gc_grace_seconds = 864000,
     .memtable_flush_period_in_ms = 0,
     .first_storage_id = 0,
     .tables = R"cql(
CREATE TABLE columns (keyspace_name text, table_name text, column_name text, clustering_order text,
  column_name_bytes blob, kind text, position int, type text, PRIMARY KEY (keyspace_name, table_name, column_name));
CREATE TABLE keyspaces (keyspace_name text PRIMARY KEY);
CREATE TABLE tables (keyspace_name text, table_name text, comment text, PRIMARY KEY (keyspace_name, table_name));
)cql"},
    {.name = "system_traces",
     .strategy = "SimpleStrategy",
     .replication_factor = 2,
     .is_virtual = false,
     .gc_grace_seconds = 0,
     .memtable_flush_period_in_ms = 0,
     .first_storage_id = 0,
     .tables = R"cql(
CREATE TABLE events (session_id uuid, event_id timeuuid, activity text, source inet, source_elapsed int, source_port
  int, thread text, PRIMARY KEY (session_id, event_id));
CREATE TABLE sessions (session_id uuid PRIMARY KEY, client inet, command text, coordinator inet, coordinator_port
  int, duration int, request text, started_at timestamp, parameters map<text, text>);
)cql"},
    {.name = "system_auth",
     .strategy = "SimpleStrategy",
     .replication_factor = 1,
     .is_virtual = false,
     .gc_grace_seconds = 7776000,
     .memtable_flush_period_in_ms = 0,
     .first_storage_id = 512,
     .tables = R"cql(
CREATE TABLE cidr_groups (cidr_group text PRIMARY KEY, cidrs frozen<set<frozen<tuple<inet, smallint>>>>);
CREATE TABLE cidr_permissions (role text PRIMARY KEY, cidr_groups frozen<set<text>>);
CREATE TABLE identity_to_role (identity text PRIMARY KEY, role text);
CREATE TABLE network_permissions (role text PRIMARY KEY, dcs frozen<set<text>>);
CREATE TABLE resource_role_permissons_index (resource text, role text, PRIMARY KEY (resource, role));
CREATE TABLE role_members (role text, member text, PRIMARY KEY (role, member));
CREATE TABLE role_permissions (role text, resource text, permissions set<text>, PRIMARY KEY (role, resource));
CREATE TABLE roles (role text PRIMARY KEY, can_login boolean, is_superuser boolean, salted_hash text, member_of
  set<text>);
)cql"},
    {.name = "system_distributed",
     .strategy = "SimpleStrategy",
     .replication_factor = 3,
     .is_virtual = false,
     .gc_grace_seconds = 864000,
     .memtable_flush_period_in_ms = 0,
     .first_storage_id = 0,
     .tables = R"cql(
CREATE TABLE parent_repair_history (parent_id timeuuid PRIMARY KEY, exception_message text, exception_stacktrace
  text, finished_at timestamp, keyspace_name text, started_at timestamp, columnfamily_names set<text>, options
  map<text, text>, requested_ranges set<text>, successful_ranges set<text>);
CREATE TABLE partition_denylist (ks_name text, table_name text, key blob, PRIMARY KEY ((ks_name, table_name), key));
CREATE TABLE repair_history (keyspace_name text, columnfamily_name text, id timeuuid, coordinator inet,
  coordinator_port int, exception_message text, exception_stacktrace text, finished_at timestamp, parent_id
  timeuuid, range_begin text, range_end text, started_at timestamp, status text, participants set<inet>,
  participants_v2 set<text>, PRIMARY KEY ((keyspace_name, columnfamily_name), id));
CREATE TABLE view_build_status (keyspace_name text, view_name text, host_id uuid, status text, PRIMARY KEY
  ((keyspace_name, view_name), host_id));
)cql"},
    {.name = "system_views",
     .strategy = "LocalStrategy",
     .replication_factor = 0,
     .is_virtual = true,
     .gc_grace_seconds = 864000,
     .memtable_flush_period_in_ms = 0,
     .first_storage_id = 0,
     .tables = R"cql(
CREATE TABLE clients (address inet, port int, client_options frozen<map<text, text>>, connection_stage text,
  driver_name text, driver_version text, hostname text, keyspace_name text, protocol_version int, request_count
  bigint, ssl_cipher_suite text, ssl_enabled boolean, ssl_protocol text, username text, PRIMARY KEY (address,
  port));
CREATE TABLE cql_metrics (name text PRIMARY KEY, value double);
CREATE TABLE disk_usage (keyspace_name text, table_name text, mebibytes bigint, PRIMARY KEY ((keyspace_name,
  table_name)));
CREATE TABLE pending_hints (host_id uuid PRIMARY KEY, address inet, dc text, files int, newest timestamp, oldest
  timestamp, port int, rack text, status text);
CREATE TABLE sai_column_indexes (keyspace_name text, index_name text, analyzer text, column_name text, is_building
  boolean, is_queryable boolean, is_string boolean, table_name text, PRIMARY KEY (keyspace_name, index_name));
CREATE TABLE settings (name text PRIMARY KEY, value text);
CREATE TABLE snapshots (name text, keyspace_name text, table_name text, created_at timestamp, ephemeral boolean,
  expires_at timestamp, size_on_disk bigint, true_size bigint, PRIMARY KEY (name, keyspace_name, table_name));
CREATE TABLE sstable_tasks (keyspace_name text, table_name text, task_id timeuuid, completion_ratio double, kind
  text, progress bigint, sstables int, target_directory text, total bigint, total_compressed bigint, unit text,
  PRIMARY KEY (keyspace_name, table_name, task_id));
CREATE TABLE streaming (id timeuuid PRIMARY KEY, bytes_received bigint, bytes_sent bigint, bytes_to_receive bigint,
  bytes_to_send bigint, duration_millis bigint, failure_cause text, files_received bigint, files_sent bigint,
  files_to_receive bigint, files_to_send bigint, follower boolean, last_updated_at timestamp, operation text, peers
  frozen<list<text>>, progress_percentage float, status text, status_failure_timestamp timestamp,
  status_init_timestamp timestamp, status_start_timestamp timestamp, status_success_timestamp timestamp,
  success_message text);
)cql"},
};

}  // namespace

std::span<const SystemKeyspace> system_keyspaces() {
  return keyspaces;
}

}  // namespace sibyl::engine
