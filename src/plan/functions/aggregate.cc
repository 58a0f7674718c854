// count, min, max, sum, avg.
#include "plan/functions/aggregate.h"

#include <fmt/format.h>

#include <cmath>

#include "base/statement.h"
#include "plan/numbers/number.h"
#include "plan/terms/functions.h"
#include "types/compare.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

// Owns the bytes of a result.
class Computed : public Accumulator {
 protected:
  ValueView give(Bytes bytes) {
    result_ = std::move(bytes);
    return ValueView::of(result_);
  }

 private:
  Bytes result_;
};

class Count final : public Computed {
 public:
  base::Status add(std::span<const ValueView> arguments) override {
    if (arguments.empty() || arguments[0].is_present()) ++count_;
    return {};
  }
  base::Result<ValueView> result() override { return give(types::encode_int64(count_)); }

 private:
  int64_t count_ = 0;
};

class Extreme final : public Accumulator {
 public:
  Extreme(TypePtr type, bool largest) : type_(std::move(type)), largest_(largest) {}
  base::Status add(std::span<const ValueView> arguments) override {
    if (!arguments[0].is_present()) return {};
    if (present_) {
      const int order = types::compare(*type_, arguments[0].bytes, best_);
      if (largest_ ? order <= 0 : order >= 0) return {};
    }
    best_.assign(arguments[0].bytes);
    present_ = true;
    return {};
  }
  base::Result<ValueView> result() override { return present_ ? ValueView::of(best_) : ValueView::null(); }

 private:
  TypePtr type_;
  bool largest_;
  bool present_ = false;
  Bytes best_;
};

__extension__ using Wide = __int128;

// A sum of integers wraps in its type, as in Cassandra. An average uses the exact sum.
class IntegerSum final : public Computed {
 public:
  IntegerSum(Kind kind, bool average) : kind_(kind), average_(average) {}
  base::Status add(std::span<const ValueView> arguments) override {
    if (!arguments[0].is_present() || arguments[0].bytes.empty()) return {};
    sum_ += types::decode_integer(kind_, arguments[0].bytes);
    ++count_;
    return {};
  }
  base::Result<ValueView> result() override {
    Wide value = sum_;
    if (average_) value = count_ == 0 ? 0 : sum_ / count_;
    SIBYL_ASSIGN(Bytes bytes, write_number(kind_, number_of(static_cast<int64_t>(value))));
    return give(std::move(bytes));
  }

 private:
  Kind kind_;
  bool average_;
  Wide sum_ = 0;
  int64_t count_ = 0;
};

// Kahan's summation.
class FloatingSum final : public Computed {
 public:
  FloatingSum(Kind kind, bool average) : kind_(kind), average_(average) {}
  base::Status add(std::span<const ValueView> arguments) override {
    if (!arguments[0].is_present() || arguments[0].bytes.empty()) return {};
    const double value = read_number(kind_, arguments[0].bytes).to_double();
    simple_ += value;
    const double corrected = value - compensation_;
    const double rounded = sum_ + corrected;
    // An average of finite numbers is finite even if their sum overflows.
    if (std::isinf(rounded) && std::isfinite(value) && !std::isinf(sum_)) overflow_ = true;
    wide_ += value;
    compensation_ = (rounded - sum_) - corrected;
    sum_ = rounded;
    ++count_;
    return {};
  }
  base::Result<ValueView> result() override {
    double value = sum_ + compensation_;
    if (std::isnan(value) && std::isinf(simple_)) value = simple_;
    if (average_) value = count_ == 0 ? 0 : value / static_cast<double>(count_);
    if (average_ && overflow_) value = static_cast<double>(wide_ / static_cast<long double>(count_));
    SIBYL_ASSIGN(Bytes bytes, write_number(kind_, number_of(value)));
    return give(std::move(bytes));
  }

 private:
  Kind kind_;
  bool average_;
  double sum_ = 0, compensation_ = 0, simple_ = 0;
  long double wide_ = 0;  // cannot overflow
  bool overflow_ = false;
  int64_t count_ = 0;
};

