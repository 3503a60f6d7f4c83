#include "core/hub/requests.h"

#include "tests/catch.h"
#include "tests/core/hub/fake_hub.h"
#include "tests/support.h"

using namespace headscope;
using namespace headscope::hub;
using namespace headscope::test;
using Catch::Contains;
using Reply = FakeHub::Reply;

namespace {

const std::string asked_endpoint = "https://hub.example", asked_url = asked_endpoint + "/a/b/resolve/x/file";

/// Requests to a fake server, with recorded waits.
struct HubQuestion {
    FakeHub hub;
    std::vector<double> waits;
    Progress progress;

    Requests requests(const std::string& token = "") {
        return {hub, {asked_endpoint, token}, {"a/b", "main"}, [this](const Pause& pause, const Progress&) {
                    CHECK_FALSE(pause.reason.empty());
                    waits.push_back(pause.seconds);
                }};
    }
    std::string get(std::optional<std::uint64_t> expected = std::nullopt, const std::string& token = "") {
        TextBody body(10'000);
        requests(token).get(asked_url, body, expected, progress);
        return body.text();
    }
};

Reply status_reply(int code, const std::string& error_code = "") {
    return {.answer = {.status = code, .error_code = error_code}, .body = "an error"};
}

Reply redirect_to(const std::string& target) {
    return {.answer = {.status = 302, .redirect = target}};
}

} // namespace

TEST_CASE("the origin of an address is scheme, host and port, without a user's name") {
    CHECK(origin_of("https://huggingface.co") == "https://huggingface.co:443");
    CHECK(origin_of("HTTPS://HuggingFace.co:443/x") == "https://huggingface.co:443");
    CHECK(origin_of("http://localhost:8000/a:b") == "http://localhost:8000");
    CHECK(origin_of("http://[::1]/") == "http://[::1]:80");
    CHECK(origin_of("https://huggingface.co@evil.example/") == "https://evil.example:443");
    CHECK(origin_of("https://evil.example\\@huggingface.co/") == "https://evil.example:443");
    CHECK(origin_of("https://evil.example?@huggingface.co") == "https://evil.example:443");
    CHECK(origin_of("file:///etc/passwd").empty());
    CHECK(origin_of("huggingface.co").empty());
    CHECK(encode_url("refs/pr/1 ä") == "refs%2Fpr%2F1%20%C3%A4");
    CHECK(encode_url("a/b c", "/") == "a/b%20c");
}

TEST_CASE("the access token goes to the server of the Hub and to no other") {
    HubQuestion asked;
    const std::string elsewhere =
        GENERATE(as<std::string>(), "https://cdn.example/file", "https://hub.example:444/f",
                 "https://hub.example.evil.example/f", "https://hub.example@evil.example/f");
    asked.hub.add(asked_url, redirect_to(asked_endpoint + "/second"));
    asked.hub.add(asked_endpoint + "/second", redirect_to(elsewhere));
    asked.hub.add_file(elsewhere, "content");
    CHECK(asked.get(7, "secret") == "content");
    REQUIRE(asked.hub.requests.size() == 3);
    CHECK(asked.hub.requests[0].token == "secret");
    CHECK(asked.hub.requests[1].token == "secret");
    CHECK(asked.hub.requests[2].token.empty());
}

TEST_CASE("a redirect to an address without encryption, or in a circle, is refused") {
    HubQuestion asked;
    asked.hub.add(asked_url, redirect_to("http://hub.example/file"));
    CHECK_THAT(input_error([&] { asked.get(); }), Contains("not an encrypted address"));
    HubQuestion circle;
    circle.hub.add(asked_url, redirect_to(asked_url));
    CHECK_THAT(input_error([&] { circle.get(); }), Contains("circle"));
}

TEST_CASE("a connection that breaks is continued at the byte where it broke") {
    HubQuestion asked;
    const std::string content(5000, 'x');
    asked.hub.add(asked_url, {.body = content + "end", .breaks_after = 2500});
    asked.hub.add(asked_url, {.body = content + "end", .breaks_after = 1000});
    asked.hub.add(asked_url, {.body = content + "end"});
    CHECK(asked.get(5003) == content + "end");
    REQUIRE(asked.hub.requests.size() == 3);
    CHECK(asked.hub.requests[1].from == 2500);
    CHECK(asked.hub.requests[2].from == 3500);
    CHECK(asked.waits == std::vector<double>{1, 1});
}

TEST_CASE("an answer that ends too early without an error is continued") {
    HubQuestion asked;
    asked.hub.add(asked_url, {.body = "first"});
    asked.hub.add(asked_url, {.body = "first, second"});
    CHECK(asked.get(13) == "first, second");
    CHECK(asked.hub.requests.back().from == 5);
}

TEST_CASE("a server that cannot continue a file sends it again from its first byte") {
    HubQuestion asked;
    asked.hub.add(asked_url, {.body = "abcdef", .breaks_after = 3});
    asked.hub.add(asked_url, {.body = "abcdef", .ignores_range = true});
    CHECK(asked.get(6) == "abcdef");
    HubQuestion refused;
    refused.hub.add(asked_url, {.body = "abcdef", .breaks_after = 3});
    refused.hub.add(asked_url, status_reply(416));
    refused.hub.add(asked_url, {.body = "abcdef"});
    CHECK(refused.get(6) == "abcdef");
    CHECK(refused.hub.requests.back().from == 0);
    HubQuestion elsewhere;
    elsewhere.hub.add(asked_url, {.body = "abcdef", .breaks_after = 3});
    elsewhere.hub.add(asked_url, {.answer = {.status = 206, .range_begin = 1}, .body = "bcdef"});
    elsewhere.hub.add(asked_url, {.body = "abcdef"});
    CHECK(elsewhere.get(6) == "abcdef");
    CHECK(elsewhere.hub.requests.back().from == 0);
}

TEST_CASE("a request is repeated after the time that the server asks for") {
    HubQuestion asked;
    asked.hub.add(asked_url, {.answer = {.status = 429, .retry_after = 17}});
    asked.hub.add(asked_url, {.answer = {.status = 503}});
    asked.hub.add_file(asked_url, "content");
    CHECK(asked.get() == "content");
    CHECK(asked.waits == std::vector<double>{17, 2});
    HubQuestion long_pause;
    long_pause.hub.add(asked_url, {.answer = {.status = 429, .retry_after = 7200}});
    CHECK(error_kind([&] { long_pause.get(); }) == ErrorKind::machine);
    CHECK(long_pause.waits.empty());
}

TEST_CASE("a request that keeps failing is given up after growing pauses") {
    HubQuestion asked;
    asked.hub.add(asked_url, status_reply(500));
    CHECK(error_kind([&] { asked.get(); }) == ErrorKind::machine);
    CHECK(asked.waits == std::vector<double>{1, 2, 4, 8, 16});
}

TEST_CASE("a file that always ends before its announced size is given up") {
    HubQuestion asked;
    asked.hub.add_file(asked_url, "abcdef");
    CHECK(error_kind([&] { asked.get(100); }) == ErrorKind::machine);
    CHECK(asked.hub.requests.size() < 20);
    HubQuestion without_ranges;
    without_ranges.hub.add(asked_url, {.body = "abcdef", .breaks_after = 3, .ignores_range = true});
    CHECK(error_kind([&] { without_ranges.get(6); }) == ErrorKind::machine);
    CHECK(without_ranges.hub.requests.size() < 20);
}

TEST_CASE("a server that cannot be reached is not asked again, unless it was reached before") {
    HubQuestion asked;
    asked.hub.add(asked_url, {.unreachable = true});
    CHECK(error_kind([&] { asked.get(); }) == ErrorKind::machine);
    CHECK(asked.hub.requests.size() == 1);
    HubQuestion later;
    later.hub.add(asked_url, {.body = "abcdef", .breaks_after = 3});
    later.hub.add(asked_url, {.body = "abcdef", .unreachable = true});
    later.hub.add(asked_url, {.body = "abcdef"});
    CHECK(later.get(6) == "abcdef");
    CHECK(later.waits == std::vector<double>{1, 2});
}

TEST_CASE("a refused request says why, and what to do") {
    const auto refusal_of = [](const Reply& reply, const std::string& token = "") {
        HubQuestion asked;
        asked.hub.add(asked_url, reply);
        const std::string sentence = input_error([&] { asked.get(std::nullopt, token); });
        CHECK(asked.hub.requests.size() == 1);
        CHECK(sentence.find("secret") == std::string::npos);
        return sentence;
    };
    CHECK_THAT(refusal_of(status_reply(401, "RepoNotFound")),
               Contains("no model a/b") && Contains("HF_TOKEN"));
    CHECK_THAT(refusal_of(status_reply(404, "RepoNotFound"), "secret"), Contains("no model a/b"));
    CHECK_THAT(refusal_of(status_reply(401)), Contains("no model a/b"));
    CHECK_THAT(refusal_of(status_reply(401), "secret"), Contains("does not accept the access token"));
    CHECK_THAT(refusal_of(status_reply(401, "GatedRepo")),
               Contains("restricted") && Contains(asked_endpoint + "/a/b"));
    CHECK_THAT(refusal_of(status_reply(403, "GatedRepo"), "secret"), Contains("restricted"));
    CHECK_THAT(refusal_of(status_reply(403)), Contains("does not allow access"));
    CHECK_THAT(refusal_of(status_reply(404, "RevisionNotFound")), Contains("no revision main"));
    CHECK_THAT(refusal_of(status_reply(404, "EntryNotFound")), Contains("no file file"));
    CHECK_THAT(refusal_of(status_reply(418)), Contains("status 418"));
}

TEST_CASE("size and checksum of a file are those that the first server states") {
    HubQuestion asked;
    asked.hub.add(
        asked_url,
        {.answer = {
             .status = 302, .redirect = "https://cdn.example/f", .linked_size = 77, .linked_etag = "aa"}});
    asked.hub.add("https://cdn.example/f", {.answer = {.status = 200, .etag = "other"}, .body = "content"});
    const HttpAnswer answer = asked.requests().head(asked_url, asked.progress);
    CHECK(asked.hub.requests.front().head);
    CHECK(answer.linked_size == 77U);
    CHECK(answer.linked_etag == "aa");
}

TEST_CASE("an answer without end is not read to memory, and a cancelled request stops") {
    HubQuestion asked;
    asked.hub.add_file(asked_url, std::string(20'000, 'x'));
    CHECK_THAT(input_error([&] { asked.get(); }), Contains("more than"));
    asked.progress.cancel();
    CHECK(error_kind([&] { asked.get(); }) == ErrorKind::cancelled);
    Progress cancelled;
    cancelled.cancel();
    CHECK(error_kind([&] { wait_for({"a wait", 60}, cancelled); }) == ErrorKind::cancelled);
}
