#include "cluster/placement.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sibyl::cluster {
namespace {

// FNV-1a, then a finaliser that spreads short names over all bits. May change: no format depends on it.
uint64_t weight_of(const std::string& member, uint32_t shard) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : member) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  hash ^= shard * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

class Placement {
 public:
  Placement(const std::vector<std::string>& owners, const std::vector<std::string>& members)
      : owners_(owners.size()),
        low_(owners.size() / members.size()),
        larger_(owners.size() % members.size()) {
    for (const std::string& member : members) shards_[member];
    for (uint32_t shard = 0; shard < owners.size(); ++shard) {
      const auto found = shards_.find(owners[shard]);
      if (found == shards_.end())
        unowned_.push_back(shard);
      else
        found->second.push_back(shard);
    }
  }

  std::vector<std::string> run() {
    choose_quotas();
    for (auto& [member, shards] : shards_) release_excess(member, shards);
    for (auto& [member, shards] : shards_) fill(member, shards);
    for (const auto& [member, shards] : shards_)
      for (const uint32_t shard : shards) owners_[shard] = member;
    return std::move(owners_);
  }

 private:
  // The members that own most now keep one more than the others.
  void choose_quotas() {
    std::vector<std::pair<size_t, std::string>> by_size;
    for (const auto& [member, shards] : shards_) by_size.emplace_back(shards.size(), member);
    std::sort(by_size.begin(), by_size.end(), [](const auto& left, const auto& right) {
      return left.first != right.first ? left.first > right.first : left.second < right.second;
    });
    for (size_t i = 0; i < by_size.size(); ++i) quotas_[by_size[i].second] = low_ + (i < larger_ ? 1 : 0);
  }

  void sort_by_preference(const std::string& member, std::vector<uint32_t>& shards) const {
    std::sort(shards.begin(), shards.end(), [&](uint32_t left, uint32_t right) {
      return std::pair(weight_of(member, left), left) > std::pair(weight_of(member, right), right);
    });
  }

  void release_excess(const std::string& member, std::vector<uint32_t>& shards) {
    const size_t quota = quotas_[member];
    if (shards.size() <= quota) return;
    sort_by_preference(member, shards);
    unowned_.insert(unowned_.end(), shards.begin() + static_cast<ptrdiff_t>(quota), shards.end());
    shards.resize(quota);
  }

  void fill(const std::string& member, std::vector<uint32_t>& shards) {
    const size_t missing = quotas_[member] - shards.size();
    if (missing == 0) return;
    sort_by_preference(member, unowned_);
    const auto end = unowned_.begin() + static_cast<ptrdiff_t>(missing);
    shards.insert(shards.end(), unowned_.begin(), end);
    unowned_.erase(unowned_.begin(), end);
  }

  std::vector<std::string> owners_;
  size_t low_, larger_;  // each member gets `low_` shards; `larger_` members get one more
  std::map<std::string, std::vector<uint32_t>> shards_;
  std::map<std::string, size_t> quotas_;
  std::vector<uint32_t> unowned_;
};

}  // namespace

std::vector<std::string> place_shards(const std::vector<std::string>& owners,
                                      const std::vector<std::string>& members) {
  if (members.empty()) return std::vector<std::string>(owners.size());
  return Placement(owners, members).run();
}

}  // namespace sibyl::cluster
