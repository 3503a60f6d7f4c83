#include "app/state/screens/patching_map.h"

#include "core/base/error.h"
#include "core/checkpoint/run/predictions.h"

#include <algorithm>

namespace headscope::app {

namespace {

std::vector<std::string> labels_of(const checkpoint::TextModel& model,
                                   const checkpoint::ModelInputs& inputs) {
    if (!inputs.tokens.empty())
        return inputs.tokens;
    std::vector<std::string> labels;
    std::ranges::transform(inputs.ids, std::back_inserter(labels),
                           [&](std::int64_t id) { return label_of(model, id); });
    return labels;
}

} // namespace

PatchingPair patching_pair(const checkpoint::TextModelPtr& model, const checkpoint::ModelRunPtr& clean,
                           const std::string& corrupted, std::optional<std::int64_t> token,
                           std::optional<std::int64_t> against, Progress& progress) {
    PatchingPair out;
    out.clean = clean;
    out.corrupted = checkpoint::ModelRun::compute(model->model, checkpoint::prompt_inputs(*model, corrupted),
                                                  clean->edits(), nullptr, {}, progress);
    out.clean_tokens = labels_of(*model, clean->inputs());
    out.corrupted_tokens = labels_of(*model, out.corrupted->inputs());
    const auto likeliest = [&](const checkpoint::ModelRun& run, std::vector<PatchingPair::Next>& next) {
        const auto two = checkpoint::likeliest(run.logits_at(run.inputs().T - 1, progress)->values(), 2);
        for (const checkpoint::TokenChance& one : two)
            next.push_back({label_of(*model, one.id), static_cast<double>(one.probability)});
        return two;
    };
    const auto first = likeliest(*clean, out.clean_next),
               second = likeliest(*out.corrupted, out.corrupted_next);
    out.question.position = clean->inputs().T - 1;
    out.question.answer = token.value_or(first.front().id);
    // What the corrupted prompt leads to, unless that is the answer as well.
    const auto other = std::ranges::find_if(
        second, [&](const checkpoint::TokenChance& one) { return one.id != out.question.answer; });
    out.question.against = against.value_or(other->id);
    out.answer = label_of(*model, out.question.answer);
    out.against = label_of(*model, out.question.against);
    const analysis::Patching patching(clean, out.corrupted, out.question, progress);
    out.clean_difference = patching.clean();
    out.corrupted_difference = patching.corrupted();
    for (std::size_t n = 0; n < out.clean_tokens.size(); ++n)
        out.differs.push_back(clean->inputs().ids[n] != out.corrupted->inputs().ids[n]);
    return out;
}

PatchingMap patching_map(const PatchingPair& pair, const PatchingQuestion& asked, analysis::HeadPlace from,
                         const std::function<void(const PatchingMap&)>& put, Progress& progress) {
    analysis::Patching patching(pair.clean, pair.corrupted, pair.question, progress);
    const analysis::PatchKind kind = asked.paths ? analysis::PatchKind::head : asked.kind;
    const std::int64_t rows = patching.rows(kind), columns = patching.columns(kind);
    PatchingMap out{
        .asked = asked, .from = from, .cells = {}, .same = {}, .done = 0, .count = rows * columns};
    out.cells.resize(static_cast<std::size_t>(rows),
                     std::vector<std::optional<float>>(static_cast<std::size_t>(columns)));
    out.same.resize(static_cast<std::size_t>(rows), std::vector<bool>(static_cast<std::size_t>(columns)));
    for (std::int64_t row = rows - 1; row >= 0; --row) {
        const auto r = static_cast<std::size_t>(row);
        for (std::int64_t column = 0; column < columns; ++column) {
            const auto c = static_cast<std::size_t>(column);
            ++out.done;
            if (asked.paths && row <= from.layer) {
                out.same[r][c] = true;
                out.cells[r][c] = 0.0F;
                continue;
            }
            out.same[r][c] = !asked.paths && patching.same(kind, row, column);
            const double difference = asked.paths ? patching.path(from, {row, column}, {}, progress)
                                                  : patching.patched(kind, row, column, progress);
            out.cells[r][c] = static_cast<float>(patching.recovered(difference));
        }
        put(out);
    }
    return out;
}

} // namespace headscope::app
