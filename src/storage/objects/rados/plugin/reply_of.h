// The meaning of librados' error codes for a mutation and for a read.
#pragma once

#include <cerrno>

#include "storage/objects/object_store.h"

namespace sibyl::storage::objects::rados {

inline Reason reason_of(int error) {
  switch (-error) {
    case 0:
      return Reason::none;
    case ENOENT:
      return Reason::missing;
    case EEXIST:
      return Reason::exists;
    case ECANCELED:
      return Reason::mismatch;
    case EBUSY:
      return Reason::locked;
    case ENOSPC:
    case EDQUOT:
      return Reason::full;
    case EINVAL:
    case EPERM:
    case EACCES:
    case E2BIG:
    case EFBIG:
    case EMSGSIZE:
    case ENAMETOOLONG:
    case EOPNOTSUPP:
      return Reason::invalid;
    case ESHUTDOWN:
      return Reason::fenced;
    case ETIMEDOUT:
      return Reason::timed_out;
    default:
      return Reason::failed;
  }
}

// After an unknown error, the outcome of the mutation is unknown. The same holds for a fenced client, because
// the storage checks the fence before it recognises a mutation that it has already applied.
inline Reply reply_of_mutation(int error) {
  const Reason reason = reason_of(error);
  switch (reason) {
    case Reason::none:
      return {};
    case Reason::fenced:
    case Reason::timed_out:
    case Reason::failed:
      return Reply::unknown(reason);
    default:
      return Reply::refused(reason);
  }
}

inline Reply reply_of_read(int error) {
  const Reason reason = reason_of(error);
  if (reason == Reason::none) return {};
  return reason == Reason::timed_out || reason == Reason::failed ? Reply::unknown(reason)
                                                                 : Reply::refused(reason);
}

}  // namespace sibyl::storage::objects::rados
