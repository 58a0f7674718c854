// The similarity of two float vectors, for the similarity_ functions and for ANN. 1 means equal (for cosine:
// the same direction); smaller numbers mean less similar.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::plan {

enum class Similarity { cosine, dot_product, euclidean };

// Returns the function with this name in the options of an index, in any case; nullopt if there is none.
std::optional<Similarity> similarity_of(std::string_view name);

// REQUIRES: both have the same number of elements. The cosine of a zero vector is NaN.
float similarity_between(Similarity similarity, std::span<const float> left, std::span<const float> right);

// Refuses vectors that cannot be indexed: non-finite numbers and, for cosine, zero vectors.
base::Status check_indexable(Similarity similarity, std::span<const float> vector);

bool is_all_zero(std::span<const float> vector);

// The elements of a vector<float, n>. REQUIRES: valid bytes.
std::vector<float> decode_floats(base::BytesView vector);

}  // namespace sibyl::plan
