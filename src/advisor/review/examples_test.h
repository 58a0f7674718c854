// The sections of docs/advisor-examples.md.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "advisor/review/test_review.h"

namespace sibyl::advisor {

struct Example {
  std::string title, model, fixed, findings;
};

inline std::vector<Example> read_examples() {
  std::istringstream text(read_file("docs/advisor-examples.md"));
  std::vector<Example> examples;
  std::string line, *block = nullptr;
  while (std::getline(text, line)) {
    if (line.starts_with("## ")) examples.push_back({line.substr(3), {}, {}, {}});
    if (line.starts_with("Findings: ")) examples.back().findings = line.substr(10);
    if (line.starts_with("```"))
      block = line == "```cql"         ? &examples.back().model
              : line == "```cql fixed" ? &examples.back().fixed
                                       : nullptr;
    else if (block != nullptr)
      *block += line + "\n";
  }
  return examples;
}

}  // namespace sibyl::advisor
