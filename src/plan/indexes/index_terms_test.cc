#include "plan/indexes/index_terms.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "types/compare.h"
#include "types/value.h"

namespace sibyl::plan {
namespace {

using types::Kind;

TermForm form_of(Kind kind) {
  TermForm form;
  form.value = types::scalar(kind).get();
  return form;
}

int sign(int order) {
  return (order > 0) - (order < 0);
}

TEST(IndexTerms, SortLikeTheirValues) {
  EXPECT_TRUE(rc::check([](int32_t left, int32_t right) {
    const TermForm form = form_of(Kind::int_);
    const Bytes a = types::encode_int32(left), b = types::encode_int32(right);
    RC_ASSERT(sign(form.term({}, a).compare(form.term({}, b))) == sign(types::compare(*form.value, a, b)));
  }));
  EXPECT_TRUE(rc::check([](const std::string& left, const std::string& right) {
    const TermForm form = form_of(Kind::blob);
    RC_ASSERT(sign(form.term({}, left).compare(form.term({}, right))) ==
              sign(types::compare(*form.value, left, right)));
  }));
}

// Long values are truncated: their terms may be equal, but never in the wrong order.
TEST(IndexTerms, KeepTheOrderOfLongValues) {
  const TermForm form = form_of(Kind::text);
  const std::string start(2'000, 'm');
  EXPECT_EQ(form.term({}, start + "a"), form.term({}, start + "b"));
  EXPECT_LT(form.term({}, start), form.term({}, "n"));
  EXPECT_GT(form.term({}, start), form.term({}, "l" + start));
  EXPECT_LT(form.term({}, start).size(), 1'100u);
}

TEST(IndexTerms, SkipConsumesOneTerm) {
  EXPECT_TRUE(rc::check([](const std::string& key, int32_t value, const std::string& rest) {
    TermForm form = form_of(Kind::int_);
    form.key = types::scalar(Kind::blob).get();
    const Bytes entry = form.term(key, types::encode_int32(value)) + rest;
    BytesView left = entry;
    RC_ASSERT(form.skip(left));
    RC_ASSERT(left == rest);
  }));
  BytesView nothing;
  EXPECT_FALSE(form_of(Kind::text).skip(nothing));
}

TEST(IndexTerms, APrefixCoversTextsThatBeginWithIt) {
  EXPECT_TRUE(rc::check([](const std::string& start, const std::string& end, const std::string& other) {
    const TermForm form = form_of(Kind::blob);
    const Bytes prefix = form.prefix_of(start);
    RC_ASSERT(form.term({}, start + end).starts_with(prefix));
    RC_ASSERT(form.term({}, other).starts_with(prefix) == other.starts_with(start));
  }));
}

TEST(IndexTerms, TextsAreFolded) {
  TermForm form = form_of(Kind::text);
  form.analysis.letters = schema::TextAnalysis::Case::lower;
  form.analysis.ascii = true;
  EXPECT_EQ(form.term({}, "École"), form.term({}, "ecole"));
  EXPECT_NE(form.term({}, "École"), form.term({}, "ecol"));
}

}  // namespace
}  // namespace sibyl::plan
