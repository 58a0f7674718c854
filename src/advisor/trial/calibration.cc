// Operations of known work, used to measure the cost of each kind of work.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "advisor/trial/trial.h"

namespace sibyl::advisor {
namespace {

constexpr uint64_t partitions = 200;                     // of each size
constexpr std::array<uint64_t, 3> sizes = {1, 10, 100};  // rows per partition
constexpr uint64_t scanned = 1000;                       // number of partitions, each with one row
constexpr uint64_t emptied = 10, deleted = 500;  // partitions with `deleted` deleted rows before one live row

std::optional<base::Bytes> number_cell(uint64_t number) {
  return synthetic_value(*types::scalar(types::Kind::int_), number);
}
std::optional<base::Bytes> text_cell(uint64_t number) {
  constexpr double size = 40;
  return synthetic_value(*types::scalar(types::Kind::text), number, size);
}
uint64_t partition_number(uint64_t size, uint64_t number) {
  return size * 1'000'000 + number;
}
Cells row_cells(uint64_t partition, uint64_t place) {
  const uint64_t own = mix(partition, place);
  return {number_cell(partition), number_cell(place), text_cell(own), text_cell(mix(own)),
          number_cell(own % 1000)};
}

}  // namespace

Trial make_calibration(uint64_t seed) {
  Trial trial;
  trial.name = "calibration";
  trial.definitions.push_back(
      {"CREATE TABLE calibration (p int, c int, a text, b text, n int, PRIMARY KEY (p, c))",
       Trial::trial_keyspace});
  trial.definitions.push_back(
      {"CREATE TABLE scanned (p int PRIMARY KEY, a text, b text, n int)", Trial::trial_keyspace});
  const size_t fill = trial.place("INSERT INTO scanned (p, a, b, n) VALUES (?, ?, ?, ?)");
  const size_t scan = trial.place("SELECT p, a, b, n FROM scanned");
  const size_t insert = trial.place("INSERT INTO calibration (p, c, a, b, n) VALUES (?, ?, ?, ?, ?)");
  const size_t remove = trial.place("DELETE FROM calibration WHERE p = ? AND c = ?");
  const size_t read = trial.place("SELECT c, a, b, n FROM calibration WHERE p = ?");
  for (const uint64_t size : sizes) trial.rows += static_cast<double>(size * partitions);
  trial.rows += static_cast<double>(scanned);
  trial.load = [insert, fill, remove](const Trial::Sink& sink) -> base::Status {
    for (uint64_t i = 0; i < scanned; ++i)
      SIBYL_TRY(sink(fill, {number_cell(i), text_cell(mix(i)), text_cell(mix(i, 1)), number_cell(i % 1000)}));
    for (const uint64_t size : sizes) {
      for (uint64_t i = 0; i < size * partitions; ++i)
        SIBYL_TRY(sink(insert, row_cells(partition_number(size, i / size), i % size)));
    }
    for (uint64_t i = 0; i < emptied; ++i) {
      const uint64_t partition = partition_number(deleted, i);
      SIBYL_TRY(sink(insert, row_cells(partition, deleted)));
      for (uint64_t place = 0; place < deleted; ++place)
        SIBYL_TRY(sink(remove, {number_cell(partition), number_cell(place)}));
    }
    return {};
  };
  const auto add = [&](const std::string& name, Work work, auto run) {
    trial.operations.push_back({name, {}, 1, work, std::nullopt, false, std::move(run)});
  };
  for (const uint64_t size : sizes)
    add(fmt::format("read {}", size), {1, 1, static_cast<double>(size), 0, 0, 0},
        [read, size](TrialSession& connection, Random& random) -> base::Status {
          SIBYL_TRY(connection.run(read, {number_cell(partition_number(size, random.below(partitions)))}));
          return {};
        });
  add("scan", {1, 1, static_cast<double>(scanned), 0, 0, 0, static_cast<double>(scanned - 1)},
      [scan](TrialSession& connection, Random&) -> base::Status {
        SIBYL_TRY(connection.run(scan, {}));
        return {};
      });
  Work walking = {1, 1, 1, 0, 0, 0};
  walking.tombstones = static_cast<double>(deleted);
  add("walk", walking, [read](TrialSession& connection, Random& random) -> base::Status {
    SIBYL_TRY(connection.run(read, {number_cell(partition_number(deleted, random.below(emptied)))}));
    return {};
  });
  // Writes use a partition of their own, so that the data for reads stay unchanged.
  const auto next = std::make_shared<uint64_t>(0);
  const uint64_t written = partition_number(900, seed % 1000);
  add("insert", {0, 0, 0, 1, 0, 0},
      [insert, next, written](TrialSession& connection, Random&) -> base::Status {
        const uint64_t row = (*next)++;
        SIBYL_TRY(connection.run(insert, row_cells(written + row % 50'000, row)));
        return {};
      });
  const auto last = std::make_shared<uint64_t>(0);
  add("remove", {0, 0, 0, 0, 1, 0},
      [remove, last, written](TrialSession& connection, Random&) -> base::Status {
        const uint64_t row = (*last)++;
        SIBYL_TRY(connection.run(remove, {number_cell(written + row % 50'000), number_cell(row)}));
        return {};
      });
  return trial;
}

}  // namespace sibyl::advisor
