#include "server/connection/waiting_time.h"

#include <algorithm>

namespace sibyl::server {

bool WaitingTime::needs_mark(TimePoint now) const {
  constexpr std::chrono::milliseconds interval{250};
  return marks_.empty() || now - marks_.back().at >= interval;
}

bool WaitingTime::has_waited(TimePoint now, uint64_t position, Duration timeout) {
  if (marks_.empty() || is_client_behind()) return false;
  while (!marks_.empty() && marks_.front().position <= position) marks_.pop_front();
  return !marks_.empty() && now - marks_.front().at >= timeout;
}

void WaitingTime::exclude(TimePoint now, Duration time) {
  for (Mark& mark : marks_) mark.at = std::min(now, mark.at + time);
}

void WaitingTime::set_client_behind(bool is_behind, TimePoint now) {
  if (is_behind == is_client_behind()) return;
  if (!is_behind) exclude(now, now - behind_since_);
  behind_since_ = is_behind ? now : TimePoint{};
}

}  // namespace sibyl::server
