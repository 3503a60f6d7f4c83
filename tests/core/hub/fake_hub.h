#pragma once

#include "core/base/sha256.h"
#include "core/hub/git_blob_hash.h"
#include "core/hub/http.h"

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headscope::test {

/// A client without sockets: each URL has its answers, of which the last one repeats.
class FakeHub : public hub::HttpClient {
public:
    struct Reply {
        hub::HttpAnswer answer = {.status = 200};
        std::string body = {};
        std::size_t breaks_after = std::string::npos; ///< bytes, then the connection breaks
        bool unreachable = false, ignores_range = false;
    };
    std::map<std::string, std::deque<Reply>> replies;
    std::vector<hub::HttpRequest> requests; ///< in order

    void add(const std::string& url, Reply reply) { replies[url].push_back(std::move(reply)); }
    void add_file(const std::string& url, const std::string& body) { add(url, {.body = body}); }

    hub::HttpAnswer send(const hub::HttpRequest& request, const OnAnswer& on_answer,
                         const Progress& progress) override {
        progress.check();
        requests.push_back(request);
        std::deque<Reply>& all = replies[request.url];
        if (all.empty())
            return answer_with({.answer = {.status = 404, .error_code = "EntryNotFound"}}, request, on_answer,
                               progress);
        const Reply reply = all.front();
        if (all.size() > 1)
            all.pop_front();
        if (reply.unreachable)
            throw hub::ConnectionError("the server cannot be reached", false);
        return answer_with(reply, request, on_answer, progress);
    }

private:
    static constexpr std::size_t piece = 1000;

    static hub::HttpAnswer answer_with(const Reply& reply, const hub::HttpRequest& request,
                                       const OnAnswer& on_answer, const Progress& progress) {
        hub::HttpAnswer answer = reply.answer;
        std::size_t from = 0;
        if (answer.status == 200 && request.from > 0 && !reply.ignores_range) {
            from = std::min<std::size_t>(request.from, reply.body.size());
            answer.status = 206;
            answer.range_begin = request.from;
        }
        if (answer.status == 200 && !answer.length)
            answer.length = reply.body.size();
        const ByteSink sink = on_answer(answer);
        const std::string sent = request.head ? "" : reply.body.substr(from);
        const std::size_t some = std::min(reply.breaks_after, sent.size());
        for (std::size_t at = 0; sink && at < some; at += piece) {
            progress.check();
            sink(std::string_view(sent).substr(at, std::min(piece, some - at)));
        }
        if (reply.breaks_after < sent.size())
            throw hub::ConnectionError("the connection broke", true);
        return answer;
    }
};

inline std::string git_hash(const std::string& content) {
    hub::GitBlobHash hash(content.size());
    hash.add(std::as_bytes(std::span(content)));
    return hash.finish();
}

} // namespace headscope::test
