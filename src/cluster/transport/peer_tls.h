// TLS between servers. Both sides derive a key from the cluster's secret and use it instead of certificates
// (TLS 1.3 with a pre-shared key and an ephemeral exchange), so there is nothing to configure.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "base/bytes.h"

namespace sibyl::cluster {

// For both sides.
std::unique_ptr<boost::asio::ssl::context> make_peer_tls(base::BytesView secret);

}  // namespace sibyl::cluster
