#include "app/cli/serve/kept_model.h"

#include "core/base/error.h"
#include "core/checkpoint/gguf/gguf_tokenizer.h"

#include <utility>

namespace headscope::cli {

namespace {

struct KeptAt {
    std::string place;
    checkpoint::TextModelPtr model;
};

KeptAt& kept_slot() {
    static KeptAt only;
    return only;
}

checkpoint::TextModelPtr kept_at(const std::string& place) {
    return kept_slot().place == place ? kept_slot().model : nullptr;
}

} // namespace

KeptModel::KeptModel(std::string place, checkpoint::TextModelPtr model) {
    kept_slot() = {std::move(place), std::move(model)};
}

KeptModel::~KeptModel() {
    kept_slot() = {};
}

bool KeptModel::exists() {
    return kept_slot().model != nullptr;
}

std::shared_ptr<const checkpoint::Model> open_model(const std::string& place) {
    if (const checkpoint::TextModelPtr model = kept_at(place))
        return model->model;
    return std::make_shared<const checkpoint::Model>(checkpoint::Model::open(place));
}

checkpoint::TextModelPtr open_text_model(const std::string& place) {
    if (const checkpoint::TextModelPtr model = kept_at(place))
        return model;
    return checkpoint::open_text_model(place);
}

TokenizerPtr open_tokenizer(const std::string& place) {
    const checkpoint::TextModelPtr model = kept_at(place);
    if (model == nullptr)
        return checkpoint::load_model_tokenizer(place);
    if (model->tokenizer == nullptr)
        fail_input(model->no_tokenizer);
    return model->tokenizer;
}

} // namespace headscope::cli
