#include "engine/system_tables/definitions.h"

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
CREATE TABLE batch_metrics (name text PRIMARY KEY, max bigint, p50th double, p999th double, p99th double);
CREATE TABLE caches (name text PRIMARY KEY, capacity_bytes bigint, entry_count int, hit_count bigint, hit_ratio
  double, recent_hit_rate_per_second bigint, recent_request_rate_per_second bigint, request_count bigint, size_bytes
  bigint);
CREATE TABLE cidr_filtering_metrics_counts (name text PRIMARY KEY, value bigint);
CREATE TABLE cidr_filtering_metrics_latencies (name text PRIMARY KEY, max double, p50th double, p95th double, p999th
  double, p99th double);
CREATE TABLE clients (address inet, port int, client_options frozen<map<text, text>>, connection_stage text,
  driver_name text, driver_version text, hostname text, keyspace_name text, protocol_version int, request_count
  bigint, ssl_cipher_suite text, ssl_enabled boolean, ssl_protocol text, username text, PRIMARY KEY (address, port));
CREATE TABLE coordinator_read_latency (keyspace_name text, table_name text, count bigint, max_ms double, p50th_ms
  double, p99th_ms double, per_second double, PRIMARY KEY ((keyspace_name, table_name)));
CREATE TABLE coordinator_scan_latency (keyspace_name text, table_name text, count bigint, max_ms double, p50th_ms
  double, p99th_ms double, per_second double, PRIMARY KEY ((keyspace_name, table_name)));
CREATE TABLE coordinator_write_latency (keyspace_name text, table_name text, count bigint, max_ms double, p50th_ms
  double, p99th_ms double, per_second double, PRIMARY KEY ((keyspace_name, table_name)));
CREATE TABLE cql_metrics (name text PRIMARY KEY, value double);
CREATE TABLE credentials_cache_keys (role text PRIMARY KEY);
CREATE TABLE disk_usage (keyspace_name text, table_name text, mebibytes bigint, PRIMARY KEY ((keyspace_name,
  table_name)));
CREATE TABLE gossip_info (address inet, port int, dc text, dc_version int, disk_usage text, disk_usage_version int,
  generation int, heartbeat int, host_id text, host_id_version int, hostname text, index_status text,
  index_status_version int, internal_address_and_port text, internal_address_and_port_version int, internal_ip text,
  internal_ip_version int, load text, load_version int, native_address_and_port text, native_address_and_port_version
  int, net_version text, net_version_version int, rack text, rack_version int, release_version text,
  release_version_version int, removal_coordinator text, removal_coordinator_version int, rpc_address text,
  rpc_address_version int, rpc_ready text, rpc_ready_version int, "schema" text, schema_version int, severity text,
  severity_version int, sstable_versions text, sstable_versions_version int, status text, status_version int,
  status_with_port text, status_with_port_version int, tokens_version int, x1 text, x10 text, x10_version int,
  x1_version int, x2 text, x2_version int, x3 text, x3_version int, x4 text, x4_version int, x5 text, x5_version int,
  x6 text, x6_version int, x7 text, x7_version int, x8 text, x8_version int, x9 text, x9_version int, x_11_padding
  text, x_11_padding_version int, PRIMARY KEY (address, port));
CREATE TABLE hot_partitions (keyspace_name text, table_name text, kind text, rank int, count bigint, error bigint,
  partition_key text, share double, PRIMARY KEY ((keyspace_name, table_name), kind, rank));
CREATE TABLE internode_inbound (address inet, port int, dc text, rack text, corrupt_frames_recovered bigint,
  corrupt_frames_unrecovered bigint, error_bytes bigint, error_count bigint, expired_bytes bigint, expired_count
  bigint, processed_bytes bigint, processed_count bigint, received_bytes bigint, received_count bigint,
  scheduled_bytes bigint, scheduled_count bigint, throttled_count bigint, throttled_nanos bigint, using_bytes bigint,
  using_reserve_bytes bigint, PRIMARY KEY ((address, port), dc, rack));
CREATE TABLE internode_outbound (address inet, port int, dc text, rack text, active_connections bigint,
  connection_attempts bigint, error_bytes bigint, error_count bigint, expired_bytes bigint, expired_count bigint,
  overload_bytes bigint, overload_count bigint, pending_bytes bigint, pending_count bigint, sent_bytes bigint,
  sent_count bigint, successful_connection_attempts bigint, using_bytes bigint, using_reserve_bytes bigint, PRIMARY
  KEY ((address, port), dc, rack));
