#include "app/shell/program.h"

#include "core/base/overloaded.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

bool same_numbers(const TensorPtr& a, const TensorPtr& b) {
    return a == b || (a->shape() == b->shape() && std::ranges::equal(a->values(), b->values()));
}

/// Brings the view to what the checkpoint has; follow_look knows which heads there are.
void keep_to_model(ViewState& view) {
    view.batch = 0;
    view.brush = {}; // the mask is the model's
    if (view.tab == LeftTab::course)
        view.tab = LeftTab::predictions;
}

} // namespace

void Program::open_checkpoint(const OpenedModel& opened) {
    ViewState& view = state_.view;
    const bool board = view.attention.board;
    view.attention = {};
    view.attention.layer = opened.layer;
    view.attention.board = board;
    view.head = 0;
    view.row = -1;
    view.heads_view = HeadsView::each;
    view.selected.reset();
    view.hover.reset();
    view.drag.reset();
    view.tab = LeftTab::predictions;
    view.one_head = true;
    view.group = StageGroup::weights; // what the board is of
    state_.shown = {};                // its heads are none of this board
    drop_baseline();
    known_layers_.clear();
    typed_prompt_.reset();
    state_.model = {};
    look_.clear();
    state_.model.prompt = opened.part->prompt;
    state_.model.run = state_.model.unedited = opened.run;
    if (!desk_)
        desk_.emplace(options_.wake);
    desk_->begin_with(opened.run);
    state_.model.predictions = opened.predictions;
    wanted_ = {opened.part, opened.layer, std::nullopt};
    known_layers_[opened.layer] = {opened.part->inputs, opened.base};
    show_document(model_document(opened.part, opened.layer, opened.base, state_.document->revision + 1));
}

std::shared_ptr<const Problem> Program::known_layer(const ModelPart& part, std::int64_t layer) const {
    const auto known = known_layers_.find(layer);
    return known == known_layers_.end() || known->second.inputs != part.inputs ? nullptr
                                                                               : known->second.base.lock();
}

std::optional<std::int64_t> Program::coming_layer() const {
    const bool comes = state_.document->is_checkpoint() && state_.model.error.empty() &&
                       wanted_.part != nullptr && wanted_.layer != state_.document->layer();
    return comes ? std::optional(wanted_.layer) : std::nullopt;
}

void Program::show_layer(std::int64_t layer, const std::shared_ptr<const Problem>& base) {
    if (layer != state_.document->layer() && state_.compare.marked())
        drop_baseline(); // A is of another layer
    known_layers_[layer] = {state_.document->part()->inputs, base};
    state_.document = model_document(state_.document->part(), layer, base, state_.document->revision + 1);
    if (look_.document() == nullptr)
        runner_.submit(state_.document);
}

void Program::follow_model() {
    if (!state_.document->is_checkpoint()) {
        if (desk_) {
            desk_.reset();
            known_layers_.clear();
            state_.model = {};
            look_.clear();
            if (state_.view.tab == LeftTab::predictions)
                state_.view.tab = LeftTab::guide;
        }
        return;
    }
    const ModelPartPtr part = state_.document->part();
    keep_to_model(state_.view);
    const std::int64_t L = part->model->model->architecture().layers;
    // A mean over layers is none that could be edited: the layer before stays.
    const std::int64_t wanted = std::max<std::int64_t>(state_.view.attention.layer, 0);
    const std::int64_t layer = wanted < L                            ? wanted
                               : state_.view.attention.reading.means ? state_.document->layer()
                                                                     : L - 1;
    if (layer != state_.document->layer())
        if (const auto base = known_layer(*part, layer))
            show_layer(layer, base);
    follow_look();
    ModelDesk::Wish wish{part, layer, state_.model.position};
    if (typed_prompt_ && wanted_.part->inputs == nullptr &&
        !first_difference(wanted_.part->edits, part->edits)) {
        wish.part = wanted_.part;
    } else if (typed_prompt_) {
        auto typed = std::make_shared<ModelPart>(*part);
        typed->prompt = *typed_prompt_;
        typed->inputs = nullptr;
        wish.part = std::move(typed);
    }
    if (wish.part == wanted_.part && wish.layer == wanted_.layer && wish.position == wanted_.position)
        return;
    wanted_ = wish;
    desk_->want(std::move(wish));
}

