// View rows as bytes: in messages between servers, and in an intent's record.
//
//   view rows   version 2, number (varint), for each its sized key and the sized key of its base row
//   ticket      the sized keys of view rows, until the end. Answer: ticket u64
//   put         ticket u64, then until the end for each record its sized key, and 0, or 1 and its sized value.
//               Answer: the places of those that are refused, varints until the end
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/intents/view_tickets.h"
#include "execute/view_row.h"

namespace sibyl::engine {

// First bytes of messages to an owner (intents.cc).
inline constexpr char ticket_message = 'v', put_message = 'w';

base::Bytes encode_view_rows(const std::vector<execute::ViewRow>& rows);
base::Result<std::vector<execute::ViewRow>> decode_view_rows(base::BytesView bytes);
// True if the value of an intent lists view rows; false if it is a batch (batch_messages.h).
bool is_of_view_rows(base::BytesView intent);

// At the owner: carry out a message, and return the answer.
base::Result<base::Bytes> answer_ticket(ViewTickets& tickets, base::BytesView message);
base::Result<base::Bytes> answer_put(ViewTickets& tickets, base::BytesView message);

base::Bytes encode_keys(const std::vector<execute::ViewRow>& rows);
base::Bytes encode_put(uint64_t ticket, const std::vector<ViewTickets::Record>& records);
base::Result<uint64_t> decode_ticket(base::BytesView answer);
// Places are below `count`.
base::Result<std::vector<size_t>> decode_refused(base::BytesView answer, size_t count);

}  // namespace sibyl::engine
