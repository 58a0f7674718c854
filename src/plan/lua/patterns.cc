// Lua's patterns (section 6.4.1 of its manual), charging for every step of a match. Lua's own matcher can
// take exponential time in one uncharged call.
#include "plan/lua/patterns.h"

#include <cctype>
#include <cstring>
#include <lua.hpp>
#include <string_view>

#include "base/ascii.h"
#include "plan/lua/library.h"
#include "plan/lua/machine.h"

namespace sibyl::plan {

namespace {

constexpr int max_captures = 32;
constexpr int max_depth = 200;
constexpr int64_t pattern_steps_per_charge = 1'000;
constexpr size_t npos = std::string_view::npos;

std::string_view text_argument(lua_State* lua, int index) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, index, &size);
  return {text, size};
}

bool is_in_class(unsigned char c, char written) {
  const char lower = base::ascii_lower(written);
  bool in = false;
  switch (lower) {
    case 'a':
      in = std::isalpha(c) != 0;
      break;
    case 'c':
      in = std::iscntrl(c) != 0;
      break;
    case 'd':
      in = std::isdigit(c) != 0;
      break;
    case 'g':
      in = std::isgraph(c) != 0;
      break;
    case 'l':
      in = std::islower(c) != 0;
      break;
    case 'p':
      in = std::ispunct(c) != 0;
      break;
    case 's':
      in = std::isspace(c) != 0;
      break;
    case 'u':
      in = std::isupper(c) != 0;
      break;
    case 'w':
      in = std::isalnum(c) != 0;
      break;
    case 'x':
      in = std::isxdigit(c) != 0;
      break;
    default:
      return written == static_cast<char>(c);
  }
  return std::isupper(static_cast<unsigned char>(written)) != 0 ? !in : in;
}

// Matches one subject against one pattern. Positions are offsets; npos means no match.
class Matcher {
 public:
  Matcher(lua_State* lua, std::string_view subject, std::string_view pattern)
      : lua_(lua), subject_(subject), pattern_(pattern) {}

  // Returns the end of the match that begins at `start`.
  size_t match_at(size_t start) {
    captures_ = 0;
    depth_ = 0;
    return match(start, 0);
  }

  // Pushes capture `index`, or the whole match [start, end) if there are no captures.
  void push_capture(int index, size_t start, size_t end) {
    if (index >= captures_) {
      if (index != 0) luaL_error(lua_, "invalid capture index %%%d", index + 1);
      push(start, end);
      return;
    }
    const Capture& capture = capture_[index];
    if (capture.state == Capture::open) luaL_error(lua_, "unfinished capture");
    if (capture.state == Capture::position)
      lua_pushinteger(lua_, static_cast<lua_Integer>(capture.start) + 1);
    else
      push(capture.start, capture.end);
  }

  // Pushes all captures, or the whole match if there are none and `or_whole` is true. Returns their number.
  int push_captures(size_t start, size_t end, bool or_whole) {
    const int count = captures_ == 0 && or_whole ? 1 : captures_;
    luaL_checkstack(lua_, count, "too many captures");
    for (int i = 0; i < count; ++i) push_capture(i, start, end);
    return count;
  }

 private:
  struct Capture {
    enum State { open, closed, position } state;
    size_t start, end;
  };

  void push(size_t start, size_t end) { lua_pushlstring(lua_, subject_.data() + start, end - start); }

  void step() {
    if (--credit_ > 0) return;
    credit_ = pattern_steps_per_charge;
    LuaMachine::of(lua_).charge(lua_, pattern_steps_per_charge);
  }

  size_t match(size_t at, size_t rule) {
    if (++depth_ > max_depth) luaL_error(lua_, "pattern too complex");
    const size_t end = match_rules(at, rule);
    --depth_;
    return end;
  }

