#pragma once

#include "core/base/message.h"
#include "core/lesson/lesson.h"
#include "core/manual/place.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::manual {

/// A heading and the content after it, up to the next heading.
struct Section {
    unsigned level = 1;
    std::string title, anchor;
    std::string text;      ///< of its blocks, as one line without markup
    std::size_t block = 0; ///< index of the heading among the page's blocks
};

struct Page {
    std::string name, title;
    Message group; ///< in the table of contents: "Models"
    /// Links have the form "page#heading" or are web addresses.
    std::vector<lesson::LessonBlock> blocks;
    std::vector<Section> sections; ///< the first one is the page's title
};

/// The pages of assets/manual in the order of the table of contents. Pages are read once, when they are first
/// asked for. Throws Error(internal) for a page without a title. Any thread.
const std::vector<Page>& pages();
/// Reads only that page. Returns null if no page has this name.
const Page* find_page(std::string_view name);
/// The section at a place; without an anchor, the first section of the page. Null if there is none.
const Section* find_section(const Place& place);

/// Parses a page. `name`: for links within it.
Page read_page(const std::string& name, const std::string& text);

/// The place for a link "page#heading" of Span::link; nothing for a web address.
std::optional<Place> place_of(std::string_view link);
std::string link_to(const Place& place);

/// Converts ASCII capitals to lower case.
std::string to_ascii_lower(std::string_view text);
/// The text of spans, without their styles.
std::string plain(const lesson::Spans& spans);

} // namespace headscope::manual
