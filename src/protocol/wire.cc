#include "protocol/wire.h"

#include <fmt/format.h>

#include "types/text.h"

namespace sibyl::protocol {

void append_string(Bytes& out, std::string_view text) {
  text = types::whole_characters(text, 0xffff);
  append_short(out, static_cast<uint16_t>(text.size()));
  out.append(text);
}

void append_long_string(Bytes& out, std::string_view text) {
  append_int(out, static_cast<int32_t>(text.size()));
  out.append(text);
}

void append_bytes(Bytes& out, BytesView bytes) {
  append_int(out, static_cast<int32_t>(bytes.size()));
  out.append(bytes);
}

void append_null(Bytes& out) {
  append_int(out, -1);
}

void append_short_bytes(Bytes& out, BytesView bytes) {
  append_short(out, static_cast<uint16_t>(bytes.size()));
  out.append(bytes);
}

void append_value(Bytes& out, const types::ValueView& value) {
  if (value.is_present()) {
    append_bytes(out, value.bytes);
  } else {
    append_int(out, value.is_unset() ? -2 : -1);
  }
}

void append_consistency(Bytes& out, Consistency consistency) {
  append_short(out, static_cast<uint16_t>(consistency));
}

void append_string_list(Bytes& out, const std::vector<std::string>& list) {
  append_short(out, static_cast<uint16_t>(list.size()));
  for (const auto& text : list) append_string(out, text);
}

void append_string_map(Bytes& out, const StringMap& map) {
  append_short(out, static_cast<uint16_t>(map.size()));
  for (const auto& [key, value] : map) {
    append_string(out, key);
    append_string(out, value);
  }
}

void append_string_multimap(Bytes& out, const StringMultimap& map) {
  append_short(out, static_cast<uint16_t>(map.size()));
  for (const auto& [key, values] : map) {
    append_string(out, key);
    append_string_list(out, values);
  }
}

void append_bytes_map(Bytes& out, const BytesMap& map) {
  append_short(out, static_cast<uint16_t>(map.size()));
  for (const auto& [key, value] : map) {
    append_string(out, key);
    if (value) {
      append_bytes(out, *value);
    } else {
      append_null(out);
    }
  }
}

void append_inet(Bytes& out, BytesView address, int32_t port) {
  append_byte(out, static_cast<uint8_t>(address.size()));
  out.append(address);
  append_int(out, port);
}

void WireReader::fail(std::string message) {
  if (!ok_) return;
  ok_ = false;
  rest_ = {};
  message_ = std::move(message);
}

base::Status WireReader::status() const {
  if (!ok_) return base::fail(protocol_error(message_));
  return {};
}

BytesView WireReader::raw(size_t size) {
  if (rest_.size() < size) {
    if (ok_) fail(fmt::format("Not enough bytes in the message: {} needed, {} left", size, rest_.size()));
    return {};
  }
  const BytesView taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

uint8_t WireReader::byte() {
  const BytesView taken = raw(1);
  return taken.empty() ? uint8_t{0} : static_cast<uint8_t>(taken[0]);
}

uint16_t WireReader::short_() {
  const BytesView taken = raw(2);
  return taken.empty() ? uint16_t{0} : base::read_big_endian<uint16_t>(taken);
}

int32_t WireReader::int_() {
  const BytesView taken = raw(4);
  return taken.empty() ? 0 : static_cast<int32_t>(base::read_big_endian<uint32_t>(taken));
}

int64_t WireReader::long_() {
  const BytesView taken = raw(8);
  return taken.empty() ? 0 : static_cast<int64_t>(base::read_big_endian<uint64_t>(taken));
}

std::string_view WireReader::checked_text(BytesView bytes) {
  if (types::is_utf8(bytes)) return bytes;
  static constexpr size_t shown = 64;
  fail(fmt::format("Cannot decode string as UTF8: '{}{}'", base::to_hex(bytes.substr(0, shown)),
                   bytes.size() > shown ? "..." : ""));
  return {};
}

std::string_view WireReader::string() {
  const size_t length = short_();
  if (ok_ && rest_.size() < length)
    fail("Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length");
  return checked_text(raw(length));
}

std::string_view WireReader::long_string() {
  const int32_t length = rest_.size() < sizeof(int32_t) ? -1 : int_();
  if (ok_ && (length < 0 || rest_.size() < static_cast<size_t>(length)))
    fail("Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length");
  return ok_ ? checked_text(raw(static_cast<size_t>(length))) : std::string_view();
}

std::optional<BytesView> WireReader::bytes() {
  const int32_t length = int_();
  if (!ok_ || length < 0) return std::nullopt;
  return raw(static_cast<size_t>(length));
}

BytesView WireReader::short_bytes() {
  const size_t length = short_();
  if (ok_ && rest_.size() < length)
    fail("Not enough bytes to read a byte array preceded by its 2 bytes length");
  return raw(length);
}

types::ValueView WireReader::value(Version version) {
  const int32_t length = int_();
  if (!ok_) return types::ValueView::null();
  if (length >= 0) return types::ValueView::of(raw(static_cast<size_t>(length)));
  if (length == -1 || !has_unset_values(version)) return types::ValueView::null();
  if (length == -2) return types::ValueView::unset();
  fail(fmt::format("Invalid ByteBuf length {}", length));
  return types::ValueView::null();
}

Consistency WireReader::consistency() {
  const uint16_t code = short_();
  if (code > static_cast<uint16_t>(Consistency::local_one)) {
    fail(fmt::format("Unknown code {} for a consistency level", code));
    return Consistency::one;
  }
  return static_cast<Consistency>(code);
}

// Counts come from the other side, so no memory is reserved for them. Each element must be present in the
// input.
std::vector<std::string> WireReader::string_list() {
  std::vector<std::string> list;
  const uint16_t count = short_();
  for (uint16_t i = 0; i < count && ok_; ++i) list.emplace_back(string());
  return list;
}

StringMap WireReader::string_map() {
  StringMap map;
  const uint16_t count = short_();
  for (uint16_t i = 0; i < count && ok_; ++i) {
    std::string key(string());
    map.emplace_back(std::move(key), string());
  }
  return map;
}

StringMultimap WireReader::string_multimap() {
  StringMultimap map;
  const uint16_t count = short_();
  for (uint16_t i = 0; i < count && ok_; ++i) {
    std::string key(string());
    map.emplace_back(std::move(key), string_list());
  }
  return map;
}

BytesMap WireReader::bytes_map() {
  BytesMap map;
  const uint16_t count = short_();
  for (uint16_t i = 0; i < count && ok_; ++i) {
    std::string key(string());
    std::optional<Bytes> value;
    if (const auto taken = bytes()) value = Bytes(*taken);
    map.emplace_back(std::move(key), std::move(value));
  }
  return map;
}

void WireReader::inet(Bytes& address, int32_t& port) {
  const uint8_t size = byte();
  if (ok_ && size != 4 && size != 16) fail(fmt::format("Invalid address length {}", size));
  address = Bytes(raw(size));
  port = int_();
}

}  // namespace sibyl::protocol
