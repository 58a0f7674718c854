#include "plan/terms/similarity.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "base/ascii.h"
#include "types/value.h"

namespace sibyl::plan {

std::optional<Similarity> similarity_of(std::string_view name) {
  const std::string lower = base::ascii_lower(name);
  if (lower == "cosine") return Similarity::cosine;
  if (lower == "dot_product") return Similarity::dot_product;
  if (lower == "euclidean") return Similarity::euclidean;
  return std::nullopt;
}

float similarity_between(Similarity similarity, std::span<const float> left, std::span<const float> right) {
  double product = 0, left_square = 0, right_square = 0, distance = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const double a = left[i], b = right[i];
    product += a * b;
    left_square += a * a;
    right_square += b * b;
    distance += (a - b) * (a - b);
  }
  double result = 0;
  switch (similarity) {
    case Similarity::cosine:
      result = (1 + product / std::sqrt(left_square * right_square)) / 2;
      break;
    case Similarity::dot_product:
      result = (1 + product) / 2;
      break;
    case Similarity::euclidean:
      result = 1 / (1 + distance);
      break;
  }
  return static_cast<float>(result);
}

base::Status check_indexable(Similarity similarity, std::span<const float> vector) {
  if (!std::all_of(vector.begin(), vector.end(), [](float one) { return std::isfinite(one); }))
    return base::invalid("Vectors with NaN or infinite elements cannot be indexed or queried");
  if (similarity == Similarity::cosine && is_all_zero(vector))
    return base::fail(base::Error(base::ErrorCode::invalid,
                                  "Zero vectors cannot be indexed or queried with cosine similarity")
                          .with_hint("use an index WITH OPTIONS = {'similarity_function': 'euclidean'}"));
  return {};
}

bool is_all_zero(std::span<const float> vector) {
  return std::all_of(vector.begin(), vector.end(), [](float one) { return one == 0; });
}

std::vector<float> decode_floats(base::BytesView vector) {
  std::vector<float> out;
  out.reserve(vector.size() / sizeof(float));
  for (size_t at = 0; at + sizeof(float) <= vector.size(); at += sizeof(float))
    out.push_back(types::decode_float(vector.substr(at, sizeof(float))));
  return out;
}

}  // namespace sibyl::plan
