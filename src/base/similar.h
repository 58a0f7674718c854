// Finds the name that a misspelt word was probably meant to be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::base {

// The number of letters that must be added, removed, changed or swapped with their neighbour. Compares bytes.
size_t edit_distance(std::string_view left, std::string_view right);

// The candidate with the smallest edit distance, ignoring the case of ASCII letters. Empty if none is close:
// one edit in words of up to five letters, else one for every three letters. Among equally close candidates,
// the one that begins like the word wins, then the first.
std::string most_similar(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sibyl::base
