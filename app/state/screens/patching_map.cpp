#include "app/state/screens/patching_map.h"

#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/generation/predictions.h"

#include <algorithm>
#include <cmath>

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

/// Returns the map before its first run. Cells that need no run are 0.
PatchingMap unmeasured_map(const PatchingPair& pair, const PatchingQuestion& asked,
                           analysis::HeadPlace from) {
    const analysis::PatchKind kind = asked.paths ? analysis::PatchKind::head : asked.kind;
    const std::int64_t rows = pair.patching->rows(kind), columns = pair.patching->columns(kind);
    PatchingMap out{.asked = asked, .from = from};
    for (std::int64_t row = 0; row < rows; ++row) {
        auto& cells = out.cells.emplace_back();
        auto& same = out.same.emplace_back();
        for (std::int64_t column = 0; column < columns; ++column) {
            same.push_back(asked.paths ? row <= from.layer : pair.patching->same(kind, row, column));
            cells.push_back(same.back() ? std::optional(0.0F) : std::nullopt);
            out.count += same.back() ? 0 : 1;
        }
    }
    return out;
}

} // namespace

PatchingPair patching_pair(const checkpoint::TextModelPtr& model, const checkpoint::ModelRunPtr& clean,
                           const checkpoint::TextPair& corrupted, std::optional<std::int64_t> token,
                           std::optional<std::int64_t> against, Progress& progress) {
    PatchingPair out;
    out.clean = clean;
    out.corrupted = checkpoint::ModelRun::compute(
        model->model, checkpoint::prompt_inputs(*model, corrupted.first, {}, corrupted.second),
        clean->edits(), nullptr, {}, progress);
    out.clean_tokens = labels_of(*model, clean->inputs());
    out.corrupted_tokens = labels_of(*model, out.corrupted->inputs());
    const auto likeliest = [&](const checkpoint::ModelRun& run, std::vector<PatchingPair::Next>& next) {
        const std::int64_t last = run.inputs().T - 1;
        const TensorPtr logits = run.logits_at(last, progress);
        checkpoint::require_finite_logits(logits->values(), last);
        const auto two = checkpoint::likeliest(logits->values(), 2);
        for (const checkpoint::TokenChance& one : two)
            next.push_back({label_of(*model, one.id), static_cast<double>(one.probability)});
        return two;
    };
    const auto first = likeliest(*clean, out.clean_next),
               second = likeliest(*out.corrupted, out.corrupted_next);
    out.question.position = clean->inputs().T - 1;
    out.question.answer = token.value_or(first.front().id);
    // The likeliest token after the corrupted prompt that is not the answer.
    const auto other = std::ranges::find_if(
        second, [&](const checkpoint::TokenChance& one) { return one.id != out.question.answer; });
    out.question.against = against.value_or(other->id);
    out.answer = label_of(*model, out.question.answer);
    out.against = label_of(*model, out.question.against);
    out.patching = std::make_shared<analysis::Patching>(clean, out.corrupted, out.question, progress);
    out.clean_difference = out.patching->clean();
    out.corrupted_difference = out.patching->corrupted();
    for (std::size_t n = 0; n < out.clean_tokens.size(); ++n)
        out.differs.push_back(clean->inputs().ids[n] != out.corrupted->inputs().ids[n]);
    return out;
}

void check_prompts(const RunSpec& part, const std::string& corrupted) {
    if (corrupted.empty())
        fail_input(tr("patching_map.no_second_prompt_compare",
                      "there is no second prompt to compare with; type one first"));
    analysis::require_same_length(part.inputs->ids,
                                  checkpoint::prompt_inputs(*part.model, corrupted, {}, part.pair).ids);
}

bool by_head(const PatchingMap& map) {
    return map.asked.paths || analysis::info_of(map.asked.kind).by_head;
}

analysis::HeadPlace path_sender(const PatchingMap& heads, analysis::HeadPlace open) {
    constexpr float least = 0.01F;
    const std::int64_t later = std::ssize(heads.cells) - 1;
    const auto size_at = [&](analysis::HeadPlace at) {
        const auto& share =
            heads.cells[static_cast<std::size_t>(at.layer)][static_cast<std::size_t>(at.head)];
        return share ? std::abs(*share) : 0.0F;
    };
    if (later < 1 ||
        (open.layer < later && open.head < std::ssize(heads.cells.front()) && size_at(open) >= least))
        return open;
    analysis::HeadPlace best;
    for (std::int64_t layer = 0; layer < later; ++layer)
        for (std::int64_t head = 0; head < std::ssize(heads.cells.front()); ++head)
            if (size_at({layer, head}) > size_at(best))
                best = {layer, head};
    return size_at(best) > 0 ? best : open;
}

