#pragma once

#include "core/lesson/lesson.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::manual {

/// A term of the page glossary.
struct Term {
    std::string name;   ///< its heading
    std::string anchor; ///< of the heading
    std::string text;   ///< what it means, plain
};

/// In the order of the page.
const std::vector<Term>& terms();
/// Null for an anchor that is no term's.
const Term* find_term(std::string_view anchor);

/// Links words of the glossary to their terms, each term at the first place where it stands: in plain and
/// emphasised text, not in code, links or live values. Words that also mean something else, such as gain, are
/// left. `met`: anchors of terms that are linked already in this text, to which those linked here are added.
lesson::Spans with_terms(const lesson::Spans& spans, std::set<std::string>& met);

} // namespace headscope::manual
