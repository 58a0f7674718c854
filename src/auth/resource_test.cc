#include "auth/resource.h"

#include <gtest/gtest.h>

namespace sibyl::auth {
namespace {

const types::TypePtr number = types::scalar(types::Kind::int_);
const types::TypePtr text = types::scalar(types::Kind::text);

std::vector<Resource> all_kinds() {
  return {Resource::all_keyspaces(),
          Resource::of_keyspace("ks"),
          Resource::all_tables("ks"),
          Resource::table("ks", "t"),
          Resource::all_roles(),
          Resource::role("bob/the builder"),
          Resource::all_functions(),
          Resource::functions_in("ks"),
          Resource::function("ks", "f", {number, types::list_of(text, false)}),
          Resource::function("ks", "nothing", {}),
          Resource::all_mbeans(),
          Resource::mbean("org.apache.cassandra.db:type=*")};
}

TEST(Resource, NamesAreCassandras) {
  EXPECT_EQ(name_of(Resource::all_keyspaces()), "data");
  EXPECT_EQ(name_of(Resource::of_keyspace("ks")), "data/ks");
  EXPECT_EQ(name_of(Resource::all_tables("ks")), "data/ks/*");
  EXPECT_EQ(name_of(Resource::table("ks", "t")), "data/ks/t");
  EXPECT_EQ(name_of(Resource::all_roles()), "roles");
  EXPECT_EQ(name_of(Resource::role("bob")), "roles/bob");
  EXPECT_EQ(name_of(Resource::functions_in("ks")), "functions/ks");
  EXPECT_EQ(
      name_of(Resource::function("ks", "f", {number, text})),
      "functions/ks/f[org.apache.cassandra.db.marshal.Int32Type^org.apache.cassandra.db.marshal.UTF8Type]");
  EXPECT_EQ(name_of(Resource::all_mbeans()), "mbean");
}

TEST(Resource, TextsAreCassandras) {
  EXPECT_EQ(to_string(Resource::table("ks", "t")), "<table ks.t>");
  EXPECT_EQ(to_string(Resource::all_tables("ks")), "<all tables in ks>");
  EXPECT_EQ(to_string(Resource::function("ks", "f", {number, text})), "<function ks.f(int, text)>");
  EXPECT_EQ(to_string(Resource::role("bob")), "<role bob>");
}

TEST(Resource, NamesRoundTrip) {
  for (const Resource& resource : all_kinds()) {
    const auto back = resource_by_name(name_of(resource));
    ASSERT_TRUE(back) << name_of(resource);
    EXPECT_EQ(back->kind, resource.kind);
    EXPECT_EQ(to_string(*back), to_string(resource));
    EXPECT_EQ(name_of(*back), name_of(resource));
  }
}

TEST(Resource, InvalidNamesAreRejected) {
  for (const char* name : {"", "dat", "data/", "data//t", "database", "data/ks/", "functions/ks/f",
                           "functions/ks/f[", "rolesx", "other"})
    EXPECT_FALSE(resource_by_name(name)) << name;
}

TEST(Resource, ParentsEndAtARoot) {
  for (const Resource& resource : all_kinds()) {
    int levels = 0;
    for (auto at = parent_of(resource); at; at = parent_of(*at)) {
      EXPECT_STREQ(class_of(at->kind), class_of(resource.kind));
      ++levels;
    }
    EXPECT_LE(levels, 3);
  }
  EXPECT_EQ(name_of(*parent_of(Resource::table("ks", "t"))), "data/ks/*");
  EXPECT_EQ(name_of(*parent_of(Resource::all_tables("ks"))), "data/ks");
}

TEST(Resource, OnlySomePermissionsApply) {
  using enum Permission;
  EXPECT_FALSE(applicable_permissions(Resource::Kind::table).contains(create));
  EXPECT_TRUE(applicable_permissions(Resource::Kind::keyspace).contains(create));
  EXPECT_EQ(applicable_permissions(Resource::Kind::role), PermissionSet({alter, drop, authorize, describe}));
  EXPECT_EQ(applicable_permissions(Resource::Kind::table).text(),
            "ALTER, DROP, SELECT, MODIFY, AUTHORIZE, UNMASK, SELECT_MASKED");
}

}  // namespace
}  // namespace sibyl::auth
