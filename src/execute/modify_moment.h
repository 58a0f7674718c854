// What one statement writes with, and the memory that building it reuses. Private to this room.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/modify.h"
#include "plan/restrictions.h"
#include "row/fragment.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

struct Moment {
  int64_t timestamp = 0;
  int64_t now_micros = 0;
  int64_t now_seconds = 0;
  int32_t time_to_live = 0;
  bool is_conditional = false;

  row::Deletion deletion() const { return {timestamp, now_seconds}; }
  // Of partitions and ranges. In a conditional batch it leaves what the batch itself writes, since all of its
  // statements have one timestamp.
  row::Deletion wide_deletion() const { return {is_conditional ? timestamp - 1 : timestamp, now_seconds}; }
};

// The records that a statement names.
struct Targets {
  std::vector<Bytes> prefixes;  // of the partitions
  std::vector<plan::Restrictions::NamedRow> rows;
  std::vector<plan::Interval> ranges;  // of rows to delete
  bool names_range = false;            // of rows, for columns to delete from
  bool deletes_partitions = false;
  std::vector<types::ValueView> json_values;  // INSERT JSON: one per column of the table

  void clear() {
    prefixes.clear();
    rows.clear();
    ranges.clear();
    json_values.clear();
    names_range = false;
    deletes_partitions = false;
  }
};

// One per thread: a request builds its write set without leaving the thread, so that the next one may reuse
// all this.
struct Workspace {
  plan::Scratch scratch;
  row::Fragment fragment;
  Targets targets;
  std::vector<types::ValueView> key_values;
  std::vector<BytesView> clustering_values;
  const plan::Guardrails* guardrails = nullptr;  // nullptr: values are not looked at
  std::vector<std::string> warnings;             // theirs
};

Workspace& workspace();

}  // namespace sibyl::execute
