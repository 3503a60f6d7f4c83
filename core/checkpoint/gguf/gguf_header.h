#pragma once

#include "core/checkpoint/gguf/gguf_file.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// All that stands before the numbers.
struct GgufHeader {
    std::shared_ptr<const nlohmann::json> metadata; ///< see GgufFile::metadata
    std::vector<GgufEntry> entries;                 ///< sorted by name
    std::uint64_t data = 0;                         ///< offset of the first tensor in the file
};

/// `read` fills the span from a byte of the file on, which has `size` bytes. Throws what GgufFile throws.
GgufHeader read_gguf_header(const std::function<void(std::uint64_t begin, std::span<char> to)>& read,
                            std::uint64_t size, const std::string& source, VocabularyLists lists);

} // namespace headscope::checkpoint