CREATE TABLE jmx_permissions_cache_keys (role text PRIMARY KEY);
CREATE TABLE local_read_latency (keyspace_name text, table_name text, count bigint, max_ms double, p50th_ms double,
  p99th_ms double, per_second double, PRIMARY KEY ((keyspace_name, table_name)));
CREATE TABLE local_scan_latency (keyspace_name text, table_name text, count bigint, max_ms double, p50th_ms double,
  p99th_ms double, per_second double, PRIMARY KEY ((keyspace_name, table_name)));
CREATE TABLE local_write_latency (keyspace_name text, table_name text, count bigint, max_ms double, p50th_ms double,
  p99th_ms double, per_second double, PRIMARY KEY ((keyspace_name, table_name)));
CREATE TABLE max_partition_size (keyspace_name text, table_name text, mebibytes bigint, PRIMARY KEY ((keyspace_name,
  table_name)));
CREATE TABLE max_sstable_duration (keyspace_name text, table_name text, max_sstable_duration bigint, PRIMARY KEY
  ((keyspace_name, table_name)));
CREATE TABLE max_sstable_size (keyspace_name text, table_name text, mebibytes bigint, PRIMARY KEY ((keyspace_name,
  table_name)));
CREATE TABLE network_permissions_cache_keys (role text PRIMARY KEY);
CREATE TABLE pending_hints (host_id uuid PRIMARY KEY, address inet, dc text, files int, newest timestamp, oldest
  timestamp, port int, rack text, status text);
CREATE TABLE permissions_cache_keys (role text, resource text, PRIMARY KEY ((role, resource)));
CREATE TABLE queries (thread_id text PRIMARY KEY, queued_micros bigint, running_micros bigint, task text);
CREATE TABLE query_shapes (keyspace_name text, shape text, calls bigint, first_seen timestamp, kind text, last_seen
  timestamp, latency_max_us bigint, latency_p50_us bigint, latency_p99_us bigint, partitions_max bigint,
  partitions_read bigint, query text, rows_read bigint, rows_returned bigint, table_name text, tombstones_read bigint,
  PRIMARY KEY (keyspace_name, shape));
CREATE TABLE repair_jobs (id uuid PRIMARY KEY, completed boolean, duration_millis bigint, failure_cause text,
  keyspace_name text, last_updated_at timestamp, participants frozen<list<text>>, ranges frozen<list<text>>, repair_id
  timeuuid, session_id timeuuid, state_failure_timestamp timestamp, state_init_timestamp timestamp,
  state_skipped_timestamp timestamp, state_snapshot_complete_timestamp timestamp, state_snapshot_start_timestamp
  timestamp, state_start_timestamp timestamp, state_stream_start_timestamp timestamp, state_success_timestamp
  timestamp, state_validation_complete_timestamp timestamp, state_validation_start_timestamp timestamp, status text,
  success_message text, table_name text);
CREATE TABLE repair_participates (id timeuuid PRIMARY KEY, completed boolean, duration_millis bigint, failure_cause
  text, global boolean, incremental boolean, initiator text, last_updated_at timestamp, preview_kind text, ranges
  frozen<list<text>>, repaired_at timestamp, state_failure_timestamp timestamp, state_init_timestamp timestamp,
  state_skipped_timestamp timestamp, state_success_timestamp timestamp, success_message text, tables
  frozen<set<text>>, validations frozen<set<uuid>>);
CREATE TABLE repair_sessions (id timeuuid PRIMARY KEY, completed boolean, duration_millis bigint, failure_cause
  text, jobs frozen<set<uuid>>, keyspace_name text, last_updated_at timestamp, participants frozen<list<text>>, ranges
  frozen<list<text>>, repair_id timeuuid, state_failure_timestamp timestamp, state_init_timestamp timestamp,
  state_jobs_start_timestamp timestamp, state_skipped_timestamp timestamp, state_start_timestamp timestamp,
  state_success_timestamp timestamp, status text, success_message text, table_names frozen<list<text>>);
CREATE TABLE repair_validations (id uuid PRIMARY KEY, bytes_read bigint, completed boolean, duration_millis bigint,
  estimated_partitions bigint, estimated_total_bytes bigint, failure_cause text, initiator text, keyspace_name text,
  last_updated_at timestamp, partitions_processed bigint, progress_percentage float, ranges frozen<list<text>>,
  repair_id timeuuid, session_id timeuuid, state_accept_timestamp timestamp, state_failure_timestamp timestamp,
  state_init_timestamp timestamp, state_sending_trees_timestamp timestamp, state_skipped_timestamp timestamp,
  state_start_timestamp timestamp, state_success_timestamp timestamp, status text, success_message text, table_name
  text);
