// Computes the candidates at the cursor. Internal to completion; other files call complete().
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/complete.h"
#include "cli/shell/scan.h"

namespace sibyl::cli::shell {

// One completion: collects candidates that begin with the word at the cursor.
class Completer {
 public:
  Completer(const SchemaNames& names, std::string_view keyspace, std::vector<Token> before,
            std::vector<Token> after, std::string_view prefix)
      : names_(names),
        keyspace_(keyspace),
        before_(std::move(before)),
        after_(std::move(after)),
        prefix_(prefix) {
    strip_batch();
  }

  std::vector<Candidate> run();

 private:
  // --- The tokens before the cursor; 0 is the nearest (shell/completer.cc).
  const Token& back(size_t i) const {
    static const Token none;
    return i < before_.size() ? before_[before_.size() - 1 - i] : none;
  }
  bool ends(std::initializer_list<std::string_view> words) const {
    size_t i = words.size();
    for (std::string_view word : words)
      if (!back(--i).is(word)) return false;
    return true;
  }
  bool begins(std::string_view word) const { return !before_.empty() && before_[0].is(word); }
  bool has(std::string_view word) const {
    return std::any_of(before_.begin(), before_.end(), [&](const Token& t) { return t.is(word); });
  }
  size_t depth(char open, char close) const {
    int depth = 0;
    for (const Token& token : before_) depth += token.is(open) ? 1 : token.is(close) ? -1 : 0;
    return depth > 0 ? static_cast<size_t>(depth) : 0;
  }
  // The last clause keyword before the cursor; empty if there is none.
  std::string clause() const;
  const TableNames* statement_table() const;

  // --- Groups of candidates (shell/completer.cc).
  void strip_batch();
  void add(std::string text, char follow = ' ');
  void keywords(std::initializer_list<std::string_view> words);
  void any_keyword();
  void keyspaces(char follow);
  void tables();
  void tables_of(std::string_view keyspace);
  void columns(char follow = ' ');
  void types();
  void user_types();
  void functions();

  // --- Contexts. Return true if the context was recognised, even if it has no candidates.
  void command_arguments();  // shell/complete.cc
  void copy_arguments();
  void describe_arguments();
  bool name_places();
  void select();  // shell/complete_data.cc
  void insert();
  void update();
  void remove();
  void where();
  bool definitions();  // shell/complete_definition.cc
  bool create_table();
  bool create_index();
  bool alter_table();

  const SchemaNames& names_;
  std::string_view keyspace_;
  std::vector<Token> before_, after_;
  std::string_view prefix_;
  std::vector<Candidate> found_;
};

}  // namespace sibyl::cli::shell
