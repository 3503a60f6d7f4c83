#include "core/base/sha256.h"

#include "core/base/sha256_blocks.h"
#include "tests/catch.h"

#include <random>

using namespace headscope;

// The examples of FIPS 180-2, appendix B, and what Python's hashlib says.
TEST_CASE("SHA-256 has the digests of the standard's examples") {
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256(std::string(55, 'x')) == "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
    CHECK(sha256(std::string(56, 'x')) == "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
    CHECK(sha256(std::string(64, 'x')) == "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
}

TEST_CASE("SHA-256 is the same however the bytes come") {
    std::mt19937 random(1);
    std::string text(1000, ' ');
    for (char& c : text)
        c = static_cast<char>(random());
    const std::string whole = sha256(text);
    for (int round = 0; round < 50; ++round) {
        Sha256 pieces;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t some = std::min<std::size_t>(random() % 150, text.size() - at);
            pieces.add(std::as_bytes(std::span(text.data() + at, some)));
            at += some;
        }
        CHECK(pieces.finish() == whole);
    }
}

TEST_CASE("the processor's instructions for SHA-256 give the same state") {
    const Sha256Compress instructions = sha256_instructions();
    if (instructions == nullptr)
        return; // the other tests have covered this processor
    std::mt19937 random(2);
    std::vector<std::byte> blocks(64 * 9);
    for (std::byte& byte : blocks)
        byte = static_cast<std::byte>(random());
    for (std::size_t count = 0; count <= 9; ++count) {
        Sha256State expected{1, 2, 3, 4, 0xFFFFFFFF, 6, 7, 8}, state = expected;
        compress_sha256(expected, blocks.data(), count);
        instructions(state, blocks.data(), count);
        CHECK(state == expected);
    }
}
