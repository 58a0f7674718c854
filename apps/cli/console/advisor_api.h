// The advisor: reviews of this server and of pasted models, and designs. Endpoints of docs/console-api.md.
#pragma once

#include "cli/console/api.h"

namespace sibyl::cli::console {

Answer review_live(const Call& call);
Answer review_text(const Call& call);
Answer design_text(const Call& call);

}  // namespace sibyl::cli::console
