#include "core/base/json.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::size_t max_depth = 64;

/// The parser's message without its "[json.exception...]" and its source.
std::string reason(const json::exception& fault) {
    std::string text = fault.what();
    if (const auto bracket = text.find("] "); bracket != std::string::npos)
        text.erase(0, bracket + 2);
    if (const auto colon = text.find(": syntax error"); colon != std::string::npos)
        text.erase(colon, text.find(" - ", colon) == std::string::npos ? 0 : text.find(" - ", colon) - colon);
    constexpr std::size_t longest = 200;
    if (text.size() > longest)
        text = text.substr(0, longest) + " ...";
    return text;
}

/// Builds the value while the parser reads, and refuses a key that occurs twice: inserting a key finds the
/// duplicate at no extra cost.
class JsonBuilder final : public nlohmann::json_sax<json> {
public:
    explicit JsonBuilder(const std::string& what) : what_(what) {}
    json take() { return std::move(root_); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t& value) override { return add(std::move(value)); }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(name);
        if (!is_new)
            fail_input(tr("{} has the key \"{}\" twice in one object; keep one", what_, name));
        value_ = &place->second;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const json::exception& fault) override {
        fail_input(tr("{} is not valid JSON: {}; correct it", what_, reason(fault)));
    }

private:
    bool add(json value) {
        put(std::move(value));
        return true;
    }
    /// Puts a value at the current place. Pointers in open_ stay valid because open containers do not move.
    json* put(json value) {
        if (open_.empty())
            return &(root_ = std::move(value));
        if (open_.back()->is_array())
            return &open_.back()->get_ref<json::array_t&>().emplace_back(std::move(value));
        return &(*value_ = std::move(value));
    }
    bool open(json container) {
        if (open_.size() >= max_depth)
            fail_input(tr("{} is nested more than {} levels deep; flatten it", what_, max_depth));
        open_.push_back(put(std::move(container)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    const std::string& what_;
    json root_;
    std::vector<json*> open_; ///< open containers, outermost first
    json* value_ = nullptr;   ///< the entry of the last key
};

} // namespace

json parse_json(std::string_view text, const std::string& what) {
    try {
        JsonBuilder builder(what);
        json::sax_parse(text, &builder);
        return builder.take();
    } catch (const json::exception& fault) {
        fail_input(tr("{} is not valid JSON: {}; correct it", what, reason(fault)));
    }
}

std::string shortened_json(const nlohmann::json& value, std::size_t longest) {
    const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

} // namespace headscope
