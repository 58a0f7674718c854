// `sibyl snapshot` on a cluster (cli/cluster/cluster_snapshots.h).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/configuration/data_option.h"

namespace sibyl::cli {

struct SnapshotArguments {
  DatabasePlace place{default_data_directory, {}};
  std::string name;
  std::string to;
  bool all = false;
  bool as_json = false;
};

// Each returns the exit status. REQUIRES: arguments.place.is_cluster().
int take_on_cluster(const SnapshotArguments& arguments);
int list_on_cluster(const SnapshotArguments& arguments);
int verify_on_cluster(const SnapshotArguments& arguments);
int clear_on_cluster(const SnapshotArguments& arguments);
int restore_on_cluster(const SnapshotArguments& arguments);

int refuse_snapshot(int status, const base::Error& error);
// Returns a text such as "1.5 MiB".
std::string size_text(uint64_t bytes);

}  // namespace sibyl::cli
