// The parameters of one statement's writes, and memory that is reused between statements. Internal to
// src/execute.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/evaluation/clustering.h"
#include "plan/evaluation/intervals.h"
#include "plan/restrictions/restrictions.h"
#include "plan/statements/modify.h"
#include "row/fragment.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

struct WriteContext {
  int64_t timestamp = 0;
  int64_t now_micros = 0;
  int64_t now_seconds = 0;
  int32_t time_to_live = 0;
  bool is_conditional = false;

  row::Deletion deletion() const { return {timestamp, now_seconds}; }
  // The deletion of a partition or range. In a conditional batch it must not cover the batch's own writes,
  // which have the same timestamp.
  row::Deletion wide_deletion() const { return {is_conditional ? timestamp - 1 : timestamp, now_seconds}; }
};

// The records that a statement names.
struct Targets {
  std::vector<Bytes> prefixes;  // of the partitions
  std::vector<plan::NamedRow> rows;
  std::vector<plan::Interval> ranges;  // rows to delete
  bool names_range = false;            // names a range of rows from which columns are deleted
  bool deletes_partitions = false;
  std::vector<types::ValueView> json_values;  // the values of INSERT JSON, one for each column of the table

  void clear() {
    prefixes.clear();
    rows.clear();
    ranges.clear();
    json_values.clear();
    names_range = false;
    deletes_partitions = false;
  }
};

// One per thread. A request builds its write set on one thread, so the next request can reuse the memory.
struct Workspace {
  plan::Scratch scratch;
  row::Fragment fragment;
  Targets targets;
  std::vector<types::ValueView> key_values;
  std::vector<BytesView> clustering_values;
  const plan::Guardrails* guardrails = nullptr;  // nullptr: values are not checked
  std::vector<std::string> warnings;             // from the guardrails
};

Workspace& workspace();

}  // namespace sibyl::execute
