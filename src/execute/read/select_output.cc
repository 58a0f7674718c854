#include "execute/read/select_output.h"

#include <algorithm>

#include "base/statement.h"
#include "types/compare.h"
#include "types/keys/key_decode.h"
#include "types/print_json.h"

namespace sibyl::execute {

// --- Writing rows

namespace {
constexpr int64_t nanos_of_accumulation = 50;
// The work for a smaller value is not counted, because counting would take longer than the work.
constexpr size_t quick_value = 4096;
}  // namespace

base::Status RowWriter::write(std::span<const ValueView> inputs, std::span<const ValueView> aggregates,
                              RowBuffer& rows) {
  bindings_.inputs = inputs;
  bindings_.aggregates = aggregates;
  if (plan_.selection.json) return write_json(rows);
  bool used_scratch = false;
  for (const plan::Output& output : plan_.selection.outputs) {
    ValueView value;
    if (output.input >= 0) {
      value = inputs[static_cast<size_t>(output.input)];
    } else {
      SIBYL_ASSIGN(value, output.term->evaluate(bindings_, scratch_));
      used_scratch = true;
    }
    if (value.is_present())
      rows.add(value.bytes);
    else
      rows.add_null();
    if (value.bytes.size() > quick_value) base::count_work(static_cast<int64_t>(value.bytes.size() / 4));
  }
  rows.end_row();
  if (used_scratch) scratch_.clear();
  return {};
}

base::Status RowWriter::write_json(RowBuffer& rows) {
  static const types::TypePtr& text = types::scalar(types::Kind::text);
  Bytes json = "{";
  for (size_t i = 0; i < plan_.selection.outputs.size(); ++i) {
    const plan::ColumnSpec& column = plan_.selection.names->columns[i];
    SIBYL_ASSIGN(const ValueView value, plan_.selection.outputs[i].term->evaluate(bindings_, scratch_));
    if (i != 0) json += ", ";
    // Column names that need quotes in CQL have these quotes in the JSON string as well.
    const bool is_plain =
        std::none_of(column.name.begin(), column.name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    json += types::to_json(*text, is_plain ? column.name : "\"" + column.name + "\"");
    json += ": ";
    // An empty value of a user type has only null fields.
    const bool has_parts = !column.type->parameters().empty() && column.type->kind() != types::Kind::udt;
    const bool is_null = !value.is_present() || (value.bytes.empty() && has_parts);
    base::count_work(static_cast<int64_t>(value.bytes.size()));
    json += is_null ? "null" : types::to_json(*column.type, value.bytes);
  }
  json += "}";
  rows.add(json);
  rows.end_row();
  scratch_.clear();
  return {};
}

// --- Groups

Groups::Groups(const plan::Select& plan, plan::Bindings bindings) : plan_(plan), bindings_(bindings) {
  reset_accumulators();
}

void Groups::reset_accumulators() {
  accumulators_.clear();
  for (const plan::Aggregate& aggregate : plan_.selection.aggregates)
    accumulators_.push_back(aggregate.function->accumulate(*aggregate.function));
}

base::Result<Bytes> Groups::function_value(std::span<const ValueView> inputs) {
  bindings_.inputs = inputs;
  scratch_.clear();
  SIBYL_ASSIGN(const ValueView value, plan_.group_by->last->evaluate(bindings_, scratch_));
  return value.is_present() ? Bytes(value.bytes) : Bytes();
}

base::Result<bool> Groups::continues(BytesView partition_key, std::optional<BytesView> clustering,
                                     std::span<const ValueView> inputs) {
  if (!has_group_) return false;
  if (plan_.group_by == nullptr) return true;
  if (partition_key != partition_key_) return false;
  if (!prefix_ || !clustering) return false;
  // A row whose last grouped columns are null is the only row with these values.
  if (is_single_row_ || !clustering->starts_with(*prefix_)) return false;
  if (plan_.group_by->last == nullptr) return true;
  SIBYL_ASSIGN(const Bytes value, function_value(inputs));
  return value == function_value_;
}

base::Status Groups::start(BytesView partition_key, std::optional<BytesView> clustering,
                           std::span<const ValueView> inputs) {
  has_group_ = true;
  is_single_row_ = false;
  partition_key_.assign(partition_key);
  prefix_.reset();
  if (clustering && plan_.group_by != nullptr) {
    const bool by_function = plan_.group_by->last != nullptr;
    const size_t columns = plan_.group_by->clustering_columns - (by_function ? 1 : 0);
    BytesView rest = *clustering;
    size_t i = 0;
    for (; i < columns && !rest.empty(); ++i) {
      const schema::Column& column = plan_.table->clustering(i);
      SIBYL_ASSIGN(const Bytes value, types::decode_key(*column.type, column.descending, rest));
    }
    is_single_row_ = i < columns;
    prefix_ = Bytes(clustering->substr(0, clustering->size() - rest.size()));
    if (by_function) {
      SIBYL_ASSIGN(function_value_, function_value(inputs));
    }
  }
  first_bytes_.resize(inputs.size());
  first_.assign(inputs.size(), ValueView::null());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_present()) continue;
    first_bytes_[i].assign(inputs[i].bytes);
    first_[i] = ValueView::of(first_bytes_[i]);
  }
  return {};
}

