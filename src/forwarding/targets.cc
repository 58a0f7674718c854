#include "forwarding/targets.h"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include "execute/write/modify_build.h"
#include "plan/evaluation/keys.h"
#include "plan/evaluation/partitions.h"
#include "plan/statements/modify.h"
#include "plan/statements/select.h"
#include "storage/store.h"
#include "types/keys/murmur3.h"

namespace sibyl::forwarding {
namespace {

using plan::Modification;
using types::ValueView;

bool is_system(const schema::Table& table) {
  return table.storage_id < storage::PurgePolicy::first_table_id;
}

bool is_fixed(const plan::TermPtr& term) {
  return term->marker_index() >= 0 || term->is_constant();
}

class Finder {
 public:
  Finder(std::span<const ValueView> values, int64_t now_micros, const ShardOfToken& shard_of)
      : shard_of_(shard_of) {
    bindings_.values = values;
    bindings_.now_micros = now_micros;
  }

  Target find(const plan::Prepared& plan) {
    return std::visit([&](const auto& what) { return find(plan, what); }, plan.plan);
  }
  // Returns false if the statement has an error.
  bool add(const Modification& statement) {
    target_.kind = Target::Kind::shards;
    if (is_system(*statement.table)) {
      target_.shards.insert(meta_shard);
      return true;
    }
    if (statement.where || statement.json) return add_computed(statement);
    std::vector<ValueView> key;
    key.reserve(statement.partition_key.size());
    for (const plan::TermPtr& term : statement.partition_key) {
      const auto value = term->evaluate(bindings_, scratch_);
      if (!value) return false;
      target_.is_random = target_.is_random || !is_fixed(term);
      key.push_back(*value);
    }
    return add_key(*statement.table, key);
  }
  Target take() { return std::move(target_); }

 private:
  Target find(const plan::Prepared& plan, const std::shared_ptr<const plan::Select>& select) {
    const schema::Table& table = *select->table;
    if (table.is_virtual) return Target::here();
    target_.kind = Target::Kind::shards;
    if (is_system(table)) {
      target_.shards.insert(meta_shard);
      return take();
    }
    if (!plan.partition_key_markers.empty() && has_all(plan.partition_key_markers)) {
      std::vector<ValueView> key;
      for (const uint16_t marker : plan.partition_key_markers) key.push_back(bindings_.values[marker]);
      if (add_key(table, key)) return take();
      return Target::here();
    }
    if (select->where->partitions() != plan::Restrictions::Partitions::keys) return Target::many();
    const auto keys = plan::partition_keys(*select->where, bindings_, scratch_);
    if (!keys || keys->empty()) return Target::here();
    for (const auto& key : *keys) add_token(types::murmur3_token(key));
    // If the statement names several shards, each is read at its owner.
    return target_.shards.size() == 1 ? take() : Target::many();
  }
  Target find(const plan::Prepared&, const std::shared_ptr<const Modification>& statement) {
    return add(*statement) ? take() : Target::here();
  }
  Target find(const plan::Prepared&, const std::shared_ptr<const plan::Batch>& batch) {
    for (const auto& statement : batch->statements)
      if (!add(*statement)) return Target::here();
    return take();
  }
  Target find(const plan::Prepared&, const plan::Truncate& truncate) {
    return truncate.table->is_virtual ? Target::here() : Target::define();
  }
  Target find(const plan::Prepared&, const plan::Definition&) { return Target::define(); }
  template <typename Other>
  Target find(const plan::Prepared&, const Other&) {
    return Target::here();
  }

  bool has_all(const std::vector<uint16_t>& markers) const {
    return std::ranges::all_of(markers, [&](uint16_t marker) {
      return marker < bindings_.values.size() && bindings_.values[marker].is_present();
    });
  }

  bool add_computed(const Modification& statement) {
    execute::Workspace space;
    execute::Targets named;
    if (!execute::resolve_partitions(statement, bindings_, space, named)) return false;
    constexpr size_t table_id_size = 4, token_size = 8;
    for (const base::Bytes& prefix : named.prefixes)
      add_token(types::decode_token(base::BytesView(prefix).substr(table_id_size, token_size)));
    return true;
  }

  bool add_key(const schema::Table& table, std::span<const ValueView> values) {
    const auto key = plan::partition_key_of(table, values);
    if (key) add_token(types::murmur3_token(*key));
    return key.has_value();
  }
  void add_token(int64_t token) { target_.shards.insert(shard_of_(token)); }

  const ShardOfToken& shard_of_;
  plan::Bindings bindings_;
  plan::Scratch scratch_;
  Target target_;
};

}  // namespace

Target target_of(const plan::Prepared& plan, std::span<const ValueView> values, int64_t now_micros,
                 const ShardOfToken& shard_of) {
  return Finder(values, now_micros, shard_of).find(plan);
}

Target target_of(const execute::BatchItem& item, int64_t now_micros, const ShardOfToken& shard_of) {
  const auto* statement = std::get_if<std::shared_ptr<const Modification>>(&item.statement->plan);
  Finder finder(item.values, now_micros, shard_of);
  if (statement == nullptr || !finder.add(**statement)) return Target::here();
  return finder.take();
}

}  // namespace sibyl::forwarding
