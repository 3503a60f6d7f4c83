#include "app/state/screens/causes.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace headscope::app {

namespace {

using checkpoint::TokenChance;

/// Length of the lists of predictions.
constexpr std::size_t listed_predictions = 7;

std::vector<std::string> bare_words(const std::vector<std::string>& labels, std::int64_t count) {
    std::vector<std::string> words;
    std::ranges::transform(labels, std::back_inserter(words), bare_word);
    for (std::int64_t i = std::ssize(words); i < count; ++i)
        words.push_back(std::to_string(i));
    return words;
}

bool is_ablated(const checkpoint::ModelRun& run, const ModelHead& head) {
    const checkpoint::ModelConfig& a = run.model().config();
    const auto stacks = checkpoint::stacks_of(a);
    if (std::ranges::find(stacks, head.place.stack) == stacks.end() ||
        head.place.layer >= in_stack(a, head.place.stack).layers)
        return false;
    const checkpoint::LayerEdits* const edits =
        checkpoint::edits_of(run.edits(), attention_number(a, head.place));
    return edits != nullptr && head.head < std::ssize(edits->gains) &&
           edits->gains[static_cast<std::size_t>(head.head)] == 0.0F;
}

/// The run with a gain of 1 for that head.
checkpoint::ModelRunPtr with_head_on(const checkpoint::ModelRunPtr& run, const ModelHead& head,
                                     Progress& progress) {
    checkpoint::ModelEdits edits = run->edits();
    const std::int64_t n = attention_number(run->model().config(), head.place);
    std::vector<float>& gains = edits[n].gains;
    gains[static_cast<std::size_t>(head.head)] = 1;
    if (std::ranges::all_of(gains, [](float gain) { return gain == 1.0F; }))
        gains.clear();
    if (edits[n].empty())
        edits.erase(n);
    return checkpoint::ModelRun::compute(run->model_ptr(), run->inputs(), edits, run, {}, progress);
}

} // namespace

std::optional<ModelHead> ablated_head(const checkpoint::ModelRun& run,
                                      const std::optional<ModelHead>& preferred) {
    if (preferred && is_ablated(run, *preferred))
        return preferred;
    std::optional<ModelHead> last;
    for (const auto& [n, edits] : run.edits())
        for (std::int64_t h = 0; h < std::ssize(edits.gains); ++h)
            if (edits.gains[static_cast<std::size_t>(h)] == 0.0F)
                last = ModelHead{attention_place(run.model().config(), n), h};
    return last;
}

std::optional<ModelHead> newly_ablated(const checkpoint::ModelRun& before,
                                       const checkpoint::ModelRun& after) {
    for (const auto& [n, edits] : after.edits())
        for (std::int64_t h = 0; h < std::ssize(edits.gains); ++h) {
            const ModelHead head{attention_place(after.model().config(), n), h};
            if (is_ablated(after, head) && !is_ablated(before, head))
                return head;
        }
    return std::nullopt;
}

std::string bare_word(const std::string& label) {
    constexpr std::string_view blank = "·";
    return label.starts_with(blank) && label.size() > blank.size() ? label.substr(blank.size()) : label;
}

std::string CausesView::attended(const analysis::PredictionCause& cause) const {
    const std::vector<std::string>& words_read =
        cause.writer.stack == checkpoint::Stack::cross ? source_keys : keys;
    return cause.key < 0 || cause.key >= std::ssize(words_read)
               ? std::string()
               : words_read[static_cast<std::size_t>(cause.key)];
}

CausesView causes_view(const checkpoint::TextModel& model, const checkpoint::ModelRunPtr& run,
                       std::int64_t position, const std::optional<ModelHead>& off, Progress& progress) {
    CausesView out;
    const checkpoint::ModelInputs& inputs = run->inputs();
    out.keys = bare_words(inputs.tokens, inputs.T);
    if (!inputs.source.empty())
        out.source_keys = bare_words(inputs.source.front().tokens, inputs.source.front().T);
    out.at = out.keys[static_cast<std::size_t>(position)];
    const checkpoint::ModelRunPtr explained = off ? with_head_on(run, *off, progress) : run;
    out.causes = analysis::prediction_causes(*explained, position, listed_predictions, progress);
    std::vector<TokenChance> listed = out.causes.likeliest;
    if (off) {
        const TensorPtr logits = run->logits_at(position, progress);
        const auto values = logits->values();
        const std::int64_t token = out.causes.question.token, against = out.causes.question.against;
        CausesView::Off was;
        was.head = *off;
        was.now = {.likeliest = checkpoint::likeliest(values, listed_predictions),
                   .chances = checkpoint::chances_of(values, std::vector{token, against}),
                   .difference = static_cast<double>(values[static_cast<std::size_t>(token)]) -
                                 static_cast<double>(values[static_cast<std::size_t>(against)])};
        std::vector<std::int64_t> ids;
        std::ranges::transform(listed, std::back_inserter(ids), &TokenChance::id);
        was.chances = checkpoint::chances_of(values, ids);
        for (const analysis::LogitPart& part : out.causes.parts)
            if (part.writer.kind == analysis::Writer::Kind::head && part.writer.stack == off->place.stack &&
                part.writer.layer == off->place.layer && part.writer.head == off->head)
                was.direct = part.value;
        listed.insert(listed.end(), was.now.likeliest.begin(), was.now.likeliest.end());
        out.off = std::move(was);
    }
    if (out.causes.without)
        listed.insert(listed.end(), out.causes.without->likeliest.begin(),
                      out.causes.without->likeliest.end());
    for (const TokenChance& chance : listed)
        out.words.emplace(chance.id, bare_word(label_of(model, chance.id)));
    return out;
}

} // namespace headscope::app
