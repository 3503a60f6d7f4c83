#pragma once

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/progress.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace headscope::hub {

/// One request to a server.
struct HttpRequest {
    std::string url;
    std::string token = {}; ///< sent as "Authorization: Bearer"; empty: not sent
    std::uint64_t from = 0; ///< first byte of the body that is wanted ("Range"); 0: the whole body
    bool head = false;      ///< HEAD instead of GET: an answer without a body
};

/// The status and the headers of an answer that matter here.
struct HttpAnswer {
    int status = 0;
    std::string redirect = {};                       ///< absolute URL that Location names; empty: none
    std::optional<std::uint64_t> length = {};        ///< Content-Length
    std::optional<std::uint64_t> range_begin = {};   ///< first byte in Content-Range
    std::optional<std::uint64_t> linked_size = {};   ///< X-Linked-Size: bytes of the file behind a redirect
    std::string etag = {}, linked_etag = {};         ///< ETag and X-Linked-Etag, without W/ and quotes
    std::string error_code = {}, error_message = {}; ///< X-Error-Code and X-Error-Message of the Hub
    std::optional<double> retry_after = {};          ///< seconds to wait before the next request
};

/// A connection that was not established, or broke before the answer was complete. The kind is `machine`.
class ConnectionError : public Error {
public:
    ConnectionError(const std::string& sentence, bool reached)
        : Error(ErrorKind::machine, sentence), reached_(reached) {}
    /// Returns true if the server was reached, so that another attempt may succeed.
    bool reached() const { return reached_; }

private:
    bool reached_;
};

/// Sends requests. One thread at a time.
class HttpClient {
public:
    HttpClient() = default;
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    virtual ~HttpClient() = default;

    /// Called with the status and the headers, before the body. Returns the receiver of the body; empty: the
    /// body is not wanted.
    using OnAnswer = std::function<ByteSink(const HttpAnswer&)>;

    /// Sends one request and waits for the whole answer. Follows no redirect. Throws ConnectionError;
    /// Error(machine) if the machine lacks what the request needs; Error(cancelled) once `progress` is
    /// cancelled; and what `on_answer` and its receiver throw.
    virtual HttpAnswer send(const HttpRequest& request, const OnAnswer& on_answer,
                            const Progress& progress) = 0;
};

/// Scheme, host and port of a URL, in lower case: "https://huggingface.co:443". Empty if the URL has another
/// scheme than http and https.
std::string origin_of(std::string_view url);

/// Percent-encodes a text for a part of a URL; `kept`: further characters that are not encoded, such as "/".
std::string encode_url(std::string_view text, std::string_view kept = "");

} // namespace headscope::hub
