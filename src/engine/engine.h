// A database: opens the data directory and assembles the parts.
//
// Threads: thread-safe. Completions run on the calling thread or on a thread of the store. Destroy the Engine
// only after all requests have completed.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/options.h"
#include "engine/services.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

struct ClusterNode;  // system_tables.h

class Engine {
 public:
  // Opens the data directory, or creates it. Fails if the directory is in use, has another format, or is not
  // a Sibyl directory.
  static base::Result<std::unique_ptr<Engine>> open(const Options& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The parts live as long as the engine. Callers that need one part take that part.
  Planner& planner();
  Executor& executor();
  Authenticator& authenticator();
  SchemaSource& schema_source();
  ServerTables& server_tables();
  TraceSink& traces();
  storage::Store& store();
  base::Clock& clock();
  // All parts above, and measurements.
  Services services();

  // --- In a cluster of several servers (SharedData::open_store)

  // Handles a message that another server passed to SharedData::announce. Blocks.
  base::Status receive(base::BytesView announcement);
  // Makes this server use the newest schema, which another server may have changed. Call it before running a
  // statement that was planned for a schema that this server does not know. Blocks.
  base::Status reload();
  // Makes `executor` run the statements of services(). It may pass some of them to local_executor(), and must
  // outlive the engine's users. Call it before statements run. Without this call, the engine runs them
  // itself.
  void set_executor(Executor& executor);
  Executor& local_executor();

  // Handles a message that another server passed to SharedData::ask_owner, while its shard is kept open.
  // Blocks.
  base::Result<base::Bytes> apply(base::BytesView message);

  // Shows the servers of the cluster that this one belongs to, in system.local and the tables of peers.
  base::Status show_cluster(const std::vector<ClusterNode>& nodes);

  // As in system.local, 16 bytes.
  const base::Bytes& host_id() const;
  schema::SnapshotPtr schema() const;
  base::Status flush();
  // Compacts the whole store. Blocks, possibly for long.
  base::Status compact();

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sibyl::engine