base::Status Groups::add(std::span<const ValueView> inputs) {
  bindings_.inputs = inputs;
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    arguments_.clear();
    for (const plan::TermPtr& argument : plan_.selection.aggregates[i].arguments) {
      SIBYL_ASSIGN(const ValueView value, argument->evaluate(bindings_, scratch_));
      if (value.is_unset())
        return base::invalid("Invalid unset value for argument in call to function " +
                             plan_.selection.aggregates[i].function->name);
      arguments_.push_back(value);
    }
    base::count_work(nanos_of_accumulation);
    SIBYL_TRY(accumulators_[i]->add(arguments_));
    if (!arguments_.empty()) scratch_.clear();
  }
  return {};
}

base::Status Groups::finish(RowWriter& writer, RowBuffer& rows) {
  std::vector<ValueView> results;
  for (const auto& accumulator : accumulators_) {
    SIBYL_ASSIGN(const ValueView result, accumulator->result());
    results.push_back(result);
  }
  if (!has_group_) first_.assign(plan_.selection.inputs.size(), ValueView::null());
  SIBYL_TRY(writer.write(first_, results, rows));
  has_group_ = false;
  reset_accumulators();
  return {};
}

// --- Sorted rows

void SortedRows::add(std::span<const ValueView> inputs, RowBuffer&& row) {
  Row added;
  for (const plan::Select::SortKey& key : plan_.sort) {
    const ValueView& value = inputs[static_cast<size_t>(key.input)];
    added.keys.emplace_back(value.bytes);
    added.present.push_back(value.is_present());
    byte_size_ += value.bytes.size();
  }
  added.bytes = row.take_bytes();
  byte_size_ += added.bytes.size() + sizeof(Row);
  rows_.push_back(std::move(added));
}

bool SortedRows::less(const Row& left, const Row& right) const {
  for (size_t i = 0; i < plan_.sort.size(); ++i) {
    const bool descending = plan_.sort[i].descending;
    // Rows without clustering (only static columns) come first in clustering order.
    if (left.present[i] != right.present[i]) return left.present[i] == plan_.reversed;
    const int order = types::compare(*plan_.sort[i].type, left.keys[i], right.keys[i]);
    if (order != 0) return descending ? order > 0 : order < 0;
  }
  return false;
}

void SortedRows::write(int64_t limit, RowBuffer& rows) {
  std::stable_sort(rows_.begin(), rows_.end(),
                   [this](const Row& left, const Row& right) { return less(left, right); });
  for (const Row& row : rows_) {
    if (limit-- == 0) return;
    rows.add_encoded_row(row.bytes);
  }
}

}  // namespace sibyl::execute