void Program::run_model_action(const ModelAction& action) {
    if (!state_.document->is_checkpoint())
        return;
    std::visit(Overloaded{[&](const TypePrompt& c) {
                              state_.model.prompt = c.prompt;
                              typed_prompt_ = c.prompt;
                              typed_gesture_ = gesture_;
                              wanted_ = {};
                              wanted_.part = state_.document->part();
                              follow_model();
                          },
                          [&](const PredictAt& c) {
                              state_.model.position.reset();
                              if (c.position >= 0)
                                  state_.model.position = c.position;
                              follow_model();
                          }},
               action);
}

void Program::take_model_results() {
    if (!desk_)
        return;
    if (const auto answer = desk_->poll())
        use_model_answer(*answer);
    state_.model.running = desk_->busy();
    state_.model.fraction = desk_->fraction();
}

void Program::use_model_answer(const ModelDesk::Answer& answer) {
    if (answer.asked != wanted_.part)
        return;
    if (!answer.error.empty()) {
        state_.model.error = answer.error;
        typed_prompt_.reset();
        return;
    }
    const bool typed = answer.asked->inputs == nullptr;
    std::optional<std::int64_t> changed_from; // where the board's weights differ from those before
    if (answer.run != nullptr) {
        ModelState& model = state_.model;
        model.error.clear();
        const checkpoint::ModelRunPtr before = std::exchange(model.run, answer.run);
        const bool same_text = before != nullptr && before->inputs() == answer.run->inputs() && !typed;
        if (answer.run != before)
            model.recomputed = same_text ? recomputed_layers(*answer.run) : "";
        model.unedited = answer.unedited;
        model.predictions = answer.predictions;
        if (same_text)
            changed_from =
                first_difference(before->edits(), answer.run->edits()).value_or(answer.run->info().L);
    }
    if (typed) {
        if (answer.run == nullptr)
            return;
        typed_prompt_.reset();
        wanted_ = {answer.part, answer.layer, wanted_.position};
        known_layers_[answer.layer] = {answer.part->inputs, answer.base};
        DocumentPtr next =
            model_document(answer.part, answer.layer, answer.base, state_.document->revision + 1);
        history_->push({next, "type a prompt", {}, typed_gesture_});
        state_.document = std::move(next);
        state_.view.selected.reset();
        document_changed();
    } else if (answer.layer != state_.document->layer() ||
               !same_numbers(answer.base->x, state_.document->unedited->x)) {
        show_layer(answer.layer, answer.base);
    }
    follow_look(changed_from);
}

void Program::show_edits(const ModelPart& edited, const std::string& label) {
    if (!state_.document->is_checkpoint())
        return;
    auto part = std::make_shared<ModelPart>(*state_.document->part());
    part->edits = edited.edits;
    part->marks = edited.marks;
    DocumentPtr next = model_document(part, state_.document->layer(), state_.document->unedited,
                                      state_.document->revision + 1);
    history_->push({next, label, {}, ++gesture_});
    state_.document = std::move(next);
    document_changed();
}

DocumentPtr Program::on_changed_layer(const DocumentPtr& next) {
    if (!next->is_checkpoint() || !state_.document->is_checkpoint())
        return next;
    typed_prompt_.reset();
    state_.model.prompt = next->part()->prompt;
    state_.model.error.clear();
    const std::int64_t layer = first_difference(state_.document->part()->edits, next->part()->edits)
                                   .value_or(state_.view.attention.layer);
    state_.view.attention.layer = layer;
    const auto base = known_layer(*next->part(), layer);
    if (base == nullptr || layer == next->layer())
        return next;
    return model_document(next->part(), layer, base, state_.document->revision + 1);
}

} // namespace headscope::app