  size_t match_rules(size_t at, size_t rule) {
    while (rule < pattern_.size()) {
      step();
      const char c = pattern_[rule];
      if (c == '(') {
        const bool is_position = rule + 1 < pattern_.size() && pattern_[rule + 1] == ')';
        return start_capture(at, rule + (is_position ? 2 : 1), is_position);
      }
      if (c == ')') return end_capture(at, rule + 1);
      if (c == '$' && rule + 1 == pattern_.size()) return at == subject_.size() ? at : npos;
      if (c == '%' && rule + 1 < pattern_.size()) {
        const char what = pattern_[rule + 1];
        if (what == 'b' || what == 'f' || std::isdigit(static_cast<unsigned char>(what)) != 0) {
          if (what == 'b') {
            at = match_balanced(at, rule + 2);
            rule += 4;
          } else if (what == 'f') {
            rule = match_frontier(at, rule + 2);
            if (rule == npos) return npos;
          } else {
            at = match_reference(at, what);
            rule += 2;
          }
          if (at == npos) return npos;
          continue;
        }
      }
      const size_t after = end_of_single(rule);
      const char repetition = after < pattern_.size() ? pattern_[after] : '\0';
      switch (repetition) {
        case '?':
          if (matches_single(at, rule, after)) {
            const size_t end = match(at + 1, after + 1);
            if (end != npos) return end;
          }
          rule = after + 1;
          break;
        case '+':
          return matches_single(at, rule, after) ? match_most(at + 1, rule, after) : npos;
        case '*':
          return match_most(at, rule, after);
        case '-':
          return match_least(at, rule, after);
        default:
          if (!matches_single(at, rule, after)) return npos;
          ++at;
          rule = after;
      }
    }
    return at;
  }

  // Returns the end of the single-character rule that begins at `rule`.
  size_t end_of_single(size_t rule) {
    const char c = pattern_[rule++];
    if (c == '%') {
      if (rule >= pattern_.size()) luaL_error(lua_, "malformed pattern (ends with '%%')");
      return rule + 1;
    }
    if (c != '[') return rule;
    if (rule < pattern_.size() && pattern_[rule] == '^') ++rule;
    do {  // a ']' in the first position is literal
      if (rule >= pattern_.size()) luaL_error(lua_, "malformed pattern (missing ']')");
      if (pattern_[rule++] == '%') ++rule;
    } while (rule >= pattern_.size() || pattern_[rule] != ']');
    return rule + 1;
  }

  // True if `c` is in the set between `[` at `rule` and the `]` at `close`.
  bool is_in_set(unsigned char c, size_t rule, size_t close) {
    bool in = true;
    ++rule;
    if (pattern_[rule] == '^') {
      in = false;
      ++rule;
    }
    for (; rule < close; ++rule) {
      if (pattern_[rule] == '%') {
        ++rule;
        if (is_in_class(c, pattern_[rule])) return in;
      } else if (rule + 2 < close && pattern_[rule + 1] == '-') {
        const auto low = static_cast<unsigned char>(pattern_[rule]);
        const auto high = static_cast<unsigned char>(pattern_[rule + 2]);
        rule += 2;
        if (low <= c && c <= high) return in;
      } else if (static_cast<unsigned char>(pattern_[rule]) == c) {
        return in;
      }
    }
    return !in;
  }

  bool matches_single(size_t at, size_t rule, size_t after) {
    step();
    if (at >= subject_.size()) return false;
    const auto c = static_cast<unsigned char>(subject_[at]);
    switch (pattern_[rule]) {
      case '.':
        return true;
      case '%':
        return is_in_class(c, pattern_[rule + 1]);
      case '[':
        return is_in_set(c, rule, after - 1);
      default:
        return static_cast<unsigned char>(pattern_[rule]) == c;
    }
  }

  size_t match_most(size_t at, size_t rule, size_t after) {
    size_t count = 0;
    while (matches_single(at + count, rule, after)) ++count;
    for (;; --count) {
      const size_t end = match(at + count, after + 1);
      if (end != npos || count == 0) return end;
    }
  }

  size_t match_least(size_t at, size_t rule, size_t after) {
    for (;; ++at) {
      const size_t end = match(at, after + 1);
      if (end != npos) return end;
      if (!matches_single(at, rule, after)) return npos;
    }
  }

  size_t start_capture(size_t at, size_t rule, bool is_position) {
    if (captures_ >= max_captures) luaL_error(lua_, "too many captures");
    capture_[captures_++] = {is_position ? Capture::position : Capture::open, at, at};
    const size_t end = match(at, rule);
    if (end == npos) --captures_;
    return end;
  }

  size_t end_capture(size_t at, size_t rule) {
    int index = captures_ - 1;
    while (index >= 0 && capture_[index].state != Capture::open) --index;
    if (index < 0) luaL_error(lua_, "invalid pattern capture");
    capture_[index].state = Capture::closed;
    capture_[index].end = at;
    const size_t end = match(at, rule);
    if (end == npos) capture_[index].state = Capture::open;
    return end;
  }

  size_t match_reference(size_t at, char digit) {
    const int index = digit - '1';
    if (index < 0 || index >= captures_ || capture_[index].state == Capture::open)
      luaL_error(lua_, "invalid capture index %%%d", index + 1);
    const Capture& capture = capture_[index];
    if (capture.state == Capture::position) return npos;  // a position capture matches no text
    const std::string_view text = subject_.substr(capture.start, capture.end - capture.start);
    credit_ -= static_cast<int64_t>(text.size());
    step();
    return subject_.substr(at).starts_with(text) ? at + text.size() : npos;
  }

