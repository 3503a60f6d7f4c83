#include "app/state/document.h"

namespace headscope::app {

DocumentPtr make_document(const project::Recipe& recipe, std::uint64_t revision) {
    project::BuiltRecipe built = project::build_recipe(recipe);
    auto document = std::make_shared<Document>();
    document->recipe = recipe;
    document->revision = revision;
    document->head_roles = std::move(built.head_roles);
    document->feature_names = std::move(built.feature_names);
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

bool is_edited(const Document& document, TensorId tensor, std::int64_t offset) {
    if (!document.recipe.edits.contains(tensor))
        return false;
    const Tensor *now = document.problem.input(tensor), *before = document.unedited->input(tensor);
    return now != before && now->data()[offset] != before->data()[offset];
}

} // namespace headscope::app
