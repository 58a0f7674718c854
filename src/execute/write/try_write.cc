#include "execute/write/try_write.h"

#include "execute/write/batch.h"
#include "execute/write/modify.h"
#include "execute/write/truncate.h"

namespace sibyl::execute {

using plan::Modification;

bool try_write(const plan::Prepared& prepared, const Request& request, Environment& environment,
               LockAttempt& attempt, Completion& done) {
  if (std::holds_alternative<std::shared_ptr<const Modification>>(prepared.plan))
    return try_modify(prepared, request, environment, attempt, done);
  if (std::holds_alternative<plan::Truncate>(prepared.plan))
    return try_truncate(prepared, environment, attempt, done);
  return try_batch(prepared, request, environment, attempt, done);
}

}  // namespace sibyl::execute
