// The statements that the console is running, so that they can be cancelled. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "cli/console/statements.h"

namespace sibyl::cli::console {

class RunningStatements {
 public:
  // Names a statement of a session for as long as the returned object lives. The page chooses the name.
  class Entry {
   public:
    Entry(RunningStatements& running, std::string session, std::string name, StatementControl& control)
        : running_(running), key_(std::move(session), std::move(name)) {
      const base::MutexLock lock(running_.mutex_);
      running_.controls_[key_] = &control;
    }
    ~Entry() {
      const base::MutexLock lock(running_.mutex_);
      running_.controls_.erase(key_);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    RunningStatements& running_;
    std::pair<std::string, std::string> key_;
  };

  // Returns false if the session runs no such statement.
  bool cancel(const std::string& session, const std::string& name) {
    const base::MutexLock lock(mutex_);
    const auto found = controls_.find({session, name});
    if (found == controls_.end()) return false;
    found->second->cancel();
    return true;
  }

 private:
  base::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, StatementControl*> controls_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::cli::console
