#pragma once

#include "core/hub/http.h"

#include <memory>

namespace headscope::hub {

/// Sends requests with libcurl (https://curl.se/libcurl), which is loaded when the first client is made: no
/// other part of the program needs it. Keeps connections open between requests. Reads the usual variables for
/// proxies (https_proxy, no_proxy) and, for other certificates, SSL_CERT_FILE.
class CurlClient : public HttpClient {
public:
    /// Throws Error(machine) if libcurl is not installed.
    CurlClient();
    ~CurlClient() override;

    HttpAnswer send(const HttpRequest& request, const OnAnswer& on_answer, const Progress& progress) override;

private:
    struct Handle;
    std::unique_ptr<Handle> handle_;
};

} // namespace headscope::hub
