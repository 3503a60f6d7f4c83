#include "core/hub/requests.h"

#include "core/base/message.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace headscope::hub {

namespace {

constexpr int most_redirects = 10;
constexpr int most_failures = 6;          ///< attempts in a row that bring no byte
constexpr double first_pause = 1;         ///< seconds; doubled with each failure
constexpr double longest_pause = 15 * 60; ///< seconds that a server may ask for

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}
bool is_complete(int status) {
    return status == 200 || status == 206;
}
/// Statuses of a server that may answer properly a moment later.
bool is_temporary(int status) {
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

std::string host_of(const std::string& url) {
    const std::string origin = origin_of(url);
    const std::string host = origin.substr(origin.find("://") + 3);
    return host.substr(0, host.rfind(':'));
}

std::string refused_range_message(const std::string& url) {
    return tr("requests.range_refused", "{} does not continue the file where it broke off", host_of(url));
}

} // namespace

void TextBody::add(std::string_view bytes) {
    if (text_.size() + bytes.size() > most_)
        fail_input(tr("requests.answer_too_long",
                      "the server's answer has more than the {} bytes that are read here; check HF_ENDPOINT",
                      most_));
    text_ += bytes;
}

void wait_for(const Pause& pause, const Progress& progress) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds step(50);
    const auto end = Clock::now() + std::chrono::duration<double>(pause.seconds);
    while (Clock::now() < end) {
        progress.check();
        std::this_thread::sleep_for(step);
    }
    progress.check();
}

Requests::Requests(HttpClient& client, Server server, ModelName model, Wait wait)
    : client_(client), server_(std::move(server)), model_(std::move(model)), wait_(std::move(wait)) {}

HttpAnswer Requests::follow(HttpRequest request, Body* body, const Progress& progress) {
    std::string linked_etag;
    std::optional<std::uint64_t> linked_size;
    for (int redirects = 0; redirects <= most_redirects; ++redirects) {
        request.token = origin_of(request.url) == origin_of(server_.endpoint) ? server_.token : "";
        HttpAnswer answer = client_.send(
            request,
            [&](const HttpAnswer& begun) -> ByteSink {
                reached_ = true;
                if (!is_complete(begun.status) || body == nullptr)
                    return {};
                if (begun.status == 200)
                    body->restart(); // the server sends the file from its first byte
                else if (begun.range_begin.value_or(request.from) != body->size()) {
                    range_refused_ = true;
                    throw ConnectionError(refused_range_message(request.url), true);
                }
                return [body](std::string_view bytes) { body->add(bytes); };
            },
            progress);
        if (linked_etag.empty())
            linked_etag = answer.linked_etag;
        if (!linked_size)
            linked_size = answer.linked_size;
        if (!is_redirect(answer.status) || answer.redirect.empty()) {
            answer.linked_etag = linked_etag;
            answer.linked_size = linked_size;
            return answer;
        }
        const std::string next = origin_of(answer.redirect);
        if (next.empty() || (next.starts_with("http:") && request.url.starts_with("https:")))
            fail_input(tr("requests.redirect_not_allowed",
                          "{} redirects to {}, which is not an encrypted address; check HF_ENDPOINT",
                          host_of(request.url), answer.redirect));
        request.url = answer.redirect;
    }
    fail_input(
        tr("requests.redirects_circle", "{} redirects in a circle; check HF_ENDPOINT", host_of(request.url)));
}

HttpAnswer Requests::repeat(const std::string& url, Body* body, std::optional<std::uint64_t> expected,
                            const Progress& progress) {
    const auto received = [&] { return body == nullptr ? 0 : body->size(); };
    std::uint64_t most_received = 0; // a server that always breaks at the same byte is given up too
    for (int failures = 0;;) {
        progress.check();
        const std::uint64_t before = received();
        std::string reason;
        std::optional<double> asked;
        try {
            HttpAnswer answer = follow({.url = url, .from = before, .head = body == nullptr}, body, progress);
            if (is_complete(answer.status)) {
                if (body == nullptr || !expected || body->size() >= *expected)
                    return answer;
                reason =
                    tr("requests.connection_ended", "the connection to {} ended too early", host_of(url));
            } else if (answer.status == 416 && body != nullptr) {
                body->restart();
                reason = refused_range_message(url);
            } else if (is_temporary(answer.status)) {
                reason = answer.status == 429
                             ? tr("requests.too_many_requests", "{} asks for a pause (too many requests)",
                                  host_of(url))
                             : tr("requests.temporary_error", "{} has a temporary error (status {})",
                                  host_of(url), answer.status);
                asked = answer.retry_after;
            } else {
                refuse(answer, url);
            }
        } catch (const ConnectionError& broken) {
            reached_ = reached_ || broken.reached();
            if (!reached_)
                throw;
            if (std::exchange(range_refused_, false))
                body->restart();
            reason = broken.what();
        }
        failures = received() > std::max(before, most_received) ? 1 : failures + 1;
        most_received = std::max(most_received, received());
        if (failures >= most_failures)
            throw ConnectionError(
                tr("requests.given_up", "{}, {} times in a row; try again later", reason, most_failures),
                true);
        if (asked.value_or(0) > longest_pause)
            throw ConnectionError(tr("requests.asks_long_pause", "{} asks to wait {} minutes; try again then",
                                     host_of(url), std::lround(std::ceil(*asked / 60))),
                                  true);
        wait_({reason, std::max(asked.value_or(first_pause * std::exp2(failures - 1)), 0.0)}, progress);
    }
}

void Requests::get(const std::string& url, Body& body, std::optional<std::uint64_t> expected,
                   const Progress& progress) {
    static_cast<void>(repeat(url, &body, expected, progress));
}

HttpAnswer Requests::head(const std::string& url, const Progress& progress) {
    return repeat(url, nullptr, std::nullopt, progress);
}

void Requests::refuse(const HttpAnswer& answer, const std::string& url) const {
    const std::string host = host_of(server_.endpoint);
    const std::string code = answer.error_code;
    const bool bad_token = answer.status == 401 && !server_.token.empty() && code.empty();
    if (code == "GatedRepo")
        fail_input(tr("requests.model_restricted",
                      "{} is restricted: accept its conditions on {}/{}, and set HF_TOKEN to an access token "
                      "of that account",
                      model_.name, server_.endpoint, model_.name));
    if (bad_token || answer.error_message.find("Invalid credentials") != std::string::npos)
        fail_input(tr("requests.token_refused",
                      "{} does not accept the access token in HF_TOKEN; set a valid one, or unset it", host));
    if (code == "RevisionNotFound")
        fail_input(tr("requests.no_revision", "{} has no revision {}; check its spelling", model_.name,
                      model_.revision));
    if (code == "EntryNotFound")
        fail_input(tr("requests.no_file", "{} has no file {}; try again, because it may have changed",
                      model_.name, url.substr(url.rfind('/') + 1)));
    if (answer.status == 401 || answer.status == 404)
        fail_input(
            tr("requests.no_model",
               "{} has no model {}; check the spelling and, if the model is private, set HF_TOKEN to an "
               "access token with the right to read it",
               host, model_.name));
    if (answer.status == 403)
        fail_input(
            tr("requests.no_right",
               "{} does not allow access to {}; set HF_TOKEN to an access token with the right to read it",
               host, model_.name));
    fail_input(tr("requests.unexpected_status", "{} answers with status {} for {}; check HF_ENDPOINT",
                  host_of(url), answer.status, model_.name));
}

} // namespace headscope::hub
