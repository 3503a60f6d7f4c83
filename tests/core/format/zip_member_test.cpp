#include "core/base/file.h"
#include "core/format/zip/zip_archive.h"
#include "core/format/zip/zip_member.h"
#include "core/format/zip/zip_writer.h"
#include "tests/catch.h"
#include "tests/support.h"

#include <random>
#include <vector>
#include <zlib.h>

// Files in ZIP archives: read at any place, and written.

using namespace headscope;
using namespace headscope::format;

namespace {

/// Bytes that can be compressed a little.
std::string varied_bytes(std::size_t count) {
    std::minstd_rand random(7);
    std::string bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<char>(i % 3 == 0 ? random() >> 20U : i >> 16U);
    return bytes;
}

std::string deflated(const std::string& bytes) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::uint32_t crc_of(const std::string& bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

} // namespace

TEST_CASE("a deflated file of an archive is read at any place", "[zip]") {
    const std::string bytes = varied_bytes(70'000'000), packed = deflated(bytes);
    const ZipMember member(ByteSource::of_bytes(packed),
                           {{0, packed.size()}, bytes.size(), crc_of(bytes), true}, "the file");
    REQUIRE(member.size() == bytes.size());
    // Forward, back, to the end, and across remembered states.
    for (const std::size_t at : {std::size_t{50'000'000}, std::size_t{3}, std::size_t{69'999'000},
                                 std::size_t{16'777'000}, std::size_t{33'000'000}, std::size_t{0}}) {
        std::string part(1000, '\0');
        member.read(at, part);
        CHECK(part == bytes.substr(at, part.size()));
    }
    CHECK_NOTHROW(member.check());
    std::string after(5, '\0');
    member.read(1'000'000, after);
    CHECK(after == bytes.substr(1'000'000, 5));
    member.release();
    member.read(1'000'003, after);
    CHECK(after == bytes.substr(1'000'003, 5));
    member.release();
    member.read(40'000'000, after);
    CHECK(after == bytes.substr(40'000'000, 5));
    CHECK(error_kind([&] { member.read(bytes.size() - 4, after); }) == ErrorKind::internal);
}

TEST_CASE("a damaged file of an archive is refused when it is checked", "[zip]") {
    const std::string bytes = varied_bytes(100'000), packed = deflated(bytes);
    const auto fault = [&](const std::string& stored, std::uint64_t size, std::uint32_t crc) {
        const ZipMember member(ByteSource::of_bytes(stored), {{0, stored.size()}, size, crc, true}, "it");
        return input_error([&] { member.check(); });
    };
    CHECK(fault(packed, bytes.size(), crc_of(bytes)).empty());
    CHECK_THAT(fault(packed, bytes.size(), crc_of(bytes) + 1), Catch::Contains("do not match the checksum"));
    CHECK_THAT(fault(packed, bytes.size() + 1, crc_of(bytes)), Catch::Contains("cannot be decompressed"));
    CHECK_THAT(fault(packed.substr(0, 500), bytes.size(), crc_of(bytes)),
               Catch::Contains("cannot be decompressed"));
}

TEST_CASE("the directory of an archive of more than 4 GB has numbers of 64 bits", "[zip]") {
    // Nothing is kept of the bytes of the large file.
    constexpr std::uint64_t large = (std::uint64_t{1} << 32U) + 5;
    std::string head, tail;
    std::uint64_t skipped = 0;
    const std::string zeros(std::size_t{1} << 20U, '\0');
    const ByteSink sink = [&](std::string_view part) {
        if (part.data() == zeros.data())
            skipped += part.size();
        else
            (skipped == 0 ? head : tail) += part;
    };
    ZipWriter zip(sink);
    zip.add("small", 3, [](const ByteSink& to) { to("abc"); });
    zip.add(
        "large", large,
        [&](const ByteSink& to) {
            for (std::uint64_t left = large; left > 0; left -= std::min<std::uint64_t>(left, zeros.size()))
                to(std::string_view(zeros).substr(0, std::min<std::uint64_t>(left, zeros.size())));
        },
        true);
    zip.add("last", 4, [](const ByteSink& to) { to("done"); });
    zip.finish();
    REQUIRE(skipped == large);
    CHECK(tail.find("PK\x06\x06") != std::string::npos);
    // The record of 64 bits has the place of the directory, and its row the place of the last file.
    const std::size_t record = tail.find("PK\x06\x06");
    const std::uint64_t directory = little_endian(std::string_view(tail).substr(record + 48, 8));
    CHECK(directory > large);
    CHECK(tail.substr(directory - large - head.size(), 4) == "PK\x01\x02");
}

TEST_CASE("an archive of more files than its oldest form can count is written and read", "[zip]") {
    constexpr int count = 70'000;
    std::string archive;
    const ByteSink sink = [&](std::string_view part) { archive += part; };
    ZipWriter zip(sink);
    std::vector<std::string> names;
    for (int n = 0; n < count; ++n) {
        names.push_back("file " + std::to_string(100'000 + n)); // in the order of their names
        zip.add(names.back(), 0, [](const ByteSink&) {});
    }
    zip.finish();
    CHECK(archive.find("PK\x06\x06") != std::string::npos);
    const ZipArchive read(ByteSource::of_bytes(archive), "archive");
    CHECK((read.names() == names)); // a failure would print both lists
    CHECK(read.place(names.back()).size == 0);
}

TEST_CASE("a written archive has its files and their checksums", "[zip]") {
    std::string archive;
    const ByteSink sink = [&](std::string_view part) { archive += part; };
    ZipWriter zip(sink);
    zip.add("a", 2, [](const ByteSink& to) { to("ab"); });
    zip.add(
        "b", 3, [](const ByteSink& to) { to("c"), to("de"); }, true);
    zip.finish();
    const ByteSource bytes = ByteSource::of_bytes(archive);
    const ZipArchive read(bytes, "archive");
    CHECK(read.names() == std::vector<std::string>{"a", "b"});
    for (const auto& [name, content] : {std::pair("a", "ab"), std::pair("b", "cde")}) {
        const ZipMember member(bytes, read.place(name), name);
        member.check();
        std::string text(member.size(), '\0');
        member.read(0, text);
        CHECK(text == content);
    }
    CHECK(error_kind([&] {
              ZipWriter(sink).add(
                  "c", 9, [](const ByteSink& to) { to("x"); }, true);
          }) == ErrorKind::internal);
}
