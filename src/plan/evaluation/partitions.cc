#include "plan/evaluation/partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "plan/evaluation/clustering.h"
#include "plan/evaluation/keys.h"
#include "plan/evaluation/values.h"
#include "types/compare.h"
#include "types/keys/murmur3.h"

namespace sibyl::plan {

using base::invalid;

namespace {

// The tokens that token() relations allow. A range may wrap around, like Cassandra's ranges.
struct TokenSet {
  TokenRange range;
  bool wraps = false;  // the tokens are those outside of (last, first)

  bool contains(int64_t token) const {
    return wraps ? token >= range.first || token <= range.last : token >= range.first && token <= range.last;
  }
};

base::Result<int64_t> token_value(const TermPtr& term, const Bindings& bindings, Scratch& scratch) {
  SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
  if (value.is_unset()) return invalid("Invalid unset value for column partition key token");
  if (value.is_null() || value.bytes.empty()) return invalid("Invalid null token value");
  return types::decode_integer(types::Kind::bigint, value.bytes);
}

// `open_minimum`: if true, a range that ends at the minimum token has no end. It is true for ranges of
// tokens, but not if keys are named too.
base::Result<TokenSet> allowed_tokens(const TokenRestriction& token, const Bindings& bindings,
                                      Scratch& scratch, bool open_minimum) {
  TokenSet set;
  if (!token.exists()) return set;
  constexpr int64_t minimum = INT64_MIN;
  int64_t start = minimum, end = minimum;
  bool include_start = true, include_end = true;
  if (token.equal != nullptr) {
    SIBYL_ASSIGN(start, token_value(token.equal, bindings, scratch));
    end = start;
  }
  if (token.start) {
    SIBYL_ASSIGN(start, token_value(token.start->value, bindings, scratch));
    include_start = token.start->inclusive;
  }
  if (token.end) {
    SIBYL_ASSIGN(end, token_value(token.end->value, bindings, scratch));
    include_end = token.end->inclusive;
  }
  const bool has_end = (token.end || token.equal != nullptr) && !(open_minimum && end == minimum);
  set.wraps = has_end && start != minimum && start > end;
  const bool nothing_before = has_end && end == minimum && !include_end;
  if (set.wraps && nothing_before) {  // the range has only tokens after the start
    set.wraps = false;
    set.range = {include_start || start == INT64_MAX ? start : start + 1, INT64_MAX};
    return set;
  }
  const bool nothing = nothing_before || (has_end && start == end && (!include_start || !include_end)) ||
                       (!include_start && start == INT64_MAX && !has_end);
  if (nothing) {
    set.range = {1, 0};
    return set;
  }
  set.range.first = include_start || start == INT64_MAX ? start : start + 1;
  set.range.last = !has_end ? INT64_MAX : include_end ? end : end - 1;
  return set;
}

}  // namespace

base::Result<TokenRange> token_range(const Restrictions& where, const Bindings& bindings, Scratch& scratch) {
  SIBYL_ASSIGN(const TokenSet set, allowed_tokens(where.token(), bindings, scratch, true));
  return set.wraps ? TokenRange{1, 0} : set.range;
}

namespace {

// The values of the key's columns, if each is restricted to one.
base::Result<Row> only_combination(const Restrictions& where, const Bindings& bindings, Scratch& scratch) {
  Row combination;
  combination.reserve(where.partition().size());
  for (const RestrictionPtr& restriction : where.partition()) {
    SIBYL_ASSIGN(const ValueView value, only_value(*restriction, bindings, scratch));
    combination.push_back(value);
  }
  return combination;
}

base::Result<std::vector<Row>> all_combinations(const Restrictions& where, const Bindings& bindings,
                                                Scratch& scratch) {
  std::vector<Row> combinations = {{}};
  for (const RestrictionPtr& restriction : where.partition()) {
    SIBYL_ASSIGN(const std::vector<Row> values, allowed_rows(*restriction, bindings, scratch));
    if (values.size() == 1) {
      for (Row& combination : combinations) combination.push_back(values[0][0]);
      continue;
    }
    SIBYL_TRY(check_size(combinations.size(), values.size(), where.is_write()));
    std::vector<Row> longer;
    longer.reserve(combinations.size() * values.size());
    for (const Row& combination : combinations)
      for (const Row& value : values) {
        longer.push_back(combination);
        longer.back().push_back(value[0]);
      }
    combinations = std::move(longer);
  }
  if (combinations.size() > 1) {
    const auto order = [&](const Row& left, const Row& right) {
      for (size_t i = 0; i < left.size(); ++i)
        if (const int order =
                types::compare(*where.table().partition_key(i).type, left[i].bytes, right[i].bytes);
            order != 0)
          return order;
      return 0;
    };
    std::sort(combinations.begin(), combinations.end(),
              [&](const Row& left, const Row& right) { return order(left, right) < 0; });
    combinations.erase(
        std::unique(combinations.begin(), combinations.end(),
                    [&](const Row& left, const Row& right) { return order(left, right) == 0; }),
        combinations.end());
  }
  return combinations;
}

}  // namespace

base::Result<std::vector<Bytes>> partition_keys(const Restrictions& where, const Bindings& bindings,
                                                Scratch& scratch) {
  const std::vector<RestrictionPtr>& restrictions = where.partition();
  const bool has_one = std::all_of(restrictions.begin(), restrictions.end(),
                                   [](const RestrictionPtr& one) { return has_only_value(*one); });
  Row one;
  std::vector<Row> several;
  if (has_one) {
    SIBYL_ASSIGN(one, only_combination(where, bindings, scratch));
  } else {
    SIBYL_ASSIGN(several, all_combinations(where, bindings, scratch));
  }
  const std::span<const Row> combinations = has_one ? std::span<const Row>(&one, 1) : several;
  SIBYL_ASSIGN(const TokenSet tokens, allowed_tokens(where.token(), bindings, scratch, false));
  std::vector<Bytes> keys;
  keys.reserve(combinations.size());
  for (const Row& combination : combinations) {
    base::Result<Bytes> key = partition_key_of(where.table(), combination);
    if (!key) {
      // Static columns would be read along with named rows even if no row matches.
      if (where.is_write() || (where.names_whole_row() && where.table().has_static()))
        return base::fail(key.error());
      SIBYL_ASSIGN(const bool has_rows, reaches_rows(where, bindings, scratch));
      return has_rows ? base::Result<std::vector<Bytes>>(base::fail(key.error())) : std::vector<Bytes>();
    }
    if (!where.token().exists() || tokens.contains(types::murmur3_token(*key)))
      keys.push_back(std::move(*key));
  }
  return keys;
}

}  // namespace sibyl::plan
