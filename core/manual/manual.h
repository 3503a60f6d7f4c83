#pragma once

#include "core/base/message.h"
#include "core/lesson/lesson.h"
#include "core/manual/place.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::manual {

/// A heading and what stands below it, up to the next heading.
struct Section {
    unsigned level = 1;
    std::string title, anchor;
    std::string text;      ///< of its blocks, as one line without marks
    std::size_t block = 0; ///< place of the heading among the page's blocks
};

struct Page {
    std::string name, title;
    Message group; ///< in the table of contents: "Models"
    /// Links lead to "page#heading" or are web addresses.
    std::vector<lesson::LessonBlock> blocks;
    std::vector<Section> sections; ///< the first one is the page's title
};

/// The pages of assets/manual in the order of the table of contents, read once. Throws Error(internal) for a
/// page without a title.
const std::vector<Page>& pages();
/// Null for a name that no page has.
const Page* find_page(std::string_view name);
/// The section of a place, of a page without an anchor its first one; null where there is none.
const Section* find_section(const Place& place);

/// Reads a page. `name`: for links within it.
Page read_page(const std::string& name, const std::string& text);

/// "page#heading" as Span::link has it; nothing for a web address.
std::optional<Place> place_of(std::string_view link);
std::string link_to(const Place& place);

/// With small letters for the capitals of ASCII.
std::string lowered(std::string_view text);
/// The text of spans, without their styles.
std::string plain(const lesson::Spans& spans);

} // namespace headscope::manual
