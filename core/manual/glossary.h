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
    /// Further spellings, from a paragraph "Also: feed-forward block, attends to" below the heading.
    std::vector<std::string> spellings = {};
};

/// All terms, in the order of the page.
const std::vector<Term>& terms();
/// Returns null if no term has this anchor.
const Term* find_term(std::string_view anchor);
/// The term with this name or spelling, in singular or plural and any capitals; null if there is none.
const Term* term_named(std::string_view name);

/// A term as the user reads it.
struct Definition {
    std::string name, text;
    std::string language; ///< of both; "en" if the user's language has no definition of the term
};
/// In the user's language, from the page manual/<language>/glossary.md, or else in English.
Definition definition_of(const Term& term);

/// A word of a text that names a term.
struct TermUse {
    const Term* term;
    std::size_t at, size; ///< in bytes
};
/// Every use of a term in a text, in order. Words with another common meaning, such as gain, do not count,
/// and neither do capitals of another word (rope is not RoPE) and keys of the keyboard.
std::vector<TermUse> term_uses(std::string_view text);

/// Links glossary words to their terms, each term at its first occurrence: in plain and emphasized text, not
/// in code, links or live values. Words with another common meaning, such as gain, are not linked. `met`:
/// anchors of terms that are already linked in this text; receives the new ones.
/// Terms that a lesson marks as introduced become links in any case.
lesson::Spans with_terms(const lesson::Spans& spans, std::set<std::string>& met);

} // namespace headscope::manual
