#include "cli/cluster/storage.h"

#include <future>
#include <utility>

#include "storage/objects/rados/open_rados.h"

namespace sibyl::cli {

base::Result<std::unique_ptr<storage::objects::ObjectStore>> connect_to_storage(
    const ClusterOptions& options, std::chrono::seconds timeout) {
  constexpr size_t prefix = std::string_view("rados:").size();
  const std::string place = options.storage.substr(prefix);
  const size_t slash = place.find('/');
  storage::objects::RadosOptions rados;
  rados.configuration = options.configuration;
  rados.user = options.user;
  rados.pool = place.substr(0, slash);
  if (slash != std::string::npos) rados.object_namespace = place.substr(slash + 1);
  rados.timeout = timeout;
  return storage::objects::open_rados(rados);
}

base::Result<cluster::State> read_cluster_state(storage::objects::ObjectStore& store) {
  auto promise = std::make_shared<std::promise<base::Result<cluster::State>>>();
  auto found = promise->get_future();
  cluster::read_state(
      store, [promise](base::Result<cluster::State> state) { promise->set_value(std::move(state)); });
  return found.get();
}

}  // namespace sibyl::cli
