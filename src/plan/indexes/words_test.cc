#include "plan/indexes/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/indexes/index_terms.h"
#include "plan/indexes/stemming.h"
#include "plan/indexes/stop_words.h"

namespace sibyl::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The expected words are those of Cassandra 5.0's StandardAnalyzer.
TEST(Words, EndAtBoundariesOfUnicode) {
  EXPECT_THAT(standard_words("The quick brown-fox's can't 3.5 a_b foo:bar x@y.com"),
              ElementsAre("The", "quick", "brown", "fox's", "can't", "3.5", "a_b", "foo:bar", "x", "y.com"));
  EXPECT_THAT(standard_words("1,000.50 __init__ I.B.M. ...---... _"),
              ElementsAre("1,000.50", "__init__", "I.B.M"));
  EXPECT_THAT(standard_words(""), IsEmpty());
}

TEST(Words, DivideScriptsWithoutSpacesLikeCassandra) {
  EXPECT_THAT(standard_words("漢字ひらカタカナ한국어"),
              ElementsAre("漢", "字", "ひ", "ら", "カタカナ", "한국어"));
  EXPECT_THAT(standard_words("ภาษาไทย ง่าย"), ElementsAre("ภาษาไทย", "ง่าย"));
  EXPECT_THAT(standard_words("a👍🏽b 🇩🇪"), ElementsAre("a", "b"));
  EXPECT_THAT(standard_words("e\u0301te\u0301"), ElementsAre("e\u0301te\u0301"));
}

TEST(Words, KeepQuotesBetweenHebrewLetters) {
  EXPECT_THAT(standard_words("צה\"ל ג'ירפה ה' a\"b"), ElementsAre("צה\"ל", "ג'ירפה", "ה'", "a", "b"));
  EXPECT_THAT(standard_words("א.ג\"ד"), ElementsAre("א.ג", "ד"));
  EXPECT_THAT(standard_words("ד\"א.a"), ElementsAre("ד\"א", "a"));
}

TEST(Words, OmitWordsThatAreTooLong) {
  const std::string longest(255, 'x');
  EXPECT_THAT(standard_words(longest + "x " + longest), ElementsAre(longest));
}

TEST(Words, EndAtDelimiters) {
  EXPECT_THAT(delimited_words(",a,,b c,", ","), ElementsAre("a", "b c"));
  EXPECT_THAT(delimited_words("aöbö", "ö"), ElementsAre("a", "b"));
  EXPECT_THAT(delimited_words("", ","), IsEmpty());
}

TEST(Words, AreAnalysedLikeInCassandra) {
  schema::TextAnalysis analysis;
  analysis.words = schema::TextAnalysis::Words::standard;
  analysis.letters = schema::TextAnalysis::Case::lower;
  analysis.normalise = analysis.skips_stop_words = analysis.stems = true;
  analysis.language = "en";
  EXPECT_THAT(analysed_words(analysis, "The Dogs were Jumping, cafe\u0301"),
              ElementsAre("dog", "jump", "caf\u00e9"));
}

TEST(StopWords, AreKnownByLanguage) {
  EXPECT_TRUE(is_stop_word("en", "the"));
  EXPECT_FALSE(is_stop_word("en", "The"));
  EXPECT_FALSE(is_stop_word("xx", "the"));
  EXPECT_FALSE(is_stop_word("", "the"));
  // The first and the last word of each list.
  for (const auto& [language, words] :
       std::initializer_list<std::pair<const char*, std::vector<const char*>>>{
           {"de", {"Ernst", "zwischen"}}, {"ru", {"а", "я"}}, {"sv", {"aderton", "vill"}}})
    for (const char* word : words) EXPECT_TRUE(is_stop_word(language, word)) << language << " " << word;
}

TEST(Stemming, FollowsSnowball) {
  EXPECT_EQ(stem_of("en", "running"), "run");
  EXPECT_EQ(stem_of("de", "übergrößen"), "ubergross");
  EXPECT_EQ(stem_of("ru", "миром"), "мир");
  EXPECT_EQ(stem_of("xx", "running"), "running");
}

}  // namespace
}  // namespace sibyl::plan
