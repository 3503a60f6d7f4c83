#include "core/hub/curl_client.h"

#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <curl/curl.h>
#include <dlfcn.h>
#include <exception>
#include <string_view>

namespace headscope::hub {

namespace {

constexpr long connect_seconds = 20;
constexpr long stalled_seconds = 30;        ///< without a byte, before the connection counts as broken
constexpr long buffer_bytes = 512L * 1024L; ///< the most that libcurl allows
constexpr std::size_t most_unwanted = mebibyte;

/// The functions of libcurl that are used here.
struct Library {
    decltype(&::curl_global_init) global_init = nullptr;
    decltype(&::curl_easy_init) easy_init = nullptr;
    decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
    decltype(&::curl_easy_reset) easy_reset = nullptr;
    CURLcode (*easy_setopt)(CURL*, CURLoption, ...) = nullptr;
    CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...) = nullptr;
    decltype(&::curl_easy_perform) easy_perform = nullptr;
    decltype(&::curl_easy_strerror) easy_strerror = nullptr;
    decltype(&::curl_slist_append) slist_append = nullptr;
    decltype(&::curl_slist_free_all) slist_free_all = nullptr;
    decltype(&::curl_getdate) getdate = nullptr;
    decltype(&::curl_version) version = nullptr;
};

template<class Function>
bool find_symbol(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

/// Loads libcurl under the names of Debian, where two packages have it, and of other systems. It is never
/// unloaded, because its own libraries do not allow that.
std::optional<Library> load_library() {
    for (const char* const name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"}) {
        void* const opened = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        Library library;
        if (opened != nullptr && find_symbol(opened, "curl_global_init", library.global_init) &&
            find_symbol(opened, "curl_easy_init", library.easy_init) &&
            find_symbol(opened, "curl_easy_cleanup", library.easy_cleanup) &&
            find_symbol(opened, "curl_easy_reset", library.easy_reset) &&
            find_symbol(opened, "curl_easy_setopt", library.easy_setopt) &&
            find_symbol(opened, "curl_easy_getinfo", library.easy_getinfo) &&
            find_symbol(opened, "curl_easy_perform", library.easy_perform) &&
            find_symbol(opened, "curl_easy_strerror", library.easy_strerror) &&
            find_symbol(opened, "curl_slist_append", library.slist_append) &&
            find_symbol(opened, "curl_slist_free_all", library.slist_free_all) &&
            find_symbol(opened, "curl_getdate", library.getdate) &&
            find_symbol(opened, "curl_version", library.version) &&
            library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
            return library;
    }
    return std::nullopt;
}

const Library& curl_library() {
    static const std::optional<Library> library = load_library();
    if (!library)
        throw Error(
            ErrorKind::machine,
            tr("curl_client.not_installed",
               "downloads need libcurl, which is not installed; install the package libcurl4 (on Debian "
               "and its relatives) or libcurl"));
    return *library;
}

/// The file with the certificates to trust that the user names; empty: those that libcurl knows.
std::string certificates() {
    for (const char* const variable : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"})
        if (const char* const path = std::getenv(variable); path != nullptr && *path != '\0')
            return path;
    return "";
}

/// The options of a request's headers, freed with it.
class HeaderList {
public:
    explicit HeaderList(const Library& library) : library_(library) {}
    ~HeaderList() { library_.slist_free_all(list_); }
    HeaderList(const HeaderList&) = delete;
    HeaderList& operator=(const HeaderList&) = delete;
    void add(const std::string& line) { list_ = library_.slist_append(list_, line.c_str()); }
    curl_slist* get() const { return list_; }

private:
    const Library& library_;
    curl_slist* list_ = nullptr;
};

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

/// The hash in an entity tag, such as W/"607a30d7".
std::string tag_of(std::string_view value) {
    if (value.starts_with("W/"))
        value.remove_prefix(2);
    return std::string(trimmed(value, "\""));
}

/// One request while libcurl works on it. libcurl is written in C, so exceptions are kept until it returns.
struct Exchange {
    const Library& library;
    CURL* curl;
    const HttpClient::OnAnswer& on_answer;
    const Progress& progress;
    HttpAnswer answer = {};
    ByteSink sink = {};
    bool begun = false, unwanted = false;
    std::size_t ignored = 0; ///< bytes
    std::exception_ptr fault = {};

    void read_header(std::string_view line);
    void begin();
    std::size_t receive(std::string_view bytes);
};

void Exchange::read_header(std::string_view line) {
    if (line.starts_with("HTTP/")) { // also after "100 Continue"
        answer = {};
        return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
        return;
    const std::string name = lower_case(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1), " \t\r\n");
    if (name == "etag")
        answer.etag = tag_of(value);
    else if (name == "x-linked-etag")
        answer.linked_etag = tag_of(value);
    else if (name == "x-linked-size")
        answer.linked_size = number_of<std::uint64_t>(value);
    else if (name == "content-length")
        answer.length = number_of<std::uint64_t>(value);
    else if (name == "x-error-code")
        answer.error_code = value;
    else if (name == "x-error-message")
        answer.error_message = value;
    else if (name == "content-range" && value.starts_with("bytes "))
        answer.range_begin = number_of<std::uint64_t>(value.substr(6, value.find('-') - 6));
    else if (name == "retry-after") {
        answer.retry_after = number_of<double>(value);
        if (const std::time_t date = library.getdate(std::string(value).c_str(), nullptr);
            !answer.retry_after && date >= 0)
            answer.retry_after = std::max(std::difftime(date, std::time(nullptr)), 0.0);
    }
}

void Exchange::begin() {
    if (begun)
        return;
    begun = true;
    long status = 0;
    library.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    sink = on_answer(answer);
}

std::size_t Exchange::receive(std::string_view bytes) {
    try {
        progress.check();
        begin();
        if (sink)
            sink(bytes);
        else if ((ignored += bytes.size()) > most_unwanted) {
            unwanted = true;
            return 0;
        }
        return bytes.size();
    } catch (...) {
        fault = std::current_exception();
        return 0;
    }
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* exchange) {
    try {
        static_cast<Exchange*>(exchange)->read_header({bytes, size * count});
        return size * count;
    } catch (...) {
        static_cast<Exchange*>(exchange)->fault = std::current_exception();
        return 0;
    }
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* exchange) {
    return static_cast<Exchange*>(exchange)->receive({bytes, size * count});
}

/// libcurl calls it about once a second while nothing arrives.
int on_tick(void* exchange, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Exchange*>(exchange)->progress.cancelled() ? 1 : 0;
}

bool is_certificate_fault(CURLcode code) {
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
           code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_CERTPROBLEM ||
           code == CURLE_SSL_PINNEDPUBKEYNOTMATCH;
}

/// Throws for a request that failed.
[[noreturn]] void fail_request(CURLcode code, const std::string& detail, const std::string& url) {
    const std::string origin = origin_of(url);
    const std::string host = origin.substr(origin.find("://") + 3);
    if (is_certificate_fault(code))
        throw Error(
            ErrorKind::machine,
            tr("curl_client.certificate_not_trusted",
               "{} cannot prove its identity: {}. Install the package ca-certificates, or name a file with "
               "certificates in SSL_CERT_FILE",
               host, detail));
    const bool reached = code != CURLE_COULDNT_RESOLVE_HOST && code != CURLE_COULDNT_RESOLVE_PROXY &&
                         code != CURLE_COULDNT_CONNECT;
    throw ConnectionError(
        reached ? tr("curl_client.connection_broke", "the connection to {} broke: {}", host, detail)
                : tr("curl_client.not_reached",
                     "{} cannot be reached: {}; check the network connection and HF_ENDPOINT", host, detail),
        reached);
}

} // namespace

struct CurlClient::Handle {
    const Library& library = curl_library();
    CURL* curl = library.easy_init();
    std::array<char, CURL_ERROR_SIZE> error{};
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { library.easy_cleanup(curl); }
};

CurlClient::CurlClient() : handle_(std::make_unique<Handle>()) {
    if (handle_->curl == nullptr)
        throw Error(ErrorKind::internal, "libcurl cannot be initialized");
}

CurlClient::~CurlClient() = default;

HttpAnswer CurlClient::send(const HttpRequest& request, const OnAnswer& on_answer, const Progress& progress) {
    const Library& library = handle_->library;
    CURL* const curl = handle_->curl;
    const auto set = [&](CURLoption option, auto value) { library.easy_setopt(curl, option, value); };
    Exchange exchange{library, curl, on_answer, progress};
    HeaderList headers(library);
    if (!request.token.empty())
        headers.add("Authorization: Bearer " + request.token);
    const std::string range = std::to_string(request.from) + "-";
    const std::string trusted = certificates();
    handle_->error.front() = '\0';
    library.easy_reset(curl); // keeps the connections
    set(CURLOPT_URL, request.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    set(CURLOPT_USERAGENT, "headscope/" HEADSCOPE_VERSION);
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_NOBODY, request.head ? 1L : 0L);
    if (request.from > 0)
        set(CURLOPT_RANGE, range.c_str());
    if (!trusted.empty())
        set(CURLOPT_CAINFO, trusted.c_str());
    set(CURLOPT_ERRORBUFFER, handle_->error.data());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_CONNECTTIMEOUT, connect_seconds);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, stalled_seconds);
    set(CURLOPT_BUFFERSIZE, buffer_bytes);
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&exchange));
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&exchange));
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &on_tick);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(&exchange));
    const CURLcode code = library.easy_perform(curl);
    if (exchange.fault)
        std::rethrow_exception(exchange.fault);
    progress.check();
    if (code != CURLE_OK && !exchange.unwanted) {
        const std::string detail =
            handle_->error.front() != '\0' ? handle_->error.data() : library.easy_strerror(code);
        fail_request(code, detail, request.url);
    }
    exchange.begin(); // an answer without a body
    const char* redirect = nullptr;
    library.easy_getinfo(curl, CURLINFO_REDIRECT_URL, &redirect); // known after the answer is complete
    exchange.answer.redirect = redirect == nullptr ? "" : redirect;
    return exchange.answer;
}

} // namespace headscope::hub
