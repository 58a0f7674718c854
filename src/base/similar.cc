#include "base/similar.h"

#include <algorithm>

#include "base/ascii.h"

namespace sibyl::base {

size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::vector<size_t>> cost(left.size() + 1, std::vector<size_t>(right.size() + 1));
  for (size_t i = 0; i <= left.size(); ++i) {
    for (size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t change = left[i - 1] == right[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[left.size()][right.size()];
}

namespace {

size_t common_prefix(std::string_view left, std::string_view right) {
  const auto [end, other] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  return static_cast<size_t>(end - left.begin());
}

}  // namespace

std::string most_similar(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = ascii_lower(word);
  std::string best;
  const size_t most = std::max<size_t>(1, word.size() / 3);
  size_t least = most + 1, prefix = 0;
  for (const std::string& candidate : candidates) {
    // Lengths that differ too much need no comparison.
    const size_t longer = std::max(candidate.size(), word.size());
    if (longer - std::min(candidate.size(), word.size()) > std::min(least, most)) continue;
    const std::string name = ascii_lower(candidate);
    const size_t found = edit_distance(wanted, name), same = common_prefix(wanted, name);
    if (found > most || found > least || (found == least && same <= prefix)) continue;
    least = found;
    prefix = same;
    best = candidate;
  }
  return best;
}

}  // namespace sibyl::base
