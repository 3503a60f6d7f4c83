#include "app/state/document.h"

#include "app/state/model_document.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/overloaded.h"

namespace headscope::app {

namespace {

const std::vector<std::string> no_texts;

} // namespace

const AttentionGraph& DocumentGraph::of(const Problem& problem) const {
    const std::lock_guard lock(mutex_);
    if (graph_ == nullptr)
        graph_ = std::make_shared<const AttentionGraph>(attention_graph(problem));
    return *graph_;
}

const AttentionSetPtr& Document::shown_weights() const {
    static const AttentionSetPtr none;
    return std::visit(
        Overloaded{
            [](const Experiment&) -> const AttentionSetPtr& { return none; },
            [](const GivenWeights& weights) -> const AttentionSetPtr& { return weights.set; },
            [](const CheckpointLayer& open) -> const AttentionSetPtr& { return open.transformed_weights; }},
        kind);
}

std::int64_t Document::layer() const {
    return std::visit(Overloaded{[](const Experiment&) { return std::int64_t{0}; },
                                 [](const GivenWeights& weights) { return weights.layer; },
                                 [](const CheckpointLayer& open) { return open.place.layer; }},
                      kind);
}

checkpoint::Stack Document::stack() const {
    return is_checkpoint() ? checkpoint()->place.stack : checkpoint::Stack::own;
}

const std::vector<std::string>& Document::head_roles() const {
    return is_experiment() ? experiment()->head_roles : no_texts;
}

const std::vector<std::string>& Document::feature_names() const {
    return is_experiment() ? experiment()->feature_names : no_texts;
}

DocumentPtr make_document(const project::Recipe& recipe, std::uint64_t revision) {
    project::BuiltRecipe built = project::build_recipe(recipe);
    auto document = std::make_shared<Document>();
    document->recipe = recipe;
    document->revision = revision;
    document->kind = Experiment{std::move(built.head_roles), std::move(built.feature_names)};
    document->title = std::move(built.title);
    document->unedited = std::make_shared<const Problem>(std::move(built.problem));
    document->problem = project::with_edits(*document->unedited, recipe);
    return document;
}

DocumentPtr edit_document(const Document& document, const project::Recipe& recipe) {
    auto edited = std::make_shared<Document>(document);
    edited->recipe = recipe;
    ++edited->revision;
    edited->problem = project::with_edits(*edited->unedited, recipe);
    return edited;
}

TensorPtr owned_tensor(const Document& document, TensorId tensor) {
    if (!is_block_weight(tensor))
        return document.problem.input_ptr(tensor);
    const auto edited = document.recipe.edits.find(tensor);
    return edited == document.recipe.edits.end() ? unedited_tensor(document, tensor) : edited->second;
}

float owned_value(const Document& document, TensorId id, const Index& at) {
    if (is_table(id)) {
        const checkpoint::EditedTable table = edited_table(document, id);
        return checkpoint::number_in_row(table.row(at[0]), table.own().shape(), at);
    }
    const TensorPtr tensor = owned_tensor(document, id);
    return tensor->data()[tensor->shape().offset(at)];
}

TensorPtr unedited_tensor(const Document& document, TensorId tensor) {
    if (!is_block_weight(tensor))
        return document.unedited->input_ptr(tensor);
    if (!document.is_checkpoint())
        return nullptr;
    const checkpoint::Model& model = *document.part()->model->model;
    const std::int64_t open = open_attention(document);
    if (is_table(tensor))
        return checkpoint::is_per_layer(tensor) ? model.layer(open)[tensor]
                                                : checkpoint::stack_at(model, open).weight(tensor);
    return checkpoint::editable_weights(model, checkpoint::edited_with(model.config(), open, tensor))[tensor];
}

bool is_edited(const Document& document, TensorId tensor, std::int64_t offset) {
    if (!document.recipe.edits.contains(tensor))
        return false;
    const TensorPtr now = owned_tensor(document, tensor), before = unedited_tensor(document, tensor);
    return now != before && now->data()[offset] != before->data()[offset];
}

} // namespace headscope::app
