// Splits scripts into statements.
#include "cql/script.h"

#include "cql/lexer.h"

namespace sibyl::cql {
namespace {

// Tracks BEGIN ... APPLY BATCH, which contains semicolons.
class BatchWatcher {
 public:
  void see(TokenKind kind) {
    if (first_) inside_ = kind == TokenKind::kw_begin;
    if (inside_ && previous_ == TokenKind::kw_apply && kind == TokenKind::kw_batch) inside_ = false;
    previous_ = kind;
    first_ = first_ && kind == TokenKind::kw_explain;
  }
  bool inside() const { return inside_; }

 private:
  TokenKind previous_ = TokenKind::end;
  bool first_ = true;
  bool inside_ = false;
};

}  // namespace

std::vector<ScriptPiece> split_script(std::string_view script) {
  std::vector<ScriptPiece> pieces;
  Lexer lexer(script);
  BatchWatcher batch;
  bool empty = true;
  size_t start = 0;
  while (true) {
    const Token token = lexer.next();
    if (token.kind == TokenKind::end) break;
    if (empty && token.kind != TokenKind::semicolon) start = token.offset;
    if (token.kind == TokenKind::semicolon && !batch.inside()) {
      if (!empty) pieces.push_back({std::string(script.substr(start, token.offset - start)), start, true});
      batch = BatchWatcher();
      empty = true;
      continue;
    }
    batch.see(token.kind);
    empty = false;
  }
  if (!empty) {
    const size_t end = script.find_last_not_of(" \t\r\n");
    pieces.push_back({std::string(script.substr(start, end + 1 - start)), start, false});
  }
  return pieces;
}

}  // namespace sibyl::cql
