#include "cluster/routed/store_messages.h"

#include <algorithm>

namespace sibyl::cluster {
namespace {

constexpr char message_version = 1;

base::Error damaged_message() {
  return base::Error(base::ErrorCode::server, "A message between servers cannot be read")
      .with_hint("all servers of a cluster need the same version");
}

bool read_byte(base::Reader& reader, uint8_t& value) {
  return reader.big_endian(value);
}

bool read_bytes(base::Reader& reader, Bytes& value) {
  BytesView bytes;
  if (!reader.sized(bytes)) return false;
  value.assign(bytes);
  return true;
}

// Reads a count of elements that take at least one byte each.
bool read_count(base::Reader& reader, uint64_t& count) {
  return reader.varint(count) && count <= reader.rest().size();
}

bool read_values(base::Reader& reader, std::vector<std::optional<Bytes>>& values) {
  uint64_t count = 0;
  if (!read_count(reader, count)) return false;
  values.resize(count);
  for (std::optional<Bytes>& value : values) {
    uint8_t exists = 0;
    if (!read_byte(reader, exists) || exists > 1) return false;
    if (exists == 1 && !read_bytes(reader, value.emplace())) return false;
  }
  return true;
}

bool read_records(base::Reader& reader, StoreAnswer& answer) {
  uint8_t is_last = 0;
  uint64_t count = 0;
  if (!read_byte(reader, is_last) || is_last > 1 || !read_count(reader, count)) return false;
  answer.is_last = is_last == 1;
  for (uint64_t i = 0; i < count; ++i) {
    auto& [key, value] = answer.records.emplace_back();
    if (!read_bytes(reader, key) || !read_bytes(reader, value)) return false;
  }
  return true;
}

bool read_tables(base::Reader& reader, StoreRequest& request) {
  uint64_t count = 0;
  if (!reader.varint(request.max_records) || !read_count(reader, count)) return false;
  request.tables.resize(count);
  return std::ranges::all_of(request.tables, [&](uint32_t& table) { return reader.big_endian(table); });
}

bool read_samples(base::Reader& reader, StoreAnswer& answer) {
  uint64_t count = 0;
  if (!read_count(reader, count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t table = 0;
    if (!reader.big_endian(table) || !answer.samples[table].read_merged_from(reader)) return false;
  }
  return true;
}

bool read_error(base::Reader& reader, StoreAnswer& answer) {
  uint32_t code = 0;
  Bytes message, hint;
  if (!reader.big_endian(code) || !read_bytes(reader, message) || !read_bytes(reader, hint)) return false;
  answer.error =
      base::Error(static_cast<base::ErrorCode>(static_cast<int32_t>(code)), message).with_hint(hint);
  return true;
}

}  // namespace

Bytes StoreRequest::encode() const {
  Bytes out(1, message_version);
  out.push_back(static_cast<char>(kind));
  base::append_big_endian(out, shard);
  if (kind == Kind::get) {
    base::append_varint(out, keys.size());
    for (const Bytes& key : keys) base::append_sized(out, key);
    return out;
  }
  if (kind == Kind::sample) {
    base::append_varint(out, max_records);
    base::append_varint(out, tables.size());
    for (const uint32_t table : tables) base::append_big_endian(out, table);
    return out;
  }
  base::append_sized(out, begin);
  base::append_sized(out, end);
  if (kind == Kind::scan) {
    out.push_back(is_backwards ? 1 : 0);
    base::append_big_endian(out, max_bytes);
  }
  return out;
}

base::Result<StoreRequest> StoreRequest::decode(BytesView bytes) {
  base::Reader reader(bytes);
  StoreRequest request;
  uint8_t version = 0, kind = 0;
  if (!read_byte(reader, version) || version != message_version || !read_byte(reader, kind) ||
      !reader.big_endian(request.shard))
    return base::fail(damaged_message());
  request.kind = static_cast<Kind>(kind);
  bool is_good = false;
  if (request.kind == Kind::get) {
    uint64_t count = 0;
    is_good = read_count(reader, count);
    for (uint64_t i = 0; is_good && i < count; ++i) is_good = read_bytes(reader, request.keys.emplace_back());
  } else if (request.kind == Kind::sample) {
    is_good = read_tables(reader, request);
  } else if (request.kind == Kind::scan || request.kind == Kind::size) {
    is_good = read_bytes(reader, request.begin) && read_bytes(reader, request.end);
    uint8_t backwards = 0;
    if (is_good && request.kind == Kind::scan)
      is_good = read_byte(reader, backwards) && backwards <= 1 && reader.big_endian(request.max_bytes);
    request.is_backwards = backwards == 1;
  }
  if (!is_good || !reader.at_end()) return base::fail(damaged_message());
  return request;
}

StoreAnswer StoreAnswer::moved() {
  StoreAnswer answer;
  answer.outcome = Outcome::moved;
  return answer;
}

StoreAnswer StoreAnswer::failed(base::Error error) {
  StoreAnswer answer;
  answer.outcome = Outcome::failed;
  answer.error = std::move(error);
  return answer;
}

Bytes StoreAnswer::encode() const {
  Bytes out(1, message_version);
  out.push_back(static_cast<char>(outcome));
  if (outcome == Outcome::moved) return out;
  if (outcome == Outcome::failed) {
    base::append_big_endian(out, static_cast<uint32_t>(error->code()));
    base::append_sized(out, error->message());
    base::append_sized(out, error->hint());
    return out;
  }
  switch (kind) {
    case StoreRequest::Kind::get:
      base::append_varint(out, values.size());
      for (const std::optional<Bytes>& value : values) {
        out.push_back(value ? 1 : 0);
        if (value) base::append_sized(out, *value);
      }
      break;
    case StoreRequest::Kind::scan:
      out.push_back(is_last ? 1 : 0);
      base::append_varint(out, records.size());
      for (const auto& [key, value] : records) {
        base::append_sized(out, key);
        base::append_sized(out, value);
      }
      break;
    case StoreRequest::Kind::size:
      base::append_varint(out, size);
      break;
    case StoreRequest::Kind::sample:
      base::append_varint(out, samples.size());
      for (const auto& [table, sample] : samples) {
        base::append_big_endian(out, table);
        sample.append_merged_to(out);
      }
      break;
  }
  return out;
}

base::Result<StoreAnswer> StoreAnswer::decode(BytesView bytes, StoreRequest::Kind kind) {
  base::Reader reader(bytes);
  StoreAnswer answer;
  answer.kind = kind;
  uint8_t version = 0, outcome = 0;
  if (!read_byte(reader, version) || version != message_version || !read_byte(reader, outcome) ||
      outcome > static_cast<uint8_t>(Outcome::failed))
    return base::fail(damaged_message());
  answer.outcome = static_cast<Outcome>(outcome);
  bool is_good = true;
  if (answer.outcome == Outcome::failed) {
    is_good = read_error(reader, answer);
  } else if (answer.outcome == Outcome::done) {
    switch (kind) {
      case StoreRequest::Kind::get:
        is_good = read_values(reader, answer.values);
        break;
      case StoreRequest::Kind::scan:
        is_good = read_records(reader, answer);
        break;
      case StoreRequest::Kind::size:
        is_good = reader.varint(answer.size);
        break;
      case StoreRequest::Kind::sample:
        is_good = read_samples(reader, answer);
        break;
    }
  }
  if (!is_good || !reader.at_end()) return base::fail(damaged_message());
  return answer;
}

}  // namespace sibyl::cluster
