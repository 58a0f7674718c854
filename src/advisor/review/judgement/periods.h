// Columns of a partition key whose values are periods of time.
#pragma once

#include "advisor/review/review_model.h"

namespace sibyl::advisor {

// True for names such as day, event_date, yyyymm and hour_bucket. False for cyclic values (day_of_week) and
// words that only sound alike (candidate).
bool is_named_like_period(const std::string& name);

// True if the column of a partition key holds a period: it is declared to grow, or its type or name suggests
// it and no number of values is declared.
bool is_period(const schema::Table& table, const schema::Column& column, const ColumnFacts& known);

// New periods per second, by the column's name and type: `month` has one every 30 days. Nullopt if name and
// type do not show it, as for `bucket`.
std::optional<double> usual_growth(const schema::Column& column);

// New keys per second of a summary. In a summary, the finest time of the key is a period of a minute or more,
// and INSERTs within that period replace the row. Infinite if the values of another key column are not known.
// Nullopt if the table is not a summary, or if its rows have a time of their own.
std::optional<double> summaries_per_second(const TableFacts& facts);

}  // namespace sibyl::advisor
