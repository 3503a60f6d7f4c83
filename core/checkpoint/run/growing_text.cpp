#include "core/checkpoint/run/growing_text.h"

#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/model/rope.h"
#include "core/graph/labels.h"

#include <algorithm>
#include <utility>

namespace headscope::checkpoint {

namespace {

/// The tokens that a graph for a text of T tokens has room for: more than T, unless tokens then turn by other
/// angles.
std::int64_t capacity_for(const Model& model, std::int64_t T) {
    constexpr std::int64_t least = 64;
    const std::int64_t capacity = std::max(T, std::min(std::max(least, 2 * T), model.config().longest_text));
    return angles_change(model, T, capacity) ? T : capacity;
}

/// Tokens [first, end) of some numbers of a text, (1, end - first).
TensorPtr tokens_of(const std::vector<std::int64_t>& numbers, std::int64_t first) {
    auto rows = std::make_shared<Tensor>(Shape{1, std::ssize(numbers) - first});
    std::transform(numbers.begin() + first, numbers.end(), rows->data(),
                   [](std::int64_t number) { return static_cast<float>(number); });
    return rows;
}

std::vector<graph::Part> parts_of(const std::vector<std::string>& nodes) {
    std::vector<graph::Part> parts;
    for (const std::string& node : nodes)
        parts.push_back({node});
    return parts;
}

} // namespace

GrowingText::GrowingText(std::shared_ptr<const Model> model, const ModelEdits& edits,
                         std::vector<std::string> captures, std::shared_ptr<Workshop> workshop)
    : model_(std::move(model)), edits_(edits), prefix_(layer_prefix(model_->config(), {Stack::own, -1})),
      end_(prefix_ + "hidden." + std::to_string(model_->config().layers)), captures_(std::move(captures)),
      workshop_(std::move(workshop)) {}

void GrowingText::truncate(std::int64_t rows) {
    if (layers_)
        layers_->truncate(rows);
}

/// Makes the graph for a text of this length, if the present one is too small or turns tokens by other
/// angles.
void GrowingText::prepare(const ModelInputs& text) {
    if (layers_ && angles_change(*model_, length_, text.T))
        truncate(0);
    if (layers_ && text.T <= capacity_ && !angles_change(*model_, text.T, capacity_))
        return;
    capacity_ = capacity_for(*model_, text.T);
    ModelInputs longest;
    longest.T = capacity_;
    longest.ids = text.ids;
    longest.ids.resize(static_cast<std::size_t>(capacity_));
    longest.source = text.source;
    graph_ = std::make_shared<const TextGraph>(model_, longest, graph_.get());
    const TextGraph::Numbers numbers = graph_->with(edits_);
    std::vector<std::string> tokens;
    for (const graph::Label* const label : {&graph::labels::ids, &graph::labels::positions,
                                            &graph::labels::type_ids, &graph::labels::layer_ids})
        if (const std::string name = prefix_ + std::string(label->name); graph_->graph().try_find(name))
            tokens.push_back(name);
    run::RowRun layers(graph_->graph(), parts_of(captures_), numbers.leaves, numbers.interventions, tokens,
                       workshop_->backend);
    if (layers_)
        layers.take_states(*layers_);
    layers_.emplace(std::move(layers));
    head_.reset();
    if (model_->has_head())
        head_ =
            std::make_shared<FromRows>(graph_, edits_, end_, std::vector<std::string>{"logits"}, workshop_);
}

/// What the graph reads of the tokens from `first` on.
std::map<std::string, TensorPtr> GrowingText::rows_of(const ModelInputs& text, std::int64_t first) const {
    namespace labels = graph::labels;
    std::map<std::string, TensorPtr> rows;
    const auto add = [&](const graph::Label& label, const std::vector<std::int64_t>& numbers) {
        if (std::string name = prefix_ + std::string(label.name); graph_->graph().try_find(name))
            rows.emplace(std::move(name), tokens_of(numbers, first));
    };
    add(labels::ids, text.ids);
    add(labels::type_ids, std::vector<std::int64_t>(text.ids.size(), 0));
    if (model_->config().stream_copies > 1)
        add(labels::layer_ids, layer_embedding_rows(text, *model_));
    if (model_->stages().has({Stack::own, -1}, TensorId::position))
        add(labels::positions, learned_positions(text, *model_));
    return rows;
}

std::map<std::string, TensorPtr> GrowingText::run(const ModelInputs& text,
                                                  std::span<const std::string> wanted, std::int64_t& first,
                                                  Progress& progress) {
    prepare(text);
    first = layers_->rows();
    const ReleasesWeights at_end{*graph_};
    auto results = layers_->compute(text.T, rows_of(text, first), wanted, progress);
    length_ = text.T;
    return results;
}

TensorPtr GrowingText::logits(const TensorPtr& hidden, Progress& progress) {
    return head_->of(hidden, progress).at("logits");
}

const cpu::KeyValueCache* GrowingText::cache(AttentionPlace place) const {
    return layers_ ? cpu::cache_of(layers_->state(model_->stages().name(place, TensorId::scores))) : nullptr;
}

} // namespace headscope::checkpoint