  size_t match_balanced(size_t at, size_t rule) {
    if (rule + 1 >= pattern_.size()) luaL_error(lua_, "malformed pattern (missing arguments to '%%b')");
    const char open = pattern_[rule], close = pattern_[rule + 1];
    if (at >= subject_.size() || subject_[at] != open) return npos;
    int64_t nested = 1;
    for (size_t i = at + 1; i < subject_.size(); ++i) {
      step();
      if (subject_[i] == close) {
        if (--nested == 0) return i + 1;
      } else if (subject_[i] == open) {
        ++nested;
      }
    }
    return npos;
  }

  // Returns the rule after the frontier's set, or npos.
  size_t match_frontier(size_t at, size_t rule) {
    if (rule >= pattern_.size() || pattern_[rule] != '[')
      luaL_error(lua_, "missing '[' after '%%f' in pattern");
    const size_t after = end_of_single(rule);
    const auto previous = static_cast<unsigned char>(at == 0 ? '\0' : subject_[at - 1]);
    const auto current = static_cast<unsigned char>(at < subject_.size() ? subject_[at] : '\0');
    return !is_in_set(previous, rule, after - 1) && is_in_set(current, rule, after - 1) ? after : npos;
  }

  lua_State* lua_;
  std::string_view subject_, pattern_;
  int64_t credit_ = pattern_steps_per_charge;
  int depth_ = 0;
  int captures_ = 0;
  Capture capture_[max_captures];
};

// Converts a Lua position (1 is first, negative counts from the end) to an offset, which may be past the end.
size_t start_offset(lua_Integer position, size_t size) {
  if (position > 0) return static_cast<size_t>(position) - 1;
  if (position == 0 || position < -static_cast<lua_Integer>(size)) return 0;
  return size - static_cast<size_t>(-position);
}

size_t find_plain(std::string_view subject, std::string_view wanted, size_t start) {
  if (wanted.empty()) return start;
  const void* found = memmem(subject.data() + start, subject.size() - start, wanted.data(), wanted.size());
  return found == nullptr ? npos : static_cast<size_t>(static_cast<const char*>(found) - subject.data());
}

int find_or_match(lua_State* lua, bool find) {
  const std::string_view subject = text_argument(lua, 1);
  std::string_view pattern = text_argument(lua, 2);
  const size_t start = start_offset(luaL_optinteger(lua, 3, 1), subject.size());
  if (start > subject.size()) {
    luaL_pushfail(lua);
    return 1;
  }
  const bool is_plain = lua_toboolean(lua, 4) != 0 || pattern.find_first_of("^$*+?.([%-") == npos;
  if (find && is_plain) {
    LuaMachine::of(lua).charge(lua, static_cast<int64_t>((subject.size() - start) / 16));
    const size_t at = find_plain(subject, pattern, start);
    if (at == npos) {
      luaL_pushfail(lua);
      return 1;
    }
    lua_pushinteger(lua, static_cast<lua_Integer>(at) + 1);
    lua_pushinteger(lua, static_cast<lua_Integer>(at + pattern.size()));
    return 2;
  }
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  Matcher matcher(lua, subject, pattern);
  for (size_t at = start; at <= subject.size(); ++at) {
    const size_t end = matcher.match_at(at);
    if (end != npos) {
      if (!find) return matcher.push_captures(at, end, true);
      lua_pushinteger(lua, static_cast<lua_Integer>(at) + 1);
      lua_pushinteger(lua, static_cast<lua_Integer>(end));
      return matcher.push_captures(at, end, false) + 2;
    }
    if (is_anchored) break;
  }
  luaL_pushfail(lua);
  return 1;
}

int find(lua_State* lua) {
  return find_or_match(lua, true);
}

int match(lua_State* lua) {
  return find_or_match(lua, false);
}

// The upvalues are: the subject, the pattern, where to continue, and where the last match ended (-1: no match
// yet).
int next_match(lua_State* lua) {
  const std::string_view subject = text_argument(lua, lua_upvalueindex(1));
  const std::string_view pattern = text_argument(lua, lua_upvalueindex(2));
  const auto start = static_cast<size_t>(lua_tointeger(lua, lua_upvalueindex(3)));
  const lua_Integer last = lua_tointeger(lua, lua_upvalueindex(4));
  Matcher matcher(lua, subject, pattern);
  for (size_t at = start; at <= subject.size(); ++at) {
    const size_t end = matcher.match_at(at);
    if (end == npos || static_cast<lua_Integer>(end) == last) continue;
    for (const int index : {3, 4}) {
      lua_pushinteger(lua, static_cast<lua_Integer>(end));
      lua_replace(lua, lua_upvalueindex(index));
    }
    return matcher.push_captures(at, end, true);
  }
  return 0;
}

