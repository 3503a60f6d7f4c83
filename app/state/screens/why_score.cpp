#include "app/state/screens/why_score.h"

#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headscope::app {

namespace {

using analysis::Writer;
using Kind = analysis::Writer::Kind;

constexpr std::size_t most_apart = 24, most_read = 3;

WhyScore::Group group_of(const Writer& component, bool joined) {
    const std::string layer = "L" + std::to_string(component.layer);
    if (component.kind == Kind::head || (joined && component.kind == Kind::output_bias))
        return joined
                   ? WhyScore::Group{tr("why_score.heads", "{} heads", layer), tr("common.heads", "heads"),
                                     component.layer, -1}
                   : WhyScore::Group{layer + " H" + std::to_string(component.head),
                                     "H" + std::to_string(component.head), component.layer, component.head};
    if (component.kind == Kind::mlp)
        return {layer + " MLP", "MLP", component.layer, -1};
    if (component.kind == Kind::delta)
        return {layer + " delta", "delta", component.layer, -1};
    if (component.kind == Kind::embedding)
        return {tr("common.embedding", "embedding"),
                // Translators: short for embedding
                tr("why_score.emb", "emb"), -1, -1};
    if (component.kind == Kind::position)
        return {tr("common.position", "position"),
                // Translators: short for position
                tr("why_score.pos", "pos"), -1, -1};
    // Everything that is added independently of the text.
    return {tr("common.biases", "biases"), tr("common.bias", "bias"), -1, -1};
}

} // namespace

WhyScore why_score(const checkpoint::ModelRun& run, const analysis::ScoreQuestion& question,
                   std::optional<bool> join, const Progress& cancel) {
    WhyScore out;
    out.question = question;
    out.layer = attention_place(run.model().config(), question.attention).layer;
    out.score = analysis::score_terms(run, question, cancel);
    out.may_join = out.layer > 0;
    out.joined = out.may_join && join.value_or(out.score.writers.size() > most_apart);
    std::vector<std::size_t> group; // group index of each component
    for (const Writer& component : out.score.writers) {
        WhyScore::Group one = group_of(component, out.joined);
        const auto known = std::ranges::find(out.groups, one.name, &WhyScore::Group::name);
        group.push_back(static_cast<std::size_t>(known - out.groups.begin()));
        if (known == out.groups.end())
            out.groups.push_back(std::move(one));
    }
    const std::size_t count = out.groups.size();
    out.table.resize(count * count);
    out.rows.resize(count);
    out.columns.resize(count);
    for (std::size_t q = 0; q < group.size(); ++q)
        for (std::size_t k = 0; k < group.size(); ++k) {
            const double value = out.score.term(q, k);
            out.table[group[q] * count + group[k]] += value;
            out.rows[group[q]] += value;
            out.columns[group[k]] += value;
        }
    for (std::size_t q = 0; q < count; ++q)
        for (std::size_t k = 0; k < count; ++k)
            out.largest.push_back({q, k, out.at(q, k)});
    std::ranges::stable_sort(out.largest, std::ranges::greater{},
                             [](const WhyScore::Term& term) { return std::abs(term.value); });
    out.max_abs = std::abs(out.largest.front().value);
    const WhyScore::Group& at_key = out.groups[out.largest.front().key];
    if (at_key.head >= 0) {
        const TensorPtr weights = run.weights(at_key.layer);
        for (std::int64_t j = 0; j < weights->shape()[3]; ++j)
            out.read.push_back({j, static_cast<double>(weights->at(0, at_key.head, question.key, j))});
        std::ranges::stable_sort(out.read, std::ranges::greater{}, &WhyScore::Read::weight);
        out.read.resize(std::min(out.read.size(), most_read));
    }
    return out;
}

} // namespace headscope::app
