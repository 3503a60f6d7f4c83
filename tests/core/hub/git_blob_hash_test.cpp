#include "tests/catch.h"
#include "tests/core/hub/fake_hub.h"

using namespace headscope;
using namespace headscope::test;

// The hashes are those of `git hash-object`.
TEST_CASE("contents have the names that git gives them") {
    CHECK(git_hash("") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    CHECK(git_hash("hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a");
    CHECK(git_hash("{}\n") == "0967ef424bce6791893e9a57bb952f80fd536e93");
    CHECK(git_hash(std::string(100'000, 'a')) == "94bc76618de566c4e568aaf031cce7cef592d868");
}
