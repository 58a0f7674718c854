// Statements of a server of a cluster: statements of its clients that run at other servers, and statements of
// other servers that run here.
#pragma once

#include <memory>

#include "cli/serve/cluster_member.h"
#include "engine/engine.h"
#include "forwarding/forwarding_executor.h"
#include "forwarding/statement_service.h"
#include "forwarding/task_pool.h"

namespace sibyl::cli {

class ClusterStatements {
 public:
  // Both must outlive this object. From now on, the engine's services run statements where their partitions
  // are.
  ClusterStatements(ClusterMember& member, engine::Engine& engine);
  // Waits for statements of other servers. REQUIRES: the statements of this server's clients are complete.
  ~ClusterStatements();
  ClusterStatements(const ClusterStatements&) = delete;
  ClusterStatements& operator=(const ClusterStatements&) = delete;

 private:
  ClusterMember& member_;
  std::unique_ptr<forwarding::StatementService> service_;
  forwarding::TaskPool pool_;
  forwarding::ForwardingExecutor executor_;
};

}  // namespace sibyl::cli
