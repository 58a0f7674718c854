#include "plan/terms/json_parse.h"

#include <fmt/format.h>

#include <iterator>
#include <unordered_set>

namespace sibyl::plan {

namespace {

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  base::Result<JsonNode> parse() {
    JsonNode root;
    SIBYL_TRY(value(root, 0));
    skip_space();
    if (at_ != text_.size()) return fail("unexpected text after the value");
    return root;
  }

 private:
  static constexpr int max_depth = 100;

  std::unexpected<base::Error> fail(const char* why) const {
    return base::invalid(fmt::format("{} at offset {}", why, at_));
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  base::Status value(JsonNode& node, int depth) {
    if (depth > max_depth) return fail("nested too deeply");
    skip_space();
    if (at_ >= text_.size()) return fail("unexpected end");
    switch (text_[at_]) {
      case '{':
        return object(node, depth);
      case '[':
        return array(node, depth);
      case '"':
        node.kind = JsonNode::Kind::string;
        return string(node.text);
      default:
        return word_or_number(node);
    }
  }

  base::Status object(JsonNode& node, int depth) {
    node.kind = JsonNode::Kind::object;
    ++at_;
    if (take('}')) return {};
    do {
      skip_space();
      if (at_ >= text_.size() || text_[at_] != '"') return fail("expected a name");
      std::string name;
      SIBYL_TRY(string(name));
      if (!take(':')) return fail("expected a colon");
      JsonNode member;
      SIBYL_TRY(value(member, depth + 1));
      node.members.emplace_back(std::move(name), std::move(member));
    } while (take(','));
    if (!take('}')) return fail("expected a comma or a closing brace");
    drop_repeated(node.members);
    return {};
  }

  // The last of several members with one name is kept.
  static void drop_repeated(std::vector<std::pair<std::string, JsonNode>>& members) {
    std::unordered_set<std::string> seen;
    std::vector<std::pair<std::string, JsonNode>> kept;
    for (auto member = members.rbegin(); member != members.rend(); ++member)
      if (seen.insert(member->first).second) kept.push_back(std::move(*member));
    members.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  }

  base::Status array(JsonNode& node, int depth) {
    node.kind = JsonNode::Kind::array;
    ++at_;
    if (take(']')) return {};
    do {
      SIBYL_TRY(value(node.elements.emplace_back(), depth + 1));
    } while (take(','));
    if (!take(']')) return fail("expected a comma or a closing bracket");
    return {};
  }

  base::Status word_or_number(JsonNode& node) {
    if (take_word("null")) return {};
    for (const char* word : {"true", "false"}) {
      if (!take_word(word)) continue;
      node.kind = JsonNode::Kind::boolean;
      node.text = word;
      return {};
    }
    return number(node);
  }

  size_t digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - begin;
  }

  base::Status number(JsonNode& node) {
    const size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    const size_t whole_begin = at_;
    const size_t whole = digits();
    if (whole == 0) return fail("unexpected character");
    if (whole > 1 && text_[whole_begin] == '0') return fail("leading zeros are not allowed");
    node.kind = JsonNode::Kind::integer;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      node.kind = JsonNode::Kind::floating;
      if (digits() == 0) return fail("expected a digit");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      node.kind = JsonNode::Kind::floating;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (digits() == 0) return fail("expected a digit");
    }
    node.text = text_.substr(begin, at_ - begin);
    return {};
  }

  base::Status string(std::string& out) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return {};
      if (static_cast<unsigned char>(c) < 0x20) return fail("control characters must be escaped");
      if (c != '\\') {
        out.push_back(c);
        continue;
      }
      SIBYL_TRY(escape(out));
    }
    return fail("unexpected end of a string");
  }

  base::Status escape(std::string& out) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return fail("unexpected end of a string");
    const char c = text_[at_++];
    if (const size_t found = names.find(c); found != std::string_view::npos) {
      out.push_back(meanings[found]);
      return {};
    }
    if (c != 'u') return fail("unknown escape");
    uint32_t point = 0, low = 0;
    if (!hex(point)) return fail("expected four hexadecimal digits");
    if (point >= 0xD800 && point < 0xDC00 && take_word("\\u")) {
      if (!hex(low) || low < 0xDC00 || low > 0xDFFF) return fail("half a surrogate pair");
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    if (point >= 0xD800 && point <= 0xDFFF) return fail("half a surrogate pair");
    append_utf8(point, out);
    return {};
  }

  bool hex(uint32_t& point) {
    base::Bytes bytes;
    if (text_.size() - at_ < 4 || !base::from_hex(text_.substr(at_, 4), bytes)) return false;
    at_ += 4;
    point = base::read_big_endian<uint16_t>(bytes);
    return true;
  }

  static void append_utf8(uint32_t point, std::string& out) {
    if (point < 0x80) {
      out.push_back(static_cast<char>(point));
      return;
    }
    const int continuation = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static constexpr uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    out.push_back(static_cast<char>(leads[continuation] | (point >> (6 * continuation))));
    for (int i = continuation - 1; i >= 0; --i)
      out.push_back(static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F)));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

base::Result<JsonNode> parse_json(std::string_view text) {
  return JsonParser(text).parse();
}

}  // namespace sibyl::plan
