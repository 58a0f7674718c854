// Messages between simulated servers and clients: delayed, lost, and cut between pairs.
#pragma once

#include <functional>
#include <random>
#include <set>
#include <utility>

#include "base/executor.h"

namespace sibyl::cluster::simulation {

// Clients have the numbers after those of the servers.
class Network {
 public:
  using Message = std::move_only_function<void()>;

  Network(base::Executor& world, std::mt19937_64& random) : world_(world), random_(random) {}

  // Delivers by calling `message` later, or never.
  void send(size_t from, size_t to, Message message) {
    if (is_cut(from, to) || std::uniform_real_distribution(0.0, 1.0)(random_) < loss_) {
      ++lost_;
      return;
    }
    world_.run_after(std::uniform_int_distribution<int64_t>(50, max_delay_)(random_), std::move(message));
  }

  void set_loss(double loss) { loss_ = loss; }
  void set_max_delay(int64_t micros) { max_delay_ = micros; }
  void cut(size_t one, size_t other) { cuts_.insert(std::minmax(one, other)); }
  void heal(size_t one, size_t other) { cuts_.erase(std::minmax(one, other)); }
  bool is_cut(size_t one, size_t other) const { return cuts_.contains(std::minmax(one, other)); }
  uint64_t lost() const { return lost_; }

 private:
  base::Executor& world_;
  std::mt19937_64& random_;
  double loss_ = 0;
  int64_t max_delay_ = 1'000;
  uint64_t lost_ = 0;
  std::set<std::pair<size_t, size_t>> cuts_;
};

}  // namespace sibyl::cluster::simulation
