#include "core/analysis/heads/head_filter.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <regex>

namespace headscope::analysis {

namespace {

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// The scores that go by a name, those of the probe first.
std::vector<HeadScore> scores_named(const std::string& name) {
    std::vector<HeadScore> scores;
    for (const std::string& id : {"probe_" + name, name, name + "_text"})
        if (const HeadScoreInfo* const info = find_head_score(id))
            scores.push_back(info->score);
    return scores;
}

std::vector<std::string> split(const std::string& text) {
    static const std::regex between("\\s*(,|\\band\\b)\\s*");
    std::vector<std::string> parts;
    for (std::sregex_token_iterator part(text.begin(), text.end(), between, -1), end; part != end; ++part) {
        const std::string found = std::regex_replace(part->str(), std::regex("^\\s+|\\s+$"), "");
        if (!found.empty())
            parts.push_back(found);
    }
    return parts;
}

} // namespace

HeadFilter::Term HeadFilter::term_of(const std::string& text) {
    static const std::regex place("l\\s*(\\d{1,6})\\s*(?:h\\s*(\\d{1,6}))?|h\\s*(\\d{1,6})"),
        limit("([a-z_]+)\\s*(>=|<=|>|<)\\s*(-?[0-9.]+(?:e-?\\d+)?)");
    std::smatch found;
    Term term;
    const auto number = [&](int group) {
        return found[static_cast<std::size_t>(group)].matched
                   ? std::optional<std::int64_t>(std::stoll(found[static_cast<std::size_t>(group)]))
                   : std::nullopt;
    };
    if (std::regex_match(text, found, place)) {
        term.layer = number(1);
        term.head = found[2].matched ? number(2) : number(3);
        return term;
    }
    if (std::regex_match(text, found, limit)) {
        term.scores = scores_named(found[1]);
        if (term.scores.empty())
            fail_input(tr("there is no score \"{}\"; the scores are those of the list \"colour by\", such as "
                          "induction or first",
                          found[1].str()));
        const std::string digits = found[3];
        const char* const end = digits.data() + digits.size();
        if (const auto read = std::from_chars(digits.data(), end, term.limit);
            read.ec != std::errc() || read.ptr != end)
            fail_input(tr("\"{}\" is no number; write a limit such as induction > 0.4", digits));
        term.more = found[2].str().front() == '>';
        term.equal = found[2].length() == 2;
        return term;
    }
    for (const HeadScoreInfo& info : head_scores())
        if (!info.label.text.empty() && text == info.label.text)
            term.label = text;
    if (term.label.empty())
        fail_input(tr("\"{}\" names no head; write L5H3, a limit such as induction > 0.4, or a label "
                      "such as previous token",
                      text));
    return term;
}

HeadFilter HeadFilter::parse(const std::string& text) {
    // A regular expression runs once for each letter on the stack, so that its text has to be short.
    constexpr std::size_t longest = 400;
    if (text.size() > longest)
        fail_input(tr("the search has {} letters; write at most {}", text.size(), longest));
    HeadFilter filter;
    for (const std::string& part : split(lower(text)))
        filter.terms_.push_back(term_of(part));
    return filter;
}

bool HeadFilter::holds(std::int64_t layer, std::int64_t head, const HeadMetrics& metrics,
                       std::optional<HeadScore> label) const {
    return std::ranges::all_of(terms_, [&](const Term& term) {
        if (!term.label.empty())
            return label && info_of(*label).label.text == term.label;
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
