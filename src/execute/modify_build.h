// From a bound statement and its values to a write set. Private to this room.
#pragma once

#include "execute/counter.h"
#include "execute/modify_moment.h"
#include "execute/modify_read.h"
#include "storage/store.h"

namespace sibyl::execute {

// Which partitions the statement names, and then which rows in them. Apart, since conditions ask for one
// partition before a row's values are looked at.
base::Status resolve_partitions(const plan::Modification& statement, const plan::Bindings& bindings,
                                Workspace& space, Targets& targets);
base::Status resolve_rows(const plan::Modification& statement, const plan::Bindings& bindings,
                          Workspace& space, Targets& targets);
// Both. Too many together are refused; `named` counts those of a batch's statements.
base::Status resolve_targets(const plan::Modification& statement, const plan::Bindings& bindings,
                             Workspace& space, Targets& targets, size_t& named);

// What a statement that reads first reads and adds up; shared by the statements of a batch.
struct Before {
  ReadBefore reads;
  CounterTally counters;
};

// Adds the statement's records to `writes`. `before` is nullptr when nothing reads first; counters are only
// tallied.
base::Status build_writes(const plan::Modification& statement, const Targets& targets,
                          const plan::Bindings& bindings, const Moment& moment, Before* before,
                          Workspace& space, storage::WriteSet& writes);

// INSERT JSON: the values of all columns of the table, kept in `scratch`.
base::Status read_json(const plan::Modification& statement, const plan::Bindings& bindings,
                       plan::Scratch& scratch, std::vector<types::ValueView>& values);

}  // namespace sibyl::execute
