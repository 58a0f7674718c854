#include "engine/prepared/unprepared.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace sibyl::engine {

base::Error unprepared_error(std::string_view id) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::unprepared;
  details.message = fmt::format(
      "Prepared query with ID {} not found (either the query was not prepared on this host (maybe the host "
      "has been "
      "restarted?) or you have prepared too many queries and it has been evicted from the internal cache)",
      base::to_hex(id));
  details.statement_id = id;
  return base::Error(std::move(details));
}

}  // namespace sibyl::engine
