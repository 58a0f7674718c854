#include "advisor/report/measurement_json.h"

#include <boost/json.hpp>

#include "advisor/trial/measurement.h"

namespace sibyl::advisor {
namespace {

namespace json = boost::json;

json::value mean_json(const Mean& mean) {
  return json::object{{"mean", mean.value}, {"margin", mean.margin}};
}
json::value optional_json(const std::optional<double>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value cost_of(const std::optional<Work>& work, const std::optional<CostModel>& constants) {
  return work && constants ? json::value(work->cost(*constants)) : json::value(nullptr);
}

}  // namespace

json::value measurement_json(const Measurement* measurement) {
  if (measurement == nullptr) return nullptr;
  const std::optional<CostModel>& fitted = measurement->fitted;
  json::array trials;
  for (const MeasuredTrial& trial : measurement->trials) {
    json::array operations, notes;
    for (const MeasuredOperation& one : trial.operations)
      operations.push_back(json::object{{"name", one.name},
                                        {"group", one.group},
                                        {"weight", one.weight},
                                        {"cost", cost_of(one.work, measurement->model)},
                                        {"expected_cpu_us", cost_of(one.work, measurement->fitted)},
                                        {"cpu_us", mean_json(one.cpu)},
                                        {"latency_us", mean_json(one.latency)},
                                        {"latency_p99_us", one.latency_p99},
                                        {"requests", one.requests},
                                        {"rows", one.rows},
                                        {"expected_rows", optional_json(one.expected_rows)},
                                        {"runs", one.runs}});
    for (const std::string& note : trial.notes) notes.emplace_back(note);
    trials.push_back(
        json::object{{"name", trial.name},
                     {"rows", trial.rows},
                     {"load_seconds", trial.load_seconds},
                     {"cost", optional_json(trial.predicted(measurement->model))},
                     {"expected_cpu_us", fitted ? optional_json(trial.predicted(*fitted)) : nullptr},
                     {"cpu_us", mean_json(trial.cpu())},
                     {"latency_us", mean_json(trial.latency())},
                     {"notes", std::move(notes)},
                     {"operations", std::move(operations)}});
  }
  const auto agrees = [&](const std::optional<CostModel>& constants) -> json::value {
    const std::optional<bool> known = constants ? measurement->order_agrees(*constants) : std::nullopt;
    return known ? json::value(*known) : json::value(nullptr);
  };
  json::object out{{"scale", measurement->scale},
                   {"seed", measurement->seed},
                   {"seconds", measurement->seconds},
                   {"order_agrees", agrees(measurement->model)},
                   {"fitted_order_agrees", agrees(fitted)},
                   {"fitted", nullptr},
                   {"trials", std::move(trials)}};
  if (fitted)
    out["fitted"] = json::object{
        {"partition_us", fitted->partition}, {"scanned_us", fitted->scanned}, {"row_us", fitted->row},
        {"tombstone_us", fitted->tombstone}, {"insert_us", fitted->insert},   {"remove_us", fitted->remove}};
  return out;
}

}  // namespace sibyl::advisor
