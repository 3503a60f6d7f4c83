#pragma once

#include "core/hub/http.h"
#include "core/hub/model_name.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::hub {

/// The server of the Hub and the rights of the user there.
struct Server {
    std::string endpoint = "https://huggingface.co"; ///< without a slash at the end
    std::string token = {};                          ///< empty: none
};

/// The receiver of a body that may arrive in several pieces.
class Body {
public:
    Body() = default;
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;
    virtual ~Body() = default;

    /// Number of bytes received so far; the next request asks for those after them.
    virtual std::uint64_t size() const = 0;
    /// Appends bytes. May throw Error, which ends the request.
    virtual void add(std::string_view bytes) = 0;
    /// Discards what was received.
    virtual void restart() = 0;
};

/// A short body in memory. add() throws Error(input) for more than `most` bytes.
class TextBody : public Body {
public:
    explicit TextBody(std::uint64_t most) : most_(most) {}
    std::uint64_t size() const override { return text_.size(); }
    void add(std::string_view bytes) override;
    void restart() override { text_.clear(); }
    const std::string& text() const { return text_; }

private:
    std::uint64_t most_;
    std::string text_;
};

/// A wait between two attempts of a request.
struct Pause {
    std::string reason; ///< a sentence
    double seconds = 0;
};

/// Requests to one server for one model. Follows redirects, with the token to the server's own origin alone;
/// repeats requests that fail for a moment, from the last received byte on; waits as long as the server asks.
/// The client must outlive it.
class Requests {
public:
    /// Waits; throws Error(cancelled).
    using Wait = std::function<void(const Pause&, const Progress&)>;

    Requests(HttpClient& client, Server server, ModelName model, Wait wait);

    /// Gets a URL. `expected`: the size of the whole body, if known. Throws ConnectionError if the server
    /// cannot be reached or the connection keeps breaking; Error(input) if the server refuses the request,
    /// with the reason and the remedy; Error(cancelled); and what the client and the body throw.
    void get(const std::string& url, Body& body, std::optional<std::uint64_t> expected,
             const Progress& progress);
    /// Asks for the headers of a URL. Throws likewise. linked_etag and linked_size are those of the first
    /// answer that has them, because they are lost when another host answers.
    HttpAnswer head(const std::string& url, const Progress& progress);

    const Server& server() const { return server_; }
    const ModelName& model() const { return model_; }

private:
    HttpAnswer follow(HttpRequest request, Body* body, const Progress& progress);
    HttpAnswer repeat(const std::string& url, Body* body, std::optional<std::uint64_t> expected,
                      const Progress& progress);
    [[noreturn]] void refuse(const HttpAnswer& answer, const std::string& url) const;

    HttpClient& client_;
    Server server_;
    ModelName model_;
    Wait wait_;
    bool reached_ = false;       ///< an answer came
    bool range_refused_ = false; ///< the last answer began at another byte than was asked for
};

/// Waits in short steps, so that it can be cancelled.
void wait_for(const Pause& pause, const Progress& progress);

} // namespace headscope::hub
