#include "core/analysis/heads/head_filter.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/text/lexicon.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace headscope::analysis {

namespace {

/// In lower case, one blank between words, none at the ends; "_" counts as a blank, so that ids read like
/// names.
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text::folded_word(text))
        if (c != ' ' && c != '_' && c != '\t')
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    if (out.ends_with(' '))
        out.pop_back();
    return out;
}

/// What a score goes by: its id, and its name in English and in the person's language, each also without what
/// tells two of a kind apart, as "induction" for "probe_induction" and "induction, probe".
std::vector<std::string> names_of(const HeadScoreInfo& info) {
    std::vector<std::string> names{plain(info.id), plain(info.name.english), plain(tr(info.name))};
    for (std::size_t n = 1; n < 3; ++n)
        names.push_back(names[n].substr(0, names[n].find(',')));
    std::string brief = names.front();
    if (brief.starts_with("probe "))
        brief.erase(0, 6);
    if (brief.ends_with(" text"))
        brief.resize(brief.size() - 5);
    names.push_back(std::move(brief));
    return names;
}

/// The scores that go by a name, those of the probe first.
std::vector<HeadScore> scores_named(const std::string& name) {
    std::vector<HeadScore> scores;
    for (const bool probes : {true, false})
        for (const HeadScoreInfo& info : head_scores()) {
            const std::vector<std::string> names = names_of(info);
            if ((info.of == ScoreSource::probe) == probes && std::ranges::find(names, name) != names.end())
                scores.push_back(info.score);
        }
    return scores;
}

/// The names of the list "colour by", each once.
std::string all_names() {
    std::vector<std::string> listed;
    for (const HeadScoreInfo& info : head_scores()) {
        const std::string whole = tr(info.name), name = whole.substr(0, whole.find(','));
        if (std::ranges::find(listed, name) == listed.end())
            listed.push_back(name);
    }
    return joined(listed);
}

/// The first number of a term behind a letter, which are taken off; nothing where they do not stand there.
std::optional<std::int64_t> take(std::string_view& text, char letter) {
    constexpr std::string_view digits = "0123456789";
    const std::size_t at = text.starts_with(letter) ? text.find_first_not_of(' ', 1) : std::string::npos;
    if (at == std::string::npos || digits.find(text[at]) == std::string::npos)
        return std::nullopt;
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + at, end, number);
    if (read.ec != std::errc())
        return std::nullopt;
    text = {read.ptr, end};
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return number;
}

/// What stands before "<" or ">"; the whole text without one.
std::string before_limit(const std::string& text) {
    return plain(text.substr(0, text.find_first_of("<>")));
}

/// Whether a comma is that of a decimal number, as in "induction > 0,4": between two digits of a limit. No
/// term begins with a digit, so it can stand between no two terms.
bool is_decimal(const std::string& text, std::size_t begin, std::size_t comma) {
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    const std::string_view term = std::string_view(text).substr(begin, comma - begin);
    return comma > begin && digit(comma - 1) && digit(comma + 1) && term.find_first_of("<>") != term.npos;
}

/// The parts between commas and the word "and", decimal numbers with a point.
std::vector<std::string> split(std::string text) {
    // Translators: joins two terms of a search for heads, such as L5 and induction > 0.4
    for (const std::string& word : {std::string("and"), plain(tr("head_filter.search", "and"))})
        for (std::size_t at = 0; (at = (" " + text + " ").find(" " + word + " ", at)) != std::string::npos;)
            text.replace(at, word.size(), ",");
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        std::size_t end = text.find(',', begin);
        for (; end != std::string::npos && is_decimal(text, begin, end); end = text.find(',', end))
            text[end] = '.';
        end = std::min(end, text.size());
        if (std::string part = plain(text.substr(begin, end - begin)); !part.empty())
            parts.push_back(std::move(part));
        begin = end + 1;
    }
    return parts;
}

} // namespace

HeadFilter::Term HeadFilter::term_of(const std::string& text) {
    Term term;
    std::string_view place = text;
    term.layer = take(place, 'l');
    term.head = take(place, 'h');
    if (place.empty())
        return term;
    term = {};
    if (const std::size_t sign = text.find_first_of("<>"); sign != std::string::npos) {
        const std::string name = before_limit(text);
        term.scores = scores_named(name);
        if (term.scores.empty())
            fail_input(tr("head_filter.no_score", "there is no score \"{}\"; the scores are: {}", name,
                          all_names()));
        term.more = text[sign] == '>';
        term.equal = text.substr(sign + 1).starts_with('=');
        const std::string digits = plain(text.substr(sign + (term.equal ? 2 : 1)));
        const auto limit = number_of<float>(digits);
        if (!limit)
            fail_input(tr("head_filter.no_number_write_limit",
                          "\"{}\" is not a number; write a limit such as induction > 0.4", digits));
        term.limit = *limit;
        return term;
    }
    for (const HeadScoreInfo& info : head_scores())
        if (!info.label.text.empty() &&
            (text == plain(info.label.text.english) || text == plain(tr(info.label.text))))
            term.label = info.label.text.english;
    if (term.label.empty())
        fail_input(tr("head_filter.names_no_head_write",
                      "\"{}\" does not name a head; write L5H3, a limit such as induction > 0.4, or a label "
                      "such as previous token",
                      text));
    return term;
}

HeadFilter HeadFilter::parse(const std::string& text) {
    HeadFilter filter;
    const std::vector<std::string> parts = split(plain(text));
    for (std::size_t n = 0; n < parts.size(); ++n) {
        std::string part = parts[n];
        // The names of some scores have a comma.
        if (n + 1 < parts.size() && part.find_first_of("<>") == std::string::npos)
            if (const std::string joined = part + ", " + parts[n + 1];
                !scores_named(before_limit(joined)).empty())
                part = joined, ++n;
        filter.terms_.push_back(term_of(part));
    }
    return filter;
}

bool HeadFilter::holds(std::int64_t layer, std::int64_t head, const HeadMetrics& metrics,
                       std::optional<HeadScore> label) const {
    return std::ranges::all_of(terms_, [&](const Term& term) {
        if (!term.label.empty())
            return label && info_of(*label).label.text.english == term.label;
        if (term.scores.empty())
            return term.layer.value_or(layer) == layer && term.head.value_or(head) == head;
        const auto score = std::ranges::find_if(term.scores, [&](HeadScore s) { return metrics.has(s); });
        if (score == term.scores.end())
            return false;
        const float value = metrics[*score];
        return (term.equal && value == term.limit) || (term.more ? value > term.limit : value < term.limit);
    });
}

} // namespace headscope::analysis
