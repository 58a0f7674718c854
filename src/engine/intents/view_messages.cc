#include "engine/intents/view_messages.h"

#include <utility>

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using execute::ViewRow;

constexpr char view_rows_version = 2;

base::Error unreadable_view_rows() {
  return base::Error(base::ErrorCode::server, "A message about view rows cannot be read")
      .with_hint("all servers of a cluster need the same version");
}

}  // namespace

Bytes encode_view_rows(const std::vector<ViewRow>& rows) {
  Bytes out(1, view_rows_version);
  base::append_varint(out, rows.size());
  for (const ViewRow& row : rows) {
    base::append_sized(out, row.key);
    base::append_sized(out, row.base_key);
  }
  return out;
}

base::Result<std::vector<ViewRow>> decode_view_rows(BytesView bytes) {
  base::Reader reader(bytes);
  uint8_t version = 0;
  uint64_t count = 0;
  if (!reader.big_endian(version) || version != view_rows_version || !reader.varint(count))
    return base::fail(unreadable_view_rows());
  std::vector<ViewRow> rows;
  for (uint64_t i = 0; i < count; ++i) {
    BytesView key, base_key;
    if (!reader.sized(key) || !reader.sized(base_key)) return base::fail(unreadable_view_rows());
    rows.push_back({Bytes(key), Bytes(base_key)});
  }
  if (!reader.at_end()) return base::fail(unreadable_view_rows());
  return rows;
}

bool is_of_view_rows(BytesView intent) {
  return intent.starts_with(view_rows_version);
}

base::Result<Bytes> answer_ticket(ViewTickets& tickets, BytesView message) {
  base::Reader reader(message);
  std::vector<Bytes> keys;
  while (!reader.at_end()) {
    BytesView key;
    if (!reader.sized(key)) return base::fail(unreadable_view_rows());
    keys.emplace_back(key);
  }
  SIBYL_ASSIGN(const uint64_t ticket, tickets.issue(keys));
  Bytes answer;
  base::append_big_endian(answer, ticket);
  return answer;
}

base::Result<Bytes> answer_put(ViewTickets& tickets, BytesView message) {
  base::Reader reader(message);
  uint64_t ticket = 0;
  if (!reader.big_endian(ticket)) return base::fail(unreadable_view_rows());
  std::vector<ViewTickets::Record> records;
  while (!reader.at_end()) {
    BytesView key, value;
    uint8_t exists = 0;
    if (!reader.sized(key) || !reader.big_endian(exists) || exists > 1 ||
        (exists == 1 && !reader.sized(value)))
      return base::fail(unreadable_view_rows());
    records.push_back({Bytes(key), exists == 1 ? std::optional(Bytes(value)) : std::nullopt});
  }
  SIBYL_ASSIGN(const std::vector<size_t> refused, tickets.put(ticket, std::move(records)));
  Bytes answer;
  for (const size_t place : refused) base::append_varint(answer, place);
  return answer;
}

Bytes encode_keys(const std::vector<ViewRow>& rows) {
  Bytes out;
  for (const ViewRow& row : rows) base::append_sized(out, row.key);
  return out;
}

Bytes encode_put(uint64_t ticket, const std::vector<ViewTickets::Record>& records) {
  Bytes out;
  base::append_big_endian(out, ticket);
  for (const ViewTickets::Record& record : records) {
    base::append_sized(out, record.key);
    out.push_back(record.value ? 1 : 0);
    if (record.value) base::append_sized(out, *record.value);
  }
  return out;
}

base::Result<uint64_t> decode_ticket(BytesView answer) {
  base::Reader reader(answer);
  uint64_t ticket = 0;
  if (!reader.big_endian(ticket) || !reader.at_end()) return base::fail(unreadable_view_rows());
  return ticket;
}

base::Result<std::vector<size_t>> decode_refused(BytesView answer, size_t count) {
  base::Reader reader(answer);
  std::vector<size_t> refused;
  while (!reader.at_end()) {
    uint64_t place = 0;
    if (!reader.varint(place) || place >= count) return base::fail(unreadable_view_rows());
    refused.push_back(place);
  }
  return refused;
}

}  // namespace sibyl::engine
