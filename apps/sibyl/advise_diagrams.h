// `sibyl advise --diagrams DIR`: pictures of a review as files.
#pragma once

#include <string>

#include "advisor/design.h"
#include "advisor/review.h"

namespace sibyl {

// Makes the directory when it is missing and writes over files of the same names. An error names the file.
base::Status write_diagrams(const advisor::Review& review, const std::string& directory);

// The same for tables that a design suggests.
base::Status write_diagrams(const advisor::Workload& workload, const advisor::Design& design,
                            const std::string& directory);

}  // namespace sibyl