int each_match(lua_State* lua) {
  const std::string_view subject = text_argument(lua, 1);
  text_argument(lua, 2);
  size_t start = start_offset(luaL_optinteger(lua, 3, 1), subject.size());
  if (start > subject.size()) start = subject.size() + 1;
  lua_settop(lua, 2);
  lua_pushinteger(lua, static_cast<lua_Integer>(start));
  lua_pushinteger(lua, -1);
  lua_pushcclosure(lua, next_match, 4);
  return 1;
}

void add_replacement_text(lua_State* lua, luaL_Buffer& buffer, Matcher& matcher, size_t start, size_t end) {
  size_t size = 0;
  const char* text = lua_tolstring(lua, 3, &size);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] != '%') {
      luaL_addchar(&buffer, text[i]);
      continue;
    }
    const char what = ++i < size ? text[i] : '\0';
    if (what == '%') {
      luaL_addchar(&buffer, '%');
    } else if (what == '0') {
      luaL_addlstring(&buffer, lua_tolstring(lua, 1, nullptr) + start, end - start);
    } else if (std::isdigit(static_cast<unsigned char>(what)) != 0) {
      matcher.push_capture(what - '1', start, end);
      luaL_tolstring(lua, -1, nullptr);  // a position capture is a number
      lua_remove(lua, -2);
      luaL_addvalue(&buffer);
    } else {
      luaL_error(lua, "invalid use of '%%' in replacement string");
    }
  }
}

// Appends the replacement of the match [start, end). Returns true if it differs from the match.
bool add_replacement(lua_State* lua, luaL_Buffer& buffer, Matcher& matcher, size_t start, size_t end) {
  switch (lua_type(lua, 3)) {
    case LUA_TFUNCTION: {
      lua_pushvalue(lua, 3);
      const int count = matcher.push_captures(start, end, true);
      lua_call(lua, count, 1);
      break;
    }
    case LUA_TTABLE:
      matcher.push_capture(0, start, end);
      lua_gettable(lua, 3);
      break;
    default:
      add_replacement_text(lua, buffer, matcher, start, end);
      return true;
  }
  if (lua_toboolean(lua, -1) == 0) {
    lua_pop(lua, 1);
    luaL_addlstring(&buffer, lua_tolstring(lua, 1, nullptr) + start, end - start);
    return false;
  }
  if (lua_isstring(lua, -1) == 0) luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
  luaL_addvalue(&buffer);
  return true;
}

int substitute(lua_State* lua) {
  const std::string_view subject = text_argument(lua, 1);
  std::string_view pattern = text_argument(lua, 2);
  const int type = lua_type(lua, 3);
  luaL_argexpected(lua,
                   type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE,
                   3, "string/function/table");
  if (type == LUA_TNUMBER) luaL_checklstring(lua, 3, nullptr);
  const lua_Integer most = luaL_optinteger(lua, 4, static_cast<lua_Integer>(subject.size()) + 1);
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  Matcher matcher(lua, subject, pattern);
  luaL_Buffer buffer;
  luaL_buffinit(lua, &buffer);
  size_t at = 0, last = npos;
  lua_Integer count = 0;
  bool changed = false;
  while (count < most) {
    const size_t end = matcher.match_at(at);
    if (end != npos && end != last) {
      ++count;
      changed = add_replacement(lua, buffer, matcher, at, end) || changed;
      at = last = end;
    } else if (at < subject.size()) {
      luaL_addchar(&buffer, subject[at++]);
    } else {
      break;
    }
    if (is_anchored) break;
  }
  if (changed) {
    luaL_addlstring(&buffer, subject.data() + at, subject.size() - at);
    luaL_pushresult(&buffer);
  } else {
    lua_pushvalue(lua, 1);
  }
  lua_pushinteger(lua, count);
  return 2;
}

}  // namespace

void add_lua_patterns(lua_State* lua) {
  const luaL_Reg functions[] = {
      {"find", find}, {"match", match}, {"gmatch", each_match}, {"gsub", substitute}, {nullptr, nullptr}};
  luaL_setfuncs(lua, functions, 0);
}

}  // namespace sibyl::plan
