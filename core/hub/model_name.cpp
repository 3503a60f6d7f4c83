#include "core/hub/model_name.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>

namespace headscope::hub {

namespace {

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
constexpr std::string_view revision_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+/";
constexpr std::size_t longest_name = 96, longest_revision = 255;

bool is_part_of_name(std::string_view part) {
    constexpr std::string_view not_at_ends = "-.";
    return !part.empty() && part.find_first_not_of(name_characters) == std::string_view::npos &&
           not_at_ends.find(part.front()) == std::string_view::npos &&
           not_at_ends.find(part.back()) == std::string_view::npos &&
           part.find("--") == std::string_view::npos && part.find("..") == std::string_view::npos;
}

bool is_name(std::string_view name) {
    if (name.size() > longest_name || name.ends_with(".git"))
        return false;
    const std::size_t slash = name.find('/');
    return slash == std::string_view::npos
               ? is_part_of_name(name)
               : is_part_of_name(name.substr(0, slash)) && is_part_of_name(name.substr(slash + 1));
}

/// A revision is also the path of a file in the cache, so no part of it may lead out of a folder.
bool is_revision(std::string_view revision) {
    if (revision.empty() || revision.size() > longest_revision ||
        revision.find_first_not_of(revision_characters) != std::string_view::npos)
        return false;
    for (std::size_t begin = 0; begin <= revision.size();) {
        const std::size_t end = std::min(revision.find('/', begin), revision.size());
        const std::string_view part = revision.substr(begin, end - begin);
        if (part.empty() || part.front() == '.' || part.find("..") != std::string_view::npos)
            return false;
        begin = end + 1;
    }
    return true;
}

} // namespace

std::optional<ModelName> parse_model_name(std::string_view text) {
    const std::size_t at = text.find('@');
    ModelName model{std::string(text.substr(0, at))};
    if (at != std::string_view::npos)
        model.revision = text.substr(at + 1);
    return is_name(model.name) && is_revision(model.revision) ? std::optional(model) : std::nullopt;
}

ModelName require_model_name(std::string_view text) {
    if (std::optional<ModelName> model = parse_model_name(text))
        return std::move(*model);
    fail_input(tr("model_name.not_name_model",
                  "\"{}\" is not the name of a model on the Hub; write it as OWNER/NAME or "
                  "OWNER/NAME@REVISION, for example openai-community/gpt2",
                  std::string(text)));
}

std::string model_label(const ModelName& model) {
    return model.revision == ModelName().revision ? model.name : model.name + "@" + model.revision;
}

} // namespace headscope::hub
