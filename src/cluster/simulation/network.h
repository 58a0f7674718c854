// Messages between simulated servers and clients: delayed, late, lost, duplicated, and cut between pairs.
#pragma once

#include <functional>
#include <random>
#include <set>
#include <utility>

#include "base/executor.h"

namespace sibyl::cluster::simulation {

// Servers have the first numbers, clients the numbers after these.
class Network {
 public:
  using Message = std::move_only_function<void()>;

  Network(base::Executor& world, std::mt19937_64& random) : world_(world), random_(random) {}

  // Delivers by calling `message` later, or never.
  void send(size_t from, size_t to, Message message) {
    if (is_cut(from, to) || chance(loss_)) {
      ++lost_;
      return;
    }
    world_.run_after(delay(), std::move(message));
  }
  // Like send(), for a reply, which may be delivered twice: `message` may be called twice, and must ignore
  // the second call.
  void reply(size_t from, size_t to, const std::function<void()>& message) {
    if (chance(duplicates_)) {
      ++duplicated_;
      world_.run_after(delay(), message);
    }
    send(from, to, message);
  }

  void set_loss(double loss) { loss_ = loss; }
  void set_late(double probability, int64_t max_micros) { late_ = probability, max_late_ = max_micros; }
  void set_duplicates(double probability) { duplicates_ = probability; }
  void set_max_delay(int64_t micros) { max_delay_ = micros; }
  void cut(size_t one, size_t other) { cuts_.insert(std::minmax(one, other)); }
  void heal(size_t one, size_t other) { cuts_.erase(std::minmax(one, other)); }
  bool is_cut(size_t one, size_t other) const { return cuts_.contains(std::minmax(one, other)); }
  uint64_t lost() const { return lost_; }
  uint64_t late() const { return late_messages_; }
  uint64_t duplicated() const { return duplicated_; }

 private:
  bool chance(double probability) {
    return probability > 0 && std::uniform_real_distribution(0.0, 1.0)(random_) < probability;
  }
  int64_t delay() {
    int64_t most = max_delay_;
    if (chance(late_)) {
      ++late_messages_;
      most = max_late_;
    }
    return std::uniform_int_distribution<int64_t>(50, most)(random_);
  }

  base::Executor& world_;
  std::mt19937_64& random_;
  double loss_ = 0, late_ = 0, duplicates_ = 0;
  int64_t max_delay_ = 1'000, max_late_ = 0;
  uint64_t lost_ = 0, late_messages_ = 0, duplicated_ = 0;
  std::set<std::pair<size_t, size_t>> cuts_;
};

}  // namespace sibyl::cluster::simulation
