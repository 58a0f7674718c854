#include "auth/access.h"

#include <gtest/gtest.h>

namespace sibyl::auth {
namespace {

using enum Permission;

AccessRows family() {
  AccessRows rows;
  rows.roles["root"] = {true, true, "hash", {}};
  rows.roles["admins"] = {true, false, std::nullopt, {}};
  rows.roles["alice"] = {false, true, "hash", {"writers"}};
  rows.roles["writers"] = {false, false, std::nullopt, {"readers"}};
  rows.roles["readers"] = {false, false, std::nullopt, {}};
  rows.roles["dave"] = {false, true, "hash", {"admins"}};
  rows.permissions["readers"]["data/ks"] = {select};
  rows.permissions["writers"]["data/ks/t"] = {modify};
  rows.permissions["alice"]["functions"] = {execute};
  return rows;
}

TEST(Access, PermissionsComeFromRolesAndParents) {
  const Access access(family());
  EXPECT_TRUE(access.allows("alice", select, Resource::table("ks", "t")));
  EXPECT_TRUE(access.allows("alice", select, Resource::table("ks", "other")));
  EXPECT_TRUE(access.allows("alice", modify, Resource::table("ks", "t")));
  EXPECT_FALSE(access.allows("alice", modify, Resource::table("ks", "other")));
  EXPECT_FALSE(access.allows("alice", select, Resource::table("ks2", "t")));
  EXPECT_FALSE(access.allows("readers", modify, Resource::table("ks", "t")));
  EXPECT_TRUE(access.allows("alice", execute, Resource::function("ks", "f", {})));
}

TEST(Access, SuperusersMayDoEverythingAlsoByARole) {
  const Access access(family());
  EXPECT_TRUE(access.is_superuser("root"));
  EXPECT_TRUE(access.is_superuser("dave"));
  EXPECT_FALSE(access.is_superuser("alice"));
  EXPECT_TRUE(access.allows("dave", drop, Resource::table("ks", "t")));
  EXPECT_TRUE(access.allows("dave", create, Resource::all_roles()));
}

TEST(Access, UnknownRolesMayDoNothing) {
  const Access access(family());
  EXPECT_FALSE(access.allows("stranger", select, Resource::table("ks", "t")));
  EXPECT_FALSE(access.is_superuser("stranger"));
  EXPECT_TRUE(access.roles_of("stranger", true).empty());
  EXPECT_EQ(access.ensure("stranger", select, Resource::table("ks", "t")).error().message(),
            "User stranger has no SELECT permission on <table ks.t> or any of its parents");
  EXPECT_EQ(access.ensure("stranger", select, Resource::table("ks", "t")).error().code(),
            base::ErrorCode::unauthorized);
}

TEST(Access, RolesAreListedWithAndWithoutInheritance) {
  const Access access(family());
  EXPECT_EQ(access.roles_of("alice", true), (std::vector<std::string>{"alice", "readers", "writers"}));
  EXPECT_EQ(access.roles_of("alice", false), (std::vector<std::string>{"alice", "writers"}));
}

TEST(Access, CyclesOfRolesAreHandled) {
  AccessRows rows = family();
  rows.roles["readers"].member_of = {"alice"};
  const Access access(rows);
  EXPECT_EQ(access.roles_of("writers", true), (std::vector<std::string>{"alice", "readers", "writers"}));
  EXPECT_TRUE(access.allows("readers", modify, Resource::table("ks", "t")));
}

TEST(Access, ADroppedRoleGrantsNothing) {
  AccessRows rows = family();
  rows.roles.erase("writers");
  const Access access(rows);
  EXPECT_FALSE(access.allows("alice", select, Resource::table("ks", "t")));
}

}  // namespace
}  // namespace sibyl::auth
