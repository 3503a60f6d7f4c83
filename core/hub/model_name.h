#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headscope::hub {

/// A model of the Hugging Face Hub and one of its revisions.
struct ModelName {
    std::string name;              ///< "openai-community/gpt2", or "gpt2" without an owner
    std::string revision = "main"; ///< a branch, a tag, a reference such as "refs/pr/1", or a commit

    bool operator==(const ModelName&) const = default;
};

/// Reads NAME or NAME@REVISION. Empty if the text cannot be a name: the Hub allows letters, digits, "-", "_"
/// and ".", at most 96 characters, one "/" between owner and name, and neither "--" nor "..".
std::optional<ModelName> parse_model_name(std::string_view text);

/// The same. Throws Error(input) that shows how a name is written.
ModelName require_model_name(std::string_view text);

/// "openai-community/gpt2", or "openai-community/gpt2@v1" for a revision other than main.
std::string model_label(const ModelName& model);

} // namespace headscope::hub
