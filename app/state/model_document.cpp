#include "app/state/model_document.h"

#include "core/analysis/checkpoints/checkpoint_comparison.h"

#include <algorithm>
#include <set>

namespace headscope::app {

namespace {

/// Drops gains that are all 1.
void normalise(std::vector<float>& gains) {
    if (std::ranges::all_of(gains, [](float gain) { return gain == 1.0F; }))
        gains.clear();
}

bool same_numbers(const TensorPtr& a, const TensorPtr& b) {
    return a == b || (a->shape() == b->shape() && std::ranges::equal(a->values(), b->values()));
}

/// Marks the weights around attention n that differ from the checkpoint's.
void mark_around(LayerMarks& marks, const checkpoint::Model& model, std::int64_t n,
                 const checkpoint::LayerEdits& edits) {
    std::erase_if(marks.others, is_block_weight);
    for (const auto& [table, rows] : edits.rows)
        marks.others.push_back(table);
    if (std::ranges::none_of(edits.tensors, [](const auto& edit) { return is_block_weight(edit.first); }))
        return;
    const checkpoint::WeightSet own = checkpoint::editable_weights(model, n);
    for (const auto& [weight, tensor] : edits.tensors)
        if (is_block_weight(weight) && !std::ranges::equal(tensor->values(), own[weight]->values()))
            marks.others.push_back(weight);
}

/// Drops weights that were changed back to the checkpoint's numbers by hand. `marks`: what differs around
/// attention; `unedited`: the attention's own weights, null if they are not affected.
void forget_unchanged(checkpoint::LayerEdits& edits, const LayerMarks& marks, const Problem* unedited) {
    std::erase_if(edits.tensors, [&](const auto& edit) {
        const TensorId id = edit.first;
        if (is_block_weight(edit.first))
            return std::ranges::find(marks.others, id) == marks.others.end();
        const Tensor* const own = unedited == nullptr ? nullptr : unedited->input(id);
        return own != nullptr && std::ranges::equal(own->values(), edit.second->values());
    });
}

/// Removes the entry of an attention without edits.
void forget_if_empty(RunSpec& part, std::int64_t n) {
    if (!part.edits[n].empty())
        return;
    part.edits.erase(n);
    part.marks.erase(n);
}

/// Visits the edits that the view of an open attention can change: its own, and those stored with another
/// attention (see edited_with).
template<class Visit>
void visit_edits(const RunSpec& part, std::int64_t attention, const Visit& visit) {
    const checkpoint::ModelConfig& config = part.model->model->config();
    for (const auto& [n, edits] : part.edits)
        for (const auto& [weight, tensor] : edits.tensors)
            if (checkpoint::edited_with(config, attention, weight) == n)
                visit(n, weight, tensor);
}

} // namespace

bool holds_only_comparison(const RunSpec& part) {
    return part.compared != nullptr && !first_difference(part.edits, part.compared->edits);
}

const PatchedRun* patched_run(const RunSpec& part) {
    return checkpoint::is_patched(part.edits) ? part.opened_patch.get() : nullptr;
}

const checkpoint::PatchedRows* patched_at(const RunSpec& part, std::int64_t n, const CellAddress& cell) {
    const checkpoint::LayerEdits* const edits = checkpoint::edits_of(part.edits, n);
    if (edits == nullptr)
        return nullptr;
    const auto patch = std::ranges::find_if(edits->patched, [&](const checkpoint::PatchedRows& rows) {
        return rows.at == cell.tensor && rows.holds(cell.at[1], cell.at[2]);
    });
    return patch == edits->patched.end() ? nullptr : &*patch;
}

DocumentPtr model_document(const RunSpecPtr& part, std::int64_t attention,
                           const std::shared_ptr<const Problem>& base, std::uint64_t revision) {
    project::Recipe recipe;
    recipe.sentence = part->prompt;
    recipe.base = base;
    recipe.temperature = base->temperature;
    if (const checkpoint::LayerEdits* edits = checkpoint::edits_of(part->edits, attention))
        recipe.gains = edits->gains;
    visit_edits(*part, attention, [&](std::int64_t, TensorId weight, const TensorPtr& tensor) {
        recipe.edits.emplace(weight, tensor);
    });
    auto document = std::make_shared<Document>();
    document->unedited = base;
    document->problem = project::with_edits(*base, recipe);
    document->recipe = std::move(recipe);
    document->title = part->model->name();
    document->revision = revision;
    document->kind = CheckpointLayer{part, attention_place(part->config(), attention)};
    return document;
}

DocumentPtr edit_model_document(const Document& document, project::Recipe recipe, bool all_dropped) {
    auto part = std::make_shared<RunSpec>(*document.part());
    if (all_dropped) {
        part->edits.clear();
        part->marks.clear();
        part->compared = nullptr;
    }
    normalise(recipe.gains);
    const checkpoint::Model& model = *part->model->model;
    const std::int64_t open = open_attention(document);
    std::set<std::int64_t> touched{open};
    visit_edits(*document.part(), open, [&](std::int64_t n, TensorId weight, const TensorPtr&) {
        part->edits[n].tensors.erase(weight);
        touched.insert(n);
    });
    part->edits[open].gains = recipe.gains;
    for (const auto& [weight, tensor] : recipe.edits) {
        const std::int64_t n = checkpoint::edited_with(model.config(), open, weight);
        part->edits[n].tensors[weight] = tensor;
        touched.insert(n);
    }
    for (const std::int64_t n : touched) {
        checkpoint::LayerEdits& edits = part->edits[n];
        LayerMarks& marks = part->marks[n];
        if (n == open)
            marks = marks_of(checkpoint::with_edits(*document.unedited, &edits), *document.unedited);
        mark_around(marks, model, n, edits);
        forget_unchanged(edits, marks, n == open ? document.unedited.get() : nullptr);
        forget_if_empty(*part, n);
    }
    return model_document(part, open, document.unedited, document.revision + 1);
}

const checkpoint::ModelInputs& read_by_queries(const Document& document) {
    const checkpoint::ModelInputs& inputs = *document.part()->inputs;
    return document.stack() == checkpoint::Stack::encoder ? inputs.source.front() : inputs;
}

checkpoint::EditedTable edited_table(const Document& document, TensorId table) {
    const RunSpec& part = *document.part();
    const std::int64_t open = open_attention(document);
    return {checkpoint::stack_at(*part.model->model, open), part.edits, table, open};
}

DocumentPtr with_table_rows(const Document& document, TensorId table, const checkpoint::TableRows& rows) {
    auto part = std::make_shared<RunSpec>(*document.part());
    const checkpoint::Model& model = *part->model->model;
    const TensorId weight = checkpoint::read_as(model.config(), table);
    const std::int64_t open = open_attention(document),
                       n = checkpoint::edited_with(model.config(), open, weight);
    const checkpoint::EditedTable own = edited_table(document, table);
    checkpoint::LayerEdits& edits = part->edits[n];
    checkpoint::TableRows& edited = edits.rows[weight];
    for (const auto& [row, numbers] : rows)
        if (std::ranges::equal(numbers->values(), own.own_row(row)))
            edited.erase(row);
        else
            edited[row] = numbers;
    if (edited.empty())
        edits.rows.erase(weight);
    mark_around(part->marks[n], model, n, edits);
    forget_if_empty(*part, n);
    return model_document(part, open, document.unedited, document.revision + 1);
}

DocumentPtr with_activation(const Document& document, const CellAddress& cell, std::optional<float> value) {
    auto part = std::make_shared<RunSpec>(*document.part());
    const std::int64_t n = open_attention(document);
    auto& patched = part->edits[n].patched;
    std::erase_if(patched, [&](const checkpoint::PatchedRows& rows) {
        return rows.at == cell.tensor && rows.holds(cell.at[1], cell.at[2]);
    });
    if (value)
        patched.push_back({.at = cell.tensor,
                           .first = cell.at[1],
                           .rows = std::make_shared<const Tensor>(Shape{1, 1}, *value),
                           .column = cell.at[2]});
    forget_if_empty(*part, n);
    return model_document(part, n, document.unedited, document.revision + 1);
}

DocumentPtr with_head_gain(const Document& document, checkpoint::AttentionPlace place, std::int64_t head,
                           float gain) {
    auto part = std::make_shared<RunSpec>(*document.part());
    const std::int64_t n = attention_number(part->config(), place);
    const auto H = static_cast<std::size_t>(in_stack(part->config(), place.stack).H);
    std::vector<float>& gains = part->edits[n].gains;
    gains.resize(H, 1.0F);
    gains[static_cast<std::size_t>(head)] = gain;
    normalise(gains);
    std::vector<HeadEdits>& heads = part->marks[n].heads;
    heads.resize(H);
    heads[static_cast<std::size_t>(head)].gain = gain;
    forget_if_empty(*part, n);
    return model_document(part, open_attention(document), document.unedited, document.revision + 1);
}

float head_gain(const RunSpec& part, checkpoint::AttentionPlace place, std::int64_t head) {
    const checkpoint::LayerEdits* const edits =
        checkpoint::edits_of(part.edits, attention_number(part.config(), place));
    return edits == nullptr || edits->gains.empty() ? 1.0F : edits->gains[static_cast<std::size_t>(head)];
}

bool same_vectors(const Problem& a, const Problem& b) {
    return same_numbers(a.x, b.x) && a.has_source() == b.has_source() &&
           (!a.has_source() || same_numbers(a.x_kv, b.x_kv));
}

std::int64_t open_attention(const Document& document) {
    return attention_number(document.part()->config(), document.checkpoint()->place);
}

std::string attention_name(const RunSpec& part, checkpoint::AttentionPlace place) {
    const std::string stack = stack_name(part.config(), place.stack);
    return (stack.empty() ? "" : stack + " ") + "L" + std::to_string(place.layer);
}

std::map<std::int64_t, LayerMarks> marks_of(const checkpoint::ModelRun& run,
                                            const checkpoint::ModelEdits& edits) {
    std::map<std::int64_t, LayerMarks> marks;
    for (const auto& [n, changed] : edits) {
        const Problem base = run.problem(n);
        LayerMarks& of =
            marks.emplace(n, marks_of(checkpoint::with_edits(base, &changed), base)).first->second;
        mark_around(of, run.model(), n, changed);
    }
    return marks;
}

std::optional<std::int64_t> first_difference(const checkpoint::ModelEdits& a,
                                             const checkpoint::ModelEdits& b) {
    std::int64_t count = 0;
    for (const checkpoint::ModelEdits* edits : {&a, &b})
        if (!edits->empty())
            count = std::max(count, edits->rbegin()->first + 1);
    const std::int64_t first = checkpoint::first_difference(a, b, count);
    return first < count ? std::optional(first) : std::nullopt;
}

std::string open_layer_name(const Document& document) {
    const AttentionSetPtr& weights = document.shown_weights();
    const bool mean = weights != nullptr && document.layer() >= weights->info().own_layers();
    if (document.is_checkpoint() && !mean)
        return attention_name(*document.part(), document.checkpoint()->place);
    return weights != nullptr ? analysis::layer_name(weights->info(), document.layer())
                              : "L" + std::to_string(document.layer());
}

std::string open_head_name(const Document& document, std::int64_t h) {
    const AttentionSetPtr& weights = document.shown_weights();
    return weights != nullptr ? analysis::head_name(weights->info(), document.layer(), h)
                              : "L" + std::to_string(document.layer()) + " H" + std::to_string(h);
}

} // namespace headscope::app
