#pragma once

#include <string>

namespace headscope::manual {

/// A heading of a page of the manual, by the names of both. Without a heading the top of the page; without a
/// page the table of contents.
struct Place {
    std::string page;   ///< its file without .md: "effects"
    std::string anchor; ///< of the heading, as GitHub makes them: "logit-lens"
    bool operator==(const Place&) const = default;
};

} // namespace headscope::manual
