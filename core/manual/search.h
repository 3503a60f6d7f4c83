#pragma once

#include "core/manual/manual.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::manual {

/// A section in which every word was found.
struct SearchResult {
    const Page* page = nullptr;
    const Section* section = nullptr;
    std::string line;                                       ///< an excerpt of its text around the words
    std::vector<std::pair<std::size_t, std::size_t>> marks; ///< begin and length of words in `line`, in bytes
};

/// The sections of all pages that contain every word of `asked` in the heading or the text, ignoring case;
/// best match first: words in the heading have the largest weight, then those in the page's title. Nothing
/// for an empty text.
std::vector<SearchResult> search(std::string_view asked);

} // namespace headscope::manual