CREATE TABLE repairs (id timeuuid PRIMARY KEY, command_id int, completed boolean, duration_millis bigint,
  failure_cause text, keyspace_name text, last_updated_at timestamp, options_column_families frozen<set<text>>,
  options_data_centers frozen<set<text>>, options_force_repair boolean, options_hosts frozen<set<text>>,
  options_ignore_unreplicated_keyspaces boolean, options_incremental boolean, options_job_threads int,
  options_optimise_streams boolean, options_parallelism text, options_preview_kind text, options_primary_range
  boolean, options_pull_repair boolean, options_ranges frozen<set<text>>, options_subrange_repair boolean,
  options_trace boolean, participants frozen<list<text>>, ranges frozen<list<frozen<list<text>>>>, sessions
  frozen<set<timeuuid>>, state_failure_timestamp timestamp, state_init_timestamp timestamp,
  state_prepare_complete_timestamp timestamp, state_prepare_start_timestamp timestamp, state_repair_complete_timestamp
  timestamp, state_repair_start_timestamp timestamp, state_setup_timestamp timestamp, state_skipped_timestamp
  timestamp, state_start_timestamp timestamp, state_success_timestamp timestamp, status text, success_message text,
  table_names frozen<list<text>>, type text, unfiltered_ranges frozen<list<frozen<list<text>>>>);
CREATE TABLE roles_cache_keys (role text PRIMARY KEY);
CREATE TABLE rows_per_read (keyspace_name text, table_name text, count bigint, max double, p50th double, p99th
  double, PRIMARY KEY ((keyspace_name, table_name)));
CREATE TABLE sai_column_indexes (keyspace_name text, index_name text, analyzer text, column_name text, is_building
  boolean, is_queryable boolean, is_string boolean, table_name text, PRIMARY KEY (keyspace_name, index_name));
CREATE TABLE sai_sstable_index_segments (keyspace_name text, index_name text, sstable_name text,
  segment_row_id_offset bigint, cell_count bigint, column_name text, component_metadata frozen<map<text,
  frozen<map<text, text>>>>, end_token text, max_sstable_row_id bigint, max_term text, min_sstable_row_id bigint,
  min_term text, start_token text, table_name text, PRIMARY KEY (keyspace_name, index_name, sstable_name,
  segment_row_id_offset));
CREATE TABLE sai_sstable_indexes (keyspace_name text, index_name text, sstable_name text, cell_count bigint,
  column_name text, end_token text, format_version text, max_row_id bigint, min_row_id bigint, per_column_disk_size
  bigint, per_table_disk_size bigint, start_token text, table_name text, PRIMARY KEY (keyspace_name, index_name,
  sstable_name));
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
CREATE TABLE system_logs (timestamp timestamp, order_in_millisecond int, level text, logger text, message text,
  PRIMARY KEY (timestamp, order_in_millisecond));
CREATE TABLE system_properties (name text PRIMARY KEY, value text);
CREATE TABLE table_statistics (keyspace_name text, table_name text, bytes bigint, counted_seconds double,
  partition_bytes_max bigint, partition_bytes_p50 bigint, partition_bytes_p90 bigint, partition_bytes_p99 bigint, partition_rows_max bigint,
  partition_rows_p50 bigint, partition_rows_p90 bigint, partition_rows_p99 bigint, partitions bigint, reads bigint,
  rows bigint, since timestamp, tombstones_per_read_max bigint, tombstones_per_read_p50 double,
  tombstones_per_read_p99 double, writes bigint, PRIMARY KEY (keyspace_name, table_name));
CREATE TABLE thread_pools (name text PRIMARY KEY, active_tasks int, active_tasks_limit int, blocked_tasks bigint,
  blocked_tasks_all_time bigint, completed_tasks bigint, pending_tasks int);
CREATE TABLE tombstones_per_read (keyspace_name text, table_name text, count bigint, max double, p50th double, p99th
  double, PRIMARY KEY ((keyspace_name, table_name)));
)cql"},
};

}  // namespace

std::span<const SystemKeyspace> system_keyspaces() {
  return keyspaces;
}

}  // namespace sibyl::engine
