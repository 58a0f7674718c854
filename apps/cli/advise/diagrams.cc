#include "cli/advise/diagrams.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "advisor/report/diagram.h"

namespace sibyl::cli {

base::Status write_diagrams(const advisor::Review& review, const std::string& directory) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  if (problem)
    return base::fail(base::ErrorCode::server,
                      fmt::format("cannot create the directory {}: {}", directory, problem.message()));
  for (const advisor::Diagram& diagram : advisor::draw_diagrams(review)) {
    const std::filesystem::path path = std::filesystem::path(directory) / diagram.file;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << diagram.text;
    file.close();
    if (!file) return base::fail(base::ErrorCode::server, fmt::format("cannot write {}", path.string()));
  }
  return {};
}

base::Status write_diagrams(const advisor::Workload& workload, const advisor::Design& design,
                            const std::string& directory) {
  SIBYL_ASSIGN(const advisor::Workload tables,
               advisor::parse_workload(advisor::print_design(workload, design), workload.file));
  SIBYL_ASSIGN(const advisor::Review review, advisor::review_workloads({tables}, {}));
  return write_diagrams(review, directory);
}

}  // namespace sibyl::cli
