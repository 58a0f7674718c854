// How alike two float vectors are: what the similarity_ functions give and ANN orders by. 1 is the same (for
// cosine: the same direction), less is less alike.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::plan {

enum class Similarity { cosine, dot_product, euclidean };

// As an index's options spell it, in any case; nullopt: no such function.
std::optional<Similarity> similarity_of(std::string_view name);

// REQUIRES: both have as many elements. Cosine of a vector of zeros is not a number.
float similarity_between(Similarity similarity, std::span<const float> left, std::span<const float> right);

// Refuses vectors that have no place in an index: numbers that are not finite, for cosine no direction.
base::Status check_indexable(Similarity similarity, std::span<const float> vector);

bool is_all_zero(std::span<const float> vector);

// The elements of a vector<float, n>. REQUIRES: valid bytes of one.
std::vector<float> decode_floats(base::BytesView vector);

}  // namespace sibyl::plan
