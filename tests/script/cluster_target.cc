#include <cstdio>
#include <cstdlib>
#include <random>

#include "hosting/test_engines.h"
#include "script/engine_target.h"

namespace sibyl::script {
namespace {

constexpr uint32_t shard_count = 7;

class ClusterTarget final : public Target {
 public:
  ClusterTarget() : engines_(shard_count, 3) {
    engines_.options.dynamic_data_masking = true;  // as in the recorded Cassandra
    for (size_t i = 0; i < engines_.size(); ++i) {
      if (const auto opened = engines_.open(i); opened) continue;
      std::fprintf(stderr, "cannot open an engine of a cluster\n");
      std::exit(2);
    }
  }

  Outcome run(const std::string& statement, const Mode& mode) override {
    constexpr uint64_t statements_per_move = 4;
    if (random_() % statements_per_move == 0)
      engines_.cluster.move(static_cast<uint32_t>(random_() % shard_count), random_() % engines_.size());
    const size_t first = next_++;
    return run_on([&](size_t attempt) { return &engines_.at((first + attempt) % engines_.size()); },
                  statement, mode, keyspace_);
  }
  void restart() override {}

 private:
  cluster::TestEngines engines_;
  std::mt19937_64 random_{1};
  size_t next_ = 0;
  std::string keyspace_;
};

}  // namespace

std::unique_ptr<Target> cluster_target() {
  return std::make_unique<ClusterTarget>();
}

}  // namespace sibyl::script
