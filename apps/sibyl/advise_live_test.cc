// `sibyl advise --live`: a server with a model that is bad on purpose, work on it, and what is said of it.
#include "sibyl/test_process.h"

namespace sibyl {
namespace {

using testing::HasSubstr;

class AdviseLiveTest : public ServeTest {
 protected:
  struct Outcome {
    int status = 0;
    std::string output, errors;
  };
  static Outcome advise(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "advise");
    Process process(std::move(arguments));
    Outcome outcome;
    outcome.output = process.rest_of_output();
    outcome.errors = process.rest_of_errors();
    outcome.status = process.wait();
    return outcome;
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
};

TEST_F(AdviseLiveTest, PlacesThatCannotBeAsked) {
  const Outcome nobody = advise({"--live", "127.0.0.1:1"});
  EXPECT_EQ(nobody.status, 2);
  EXPECT_THAT(nobody.errors, HasSubstr("cannot connect"));
  EXPECT_EQ(advise({"--live", directory_ + "/none"}).status, 2);
  EXPECT_EQ(advise({"--live", directory_}).status, 2) << "empty, and it stays so";
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  auto server = serve(data());
  EXPECT_EQ(advise({"--live", address()}).status, 2) << "no keyspace";
  const Outcome used = advise({"--live", data()});
  EXPECT_EQ(used.status, 2);
  EXPECT_THAT(used.errors, HasSubstr("another process has it open"));
}

}  // namespace
}  // namespace sibyl
