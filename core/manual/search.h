#pragma once

#include "core/manual/manual.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::manual {

/// A section in which every word was found.
struct Found {
    const Page* page = nullptr;
    const Section* section = nullptr;
    std::string line;                                       ///< of its text, around the words
    std::vector<std::pair<std::size_t, std::size_t>> marks; ///< begin and length of words in `line`, bytes
};

/// The sections of all pages that hold every word of `asked` in the heading or the text, small letters as
/// capitals; best first: words in the heading count most, then those in the page's title.
/// Nothing for an empty text.
std::vector<Found> search(std::string_view asked);

} // namespace headscope::manual
