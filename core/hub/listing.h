#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::hub {

/// A file of a model, as the Hub lists it.
struct ListedFile {
    std::string name;       ///< the path in the model, with "/"
    std::uint64_t size = 0; ///< bytes
    /// SHA-256 of its content (64 hexadecimal digits), or the hash of a git blob with it (40). Empty: the
    /// list does not say, and `size` is not known.
    std::string hash = {};

    bool operator==(const ListedFile&) const = default;
};

/// The files of one revision.
struct Listing {
    std::string commit; ///< 40 hexadecimal digits
    std::vector<ListedFile> files;
};

/// Reads the answer of the Hub to /api/models/NAME/revision/REVISION?blobs=true. Throws Error(input) that
/// begins with `what` if it is malformed or names a file outside the model's folder.
Listing parse_listing(std::string_view json, const std::string& what);

/// Returns true for 40 or 64 lower-case hexadecimal digits.
bool is_hash(std::string_view text);

/// The files that opening the model needs: configuration, tokenizer, and weights. Weights are safetensors,
/// with their index if they are in parts, else PyTorch files; never code or files of other formats.
/// `read_index`: returns the content of an index of weights. Throws Error(input) with the reason if the model
/// cannot be opened, and what `read_index` throws.
std::vector<ListedFile> files_to_get(const std::string& model, const std::vector<ListedFile>& files,
                                     const std::function<std::string(const ListedFile&)>& read_index);

} // namespace headscope::hub
