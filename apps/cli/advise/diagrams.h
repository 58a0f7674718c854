// `sibyl advise --diagrams DIR`: writes the diagrams of a review to files.
#pragma once

#include <string>

#include "advisor/design/design.h"
#include "advisor/review/review.h"

namespace sibyl::cli {

// Creates the directory if it is missing and overwrites existing files. An error names the file.
base::Status write_diagrams(const advisor::Review& review, const std::string& directory);

// Like write_diagrams() above, for the tables of a design.
base::Status write_diagrams(const advisor::Workload& workload, const advisor::Design& design,
                            const std::string& directory);

}  // namespace sibyl::cli
