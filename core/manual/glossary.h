#pragma once

#include "core/lesson/lesson.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::manual {

/// A term of the glossary page.
struct Term {
    std::string name;   ///< the text of its heading
    std::string anchor; ///< of its heading
    std::string text;   ///< the definition as plain text
};

/// All terms, in the order of the page.
const std::vector<Term>& terms();
/// Returns null if no term has this anchor.
const Term* find_term(std::string_view anchor);

/// Links glossary words to their terms, each term at its first occurrence: in plain and emphasized text, not
/// in code, links or live values. Words with another common meaning, such as gain, are not linked. `met`:
/// anchors of terms that are already linked in this text; receives the new ones.
lesson::Spans with_terms(const lesson::Spans& spans, std::set<std::string>& met);

} // namespace headscope::manual