bool can_open(const PatchingMap& map, std::int64_t row, std::int64_t column) {
    const bool end = !map.asked.paths && map.asked.kind == analysis::PatchKind::residual &&
                     row + 1 == std::ssize(map.cells);
    return !end && !map.same[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

checkpoint::ModelEdits patch_edits(const PatchingPair& pair, const PatchingMap& map, std::int64_t row,
                                   std::int64_t column, Progress& progress) {
    return map.asked.paths ? pair.patching->path_edits(map.from, {row, column}, {}, progress)
                           : pair.patching->edits(map.asked.kind, row, column, progress);
}

std::string patch_description(const PatchingPair& pair, const PatchingMap& map, std::int64_t row,
                              std::int64_t column) {
    const auto head_of = [](std::int64_t l, std::int64_t h) {
        return "L" + std::to_string(l) + " H" + std::to_string(h);
    };
    const std::string head = head_of(row, column);
    if (map.asked.paths)
        return tr("patching_map.wrote_alone_reads_comes",
                  "The output of {}, as read by {} alone, comes from the clean prompt.",
                  head_of(map.from.layer, map.from.head), head);
    const std::string token = by_head(map) ? "" : pair.corrupted_tokens[static_cast<std::size_t>(column)];
    switch (map.asked.kind) {
    case analysis::PatchKind::residual:
        return tr("patching_map.residual_stream_enters",
                  "The residual stream that enters layer {} at position {} ({}) comes from the clean prompt.",
                  row, column, token);
    case analysis::PatchKind::attention:
        return tr("patching_map.attention_layer_adds",
                  "The attention output of layer {} at position {} ({}) comes from the clean prompt.", row,
                  column, token);
    case analysis::PatchKind::mlp:
        return tr("patching_map.mlp_layer_adds_position",
                  "The MLP output of layer {} at position {} ({}) comes from the clean prompt.", row, column,
                  token);
    case analysis::PatchKind::head:
        return tr("patching_map.adds_comes_clean_prompt", "The output of {} comes from the clean prompt.",
                  head);
    case analysis::PatchKind::q:
        return tr("patching_map.query_side_comes_clean", "The query side of {} comes from the clean prompt.",
                  head);
    case analysis::PatchKind::k:
        return tr("patching_map.key_side_comes_clean", "The key side of {} comes from the clean prompt.",
                  head);
    case analysis::PatchKind::v:
        return tr("patching_map.value_side_comes_clean", "The value side of {} comes from the clean prompt.",
                  head);
    case analysis::PatchKind::pattern:
        return tr("patching_map.weight_matrix_comes_clean",
                  "The weight matrix of {} comes from the clean prompt.", head);
    }
    return {};
}

std::size_t pair_bytes(const checkpoint::ModelRun& clean) {
    const checkpoint::ModelConfig& a = clean.model().config();
    const std::int64_t T = clean.inputs().T, of_layer = T * (6 * a.D + a.Hkv * a.dk) + 2 * a.H * T * T;
    return sizeof(float) * static_cast<std::size_t>(2 * a.layers * of_layer);
}

PatchingMap patching_map(const PatchingPair& pair, const PatchingQuestion& asked, analysis::HeadPlace from,
                         const PatchingMap* so_far, const std::function<void(const PatchingMap&)>& put,
                         Progress& progress) {
    if (so_far != nullptr && so_far->done == so_far->count)
        return *so_far;
    PatchingMap out = so_far != nullptr ? *so_far : unmeasured_map(pair, asked, from);
    put(out);
    for (std::size_t row = out.cells.size(); row-- > 0;)
        for (std::size_t column = 0; column < out.cells[row].size(); ++column) {
            std::optional<float>& cell = out.cells[row][column];
            if (cell)
                continue;
            const auto r = static_cast<std::int64_t>(row), c = static_cast<std::int64_t>(column);
            const double difference = asked.paths ? pair.patching->path(from, {r, c}, {}, progress)
                                                  : pair.patching->patched(asked.kind, r, c, progress);
            cell = static_cast<float>(pair.patching->recovered(difference));
            ++out.done;
            progress.report(static_cast<float>(out.done) / static_cast<float>(out.count));
            put(out);
        }
    return out;
}

} // namespace headscope::app