class BigSum final : public Computed {
 public:
  explicit BigSum(bool average) : average_(average) {}
  base::Status add(std::span<const ValueView> arguments) override {
    if (!arguments[0].is_present() || arguments[0].bytes.empty()) return {};
    sum_ += types::decode_varint(arguments[0].bytes);
    ++count_;
    return check_number_size(number_of(sum_));
  }
  base::Result<ValueView> result() override {
    if (!average_ || count_ == 0) return give(types::encode_varint(sum_));
    return give(types::encode_varint(BigInteger(sum_ / count_)));
  }

 private:
  bool average_;
  BigInteger sum_ = 0;
  int64_t count_ = 0;
};

class DecimalSum final : public Computed {
 public:
  explicit DecimalSum(bool average) : average_(average) {}
  base::Status add(std::span<const ValueView> arguments) override {
    if (!arguments[0].is_present() || arguments[0].bytes.empty()) return {};
    Decimal value;
    types::decode_decimal(arguments[0].bytes, value.unscaled, value.scale);
    if (std::abs(int64_t{value.scale} - value_.scale) > max_scale_difference)
      return invalid("The values' scales are too far apart");
    ++count_;
    base::count_work(static_cast<int64_t>(types::byte_size(value_.unscaled)));
    if (!average_) {
      value_ = plan::add(value_, value);
      return check_number_size(number_of(value_));
    }
    // Cassandra's running average, with the same number of digits.
    const Decimal difference = subtract(value, value_);
    value_ = plan::add(value_, divide(difference, {count_, 0}, difference.scale, Rounding::half_even));
    return check_number_size(number_of(value_));
  }
  base::Result<ValueView> result() override {
    return give(types::encode_decimal(value_.unscaled, value_.scale));
  }

 private:
  static constexpr int64_t max_scale_difference = 10'000;
  bool average_;
  Decimal value_;
  int64_t count_ = 0;
};

std::unique_ptr<Accumulator> count(const Function&) {
  return std::make_unique<Count>();
}

std::unique_ptr<Accumulator> extreme(const Function& function) {
  return std::make_unique<Extreme>(function.returns,
                                   function.name == "max" || function.name == "collection_max");
}

std::unique_ptr<Accumulator> sum(const Function& function) {
  const bool average = function.name == "avg" || function.name == "collection_avg";
  const Kind kind = function.returns->kind();
  switch (kind) {
    case Kind::float_:
    case Kind::double_:
      return std::make_unique<FloatingSum>(kind, average);
    case Kind::varint:
      return std::make_unique<BigSum>(average);
    case Kind::decimal:
      return std::make_unique<DecimalSum>(average);
    default:
      return std::make_unique<IntegerSum>(kind, average);
  }
}

base::Result<FunctionPtr> make_extreme(const FactoryCall& call) {
  if (call.argument_types.size() != 1) return wrong_argument_count(call, "any");
  TypePtr type = call.argument_types[0] != nullptr ? call.argument_types[0] : call.receiver_type;
  if (type == nullptr) return unknown_argument_type(call, 0, "any");
  auto function = make_function(call, {type}, type, nullptr);
  function->accumulate = extreme;
  return function;
}

}  // namespace

std::unique_ptr<Accumulator> make_accumulator(std::string_view name, const TypePtr& element) {
  Function function;
  function.name = name;
  function.returns = element;
  return name.ends_with("min") || name.ends_with("max") ? extreme(function) : sum(function);
}

void add_aggregates(FunctionRegistry& registry) {
  Function rows;
  rows.name = "count_rows";
  rows.returns = types::scalar(Kind::bigint);
  rows.accumulate = count;
  registry.add(std::move(rows));
  Function values;
  values.name = "count";
  values.arguments = {types::scalar(Kind::blob)};
  values.returns = types::scalar(Kind::bigint);
  values.accumulate = count;
  registry.add(std::move(values));
  for (const char* name : {"sum", "avg"})
    for (const Kind kind : {Kind::tinyint, Kind::smallint, Kind::int_, Kind::bigint, Kind::float_,
                            Kind::double_, Kind::decimal, Kind::varint, Kind::counter}) {
      Function function;
      function.name = name;
      function.arguments = {types::scalar(kind)};
      function.returns = types::scalar(kind);
      function.accumulate = sum;
      registry.add(std::move(function));
    }
  registry.add_factory("max", make_extreme);
  registry.add_factory("min", make_extreme);
}

}  // namespace sibyl::plan
