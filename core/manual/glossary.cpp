#include "core/manual/glossary.h"

#include "core/base/assets.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/manual/manual.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <mutex>
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

/// Takes the paragraph of spellings from the beginning of a definition.
std::vector<std::string> take_spellings(const Page& page, const Section& section, std::string& definition) {
    constexpr std::string_view mark = "Also: ";
    std::vector<std::string> spellings;
    const std::size_t first = section.block + 1;
    const auto* paragraph =
        first < page.blocks.size() ? std::get_if<lesson::Paragraph>(&page.blocks[first]) : nullptr;
    const std::string line = paragraph == nullptr ? std::string() : plain(paragraph->spans);
    if (!line.starts_with(mark))
        return spellings;
    definition.erase(0, std::min(line.size() + 1, definition.size()));
    for (std::string_view rest = std::string_view(line).substr(mark.size());;) {
        const auto comma = rest.find(',');
        spellings.emplace_back(trimmed(rest.substr(0, comma), " ."));
        if (comma == std::string_view::npos)
            return spellings;
        rest.remove_prefix(comma + 1);
    }
}

/// The words under which a term is found: its name, and the text in parentheses after it.
std::vector<std::string> forms_of(const std::string& name) {
    std::vector<std::string> forms;
    std::string rest = to_ascii_lower(name);
    const auto add = [&](std::string form) {
        if (form.empty())
            return;
        forms.push_back(form + "s");
        if (form.back() == 'x' || form.back() == 's')
            forms.push_back(form + "es");
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
        for (const std::string& spelling : term.spellings)
            add(term, spelling);
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

/// The definitions of a translated page, by the English name of the term. The paragraph below a heading holds
/// that name: "Englisch: Attention sink". Empty for a language without such a page.
std::map<std::string, Definition> read_definitions(const std::string& language) {
    std::map<std::string, Definition> read;
    const std::string file = "manual/" + language + "/" + std::string(page_name) + ".md";
    if (!std::ranges::binary_search(asset_names("manual/" + language + "/"), file))
        return read;
    const Page page = read_page(std::string(page_name), asset(file));
    for (const Section& section : page.sections) {
        const std::size_t first = section.block + 1;
        const auto* paragraph =
            first < page.blocks.size() ? std::get_if<lesson::Paragraph>(&page.blocks[first]) : nullptr;
        const std::string line = paragraph == nullptr ? std::string() : plain(paragraph->spans);
        const auto colon = line.find(": ");
        if (section.level == 2 && colon != std::string::npos && section.text.size() > line.size())
            read[line.substr(colon + 2)] = {section.title, section.text.substr(line.size() + 1), language};
    }
    return read;
}

} // namespace

Definition definition_of(const Term& term) {
    static std::mutex mutex;
    static std::map<std::string, std::map<std::string, Definition>> of_language;
    const std::string language(language_in_use());
    if (language != "en") {
        const std::scoped_lock lock(mutex);
        const auto known = of_language.find(language);
        const auto& definitions =
            known != of_language.end() ? known->second : of_language[language] = read_definitions(language);
        if (const auto found = definitions.find(term.name); found != definitions.end())
            return found->second;
    }
    return {term.name, term.text, "en"};
}

const std::vector<Term>& terms() {
    static const std::vector<Term> all = [] {
        std::vector<Term> read;
        const Page& page = *find_page(page_name);
        for (const Section& section : page.sections)
            if (section.level == 2) {
                Term term{section.title, section.anchor, without_more(section.text)};
                term.spellings = take_spellings(page, section, term.text);
                read.push_back(std::move(term));
            }
        return read;
    }();
    return all;
}

const Term* find_term(std::string_view anchor) {
    const auto term = std::ranges::find(terms(), anchor, &Term::anchor);
    return term == terms().end() ? nullptr : &*term;
}

const Term* term_named(std::string_view name) {
    const std::string low = to_ascii_lower(name);
    const auto is_named = [&](const Term& term) {
        const auto has = [&](const std::string& written) {
            const std::vector<std::string> forms = forms_of(written);
            return low == to_ascii_lower(written) || std::ranges::find(forms, low) != forms.end();
        };
        return has(term.name) || std::ranges::any_of(term.spellings, has);
    };
    const auto term = std::ranges::find_if(terms(), is_named);
    return term == terms().end() ? nullptr : &*term;
}

std::vector<TermUse> term_uses(std::string_view text) {
    std::vector<TermUse> uses;
    const std::string low = to_ascii_lower(text);
    for (std::size_t at = 0; at < low.size();) {
        const auto* const form = form_at(low, at);
        const std::size_t size = form != nullptr ? form->first.size() : 0;
        if (form != nullptr && has_same_capitals(text.substr(at, size), form->second->name) &&
            !is_on_keyboard(low, at, at + size, form->second->anchor))
            uses.push_back({form->second, at, size});
        at += size;
        while (at < low.size() && in_word(low[at]))
            ++at;
        while (at < low.size() && !in_word(low[at]))
            ++at;
    }
    return uses;
}

lesson::Spans with_terms(const lesson::Spans& spans, std::set<std::string>& met) {
    lesson::Spans out;
    for (const lesson::Span& span : spans) {
        if (!span.term.empty()) {
            out.push_back(span);
            if (const Term* const term = term_named(span.term)) {
                out.back().link = link_to({std::string(page_name), term->anchor});
                met.insert(term->anchor);
            }
            continue;
        }
        if (span.value || !span.link.empty() || span.style == lesson::SpanStyle::code) {
            out.push_back(span);
            continue;
        }
        const auto put = [&](std::size_t begin, std::size_t end, const std::string& link) {
            if (end > begin)
                out.push_back(
                    {.style = span.style, .text = span.text.substr(begin, end - begin), .link = link});
        };
        std::size_t written = 0;
        for (const TermUse& use : term_uses(span.text))
            if (met.insert(use.term->anchor).second) {
                put(written, use.at, {});
                put(use.at, use.at + use.size, link_to({std::string(page_name), use.term->anchor}));
                written = use.at + use.size;
            }
        put(written, span.text.size(), {});
    }
    return out;
}

} // namespace headscope::manual
