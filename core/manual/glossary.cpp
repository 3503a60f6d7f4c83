#include "core/manual/glossary.h"

#include "core/base/message.h"
#include "core/manual/manual.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <unordered_map>

namespace headscope::manual {

namespace {

constexpr std::string_view page_name = "glossary";
/// Words that usually have another meaning in running text, and are not linked there.
constexpr std::string_view ambiguous_terms[] = {"gain", "loss", "unit"};

/// The terms that screens show in the user's language.
constexpr std::array said_terms{translatable("common.activation", "Activation"),
                                translatable("patching_page.activation_patching", "Activation patching"),
                                translatable("common.atlas", "Atlas"),
                                translatable("common.concatenation", "Concatenation"),
                                translatable("stack_words.cross_attention", "Cross-attention"),
                                translatable("common.dot_product", "Dot product"),
                                translatable("head_page.head", "Head"),
                                translatable("lens_table.logit_lens", "Logit lens"),
                                translatable("common.mask_2", "Mask"),
                                translatable("reading_options.norm_weighted", "Norm-weighted"),
                                translatable("text_page.query", "Query"),
                                translatable("patching.residual_stream", "Residual stream"),
                                translatable("writing_panel.sampling", "Sampling"),
                                translatable("common.soft_cap", "Soft cap"),
                                translatable("common.softmax", "Softmax"),
                                translatable("atlas_page.survey", "Survey"),
                                translatable("common.temperature_2", "Temperature")};

/// Removes the last word, which is the link to the page with more information.
std::string without_more(const std::string& text) {
    return text.substr(0, text.rfind(' '));
}

/// A hyphen is part of a word: "cross-attention" is one word.
bool in_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '_';
}

/// The words under which a term is found: its name, and the text in parentheses after it.
std::vector<std::string> forms_of(const std::string& name) {
    std::vector<std::string> forms;
    std::string rest = to_ascii_lower(name);
    const auto add = [&](std::string form) {
        if (form.empty())
            return;
        forms.push_back(form + "s");
        if (form.back() == 'y')
            forms.push_back(form.substr(0, form.size() - 1) + "ies");
        forms.push_back(std::move(form));
    };
    if (const auto open = rest.find(" ("); open != std::string::npos) {
        add(rest.substr(open + 2, rest.find(')', open) - open - 2));
        rest.resize(open);
    }
    add(rest);
    return forms;
}

/// The forms of all terms by their first word, longest first.
struct WordHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};
using Forms = std::unordered_map<std::string, std::vector<std::pair<std::string, const Term*>>, WordHash,
                                 std::equal_to<>>;

Forms all_forms() {
    Forms all;
    const auto add = [&](const Term& term, const std::string& name) {
        for (std::string& form : forms_of(name)) {
            const auto end = std::ranges::find_if_not(form, in_word);
            all[std::string(form.begin(), end)].emplace_back(std::move(form), &term);
        }
    };
    for (const Term& term : terms()) {
        if (std::ranges::find(ambiguous_terms, term.anchor) != std::end(ambiguous_terms))
            continue;
        add(term, term.name);
        // Screens show some of them in the user's language, with the same meaning.
        if (const std::string said = tr(find_message(said_terms, term.name)); said != term.name)
            add(term, said);
    }
    for (auto& [word, forms] : all)
        std::ranges::stable_sort(forms, std::greater{}, [](const auto& one) { return one.first.size(); });
    return all;
}

/// Distinguishes RoPE from rope: a form with capitals inside matches only with the same capitals.
bool has_same_capitals(std::string_view found, std::string_view name) {
    const std::string low = to_ascii_lower(name);
    auto place = low.find(to_ascii_lower(found));
    if (place == std::string::npos && found.ends_with('s')) { // a plural
        found.remove_suffix(1);
        place = low.find(to_ascii_lower(found));
    }
    if (place == std::string::npos)
        return true;
    const std::string_view written = name.substr(place, found.size());
    return std::none_of(written.begin() + 1, written.end(), [](char c) { return std::isupper(c) != 0; }) ||
           written == found;
}

/// Returns true for a key of the keyboard: "key 0", "arrow key".
bool is_on_keyboard(std::string_view low, std::size_t at, std::size_t end, std::string_view anchor) {
    if (anchor != "key")
        return false;
    const std::string_view before = low.substr(0, at), after = low.substr(end);
    return (after.size() > 1 && after[0] == ' ' && std::isdigit(static_cast<unsigned char>(after[1])) != 0) ||
           before.ends_with("number ") || before.ends_with("arrow ");
}

/// The longest form at a position of a lower-case text; null if there is none.
const std::pair<std::string, const Term*>* form_at(const std::string& low, std::size_t at) {
    static const Forms forms = all_forms();
    std::size_t end = at;
    while (end < low.size() && in_word(low[end]))
        ++end;
    const auto found = forms.find(std::string_view(low).substr(at, end - at));
    if (found == forms.end())
        return nullptr;
    for (const auto& one : found->second) {
        const std::size_t after = at + one.first.size();
        if (low.compare(at, one.first.size(), one.first) == 0 &&
            (after >= low.size() || !in_word(low[after])))
            return &one;
    }
    return nullptr;
}

} // namespace

const std::vector<Term>& terms() {
    static const std::vector<Term> all = [] {
        std::vector<Term> read;
        for (const Section& section : find_page(page_name)->sections)
            if (section.level == 2)
                read.push_back({section.title, section.anchor, without_more(section.text)});
        return read;
    }();
    return all;
}

const Term* find_term(std::string_view anchor) {
    const auto term = std::ranges::find(terms(), anchor, &Term::anchor);
    return term == terms().end() ? nullptr : &*term;
}

lesson::Spans with_terms(const lesson::Spans& spans, std::set<std::string>& met) {
    lesson::Spans out;
    for (const lesson::Span& span : spans) {
        if (span.value || !span.link.empty() || span.style == lesson::SpanStyle::code) {
            out.push_back(span);
            continue;
        }
        const std::string low = to_ascii_lower(span.text);
        const auto put = [&](std::size_t begin, std::size_t end, const std::string& link) {
            if (end > begin)
                out.push_back(
                    {.style = span.style, .text = span.text.substr(begin, end - begin), .link = link});
        };
        std::size_t written = 0;
        for (std::size_t at = 0; at < low.size();) {
            const auto* const form = form_at(low, at);
            const bool means_it =
                form != nullptr &&
                has_same_capitals(std::string_view(span.text).substr(at, form->first.size()),
                                  form->second->name) &&
                !is_on_keyboard(low, at, at + form->first.size(), form->second->anchor);
            if (means_it && met.insert(form->second->anchor).second) {
                put(written, at, {});
                put(at, at + form->first.size(), link_to({std::string(page_name), form->second->anchor}));
                written = at + form->first.size();
            }
            at += form != nullptr ? form->first.size() : 0;
            while (at < low.size() && in_word(low[at]))
                ++at;
            while (at < low.size() && !in_word(low[at]))
                ++at;
        }
        put(written, low.size(), {});
    }
    return out;
}

} // namespace headscope::manual
